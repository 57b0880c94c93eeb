/* SPDX-License-Identifier: Apache-2.0 */
/* turns_test.c - how long a waiter holds back after a foreign release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lease/turns.h"

#define OFTEN 36  /* bytes of an owner id of a library with many turns ... */
#define SELDOM 24 /* ... and with few */

static void turns_of_a_library_that_had_more_than_ours_are_cut_short(void **s)
{
    hf__turns turns = {0};

    (void)s;
    hf__turns_note_foreign(&turns, OFTEN);
    assert_int_equal(hf__turns_delay(&turns), 0);
}

static void turns_of_a_library_that_had_fewer_than_ours_are_left_to_it(void **s)
{
    hf__turns turns = {0};

    (void)s;
    for (int i = 0; i < 10; i++) {
        hf__turns_note_ours(&turns);
        hf__turns_note_foreign(&turns, OFTEN);
    }
    hf__turns_note_foreign(&turns, OFTEN);
    hf__turns_note_foreign(&turns, SELDOM);
    assert_true(hf__turns_delay(&turns) >= 20);
    hf__turns_note_foreign(&turns, OFTEN);
    assert_int_equal(hf__turns_delay(&turns), 0);
}

static void turns_of_long_ago_count_less_than_recent_ones(void **s)
{
    hf__turns turns = {0};

    (void)s;
    for (int i = 0; i < 1000; i++)
        hf__turns_note_foreign(&turns, OFTEN);
    for (int i = 0; i < 100; i++)
        hf__turns_note_ours(&turns);
    hf__turns_note_foreign(&turns, OFTEN);
    assert_true(hf__turns_delay(&turns) >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            turns_of_a_library_that_had_more_than_ours_are_cut_short),
        cmocka_unit_test(
            turns_of_a_library_that_had_fewer_than_ours_are_left_to_it),
        cmocka_unit_test(turns_of_long_ago_count_less_than_recent_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
