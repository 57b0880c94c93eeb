/* SPDX-License-Identifier: Apache-2.0 */
/* record_parts.c - see record_parts.h. */
#include "records/record_parts.h"

#include <stdio.h>
#include <string.h>

#include "util/hash_bytes.h"

/* Between the first "{" and the first "}" after it, unless it is empty. */
static hf_bytes hashed_part(hf_bytes key)
{
    const char *end = (const char *)key.data + key.size;
    const char *open = key.size == 0 ? NULL : memchr(key.data, '{', key.size);
    const char *close;

    if (open == NULL)
        return key;
    open++;
    close = memchr(open, '}', (size_t)(end - open));
    if (close == NULL || close == open)
        return key;
    return hf_view(open, (size_t)(close - open));
}

/* The number of a tag of our own; HF__RECORD_PARTS: it is none. */
static uint32_t part_of_tag(hf_bytes tag)
{
    const char *digits = tag.data;
    uint32_t part;

    if (tag.size != 3 || digits[0] != '~' || digits[1] < '0' ||
        digits[1] > '9' || digits[2] < '0' || digits[2] > '9')
        return HF__RECORD_PARTS;
    part = (uint32_t)(digits[1] - '0') * 10 + (uint32_t)(digits[2] - '0');
    return part < HF__RECORD_PARTS ? part : HF__RECORD_PARTS;
}

uint32_t hf__record_part(const hf__store *store, hf_bytes key)
{
    hf_bytes tag = hashed_part(key);
    uint32_t part = part_of_tag(tag);

    (void)store;
    return part < HF__RECORD_PARTS
               ? part
               : (uint32_t)(hf__hash(tag, 0) % HF__RECORD_PARTS);
}

void hf__record_part_tag(uint32_t part, char text[HF__TAG_SIZE])
{
    (void)snprintf(text, HF__TAG_SIZE, "~%02u", part % HF__RECORD_PARTS);
}
