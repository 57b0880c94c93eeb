/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - finding the row of a table by a name, in any case. Any thread may
 * search once all names are there.
 */
#ifndef HF__UTIL_NAMES_H
#define HF__UTIL_NAMES_H

#include "holdfast/base.h"

/* A power of two, at least twice the number of names. */
#define HF__NAMES_SIZE 1024u
/* Of a name, bytes. */
#define HF__NAME_MAX 40u

/* All zero: empty. */
typedef struct hf__names {
    struct {
        hf_bytes name;
        const void *row; /* NULL: unused */
    } at[HF__NAMES_SIZE];
} hf__names;

/* A name in lower case, and its row; both live as long as `names`. */
void hf__names_add(hf__names *names, hf_bytes lower, const void *row);

/* The row; NULL: none. */
const void *hf__names_find(const hf__names *names, hf_bytes name);

static inline char hf__lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

#endif
