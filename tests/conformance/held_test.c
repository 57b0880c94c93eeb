/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_test.c - each call that writes data on the key of each kind of lease
 * that is held. One that looks is refused, and the lease is as it was; the
 * others are those that docs/reference/objects.md names.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/cache.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/ids.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "holdfast/lock.h"
#include "holdfast/once.h"
#include "holdfast/rank.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/set.h"
#include "holdfast/timeline.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/redisson_peer.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

typedef struct trial {
    fixture *f;
    hf_client *client; /* that writes */
    hf_client *holds;
    hf_bytes key;
    hf_bytes free;     /* another key, of the same slot */
    hf_bytes timeouts; /* of Redisson's permits */
    hf_lock *lock;
} trial;

/* ------------------------------------------------------------------- leases */

typedef struct lease {
    const char *name;
    bool is_redisson;
    void (*make)(trial *self);
} lease;

static void make_lock(trial *self)
{
    self->lock = fixture_lock(self->f, self->holds, self->key, NULL);
}

static void make_pair(trial *self, hf_lock **read, hf_lock **write)
{
    expect_status(HF_OK, hf_rwlock_new(self->holds, self->key, 0, NULL, read,
                                       write, ERR));
    fixture_keep_lock(self->f, *read);
    fixture_keep_lock(self->f, *write);
}

static void make_reader(trial *self)
{
    hf_lock *write = NULL;

    make_pair(self, &self->lock, &write);
}

static void make_writer(trial *self)
{
    hf_lock *read = NULL;

    make_pair(self, &read, &self->lock);
}

static void make_permit(trial *self)
{
    expect_status(HF_OK, hf_semaphore_new(self->holds, self->key, 2, NULL,
                                          &self->lock, ERR));
    fixture_keep_lock(self->f, self->lock);
}

static void make_leader(trial *self)
{
    expect_status(HF_OK, hf_election_new(self->holds, self->key, bytes("me"),
                                         NULL, &self->lock, ERR));
    fixture_keep_lock(self->f, self->lock);
}

static void make_claim(trial *self)
{
    expect_status(HF_OK, hf_once_new(self->holds, self->key, NULL, NULL,
                                     &self->lock, ERR));
    fixture_keep_lock(self->f, self->lock);
}

static void make_redisson(trial *self)
{
    self->lock =
        redisson_lock(self->f, self->holds, self->key, HF_REDISSON_LOCK, NULL);
}

static void make_redisson_reader(trial *self)
{
    self->lock = redisson_lock(self->f, self->holds, self->key,
                               HF_REDISSON_READ_LOCK, NULL);
}

static void make_redisson_writer(trial *self)
{
    self->lock = redisson_lock(self->f, self->holds, self->key,
                               HF_REDISSON_WRITE_LOCK, NULL);
}

static void make_redisson_permit(trial *self)
{
    expect_status(HF_OK,
                  hf_redisson_semaphore_set(self->holds, self->key, 2, ERR));
    self->lock = redisson_lock(self->f, self->holds, self->key,
                               HF_REDISSON_PERMIT, NULL);
}

static const lease leases[] = {
    {"lock", false, make_lock},
    {"read lock", false, make_reader},
    {"write lock", false, make_writer},
    {"permit", false, make_permit},
    {"election", false, make_leader},
    {"claim", false, make_claim},
    {"Redisson lock", true, make_redisson},
    {"Redisson read lock", true, make_redisson_reader},
    {"Redisson write lock", true, make_redisson_writer},
    {"Redisson permit", true, make_redisson_permit},
};

#define LEASES (sizeof(leases) / sizeof(leases[0]))

/* -------------------------------------------------------------------- calls */

typedef struct call {
    const char *name;
    enum {
        LOOKS,
        PASSES_NUMBERS, /* ... but not at the permits of a number */
        ADDS_FIELD,     /* which the holder of a hash does not mind */
        BLIND           /* does not look */
    } sees;
    hf_status (*run)(trial *self);
} call;

static hf_bytes v(void)
{
    return hf_str("v");
}

