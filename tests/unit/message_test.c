/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_test.c - messages published on an embedded store, by any process, to
 * the subscribers of any process: their number, their order, and what happens
 * to those that are slow or dead.
 */
#include "embedded_store.h"

#include <signal.h>
#include <sys/wait.h>

#include "subscriber.h"
#include "support/await_child.h"
#include "util/clock.h"

static place at;
static subscriber *us;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
    at.store = must_open(at.url, NULL);
    us = subscriber_open(at.url);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    subscriber_close(us);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void add(hf__channel_kind kind, const char *name)
{
    (void)subscriber_add(us, kind, hf_str(name));
}

/* In a process of its own: the reply must be `want`. */
static void expect_elsewhere(const char *line, const char *want)
{
    pid_t child = fork();
    int outcome;

    if (child == 0) {
        hf__store *store = must_open(at.url, NULL);
        char text[TEXT_SIZE];

        (void)command(store, line, text);
        if (strcmp(text, want) != 0)
            (void)fprintf(stderr, "%s: %s, not %s\n", line, text, want);
        close_store(store);
        _exit(strcmp(text, want) == 0 ? 0 : 1);
    }
    assert_int_equal(await_child(child, &outcome), child);
    assert_int_equal(outcome, 0);
}

TEST(messages_reach_other_processes)
{
    expect_elsewhere("publish news hello", "i:0");
    add(HF__CHANNEL, "news");
    expect_elsewhere("publish news hello", "i:1");
    subscriber_expect_last(us, "news hello");
    expect_elsewhere("publish other hello", "i:0");
    expect_elsewhere("spublish news hello", "i:0");
    add(HF__CHANNEL, "news");
    expect(at.store, "publish news again", "i:2");
    subscriber_expect_last(us, "news again");
    subscriber_expect(us, 2, 0);
}

TEST(kinds_of_channels_are_apart)
{
    add(HF__CHANNEL_SHARD, "a");
    expect(at.store, "publish a 1", "i:0");
    expect(at.store, "publish b 1", "i:0");
    expect(at.store, "spublish a 2", "i:1");
    add(HF__CHANNEL_PATTERN, "a*");
    expect(at.store, "publish abc 3", "i:1");
    expect(at.store, "spublish a 4", "i:1");
    add(HF__CHANNEL, "abc");
    expect(at.store, "publish abc 5", "i:2");
    expect(at.store, "pubsub numsub abc a", "[s:abc, i:1, s:a, i:0]");
    expect(at.store, "pubsub shardnumsub a", "[s:a, i:1]");
    subscriber_expect_last(us, "abc 5");
    subscriber_expect(us, 4, 0);
}

TEST(unsubscribed_channels_do_not_count)
{
    hf__subscribed first = subscriber_add(us, HF__CHANNEL, hf_str("a"));
    hf__subscribed second = subscriber_add(us, HF__CHANNEL, hf_str("a"));
    hf__subscribed pattern =
        subscriber_add(us, HF__CHANNEL_PATTERN, hf_str("[a]"));

    expect(at.store, "publish a 1", "i:3");
    subscriber_remove(us, HF__CHANNEL, hf_str("a"), first);
    expect(at.store, "publish a 1", "i:2");
    subscriber_remove(us, HF__CHANNEL_PATTERN, hf_str("[a]"), pattern);
    expect(at.store, "publish a 1", "i:1");
    subscriber_remove(us, HF__CHANNEL, hf_str("a"), second);
    expect(at.store, "publish a 1", "i:0");
    subscriber_expect(us, 3, 0);
}

