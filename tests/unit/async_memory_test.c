/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_memory_test.c - asynchronous and batch calls in which each allocation
 * fails once, on any thread: a start that fails never completes, one that
 * succeeds completes once, with success or HF_NO_MEMORY. No lock is left
 * without a holder that knows of it.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded_store.h"
#include "holdfast/cache.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/redis_server.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/mem.h"

/* More allocations than any of the calls needs. */
#define TRIES_MAX 2000
#define PATIENCE_MS 10000
#define BATCH 5

static redis_server *server;
static place volatile_place, file_place;

/* One try of one call. */
typedef struct trial {
    const char *url;
    hf_client *client;
    hf_client *other; /* for what must not fail */
    hf_script *script;
    hf_lock *lock;
    char name[32]; /* of keys and locks: different for each try */
    hf_bytes key;
    hf_buffer buffer;
    hf_fields fields;
    hf_reply *reply;
    hf_script *loaded;
    int64_t ttl_ms;
    size_t removed;
    hf_lock_info info;
    hf_call *call;
    unsigned told;
    hf_status status;
    char message[HF_ERROR_MESSAGE_SIZE];
} trial;

static hf_client *must_open_client(const char *url)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    options.script_budget_ms = 1000 * SLOWER;
    if (hf_client_open(url, &options, &client, &err) != HF_OK)
        fail_msg("%s: %s", url, err.message);
    return client;
}

static void must(hf_status status, const char *what)
{
    if (status != HF_OK)
        fail_msg("%s: HF_%s", what, hf_status_name(status));
}

static void note(void *user, hf_status status, const hf_error *err)
{
    trial *self = user;

    assert_int_equal(err == NULL ? HF_OK : err->status, status);
    self->told++;
    self->status = status;
    if (err != NULL)
        (void)snprintf(self->message, sizeof(self->message), "%s",
                       err->message);
}

static void await(trial *self, unsigned count)
{
    int64_t until_ms = hf__clock_boot_ms() + PATIENCE_MS;
    struct pollfd ready = {.events = POLLIN};

    must(hf_client_fd(self->client, &ready.fd, NULL), "hf_client_fd");
    while (self->told < count && hf__clock_boot_ms() < until_ms) {
        (void)poll(&ready, 1, 100);
        must(hf_client_dispatch(self->client, NULL, NULL), "dispatch");
    }
    assert_int_equal(self->told, count);
}

/* --------------------------------------------------------------- the calls */

typedef struct operation {
    const char *name;
    void (*prepare)(trial *self); /* run with all memory; NULL: nothing */
    hf_status (*start)(trial *self, const hf_async *async);
    void (*check)(trial *self, hf_status status); /* NULL: nothing */
} operation;

static void put_value(trial *self)
{
    must(hf_value_set(self->other, self->key, hf_str("v"), NULL, NULL, NULL),
         "hf_value_set");
}

static void put_hash(trial *self)
{
    hf_field field = {hf_str("f"), hf_str("v")};

    must(hf_hash_put(self->other, self->key, &field, 1, NULL, NULL),
         "hf_hash_put");
}

static hf_status start_set(trial *self, const hf_async *async)
{
    static char big[5000];

    memset(big, 'x', sizeof(big));
    return hf_value_set_start(self->client, self->key,
                              hf_view(big, sizeof(big)), NULL, NULL, async,
                              NULL);
}

/* If success is reported, it was written. */
static void check_set(trial *self, hf_status status)
{
    hf_buffer value = HF_BUFFER_INIT;

    if (status == HF_OK)
        must(hf_value_get(self->other, self->key, &value, NULL), "get");
    hf_buffer_free(&value);
}

static hf_status start_get(trial *self, const hf_async *async)
{
    return hf_value_get_start(self->client, self->key, &self->buffer, async,
                              NULL);
}

static void check_get(trial *self, hf_status status)
{
    assert_int_equal(self->buffer.data != NULL, status == HF_OK);
}

