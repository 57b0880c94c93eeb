/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election_test.c - who leads, with which term and text; resigning, losing and
 * waiting to lead; names that are not of an election.
 */
#include <stdatomic.h>

#include "holdfast/command.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/semaphore.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* What no candidate would write. */
static void need_all_rights(const fixture *f)
{
    if (f->rights != FIXTURE_RIGHTS_ALL)
        skip();
}

/* How long a wake-up may take; the library polls, which would hide a lost
 * wake-up, only after a second. */
#define WOKEN_MS 700

static hf_lock *candidate(fixture *f, hf_client *client, hf_bytes name,
                          hf_bytes text, const hf_lock_options *opts)
{
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_election_new(client, name, text, opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

/* `lock` leads with this text. */
static void assert_leads(hf_client *client, hf_bytes name, const hf_lock *lock,
                         hf_bytes text)
{
    hf_leader leader = HF_LEADER_INIT;
    char owner[HF_OWNER_SIZE];

    expect_status(HF_OK, hf_election_inspect(client, name, &leader, ERR));
    hf_lock_owner(lock, owner);
    assert_string_equal(owner, leader.owner);
    assert_true(leader.term == hf_lock_token(lock));
    assert_true(leader.remaining_ms > 0);
    assert_buffer(&leader.text, text);
}

static void assert_no_one_leads(hf_client *client, hf_bytes name)
{
    hf_leader leader = HF_LEADER_INIT;

    expect_status(HF_NOT_FOUND,
                  hf_election_inspect(client, name, &leader, ERR));
    assert_true(leader.term == 0);
    assert_string_equal(leader.owner, "");
    hf_leader_free(&leader);
}

TEST(election_has_one_leader_and_its_text)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_lock *one = candidate(f, f->client, name, bytes("10.0.0.1:80"), NULL);
    hf_lock *two = candidate(f, f->other, name, bytes("10.0.0.2:80"), NULL);
    uint64_t term;

    assert_no_one_leads(f->client, name);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_HELD, hf_lock_try(two, ERR));
    assert_leads(f->other, name, one, bytes("10.0.0.1:80"));
    term = hf_lock_token(one);
    expect_status(HF_OK, hf_lock_release(one, ERR));
    assert_no_one_leads(f->other, name);
    expect_status(HF_OK, hf_lock_try(two, ERR));
    assert_true(hf_lock_token(two) > term);
    assert_leads(f->client, name, two, bytes("10.0.0.2:80"));
    expect_status(HF_OK, hf_lock_release(two, ERR));
    assert_no_key(f->client, name);
}

TEST(election_resignation_lets_the_next_candidate_lead)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_lock *one = candidate(f, f->client, name, bytes("one"), NULL);
    hf_lock *two = candidate(f, f->other, name, bytes("two, of many"), NULL);
    hf_leader leader = HF_LEADER_INIT;
    told said = {0};
    hf_async async = tell(&said);
    int64_t resigned_ms;

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(two, 20, ERR));
    expect_status(HF_OK, hf_lock_acquire_start(two, HF_FOREVER, &async, ERR));
    expect_soon((dispatch(f->other),
                 hf_election_inspect(f->client, name, &leader, NULL) == HF_OK &&
                     leader.candidates == 1),
                5000);
    hf_leader_free(&leader);
    resigned_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(one, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    assert_in_time(test_now_ms() - resigned_ms, WOKEN_MS);
    assert_true(hf_lock_token(two) > hf_lock_token(one));
    assert_leads(f->client, name, two, bytes("two, of many"));
}

TEST(election_text_may_change_while_its_leader_leads)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_lock *one = candidate(f, f->client, name, bytes("starting"), NULL);

    expect_status(HF_INVALID, hf_election_proclaim(one, bytes("x"), ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_OK, hf_election_proclaim(one, bytes("ready"), ERR));
    assert_leads(f->other, name, one, bytes("ready"));
    expect_told(HF_OK, f->client,
                hf_election_proclaim_start(one, bytes(""), &async, ERR));
    assert_leads(f->other, name, one, bytes(""));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    expect_status(HF_OK, hf_lock_try(one, ERR));
    assert_leads(f->other, name, one, bytes("starting"));
}

