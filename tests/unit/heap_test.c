/* SPDX-License-Identifier: Apache-2.0 */
/* heap_test.c - the heap of deadlines. */
#include "support/test.h"
#include "util/heap.h"

#define COUNT 100

typedef struct fixture {
    hf__heap heap;
    hf__heap_node nodes[COUNT];
} fixture;

static int set_up(void **state)
{
    static fixture f;

    hf__heap_init(&f.heap);
    for (size_t i = 0; i < COUNT; i++)
        hf__heap_node_init(&f.nodes[i]);
    *state = &f;
    return hf__heap_reserve(&f.heap, COUNT) ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    hf__heap_done(&f->heap);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static size_t take_first(fixture *f)
{
    hf__heap_node *node = hf__heap_first(&f->heap);

    assert_non_null(node);
    hf__heap_remove(&f->heap, node);
    assert_true(node->index == HF__HEAP_NONE);
    return (size_t)(node - f->nodes);
}

TEST(heap_equal_instants_come_out_in_order)
{
    fixture *f = *state;

    for (size_t i = 0; i < COUNT; i++)
        hf__heap_put(&f->heap, &f->nodes[i], 7);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(take_first(f), i);
    assert_null(hf__heap_first(&f->heap));
}

TEST(heap_instants_come_out_sorted)
{
    fixture *f = *state;

    /* 37 and 100 have no common factor: each instant occurs once. */
    for (size_t i = 0; i < COUNT; i++)
        hf__heap_put(&f->heap, &f->nodes[i], (int64_t)(i * 37 % COUNT));
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(f->nodes[take_first(f)].at_ms, i);
}

TEST(heap_put_again_moves_in_both_directions)
{
    fixture *f = *state;

    for (size_t i = 0; i < COUNT; i++)
        hf__heap_put(&f->heap, &f->nodes[i], (int64_t)i);
    hf__heap_put(&f->heap, &f->nodes[0], 1000);
    hf__heap_put(&f->heap, &f->nodes[99], -1000);
    assert_int_equal(f->heap.count, COUNT);
    assert_int_equal(take_first(f), 99);
    for (size_t i = 1; i < 99; i++)
        assert_int_equal(take_first(f), i);
    assert_int_equal(take_first(f), 0);
}

TEST(heap_put_again_at_the_same_instant_goes_last)
{
    fixture *f = *state;

    hf__heap_put(&f->heap, &f->nodes[0], 5);
    hf__heap_put(&f->heap, &f->nodes[1], 5);
    hf__heap_put(&f->heap, &f->nodes[0], 5);
    assert_int_equal(take_first(f), 1);
    assert_int_equal(take_first(f), 0);
}

/* Removing from the middle may have to move the last node up or down. */
TEST(heap_stays_sorted_when_any_node_is_removed)
{
    fixture *f = *state;

    for (size_t removed = 0; removed < COUNT; removed++) {
        int64_t last = INT64_MIN;

        for (size_t i = 0; i < COUNT; i++)
            hf__heap_put(&f->heap, &f->nodes[i], (int64_t)(i * 37 % COUNT));
        hf__heap_remove(&f->heap, &f->nodes[removed]);
        for (size_t i = 1; i < COUNT; i++) {
            size_t taken = take_first(f);

            assert_true(taken != removed);
            assert_true(f->nodes[taken].at_ms > last);
            last = f->nodes[taken].at_ms;
        }
        assert_null(hf__heap_first(&f->heap));
    }
}

TEST(heap_remove_of_a_node_that_is_out_does_nothing)
{
    fixture *f = *state;

    hf__heap_put(&f->heap, &f->nodes[0], 1);
    hf__heap_remove(&f->heap, &f->nodes[1]);
    assert_ptr_equal(hf__heap_first(&f->heap), &f->nodes[0]);
}

TEST(heap_reserve_refuses_an_impossible_count)
{
    fixture *f = *state;
    size_t capacity = f->heap.capacity;

    assert_false(hf__heap_reserve(&f->heap, SIZE_MAX / 4));
    assert_int_equal(f->heap.capacity, capacity);
}
