/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_events_test.c - wake-ups through a real server, none of which is lost
 * when the subscription breaks.
 */
#include "redis_driver.h"

#include <pthread.h>
#include <stdio.h>

#include "store/events.h"
#include "support/slowness.h"

EACH_TEST_WITH(driver_set_up, driver_tear_down);

static uint32_t seq_of(driver_fixture *self, const char *topic)
{
    return self->driver.store->ops->event_seq(self->driver.store, hf_str(topic),
                                              hf__clock_boot_ms() + ENOUGH_MS);
}

static bool moved(driver_fixture *self, const char *topic, uint32_t seq,
                  int64_t wait_ms)
{
    return self->driver.store->ops->event_wait(
        self->driver.store, hf_str(topic), seq, hf__clock_boot_ms() + wait_ms);
}

/* Returns the number of subscribers. */
static int64_t send_by(driver_fixture *self, const char *verb,
                       const char *channel, const char *message)
{
    test_call call;
    int64_t listeners;

    RUN(&self->driver, &call, verb, channel, message);
    assert_status(&call, HF_OK);
    listeners = call.request.reply.integer;
    call_end(&call);
    return listeners;
}

/* What a script does to wake this client. */
static int64_t publish(driver_fixture *self, const char *topic)
{
    return send_by(self, "PUBLISH",
                   self->driver.store->ops->inbox(self->driver.store), topic);
}

TEST(inbox_ends_in_sixteen_hexadecimal_digits)
{
    driver_fixture *self = *state;
    const char *inbox = self->driver.store->ops->inbox(self->driver.store);

    assert_int_equal(strlen(inbox), 9 + 16);
    assert_memory_equal(inbox, "hf:inbox:", 9);
    assert_int_equal(strspn(inbox + 9, "0123456789abcdef"), 16);
}

TEST(no_subscription_until_events_are_used)
{
    driver_fixture *self = *state;

    assert_int_equal(publish(self, "t"), 0);
    seq_of(self, "t");
    assert_int_equal(publish(self, "t"), 1);
}

TEST(message_moves_its_topic)
{
    driver_fixture *self = *state;
    uint32_t seq = seq_of(self, "t");
    uint32_t other = seq_of(self, "another topic");

    assert_false(moved(self, "t", seq, 0));
    publish(self, "t");
    assert_true(moved(self, "t", seq, ENOUGH_MS));
    assert_int_not_equal(seq_of(self, "t"), seq);
    assert_int_equal(seq_of(self, "another topic"), other);
}

TEST(wait_without_message_ends_at_its_instant)
{
    driver_fixture *self = *state;
    uint32_t seq = seq_of(self, "t");
    int64_t begin_ms = hf__clock_boot_ms();

    assert_false(moved(self, "t", seq, 100));
    assert_took(hf__clock_boot_ms() - begin_ms, 99, 300);
}

static void hear(driver_fixture *self, const char *channel, bool sharded,
                 int64_t keep_ms)
{
    self->driver.store->ops->event_channel(self->driver.store, hf_str("t"),
                                           hf_str(channel), sharded, keep_ms);
}

/* Subscribing moves the counter. */
static void hear_by_now(driver_fixture *self, const char *channel, bool sharded)
{
    uint32_t seq = seq_of(self, "t");

    hear(self, channel, sharded, ENOUGH_MS);
    assert_true(moved(self, "t", seq, ENOUGH_MS));
}

static void await_listeners(driver_fixture *self, const char *verb,
                            const char *channel, int64_t count)
{
    int64_t end_ms = hf__clock_boot_ms() + ENOUGH_MS;

    while (send_by(self, verb, channel, "0") != count)
        assert_true(hf__clock_boot_ms() < end_ms);
}

TEST(message_on_a_channel_moves_the_topic_it_was_asked_for)
{
    static const char *const verbs[] = {"PUBLISH", "SPUBLISH"};
    driver_fixture *self = *state;

    for (int sharded = 0; sharded < 2; sharded++) {
        uint32_t seq;

        hear_by_now(self, "channel", sharded);
        seq = seq_of(self, "t");
        assert_int_equal(send_by(self, verbs[1 - sharded], "channel", "0"), 0);
        assert_int_equal(send_by(self, verbs[sharded], "channel", "0"), 1);
        assert_true(moved(self, "t", seq, ENOUGH_MS));
        hear(self, "channel", sharded, 0);
        await_listeners(self, verbs[sharded], "channel", 0);
    }
    assert_int_equal(publish(self, "t"), 1);
}

TEST(channels_are_subscribed_again_after_a_break)
{
    enum { COUNT = 200 }; /* more than are asked for at once */
    driver_fixture *self = *state;
    char name[24], answer[100];

    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "channel %d", i);
        hear(self, name, i % 2, ENOUGH_MS);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(name, sizeof(name), "channel %d", i);
            await_listeners(self, i % 2 ? "SPUBLISH" : "PUBLISH", name, 1);
        }
        assert_true(redis_server_command(
            self->server, "CLIENT KILL TYPE pubsub", answer, sizeof(answer)));
    }
}

