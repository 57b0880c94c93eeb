/* SPDX-License-Identifier: Apache-2.0 */
/* record_parts.c - see record_parts.h. */
#include "records/record_parts.h"

#include <stdio.h>

#include "util/bytes.h"
#include "util/hash_bytes.h"

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
    hf_bytes tag = hf__hash_tag(key);
    hf_bytes hashed = tag.data != NULL ? tag : key;
    uint32_t part = part_of_tag(hashed);

    (void)store;
    return part < HF__RECORD_PARTS
               ? part
               : (uint32_t)(hf__hash(hashed, 0) % HF__RECORD_PARTS);
}

void hf__record_part_tag(uint32_t part, char text[HF__TAG_SIZE])
{
    (void)snprintf(text, HF__TAG_SIZE, "~%02u", part % HF__RECORD_PARTS);
}
