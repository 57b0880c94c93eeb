/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_round_test.c - requests to the nodes of a quorum: when they are
 * decided, confirmed, undone, cancelled and closed.
 */
#include "quorum_scripted.h"

EACH_TEST_WITH(quorum_start, quorum_stop);

TEST(grant_is_confirmed_by_a_majority)
{
    call *c = acquire(*state);

    say(0, 7);
    say(1, 9);
    assert_int_equal(0, c->done);
    say(2, 8);
    assert_int_equal(0, c->done); /* 9 is on one node only */
    EXPECT_LOGS("acquire confirm", "acquire", "acquire confirm", "acquire",
                "acquire");
    assert_string_equal("9", nodes[0].last_token);
    say(0, 1);
    assert_int_equal(0, c->done);
    say(2, 1);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_OK, c->status);
    assert_int_equal(9, c->value);
    say(3, 12); /* late grants stay: renewals and releases are sent there too */
    say(4, 3);
    EXPECT_LOGS("acquire confirm", "acquire", "acquire confirm", "acquire",
                "acquire");
    drain(c);
}

TEST(equal_tokens_need_no_second_round)
{
    call *c = acquire(*state);

    say(4, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(1, c->done);
    assert_int_equal(9, c->value);
    drain(c);
}

TEST(grant_that_cannot_be_confirmed_is_taken_back)
{
    call *c = acquire(*state);

    say(0, 7);
    say(1, 9);
    say(2, 8);
    say(0, 0); /* it lost the lock meanwhile */
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("acquire confirm undo", "acquire undo", "acquire confirm undo",
                "acquire undo", "acquire undo");
    drain(c);
}

TEST(refusal_is_undone_where_something_may_be)
{
    call *c = acquire(*state);

    say(0, 7);
    fail_with(1, HF_UNAVAILABLE); /* nothing was sent there */
    refuse(2);
    fail_with(4, HF_INDETERMINATE);
    assert_int_equal(0, c->done);
    refuse(3);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_OK, c->status);
    assert_int_equal(HF_REPLY_ARRAY, c->kind);
    EXPECT_LOGS("acquire undo", "acquire", "acquire", "acquire",
                "acquire undo");
    drain(c);
}

TEST(late_grant_finds_its_release_behind_it)
{
    call *c = acquire(*state);

    refuse(0);
    refuse(1);
    refuse(2);
    assert_int_equal(1, c->done);
    assert_int_equal(500, c->value);
    EXPECT_LOGS("acquire", "acquire", "acquire", "acquire undo",
                "acquire undo");
    say(3, 7);
    say(4, 8);
    assert_int_equal(1, c->done);
    drain(c);
}

/* A node that refused the acquire for now, or had lost the script, ran the
 * release first: what it then grants is released once more. */
TEST(grant_behind_its_release_is_released_again)
{
    call *c = acquire(*state);

    refuse(0);
    refuse(1);
    refuse(2);
    assert_int_equal(1, c->done);
    assert_true(nodes[3].undo_queues);
    say_last(3, 0); /* nothing to release yet */
    say(3, 7);
    assert_false(nodes[3].undo_queues); /* it may have stopped waiting */
    say(4, 8);                          /* in order */
    say(4, 1);
    EXPECT_LOGS("acquire", "acquire", "acquire", "acquire undo undo",
                "acquire undo");
    say(3, 1);
    drain(c);
}

/* The same with the second refusal and an unknown end. */
TEST(late_refusal_needs_no_release)
{
    call *c = acquire(*state);

    refuse(0);
    refuse(1);
    refuse(2);
    say_last(3, 0);
    refuse(3);
    say_last(4, 0);
    fail_with(4, HF_UNAVAILABLE);
    EXPECT_LOGS("acquire", "acquire", "acquire", "acquire undo",
                "acquire undo");
    drain(c);
}

