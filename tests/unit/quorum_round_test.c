/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_round_test.c - requests to a quorum of five nodes that are scripted:
 * each keeps what it is sent until the test answers it. INFO is answered at
 * once, unless a node is told to hold it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/quorum/nodes.h"
#include "store/quorum/quorum.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"

#define NODES 5
#define PENDING_MAX 16
#define LOG_SIZE 256

/* -------------------------------------------------------------- scripted node
 */

typedef struct node {
    hf__store base;
    hf__request *pending[PENDING_MAX];
    size_t count;
    char log[LOG_SIZE]; /* what it was sent: "acquire release ..." */
    char last_token[24];
    char run_id[8];
    int uptime_s;
    uint32_t generation;
    bool holds_info;
    bool refuses; /* answers an acquire within submit() */
    bool is_closed;
    size_t cancelled;
} node;

static node nodes[NODES];

static const char *name_of(const hf__request *request)
{
    if (request->script == NULL)
        return "info";
    switch (request->script->index) {
    case HF__SCRIPT_LOCK_ACQUIRE:
        return "acquire";
    case HF__SCRIPT_LOCK_RELEASE:
        return "release";
    case HF__SCRIPT_LOCK_CONFIRM:
        return "confirm";
    case HF__SCRIPT_LOCK_LEAVE:
        return "leave";
    default:
        return "other";
    }
}

static void finish(hf__request *request, hf_status status)
{
    if (status != HF_OK)
        hf__request_fail(request, status, "by the test");
    else
        request->status = HF_OK;
    request->sends = request->sends == 0 ? 1 : request->sends;
    request->on_done(request);
}

static void answer_info(const node *self, hf__request *request)
{
    char text[96];
    int size = snprintf(text, sizeof(text),
                        "# Server\r\nrun_id:%s\r\nuptime_in_seconds:%d\r\n",
                        self->run_id, self->uptime_s);
    bool made = hf__reply_set_bytes(&request->reply, HF_REPLY_STRING, text,
                                    (size_t)size, &request->arena);

    finish(request, made ? HF_OK : HF_NO_MEMORY);
}

static bool set_refusal(hf__request *request, const char *holder, int pttl_ms)
{
    hf_reply *items;

    if (!hf__reply_set_array(&request->reply, 3, &request->arena))
        return false;
    items = request->reply.array.items;
    hf__reply_set_integer(&items[0], pttl_ms);
    hf__reply_set_integer(&items[2], 1);
    return hf__reply_set_bytes(&items[1], HF_REPLY_STRING, holder,
                               strlen(holder), &request->arena);
}

static void take(node *self, hf__request *request)
{
    size_t size = strlen(self->log);

    assert_false(self->is_closed);
    (void)snprintf(self->log + size, LOG_SIZE - size, "%s%s",
                   size == 0 ? "" : " ", name_of(request));
    if (request->script != NULL &&
        request->script->index == HF__SCRIPT_LOCK_CONFIRM)
        (void)snprintf(self->last_token, sizeof(self->last_token), "%.*s",
                       (int)request->words[3].size,
                       (const char *)request->words[3].data);
    if (request->script == NULL && !self->holds_info) {
        answer_info(self, request);
    } else if (self->refuses && strcmp(name_of(request), "acquire") == 0) {
        finish(request, set_refusal(request, "A", 500) ? HF_OK : HF_NO_MEMORY);
    } else {
        assert_true(self->count < PENDING_MAX);
        self->pending[self->count++] = request;
    }
}

static void set_run_id(size_t at, const char *run_id)
{
    (void)snprintf(nodes[at].run_id, sizeof(nodes[at].run_id), "%s", run_id);
}

static void node_submit(hf__store *store, hf__request *const *requests,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        take((node *)(void *)store, requests[i]);
}

static const char *node_inbox(hf__store *store)
{
    static const char *const names[NODES] = {"in0", "in1", "in2", "in3", "in4"};

    return names[(node *)(void *)store - nodes];
}

/* The oldest that waits for an answer. */
static hf__request *oldest(node *self)
{
    hf__request *first = self->pending[0];

    assert_true(self->count > 0);
    self->count--;
    memmove(self->pending, self->pending + 1,
            self->count * sizeof(self->pending[0]));
    return first;
}