static hf_status start_cas(trial *self, const hf_async *async)
{
    hf_bytes expected = hf_str("v");

    return hf_value_cas_start(self->client, self->key, &expected, hf_str("w"),
                              NULL, &self->buffer, async, NULL);
}

static hf_status start_expire(trial *self, const hf_async *async)
{
    return hf_key_expire_start(self->client, self->key, 60000, async, NULL);
}

static hf_status start_ttl(trial *self, const hf_async *async)
{
    return hf_key_ttl_start(self->client, self->key, &self->ttl_ms, async,
                            NULL);
}

static hf_status start_delete_if(trial *self, const hf_async *async)
{
    return hf_value_delete_if_start(self->client, self->key, hf_str("v"),
                                    &self->buffer, async, NULL);
}

static hf_status start_hash_put(trial *self, const hf_async *async)
{
    hf_field fields[10];

    for (size_t i = 0; i < 10; i++)
        fields[i] = (hf_field){hf_view(&"0123456789"[i], 1), hf_str("v")};
    return hf_hash_put_start(self->client, self->key, fields, 10, NULL, async,
                             NULL);
}

static hf_status start_hash_get_all(trial *self, const hf_async *async)
{
    return hf_hash_get_all_start(self->client, self->key, &self->fields, async,
                                 NULL);
}

static hf_status start_hash_delete_fields(trial *self, const hf_async *async)
{
    hf_bytes name = hf_str("f");

    return hf_hash_delete_fields_start(self->client, self->key, &name, 1,
                                       &self->removed, async, NULL);
}

static hf_status start_script_load(trial *self, const hf_async *async)
{
    return hf_script_load_start(self->client, hf_str("return 1"), &self->loaded,
                                async, NULL);
}

static void load_script(trial *self)
{
    static const char source[] = "return {string.rep('x', 3000), KEYS[1]}";

    must(hf_script_load(self->client, hf_str(source), &self->script, NULL),
         "hf_script_load");
}

static hf_status start_script_run(trial *self, const hf_async *async)
{
    hf_bytes args[12];

    for (size_t i = 0; i < 12; i++)
        args[i] = hf_str("a");
    return hf_script_run_start(self->script, &self->key, 1, args, 12,
                               &self->reply, async, NULL);
}

static void check_script_run(trial *self, hf_status status)
{
    assert_int_equal(hf_reply_count(self->reply), status == HF_OK ? 2 : 0);
}

static void fill(void *user, hf_cache_fill *fill)
{
    (void)user;
    (void)!hf_cache_fill_done(fill, HF_OK, hf_str("filled"), NULL);
}

static hf_status start_fill(trial *self, const hf_async *async)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = 60000;
    return hf_cache_get_or_fill_start(self->client, self->key, fill, NULL,
                                      &options, &self->buffer, NULL, async,
                                      NULL);
}

static hf_status start_inspect(trial *self, const hf_async *async)
{
    return hf_lock_inspect_start(self->client, self->key, &self->info, async,
                                 NULL);
}

/* ------------------------------------------------------------------- locks */

static void make_lock(trial *self)
{
    must(hf_lock_new(self->client, self->key, NULL, &self->lock, NULL),
         "hf_lock_new");
}

static void take_lock(trial *self)
{
    make_lock(self);
    must(hf_lock_try(self->lock, NULL), "hf_lock_try");
}

static hf_status start_acquire(trial *self, const hf_async *async)
{
    return hf_lock_acquire_start(self->lock, 0, async, NULL);
}

/* Another client gets the lock, long before a lease could have ended. */
static void check_free(trial *self)
{
    hf_lock *lock;

    must(hf_lock_new(self->other, self->key, NULL, &lock, NULL), "new");
    must(hf_lock_acquire(lock, PATIENCE_MS, NULL), "what is not held is free");
    hf_lock_free(lock);
}

static void check_acquire(trial *self, hf_status status)
{
    assert_int_equal(hf_lock_is_held(self->lock), status == HF_OK);
    if (status == HF_OK)
        must(hf_lock_release(self->lock, NULL), "hf_lock_release");
    check_free(self);
}

