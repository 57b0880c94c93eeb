/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_replies_trial.c - the calls of redis_replies.c, and how to see their
 * effect.
 */
#include "redis_replies.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/test_clock.h"

#define TTL_MS 600000 /* what many calls did is looked at after the last */

const char *const op_names[OPS] = {
    "acquire",      "refused acquire", "release",   "renew",
    "cas",          "field cas",       "delete if", "transaction",
    "latch arrive", "barrier wait",    "cas once",  "put",
    "incr"};
const char *const form_names[FORMS] = {"blocking", "started", "many"};

/* ----------------------------------------------------------------- prepare */

static bool is_lock_op(operation op)
{
    return op <= RENEW;
}

bool is_resolved(operation op)
{
    return op <= PASS;
}

bool has_form(operation op, call_form form)
{
    return form != TOGETHER ||
           (op != INCR && op != CAS_FIELD && op != DELETE_IF && op != TXN &&
            op != ARRIVE && op != PASS);
}

/* As another program may. */
static void cut_lease(hf_client *client, const char *name)
{
    const hf_bytes words[] = {hf_str("PEXPIRE"), hf_str(name),
                              hf_str("200000")};
    hf_reply *reply = NULL;

    must(hf_command(client, 3, words, &reply, NULL));
    hf_reply_free(reply);
}

static void make_lock(trial *self, size_t i)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;

    options.ttl_ms = TTL_MS;
    options.flags = HF_LOCK_NO_RENEW;
    must(hf_lock_new(self->at->client, hf_str(self->names[i]), &options,
                     &self->locks[i], NULL));
    if (self->op == REFUSED) {
        must(hf_lock_new(self->at->direct, hf_str(self->names[i]), &options,
                         &self->others[i], NULL));
        must(hf_lock_try(self->others[i], NULL));
    }
    if (self->op == RELEASE || self->op == RENEW)
        must(hf_lock_try(self->locks[i], NULL));
    /* So that a renewal can be seen. */
    if (self->op == RENEW)
        cut_lease(self->at->direct, self->names[i]);
}

void prepare(trial *self, const stage *at, operation op, call_form form)
{
    static unsigned number;

    memset(self, 0, sizeof(*self));
    self->op = op;
    self->form = form;
    self->at = at;
    self->count = form == TOGETHER ? MANY : 1;
    for (size_t i = 0; i < self->count; i++) {
        snprintf(self->names[i], sizeof(self->names[i]), "t%u", number++);
        if (is_lock_op(op))
            make_lock(self, i);
        if (op == CAS_FIELD)
            must(hf_hash_put(at->direct, hf_str(self->names[i]),
                             &(hf_field){hf_str("f"), hf_str("old")}, 1, NULL,
                             NULL));
        if (op == ARRIVE)
            must(hf_latch_set(at->direct, hf_str(self->names[i]), 9, TTL_MS,
                              NULL, NULL));
        if (op == CAS || op == CAS_ONCE || op == DELETE_IF)
            must(hf_value_set(at->direct, hf_str(self->names[i]), hf_str("old"),
                              NULL, NULL, NULL));
    }
}

/* --------------------------------------------------------------------- run */

static const hf_cas_options once = {sizeof(once), 0, HF_CAS_ONCE, 0};

/* NULL: run it; else start it. */
static hf_status run_txn(trial *self, const hf_async *async)
{
    hf_bytes words[] = {hf_str("INCR"), hf_str(self->names[0])};
    hf_async queue = HF_ASYNC_INIT;
    hf_status status;

    must(hf_txn_new(self->at->client, NULL, &queue.txn, NULL));
    must(hf_txn_if_absent(queue.txn, words[1], NULL));
    must(hf_command_start(self->at->client, 2, words, &self->reply, &queue,
                          NULL));
    status = async == NULL ? hf_txn_exec(queue.txn, NULL)
                           : hf_txn_exec_start(queue.txn, async, NULL);
    hf_txn_free(queue.txn);
    return status;
}

