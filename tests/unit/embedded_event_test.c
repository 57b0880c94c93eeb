/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_event_test.c - events: none is lost between processes, watches are
 * called on the loop, no event of an undone transaction is delivered, and what
 * an event says is known.
 */
#include "embedded_store.h"
#include "engine/commit/tx.h"
#include "engine/files/files.h"
#include "engine/wake/wake.h"
#include "support/await_child.h"
#include "support/slowness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDOVERS 3000

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static hf_bytes topic(const char *text)
{
    return hf_view(text, strlen(text));
}

/* Wait until the number in `key` is `wanted`, woken by events only: there is
 * no other way out than a wake-up within 10 s. */
static bool wait_for_turn(hf__store *store, int side, int wanted)
{
    const hf__store_ops *ops = &hf__embedded_store_ops;
    char text[TEXT_SIZE], want[32], line[64];
    int64_t until_ms = hf__clock_boot_ms() + 10000;

    (void)snprintf(want, sizeof(want), "s:%d", wanted);
    (void)snprintf(line, sizeof(line), "get turn%d", side);
    for (;;) {
        uint32_t seq = ops->event_seq(store, topic("turn"), until_ms);

        if (command(store, line, text) != HF_OK)
            return false;
        if (strcmp(text, want) == 0)
            return true;
        if (!ops->event_wait(store, topic("turn"), seq, until_ms))
            return false;
    }
}

static bool give_turn(hf__store *store, int side, int number)
{
    char line[64], text[TEXT_SIZE];

    (void)snprintf(line, sizeof(line), "turn%d inbox%d %d", side, side, number);
    return evaluate(store,
                    "redis.call('set', KEYS[1], ARGV[1]) "
                    "return redis.call('publish', "
                    "redis.call('get', KEYS[2]), 'turn')",
                    2, line, text) == HF_OK &&
           strcmp(text, "i:1") == 0;
}

static void tell_inbox(hf__store *store, int side)
{
    char line[64];

    (void)snprintf(line, sizeof(line), "set inbox%d %s", side,
                   hf__embedded_store_ops.inbox(store));
    expect(store, line, "+:OK");
}