TEST(election_text_is_never_that_of_a_leader_before)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_lock_options fixed = HF_LOCK_OPTIONS_INIT;
    hf_lock *one;
    hf_lock *two = candidate(f, f->other, name, bytes("two"), NULL);

    fixed.flags = HF_LOCK_NO_RENEW;
    one = candidate(f, f->client, name, bytes("one"), &fixed);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    cut_lease(f->other, name, 20);
    expect_status(HF_OK, hf_lock_acquire(two, 10000, ERR));
    assert_true(hf_lock_is_held(one)); /* as far as it knows */
    expect_status(HF_LOST, hf_election_proclaim(one, bytes("late"), ERR));
    assert_leads(f->client, name, two, bytes("two"));
    expect_status(HF_LOST, hf_lock_release(one, ERR));
    assert_leads(f->client, name, two, bytes("two"));
    expect_status(HF_OK, hf_lock_release(two, ERR));
    expect_status(HF_INVALID, hf_election_proclaim(two, bytes("late"), ERR));
    assert_no_key(f->client, name);
}

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    (void)lock;
    atomic_store((_Atomic int *)user, (int)reason);
}

TEST(election_leader_renews_and_learns_of_its_loss)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *one, *two = candidate(f, f->other, name, bytes("two"), NULL);
    static _Atomic int reason;

    atomic_store(&reason, HF_OK);
    opts.ttl_ms = slowed_ms(600);
    opts.on_lost = on_lost;
    opts.user = &reason;
    one = candidate(f, f->client, name, bytes("one"), &opts);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(two, opts.ttl_ms + 200, ERR));
    assert_leads(f->other, name, one, bytes("one"));
    cut_lease(f->other, name, 0);
    expect_soon(atomic_load(&reason) != HF_OK, 10000);
    assert_true(atomic_load(&reason) == HF_EXPIRED);
    expect_status(HF_LOST, hf_lock_acquire(one, 0, ERR));
    expect_status(HF_LOST, hf_election_proclaim(one, bytes("late"), ERR));
    expect_status(HF_EXPIRED, hf_lock_release(one, ERR));
}

TEST(election_text_has_any_bytes)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    char text[HF_ELECTION_TEXT_MAX + 1];
    hf_lock *one, *none = NULL;

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    one = candidate(f, f->client, name, hf_view(text, HF_ELECTION_TEXT_MAX),
                    NULL);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    assert_leads(f->other, name, one, hf_view(text, HF_ELECTION_TEXT_MAX));
    expect_status(HF_INVALID,
                  hf_election_new(f->client, name, hf_view(text, sizeof(text)),
                                  NULL, &none, ERR));
    expect_status(HF_INVALID,
                  hf_election_proclaim(one, hf_view(text, sizeof(text)), ERR));
    expect_status(HF_INVALID, hf_election_new(f->client, name, hf_view(NULL, 1),
                                              NULL, &none, ERR));
    expect_status(HF_OK, hf_election_proclaim(one, bytes("%2C%4,%zz % "), ERR));
    assert_leads(f->other, name, one, bytes("%2C%4,%zz % "));
    expect_status(HF_OK, hf_election_proclaim(one, hf_view(NULL, 0), ERR));
    assert_leads(f->other, name, one, bytes(""));
}

