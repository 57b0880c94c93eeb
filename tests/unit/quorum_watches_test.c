/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_watches_test.c - events of a quorum: those of any node that is
 * reachable.
 */
#include "quorum_scripted.h"

EACH_TEST_WITH(quorum_start, quorum_stop);

typedef struct counting {
    hf__watch watch;
    hf__quorum *quorum;
    size_t count;
    bool ends; /* with the first event */
} counting;

static void count_move(hf__watch *watch)
{
    counting *self = (counting *)(void *)watch;
    hf__store *store = &self->quorum->base;

    self->count++;
    if (self->ends)
        store->ops->event_unwatch(store, watch);
}

static void watch_events(counting *self, hf__quorum *quorum)
{
    hf__store *store = &quorum->base;

    memset(self, 0, sizeof(*self));
    self->watch.moved = count_move;
    self->quorum = quorum;
    assert_int_equal(
        store->ops->event_watch(store, hf_str("l"), &self->watch, NULL), HF_OK);
}

TEST(event_of_any_node_is_reported)
{
    hf__quorum *quorum = *state;
    hf__store *store = &quorum->base;
    uint32_t seq = store->ops->event_seq(store, hf_str("l"), 0);
    counting watch;

    watch_events(&watch, quorum);
    for (size_t i = 0; i < NODES; i++) {
        move_events(i);
        assert_int_equal(i + 1, watch.count);
        assert_true(seq != store->ops->event_seq(store, hf_str("l"), 0));
    }
    store->ops->event_unwatch(store, &watch.watch);
    for (size_t i = 0; i < NODES; i++)
        assert_null(nodes[i].watch);
}

/* A store without a subscription moves its counters now and then. */
TEST(event_of_a_node_that_is_away_is_not_reported)
{
    hf__quorum *quorum = *state;
    counting watch;
    call *c = acquire(quorum);

    say(0, 9);
    say(1, 9);
    say(2, 9);
    fail_with(3, HF_INDETERMINATE);
    fail_with(4, HF_UNAVAILABLE);
    drain(c);
    watch_events(&watch, quorum);
    move_events(3);
    move_events(4);
    assert_int_equal(0, watch.count);
    move_events(1);
    assert_int_equal(1, watch.count);
    /* Without a majority of others all count. */
    hf__node_answered(quorum, 0, false);
    move_events(3);
    assert_int_equal(2, watch.count);
    quorum->base.ops->event_unwatch(&quorum->base, &watch.watch);
}

TEST(watch_may_end_in_its_callback)
{
    hf__quorum *quorum = *state;
    counting watch;

    watch_events(&watch, quorum);
    watch.ends = true;
    move_events(2);
    for (size_t i = 0; i < NODES; i++)
        move_events(i);
    assert_int_equal(1, watch.count);
}

TEST(waiting_ends_at_its_instant_or_with_a_move)
{
    hf__quorum *quorum = *state;
    hf__store *store = &quorum->base;
    uint32_t seq = store->ops->event_seq(store, hf_str("l"), 0);
    int64_t began_ms = hf__clock_boot_ms();

    assert_false(
        store->ops->event_wait(store, hf_str("l"), seq, began_ms + 50));
    assert_true(hf__clock_boot_ms() >= began_ms + 50);
    move_events(4);
    assert_true(store->ops->event_wait(store, hf_str("l"), seq,
                                       hf__clock_boot_ms() + 10000));
    for (size_t i = 0; i < NODES; i++)
        assert_null(nodes[i].watch);
}
