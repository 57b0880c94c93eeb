/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_held_test.c - transactions that are applied only while a lease is held,
 * or held with a token, or if no higher token has written.
 */
#include "holdfast/command.h"
#include "holdfast/election.h"
#include "holdfast/lock.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/redisson.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/redisson_peer.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* ------------------------------------------------------------- kinds, writes
 */

static hf_lock *make_lock(fixture *f, hf_client *client, hf_bytes name)
{
    return fixture_lock(f, client, name, NULL);
}

static hf_lock *make_reader(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *read = NULL;

    expect_status(HF_OK,
                  hf_rwlock_new(client, name, 0, NULL, &read, NULL, ERR));
    return fixture_keep_lock(f, read);
}

static hf_lock *make_writer(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *read = NULL, *write = NULL;

    expect_status(HF_OK,
                  hf_rwlock_new(client, name, 0, NULL, &read, &write, ERR));
    fixture_keep_lock(f, read);
    return fixture_keep_lock(f, write);
}

static hf_lock *make_permit(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *permit = NULL;

    expect_status(HF_OK, hf_semaphore_new(client, name, 1, NULL, &permit, ERR));
    return fixture_keep_lock(f, permit);
}

static hf_lock *make_candidate(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *candidate = NULL;

    expect_status(HF_OK, hf_election_new(client, name, bytes("me"), NULL,
                                         &candidate, ERR));
    return fixture_keep_lock(f, candidate);
}

static hf_lock *make_claim(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *claim = NULL;

    expect_status(HF_OK, hf_once_new(client, name, NULL, NULL, &claim, ERR));
    return fixture_keep_lock(f, claim);
}

/* Of a queue with one job. */
static hf_lock *make_worker(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *worker = NULL;
    hf_status status =
        hf_queue_put(client, name, bytes("a"), bytes("p"), NULL, ERR);

    if (status != HF_CONFLICT) /* it is there already */
        expect_status(HF_OK, status);
    expect_status(HF_OK, hf_queue_new(client, name, NULL, &worker, ERR));
    return fixture_keep_lock(f, worker);
}

/* Our handle of a name, and how another client has it after us. */
static const struct {
    hf_lock *(*make)(fixture *f, hf_client *client, hf_bytes name);
    hf_lock *(*make_next)(fixture *f, hf_client *client, hf_bytes name);
    const char *name;
} kinds[] = {
    {make_lock, make_lock, "{t}lock"},
    {make_reader, make_reader, "{t}read"},
    {make_reader, make_writer, "{t}then"},
    {make_writer, make_reader, "{t}written"},
    {make_permit, make_permit, "{t}permit"},
    {make_candidate, make_candidate, "{t}leader"},
    {make_claim, make_claim, "{t}claim"},
    {make_worker, make_worker, "{t}queue"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A transaction that sets a key to 1, as queue.txn. */
static hf_async begin_set(fixture *f, hf_bytes key)
{
    hf_async queue = HF_ASYNC_INIT;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &queue.txn, ERR));
    expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("1"), NULL,
                                            NULL, &queue, ERR));
    return queue;
}

/* One that is applied while the handle holds its lease. */
static hf_txn *begin_held(fixture *f, const hf_lock *lock, hf_bytes key)
{
    hf_txn *txn = begin_set(f, key).txn;

    expect_status(HF_OK, hf_txn_if_held(txn, lock, ERR));
    return txn;
}

static hf_txn *begin_token(fixture *f, hf_bytes name, uint64_t token,
                           hf_bytes key)
{
    hf_txn *txn = begin_set(f, key).txn;

    expect_status(HF_OK, hf_txn_if_token(txn, name, token, ERR));
    return txn;
}

static void applies(fixture *f, hf_txn *txn, hf_bytes key)
{
    expect_status(HF_OK, hf_txn_exec(txn, ERR));
    assert_value(f->client, key, bytes("1"));
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
    hf_txn_free(txn);
}

static void is_refused(fixture *f, hf_txn *txn, hf_bytes key, const char *why)
{
    expect_status(HF_CONFLICT, hf_txn_exec(txn, ERR));
    assert_non_null(strstr(expect_message(), why));
    assert_int_equal(hf_txn_failed(txn), 0);
    assert_no_key(f->client, key);
    hf_txn_free(txn);
}

#define NO_LONGER "is no longer held"

/* -------------------------------------------------------------------- held */

TEST(a_holders_transaction_is_applied)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k");

    for (size_t i = 0; i < KINDS; i++) {
        hf_lock *lock =
            kinds[i].make(f, f->client, fixture_key(f, kinds[i].name));

        expect_status(HF_OK, hf_lock_try(lock, ERR));
        applies(f, begin_held(f, lock, key), key);
        applies(f, begin_held(f, lock, key), key);
    }
}