static hf_status start_renew(trial *self, const hf_async *async)
{
    return hf_lock_renew_start(self->lock, async, NULL);
}

static void check_renew(trial *self, hf_status status)
{
    (void)status;
    assert_true(hf_lock_is_held(self->lock));
    must(hf_lock_release(self->lock, NULL), "hf_lock_release");
}

static hf_status start_release(trial *self, const hf_async *async)
{
    return hf_lock_release_start(self->lock, async, NULL);
}

/* A start that fails leaves the lock held; a release that completed does not.
 */
static void check_release(trial *self, hf_status status)
{
    assert_int_equal(hf_lock_is_held(self->lock), self->told == 0);
    if (self->told == 0)
        must(hf_lock_release(self->lock, NULL), "hf_lock_release");
    if (status == HF_OK)
        check_free(self);
}

static const operation operations[] = {
    {"value_set", NULL, start_set, check_set},
    {"value_get", put_value, start_get, check_get},
    {"value_cas", put_value, start_cas, NULL},
    {"value_delete_if", put_value, start_delete_if, NULL},
    {"key_expire", put_value, start_expire, NULL},
    {"key_ttl", put_value, start_ttl, NULL},
    {"hash_put", NULL, start_hash_put, NULL},
    {"hash_get_all", put_hash, start_hash_get_all, NULL},
    {"hash_delete_fields", put_hash, start_hash_delete_fields, NULL},
    {"script_load", NULL, start_script_load, NULL},
    {"script_run", load_script, start_script_run, check_script_run},
    {"cache_get_or_fill", NULL, start_fill, NULL},
    {"lock_inspect", take_lock, start_inspect, NULL},
    {"lock_acquire", make_lock, start_acquire, check_acquire},
    {"lock_renew", take_lock, start_renew, check_renew},
    {"lock_release", take_lock, start_release, check_release},
};

/* --------------------------------------------------------------- the trials */

static void begin(trial *self, const char *url, hf_client *other)
{
    static unsigned number;

    *self = (trial){.url = url, .other = other};
    self->info = (hf_lock_info)HF_LOCK_INFO_INIT;
    (void)snprintf(self->name, sizeof(self->name), "trial-%u", number++);
    self->key = hf_str(self->name);
    self->client = must_open_client(url);
}

static void end(trial *self)
{
    hf_lock_free(self->lock);
    hf_script_free(self->script);
    hf_script_free(self->loaded);
    hf_buffer_free(&self->buffer);
    hf_fields_free(&self->fields);
    hf_reply_free(self->reply);
    hf_client_close(self->client);
}

/* true: the allocation that should fail was reached. */
static bool try_once(const operation *op, const char *url, hf_client *other,
                     long after)
{
    hf_async async = HF_ASYNC_INIT;
    hf_status status;
    trial self;
    bool reached;

    begin(&self, url, other);
    if (op->prepare != NULL)
        op->prepare(&self);
    async.done = note;
    async.user = &self;
    hf__alloc_fail_after(after);
    status = op->start(&self, &async);
    if (status == HF_OK) {
        await(&self, 1);
        status = self.status;
    } else {
        must(hf_client_dispatch(self.client, NULL, NULL), "dispatch");
        assert_int_equal(self.told, 0);
    }
    reached = hf__alloc_fail_after(-1) < 0;
    if (status != HF_OK && (status != HF_NO_MEMORY || !reached))
        fail_msg("%s, allocation %ld: HF_%s: %s", op->name, after,
                 hf_status_name(status), self.message);
    if (op->check != NULL)
        op->check(&self, status);
    end(&self);
    assert_int_equal(self.told <= 1, 1);
    return reached;
}

static void each_start_survives(const char *url)
{
    hf_client *other = must_open_client(url);

    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        long after = 0;

        while (try_once(&operations[i], url, other, after) && after < TRIES_MAX)
            after++;
        /* A call has its own memory, and some of the store's. */
        assert_in_range(after, 1, TRIES_MAX - 1);
    }
    hf_client_close(other);
}