static hf_status set_by(trial *self, uint32_t flags, int64_t ttl_ms)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.flags = flags;
    options.ttl_ms = ttl_ms;
    return hf_value_set(self->client, self->key, v(), &options, NULL, ERR);
}

static hf_status set_value(trial *self)
{
    return set_by(self, 0, 0);
}

static hf_status set_new(trial *self)
{
    return set_by(self, HF_SET_NX, 0);
}

static hf_status set_existing(trial *self)
{
    return set_by(self, HF_SET_XX, 0);
}

static hf_status put_value_fenced(trial *self)
{
    return hf_value_put_fenced(self->client, self->key, v(), 7, NULL, NULL,
                               ERR);
}

static hf_status put_value_revised(trial *self)
{
    return hf_value_put_revised(self->client, self->key, v(), HF_REVISION_ANY,
                                NULL, NULL, ERR);
}

static hf_status delete_value_revised(trial *self)
{
    return hf_value_delete_revised(self->client, self->key, HF_REVISION_ANY,
                                   NULL, ERR);
}

static hf_status append(trial *self)
{
    return hf_value_append(self->client, self->key, v(), NULL, ERR);
}

static hf_status add(trial *self)
{
    return hf_value_add(self->client, self->key, 1, NULL, NULL, ERR);
}

static hf_status get_expire(trial *self)
{
    hf_value_expire_options options = HF_VALUE_EXPIRE_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status;

    options.flags = HF_EXPIRE_PERSIST;
    status =
        hf_value_get_expire(self->client, self->key, &options, &value, ERR);
    hf_buffer_free(&value);
    return status;
}

static hf_status expire_if(trial *self)
{
    hf_value_expire_options options = HF_VALUE_EXPIRE_OPTIONS_INIT;

    options.flags = HF_EXPIRE_PERSIST;
    return hf_value_expire_if(self->client, self->key, v(), &options, NULL,
                              ERR);
}

static hf_status delete_value(trial *self)
{
    return hf_value_delete(self->client, self->key, ERR);
}

static hf_status delete_if(trial *self)
{
    return hf_value_delete_if(self->client, self->key, v(), NULL, ERR);
}

static hf_status delete_versioned(trial *self)
{
    return hf_value_delete_versioned(
        self->client, self->key,
        hf_str("0123456789012345678901234567890123456789"), NULL, ERR);
}

static hf_status cas(trial *self)
{
    hf_bytes expected = v();

    return hf_value_cas(self->client, self->key, &expected, v(), NULL, NULL,
                        ERR);
}

static hf_status cas_absent(trial *self)
{
    return hf_value_cas(self->client, self->key, NULL, v(), NULL, NULL, ERR);
}

static hf_status put_hash_by(trial *self, uint32_t flags, int64_t ttl_ms)
{
    hf_hash_put_options options = HF_HASH_PUT_OPTIONS_INIT;
    hf_field field = {hf_str("f"), v()};

    options.flags = flags;
    options.ttl_ms = ttl_ms;
    return hf_hash_put(self->client, self->key, &field, 1, &options, ERR);
}

static hf_status put_fields(trial *self)
{
    return put_hash_by(self, 0, 0);
}

static hf_status put_fields_timed(trial *self)
{
    return put_hash_by(self, HF_HASH_XX, 1);
}

static hf_status replace_fields(trial *self)
{
    return put_hash_by(self, HF_HASH_REPLACE | HF_HASH_PERSIST, 0);
}

static hf_status put_fields_fenced(trial *self)
{
    hf_field field = {hf_str("f"), v()};

    return hf_hash_put_fenced(self->client, self->key, &field, 1, 7, NULL, NULL,
                              ERR);
}

static hf_status cas_field(trial *self)
{
    hf_cas_options options = HF_CAS_OPTIONS_INIT;

    options.ttl_ms = 1;
    return hf_hash_cas(self->client, self->key, hf_str("f"), NULL, v(),
                       &options, NULL, ERR);
}

static hf_status add_to_field(trial *self)
{
    return hf_hash_add(self->client, self->key, hf_str("f"), 1, NULL, NULL,
                       ERR);
}