/* All requests of a lock are in one lane: nothing overtakes. */
TEST(release_of_a_failed_acquire_is_in_its_lane)
{
    call *c = acquire(*state);

    refuse(0);
    refuse(1);
    refuse(2);
    assert_int_equal(nodes[3].count, 2);
    assert_int_equal(nodes[3].pending[0]->lane, nodes[3].pending[1]->lane);
    drain(c);
}

/* Nodes that reply before the request was sent to the others. */
TEST(undo_comes_behind_an_acquire_not_sent_yet)
{
    call *c;

    for (size_t i = 0; i < 3; i++)
        nodes[i].refuses = true;
    c = acquire(*state);
    assert_int_equal(1, c->done);
    EXPECT_LOGS("acquire", "acquire", "acquire", "acquire undo",
                "acquire undo");
    drain(c);
}

TEST(loss_of_a_majority_is_reported_at_once)
{
    call *c = acquire(*state);

    say(0, 7);
    fail_with(1, HF_UNAVAILABLE);
    fail_with(2, HF_INDETERMINATE);
    assert_int_equal(0, c->done);
    fail_with(3, HF_UNAVAILABLE);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("acquire undo", "acquire", "acquire undo", "acquire",
                "acquire undo");
    drain(c);
}

/* Two that did not reply the last time are not waited for. */
TEST(silent_nodes_cost_no_time)
{
    call *c = acquire(*state);

    for (size_t i = 0; i < 3; i++)
        say(i, 9);
    fail_with(3, HF_INDETERMINATE);
    fail_with(4, HF_UNAVAILABLE);
    drain(c);
    c = acquire(*state);
    say(0, 9);
    say(1, 9);
    refuse(2);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_REPLY_ARRAY, c->kind);
    assert_int_equal(0, c->value); /* split: no holder */
    say(3, 9);                     /* it is back */
    drain(c);
    c = acquire(*state);
    say(0, 9);
    say(1, 9);
    refuse(2);
    assert_int_equal(0, c->done);
    say(3, 9);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_REPLY_INTEGER, c->kind);
    drain(c);
}

TEST(release_tells_of_a_second_sending)
{
    call *c = call_new(HF__SCRIPT_LOCK_RELEASE);

    submit(*state, c);
    nodes[1].pending[0]->sends = 2;
    say(0, 1);
    say(1, 0);
    say(2, 0);
    say(3, 0);
    assert_int_equal(1, c->done);
    assert_int_equal(0, c->value);
    assert_int_equal(2, c->sends);
    drain(c);
}

TEST(cancel_goes_to_the_nodes_still_asked)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    say(0, 7);
    quorum->base.ops->cancel(&quorum->base, &c->request);
    assert_int_equal(0, nodes[0].cancelled);
    for (size_t i = 1; i < NODES; i++)
        assert_int_equal(1, nodes[i].cancelled);
    for (size_t i = 1; i < NODES; i++)
        fail_with(i, HF_INDETERMINATE);
    assert_int_equal(1, c->done);
    /* One that has completed is left unchanged. */
    quorum->base.ops->cancel(&quorum->base, &c->request);
    drain(c);
}

TEST(cancel_reaches_a_confirmation)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    say(0, 7);
    say(1, 8);
    say(2, 9);
    quorum->base.ops->cancel(&quorum->base, &c->request);
    assert_int_equal(1, nodes[0].cancelled);
    assert_int_equal(1, nodes[1].cancelled);
    drain(c);
}

/* Others may have found it held by a majority, and wait for its end. */
TEST(undo_of_what_may_be_held_wakes_a_waiter)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    refuse(0);
    quorum->base.ops->cancel(&quorum->base, &c->request);
    for (size_t i = 1; i < NODES; i++)
        fail_with(i, HF_INDETERMINATE);
    EXPECT_LOGS("acquire", "acquire undo", "acquire undo", "acquire undo",
                "acquire undo");
    for (size_t i = 1; i < NODES; i++)
        assert_true(nodes[i].undo_wakes);
    drain(c);
}

