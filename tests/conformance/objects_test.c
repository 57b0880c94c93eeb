/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_test.c - each kind of object by each call of key.h: all its keys at
 * once, or a refusal that says what is held. The table of
 * docs/reference/objects.md has what this prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/cache.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/ids.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/rank.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/set.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

typedef struct trial trial;

typedef struct object {
    const char *name;
    const char *type;
    const char *held; /* of the message that refuses; NULL: not refused */
    size_t stays;     /* how many of its keys outlast a delete */
    void (*make)(trial *self);
    void (*check)(hf_client *client, hf_bytes key); /* of what is not held */
} object;

struct trial {
    fixture *f;
    const object *of;
    hf_bytes from;
    hf_bytes to;
    hf_lock *lock; /* NULL: none */
    told said;
    bool unsupported; /* this store has no such object */
};

/* ------------------------------------------------------------------- parts */

typedef struct parts {
    hf_client *client;
    hf_bytes key;
    int64_t low_ms; /* their times to live must be in this range */
    int64_t high_ms;
    size_t count;
} parts;

static int see_part(void *user, hf_bytes name)
{
    parts *self = user;
    int64_t ttl_ms = 0;

    if (memmem(name.data, name.size, self->key.data, self->key.size) == NULL)
        return 0;
    self->count++;
    if (self->high_ms == 0 || memmem(name.data, name.size, "fence", 5) != NULL)
        return 0;
    expect_status(HF_OK, hf_key_ttl(self->client, name, &ttl_ms, ERR));
    assert_in_range(ttl_ms + 1, self->low_ms + 1, self->high_ms + 1);
    return 0;
}

static size_t see_parts(hf_client *client, hf_bytes key, uint32_t flags,
                        int64_t low_ms, int64_t high_ms)
{
    parts self = {client, key, low_ms, high_ms, 0};

    expect_status(HF_OK, hf_key_list(client, hf_view(NULL, 0), flags, see_part,
                                     &self, ERR));
    return self.count;
}

/* How many keys an object has. */
static size_t count_parts(hf_client *client, hf_bytes key)
{
    return see_parts(client, key, HF_KEY_LIST_ALL, 0, 0);
}

static void assert_type(hf_client *client, hf_bytes key, const char *want)
{
    hf_buffer type = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_key_type(client, key, &type, ERR));
    assert_buffer(&type, hf_str(want));
}

/* ------------------------------------------------------------------ values */

static void make_value(trial *self)
{
    put_value(self->f->client, self->from, bytes("v"), 0);
}

static void check_value(hf_client *client, hf_bytes key)
{
    assert_value(client, key, bytes("v"));
}

static hf_status put_fenced(hf_client *client, hf_bytes key, uint64_t token)
{
    return hf_value_put_fenced(client, key, bytes("v"), token, NULL, NULL, ERR);
}

static void make_fenced(trial *self)
{
    expect_status(HF_OK, put_fenced(self->f->client, self->from, 10));
}

static void check_fenced(hf_client *client, hf_bytes key)
{
    check_value(client, key);
    expect_status(HF_CONFLICT, put_fenced(client, key, 9));
}

static void make_hash(trial *self)
{
    put_hash(self->f->client, self->from, words("a", "1"), 0);
}

static void check_hash(hf_client *client, hf_bytes key)
{
    assert_field(client, key, bytes("a"), bytes("1"));
}

static void make_timed_hash(trial *self)
{
    hf_hash_put_options options = HF_HASH_PUT_OPTIONS_INIT;
    hf_field field = {bytes("a"), bytes("1")};
    hf_status status;

    options.field_ttl_ms = 60000;
    status = hf_hash_put(self->f->client, self->from, &field, 1, &options, ERR);
    self->unsupported = status == HF_UNSUPPORTED;
    if (!self->unsupported)
        expect_status(HF_OK, status);
}