/* Of an election; of Redisson's locks it would be one field of many. */
static hf_status delete_fields(trial *self)
{
    hf_bytes names[] = {hf_str("owner"), hf_str("mode")};

    return hf_hash_delete_fields(self->client, self->key, names, 2, NULL, ERR);
}

static hf_status delete_hash(trial *self)
{
    return hf_hash_delete(self->client, self->key, ERR);
}

static hf_status put_entry(trial *self)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = 60000;
    return hf_cache_put(self->client, self->key, v(), &options, ERR);
}

static hf_status delete_entry(trial *self)
{
    return hf_cache_delete(self->client, self->key, ERR);
}

static hf_status add_item(trial *self)
{
    return hf_timeline_add(self->client, self->key, hf_str("id"), v(), 60000,
                           NULL, ERR);
}

static hf_status update_item(trial *self)
{
    hf_timeline_update_options options = HF_TIMELINE_UPDATE_OPTIONS_INIT;

    char owner[HF_OWNER_SIZE];

    hf_lock_owner(self->lock, owner);
    options.ttl_ms = 1;
    return hf_timeline_update(self->client, self->key, hf_str(owner), &options,
                              ERR);
}

static hf_status remove_item(trial *self)
{
    char owner[HF_OWNER_SIZE];

    hf_lock_owner(self->lock, owner);
    return hf_timeline_remove(self->client, self->key, hf_str(owner), ERR);
}

static hf_status trim(trial *self)
{
    hf_timeline_trimmed trimmed;

    return hf_timeline_trim(self->client, self->key, 0, 0, &trimmed, ERR);
}

static hf_status delete_timeline(trial *self)
{
    return hf_timeline_delete(self->client, self->key, ERR);
}

static hf_status add_ranked(trial *self)
{
    return hf_rank_add(self->client, self->key, hf_str("id"), 1, NULL, NULL,
                       ERR);
}

static hf_status remove_ranked(trial *self)
{
    char owner[HF_OWNER_SIZE];
    hf_bytes member = {owner, 0};

    hf_lock_owner(self->lock, owner);
    member.size = strlen(owner);
    return hf_rank_remove(self->client, self->key, &member, 1, NULL, ERR);
}

static hf_status expire_ranked(trial *self)
{
    char owner[HF_OWNER_SIZE];

    hf_lock_owner(self->lock, owner);
    return hf_rank_expire(self->client, self->key, hf_str(owner), 1, ERR);
}

static hf_status trim_ranked(trial *self)
{
    hf_rank_trimmed trimmed;

    return hf_rank_trim(self->client, self->key, 0, &trimmed, ERR);
}

static hf_status add_member(trial *self)
{
    hf_bytes member = hf_str("id");

    return hf_set_add(self->client, self->key, &member, 1, NULL, NULL, ERR);
}

static hf_status take(trial *self)
{
    hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;

    options.count = 10;
    options.period_ms = 60000;
    return hf_limiter_take(self->client, self->key, 1, &options, NULL, ERR);
}

static hf_status next_id(trial *self)
{
    hf_ids *ids = NULL;
    int64_t id = 0;
    hf_status status;

    expect_status(HF_OK, hf_ids_new(self->client, self->key, NULL, &ids, ERR));
    status = hf_ids_next(ids, &id, ERR);
    hf_ids_free(ids);
    return status;
}

static hf_status set_latch(trial *self)
{
    return hf_latch_set(self->client, self->key, 1, 60000, NULL, ERR);
}

static hf_status delete_latch(trial *self)
{
    return hf_latch_delete(self->client, self->key, ERR);
}

static hf_status arrive(trial *self)
{
    return hf_barrier_wait(self->client, self->key, 1, 1000, NULL, NULL, ERR);
}

static hf_status reset(trial *self)
{
    return hf_barrier_reset(self->client, self->key, NULL, ERR);
}

static hf_status delete_key(trial *self)
{
    return hf_key_delete(self->client, self->key, ERR);
}

