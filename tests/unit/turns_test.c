/* SPDX-License-Identifier: Apache-2.0 */
/* turns_test.c - when a lock is left to other libraries, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lease/turns.h"

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

static void theirs(size_t owner_size)
{
    hf__turns_note_foreign(&table, LOCK, owner_size);
}

/* Held for so long that there is time to spare. */
static int64_t ours(void)
{
    return hf__turns_release(&table, LOCK, 10000, false);
}

static void lock_that_no_other_library_uses_is_not_left_free(void **s)
{
    (void)s;
    assert_int_equal(ours(), 0);
    hf__turns_note_foreign(&table, LOCK + 1, OFTEN);
    assert_int_equal(ours(), 0);
    assert_int_equal(hf__turns_release(&table, LOCK, 1, true),
                     HF__TURNS_GAP_MS);
}

static void libraries_take_turns(void **s)
{
    (void)s;
    for (int i = 0; i < 1000; i++) {
        theirs(OFTEN);
        assert_int_equal(hf__turns_delay(&table, LOCK), 0);
        assert_int_equal(ours(), HF__TURNS_GAP_MS);
    }
}

static void library_that_had_more_turns_waits_until_ours_had_as_many(void **s)
{
    (void)s;
    for (int i = 0; i < 5; i++)
        theirs(OFTEN);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ours(), 0);
    assert_int_equal(ours(), HF__TURNS_GAP_MS);
}

static void library_that_had_fewer_turns_may_have_several(void **s)
{
    (void)s;
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

static void each_library_counts_by_itself(void **s)
{
    (void)s;
    theirs(SELDOM);
    (void)ours();
    for (int i = 0; i < 10; i++)
        theirs(OFTEN);
    assert_int_equal(hf__turns_delay(&table, LOCK), 0);
    assert_int_equal(ours(), HF__TURNS_GAP_MS);
}

static void time_that_was_left_free_is_earned_by_holding(void **s)
{
    (void)s;
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

static void library_that_takes_no_gap_gets_fewer_and_fewer(void **s)
{
    int gaps = 0;

    (void)s;
    theirs(OFTEN);
    for (int turns = 0; turns < 100; turns++) {
        if (ours() == 0)
            continue;
        gaps++;
        hf__turns_note_gap(&table, LOCK, HF__TURNS_GAP_MS, false);
    }
    assert_true(gaps > 4 && gaps < 10);
}

static void turns_of_long_ago_count_less_than_recent_ones(void **s)
{
    (void)s;
    for (int i = 0; i < 1000; i++)
        theirs(OFTEN);
    for (int i = 0; i < 100; i++)
        (void)ours();
    theirs(OFTEN);
    assert_true(hf__turns_delay(&table, LOCK) > 0);
}

#define TURNS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURNS_TEST(lock_that_no_other_library_uses_is_not_left_free),
        TURNS_TEST(libraries_take_turns),
        TURNS_TEST(library_that_had_more_turns_waits_until_ours_had_as_many),
        TURNS_TEST(library_that_had_fewer_turns_may_have_several),
        TURNS_TEST(each_library_counts_by_itself),
        TURNS_TEST(time_that_was_left_free_is_earned_by_holding),
        TURNS_TEST(library_that_takes_no_gap_gets_fewer_and_fewer),
        TURNS_TEST(turns_of_long_ago_count_less_than_recent_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
