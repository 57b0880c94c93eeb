/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_scripted.h - a quorum of five scripted nodes: each keeps what it is
 * sent until the test replies. INFO is answered at once, unless the test
 * makes the node hold it back.
 */
#ifndef TESTS_UNIT_QUORUM_SCRIPTED_H
#define TESTS_UNIT_QUORUM_SCRIPTED_H

#include <stdio.h>
#include <string.h>

#include "store/quorum/nodes.h"
#include "store/quorum/quorum.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/mem.h"

#define NODES 5
#define PENDING_MAX 16
#define LOG_SIZE 256

typedef struct node {
    hf__store base;
    hf__request *pending[PENDING_MAX];
    size_t count;
    char log[LOG_SIZE]; /* what it was sent: "acquire release ..." */
    char last_token[24];
    char run_id[8];
    int64_t uptime_s;
    uint32_t generation;
    bool holds_info;
    bool undo_wakes;  /* the last undo that it was sent wakes a waiter ... */
    bool undo_queues; /* ... and queues the caller again */
    bool refuses;     /* replies to an acquire within submit() */
    bool is_closed;
    size_t cancelled;
    uint32_t seq;     /* its event counter, for any topic */
    bool listens;     /* to events */
    hf__watch *watch; /* on it; NULL: none */
} node;

extern node nodes[NODES];

void set_run_id(size_t at, const char *run_id);

/* Remove and return the oldest request of a node that waits for a reply. */
hf__request *oldest(node *self);

/* Replies to it. */
void quorum_finish(hf__request *request, hf_status status);
void answer_info(const node *self, hf__request *request);
bool set_refusal(hf__request *request, const char *holder, int pttl_ms);
void say(size_t at, int64_t value);
void refuse(size_t at);
void fail_with(size_t at, hf_status status);
/* Reply to the newest request of a node before the older ones. */
void say_last(size_t at, int64_t value);

/* Move its event counter. */
void move_events(size_t at);

/* A request to the quorum. */
typedef struct call {
    hf__request request;
    hf_bytes words[8];
    size_t done;
    bool is_freed; /* on_done frees it */
    hf_status status;
    hf_reply_kind kind;
    int64_t value; /* of an integer, or the first of a list */
    uint32_t sends;
} call;

extern call result; /* of the last call that completed */

call *call_new(uint32_t script);
void submit(hf__quorum *quorum, call *self);
call *acquire(hf__quorum *quorum);
/* Complete everything with a harmless reply, and free the call. */
void drain(call *self);

/* cmocka's set-up and tear-down; *state is the hf__quorum, or NULL if the test
 * has closed it. */
int quorum_start(void **state);
int quorum_stop(void **state);

void expect_logs(const char *const want[NODES]);

/* What each node was sent: "acquire release". */
#define EXPECT_LOGS(...) expect_logs((const char *const[NODES]){__VA_ARGS__})

#endif