TEST(a_holder_of_before_is_refused)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k");

    for (size_t i = 0; i < KINDS; i++) {
        hf_bytes name = fixture_key(f, kinds[i].name);
        hf_lock *lock = kinds[i].make(f, f->client, name);
        hf_lock *next = kinds[i].make_next(f, f->other, name);
        hf_txn *free, *held;

        expect_status(HF_OK, hf_lock_try(lock, ERR));
        free = begin_held(f, lock, key);
        held = begin_held(f, lock, key);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        is_refused(f, free, key, NO_LONGER);
        expect_status(HF_OK, hf_lock_try(next, ERR));
        is_refused(f, held, key, NO_LONGER);
    }
}

/* The holder does not know yet that its lease has ended. */
TEST(a_lease_that_ended_in_the_store_refuses)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k");

    for (size_t i = 0; i < KINDS; i++) {
        hf_bytes name = fixture_key(f, kinds[i].name);
        hf_lock *lock = kinds[i].make(f, f->client, name);
        hf_txn *txn;

        expect_status(HF_OK, hf_lock_try(lock, ERR));
        txn = begin_held(f, lock, key);
        cut_lease(f->other, name, 0);
        is_refused(f, txn, key, NO_LONGER);
        expect_status(HF_EXPIRED, hf_lock_renew(lock, ERR));
        txn = begin_set(f, key).txn;
        expect_status(HF_LOST, hf_txn_if_held(txn, lock, ERR));
        hf_txn_free(txn);
    }
}

/* It has the same owner id. */
TEST(a_writer_that_has_downgraded_is_no_writer)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "{t}l"), key = fixture_key(f, "{t}k");
    hf_lock *read = NULL, *write = NULL;
    hf_txn *late;

    expect_status(HF_OK,
                  hf_rwlock_new(f->client, name, 0, NULL, &read, &write, ERR));
    fixture_keep_lock(f, read);
    fixture_keep_lock(f, write);
    expect_status(HF_OK, hf_lock_try(write, ERR));
    late = begin_held(f, write, key);
    expect_status(HF_OK, hf_rwlock_downgrade(write, ERR));
    is_refused(f, late, key, NO_LONGER);
    applies(f, begin_held(f, read, key), key);
}

TEST(a_waiter_changes_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "{t}l"), key = fixture_key(f, "{t}k");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *next = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_acquire_start(next, HF_FOREVER, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    applies(f, begin_held(f, lock, key), key);
    applies(f, begin_token(f, name, hf_lock_token(lock), key), key);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    await_ok(f->other, &said);
    applies(f, begin_token(f, name, hf_lock_token(next), key), key);
}

TEST(a_handle_that_holds_nothing_is_no_condition)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "{t}l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *others = fixture_lock(f, f->other, name, NULL);
    hf_txn *txn = begin_set(f, fixture_key(f, "{t}k")).txn;

    expect_status(HF_INVALID, hf_txn_if_held(txn, lock, ERR));
    assert_non_null(strstr(expect_message(), "does not hold"));
    expect_status(HF_OK, hf_lock_try(others, ERR));
    expect_status(HF_INVALID, hf_txn_if_held(txn, others, ERR));
    assert_non_null(strstr(expect_message(), "another client"));
    expect_status(HF_INVALID, hf_txn_if_held(txn, NULL, ERR));
    expect_status(HF_INVALID, hf_txn_if_held(NULL, lock, ERR));
    expect_status(HF_OK, hf_txn_exec(txn, ERR));
    expect_status(HF_OK, hf_lock_release(others, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_INVALID, hf_txn_if_held(txn, lock, ERR));
    assert_non_null(strstr(expect_message(), "was executed"));
    hf_txn_free(txn);
}

TEST(a_name_in_another_slot_is_refused)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "{u}l"), NULL);
    hf_txn *txn = begin_set(f, fixture_key(f, "{t}k")).txn;

    if (f->cluster == NULL) {
        hf_txn_free(txn);
        return;
    }
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_INVALID, hf_txn_if_held(txn, lock, ERR));
    assert_non_null(strstr(expect_message(), "different slots"));
    hf_txn_free(txn);
}

/* ------------------------------------------------------------------- token */

TEST(a_token_is_that_of_the_holder)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k");
    static const size_t with_tokens[] = {0, 3, 5, 6};

    for (size_t i = 0; i < 4; i++) {
        size_t kind = with_tokens[i];
        hf_bytes name = fixture_key(f, kinds[kind].name);
        hf_lock *lock = kinds[kind].make(f, f->client, name);
        hf_lock *next = kinds[kind].make(f, f->other, name);
        uint64_t token;

        expect_status(HF_OK, hf_lock_try(lock, ERR));
        token = hf_lock_token(lock);
        applies(f, begin_token(f, name, token, key), key);
        is_refused(f, begin_token(f, name, token + 1, key), key,
                   "is not held with token");
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        is_refused(f, begin_token(f, name, token, key), key, "token");
        expect_status(HF_OK, hf_lock_try(next, ERR));
        is_refused(f, begin_token(f, name, token, key), key, "token");
        applies(f, begin_token(f, name, hf_lock_token(next), key), key);
    }
}

