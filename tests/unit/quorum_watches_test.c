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

typedef struct agreed_row {
    bool listens[NODES];
    bool moves[NODES];
    hf__agreement expected;
} agreed_row;

/* A node that cannot be reached is no reason to try, though its counter moves,
 * as long as there is another to send a message. */
TEST(nodes_that_listen_agree)
{
    static const agreed_row rows[] = {
        {{1, 1, 1, 1, 1}, {0}, HF__AGREED_NONE},
        {{1, 1, 1, 1, 1}, {0, 1}, HF__AGREED_SOME},
        {{1, 1, 1, 1, 1}, {0, 1, 1, 0, 1}, HF__AGREED_MAJORITY},
        {{1, 1, 1}, {0, 0, 0, 1, 1}, HF__AGREED_NONE},
        {{1, 1, 1}, {0, 1, 1, 1, 1}, HF__AGREED_SOME},
        {{1, 1, 1}, {1, 1, 1}, HF__AGREED_MAJORITY},
        {{1}, {0, 1, 1, 1, 1}, HF__AGREED_NONE},
        {{0}, {0}, HF__AGREED_NONE},
        {{0}, {0, 0, 0, 1}, HF__AGREED_SOME},
        {{0}, {1, 1, 1, 1, 1}, HF__AGREED_SOME},
    };
    hf__store *store = *state;
    uint32_t votes[HF__VOTES_MAX];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        store->ops->event_votes(store, hf_str("l"), votes);
        for (size_t at = 0; at < NODES; at++) {
            nodes[at].listens = rows[i].listens[at];
            nodes[at].seq += rows[i].moves[at];
        }
        assert_int_equal(rows[i].expected,
                         store->ops->event_agreed(store, hf_str("l"), votes));
    }
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