static void check_timed_hash(hf_client *client, hf_bytes key)
{
    hf_bytes name = bytes("a");
    int64_t ttl_ms = 0;

    check_hash(client, key);
    expect_status(HF_OK,
                  hf_hash_ttl_fields(client, key, &name, 1, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 1, 60000);
}

static void make_timeline(trial *self)
{
    hf_attribute attribute = hf_attribute_number(bytes("price"), 7);
    hf_timeline_add_options options = HF_TIMELINE_ADD_OPTIONS_INIT;

    options.attributes = &attribute;
    options.attribute_count = 1;
    expect_status(HF_OK,
                  hf_timeline_add(self->f->client, self->from, bytes("id"),
                                  bytes("v"), 60000, &options, ERR));
}

static void check_timeline(hf_client *client, hf_bytes key)
{
    hf_timeline_page_options options = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    options.order_by = bytes("price");
    expect_status(HF_OK, hf_timeline_page(client, key, &options, &page, ERR));
    assert_int_equal(page.count, 1);
    assert_bytes(bytes("v"), page.items[0].payload);
    assert_int_equal(page.items[0].attribute_count, 1);
    hf_timeline_items_free(&page);
}

static void make_entry(trial *self)
{
    hf_bytes tag = bytes("{o}tag");
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = 60000;
    options.tags = &tag;
    options.tag_count = 1;
    expect_status(HF_OK, hf_cache_put(self->f->client, self->from, bytes("v"),
                                      &options, ERR));
}

static void check_entry(hf_client *client, hf_bytes key)
{
    hf_buffer value = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_cache_get(client, key, NULL, &value, ERR));
    assert_buffer(&value, bytes("v"));
}

static const hf_limiter_options rate = {
    .struct_size = sizeof(rate), .count = 10, .period_ms = 86400000};

static void make_limiter(trial *self)
{
    expect_status(HF_OK, hf_limiter_take(self->f->client, self->from, 4, &rate,
                                         NULL, ERR));
}

static void check_limiter(hf_client *client, hf_bytes key)
{
    hf_limiter_state left;

    expect_status(HF_OK, hf_limiter_inspect(client, key, &rate, &left, ERR));
    assert_int_equal(left.remaining, 6);
}

static int64_t next_id(hf_client *client, hf_bytes key)
{
    hf_ids_options options = HF_IDS_OPTIONS_INIT;
    hf_ids *ids = NULL;
    int64_t id = 0;

    options.flags = HF_IDS_DENSE;
    expect_status(HF_OK, hf_ids_new(client, key, &options, &ids, ERR));
    expect_status(HF_OK, hf_ids_next(ids, &id, ERR));
    hf_ids_free(ids);
    return id;
}

static void make_ids(trial *self)
{
    assert_int_equal(next_id(self->f->client, self->from), 1);
}

static void check_ids(hf_client *client, hf_bytes key)
{
    assert_true(next_id(client, key) > 1);
}

static void make_latch(trial *self)
{
    expect_status(
        HF_OK, hf_latch_set(self->f->client, self->from, 3, 60000, NULL, ERR));
}

static void check_latch(hf_client *client, hf_bytes key)
{
    int64_t left = 0;

    expect_status(HF_OK, hf_latch_inspect(client, key, &left, ERR));
    assert_int_equal(left, 3);
}

static void make_queue(trial *self)
{
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;

    opts.group = bytes("g");
    for (const char *id = "ab"; *id != '\0'; id++)
        expect_status(HF_OK,
                      hf_queue_put(self->f->client, self->from, hf_view(id, 1),
                                   bytes("p"), &opts, ERR));
}

/* Both jobs are there, one of them behind the other. */
static void check_queue(hf_client *client, hf_bytes key)
{
    hf_queue_info info = HF_QUEUE_INFO_INIT;
    hf_job job = HF_JOB_INIT;
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_queue_inspect(client, key, &info, ERR));
    assert_int_equal(info.ready, 1);
    assert_int_equal(info.behind, 1);
    expect_status(HF_OK, hf_queue_new(client, key, NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_queue_job(lock, &job, ERR));
    assert_string_equal(job.payload.data, "p");
    hf_lock_free(lock); /* puts it back */
}

