/* SPDX-License-Identifier: Apache-2.0 */
/* side.h - one of the two stores that are compared. */
#ifndef TESTS_DIFFERENTIAL_SIDE_H
#define TESTS_DIFFERENTIAL_SIDE_H

#include "mutation.h"
#include "op.h"
#include "store/store.h"

typedef struct side {
    const char *name; /* for display */
    hf__loop *loop;
    hf__store *store;
    const mutation *mutation; /* may be NULL */
} side;

/* false, with a line on stderr: it cannot be opened. */
bool side_open(side *one, const char *name, const char *url);
void side_close(side *one);

/*
 * Run `count` operations that make one request. `request` is complete then;
 * end it with hf__request_done(). Words live in `arena`.
 */
void side_perform(side *one, const op *ops, size_t count, hf__request *request,
                  hf__arena *arena);

/*
 * Redis 7.0 does not reset errno before it parses the weights of SORT: after
 * any command that parsed too large a number, all weights are refused. This
 * resets it.
 */
void side_reset_errno(side *one);

/* Delete everything, including loaded scripts. Ends the program on failure. */
void side_flush(side *one);

#endif