TEST(channel_without_permission_leaves_the_inbox_alone)
{
    driver_fixture *self = *state;
    char answer[100];
    uint32_t seq;

    assert_true(redis_server_command(
        self->server, "ACL SETUSER default resetchannels &hf:inbox:*", answer,
        sizeof(answer)));
    (void)seq_of(self, "t");
    hear(self, "channel", false, ENOUGH_MS);
    hear(self, "another", true, ENOUGH_MS);
    for (int i = 0; i < 50; i++) {
        seq = seq_of(self, "t");
        assert_int_equal(publish(self, "t"), 1);
        assert_true(moved(self, "t", seq, ENOUGH_MS));
    }
    assert_true(redis_server_command(self->server,
                                     "ACL SETUSER default allchannels", answer,
                                     sizeof(answer)));
}

typedef struct waiter {
    driver_fixture *fixture;
    uint32_t seq;
    bool moved;
    pthread_t thread;
} waiter;

static void *run_waiter(void *user)
{
    waiter *self = user;

    self->moved = moved(self->fixture, "t", self->seq, ENOUGH_MS);
    return NULL;
}

TEST(message_wakes_every_waiter_of_its_topic)
{
    enum { COUNT = 8 };
    driver_fixture *self = *state;
    waiter waiters[COUNT];

    for (int i = 0; i < COUNT; i++) {
        waiters[i] = (waiter){.fixture = self, .seq = seq_of(self, "t")};
        assert_int_equal(
            pthread_create(&waiters[i].thread, NULL, run_waiter, &waiters[i]),
            0);
    }
    publish(self, "t");
    for (int i = 0; i < COUNT; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_true(waiters[i].moved);
    }
}

/* The subscription is killed after the counter was read; whatever is then
 * published, received or not, the counter moves. */
TEST(broken_subscription_loses_no_wake_up)
{
    driver_fixture *self = *state;
    char answer[100];

    for (int round = 0; round < 50; round++) {
        uint32_t seq = seq_of(self, "t");

        assert_true(redis_server_command(
            self->server, "CLIENT KILL TYPE pubsub", answer, sizeof(answer)));
        publish(self, "t");
        assert_true(moved(self, "t", seq, ENOUGH_MS));
    }
}

TEST(restarted_server_moves_every_topic)
{
    driver_fixture *self = *state;
    uint32_t seq = seq_of(self, "t");
    uint32_t other = seq_of(self, "other");

    assert_true(redis_server_restart(self->server));
    assert_true(moved(self, "t", seq, ENOUGH_MS));
    assert_true(moved(self, "other", other, ENOUGH_MS));
    /* While there is no subscription event_seq() does not wait for one. */
    for (int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;;) {
        seq = seq_of(self, "t");
        if (publish(self, "t") == 1)
            break;
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 10);
    }
    assert_true(moved(self, "t", seq, ENOUGH_MS));
}

/* A caller polls anyway: it must not wait for a server that is not there. */
TEST(dead_server_does_not_hold_up_event_seq)
{
    driver_fixture *self = *state;
    int64_t begin_ms;

    redis_server_kill(self->server);
    begin_ms = hf__clock_boot_ms();
    seq_of(self, "t");
    assert_in_time(hf__clock_boot_ms() - begin_ms, 1000);
}

TEST(hung_server_holds_up_event_seq_to_its_deadline)
{
    driver_fixture *self = *state;
    int64_t begin_ms = hf__clock_boot_ms();

    redis_server_pause(self->server);
    self->driver.store->ops->event_seq(self->driver.store, hf_str("t"),
                                       begin_ms + 100);
    assert_took(hf__clock_boot_ms() - begin_ms, 99, 300);
    redis_server_resume(self->server);
    seq_of(self, "t");
    assert_int_equal(publish(self, "t"), 1);
}

/* ----------------------------------------------------------------- watches */

typedef struct counting_watch {
    hf__watch watch;
    uint32_t count; /* futex */
} counting_watch;

static void count_move(hf__watch *watch)
{
    counting_watch *self = (counting_watch *)watch;

    __atomic_add_fetch(&self->count, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(&self->count, false);
}

static bool await_count(counting_watch *self, uint32_t count)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    uint32_t now;

    while ((now = __atomic_load_n(&self->count, __ATOMIC_SEQ_CST)) < count) {
        if (hf__clock_boot_ms() >= until_ms)
            return false;
        hf__futex_wait(&self->count, now, until_ms, false);
    }
    return true;
}

