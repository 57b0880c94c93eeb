/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - the promise of a store about all that it has accepted: it passes
 * `store check`, is the same after closing and opening, dumps, loads into
 * another store, and dumps equal.
 */
#ifndef TESTS_SUPPORT_KEPT_H
#define TESTS_SUPPORT_KEPT_H

#include <stdbool.h>

#include "holdfast/client.h"

typedef struct kept {
    const char *url;       /* an embedded store */
    hf_client *client;     /* of it: is closed and opened again */
    const char *other_url; /* another store, emptied each time */
    hf_client *other;
} kept;

/* Open both stores. */
hf_status kept_open(kept *self, hf_error *err);
void kept_close(kept *self);

/* Is it so? If not, `why` says what is not, and names the key. */
bool kept_holds(kept *self, hf_error *why);

/* The part of it that needs neither another process nor closing: it dumps,
 * loads into another store, and dumps equal. A fifth of the time. */
bool kept_loads(kept *self, hf_error *why);

#endif