TEST(undo_of_a_lost_vote_wakes_no_one)
{
    call *c = acquire(*state);

    say(0, 7);
    say(1, 7);
    refuse(2);
    refuse(3);
    refuse(4);
    EXPECT_LOGS("acquire undo", "acquire undo", "acquire", "acquire",
                "acquire");
    for (size_t i = 0; i < 2; i++)
        assert_true(!nodes[i].undo_wakes && nodes[i].undo_queues);
    drain(c);
}

/* Nodes are closed one after another: what that completes must not be undone on
 * those closed before (take() asserts it). */
TEST(close_completes_what_is_under_way)
{
    hf__quorum *quorum = *state;
    call *confirming = acquire(quorum);
    call *waiting;

    for (size_t i = 0; i < 3; i++)
        say(i, 7 + (int64_t)i);
    waiting = acquire(quorum);
    say(4, 9); /* of the first, which is being confirmed */
    quorum->base.ops->close(&quorum->base);
    assert_int_equal(1, waiting->done);
    assert_int_equal(HF_UNAVAILABLE, waiting->status);
    assert_int_equal(1, confirming->done);
    assert_int_equal(HF_UNAVAILABLE, confirming->status);
    hf__free(waiting);
    hf__free(confirming);
    *state = NULL;
}

TEST(close_takes_nothing_back_on_closed_nodes)
{
    hf__quorum *quorum = *state;
    call *c = acquire(quorum);

    say(0, 7);
    quorum->base.ops->close(&quorum->base);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    hf__free(c);
    *state = NULL;
}

TEST(request_may_be_freed_on_completion)
{
    call *c = acquire(*state);

    c->is_freed = true;
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(1, result.done);
    say(3, 10);
    refuse(4);
}

static void acquire_without_memory(hf__quorum *quorum, long after)
{
    call *c = call_new(HF__SCRIPT_LOCK_ACQUIRE);

    hf__alloc_fail_after(after);
    submit(quorum, c);
    for (size_t turn = 0; turn < 4; turn++) {
        for (size_t i = 0; i < NODES; i++) {
            if (nodes[i].count == 0)
                continue;
            if (turn == 0 && i != 1 && i != 2)
                refuse(i);
            else
                say(i, 7 + (int64_t)i);
        }
    }
    hf__alloc_fail_after(-1);
    drain(c);
}

TEST(every_request_completes_without_memory)
{
    for (long after = 0; after < 40; after++) {
        acquire_without_memory(*state, after);
        for (size_t i = 0; i < NODES; i++) {
            nodes[i].log[0] = '\0';
            nodes[i].generation++; /* INFO needs memory too */
        }
    }
}

/* A grant is undone, too, if the refusal cannot be reported. */
TEST(grant_is_taken_back_without_memory)
{
    call *c = acquire(*state);
    hf__request *last;
    char holder[1000];

    memset(holder, 'A', sizeof(holder) - 1);
    holder[sizeof(holder) - 1] = '\0';
    say(0, 7);
    for (size_t i = 1; i < 3; i++) {
        last = oldest(&nodes[i]);
        assert_true(set_refusal(last, holder, 500));
        quorum_finish(last, HF_OK);
    }
    last = oldest(&nodes[3]);
    assert_true(set_refusal(last, holder, 500));
    hf__alloc_fail_after(0);
    quorum_finish(last, HF_OK);
    hf__alloc_fail_after(-1);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_NO_MEMORY, c->status);
    EXPECT_LOGS("acquire undo", "acquire", "acquire", "acquire",
                "acquire undo");
    drain(c);
}

TEST(others_than_locks_are_refused)
{
    call *c = call_new(HF__SCRIPT_VALUE_CAS);

    submit(*state, c);
    assert_int_equal(HF_UNSUPPORTED, c->status);
    EXPECT_LOGS("", "", "", "", "");
    drain(c);
    c = call_new(HF__SCRIPT_LOCK_ACQUIRE);
    c->request.deadline_ms = hf__clock_boot_ms() - 1;
    submit(*state, c);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    EXPECT_LOGS("", "", "", "", "");
    drain(c);
}