static hf_status run_blocking(trial *self)
{
    hf_bytes name = hf_str(self->names[0]);
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_bytes old = hf_str("old");

    switch (self->op) {
    case ACQUIRE:
    case REFUSED:
        return hf_lock_acquire(self->locks[0], 0, NULL);
    case RELEASE:
        return hf_lock_release(self->locks[0], NULL);
    case RENEW:
        return hf_lock_renew(self->locks[0], NULL);
    case CAS:
    case CAS_ONCE:
        return hf_value_cas(self->at->client, name, &old, hf_str("new"),
                            self->op == CAS ? NULL : &once, NULL, NULL);
    case CAS_FIELD:
        return hf_hash_cas(self->at->client, name, hf_str("f"), &old,
                           hf_str("new"), NULL, NULL, NULL);
    case DELETE_IF:
        return hf_value_delete_if(self->at->client, name, old, NULL, NULL);
    case TXN:
        return run_txn(self, NULL);
    case ARRIVE:
        return hf_latch_arrive(self->at->client, name, hf_str(""), 1, NULL,
                               NULL);
    case PASS:
        return hf_barrier_wait(self->at->client, name, 1, TTL_MS, NULL, NULL,
                               NULL);
    case PUT:
        return hf_hash_put(self->at->client, name, &field, 1, NULL, NULL);
    default:
        return hf_script_run(self->at->incr, &name, 1, NULL, 0, &self->reply,
                             NULL);
    }
}

static void tell_trial(void *user, hf_status status, const hf_error *err)
{
    trial *self = user;

    (void)err;
    self->statuses[0] = status;
    self->told = true;
}

static hf_status start(trial *self, const hf_async *async)
{
    hf_bytes name = hf_str(self->names[0]);
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_bytes old = hf_str("old");

    switch (self->op) {
    case ACQUIRE:
    case REFUSED:
        return hf_lock_acquire_start(self->locks[0], 0, async, NULL);
    case RELEASE:
        return hf_lock_release_start(self->locks[0], async, NULL);
    case RENEW:
        return hf_lock_renew_start(self->locks[0], async, NULL);
    case CAS:
    case CAS_ONCE:
        return hf_value_cas_start(self->at->client, name, &old, hf_str("new"),
                                  self->op == CAS ? NULL : &once, NULL, async,
                                  NULL);
    case CAS_FIELD:
        return hf_hash_cas_start(self->at->client, name, hf_str("f"), &old,
                                 hf_str("new"), NULL, NULL, async, NULL);
    case DELETE_IF:
        return hf_value_delete_if_start(self->at->client, name, old, NULL,
                                        async, NULL);
    case TXN:
        return run_txn(self, async);
    case ARRIVE:
        return hf_latch_arrive_start(self->at->client, name, hf_str(""), 1,
                                     NULL, async, NULL);
    case PASS:
        return hf_barrier_wait_start(self->at->client, name, 1, TTL_MS, NULL,
                                     NULL, async, NULL);
    case PUT:
        return hf_hash_put_start(self->at->client, name, &field, 1, NULL, async,
                                 NULL);
    default:
        return hf_script_run_start(self->at->incr, &name, 1, NULL, 0,
                                   &self->reply, async, NULL);
    }
}

static hf_status run_started(trial *self)
{
    int64_t until_ms = test_now_ms() + TTL_MS; /* it has a deadline */
    struct pollfd waiting = {.events = POLLIN};
    hf_async async = HF_ASYNC_INIT;
    hf_status status;

    async.done = tell_trial;
    async.user = self;
    status = start(self, &async);
    if (status == HF_OK)
        status = hf_client_fd(self->at->client, &waiting.fd, NULL);
    if (status != HF_OK)
        return status;
    while (!self->told && test_now_ms() < until_ms) {
        poll(&waiting, 1, 100);
        (void)!hf_client_dispatch(self->at->client, NULL, NULL);
    }
    return self->told ? self->statuses[0] : HF_SYSTEM;
}

static void run_together(trial *self)
{
    hf_value_cas_item cas[MANY];
    hf_hash_put_item puts[MANY];
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_bytes old = hf_str("old");

    for (size_t i = 0; i < MANY; i++) {
        hf_bytes name = hf_str(self->names[i]);

        cas[i] = (hf_value_cas_item){name, &old, hf_str("new"), NULL};
        puts[i] = (hf_hash_put_item){name, &field, 1};
    }
    if (self->op == ACQUIRE || self->op == REFUSED)
        (void)!hf_lock_acquire_many(self->locks, MANY, 0, self->statuses, NULL);
    else if (self->op == RELEASE)
        (void)!hf_lock_release_many(self->locks, MANY, self->statuses, NULL);
    else if (self->op == RENEW)
        (void)!hf_lock_renew_many(self->locks, MANY, self->statuses, NULL);
    else if (self->op == CAS || self->op == CAS_ONCE)
        (void)!hf_value_cas_many(self->at->client, cas, MANY,
                                 self->op == CAS ? NULL : &once, self->statuses,
                                 NULL);
    else
        (void)!hf_hash_put_many(self->at->client, puts, MANY, NULL,
                                self->statuses, NULL);
}

