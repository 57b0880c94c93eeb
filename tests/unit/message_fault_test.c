/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_fault_test.c - publishers that are killed: a message is received if
 * and only if its transaction was committed, once and in order.
 */
#include "embedded_store.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "subscriber.h"
#include "support/await_child.h"
#include "support/prng.h"

/* HF_TEST_KILLS is for long runs. */
#define KILLS 12

static place at;

/* LMDB commits by writing a meta page. */
static enum { ALIVE, BEFORE, AFTER } killed;

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data,
                                                      size_t size, off_t offset)
{
    bool is_meta = size < 512 && offset < 8192;
    ssize_t written;

    if (is_meta && killed == BEFORE)
        (void)raise(SIGKILL);
    written = syscall(SYS_pwrite64, fd, data, size, offset);
    if (is_meta && killed == AFTER)
        (void)raise(SIGKILL);
    return written;
}

static const char increment[] =
    "local n = redis.call('incr', KEYS[1]) "
    "return redis.call('publish', 'n', string.format('%d ', n))";

static pid_t start_publisher(void)
{
    char text[TEXT_SIZE];
    hf__store *store;
    pid_t child = fork();

    if (child != 0)
        return child;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    store = must_open(at.url, NULL);
    while (evaluate(store, increment, 1, "counter", text) == HF_OK) {
    }
    _exit(1);
}

static void wait_for_death(pid_t child)
{
    int outcome;

    assert_int_equal(await_child(child, &outcome), child);
    assert_true(WIFSIGNALED(outcome));
}

/* Each number is the last one and 1. */
static void check_number(subscriber *self, hf_bytes text)
{
    long number = subscriber_number(text);

    if (number != self->number + 1)
        fail_msg("%ld after %ld", number, self->number);
    self->number = number;
}

/* All that was committed was received, and no more. */
static void expect_all(subscriber *us)
{
    hf__store *store = must_open(at.url, NULL);
    char text[TEXT_SIZE], last[TEXT_SIZE];
    long counter;

    /* Until then what a killed writer committed may be invisible. */
    expect(store, "set other 1", "+:OK");
    (void)command(store, "get counter", text);
    counter = strtol(text + 2, NULL, 10);
    (void)snprintf(last, sizeof(last), "n %ld ", counter);
    if (counter > 0)
        subscriber_expect_last(us, last);
    assert_int_equal(subscriber_received(us), counter);
    close_store(store);
}

static void kill_at_random(const char *scheme)
{
    const char *long_run = getenv("HF_TEST_KILLS");
    long kills = long_run == NULL ? KILLS : strtol(long_run, NULL, 10);
    prng random = {.state = (uint64_t)getpid()};
    subscriber *us;

    make_place(&at, scheme, "");
    us = subscriber_open(at.url);
    subscriber_on_text(us, check_number);
    (void)subscriber_add(us, HF__CHANNEL, hf_str("n"));
    /* Until one did get somewhere. */
    for (long i = 0; i < kills || subscriber_received(us) == 0; i++) {
        pid_t child = start_publisher();

        usleep((useconds_t)(5000 + prng_below(&random, 10000)) * SLOWER);
        kill(child, SIGKILL);
        wait_for_death(child);
        expect_all(us);
    }
    subscriber_close(us);
    remove_place(&at);
}

TEST(killed_publishers_lose_and_invent_nothing)
{
    kill_at_random("volatile");
    kill_at_random("file");
}

static void kill_at_commit(int when)
{
    pid_t child = fork();
    char text[TEXT_SIZE];

    if (child == 0) {
        hf__store *store = must_open(at.url, NULL);

        killed = when;
        (void)evaluate(store, increment, 1, "counter", text);
        _exit(1);
    }
    wait_for_death(child);
}

TEST(killed_commits_publish_what_they_committed)
{
    subscriber *us;

    make_place(&at, "file", "");
    us = subscriber_open(at.url);
    subscriber_on_text(us, check_number);
    (void)subscriber_add(us, HF__CHANNEL, hf_str("n"));
    kill_at_commit(BEFORE);
    kill_at_commit(AFTER);
    /* The reader itself finds out. */
    subscriber_expect_last(us, "n 1 ");
    kill_at_commit(AFTER);
    kill_at_commit(BEFORE);
    subscriber_expect_last(us, "n 2 ");
    expect_all(us);
    subscriber_close(us);
    remove_place(&at);
}
