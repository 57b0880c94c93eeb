/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the one loader of options structs. An option that this library
 * does not know is refused, never ignored: it may be one for safety.
 */
#include "util/options.h"

#include <string.h>

#include "util/error.h"

/* No later version of a struct will be this much longer; more means that
 * struct_size was not set, and reading on would leave the struct. */
#define TAIL_MAX 4096

static bool is_zero(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] != 0)
            return false;
    }
    return true;
}

hf_status hf__options_load(void *to, size_t size, size_t smallest,
                           const void *from, const char *what, hf_error *err)
{
    const unsigned char *bytes = from;
    size_t from_size;

    if (from == NULL) {
        memset(to, 0, size);
        return HF_OK;
    }
    memcpy(&from_size, from, sizeof(from_size));
    if (from_size < smallest || from_size > size + TAIL_MAX)
        return hf__fail(err, HF_INVALID,
                        "%s: struct_size is %zu: start the struct with its "
                        "_INIT macro",
                        what, from_size);
    if (from_size > size && !is_zero(bytes + size, from_size - size))
        return hf__fail(err, HF_UNSUPPORTED,
                        "%s: an option that is newer than this library (%s)",
                        what, "its struct is longer and not zero there");
    memset(to, 0, size);
    memcpy(to, from, from_size < size ? from_size : size);
    return HF_OK;
}
