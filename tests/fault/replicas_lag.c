/* SPDX-License-Identifier: Apache-2.0 */
/* replicas_lag.c - a master and two replicas, of which one is stopped. */
#include "replicas.h"
#include "support/slowness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"

/* What a call may take beyond its time: the server checks its clock ten times a
 * second, and the machine is busy. */
#define LATE_MS 500

static void check_text(const hf_error *err, const char *text)
{
    check(strstr(err->message, text) != NULL, "\"%s\" lacks \"%s\"",
          err->message, text);
}

/* Began at begin_ms and took about span_ms. */
static void check_span(int64_t begin_ms, int64_t span_ms, const char *what)
{
    int64_t took_ms = now_ms() - begin_ms;

    check(took_between(took_ms, span_ms, span_ms + LATE_MS),
          "%s took %lld ms instead of %lld", what, (long long)took_ms,
          (long long)span_ms);
}

/* ---------------------------------------------------------- asynchronously */

typedef struct told {
    hf_status status;
    bool done;
    char text[HF_ERROR_MESSAGE_SIZE];
} told;

static void on_done(void *user, hf_status status, const hf_error *err)
{
    told *self = user;

    self->status = status;
    self->done = true;
    if (err != NULL)
        memcpy(self->text, err->message, sizeof(self->text));
}

static void await(hf_client *client, const told *self)
{
    int64_t until_ms = now_ms() + LIMIT_MS;

    while (!self->done && now_ms() < until_ms) {
        check(hf_client_dispatch(client, NULL, NULL) == HF_OK, "dispatch");
        pause_ms(1);
    }
    check(self->done, "a call never completed");
}

/* --------------------------------------------------------------------- lag */

static void all_is_well(hf_client *client)
{
    hf_lock *lock = new_lock(client, "well", 2, PATIENT_MS);
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    told outcome = {.done = false};

    async.done = on_done;
    async.user = &outcome;
    check_status(hf_lock_try(lock, &err), HF_OK, "acquire", &err);
    check(hf_lock_replicas(lock) == 2, "acquire: %d replicas",
          hf_lock_replicas(lock));
    check_status(hf_lock_renew(lock, &err), HF_OK, "renew", &err);
    check(hf_lock_replicas(lock) == 2, "renew: %d replicas",
          hf_lock_replicas(lock));
    check_status(hf_lock_release(lock, &err), HF_OK, "release", &err);
    check_status(hf_lock_acquire_start(lock, 0, &async, &err), HF_OK, "start",
                 &err);
    await(client, &outcome);
    check(outcome.status == HF_OK, "started: %s", outcome.text);
    check_status(hf_lock_release(lock, &err), HF_OK, "release", &err);
    hf_lock_free(lock);
    check_status(
        hf_value_set(client, hf_str("v"), hf_str("1"), NULL, NULL, &err), HF_OK,
        "set", &err);
}

/* The lock is refused, and free at once. */
static void acquire_is_given_back(hf_client *client)
{
    hf_lock *lock = new_lock(client, "short", 2, WITHIN_MS);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    told outcome = {.done = false};
    int64_t begin_ms = now_ms();

    check_status(hf_lock_try(lock, &err), HF_UNAVAILABLE, "acquire", &err);
    check_span(begin_ms, WITHIN_MS, "acquire");
    check_text(&err, "1 of 2 replicas acknowledged it within 300 ms");
    check_status(hf_lock_inspect(client, hf_str("short"), &info, &err),
                 HF_NOT_FOUND, "then released", &err);
    async.done = on_done;
    async.user = &outcome;
    check_status(hf_lock_acquire_start(lock, 0, &async, &err), HF_OK, "start",
                 &err);
    await(client, &outcome);
    check(outcome.status == HF_UNAVAILABLE, "started: %s",
          hf_status_name(outcome.status));
    check_status(hf_lock_inspect(client, hf_str("short"), &info, &err),
                 HF_NOT_FOUND, "then released", &err);
    begin_ms = now_ms();
    check_status(hf_lock_acquire(lock, 1500, &err), HF_UNAVAILABLE, "wait",
                 &err);
    check_span(begin_ms, 1500, "waiting");
    check_status(hf_lock_inspect(client, hf_str("short"), &info, &err),
                 HF_NOT_FOUND, "then released", &err);
    hf_lock_free(lock);
    lock = new_lock(client, "short", 1, PATIENT_MS);
    check_status(hf_lock_try(lock, &err), HF_OK, "one is enough", &err);
    check(hf_lock_replicas(lock) >= 1, "one is enough: %d",
          hf_lock_replicas(lock));
    hf_lock_free(lock);
}