TEST(watch_is_called_until_it_is_removed)
{
    driver_fixture *self = *state;
    const hf__store_ops *ops = self->driver.store->ops;
    counting_watch first = {.watch = {.moved = count_move}};
    counting_watch second = {.watch = {.moved = count_move}};
    uint32_t before;

    assert_int_equal(
        ops->event_watch(self->driver.store, hf_str("t"), &first.watch, NULL),
        HF_OK);
    assert_int_equal(
        ops->event_watch(self->driver.store, hf_str("t"), &second.watch, NULL),
        HF_OK);
    seq_of(self, "t");
    before = __atomic_load_n(&second.count, __ATOMIC_SEQ_CST);
    publish(self, "t");
    assert_true(await_count(&second, before + 1));
    ops->event_unwatch(self->driver.store, &first.watch);
    before = first.count;
    publish(self, "t");
    publish(self, "t");
    assert_true(await_count(&second, 3));
    assert_int_equal(first.count, before);
    ops->event_unwatch(self->driver.store, &second.watch);
}

/* Counts the calls at which messages arrive: while they do not yet, it is
 * called from time to time. */
typedef struct listening_watch {
    counting_watch counting;
    hf__store *store;
} listening_watch;

static void note_listening(hf__watch *watch)
{
    listening_watch *self = (listening_watch *)(void *)watch;

    if (self->store->ops->event_listens(self->store, hf_str("t")))
        count_move(watch);
}

/* A waiter that looks again then may queue: a grant would reach it. */
TEST(watch_is_called_by_the_subscription_once_messages_arrive)
{
    driver_fixture *self = *state;
    hf__store *store = self->driver.store;
    listening_watch watch = {.counting.watch = {.moved = note_listening},
                             .store = store};

    assert_false(store->ops->event_listens(store, hf_str("t")));
    assert_int_equal(store->ops->event_watch(store, hf_str("t"),
                                             &watch.counting.watch, NULL),
                     HF_OK);
    seq_of(self, "t");
    assert_true(await_count(&watch.counting, 1));
    store->ops->event_unwatch(store, &watch.counting.watch);
}

/* One that removes another in its callback. */
typedef struct remover {
    counting_watch counting;
    hf__events *events;
    hf__watch *other;
} remover;

static void remove_other(hf__watch *watch)
{
    remover *self = (remover *)(void *)watch;

    self->counting.count++;
    hf__events_remove(self->events, self->other);
}

/* A callback may remove others, which are then not called any more. */
TEST_WITH(removed_watch_is_not_called, NULL, NULL)
{
    hf__events events;
    counting_watch watches[2];
    remover removers[2];

    hf__events_init(&events);
    memset(watches, 0, sizeof(watches));
    memset(removers, 0, sizeof(removers));
    /* The latest is called first: each removes the next one. */
    for (size_t i = 0; i < 2; i++) {
        watches[i].watch.moved = count_move;
        removers[i].counting.watch.moved = remove_other;
        removers[i].events = &events;
        removers[i].other = &watches[i].watch;
        hf__events_add(&events, &watches[i].watch);
        hf__events_add(&events, &removers[i].counting.watch);
    }
    hf__events_move_all(&events);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(watches[i].count, 0);
        assert_int_equal(removers[i].counting.count, 1);
    }
    /* Itself, and one that is already removed. */
    removers[1].other = &removers[1].counting.watch;
    hf__events_move_all(&events);
    hf__events_move_all(&events);
    assert_int_equal(removers[0].counting.count, 3);
    assert_int_equal(removers[1].counting.count, 2);
}

/* ------------------------------------------------------------ ping and pong */

enum { TURNS = 200 };

typedef struct player {
    driver_fixture *fixture;
    const char *mine;
    const char *theirs;
    bool serves;
    int lost;
    pthread_t thread;
} player;

/* Two threads wake each other alternately: one lost wake-up would stop both. */
static void *play(void *user)
{
    player *self = user;
    uint32_t seq = seq_of(self->fixture, self->mine);

    if (self->serves)
        publish(self->fixture, self->theirs);
    for (int turn = 0; turn < TURNS; turn++) {
        if (!moved(self->fixture, self->mine, seq, ENOUGH_MS)) {
            self->lost++;
            return NULL;
        }
        seq = seq_of(self->fixture, self->mine);
        publish(self->fixture, self->theirs);
    }
    return NULL;
}

TEST(no_wake_up_is_lost_in_a_long_exchange)
{
    driver_fixture *self = *state;
    player players[2] = {
        {.fixture = self, .mine = "ping", .theirs = "pong"},
        {.fixture = self, .mine = "pong", .theirs = "ping", .serves = true},
    };

    seq_of(self, "ping");
    assert_int_equal(
        pthread_create(&players[0].thread, NULL, play, &players[0]), 0);
    /* The first waiter must have read its counter. */
    hf__clock_sleep_until(hf__clock_boot_ms() + 100);
    assert_int_equal(
        pthread_create(&players[1].thread, NULL, play, &players[1]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(players[i].thread, NULL);
        assert_int_equal(players[i].lost, 0);
    }
}
