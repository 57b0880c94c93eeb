/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_tape.h - a dump in memory, for hf_store_dump() and hf_store_load(). It
 * sees only holdfast.h.
 */
#ifndef TESTS_SUPPORT_DUMP_TAPE_H
#define TESTS_SUPPORT_DUMP_TAPE_H

#include <stddef.h>

/* Start with zeros; free `data`. */
typedef struct dump_tape {
    unsigned char *data;
    size_t size;
    size_t room;
    size_t at;       /* where reading is; 0: at the beginning */
    size_t fails_at; /* put() and take() fail there; 0: never */
} dump_tape;

/* The functions for dump and load. */
int dump_tape_put(void *tape, const void *data, size_t size);
int dump_tape_take(void *tape, void *data, size_t size, size_t *got);

#endif