/* A client of ours that is connected to a server has such a channel. */
TEST(inboxes_of_both_sorts_count)
{
    char line[TEXT_SIZE];

    add(HF__CHANNEL, "p:hf:inbox:0123456789abcdef");
    expect(at.store, "publish p:hf:inbox:0123456789abcdef grant", "i:1");
    subscriber_expect_last(us, "p:hf:inbox:0123456789abcdef grant");
    (void)snprintf(line, sizeof(line), "publish hf:inbox:%s grant",
                   us->inbox.id);
    expect(at.store, line, "i:1");
    (void)snprintf(line, sizeof(line), "hf:inbox:%s", us->inbox.id);
    add(HF__CHANNEL, line);
    (void)snprintf(line, sizeof(line), "publish hf:inbox:%s grant",
                   us->inbox.id);
    expect(at.store, line, "i:2");
    subscriber_expect(us, 2, 0);
}

static void count_up(subscriber *self, hf_bytes text)
{
    if (subscriber_number(text) == self->number)
        self->number++;
}

TEST(messages_keep_their_order)
{
    char text[TEXT_SIZE];

    subscriber_on_text(us, count_up);
    add(HF__CHANNEL, "n");
    for (int i = 0; i < 20; i++)
        assert_int_equal(
            evaluate(at.store,
                     "local n = redis.call('incrby', KEYS[1], 100) "
                     "for i = n - 100, n - 1 do "
                     "redis.call('publish', 'n', i .. ' ') end return n",
                     1, "counter", text),
            HF_OK);
    subscriber_expect(us, 2000, 0);
    assert_int_equal(us->number, 2000);
}

TEST(undone_transactions_publish_nothing)
{
    char text[TEXT_SIZE];

    add(HF__CHANNEL, "a");
    assert_int_equal(evaluate(at.store,
                              "redis.call('publish', 'a', 'no') "
                              "redis.call('set', KEYS[1], '1') "
                              "while true do end",
                              1, "k", text),
                     HF_SCRIPT);
    expect(at.store, "get k", "nil");
    expect(at.store, "publish a yes", "i:1");
    subscriber_expect_last(us, "a yes");
    subscriber_expect(us, 1, 0);
}

#define MIB (1u << 20)

static void publish_large(size_t size, const char *want)
{
    static char data[MIB + 1];
    char text[TEXT_SIZE];
    hf_bytes words[] = {hf_str("publish"), hf_str("a"), hf_view(data, size)};

    memset(data, 'x', sizeof(data));
    (void)perform(at.store, NULL, words, 3, 0, text);
    assert_string_equal(text, want);
}

TEST(long_messages_are_refused)
{
    char text[TEXT_SIZE];

    add(HF__CHANNEL, "a");
    publish_large(MIB - 1, "i:1");
    publish_large(MIB, "channel and message exceed 1 MiB");
    subscriber_expect(us, 1, 0);
    assert_int_equal(evaluate(at.store,
                              "for i = 1, 3 do local ok = "
                              "redis.pcall('publish', 'a', "
                              "string.rep('x', 1000000)) "
                              "if type(ok) == 'table' then "
                              "return i .. ok.err end end",
                              0, "", text),
                     HF_OK);
    assert_string_equal(text,
                        "s:3ERR messages of one transaction exceed 2 MiB");
    subscriber_expect(us, 3, 0);
}

TEST(slow_readers_notice_their_loss)
{
    add(HF__CHANNEL, "a");
    subscriber_hold(us, true);
    for (int i = 0; i < 10; i++)
        publish_large(MIB - 1, "i:1");
    subscriber_hold(us, false);
    subscriber_expect_loss(us);
    expect(at.store, "publish a again", "i:1");
    subscriber_expect_last(us, "a again");
}

TEST(dead_subscribers_do_not_count)
{
    int ready[2], outcome;
    pid_t child;
    char byte;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        subscriber *self = subscriber_open(at.url);

        (void)subscriber_add(self, HF__CHANNEL, hf_str("a"));
        (void)subscriber_add(self, HF__CHANNEL_PATTERN, hf_str("*"));
        (void)!write(ready[1], "", 1);
        (void)pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    expect(at.store, "publish a 1", "i:2");
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &outcome, 0), child);
    expect(at.store, "publish a 1", "i:0");
    expect(at.store, "pubsub numsub a", "[s:a, i:0]");
    add(HF__CHANNEL, "a");
    expect(at.store, "publish a 2", "i:1");
    subscriber_expect_last(us, "a 2");
    close(ready[0]);
    close(ready[1]);
}

