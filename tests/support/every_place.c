/* SPDX-License-Identifier: Apache-2.0 */
/* every_place.c - what the calls are made with, and making one. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/latch.h"
#include "holdfast/once.h"
#include "holdfast/redisson.h"
#include "holdfast/rwlock.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/every_call.h"
#include "support/remove_tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static hf_bytes value_one(void)
{
    return hf_str("1");
}

static int keep_dump(void *user, const void *data, size_t size)
{
    every_place *place = user;

    if (size > sizeof(place->dump) - place->dump_size)
        return ENOSPC;
    memcpy(place->dump + place->dump_size, data, size);
    place->dump_size += size;
    return 0;
}

static bool fill_store(hf_client *client)
{
    hf_field field = {hf_str("f"), hf_str("v")};

    return hf_value_set(client, hf_str("a"), value_one(), NULL, NULL, NULL) ==
               HF_OK &&
           hf_hash_put(client, hf_str("h"), &field, 1, NULL, NULL) == HF_OK;
}

bool every_place_begin(every_place *place)
{
    hf_client *client;
    bool made;

    memset(place, 0, sizeof(*place));
    place->key = hf_str("k");
    snprintf(place->dir, sizeof(place->dir), "/tmp/hf-every-call-XXXXXX");
    if (mkdtemp(place->dir) == NULL)
        return false;
    snprintf(place->url, sizeof(place->url), "volatile:%s/store", place->dir);
    if (hf_client_open(place->url, NULL, &client, NULL) != HF_OK)
        return false;
    made = fill_store(client) &&
           hf_store_dump(client, NULL, keep_dump, place, NULL, NULL) == HF_OK;
    hf_client_close(client);
    return made;
}

void every_place_end(every_place *place)
{
    (void)remove_tree(place->dir);
}

const char *every_usual_answer(const char *target)
{
    static const struct {
        const char *target;
        const char *reply;
    } usual[] = {
        {"lock_acquire", ":5\r\n"},
        {"lock_release", ":1\r\n"},
        {"lock_adopt", "*0\r\n"},
        {"lock_renew", "*0\r\n"},
        {"rwlock_release", ":1\r\n"},
        {"rwlock_renew", "*0\r\n"},
        {"lock_leave", ":0\r\n"},
        {"queue_take", "*8\r\n:5\r\n$1\r\na\r\n$1\r\np\r\n:1\r\n:0\r\n:1\r\n:1"
                       "\r\n$0\r\n\r\n"},
        {"queue_put_once", ":1\r\n"},
        {"queue_release", ":1\r\n"},
        {"election_acquire", ":5\r\n"},
        {"election_release", ":1\r\n"},
        {"election_renew", "*0\r\n"},
        {"once_acquire", ":5\r\n"},
        {"once_release", ":1\r\n"},
        {"once_renew", "*0\r\n"},
        {"redisson_acquire", ":5\r\n"},
        {"redisson_fair_acquire", ":5\r\n"},
        {"redisson_read_acquire", ":5\r\n"},
        {"redisson_write_acquire", ":5\r\n"},
        {"redisson_permit_acquire", ":5\r\n"},
        {"redisson_release", ":1\r\n"},
        {"redisson_fair_release", ":1\r\n"},
        {"redisson_read_release", ":1\r\n"},
        {"redisson_write_release", ":1\r\n"},
        {"redisson_permit_release", ":1\r\n"},
        {"redisson_renew", "*0\r\n"},
        {"redisson_permit_renew", "*0\r\n"},
        {"lock_inspect", "*9\r\n$7\r\nanother\r\n:5\r\n$1\r\n7\r\n:0\r\n:-1\r\n"
                         ":1\r\n:0\r\n$0\r\n\r\n:1\r\n"}, /* of Redisson */
        {"barrier_leave", "*3\r\n:2\r\n:1\r\n:0\r\n"},
        {"rank_trim", "*2\r\n:0\r\n:0\r\n"},
        {"client_register", ":1\r\n"},
        {"SCRIPT", "$40\r\n0123456789abcdef0123456789abcdef01234567\r\n"},
        {"PTTL", ":5\r\n"},
        {"SET", "+OK\r\n"},
        {"TIME", "*2\r\n$1\r\n1\r\n$1\r\n1\r\n"},
        {"DBSIZE", ":1\r\n"},
        {"SCAN", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n"},
        {"lock_list", "*0\r\n"},
        {"HPEXPIRETIME", "*1\r\n:-2\r\n"},
        {"FUNCTION", "$0\r\n\r\n"},
        {"key_read", "*1\r\n$4\r\nnone\r\n"},
        {"key_write", ":1\r\n"},
        {"txn_run", "*1\r\n+OK\r\n"},
    };

    for (size_t i = 0; i < COUNT(usual); i++) {
        if (strcmp(usual[i].target, target) == 0)
            return usual[i].reply;
    }
    return NULL;
}

static hf_status make_job(every_place *place, const hf_lock_options *options,
                          hf_error *err)
{
    hf_status status = hf_queue_put(place->client, place->key, value_one(),
                                    value_one(), NULL, err);

    if (status == HF_OK)
        status =
            hf_queue_new(place->client, place->key, options, &place->lock, err);
    return status;
}

