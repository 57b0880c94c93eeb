/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.c - folding long names. SHA-1 collisions can be made on purpose, so the
 * reader of a folded record compares the whole name stored in it.
 */
#include "engine/files/name.h"

#include <assert.h>
#include <string.h>

#include "util/sha1.h"

#define DIGITS HF__NAME_DIGITS

size_t hf__name_fold(unsigned char *to, size_t room, hf_bytes name)
{
    char text[HF__SHA1_HEX_SIZE];

    assert(room > DIGITS);
    if (name.size < room) {
        if (name.size > 0)
            memcpy(to, name.data, name.size);
        return name.size;
    }
    hf__sha1_hex(name.data, name.size, text);
    memcpy(to, name.data, room - DIGITS);
    memcpy(to + room - DIGITS, text, DIGITS);
    return room;
}
