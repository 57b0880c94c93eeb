/* SPDX-License-Identifier: Apache-2.0 */
/* record_guard_test.c - since when a lease was seen, and marks of it. */
#include "support/test.h"

#include "records/record_guard.h"
#include "util/arena.h"
#include "util/clock.h"

#define SETS (uint64_t) HF__GUARD_SETS

static int set_up(void **state)
{
    *state = hf__guard_new();
    assert_non_null(*state);
    return 0;
}

static int tear_down(void **state)
{
    hf__guard_free(*state);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

TEST(record_guard_what_is_dropped_is_watched_from_the_start)
{
    hf__guard *guard = *state;

    /* As many as a set has, the first of them asked for again ... */
    for (uint64_t i = 1; i <= HF__GUARD_WAYS; i++)
        assert_int_equal(hf__guard_since(guard, i * SETS, (int64_t)i), i);
    assert_int_equal(hf__guard_since(guard, SETS, 50), 1);
    /* ... and one more, which takes the place of the second. */
    assert_int_equal(hf__guard_since(guard, 100 * SETS, 60), 60);
    assert_int_equal(hf__guard_since(guard, SETS, 70), 1);
    assert_int_equal(hf__guard_since(guard, 2 * SETS, 80), 80);
}

/* By the store's clock the lease of 10 s has ended, or was set long ago; it was
 * first seen now. */
TEST(record_guard_lease_ends_when_it_was_watched_for_so_long)
{
    hf__backend_record lease = {
        .version = 7, .at_us = 1000000000, .expire_ms = -1010000};
    hf__guard *guard = *state;
    bool guarded = true;

    assert_int_equal(
        hf__guard_end(guard, &lease, 1005000, 1005000000, &guarded), 1010000);
    assert_false(guarded);
    assert_in_range(hf__guard_end(guard, &lease, 1020000, 1020000000, &guarded),
                    1025000, 1030101);
    assert_true(guarded);
    assert_int_equal(hf__guard_end(guard, &lease, 1000000, 900000000, &guarded),
                     1010000);
    assert_true(guarded);
    lease.version = 8;
    (void)hf__guard_since(guard, 8, hf__clock_boot_us() - 11000000);
    assert_int_equal(hf__guard_end(guard, &lease, 1000000, 900000000, &guarded),
                     1000000);
    assert_false(guarded);
    lease.expire_ms = 0;
    assert_int_equal(hf__guard_end(guard, &lease, 1000000, 0, &guarded), 0);
    assert_false(guarded);
}

TEST(record_guard_mark_says_what_another_process_saw)
{
    hf__guard *seen = *state;
    hf__guard *guard = hf__guard_new();
    char mark[HF__GUARD_MARK_SIZE];

    (void)hf__guard_since(seen, 7, 1000000);
    hf__guard_write_mark(seen, 7, 5000000, mark);
    (void)hf__guard_since(guard, 7, 8000000);
    assert_true(
        hf__guard_read_mark(guard, hf_view(mark, sizeof(mark)), 7, 9000000));
    /* But for what two time namespaces may be apart. */
    assert_in_range(hf__guard_since(guard, 7, 9000000), 1000000, 1005000);
    hf__guard_free(guard);
}

TEST(record_guard_mark_of_something_else_is_not_believed)
{
    hf__guard *guard = *state;
    char mark[HF__GUARD_MARK_SIZE];
    hf_bytes whole = {mark, sizeof(mark)};

    hf__guard_write_mark(guard, 7, 5000000, mark);
    assert_false(hf__guard_read_mark(guard, whole, 8, 9000000));
    /* It is from a time that has yet to come. */
    assert_false(hf__guard_read_mark(guard, whole, 7, 4000000));
    assert_false(hf__guard_read_mark(guard, hf_view(mark, 0), 7, 9000000));
    mark[20]++;
    assert_false(hf__guard_read_mark(guard, whole, 7, 9000000));
}

TEST(record_guard_machines_have_marks_of_their_own)
{
    hf__guard *guard = *state;
    hf__arena arena;
    hf_bytes own, other;

    hf__arena_init(&arena);
    own = hf__guard_mark_key(guard, hf_str("L"), &arena);
    assert_non_null(own.data);
    guard->machine++;
    other = hf__guard_mark_key(guard, hf_str("L"), &arena);
    assert_int_equal(own.size, other.size);
    assert_memory_not_equal(own.data, other.data, own.size);
    guard->machine = 0;
    assert_null(hf__guard_mark_key(guard, hf_str("L"), &arena).data);
    hf__arena_free(&arena);
}