static hf_status make_lock(every_place *place, const every_call *call,
                           const hf_lock_options *options, hf_error *err)
{
    if (call->is_election)
        return hf_election_new(place->client, place->key, value_one(), options,
                               &place->lock, err);
    if (call->is_claim)
        return hf_once_new(place->client, place->key, NULL, options,
                           &place->lock, err);
    if (call->is_job)
        return make_job(place, options, err);
    if (call->is_redisson)
        return hf_redisson_lock_new(place->client, place->key, call->kind,
                                    options, &place->lock, err);
    if (call->is_pair)
        return hf_rwlock_new(place->client, place->key, 0, options,
                             &place->second, &place->lock, err);
    return hf_lock_new(place->client, place->key, options, &place->lock, err);
}

bool every_lock_begin(every_place *place, const every_call *call)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;

    options.flags = HF_LOCK_NO_RENEW;
    return make_lock(place, call, &options, NULL) == HF_OK &&
           (!call->needs_held || hf_lock_try(place->lock, NULL) == HF_OK);
}

void every_lock_end(every_place *place)
{
    (void)!hf_lock_release(place->lock, NULL);
    hf_lock_free(place->lock);
    hf_lock_free(place->second);
    place->lock = place->second = NULL;
}

hf_status every_call_prepare(every_place *place, const every_call *call,
                             hf_error *err)
{
    hf_status status = HF_OK;

    every_result_begin(&place->result);
    place->lock = place->second = NULL;
    place->script = NULL;
    if (call->needs_script)
        status = hf_script_load(place->client, hf_str("return 1"),
                                &place->script, err);
    if (call->needs_lock)
        status = make_lock(place, call, NULL, err);
    if (status == HF_OK && call->needs_held)
        status = hf_lock_try(place->lock, err);
    return status;
}

static bool is_of(const every_call *call, const char *noun)
{
    return strncmp(call->name, noun, strlen(noun)) == 0;
}

/* A latch, to wait for one that is open. */
static hf_status fill_latch(every_place *place, const every_call *call,
                            hf_error *err)
{
    hf_status status = HF_OK;

    if (!is_of(call, "latch set"))
        status = hf_latch_set(place->client, place->key, 1, 60000, NULL, err);
    if (status == HF_OK && is_of(call, "latch await"))
        status = hf_latch_arrive(place->client, place->key, value_one(), 1,
                                 NULL, err);
    return status;
}

static hf_status fill_set(every_place *place, hf_error *err)
{
    hf_bytes member = value_one();

    return hf_set_add(place->client, place->key, &member, 1, NULL, NULL, err);
}

hf_status every_call_fill(every_place *place, const every_call *call,
                          hf_error *err)
{
    hf_field field = {value_one(), value_one()};

    if (is_of(call, "redisson latch await"))
        return HF_OK; /* it is open */
    if (is_of(call, "redisson permit") || is_of(call, "redisson latch") ||
        is_of(call, "redisson semaphore"))
        return hf_value_set(place->client, place->key, value_one(), NULL, NULL,
                            err);
    if (call->is_redisson)
        return HF_OK;
    if (is_of(call, "hash"))
        return hf_hash_put(place->client, place->key, &field, 1, NULL, err);
    if (is_of(call, "timeline"))
        return hf_timeline_add(place->client, place->key, value_one(),
                               value_one(), 60000, NULL, err);
    if (is_of(call, "rank"))
        return hf_rank_add(place->client, place->key, value_one(), 1, NULL,
                           NULL, err);
    if (is_of(call, "set"))
        return fill_set(place, err);
    if (is_of(call, "latch"))
        return fill_latch(place, call, err);
    if (is_of(call, "barrier reset"))
        return hf_barrier_wait(place->client, place->key, 1, 0, NULL, NULL,
                               err);
    if (call->keyless || call->is_pair || call->is_job || is_of(call, "lock") ||
        is_of(call, "limiter") || is_of(call, "ids") ||
        is_of(call, "election") || is_of(call, "barrier") ||
        is_of(call, "once") || is_of(call, "semaphore") ||
        is_of(call, "queue put"))
        return HF_OK;
    if (is_of(call, "queue"))
        return hf_queue_put(place->client, place->key, value_one(), value_one(),
                            NULL, err);
    return hf_value_set(place->client, place->key, value_one(), NULL, NULL,
                        err);
}

void every_call_done(every_place *place)
{
    every_call none = {.name = "none"};

    (void)every_result_end(place, &none, HF_OK);
    hf_lock_free(place->lock);
    hf_lock_free(place->second);
    hf_script_free(place->script);
    place->lock = place->second = NULL;
    place->script = NULL;
}

/* ------------------------------------------------------------------ making */

typedef struct end {
    bool told;
    hf_status status;
} end;

static void on_done(void *user, hf_status status, const hf_error *err)
{
    end *self = user;

    (void)err;
    self->status = status;
    self->told = true;
}

hf_status every_call_make(every_place *place, const every_call *call,
                          bool starts, hf_error *err)
{
    struct pollfd pfd = {.events = POLLIN};
    end self = {false, HF_OK};
    hf_async async = HF_ASYNC_INIT;
    hf_status status;

    if (!starts) {
        status = call->run(place, NULL, err);
        return call->is_batch ? place->result.status : status;
    }
    async.done = on_done;
    async.user = &self;
    status = hf_client_fd(place->client, &pfd.fd, err);
    if (status == HF_OK)
        status = call->run(place, &async, err);
    while (status == HF_OK && !self.told) {
        (void)poll(&pfd, 1, -1);
        status = hf_client_dispatch(place->client, NULL, NULL);
    }
    if (status == HF_OK && call->is_batch)
        return place->result.status;
    return status == HF_OK ? self.status : status;
}