/* -------------------------------------------------------------------- held */

static void make_lock(trial *self)
{
    fixture *f = self->f;
    hf_lock *waiter = fixture_lock(f, f->other, self->from, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_async async = tell(&self->said);

    self->lock = fixture_lock(f, f->client, self->from, NULL);
    expect_taken(self->lock);
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, self->from, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
}

static void make_read(trial *self)
{
    hf_lock *write = NULL;

    expect_status(HF_OK, hf_rwlock_new(self->f->client, self->from, 0, NULL,
                                       &self->lock, &write, ERR));
    fixture_keep_lock(self->f, self->lock);
    fixture_keep_lock(self->f, write);
    expect_taken(self->lock);
}

static void make_permit(trial *self)
{
    expect_status(HF_OK, hf_semaphore_new(self->f->client, self->from, 2, NULL,
                                          &self->lock, ERR));
    fixture_keep_lock(self->f, self->lock);
    expect_taken(self->lock);
}

static void make_leader(trial *self)
{
    expect_status(HF_OK, hf_election_new(self->f->client, self->from,
                                         bytes("me"), NULL, &self->lock, ERR));
    fixture_keep_lock(self->f, self->lock);
    expect_taken(self->lock);
}

static void make_claim(trial *self)
{
    expect_status(HF_OK, hf_once_new(self->f->client, self->from, NULL, NULL,
                                     &self->lock, ERR));
    fixture_keep_lock(self->f, self->lock);
    expect_taken(self->lock);
}

static void make_done(trial *self)
{
    make_claim(self);
    expect_status(HF_OK, hf_once_complete(self->lock, 3, bytes("r"), ERR));
    self->lock = NULL;
}

static void check_done(hf_client *client, hf_bytes key)
{
    hf_once_info info = HF_ONCE_INFO_INIT;

    expect_status(HF_OK, hf_once_inspect(client, key, &info, ERR));
    assert_int_equal(info.state, HF_ONCE_DONE);
    assert_int_equal(info.status, 3);
    assert_buffer(&info.result, bytes("r"));
    hf_once_info_free(&info);
}

static void make_barrier(trial *self)
{
    hf_async async = tell(&self->said);

    expect_status(HF_OK, hf_barrier_wait_start(self->f->other, self->from, 2,
                                               60000, NULL, NULL, &async, ERR));
    expect_soon(!key_is_gone(self->f->client, self->from), 5000);
}

static void make_set(trial *self)
{
    hf_set_add_options options = HF_SET_ADD_OPTIONS_INIT;
    hf_bytes brief = bytes("brief"), stays = bytes("stays");
    hf_client *client = self->f->client;

    options.ttl_ms = 3600000;
    expect_status(
        HF_OK, hf_set_add(client, self->from, &brief, 1, &options, NULL, ERR));
    expect_status(HF_OK,
                  hf_set_add(client, self->from, &stays, 1, NULL, NULL, ERR));
}

static void check_set(hf_client *client, hf_bytes key)
{
    hf_bytes members[] = {bytes("brief"), bytes("stays"), bytes("none")};
    int64_t ttls_ms[3];

    expect_status(HF_OK,
                  hf_set_has_members(client, key, members, 3, ttls_ms, ERR));
    assert_in_range(ttls_ms[0], 1, 3600000);
    assert_int_equal(ttls_ms[1], -1);
    assert_int_equal(ttls_ms[2], -2);
}

static void make_rank(trial *self)
{
    hf_rank_add_options options = HF_RANK_ADD_OPTIONS_INIT;
    hf_client *client = self->f->client;

    options.ttl_ms = 3600000;
    expect_status(HF_OK, hf_rank_add(client, self->from, bytes("brief"), 2.5,
                                     &options, NULL, ERR));
    expect_status(HF_OK, hf_rank_add(client, self->from, bytes("stays"), 1,
                                     NULL, NULL, ERR));
}

static void check_rank(hf_client *client, hf_bytes key)
{
    hf_rank_members page = HF_RANK_MEMBERS_INIT;

    expect_status(HF_OK, hf_rank_page(client, key, 0, 10, 0, &page, ERR));
    assert_int_equal(page.count, 2);
    assert_bytes(page.items[0].member, bytes("brief"));
    assert_true(page.items[0].score > 2.4 && page.items[0].score < 2.6);
    assert_in_range(page.items[0].ttl_ms, 1, 3600000);
    assert_int_equal(page.items[1].ttl_ms, -1);
    hf_rank_members_free(&page);
}

static const object objects[] = {
    {"value", "string", NULL, 0, make_value, check_value},
    {"fenced value", "string", NULL, 1, make_fenced, check_fenced},
    {"hash", "hash", NULL, 0, make_hash, check_hash},
    {"hash, fields expire", "hash", NULL, 0, make_timed_hash, check_timed_hash},
    {"timeline", "timeline", NULL, 0, make_timeline, check_timeline},
    {"rank", "rank", NULL, 0, make_rank, check_rank},
    {"set", "set", NULL, 0, make_set, check_set},
    {"cache entry", "cache", NULL, 0, make_entry, check_entry},
    {"limiter", "string", NULL, 0, make_limiter, check_limiter},
    {"ids", "string", NULL, 0, make_ids, check_ids},
    {"latch", "latch", NULL, 0, make_latch, check_latch},
    {"queue", "queue", NULL, 0, make_queue, check_queue},
    {"lock, a waiter", "lock", "a lock", 0, make_lock, NULL},
    {"read-write lock", "lock", "a lock", 0, make_read, NULL},
    {"semaphore", "semaphore", "a semaphore", 0, make_permit, NULL},
    {"election", "election", "an election", 0, make_leader, NULL},
    {"barrier", "barrier", "a barrier", 0, make_barrier, NULL},
    {"claim", "once", "a claim", 0, make_claim, NULL},
    {"done once", "once", NULL, 0, make_done, check_done},
};

#define COUNT (sizeof(objects) / sizeof(objects[0]))

#define LINE "%-20s %-9s %-5s %-8s %-8s %-8s %-8s %-6s %s\n"

/* ------------------------------------------------------------------- calls */

static void begin(trial *self, fixture *f, size_t i)
{
    char name[32];

    *self = (trial){.f = f, .of = &objects[i]};
    (void)snprintf(name, sizeof(name), "{o}from%zu:", i);
    self->from = fixture_key(f, name);
    (void)snprintf(name, sizeof(name), "{o}to%zu:", i);
    self->to = fixture_key(f, name);
    self->of->make(self);
}

/* What a call did: "whole", or "refused", and then nothing has changed. */
static const char *outcome(trial *self, hf_status status, size_t before)
{
    hf_client *client = self->f->client;

    if (self->of->held == NULL) {
        expect_status(HF_OK, status);
        return "whole";
    }
    expect_status(HF_HELD, status);
    assert_non_null(strstr(expect_message(), self->of->held));
    assert_type(client, self->from, self->of->type);
    assert_int_equal(count_parts(client, self->from), before);
    assert_int_equal(count_parts(client, self->to), 0);
    if (self->lock != NULL)
        expect_status(HF_OK, hf_lock_renew(self->lock, ERR));
    return "refused";
}

static const char *try_type_and_list(trial *self)
{
    hf_client *client = self->f->client;

    assert_type(client, self->from, self->of->type);
    assert_int_equal(see_parts(client, self->from, 0, 0, 0), 1);
    return "one";
}

static void assert_whole(const trial *self, hf_client *client, hf_bytes key)
{
    if (self->of->check != NULL)
        self->of->check(client, key);
    assert_type(client, key, self->of->type);
}

static const char *try_expire(trial *self, int64_t ttl_ms)
{
    hf_client *client = self->f->client;
    size_t count = count_parts(client, self->from);
    const char *said =
        outcome(self, hf_key_expire(client, self->from, ttl_ms, ERR), count);

    if (self->of->held != NULL)
        return said;
    (void)see_parts(client, self->from, HF_KEY_LIST_ALL,
                    ttl_ms < 0 ? -1 : ttl_ms / 2, ttl_ms);
    assert_int_equal(count_parts(client, self->from), count);
    assert_whole(self, self->f->other, self->from);
    return said;
}

static const char *try_copy(trial *self)
{
    hf_client *client = self->f->client;
    size_t count = count_parts(client, self->from);
    const char *said =
        outcome(self, hf_key_copy(client, self->from, self->to, 0, ERR), count);

    if (self->of->held != NULL)
        return said;
    assert_int_equal(count_parts(client, self->from), count);
    assert_int_equal(count_parts(client, self->to), count);
    assert_whole(self, self->f->other, self->to);
    expect_status(HF_CONFLICT,
                  hf_key_copy(client, self->from, self->to, 0, ERR));
    expect_status(
        HF_OK, hf_key_copy(client, self->from, self->to, HF_COPY_REPLACE, ERR));
    assert_whole(self, self->f->other, self->to);
    assert_whole(self, self->f->other, self->from);
    return said;
}

static const char *try_rename(trial *self)
{
    hf_client *client = self->f->client;
    size_t count = count_parts(client, self->from);
    const char *said = outcome(
        self, hf_key_rename(client, self->from, self->to, 0, ERR), count);

    if (self->of->held != NULL)
        return said;
    assert_int_equal(count_parts(client, self->from), self->of->stays);
    assert_int_equal(count_parts(client, self->to), count);
    assert_whole(self, self->f->other, self->to);
    expect_status(HF_OK, hf_key_rename(client, self->to, self->from, 0, ERR));
    return said;
}

static const char *try_load(trial *self, const char *name)
{
    hf_client *there = fixture_elsewhere(self->f, name, NULL);
    hf_store_dump_options options = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape tape = {.data = NULL};

    options.pattern = self->from;
    expect_status(HF_OK, hf_store_dump(self->f->client, &options, dump_tape_put,
                                       &tape, &result, ERR));
    expect_status(
        HF_OK, hf_store_load(there, NULL, dump_tape_take, &tape, &result, ERR));
    free(tape.data);
    assert_type(there, self->from, self->of->type);
    /* Tags match by their own names. */
    if (self->of->check != NULL && self->of->check != check_entry)
        self->of->check(there, self->from);
    fixture_close_client(self->f, there);
    return self->of->held == NULL ? "whole" : "lease";
}

static const char *try_delete(trial *self)
{
    hf_client *client = self->f->client;
    size_t count = count_parts(client, self->from);
    const char *said =
        outcome(self, hf_key_delete(client, self->from, ERR), count);

    if (self->of->held == NULL)
        assert_int_equal(count_parts(client, self->from), self->of->stays);
    return said;
}

TEST(each_call_treats_each_object_as_one)
{
    static trial trials[COUNT];

    print_message(LINE, "object", "type", "list", "expire", "persist", "copy",
                  "rename", "load", "delete");
    for (size_t i = 0; i < COUNT; i++) {
        trial *self = &trials[i];
        const char *said[7];
        char name[16];

        begin(self, *state, i);
        if (self->unsupported)
            continue;
        (void)snprintf(name, sizeof(name), "there%zu-", i);
        said[0] = try_type_and_list(self);
        said[1] = try_expire(self, 40000);
        said[2] = try_expire(self, -1);
        said[3] = try_copy(self);
        said[4] = try_rename(self);
        said[5] = try_load(self, name);
        said[6] = try_delete(self);
        print_message(LINE, self->of->name, self->of->type, said[0], said[1],
                      said[2], said[3], said[4], said[5], said[6]);
    }
}