void run(trial *self)
{
    if (self->form == BLOCKING)
        self->statuses[0] = run_blocking(self);
    else if (self->form == STARTED)
        self->statuses[0] = run_started(self);
    else
        run_together(self);
}

/* ------------------------------------------------------------------- truth */

bool value_is(const stage *at, const char *name, const char *want)
{
    hf_buffer value = HF_BUFFER_INIT;
    bool same = hf_value_get(at->direct, hf_str(name), &value, NULL) == HF_OK &&
                strcmp(value.data, want) == 0;

    hf_buffer_free(&value);
    return same;
}

static bool field_is(const stage *at, const char *name, const char *want)
{
    hf_buffer value = HF_BUFFER_INIT;
    bool same = hf_hash_get(at->direct, hf_str(name), hf_str("f"), &value,
                            NULL) == HF_OK &&
                strcmp(value.data, want) == 0;

    hf_buffer_free(&value);
    return same;
}

/* One has arrived of 9. */
static bool is_counted(const stage *at, const char *name)
{
    int64_t left = -1;

    return hf_latch_inspect(at->direct, hf_str(name), &left, NULL) == HF_OK &&
           left == 8;
}

/* One generation has ended; the next one is broken by this. */
static bool is_passed(const stage *at, const char *name)
{
    int64_t next = -1;

    return hf_barrier_reset(at->direct, hf_str(name), &next, NULL) == HF_OK &&
           next == 3;
}

/* Has the call had its effect, and once? */
bool is_applied(trial *self, size_t i)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    const char *name = self->names[i];
    hf_status seen = HF_OK;
    char owner[HF_OWNER_SIZE];

    if (is_lock_op(self->op)) {
        seen = hf_lock_inspect(self->at->direct, hf_str(name), &info, NULL);
        expect(self, seen == HF_OK || seen == HF_NOT_FOUND);
        hf_lock_owner(self->locks[i], owner);
    }
    switch (self->op) {
    case ACQUIRE:
        return seen == HF_OK && strcmp(info.owner, owner) == 0 &&
               info.last_token >= hf_lock_token(self->locks[i]) &&
               hf_lock_is_held(self->locks[i]);
    case REFUSED:
        hf_lock_owner(self->others[i], owner);
        return strcmp(info.owner, owner) == 0 &&
               !hf_lock_is_held(self->locks[i]);
    case RELEASE:
        return seen == HF_NOT_FOUND;
    case RENEW:
        return seen == HF_OK && info.remaining_ms > TTL_MS / 2;
    case CAS:
    case CAS_ONCE:
        return value_is(self->at, name, "new");
    case CAS_FIELD:
        return field_is(self->at, name, "new");
    case DELETE_IF:
        return hf_key_ttl(self->at->direct, hf_str(name), &(int64_t){0},
                          NULL) == HF_NOT_FOUND;
    case PUT:
        return field_is(self->at, name, "v");
    case ARRIVE:
        return is_counted(self->at, name);
    case PASS:
        return is_passed(self->at, name);
    default:
        return value_is(self->at, name, "1");
    }
}

void finish(trial *self)
{
    for (size_t i = 0; i < self->count; i++) {
        hf_lock_free(self->locks[i]);
        hf_lock_free(self->others[i]);
        (void)!hf_value_delete(self->at->direct, hf_str(self->names[i]), NULL);
        (void)!hf_hash_delete(self->at->direct, hf_str(self->names[i]), NULL);
    }
    hf_reply_free(self->reply);
}

/* The status of a call that got its reply. */
hf_status answer_of(operation op)
{
    return op == REFUSED ? HF_TIMEOUT : HF_OK;
}

/* All were sent to the server; some replies were lost. Returns how many
 * outcomes are unknown. */
size_t check(trial *self)
{
    size_t unknown = 0;

    for (size_t i = 0; i < self->count; i++) {
        hf_status status = self->statuses[i];

        expect(self, is_applied(self, i));
        if (status == HF_INDETERMINATE && !is_resolved(self->op))
            unknown++;
        else
            expect(self, status == answer_of(self->op));
        if (self->op == TXN)
            expect(self, hf_reply_integer(self->reply) == 1);
    }
    return unknown;
}
