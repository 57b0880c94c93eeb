/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - calls that list what is in a store: they walk all keys
 * (key_walk.h) and call the user's function for each thing found; a started one
 * in hf_client_dispatch(), once all were found (aside.h).
 */
#ifndef HF__CORE_LISTING_H
#define HF__CORE_LISTING_H

#include "core/aside.h"
#include "core/form.h"
#include "core/key_walk.h"
#include "util/buf.h"

typedef struct hf__listing hf__listing;

typedef struct hf__listing_kind {
    /* See hf__key_list; calls hf__listing_found(). */
    hf_status (*look)(void *listing, const hf_bytes *names, size_t count,
                      hf_error *err);
    size_t most;
    /* Call the user's function; not 0: it ends the list. */
    int (*report)(const hf__listing *self, hf_bytes name, const void *what);
    size_t size;             /* of what is said about a name */
    const char *on_a_quorum; /* why not */
} hf__listing_kind;

/* First in what a kind has. */
struct hf__listing {
    const hf__listing_kind *kind;
    hf_call *call;
    hf_bytes pattern;
    hf__key_list names;
    hf__buf found; /* of a started call */
};

/* The operation of all such calls. */
extern const hf__operation hf__op_listing;

/* One of `size` bytes, for a call that begins; NULL: the call has failed. */
void *hf__listing_new(hf_call *call, const hf__listing_kind *kind, size_t size,
                      hf_bytes pattern, bool reports);

hf_status hf__listing_found(hf__listing *self, hf_bytes key, const void *what,
                            hf_error *err);

/* Run or start the call. */
hf_status hf__end_listing(hf_call *call);

#endif