static hf_status expire_key(trial *self)
{
    return hf_key_expire(self->client, self->key, 1, ERR);
}

static hf_status persist_key(trial *self)
{
    return hf_key_expire(self->client, self->key, -1, ERR);
}

static hf_status rename_key(trial *self)
{
    return hf_key_rename(self->client, self->key, self->free, 0, ERR);
}

static hf_status copy_over(trial *self)
{
    put_value(self->client, self->free, v(), 0);
    return hf_key_copy(self->client, self->free, self->key, HF_COPY_REPLACE,
                       ERR);
}

static hf_status delete_hash_queued(trial *self)
{
    hf_async queue = HF_ASYNC_INIT;
    hf_status status;

    expect_status(HF_OK, hf_txn_new(self->client, NULL, &queue.txn, ERR));
    expect_status(HF_OK,
                  hf_hash_delete_start(self->client, self->key, &queue, ERR));
    status = hf_txn_exec(queue.txn, ERR);
    hf_txn_free(queue.txn);
    return status;
}

static const call calls[] = {
    {"value set", BLIND, set_value},
    {"value set nx", LOOKS, set_new},
    {"value set xx", BLIND, set_existing},
    {"value put fenced", PASSES_NUMBERS, put_value_fenced},
    {"value put revised", PASSES_NUMBERS, put_value_revised},
    {"value delete revised", PASSES_NUMBERS, delete_value_revised},
    {"value append", BLIND, append},
    {"value add", LOOKS, add},
    {"value get expire", BLIND, get_expire},
    {"value expire if", LOOKS, expire_if},
    {"value delete", PASSES_NUMBERS, delete_value},
    {"value delete if", LOOKS, delete_if},
    {"value delete if version", LOOKS, delete_versioned},
    {"value cas", LOOKS, cas},
    {"value cas absent", LOOKS, cas_absent},
    {"hash put", ADDS_FIELD, put_fields},
    {"hash put xx, ttl", BLIND, put_fields_timed},
    {"hash put replace", LOOKS, replace_fields},
    {"hash put fenced", LOOKS, put_fields_fenced},
    {"hash cas absent, ttl", BLIND, cas_field},
    {"hash add", ADDS_FIELD, add_to_field},
    {"hash delete fields", BLIND, delete_fields},
    {"hash delete", LOOKS, delete_hash},
    {"hash delete, queued", LOOKS, delete_hash_queued},
    {"cache put", PASSES_NUMBERS, put_entry},
    {"cache delete", PASSES_NUMBERS, delete_entry},
    {"timeline add", LOOKS, add_item},
    {"timeline update", LOOKS, update_item},
    {"timeline remove", LOOKS, remove_item},
    {"timeline trim", LOOKS, trim},
    {"timeline delete", LOOKS, delete_timeline},
    {"rank add", LOOKS, add_ranked},
    {"rank remove", LOOKS, remove_ranked},
    {"rank expire", LOOKS, expire_ranked},
    {"rank trim", LOOKS, trim_ranked},
    {"set add", LOOKS, add_member},
    {"limiter take", LOOKS, take},
    {"ids next", LOOKS, next_id},
    {"latch set", LOOKS, set_latch},
    {"latch delete", LOOKS, delete_latch},
    {"barrier wait", LOOKS, arrive},
    {"barrier reset", LOOKS, reset},
    {"key delete", LOOKS, delete_key},
    {"key expire", LOOKS, expire_key},
    {"key persist", LOOKS, persist_key},
    {"key rename", LOOKS, rename_key},
    {"key copy to it", LOOKS, copy_over},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* -------------------------------------------------------------------- table */

static bool has_leader(trial *self)
{
    hf_leader leader = HF_LEADER_INIT;
    int64_t ttl_ms = 0;
    bool leads =
        hf_election_inspect(self->client, self->key, &leader, NULL) == HF_OK;

    hf_leader_free(&leader);
    return leads &&
           hf_key_ttl(self->client, self->key, &ttl_ms, NULL) == HF_OK &&
           ttl_ms > 1000 && ttl_ms <= 600000;
}

static bool has_claim(trial *self)
{
    hf_once_info info = HF_ONCE_INFO_INIT;
    char owner[HF_OWNER_SIZE];
    bool found = hf_once_inspect(self->client, self->key, &info, NULL) == HF_OK;

    hf_lock_owner(self->lock, owner);
    hf_once_info_free(&info);
    return found && info.state == HF_ONCE_CLAIMED && info.waiters == 0 &&
           strcmp(info.owner, owner) == 0 && info.remaining_ms > 1000;
}

/* Its holder holds it, others see that, and it ends with its lease. */
static bool is_whole(trial *self, const lease *of, const call *by)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock_info others = HF_LOCK_INFO_INIT;

    if (hf_lock_renew(self->lock, NULL) != HF_OK)
        return false;
    if (of->make == make_leader)
        return has_leader(self);
    if (of->make == make_claim)
        return has_claim(self);
    if (by->sees == ADDS_FIELD && of->is_redisson)
        return true;
    return hf_lock_inspect(self->holds, self->key, &info, NULL) == HF_OK &&
           hf_lock_inspect(self->client, self->key, &others, NULL) == HF_OK &&
           info.holders == 1 && info.remaining_ms > 1000 &&
           info.remaining_ms <= 600000;
}

