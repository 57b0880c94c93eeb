/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - what is asked of bytes in many places. */
#ifndef HF__UTIL_BYTES_H
#define HF__UTIL_BYTES_H

#include <string.h>

#include "holdfast/base.h"

static inline bool hf__bytes_same(hf_bytes a, hf_bytes b)
{
    return a.size == b.size &&
           (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* The hash tag of a key, as in a cluster of Redis: between its first "{" and
 * the first "}" after it. data NULL: it has none, or an empty one. */
static inline hf_bytes hf__hash_tag(hf_bytes key)
{
    const char *end = (const char *)key.data + key.size;
    const char *open = key.size == 0 ? NULL : memchr(key.data, '{', key.size);
    const char *close =
        open == NULL ? NULL : memchr(open, '}', (size_t)(end - open));

    if (close == NULL || close == open + 1)
        return hf_view(NULL, 0);
    return hf_view(open + 1, (size_t)(close - open - 1));
}

#endif