static void acquire_many_is_given_back(hf_client *client)
{
    hf_lock *locks[COUNT];
    hf_status statuses[COUNT];
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_error err = HF_ERROR_INIT;
    char name[24];
    int64_t begin_ms;

    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "many-%d", i);
        locks[i] = new_lock(client, name, 2, WITHIN_MS);
    }
    begin_ms = now_ms();
    check_status(hf_lock_acquire_many(locks, COUNT, 0, statuses, &err),
                 HF_UNAVAILABLE, "many", &err);
    check_span(begin_ms, WITHIN_MS, "many share one wait");
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "many-%d", i);
        check(statuses[i] == HF_UNAVAILABLE, "%s: %s", name,
              hf_status_name(statuses[i]));
        check_status(hf_lock_inspect(client, hf_str(name), &info, &err),
                     HF_NOT_FOUND, name, &err);
        hf_lock_free(locks[i]);
    }
}

/* What was written is there, but reported as uncertain; refused calls are not
 * slower because of it. */
static void writes_are_in_doubt(hf_client *client)
{
    hf_value_set_options nx = HF_VALUE_SET_OPTIONS_INIT;
    hf_field field = {hf_str("f"), hf_str("1")};
    hf_bytes wrong = hf_str("wrong");
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    int64_t begin_ms = now_ms();

    check_status(
        hf_value_set(client, hf_str("v"), hf_str("2"), NULL, NULL, &err),
        HF_INDETERMINATE, "set", &err);
    check_span(begin_ms, WITHIN_MS, "set");
    check_text(&err, "1 of 2 replicas");
    check_status(hf_value_get(client, hf_str("v"), &value, &err), HF_OK, "get",
                 &err);
    check(value.size == 1 && *(char *)value.data == '2', "it is not written");
    hf_buffer_free(&value);
    check_status(hf_hash_put(client, hf_str("h"), &field, 1, NULL, &err),
                 HF_INDETERMINATE, "put", &err);
    check_status(hf_key_expire(client, hf_str("h"), 60000, &err),
                 HF_INDETERMINATE, "touch", &err);
    begin_ms = now_ms();
    nx.flags = HF_SET_NX;
    check_status(
        hf_value_set(client, hf_str("v"), hf_str("3"), &nx, NULL, &err),
        HF_CONFLICT, "set nx", &err);
    check_status(hf_value_cas(client, hf_str("v"), &wrong, hf_str("3"), NULL,
                              NULL, &err),
                 HF_CONFLICT, "cas", &err);
    check_status(hf_value_delete(client, hf_str("nothing"), &err), HF_NOT_FOUND,
                 "delete", &err);
    check_span(begin_ms, 0, "refusals");
}

static void scripts_are_in_doubt(hf_client *client)
{
    hf_bytes key = hf_str("s");
    hf_error err = HF_ERROR_INIT;
    hf_script *script = NULL;
    hf_reply *reply = NULL;

    check_status(hf_script_load(client,
                                hf_str("return redis.call('incr', KEYS[1])"),
                                &script, &err),
                 HF_OK, "load", &err);
    check_status(hf_script_run(script, &key, 1, NULL, 0, &reply, &err),
                 HF_INDETERMINATE, "script", &err);
    check(reply == NULL, "an implausible reply");
    hf_script_free(script);
}

/* Ordinary calls of the same client, counted for a while. */
typedef struct caller {
    hf_client *client;
    pthread_t thread;
    bool durable;
    int number;
    const atomic_bool *stop;
    uint64_t count;
} caller;

static void *call_on(void *user)
{
    caller *self = user;
    char name[32];
    hf_lock *lock;

    snprintf(name, sizeof(name), "%s-%d", self->durable ? "durable" : "plain",
             self->number);
    lock = new_lock(self->client, name, self->durable ? 2 : HF_REPLICAS_NONE,
                    WITHIN_MS);
    while (!atomic_load(self->stop)) {
        hf_status status = hf_lock_try(lock, NULL);

        check(status == (self->durable ? HF_UNAVAILABLE : HF_OK), "%s: %s",
              name, hf_status_name(status));
        if (status == HF_OK)
            (void)!hf_lock_release(lock, NULL);
        self->count++;
    }
    hf_lock_free(lock);
    return NULL;
}

#define PLAIN 4
#define DURABLE 16