TEST(no_wake_up_is_lost_between_processes)
{
    int status;
    pid_t pid;

    tell_inbox(at.store, 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        hf__store *store = must_open(at.url, NULL);

        tell_inbox(store, 1);
        if (!give_turn(store, 0, 0))
            _exit(1);
        for (int i = 1; i <= HANDOVERS; i++) {
            if (!wait_for_turn(store, 1, i) || !give_turn(store, 0, i))
                _exit(2);
        }
        close_store(store);
        _exit(0);
    }
    assert_true(wait_for_turn(at.store, 0, 0));
    for (int i = 1; i <= HANDOVERS; i++) {
        assert_true(give_turn(at.store, 1, i));
        assert_true(wait_for_turn(at.store, 0, i));
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

TEST(wait_ends_at_its_time)
{
    const hf__store_ops *ops = &hf__embedded_store_ops;
    uint32_t seq = ops->event_seq(at.store, topic("t"), INT64_MAX);
    int64_t from_ms = hf__clock_boot_ms();

    assert_false(ops->event_wait(at.store, topic("t"), seq, from_ms + 30));
    assert_took(hf__clock_boot_ms() - from_ms, 29, 200);
    assert_false(ops->event_wait(at.store, topic("t"), seq, from_ms));
    assert_true(ops->event_wait(at.store, topic("t"), seq - 1, from_ms));
}

static void publish_self(const char *source_rest, hf_status want)
{
    char source[256], text[TEXT_SIZE];

    (void)snprintf(source, sizeof(source),
                   "redis.call('publish', ARGV[1], 't') %s", source_rest);
    assert_int_equal(evaluate(at.store, source, 0,
                              hf__embedded_store_ops.inbox(at.store), text),
                     want);
}

TEST(events_of_an_undone_script_are_not_told)
{
    const hf__store_ops *ops = &hf__embedded_store_ops;
    uint32_t seq = ops->event_seq(at.store, topic("t"), INT64_MAX);

    publish_self("while true do end", HF_SCRIPT);
    assert_int_equal(ops->event_seq(at.store, topic("t"), INT64_MAX), seq);
    /* An error undoes nothing, so its events are delivered. */
    publish_self("error('x')", HF_SCRIPT);
    assert_int_equal(ops->event_seq(at.store, topic("t"), INT64_MAX), seq + 1);
    publish_self("", HF_OK);
    assert_int_equal(ops->event_seq(at.store, topic("t"), INT64_MAX), seq + 2);
    publish_self("for i = 1, 99 do redis.call('publish', "
                 "ARGV[1], 't') end",
                 HF_OK);
    assert_int_equal(ops->event_seq(at.store, topic("t"), INT64_MAX),
                     seq + 102);
}

/* Topics that share a counter of the inbox, which one in 1024 pairs does, are
 * woken together. */
static void name_apart(const char *inbox, char name[16])
{
    const char *id = inbox + strlen("hf:inbox:");
    int number = 0;

    do
        (void)snprintf(name, 16, "b%d", number++);
    while (hf__wake_bucket(id, topic(name)) == hf__wake_bucket(id, topic("a")));
}

/* -------------------------------------------------------- what an event says
 */

static hf_status say_then(hf__store *store, const char *said, const char *name,
                          const char *rest)
{
    char source[256], line[512], text[TEXT_SIZE];

    (void)snprintf(
        source, sizeof(source),
        "redis.call('publish', ARGV[1], ARGV[2] .. '\\0' .. ARGV[3]) "
        "%s",
        rest);
    (void)snprintf(line, sizeof(line), "%s %s %s",
                   hf__embedded_store_ops.inbox(at.store), said, name);
    return evaluate(store, source, 0, line, text);
}

static void say(const char *said, const char *name)
{
    assert_int_equal(say_then(at.store, said, name, ""), HF_OK);
}

static void say_in_a_child(const char *said, const char *name)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        hf__store *store = must_open(at.url, NULL);
        hf_status said_status = say_then(store, said, name, "");

        close_store(store);
        _exit(said_status == HF_OK ? 0 : 1);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

static void expect_said(const char *name, const char *want)
{
    char text[HF__STORE_TEXT_MAX + 1];
    size_t size =
        hf__embedded_store_ops.event_text(at.store, topic(name), text);

    text[size] = '\0';
    assert_string_equal(text, want);
}

TEST(what_the_last_event_said_is_known)
{
    char longest[HF__STORE_TEXT_MAX + 1] = {0}, longer[sizeof(longest) + 1];
    char other[16];

    memset(longest, 'x', HF__STORE_TEXT_MAX);
    (void)snprintf(longer, sizeof(longer), "%sx", longest);
    name_apart(hf__embedded_store_ops.inbox(at.store), other);
    expect_said("a", "");
    say_in_a_child("one", "a");
    expect_said("a", "one");
    expect_said(other, "");
    say("two", other);
    expect_said(other, "two");
    expect_said("a", "one");
    say(longest, "a");
    expect_said("a", longest);
    say(longer, "a");
    expect_said("a", longest);
    say("\"\"", "a");
    expect_said("a", longest);
    say("three", "a");
    expect_said("a", "three");
}

TEST(what_an_undone_event_would_say_is_not_known)
{
    say("one", "a");
    assert_int_equal(say_then(at.store, "two", "a", "while true do end"),
                     HF_SCRIPT);
    expect_said("a", "one");
    say("three", "b");
    expect_said("a", "one");
}

TEST(text_that_is_being_written_is_not_known)
{
    hf__env *env = hf__embedded_env(at.store);
    const char *id = hf__embedded_store_ops.inbox(at.store);
    uint32_t bucket = hf__wake_bucket(id + strlen("hf:inbox:"), topic("a"));
    hf__event_text *text = &env->sidecar.map->texts[bucket];

    say("one", "a");
    text->version++; /* by one that was killed */
    expect_said("a", "");
    say("two", "a");
    expect_said("a", "two");
    text->size = HF__STORE_TEXT_MAX + 1;
    expect_said("a", "");
}

TEST(many_events_of_a_transaction_may_say_something)
{
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at.store,
                              "for i = 1, 99 do redis.call('publish', ARGV[1], "
                              "'text' .. i .. '\\0a') end",
                              0, hf__embedded_store_ops.inbox(at.store), text),
                     HF_OK);
    expect_said("a", "text16");
}

/* ------------------------------------------------------------------ watches */

typedef struct bell {
    hf__watch watch;
    pthread_mutex_t lock;
    pthread_cond_t rang;
    int count;
} bell;