static void node_close(hf__store *store)
{
    node *self = (node *)(void *)store;

    while (self->count > 0)
        finish(oldest(self), HF_UNAVAILABLE);
    self->is_closed = true;
}

static void node_cancel(hf__store *store, hf__request *request)
{
    node *self = (node *)(void *)store;

    for (size_t i = 0; i < self->count; i++)
        self->cancelled += self->pending[i] == request;
}

static uint32_t node_generation(hf__store *store)
{
    return ((node *)(void *)store)->generation;
}

static const hf__store_ops node_ops = {
    .submit = node_submit,
    .inbox = node_inbox,
    .close = node_close,
    .cancel = node_cancel,
    .generation = node_generation,
};

/* Answers to the oldest request of a node. */
static void say(size_t at, int64_t value)
{
    hf__request *request = oldest(&nodes[at]);

    hf__reply_set_integer(&request->reply, value);
    finish(request, HF_OK);
}

static void refuse(size_t at)
{
    hf__request *request = oldest(&nodes[at]);

    finish(request, set_refusal(request, "A", 500) ? HF_OK : HF_NO_MEMORY);
}

static void fail_with(size_t at, hf_status status)
{
    finish(oldest(&nodes[at]), status);
}

/* ------------------------------------------------------------------- a call */

typedef struct call {
    hf__request request;
    hf_bytes words[7];
    size_t done;
    bool is_freed; /* on_done frees it */
    hf_status status;
    hf_reply_kind kind;
    int64_t value; /* of an integer, or the first of a list */
    uint32_t sends;
} call;

static call result; /* of the last call that was done */

static void call_done(hf__request *request)
{
    call *self = request->user;

    self->done++;
    self->status = request->status;
    self->kind = request->reply.kind;
    self->sends = request->sends;
    if (request->status == HF_OK)
        self->value = self->kind == HF_REPLY_INTEGER
                          ? request->reply.integer
                          : request->reply.array.items[0].integer;
    hf__request_done(request);
    result = *self;
    if (self->is_freed)
        hf__free(self);
}

static call *call_new(uint32_t script)
{
    call *self = hf__calloc(1, sizeof(*self));

    assert_non_null(self);
    self->words[0] = hf_str("l");
    self->words[1] = hf_str("hf:token:{l}");
    self->words[2] = hf_str("hf:wait:{l}");
    self->words[3] = hf_str("owner");
    self->words[4] = hf_str("30000");
    self->words[5] = hf_str("quorum");
    self->words[6] = hf_str("0");
    if (script == HF__SCRIPT_LOCK_RELEASE) {
        self->words[1] = self->words[2];
        self->words[2] = self->words[3];
    }
    hf__request_script(&self->request, &hf__scripts[script], self->words,
                       script == HF__SCRIPT_LOCK_RELEASE ? 3 : 7,
                       script == HF__SCRIPT_LOCK_RELEASE ? 2 : 3);
    self->request.deadline_ms = hf__clock_boot_ms() + 60000;
    self->request.on_done = call_done;
    self->request.user = self;
    return self;
}

static void submit(hf__quorum *quorum, call *self)
{
    hf__request *request = &self->request;

    quorum->base.ops->submit(&quorum->base, &request, 1);
}

static call *acquire(hf__quorum *quorum)
{
    call *self = call_new(HF__SCRIPT_LOCK_ACQUIRE);

    submit(quorum, self);
    return self;
}

/* ------------------------------------------------------------------- fixture
 */

static int start(void **state)
{
    hf__quorum *quorum = hf__calloc(1, sizeof(*quorum));

    memset(nodes, 0, sizeof(nodes));
    quorum->base.ops = &hf__quorum_store_ops;
    quorum->fork_generation = hf__fork_generation();
    quorum->restart_ms = 60000;
    quorum->opened_ms = hf__clock_boot_ms();
    pthread_mutex_init(&quorum->mutex, NULL);
    hf__cond_init(&quorum->changed);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i].base.ops = &node_ops;
        nodes[i].generation = 1;
        nodes[i].uptime_s = 1000;
        (void)snprintf(nodes[i].run_id, sizeof(nodes[i].run_id), "run%zu", i);
        quorum->nodes[i].store = &nodes[i].base;
    }
    quorum->count = NODES;
    quorum->majority = 3;
    *state = quorum;
    if (hf__nodes_probe(quorum, 1000, NULL) != HF_OK)
        return -1;
    for (size_t i = 0; i < NODES; i++)
        nodes[i].log[0] = '\0';
    return 0;
}

