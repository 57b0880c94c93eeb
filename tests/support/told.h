/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.h - asynchronous calls in tests: the arguments of done(), and a poll
 * loop that dispatches until it was called.
 */
#ifndef TOLD_H
#define TOLD_H

#include "holdfast/async.h"

typedef struct told {
    unsigned count;    /* how often done() was called */
    hf_status status;  /* the last one */
    bool error_filled; /* with an error of the same status */
} told;

/* hf_async that records in `*told`. */
hf_async tell(told *note_in);

/* The end of a test: nothing more is recorded, whatever calls are under way.
 * When these have ended too, their memory can be freed. */
void told_cut(void);
void told_free(void);

/* Poll the client's descriptor and dispatch until `*told` has `count`; the test
 * fails after 10 s. */
void await_told(hf_client *client, const told *awaited, unsigned count);

/* Await the first result of a call, and expect HF_OK. */
void await_ok(hf_client *client, const told *awaited);

/* Dispatch once, whatever there is. */
void dispatch(hf_client *client);

/* The thread of a test in which a wait of `client` is interrupted: a while
 * after its start, and again, as the wait may begin later. NULL: a call failed.
 */
void *interrupt_soon(void *client);

/* Start a call, await it, and expect this result. */
#define expect_told(want, client, start)                                       \
    do {                                                                       \
        told expected_told = {0};                                              \
        hf_async async = tell(&expected_told);                                 \
                                                                               \
        expect_status(HF_OK, (start));                                         \
        await_told((client), &expected_told, 1);                               \
        expect_status((want), expected_told.status);                           \
        assert_int_equal(expected_told.error_filled,                           \
                         expected_told.status != HF_OK);                       \
    } while (0)

#endif
