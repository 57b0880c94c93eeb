/* SPDX-License-Identifier: Apache-2.0 */
/* turns_test.c - when a lock is left to other libraries, and for how long. */
#include <stdio.h>

#include "lease/handed.h"
#include "lease/turns.h"
#include "support/test.h"

#define LOCK 7
#define OFTEN 36  /* bytes of an owner id of a library with many turns ... */
#define SELDOM 24 /* ... and with few */

static hf__turns_table table;

static int begin(void **state)
{
    (void)state;
    hf__turns_init(&table);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hf__turns_done(&table);
    return 0;
}

EACH_TEST_WITH(begin, end);

static const char letters[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

static void theirs(size_t owner_size)
{
    hf__turns_note_foreign(&table, LOCK, hf_view(letters, owner_size));
}

/* Of a process of redis-py: a UUID of version 1, new each time. */
static void of_process(int process)
{
    static unsigned made;
    char owner[33];

    (void)snprintf(owner, sizeof(owner), "%08xb05811ee%04x0242ac120002", made++,
                   (unsigned)process);
    owner[12] = '1';
    hf__turns_note_foreign(&table, LOCK, hf_view(owner, 32));
}

/* Held for so long that there is time to spare. */
static int64_t ours(void)
{
    return hf__turns_release(&table, LOCK, 10000, false);
}

TEST(lock_that_no_other_library_uses_is_not_left_free)
{
    assert_int_equal(ours(), 0);
    hf__turns_note_foreign(&table, LOCK + 1, hf_view(letters, OFTEN));
    assert_int_equal(ours(), 0);
    assert_int_equal(hf__turns_release(&table, LOCK, 1, true),
                     HF__TURNS_GAP_MS);
}

TEST(libraries_take_turns)
{
    for (int i = 0; i < 1000; i++) {
        theirs(OFTEN);
        assert_int_equal(hf__turns_delay(&table, LOCK), 0);
        assert_int_equal(ours(), HF__TURNS_GAP_MS);
    }
}

/* Each gap is taken by the next of three. */
TEST(processes_that_are_told_apart_take_turns_each)
{
    int turns = 0;

    for (; turns < 3; turns++)
        of_process(turns % 3);
    for (int i = 0; i < 30; i++) {
        if (ours() == 0)
            continue;
        do
            of_process(turns++ % 3);
        while (hf__turns_delay(&table, LOCK) > 0 && turns < 1000);
    }
    assert_in_range(turns, 30 * 3 - 6, 30 * 3 + 6);
}

TEST(library_that_had_more_turns_waits_until_ours_had_as_many)
{
    for (int i = 0; i < 5; i++)
        theirs(OFTEN);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ours(), 0);
    assert_int_equal(ours(), HF__TURNS_GAP_MS);
}

TEST(library_that_had_fewer_turns_may_have_several)
{
    theirs(OFTEN);
    for (int i = 0; i < 3; i++)
        (void)ours();
    theirs(OFTEN);
    assert_true(hf__turns_delay(&table, LOCK) > 0);
    theirs(OFTEN);
    assert_true(hf__turns_delay(&table, LOCK) > 0);
    theirs(OFTEN);
    assert_int_equal(hf__turns_delay(&table, LOCK), 0);
}

TEST(each_library_counts_by_itself)
{
    theirs(SELDOM);
    (void)ours();
    for (int i = 0; i < 10; i++)
        theirs(OFTEN);
    assert_int_equal(hf__turns_delay(&table, LOCK), 0);
    assert_int_equal(ours(), HF__TURNS_GAP_MS);
}

TEST(time_that_was_left_free_is_earned_by_holding)
{
    theirs(OFTEN);
    assert_int_equal(ours(), HF__TURNS_GAP_MS);
    hf__turns_note_gap(&table, LOCK, HF__TURNS_GAP_MS, true);
    for (int i = 0; i < 10; i++)
        hf__turns_note_gap(&table, LOCK, 20, true);
    for (int i = 0; i < 10; i++)
        assert_int_equal(hf__turns_release(&table, LOCK, 10, false), 0);
    assert_int_equal(hf__turns_release(&table, LOCK, 10, false),
                     HF__TURNS_GAP_MS);
}