/* How many pairs the plain callers do in a second, next to `durable` others. */
static double plain_rate(hf_client *client, int durable)
{
    caller callers[PLAIN + DURABLE];
    int count = PLAIN + durable;
    uint64_t pairs = 0;
    atomic_bool stop;

    atomic_init(&stop, false);
    for (int i = 0; i < count; i++) {
        callers[i] = (caller){client, 0, i >= PLAIN, i, &stop, 0};
        pthread_create(&callers[i].thread, NULL, call_on, &callers[i]);
    }
    pause_ms(2000);
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++) {
        pthread_join(callers[i].thread, NULL);
        if (i < PLAIN)
            pairs += callers[i].count;
    }
    return (double)pairs / 2;
}

/* If they waited for a replica, a call would take a hundred times as long. */
static void others_are_not_slower(hf_client *client)
{
    double before = plain_rate(client, 0);
    double meanwhile = plain_rate(client, DURABLE);
    double alone = (before + plain_rate(client, 0)) / 2;

    printf("ordinary lock pairs with %d callers whose replica hangs: "
           "%.0f/s, %.2f of what they do alone\n",
           DURABLE, meanwhile, meanwhile / alone);
    check(meanwhile > 0.2 * alone,
          "ordinary calls are slower: %.0f/s, not %.0f/s", meanwhile, alone);
}

static void *resume_later(void *user)
{
    pause_ms(1000);
    redis_server_resume(user);
    return NULL;
}

static void waiting_outlasts_the_lag(hf_client *client, redis_server *replica)
{
    hf_lock *lock = new_lock(client, "patient", 2, WITHIN_MS);
    hf_error err = HF_ERROR_INIT;
    pthread_t thread;

    pthread_create(&thread, NULL, resume_later, replica);
    check_status(hf_lock_acquire(lock, LIMIT_MS, &err), HF_OK, "wait", &err);
    check(hf_lock_replicas(lock) == 2, "wait: %d replicas",
          hf_lock_replicas(lock));
    pthread_join(thread, NULL);
    hf_lock_free(lock);
}

/* A short lease, so that many renewals reach the hanging replica. */
static hf_lock *hold(hf_client *client)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;

    options.replicas = 2;
    options.ttl_ms = 1500;
    check_status(hf_lock_new(client, hf_str("held"), &options, &lock, &err),
                 HF_OK, "held", &err);
    check_status(hf_lock_acquire(lock, LIMIT_MS, &err), HF_OK, "held", &err);
    return lock;
}

static void renewals_lose_nothing(hf_client *client, hf_lock *held)
{
    hf_lock *rival = new_lock(client, "held", 2, WITHIN_MS);

    check(hf_lock_try(rival, NULL) == HF_HELD, "a rival has the lock");
    check(hf_lock_is_held(held), "renewals were held up: the lock was lost");
    check(hf_lock_renew(held, NULL) == HF_OK, "renew");
    check(hf_lock_replicas(held) < 2, "a stopped replica has it");
    hf_lock_free(rival);
}

/* The watchdog's renewals report it, too. */
static void replicas_come_back(const hf_lock *held)
{
    int64_t until_ms = now_ms() + LIMIT_MS;

    while (hf_lock_replicas(held) != 2 && now_ms() < until_ms)
        pause_ms(10);
    check(hf_lock_replicas(held) == 2 && hf_lock_is_held(held), "after all: %d",
          hf_lock_replicas(held));
}

void run_lag(void)
{
    redis_sentinel *all = redis_sentinel_start(NULL);
    hf_client *client, *hasty, *patient;
    redis_server *replica;
    const char *url;
    hf_lock *held;

    if (all == NULL)
        exit(2);
    url = redis_server_tcp_url(redis_sentinel_server(all, 0));
    replica = redis_sentinel_server(all, 2);
    client = open_client(url, 0, 0);
    hasty = open_client(url, 2, WITHIN_MS);
    patient = open_client(url, 2, PATIENT_MS);
    all_is_well(patient);
    held = hold(client);
    redis_server_pause(replica);
    acquire_is_given_back(client);
    acquire_many_is_given_back(client);
    writes_are_in_doubt(hasty);
    scripts_are_in_doubt(hasty);
    others_are_not_slower(client);
    renewals_lose_nothing(client, held);
    waiting_outlasts_the_lag(client, replica);
    replicas_come_back(held);
    hf_lock_free(held);
    hf_client_close(patient);
    hf_client_close(hasty);
    hf_client_close(client);
    redis_sentinel_stop(all);
}