/* What has no room in the table is received, too. */
TEST(unlisted_subscriptions_are_served)
{
    char pattern[HF__PATTERN_SIZE + 1];
    hf__subscribed one;

    memset(pattern, '*', sizeof(pattern));
    one = subscriber_add(us, HF__CHANNEL_PATTERN,
                         hf_view(pattern, sizeof(pattern)));
    assert_false(one.listed);
    expect(at.store, "publish a 1", "i:0");
    subscriber_expect(us, 1, 0);
    subscriber_remove(us, HF__CHANNEL_PATTERN,
                      hf_view(pattern, sizeof(pattern)), one);
    expect(at.store, "publish a 2", "i:0");
    add(HF__CHANNEL, "a");
    expect(at.store, "publish a 3", "i:1");
    subscriber_expect_last(us, "a 3");
    subscriber_expect(us, 2, 0);
}

/* Leave the notes from `from` on once more, as a writer does that is killed
 * after the commit of `txn`, or before it, and has not published them. */
static void leave_pending(uint64_t from, uint64_t txn)
{
    const hf__ring *ring = &us->env->rings[HF__RING_MESSAGES];
    uint64_t head = ring->head->head;

    for (uint64_t i = 0; i < head - from; i += sizeof(uint64_t))
        *hf__ring_word(ring, head + i) = *hf__ring_word(ring, from + i);
    ring->head->claimed = ring->head->pending_end = 2 * head - from;
    ring->head->pending_txn = txn;
    __atomic_store_n(&ring->head->pending, 1, __ATOMIC_SEQ_CST);
}

/* Nothing else is written meanwhile. */
TEST(what_a_killed_writer_committed_is_published)
{
    const hf__ring_head *head;
    int64_t until_ms = hf__clock_boot_ms() + 5000;
    MDB_envinfo info;
    uint64_t from;

    add(HF__CHANNEL, "a");
    head = us->env->rings[HF__RING_MESSAGES].head;
    from = head->head;
    expect(at.store, "set k v", "+:OK");
    expect(at.store, "publish a 1", "i:1");
    subscriber_expect(us, 1, 0);
    assert_int_equal(mdb_env_info(us->env->mdb, &info), MDB_SUCCESS);
    leave_pending(from, info.me_last_txnid + 1);
    while (__atomic_load_n(&head->pending, __ATOMIC_ACQUIRE) &&
           hf__clock_boot_ms() < until_ms)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    assert_int_equal(head->pending, 0);
    leave_pending(from, info.me_last_txnid);
    subscriber_expect(us, 2, 0);
    assert_int_equal(head->pending, 0);
    assert_int_equal(subscriber_received(us), 2);
}

/* In any order of subscribing and unsubscribing. */
TEST(many_channels_are_counted)
{
    static hf__subscribed all[HF__SUBSCRIPTION_MAX + 10];
    char line[64];

    for (uint32_t i = 0; i < HF__SUBSCRIPTION_MAX + 10; i++) {
        hf_bytes name = hf_view(&i, sizeof(i));

        all[i] = subscriber_add(us, HF__CHANNEL, name);
        assert_int_equal(all[i].listed, i < HF__SUBSCRIPTION_MAX);
    }
    for (uint32_t i = 0; i < HF__SUBSCRIPTION_MAX + 10; i++) {
        uint32_t which = (i ^ 21845) < HF__SUBSCRIPTION_MAX ? i ^ 21845 : i;

        subscriber_remove(us, HF__CHANNEL, hf_view(&which, sizeof(which)),
                          all[which]);
    }
    (void)snprintf(line, sizeof(line), "publish %s x", "abcd");
    expect(at.store, line, "i:0");
    (void)subscriber_add(us, HF__CHANNEL, hf_str("abcd"));
    expect(at.store, line, "i:1");
    subscriber_expect(us, 1, 0);
}
