/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.h - the libraries of functions of a store, as this process has them
 * in a machine of its own. The record (function_record.h) is what counts:
 * before each use this is made again if another process has changed it, or a
 * transaction that changed it was undone.
 *
 * Guarded by the writer lock.
 */
#ifndef HF__ENGINE_FUNCTIONS_H
#define HF__ENGINE_FUNCTIONS_H

#include "engine/lua/library.h"

typedef struct hf__functions {
    hf__machine *machine; /* NULL: there are no libraries */
    hf__library *first, *last;
    size_t library_count;
    size_t function_count;
    size_t code_size; /* of all libraries, like the next */
    int64_t load_us;
    uint64_t generation; /* of the record */
} hf__functions;

/* Those of the store. NULL: fatal. */
hf__functions *hf__functions_current(hf__tx *tx);
void hf__functions_free(hf__functions *self); /* NULL is allowed */

/* Ignoring case; NULL: none. */
const hf__function *hf__functions_find(const hf__functions *self,
                                       hf_bytes name);
/* The first that could not be loaded here; NULL: none. */
const hf__library *hf__functions_unloaded(const hf__functions *self);
/* NULL: none. */
hf__library *hf__functions_library(const hf__functions *self, hf_bytes name);

/* Changes, in the store too. Each replies on an error, and then changes
 * nothing. false: so it did, or fatal. */

/* The library is set. */
bool hf__functions_load(hf__tx *tx, hf_bytes code, bool replace,
                        const hf__library **library);
bool hf__functions_delete(hf__tx *tx, hf_bytes name);
bool hf__functions_flush(hf__tx *tx);

typedef enum hf__restore_policy {
    HF__RESTORE_APPEND,
    HF__RESTORE_REPLACE,
    HF__RESTORE_FLUSH
} hf__restore_policy;
bool hf__functions_restore(hf__tx *tx, hf_bytes payload,
                           hf__restore_policy policy);

/* What FUNCTION DUMP replies, in tx->scratch. false: fatal. */
bool hf__functions_dump(hf__tx *tx, const hf__functions *self,
                        hf_bytes *payload);

#endif
