/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_standing_test.c - which nodes of a quorum may vote: those that are the
 * same process as before, or older than any lease.
 */
#include "quorum_scripted.h"

EACH_TEST_WITH(quorum_start, quorum_stop);

TEST(restarted_node_does_not_vote)
{
    call *c;

    nodes[2].generation++;
    set_run_id(2, "again");
    nodes[2].uptime_s = 3;
    c = acquire(*state);
    EXPECT_LOGS("acquire", "acquire", "info acquire", "acquire", "acquire");
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    say(3, 9);
    assert_int_equal(1, c->done);
    drain(c);
}

/* The node's INFO arrives after its reply: a connection that broke and was made
 * again while the request was queued. */
TEST(new_connection_to_the_same_process_votes)
{
    call *c = acquire(*state);

    nodes[2].generation++;
    say(0, 9);
    say(1, 9);
    nodes[2].holds_info = true;
    say(2, 9);
    EXPECT_LOGS("acquire", "acquire", "acquire info", "acquire", "acquire");
    assert_int_equal(0, c->done);
    answer_info(&nodes[2], oldest(&nodes[2]));
    assert_int_equal(1, c->done);
    assert_int_equal(HF_OK, c->status);
    drain(c);
}

TEST(new_connection_to_another_process_does_not)
{
    call *c = acquire(*state);

    nodes[2].generation++;
    nodes[2].uptime_s = 0;
    set_run_id(2, "again");
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    fail_with(3, HF_UNAVAILABLE);
    fail_with(4, HF_UNAVAILABLE);
    assert_int_equal(1, c->done);
    assert_int_equal(HF_UNAVAILABLE, c->status);
    assert_string_equal("3 of 5 servers answered, 1 of those in quarantine "
                        "since they were started; 3 votes are needed",
                        c->request.error.message);
    EXPECT_LOGS("acquire undo", "acquire undo", "acquire info undo", "acquire",
                "acquire");
    drain(c);
}

/* Another process than before, but older than any lock. */
TEST(quarantine_is_over_when_the_node_is_old)
{
    call *c;

    nodes[2].generation++;
    nodes[2].uptime_s = 61;
    set_run_id(2, "again");
    c = acquire(*state);
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(1, c->done);
    drain(c);
}

/* A server that has run for a tenth of a second may report 1 s: one that
 * reports 60 may have been started 59 s ago. */
TEST(uptime_may_be_reported_too_long)
{
    hf__quorum *quorum = *state;
    call *c;

    nodes[2].generation++;
    nodes[2].uptime_s = 60;
    set_run_id(2, "again");
    c = acquire(quorum);
    for (size_t i = 0; i < NODES; i++)
        say(i, 9);
    drain(c);
    assert_false(hf__node_may_vote(quorum, 2));
}

/* A node that could not be reached when the quorum was opened may have been
 * restarted since: its earlier run id is unknown. */
TEST(node_met_late_and_young_does_not_vote)
{
    hf__quorum *quorum = *state;
    call *c;

    quorum->nodes[2].run_id[0] = '\0';
    nodes[2].uptime_s = 3;
    c = acquire(quorum);
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    drain(c);
    assert_false(hf__node_may_vote(quorum, 2));
}

static void open_again(hf__quorum *quorum, const int64_t uptimes_s[NODES])
{
    for (size_t i = 0; i < NODES; i++) {
        nodes[i].uptime_s = uptimes_s[i];
        quorum->nodes[i].run_id[0] = '\0';
    }
    assert_int_equal(HF_OK, hf__nodes_probe(quorum, 1000, NULL));
}

static void expect_voters(hf__quorum *quorum, size_t want)
{
    size_t voters = 0;

    for (size_t i = 0; i < NODES; i++)
        voters += hf__node_may_vote(quorum, i);
    assert_int_equal(want, voters);
}

/* At no age is a set that was started together refused. */
TEST(set_started_together_votes_at_any_age)
{
    for (int64_t age_s = 0; age_s < 70; age_s++) {
        open_again(*state, (int64_t[NODES]){age_s + 5, age_s + 2, age_s,
                                            age_s + 1, age_s});
        expect_voters(*state, NODES);
    }
}

TEST(node_started_after_the_others_does_not_vote_as_one_of_a_set)
{
    open_again(*state, (int64_t[NODES]){60, 60, 60, 60, 54});
    expect_voters(*state, 0);
    open_again(*state, (int64_t[NODES]){61, 61, 61, 61, 55});
    expect_voters(*state, NODES - 1);
}

/* INFO is trusted only as far as possible. */
TEST(uptime_of_no_sense_does_no_harm)
{
    static const int64_t uptimes_s[] = {INT64_MAX, INT64_MAX / 1000, -1};
    hf__quorum *quorum = *state;

    for (size_t i = 0; i < 3; i++) {
        call *c;

        nodes[2].generation++;
        nodes[2].uptime_s = uptimes_s[i];
        (void)snprintf(nodes[2].run_id, sizeof(nodes[2].run_id), "new%zu", i);
        c = acquire(quorum);
        for (size_t at = 0; at < NODES; at++)
            say(at, 9);
        assert_int_equal(HF_OK, c->status);
        assert_int_equal(uptimes_s[i] > 0, hf__node_may_vote(quorum, 2));
        drain(c);
    }
}

TEST(two_votes_of_one_process_are_one)
{
    hf__quorum *quorum = *state;
    call *c;

    nodes[2].generation++;
    set_run_id(2, "run1");
    c = acquire(quorum);
    say(0, 9);
    say(1, 9);
    say(2, 9);
    assert_int_equal(0, c->done);
    drain(c);
}

/* A node may lose a lock and vote again while its lease still runs. */
TEST(lease_beyond_the_quarantine_is_refused)
{
    hf__quorum *quorum = *state;
    call *c = call_new(HF__SCRIPT_LOCK_ACQUIRE);

    c->words[4] = hf_str("60001");
    submit(quorum, c);
    assert_int_equal(HF_INVALID, c->status);
    EXPECT_LOGS("", "", "", "", "");
    drain(c);
    quorum->restart_ms = 0; /* nodes lose nothing */
    c = call_new(HF__SCRIPT_LOCK_ACQUIRE);
    c->words[4] = hf_str("60001");
    submit(quorum, c);
    assert_int_equal(0, c->done);
    drain(c);
}