TEST(library_that_takes_no_gap_gets_fewer_and_fewer)
{
    int gaps = 0;

    theirs(OFTEN);
    for (int turns = 0; turns < 100; turns++) {
        if (ours() == 0)
            continue;
        gaps++;
        hf__turns_note_gap(&table, LOCK, HF__TURNS_GAP_MS, false);
    }
    assert_true(gaps > 4 && gaps < 10);
}

TEST(turns_of_long_ago_count_less_than_recent_ones)
{
    for (int i = 0; i < 1000; i++)
        theirs(OFTEN);
    for (int i = 0; i < 100; i++)
        (void)ours();
    theirs(OFTEN);
    assert_true(hf__turns_delay(&table, LOCK) > 0);
}

/* ------------------------------------------------- what clients tell others */

#define CLIENTS 3

static hf__turns_table clients[CLIENTS];

/* As the text of a message has it. */
static void tell_next(size_t from, size_t to)
{
    char text[HF__HANDED_TURNS_SIZE], gap[HF__HANDED_TURNS_SIZE + 16];
    hf__turns_told told;
    hf__handed handed;

    if (!hf__turns_tell(&clients[from], LOCK, &told))
        return;
    hf__handed_print(&told, text);
    (void)snprintf(gap, sizeof(gap), "gap 110 %s", text);
    assert_true(hf__handed_read(hf_str(gap), &handed));
    assert_int_equal(handed.what, HF__HANDED_GAP);
    assert_int_equal(handed.lease_ms, 110);
    hf__turns_learn(&clients[to], LOCK, &handed.turns);
}

/* A process of another library takes the lock as often as it finds it free. */
static int theirs_in_gap(size_t head)
{
    char owner[] = "01234567890b1ee58d0a0242ac120002";
    int turns = 0;

    owner[12] = '1';
    do {
        hf__turns_note_foreign(&clients[head], LOCK, hf_str(owner));
        turns++;
    } while (hf__turns_delay(&clients[head], LOCK) > 0 && turns < 100);
    return turns;
}

TEST(clients_that_tell_each_other_count_alike)
{
    int ours_held = 0, theirs_held = 1;

    for (size_t i = 0; i < CLIENTS; i++)
        hf__turns_init(&clients[i]);
    hf__turns_note_foreign(&clients[0], LOCK,
                           hf_str("0123456789ab1ee58d0a0242ac120002"));
    for (size_t i = 0; i < 300; i++) {
        size_t holder = i % CLIENTS, head = (i + 1) % CLIENTS;
        int64_t gap_ms =
            hf__turns_release(&clients[holder], LOCK, 10000, false);

        ours_held++;
        tell_next(holder, head);
        if (gap_ms > 0)
            theirs_held += theirs_in_gap(head);
    }
    assert_in_range(theirs_held, ours_held / CLIENTS * 9 / 10,
                    ours_held / CLIENTS * 11 / 10);
    for (size_t i = 0; i < CLIENTS; i++)
        hf__turns_done(&clients[i]);
}

TEST(odd_counts_are_refused)
{
    hf__turns_told told = {.turn = 1, .ours = 1, .theirs = 1, .age_ms = 1};
    hf__handed handed;

    hf__turns_learn(&table, LOCK, &told);
    told.form = 16;
    hf__turns_learn(&table, LOCK, &told);
    assert_false(hf__turns_tell(&table, LOCK, &told));
    assert_false(hf__handed_read(hf_str("gap 110 1 2 3 4 5 6"), &handed));
    assert_false(hf__handed_read(hf_str("gap 110 1 2 3 4 5 6 7 8"), &handed));
    assert_false(hf__handed_read(hf_str("gap 110 1 2 3 4 5 -6 7"), &handed));
    assert_true(hf__handed_read(hf_str("gap 110"), &handed));
    assert_int_equal(handed.turns.turn, 0);
}