/* The key is named in what refuses it. */
static const char *said(const lease *of, const call *by, hf_status status)
{
    if (status != HF_HELD && status != HF_WRONG_TYPE)
        return status == HF_OK ? "done" : "no";
    if (status == HF_HELD && strstr(expect_message(), "held") == NULL &&
        strstr(expect_message(), "leader") == NULL)
        fail_msg("%s on a %s: %s", by->name, of->name, expect_message());
    return status == HF_HELD ? "held" : "type";
}

static void delete_again(trial *self, hf_bytes key)
{
    hf_status status = hf_key_delete(self->client, key, NULL);

    assert_true(status == HF_OK || status == HF_NOT_FOUND);
}

static const char *try_call(trial *self, const lease *of, const call *by,
                            unsigned *broken)
{
    const char *word;

    of->make(self);
    expect_taken(self->lock);
    word = said(of, by, by->run(self));
    if (!is_whole(self, of, by)) {
        bool known = by->sees == BLIND || (by->sees == PASSES_NUMBERS &&
                                           of->make == make_redisson_permit);

        *broken += !known;
        word = known ? "lost" : "BROKEN";
    }
    if (hf_lock_release(self->lock, NULL) != HF_OK)
        assert_string_not_equal(word, "held");
    fixture_free_lock(self->f, self->lock);
    delete_again(self, self->key);
    delete_again(self, self->free);
    delete_again(self, self->timeouts);
    return word;
}

/* Returns how many calls broke it that look. */
static unsigned try_lease(fixture *f, hf_client *holds, const lease *of)
{
    trial self = {.f = f, .client = f->other, .holds = holds};
    unsigned broken = 0;
    char timeouts[256];

    self.key = fixture_key(f, "{h}held:");
    self.free = fixture_key(f, "{h}free:");
    self.timeouts =
        hf_view(timeouts, (size_t)snprintf(timeouts, sizeof(timeouts),
                                           "%.*s:timeout", (int)self.key.size,
                                           (const char *)self.key.data));
    for (size_t i = 0; i < CALLS; i++)
        print_message("%-20s %-24s %s\n", of->name, calls[i].name,
                      try_call(&self, of, &calls[i], &broken));
    return broken;
}

TEST(a_call_that_writes_data_leaves_a_held_lease_as_it_is)
{
    fixture *f = *state;
    hf_client *redisson = redisson_is_here(f) ? redisson_client(f, NULL) : NULL;
    unsigned broken = 0;

    for (size_t i = 0; i < LEASES; i++) {
        if (!leases[i].is_redisson)
            broken += try_lease(f, f->client, &leases[i]);
        else if (redisson != NULL)
            broken += try_lease(f, redisson, &leases[i]);
    }
    assert_int_equal(broken, 0);
}