static int stop(void **state)
{
    hf__quorum *quorum = *state;

    for (size_t i = 0; i < NODES; i++)
        nodes[i].is_closed = false;
    quorum->base.ops->close(&quorum->base);
    return 0;
}

static void expect_logs(const char *const want[NODES])
{
    for (size_t i = 0; i < NODES; i++)
        assert_string_equal(want[i], nodes[i].log);
}

#define EXPECT_LOGS(...) expect_logs((const char *const[NODES]){__VA_ARGS__})

/* Complete everything with a harmless answer, and free the call. */
static void drain(call *self)
{
    for (size_t i = 0; i < NODES; i++) {
        while (nodes[i].count > 0)
            fail_with(i, HF_UNAVAILABLE);
    }
    assert_int_equal(1, self->done);
    hf__free(self);
}

/* --------------------------------------------------------------------- tests
 */

static void grant_is_confirmed_by_a_majority(void **state)
{
    call *c = acquire(*state);

    say(0, 7);
    say(1, 9);
    assert_int_equal(0, c->done);
    say(2, 8);
    assert_int_equal(0, c->done); /* 9 stands on one node only */
    EXPECT_LOGS("acquire confirm", "acquire", "acquire confirm", "acquire",
                "acquire");
    assert_string_equal("9", nodes[0].last_token);
    say(0, 1);
    assert_int_equal(0, c->done);
    say(2, 1);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_OK, c->status);
    assert_int_equal(9, c->value);
    say(3, 12); /* late grants stay: renewals and releases go to them too */
    say(4, 3);
    EXPECT_LOGS("acquire confirm", "acquire", "acquire confirm", "acquire",
                "acquire");
    drain(c);
}

static void equal_tokens_need_no_second_round(void **state)
{
    call *c = acquire(*state);

    say(4, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(1, c->done);
    assert_int_equal(9, c->value);
    drain(c);
}

static void grant_that_cannot_be_confirmed_is_taken_back(void **state)
{
    call *c = acquire(*state);

    say(0, 7);
    say(1, 9);
    say(2, 8);
    say(0, 0); /* it lost the lock meanwhile */
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("acquire confirm release", "acquire release",
                "acquire confirm release", "acquire release",
                "acquire release");
    drain(c);
}

static void refusal_is_undone_where_something_may_be(void **state)
{
    call *c = acquire(*state);

    say(0, 7);
    fail_with(1, HF_UNAVAILABLE); /* nothing was sent there */
    refuse(2);
    fail_with(4, HF_INDETERMINATE);
    assert_int_equal(0, c->done);
    refuse(3);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_OK, c->status);
    assert_int_equal(HF_REPLY_ARRAY, c->kind);
    EXPECT_LOGS("acquire release", "acquire", "acquire", "acquire",
                "acquire release");
    drain(c);
}

static void late_grant_finds_its_release_behind_it(void **state)
{
    call *c = acquire(*state);

    refuse(0);
    refuse(1);
    refuse(2);
    assert_int_equal(1, c->done);
    assert_int_equal(500, c->value);
    EXPECT_LOGS("acquire", "acquire", "acquire", "acquire release",
                "acquire release");
    say(3, 7);
    say(4, 8);
    assert_int_equal(1, c->done);
    drain(c);
}

/* Nodes that answer before the others were asked. */
static void undo_comes_behind_an_acquire_not_sent_yet(void **state)
{
    call *c;

    for (size_t i = 0; i < 3; i++)
        nodes[i].refuses = true;
    c = acquire(*state);
    assert_int_equal(1, c->done);
    EXPECT_LOGS("acquire", "acquire", "acquire", "acquire release",
                "acquire release");
    drain(c);
}

static void loss_of_a_majority_is_told_at_once(void **state)
{
    call *c = acquire(*state);

    say(0, 7);
    fail_with(1, HF_UNAVAILABLE);
    fail_with(2, HF_INDETERMINATE);
    assert_int_equal(0, c->done);
    fail_with(3, HF_UNAVAILABLE);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("acquire release", "acquire", "acquire release", "acquire",
                "acquire release");
    drain(c);
}