TEST(election_name_is_of_nothing_else)
{
    fixture *f = *state;
    hf_bytes election = fixture_key(f, "e"), key = fixture_key(f, "k");
    hf_leader leader = HF_LEADER_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *lock = fixture_lock(f, f->client, election, NULL);
    hf_lock *one = candidate(f, f->client, election, bytes(""), NULL);
    hf_lock *other = candidate(f, f->client, key, bytes(""), NULL);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    expect_status(HF_WRONG_TYPE, hf_lock_try(lock, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_lock_inspect(f->client, election, &info, ERR));
    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_try(other, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_election_inspect(f->client, key, &leader, ERR));
    assert_no_ttl(f->client, key);
    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_try(other, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_election_inspect(f->client, key, &leader, ERR));
    expect_status(HF_INVALID, hf_election_proclaim(lock, bytes("a"), ERR));
}

/* It has queued, and leaves the queue. */
TEST(election_wait_leaves_what_is_no_election_alone)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e"), key = fixture_key(f, "k");
    hf_lock *leads = candidate(f, f->other, name, bytes(""), NULL);
    hf_lock *one = candidate(f, f->client, name, bytes(""), NULL);
    hf_lock *two = candidate(f, f->client, key, bytes(""), NULL);

    expect_status(HF_OK, hf_lock_try(leads, ERR));
    expect_status(HF_TIMEOUT, hf_lock_acquire(one, 50, ERR)); /* subscribes */
    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, hf_lock_acquire(two, 50, ERR));
    expect_told(HF_WRONG_TYPE, f->client,
                hf_lock_acquire_start(two, 50, &async, ERR));
    assert_field(f->client, key, bytes("a"), bytes("1"));
    assert_no_ttl(f->client, key);
}

TEST(election_leader_started)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_lock *one = candidate(f, f->client, name, bytes("one"), NULL);
    hf_leader leader = HF_LEADER_INIT;

    expect_told(
        HF_NOT_FOUND, f->client,
        hf_election_inspect_start(f->client, name, &leader, &async, ERR));
    expect_told(HF_OK, f->client, hf_lock_acquire_start(one, 0, &async, ERR));
    expect_told(
        HF_OK, f->client,
        hf_election_inspect_start(f->client, name, &leader, &async, ERR));
    assert_true(leader.term == hf_lock_token(one));
    assert_buffer(&leader.text, bytes("one"));
    expect_told(HF_OK, f->client, hf_lock_release_start(one, &async, ERR));
}

/* ------------------------------------------------------------- other kinds */

/* `waits` queues for what `before` has, and is still at the head when what has
 * the name is a lease of another kind, which `held` releases after `next`, if
 * it is not NULL, has waited for it: it may look again, but is not given that.
 */
static void expect_no_grant(fixture *f, hf_bytes name, hf_lock *before,
                            hf_lock *waits, hf_lock *held, hf_lock *next)
{
    hf_bytes del[] = {bytes("DEL"), name};
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_lock_try(before, ERR));
    expect_status(HF_OK, hf_lock_acquire_start(waits, HF_FOREVER, &async, ERR));
    expect_throughout((dispatch(f->other), said.count == 0), 200);
    expect_status(HF_OK, hf_command(f->client, 2, del, NULL, ERR));
    expect_status(HF_OK, hf_lock_try(held, ERR));
    if (next != NULL)
        expect_status(HF_TIMEOUT, hf_lock_acquire(next, 20, ERR));
    expect_status(HF_OK, hf_lock_release(held, ERR));
    await_told(f->other, &said, 1);
    if (said.status == HF_OK)
        expect_status(HF_OK, hf_lock_renew(waits, ERR));
    else
        assert_int_equal(said.status, HF_WRONG_TYPE);
}

static hf_lock *semaphore(fixture *f, hf_client *client, hf_bytes name)
{
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_semaphore_new(client, name, 1, NULL, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

TEST(election_candidate_without_a_text_is_given_no_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");

    need_all_rights(f);
    expect_no_grant(f, name, candidate(f, f->client, name, bytes(""), NULL),
                    candidate(f, f->other, name, bytes(""), NULL),
                    fixture_lock(f, f->client, name, NULL),
                    fixture_lock(f, f->client, name, NULL));
}

TEST(election_is_not_won_by_who_waits_for_a_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");

    need_all_rights(f);
    expect_no_grant(f, name, fixture_lock(f, f->client, name, NULL),
                    fixture_lock(f, f->other, name, NULL),
                    candidate(f, f->client, name, bytes(""), NULL), NULL);
}

TEST(election_is_not_won_by_who_waits_for_a_permit)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");

    need_all_rights(f);
    expect_no_grant(f, name, semaphore(f, f->client, name),
                    semaphore(f, f->other, name),
                    candidate(f, f->client, name, bytes(""), NULL), NULL);
}