TEST(starts_survive_on_the_volatile_store)
{
    each_start_survives(volatile_place.url);
}

TEST(starts_survive_on_the_durable_store)
{
    each_start_survives(file_place.url);
}

TEST(starts_survive_on_redis)
{
    each_start_survives(redis_server_unix_url(server));
}

/* ----------------------------------------------------------------- waiting */

static void *release_soon(void *user)
{
    trial *self = user;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t until_ms = hf__clock_boot_ms() + 200;

    while (hf__clock_boot_ms() < until_ms && info.waiters == 0) {
        if (hf_lock_inspect(self->other, self->key, &info, NULL) != HF_OK)
            break;
    }
    (void)!hf_lock_release(self->lock, NULL);
    return NULL;
}

/* Behind a holder that releases: every step of acquire.h. */
static bool wait_once(const char *url, hf_client *other, long after)
{
    hf_async async = HF_ASYNC_INIT;
    hf_lock_options brief = HF_LOCK_OPTIONS_INIT;
    hf_lock *waiter;
    hf_status status;
    pthread_t thread;
    trial self;
    bool reached;

    begin(&self, url, other);
    brief.ttl_ms = 1000; /* in case its release fails */
    brief.flags = HF_LOCK_NO_RENEW;
    must(hf_lock_new(other, self.key, &brief, &self.lock, NULL), "new");
    must(hf_lock_try(self.lock, NULL), "try");
    must(hf_lock_new(self.client, self.key, NULL, &waiter, NULL), "new");
    async.done = note;
    async.user = &self;
    hf__alloc_fail_after(after);
    status = hf_lock_acquire_start(waiter, PATIENCE_MS, &async, NULL);
    assert_int_equal(pthread_create(&thread, NULL, release_soon, &self), 0);
    if (status == HF_OK)
        await(&self, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    reached = hf__alloc_fail_after(-1) < 0;
    if (status == HF_OK)
        status = self.status;
    if (status != HF_OK && (status != HF_NO_MEMORY || !reached))
        fail_msg("waiting, allocation %ld: HF_%s: %s", after,
                 hf_status_name(status), self.message);
    assert_int_equal(hf_lock_is_held(waiter), status == HF_OK);
    hf_lock_free(self.lock);
    self.lock = waiter;
    if (status == HF_OK)
        must(hf_lock_release(waiter, NULL), "release");
    end(&self);
    return reached;
}

static void waits_survive(const char *url)
{
    hf_client *other = must_open_client(url);
    long after = 0;

    while (wait_once(url, other, after) && after < TRIES_MAX)
        after++;
    assert_in_range(after, 2, TRIES_MAX - 1);
    hf_client_close(other);
}

TEST(waits_survive_on_every_store)
{
    waits_survive(volatile_place.url);
    waits_survive(redis_server_unix_url(server));
}

/* -------------------------------------------------------------------- many */

typedef struct batch {
    trial base;
    char names[BATCH][64];
    hf_bytes keys[BATCH];
    hf_value_set_item items[BATCH];
    hf_lock *locks[BATCH];
    hf_buffer values[BATCH];
    hf_status statuses[BATCH];
} batch;

typedef hf_status batch_run(batch *self);

static hf_status many_set(batch *self)
{
    return hf_value_set_many(self->base.client, self->items, BATCH, NULL,
                             self->statuses, NULL);
}

static hf_status many_get(batch *self)
{
    return hf_value_get_many(self->base.client, self->keys, BATCH, self->values,
                             self->statuses, NULL);
}

static hf_status many_acquire(batch *self)
{
    return hf_lock_acquire_many(self->locks, BATCH, 0, self->statuses, NULL);
}

static hf_status many_renew(batch *self)
{
    return hf_lock_renew_many(self->locks, BATCH, self->statuses, NULL);
}

static hf_status many_release(batch *self)
{
    return hf_lock_release_many(self->locks, BATCH, self->statuses, NULL);
}

static const struct {
    const char *name;
    batch_run *run;
    bool held; /* the locks must be held before */
} batches[] = {
    {"value_set_many", many_set, false},
    {"value_get_many", many_get, false},
    {"lock_acquire_many", many_acquire, false},
    {"lock_renew_many", many_renew, true},
    {"lock_release_many", many_release, true},
};

static void begin_batch(batch *self, const char *url, hf_client *other,
                        bool held)
{
    memset(self, 0, sizeof(*self));
    begin(&self->base, url, other);
    for (size_t i = 0; i < BATCH; i++) {
        (void)snprintf(self->names[i], sizeof(self->names[i]), "%s-%zu",
                       self->base.name, i);
        self->keys[i] = hf_str(self->names[i]);
        self->items[i] = (hf_value_set_item){self->keys[i], hf_str("v")};
        must(hf_lock_new(self->base.client, self->keys[i], NULL,
                         &self->locks[i], NULL),
             "new");
        if (held)
            must(hf_lock_try(self->locks[i], NULL), "try");
    }
}

static void end_batch(batch *self)
{
    for (size_t i = 0; i < BATCH; i++) {
        hf_lock_free(self->locks[i]);
        hf_buffer_free(&self->values[i]);
    }
    end(&self->base);
}

/* What handles say of their locks agrees with the statuses. */
static void check_batch(const batch *self, batch_run *run, hf_status status)
{
    bool touched = false;

    for (size_t i = 0; i < BATCH; i++)
        touched = touched || self->statuses[i] != (hf_status)-1;
    for (size_t i = 0; touched && i < BATCH; i++) {
        hf_status one = self->statuses[i];
        bool is_held = hf_lock_is_held(self->locks[i]);

        if (one != HF_OK && one != HF_NO_MEMORY &&
            !(run == many_get && one == HF_NOT_FOUND))
            fail_msg("item %zu: HF_%s", i, hf_status_name(one));
        if (one == HF_NO_MEMORY)
            assert_int_equal(status, HF_NO_MEMORY);
        if (run == many_acquire)
            assert_int_equal(is_held, one == HF_OK);
        if (run == many_renew)
            assert_true(is_held);
        if (run == many_release)
            assert_false(is_held);
    }
}

static bool batch_once(size_t number, const char *url, hf_client *other,
                       long after)
{
    hf_status status;
    batch self;
    bool reached;

    begin_batch(&self, url, other, batches[number].held);
    for (size_t i = 0; i < BATCH; i++)
        self.statuses[i] = (hf_status)-1;
    hf__alloc_fail_after(after);
    status = batches[number].run(&self);
    reached = hf__alloc_fail_after(-1) < 0;
    if (status != HF_OK && (status != HF_NO_MEMORY || !reached))
        fail_msg("%s, allocation %ld: HF_%s", batches[number].name, after,
                 hf_status_name(status));
    check_batch(&self, batches[number].run, status);
    end_batch(&self);
    return reached;
}

static void batches_survive(const char *url)
{
    hf_client *other = must_open_client(url);

    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        long after = 0;

        while (batch_once(i, url, other, after) && after < TRIES_MAX)
            after++;
        assert_in_range(after, 1, TRIES_MAX - 1);
    }
    hf_client_close(other);
}

TEST(batches_survive_on_every_store)
{
    batches_survive(volatile_place.url);
    batches_survive(file_place.url);
    batches_survive(redis_server_unix_url(server));
}

/* -------------------------------------------------------------------- main */

static int open_stores(void **state)
{
    (void)state;
    make_place(&volatile_place, "volatile", "");
    make_place(&file_place, "file", "");
    server = redis_server_start(NULL);
    return server == NULL ? -1 : 0;
}

static int close_stores(void **state)
{
    (void)state;
    redis_server_stop(server);
    remove_place(&file_place);
    remove_place(&volatile_place);
    return 0;
}

ALL_TESTS_WITH(open_stores, close_stores);
