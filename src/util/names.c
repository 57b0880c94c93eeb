/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - a hash table with linear probing. */
#include "util/names.h"

#include <string.h>

#include "util/hash_bytes.h"

static size_t start_of(hf_bytes lower)
{
    return (size_t)hf__hash(lower, 0) % HF__NAMES_SIZE;
}

void hf__names_add(hf__names *names, hf_bytes lower, const void *row)
{
    size_t at = start_of(lower);

    while (names->at[at].row != NULL)
        at = (at + 1) % HF__NAMES_SIZE;
    names->at[at].name = lower;
    names->at[at].row = row;
}

const void *hf__names_find(const hf__names *names, hf_bytes name)
{
    char text[HF__NAME_MAX];
    size_t at;

    if (name.size == 0 || name.size > sizeof(text))
        return NULL;
    for (size_t i = 0; i < name.size; i++)
        text[i] = hf__lower(((const char *)name.data)[i]);
    for (at = start_of(hf_view(text, name.size)); names->at[at].row != NULL;
         at = (at + 1) % HF__NAMES_SIZE) {
        if (names->at[at].name.size == name.size &&
            memcmp(names->at[at].name.data, text, name.size) == 0)
            break;
    }
    return names->at[at].row;
}