static void ring(hf__watch *watch)
{
    bell *self = (bell *)(void *)watch;

    pthread_mutex_lock(&self->lock);
    self->count++;
    pthread_cond_signal(&self->rang);
    pthread_mutex_unlock(&self->lock);
}

/* Wait until it rang `count` times; false: not within 5 s. */
static bool rang(bell *self, int count)
{
    int64_t until_ms = hf__clock_boot_ms() + 5000;
    bool done;

    do {
        pthread_mutex_lock(&self->lock);
        done = self->count >= count;
        pthread_mutex_unlock(&self->lock);
        if (!done)
            hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    } while (!done && hf__clock_boot_ms() < until_ms);
    return done;
}

static void publish_from_child(const char *inbox, const char *name)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        hf__store *store = must_open(at.url, NULL);
        char line[96];

        (void)snprintf(line, sizeof(line), "publish %s %s", inbox, name);
        expect(store, line, "i:1");
        close_store(store);
        _exit(0);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

TEST(watches_are_called_on_the_loop)
{
    const hf__store_ops *ops = &hf__embedded_store_ops;
    bell bells[2] = {{{ring, NULL, 0},
                      PTHREAD_MUTEX_INITIALIZER,
                      PTHREAD_COND_INITIALIZER,
                      0},
                     {{ring, NULL, 0},
                      PTHREAD_MUTEX_INITIALIZER,
                      PTHREAD_COND_INITIALIZER,
                      0}};
    hf_error err = HF_ERROR_INIT;
    hf__loop *loop = hf__loop_new();
    hf__store *store = must_open(at.url, loop);
    const char *inbox = ops->inbox(store);
    char path[128], other[16];

    name_apart(inbox, other);
    assert_false(hf__loop_started(loop));
    assert_int_equal(ops->event_watch(store, topic("a"), &bells[0].watch, &err),
                     HF_OK);
    assert_int_equal(
        ops->event_watch(store, topic(other), &bells[1].watch, &err), HF_OK);
    publish_from_child(inbox, "a");
    assert_true(rang(&bells[0], 1));
    publish_from_child(inbox, other);
    assert_true(rang(&bells[1], 1));
    assert_int_equal(bells[0].count, 1);
    ops->event_unwatch(store, &bells[0].watch);
    publish_from_child(inbox, "a");
    publish_from_child(inbox, other);
    assert_true(rang(&bells[1], 2));
    assert_int_equal(bells[0].count, 1);
    (void)snprintf(path, sizeof(path), "%s/s/wake/%s", at.folder,
                   inbox + strlen("hf:inbox:"));
    assert_int_equal(access(path, F_OK), 0);
    ops->event_unwatch(store, &bells[1].watch);
    close_store(store);
    assert_int_equal(access(path, F_OK), -1);
    hf__loop_free(loop);
}

/* The FIFO of a process that was killed is removed by the next one. */
TEST(stale_fifos_are_removed)
{
    const hf__store_ops *ops = &hf__embedded_store_ops;
    hf__loop *loop = hf__loop_new();
    hf__store *store = must_open(at.url, loop);
    bell one = {{ring, NULL, 0},
                PTHREAD_MUTEX_INITIALIZER,
                PTHREAD_COND_INITIALIZER,
                0};
    hf_error err = HF_ERROR_INIT;
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/s/wake", at.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/s/wake/00000000000000ff", at.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(ops->event_watch(store, topic("a"), &one.watch, &err),
                     HF_OK);
    assert_int_equal(access(path, F_OK), -1);
    ops->event_unwatch(store, &one.watch);
    close_store(store);
    hf__loop_free(loop);
}

/* As one is that is killed while it opens the store, until it is gone. */
static pid_t lock_inboxes(int first, int count)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = first,
                         .l_len = count};
    char path[PATH_MAX], byte = 0;
    int ready[2];
    pid_t pid;

    (void)snprintf(path, sizeof(path), "%s/s/" HF__FILE_SIDECAR, at.folder);
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int fd = open(path, O_RDWR);

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], &byte, 1) != 1)
            _exit(1);
        (void)pause();
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(close(ready[0]), 0);
    return pid;
}

TEST(inboxes_of_the_dying_are_left_out)
{
    pid_t pid = lock_inboxes(1, 9);
    hf__store *store = must_open(at.url, NULL);
    const char *inbox = hf__embedded_store_ops.inbox(store);
    int status;

    assert_string_equal(inbox + strlen(inbox) - 3, "00a");
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(await_child(pid, &status), pid);
    close_store(store);
}