/* Two that did not answer the last time are not waited for. */
static void nodes_that_are_away_cost_no_time(void **state)
{
    call *c = acquire(*state);

    for (size_t i = 0; i < 3; i++)
        say(i, 9);
    fail_with(3, HF_INDETERMINATE);
    fail_with(4, HF_UNAVAILABLE);
    drain(c);
    c = acquire(*state);
    say(0, 9);
    say(1, 9);
    refuse(2);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_REPLY_ARRAY, c->kind);
    assert_int_equal(0, c->value); /* split: nobody holds it */
    say(3, 9);                     /* it is back */
    drain(c);
    c = acquire(*state);
    say(0, 9);
    say(1, 9);
    refuse(2);
    assert_int_equal(0, c->done);
    say(3, 9);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_REPLY_INTEGER, c->kind);
    drain(c);
}

static void restarted_node_does_not_vote(void **state)
{
    call *c;

    nodes[2].generation++;
    set_run_id(2, "again");
    nodes[2].uptime_s = 3;
    c = acquire(*state);
    EXPECT_LOGS("acquire", "acquire", "info acquire", "acquire", "acquire");
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    say(3, 9);
    assert_int_equal(1, c->done);
    drain(c);
}

/* What the node says of itself comes behind its answer: a connection that broke
 * and was made again while the request was queued. */
static void new_connection_to_the_same_process_votes(void **state)
{
    call *c = acquire(*state);

    nodes[2].generation++;
    say(0, 9);
    say(1, 9);
    nodes[2].holds_info = true;
    say(2, 9);
    EXPECT_LOGS("acquire", "acquire", "acquire info", "acquire", "acquire");
    assert_int_equal(0, c->done);
    answer_info(&nodes[2], oldest(&nodes[2]));
    assert_int_equal(1, c->done);
    assert_int_equal(HF_OK, c->status);
    drain(c);
}

static void new_connection_to_another_process_does_not(void **state)
{
    call *c = acquire(*state);

    nodes[2].generation++;
    nodes[2].uptime_s = 0;
    set_run_id(2, "again");
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    fail_with(3, HF_UNAVAILABLE);
    fail_with(4, HF_UNAVAILABLE);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("acquire release", "acquire release", "acquire info release",
                "acquire", "acquire");
    drain(c);
}

/* Another process than before, but older than any lock. */
static void quarantine_is_over_when_the_node_is_old(void **state)
{
    call *c;

    nodes[2].generation++;
    nodes[2].uptime_s = 61;
    set_run_id(2, "again");
    c = acquire(*state);
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(1, c->done);
    drain(c);
}

/* A node that could not be reached when the quorum was opened may have been
 * started again since: nobody here has seen it before. */
static void node_met_late_and_young_does_not_vote(void **state)
{
    hf__quorum *quorum = *state;
    call *c;

    quorum->nodes[2].run_id[0] = '\0';
    nodes[2].uptime_s = 3;
    c = acquire(quorum);
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    drain(c);
    assert_false(hf__node_may_vote(quorum, 2));
}

static void two_votes_of_one_process_are_one(void **state)
{
    hf__quorum *quorum = *state;
    call *c;

    nodes[2].generation++;
    set_run_id(2, "run1");
    c = acquire(quorum);
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    drain(c);
}

static void release_tells_of_a_second_sending(void **state)
{
    call *c = call_new(HF__SCRIPT_LOCK_RELEASE);

    submit(*state, c);
    nodes[1].pending[0]->sends = 2;
    say(0, 1);
    say(1, 0);
    say(2, 0);
    say(3, 0);
    assert_int_equal(1, c->done);
    assert_int_equal(0, c->value);
    assert_int_equal(2, c->sends);
    drain(c);
}

static void cancel_goes_to_the_nodes_still_asked(void **state)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    say(0, 7);
    quorum->base.ops->cancel(&quorum->base, &c->request);
    assert_int_equal(0, nodes[0].cancelled);
    for (size_t i = 1; i < NODES; i++)
        assert_int_equal(1, nodes[i].cancelled);
    for (size_t i = 1; i < NODES; i++)
        fail_with(i, HF_INDETERMINATE);
    assert_int_equal(1, c->done);
    /* One that has completed is left alone. */
    quorum->base.ops->cancel(&quorum->base, &c->request);
    drain(c);
}