TEST(a_claim_has_a_token_until_its_work_is_done_or_in_doubt)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k"), done = fixture_key(f, "{t}done");
    hf_bytes ended = fixture_key(f, "{t}ended");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *claim = make_claim(f, f->client, done), *brief = NULL;
    hf_once_info info = HF_ONCE_INFO_INIT;
    uint64_t token;

    expect_status(HF_OK, hf_lock_try(claim, ERR));
    token = hf_lock_token(claim);
    expect_status(HF_OK, hf_once_complete(claim, 0, bytes("r"), ERR));
    is_refused(f, begin_token(f, done, token, key), key, "token");
    opts.ttl_ms = 300;
    opts.flags = HF_LOCK_NO_RENEW;
    expect_status(HF_OK,
                  hf_once_new(f->client, ended, NULL, &opts, &brief, ERR));
    fixture_keep_lock(f, brief);
    expect_status(HF_OK, hf_lock_try(brief, ERR));
    token = hf_lock_token(brief);
    expect_soon(hf_once_inspect(f->client, ended, &info, NULL) == HF_OK &&
                    info.state == HF_ONCE_DOUBT,
                5000);
    is_refused(f, begin_token(f, ended, token, key), key, "token");
    hf_once_info_free(&info);
}

TEST(a_sorted_set_has_no_token)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "{t}z"), key = fixture_key(f, "{t}k");
    hf_bytes words[] = {hf_str("ZADD"), name, hf_str("1e18"), hf_str("17")};

    expect_status(HF_OK, hf_command(f->client, 4, words, NULL, ERR));
    is_refused(f, begin_token(f, name, 17, key), key, "token");
}

TEST(a_token_has_a_range)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "{t}l");
    hf_txn *txn = begin_set(f, fixture_key(f, "{t}k")).txn;

    expect_status(HF_INVALID, hf_txn_if_token(txn, name, 0, ERR));
    expect_status(HF_INVALID,
                  hf_txn_if_token(txn, name, UINT64_C(1) << 53, ERR));
    assert_non_null(strstr(expect_message(), "token is 9007199254740992"));
    expect_status(HF_INVALID, hf_txn_if_token(txn, bytes(""), 1, ERR));
    expect_status(HF_INVALID, hf_txn_if_token(NULL, name, 1, ERR));
    hf_txn_free(txn);
}

/* ------------------------------------------------------------------- fence */

/* Sets one key, and another with a token, which comes first: nothing before it
 * has to be restored, for which rights are needed. */
static hf_txn *begin_fenced(fixture *f, hf_bytes key, hf_bytes fenced,
                            uint64_t token)
{
    hf_async queue = HF_ASYNC_INIT;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &queue.txn, ERR));
    expect_status(HF_OK,
                  hf_value_put_fenced_start(f->client, fenced, bytes("2"),
                                            token, NULL, NULL, &queue, ERR));
    expect_status(HF_OK, hf_value_set_start(f->client, key, bytes("1"), NULL,
                                            NULL, &queue, ERR));
    return queue.txn;
}

TEST(a_refused_fenced_write_can_refuse_the_others)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k"), fenced = fixture_key(f, "{t}f");
    hf_txn *txn = begin_fenced(f, key, fenced, 7);

    expect_status(HF_OK, hf_txn_if_fence(txn, fenced, 7, ERR));
    applies(f, txn, key);
    txn = begin_fenced(f, key, fenced, 6);
    expect_status(HF_OK, hf_txn_if_fence(txn, fenced, 6, ERR));
    is_refused(f, txn, key, "with a higher fencing token than 6 came before");
    txn = begin_fenced(f, key, fenced, 6);
    applies(f, txn, key);
    txn = begin_fenced(f, key, fenced, 7);
    expect_status(HF_OK, hf_txn_if_fence(txn, fenced, 7, ERR));
    applies(f, txn, key);
    assert_value(f->client, fenced, bytes("2"));
}

/* ---------------------------------------------------------------- Redisson */

TEST(locks_of_redisson_are_conditions_too)
{
    static const hf_redisson_kind guards[] = {
        HF_REDISSON_LOCK, HF_REDISSON_FENCED_LOCK, HF_REDISSON_FAIR_LOCK,
        HF_REDISSON_WRITE_LOCK};
    static const char *const names[] = {"{t}r", "{t}f", "{t}q", "{t}w"};
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{t}k");
    hf_txn *txn;
    hf_lock *lock;

    if (!redisson_is_here(f) || f->rights != FIXTURE_RIGHTS_ALL)
        return;
    for (size_t i = 0; i < 4; i++) {
        hf_bytes name = fixture_key(f, names[i]);
        hf_txn *later;

        lock = redisson_lock(f, f->client, name, guards[i], NULL);
        expect_status(HF_OK, hf_lock_try(lock, ERR));
        later = begin_held(f, lock, key);
        applies(f, begin_held(f, lock, key), key);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        is_refused(f, later, key, NO_LONGER);
    }
    lock = redisson_lock(f, f->client, fixture_key(f, "{t}rr"),
                         HF_REDISSON_READ_LOCK, NULL);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    txn = begin_set(f, key).txn;
    expect_status(HF_UNSUPPORTED, hf_txn_if_held(txn, lock, ERR));
    hf_txn_free(txn);
}