static void cancel_reaches_a_confirmation(void **state)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    say(0, 7);
    say(1, 8);
    say(2, 9);
    quorum->base.ops->cancel(&quorum->base, &c->request);
    assert_int_equal(1, nodes[0].cancelled);
    assert_int_equal(1, nodes[1].cancelled);
    drain(c);
}

/* Nodes are closed one after the other: what that brings to an end must not be
 * undone on those closed before (take() asserts it). */
static void close_completes_what_is_under_way(void **state)
{
    hf__quorum *quorum = *state;
    call *confirming = acquire(quorum);
    call *waiting;

    for (size_t i = 0; i < 3; i++)
        say(i, 7 + (int64_t)i);
    waiting = acquire(quorum);
    say(4, 9); /* of the first, which is being confirmed */
    quorum->base.ops->close(&quorum->base);
    assert_int_equal(1, waiting->done);
    assert_int_equal(HF_UNAVAILABLE, waiting->status);
    assert_int_equal(1, confirming->done);
    assert_int_equal(HF_UNAVAILABLE, confirming->status);
    hf__free(waiting);
    hf__free(confirming);
    *state = NULL;
}

static void close_takes_nothing_back_on_closed_nodes(void **state)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    say(0, 7);
    quorum->base.ops->close(&quorum->base);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    hf__free(c);
    *state = NULL;
}

static int stop_nothing(void **state)
{
    return *state == NULL ? 0 : stop(state);
}

static void request_may_be_freed_when_it_is_told(void **state)
{
    call *c = acquire(*state);

    c->is_freed = true;
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(1, result.done);
    say(3, 10);
    refuse(4);
}

static void acquire_without_memory(hf__quorum *quorum, long after)
{
    call *c = call_new(HF__SCRIPT_LOCK_ACQUIRE);

    hf__alloc_fail_after(after);
    submit(quorum, c);
    for (size_t turn = 0; turn < 4; turn++) {
        for (size_t i = 0; i < NODES; i++) {
            if (nodes[i].count == 0)
                continue;
            if (turn == 0 && i != 1 && i != 2)
                refuse(i);
            else
                say(i, 7 + (int64_t)i);
        }
    }
    hf__alloc_fail_after(-1);
    drain(c);
}

static void every_request_completes_without_memory(void **state)
{
    for (long after = 0; after < 40; after++) {
        acquire_without_memory(*state, after);
        for (size_t i = 0; i < NODES; i++) {
            nodes[i].log[0] = '\0';
            nodes[i].generation++; /* INFO needs memory too */
        }
    }
}

static void others_than_locks_are_refused(void **state)
{
    call *c = call_new(HF__SCRIPT_VALUE_CAS);

    submit(*state, c);
    assert_int_equal(HF_UNSUPPORTED, c->status);
    EXPECT_LOGS("", "", "", "", "");
    drain(c);
    c = call_new(HF__SCRIPT_LOCK_ACQUIRE);
    c->request.deadline_ms = hf__clock_boot_ms() - 1;
    submit(*state, c);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("", "", "", "", "");
    drain(c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop_nothing)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(grant_is_confirmed_by_a_majority),
        TEST(equal_tokens_need_no_second_round),
        TEST(grant_that_cannot_be_confirmed_is_taken_back),
        TEST(refusal_is_undone_where_something_may_be),
        TEST(late_grant_finds_its_release_behind_it),
        TEST(undo_comes_behind_an_acquire_not_sent_yet),
        TEST(loss_of_a_majority_is_told_at_once),
        TEST(nodes_that_are_away_cost_no_time),
        TEST(restarted_node_does_not_vote),
        TEST(new_connection_to_the_same_process_votes),
        TEST(new_connection_to_another_process_does_not),
        TEST(quarantine_is_over_when_the_node_is_old),
        TEST(node_met_late_and_young_does_not_vote),
        TEST(two_votes_of_one_process_are_one),
        TEST(release_tells_of_a_second_sending),
        TEST(cancel_goes_to_the_nodes_still_asked),
        TEST(cancel_reaches_a_confirmation),
        TEST(close_completes_what_is_under_way),
        TEST(close_takes_nothing_back_on_closed_nodes),
        TEST(request_may_be_freed_when_it_is_told),
        TEST(every_request_completes_without_memory),
        TEST(others_than_locks_are_refused),
    };

    return cmocka_run_group_tests_name("quorum_round", tests, NULL, NULL);
}
