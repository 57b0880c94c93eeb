/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_test.c - the background thread, its tasks and its alarm.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/await_child.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/futex.h"
#include "util/loop.h"

/* A loaded machine may wake us late; never early. */
#define LATE_MS 5000

static int set_up(void **state)
{
    *state = hf__loop_new();
    return *state == NULL ? -1 : 0;
}

static int set_up_started(void **state)
{
    return set_up(state) == 0 && hf__loop_start(*state, NULL) == HF_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    hf__loop_free(*state);
    return 0;
}

EACH_TEST_WITH(set_up_started, tear_down);

#define IDLE_TEST(name) TEST_WITH(name, set_up, tear_down)

static size_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;

    assert_non_null(tasks);
    while (readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count - 2; /* "." and ".." */
}

/* A thread that was joined may stay in the list for a moment. */
static void await_threads(size_t count)
{
    int64_t until_ms = hf__clock_boot_ms() + LATE_MS;

    while (count_threads() > count && hf__clock_boot_ms() < until_ms)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    assert_int_equal(count_threads(), count);
}

/* ThreadSanitizer starts its own thread with the first one. */
static size_t count_threads_after_a_first_one(void)
{
    hf__loop *loop = hf__loop_new();
    size_t count;

    assert_int_equal(hf__loop_start(loop, NULL), HF_OK);
    count = count_threads() - 1;
    hf__loop_free(loop);
    await_threads(count);
    return count;
}

IDLE_TEST(loop_has_no_thread_until_it_is_started)
{
    size_t before = count_threads_after_a_first_one();

    assert_false(hf__loop_started(*state));
    assert_int_equal(hf__loop_start(*state, NULL), HF_OK);
    assert_true(hf__loop_started(*state));
    assert_int_equal(count_threads(), before + 1);
    assert_int_equal(hf__loop_start(*state, NULL), HF_OK);
    assert_int_equal(count_threads(), before + 1);
}

static void *start(void *user)
{
    return (void *)(uintptr_t)hf__loop_start(user, NULL);
}

IDLE_TEST(loop_starts_once_for_all_threads)
{
    enum { COUNT = 8 };
    size_t before = count_threads_after_a_first_one();
    pthread_t threads[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start, *state), 0);
    for (size_t i = 0; i < COUNT; i++) {
        void *status;

        pthread_join(threads[i], &status);
        assert_int_equal((uintptr_t)status, HF_OK);
    }
    await_threads(before + 1);
}

/* A task that appends its number to a list. */
typedef struct numbered_task {
    hf__task task;
    struct run_journal *journal;
    size_t number;
} numbered_task;

typedef struct run_journal {
    size_t count;
    size_t numbers[4000];
} run_journal;

static void note(hf__task *task)
{
    numbered_task *self = (numbered_task *)task;

    self->journal->numbers[self->journal->count++] = self->number;
}

TEST(loop_runs_tasks_in_the_order_of_posting)
{
    enum { COUNT = 100 };
    static numbered_task tasks[COUNT];
    static run_journal journal;
    numbered_task last = {{note, NULL}, &journal, COUNT};

    journal.count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        tasks[i] = (numbered_task){{note, NULL}, &journal, i};
        hf__loop_post(*state, &tasks[i].task);
    }
    hf__loop_call(*state, &last.task);
    assert_int_equal(journal.count, COUNT + 1);
    for (size_t i = 0; i <= COUNT; i++)
        assert_int_equal(journal.numbers[i], i);
}

typedef struct where_task {
    hf__task task;
    hf__loop *loop;
    bool here;
    sigset_t blocked;
} where_task;

static void find_where(hf__task *task)
{
    where_task *self = (where_task *)task;

    self->here = hf__loop_here(self->loop);
    pthread_sigmask(SIG_BLOCK, NULL, &self->blocked);
}

TEST(loop_call_runs_on_the_loop_thread_with_signals_blocked)
{
    where_task where = {.task.run = find_where, .loop = *state};

    assert_false(hf__loop_here(*state));
    hf__loop_call(*state, &where.task);
    assert_true(where.here);
    assert_true(sigismember(&where.blocked, SIGTERM));
    assert_true(sigismember(&where.blocked, SIGPIPE));
    assert_true(sigismember(&where.blocked, SIGCHLD));
}

IDLE_TEST(loop_start_leaves_the_caller_s_signals_alone)
{
    sigset_t before, after;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    assert_int_equal(hf__loop_start(*state, NULL), HF_OK);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&before, SIGTERM),
                     sigismember(&after, SIGTERM));
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

typedef struct chain_task {
    hf__task task;
    hf__loop *loop;
    int left;
} chain_task;

static void post_again(hf__task *task)
{
    chain_task *self = (chain_task *)task;

    if (--self->left > 0)
        hf__loop_post(self->loop, task);
}

TEST_WITH(loop_free_runs_what_was_posted, NULL, NULL)
{
    enum { COUNT = 1000 };
    static numbered_task tasks[COUNT];
    static run_journal journal;
    hf__loop *loop = hf__loop_new();
    chain_task chain = {{post_again, NULL}, loop, 50};

    journal.count = 0;
    assert_int_equal(hf__loop_start(loop, NULL), HF_OK);
    hf__loop_post(loop, &chain.task);
    for (size_t i = 0; i < COUNT; i++) {
        tasks[i] = (numbered_task){{note, NULL}, &journal, i};
        hf__loop_post(loop, &tasks[i].task);
    }
    hf__loop_free(loop);
    assert_int_equal(journal.count, COUNT);
    assert_int_equal(chain.left, 0);
}

TEST_WITH(loop_free_of_nothing_is_allowed, NULL, NULL)
{
    hf__loop_free(NULL);
    hf__loop_free(hf__loop_new());
}

enum { POSTERS = 4, POSTS = 1000 };

typedef struct post_thread {
    hf__loop *loop;
    size_t first;
    numbered_task tasks[POSTS];
} post_thread;

static void *post_many(void *user)
{
    post_thread *self = user;

    for (size_t i = 0; i < POSTS; i++) {
        self->tasks[i].number = self->first + i;
        hf__loop_post(self->loop, &self->tasks[i].task);
    }
    return NULL;
}

TEST_WITH(loop_keeps_each_thread_s_order, NULL, NULL)
{
    static post_thread posters[POSTERS];
    static run_journal journal;
    pthread_t threads[POSTERS];
    size_t next[POSTERS] = {0};
    hf__loop *loop = hf__loop_new();

    journal.count = 0;
    assert_int_equal(hf__loop_start(loop, NULL), HF_OK);
    for (size_t p = 0; p < POSTERS; p++) {
        posters[p].loop = loop;
        posters[p].first = p * POSTS;
        for (size_t i = 0; i < POSTS; i++)
            posters[p].tasks[i] = (numbered_task){{note, NULL}, &journal, 0};
        assert_int_equal(
            pthread_create(&threads[p], NULL, post_many, &posters[p]), 0);
    }
    for (size_t p = 0; p < POSTERS; p++)
        pthread_join(threads[p], NULL);
    hf__loop_free(loop);
    assert_int_equal(journal.count, POSTERS * POSTS);
    for (size_t i = 0; i < journal.count; i++) {
        size_t p = journal.numbers[i] / POSTS;

        assert_int_equal(journal.numbers[i], p * POSTS + next[p]++);
    }
}

static void *call_many(void *user)
{
    post_thread *self = user;

    for (size_t i = 0; i < POSTS; i++) {
        size_t before = self->tasks[i].journal->count;

        hf__loop_call(self->loop, &self->tasks[i].task);
        assert_true(self->tasks[i].journal->count > before);
    }
    return NULL;
}

/* Freeing right after the call returned must not collide with the loop that is
 * still waking us. */
TEST_WITH(loop_can_be_freed_right_after_a_call, NULL, NULL)
{
    static run_journal journal;
    static post_thread poster;

    journal.count = 0;
    poster.loop = hf__loop_new();
    assert_int_equal(hf__loop_start(poster.loop, NULL), HF_OK);
    for (size_t i = 0; i < POSTS; i++)
        poster.tasks[i] = (numbered_task){{note, NULL}, &journal, 0};
    call_many(&poster);
    hf__loop_free(poster.loop);
    assert_int_equal(journal.count, POSTS);
}

TEST(loop_of_the_parent_is_refused_in_a_child)
{
    int child_status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        hf_status status = hf__loop_start(*state, NULL);

        hf__loop_free(*state); /* must not wait for a thread that it does not
                                * have */
        _exit(status == HF_INVALID ? 0 : 1);
    }
    assert_int_equal(await_child(child, &child_status), child);
    assert_int_equal(child_status, 0);
}

/* ------------------------------------------------------------------- alarm */

typedef struct test_bell {
    hf__loop *loop;
    hf__alarm *alarm;
    uint32_t rings; /* a futex */
    int64_t rang_ms;
    bool here;
} test_bell;

static void ring(void *user)
{
    test_bell *self = user;

    self->rang_ms = hf__clock_boot_ms();
    self->here = hf__loop_here(self->loop);
    __atomic_add_fetch(&self->rings, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->rings, false);
}

static uint32_t rings_of(test_bell *bell)
{
    return __atomic_load_n(&bell->rings, __ATOMIC_ACQUIRE);
}

static void await_ring(test_bell *bell, uint32_t count)
{
    int64_t until_ms = hf__clock_boot_ms() + LATE_MS;
    uint32_t seen;

    while ((seen = rings_of(bell)) < count && hf__clock_boot_ms() < until_ms)
        hf__futex_wait(&bell->rings, seen, until_ms, false);
    assert_int_equal(rings_of(bell), count);
}

static test_bell *make_bell(hf__loop *loop)
{
    static test_bell bell;

    memset(&bell, 0, sizeof(bell));
    bell.loop = loop;
    assert_int_equal(hf__alarm_new(loop, ring, &bell, &bell.alarm, NULL),
                     HF_OK);
    return &bell;
}

TEST(alarm_rings_once_at_its_instant)
{
    test_bell *bell = make_bell(*state);
    int64_t at_ms = hf__clock_boot_ms() + 30;

    hf__alarm_set(bell->alarm, at_ms);
    await_ring(bell, 1);
    assert_in_range(bell->rang_ms, at_ms, at_ms + LATE_MS);
    assert_true(bell->here);
    hf__alarm_set(bell->alarm, at_ms + 60);
    await_ring(bell, 2);
    hf__alarm_free(bell->alarm);
    assert_int_equal(rings_of(bell), 2);
}

TEST(alarm_of_a_past_instant_rings_at_once)
{
    static const int64_t past_ms[] = {1, 0, -1, INT64_MIN};
    test_bell *bell = make_bell(*state);

    for (uint32_t i = 0; i < 4; i++) {
        hf__alarm_set(bell->alarm, past_ms[i]);
        await_ring(bell, i + 1);
    }
    hf__alarm_free(bell->alarm);
}

/* Sets an alarm to a past instant and at once to another one. On the loop
 * thread, so that the loop cannot notice the first in between. */
typedef struct resetter {
    hf__task task;
    hf__alarm *alarm;
    int64_t at_ms;
} resetter;

static void set_twice(hf__task *task)
{
    resetter *self = (resetter *)task;

    hf__alarm_set(self->alarm, 1);
    hf__alarm_set(self->alarm, self->at_ms);
}

static void do_nothing(hf__task *task)
{
    (void)task;
}

TEST(alarm_put_off_does_not_ring_at_the_old_instant)
{
    test_bell *bell = make_bell(*state);
    int64_t at_ms = hf__clock_boot_ms() + 30;
    resetter reset = {{set_twice, NULL}, bell->alarm, at_ms};

    hf__loop_call(*state, &reset.task);
    await_ring(bell, 1);
    assert_true(bell->rang_ms >= at_ms);
    hf__alarm_free(bell->alarm);
}

TEST(alarm_set_to_never_is_silent)
{
    test_bell *bell = make_bell(*state);
    resetter reset = {{set_twice, NULL}, bell->alarm, INT64_MAX};
    hf__task turn = {do_nothing, NULL};

    hf__loop_call(*state, &reset.task);
    /* Iterations of the loop in which it would ring. */
    for (int i = 0; i < 3; i++)
        hf__loop_call(*state, &turn);
    hf__alarm_free(bell->alarm);
    assert_int_equal(rings_of(bell), 0);
}

TEST(alarm_of_the_far_future_is_silent)
{
    test_bell *bell = make_bell(*state);
    hf__task turn = {do_nothing, NULL};

    hf__alarm_set(bell->alarm, hf__clock_boot_ms() + 3600000);
    hf__loop_call(*state, &turn);
    hf__alarm_set(bell->alarm, INT64_MAX - 1);
    hf__loop_call(*state, &turn);
    hf__alarm_free(bell->alarm);
    assert_int_equal(rings_of(bell), 0);
}

TEST(alarm_freed_while_it_rings_rings_no_more)
{
    for (int i = 0; i < 200; i++) {
        test_bell *bell = make_bell(*state);
        uint32_t rings;

        hf__alarm_set(bell->alarm, 1);
        hf__alarm_free(bell->alarm);
        rings = rings_of(bell);
        assert_true(rings <= 1);
    }
}

TEST(alarm_of_the_parent_can_be_freed_in_a_child)
{
    test_bell *bell = make_bell(*state);
    int child_status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        hf__alarm_free(bell->alarm);
        hf__loop_free(*state);
        _exit(0);
    }
    assert_int_equal(await_child(child, &child_status), child);
    assert_int_equal(child_status, 0);
    /* The parent's still works. */
    hf__alarm_set(bell->alarm, 1);
    await_ring(bell, 1);
    hf__alarm_free(bell->alarm);
}

/* Occupies the loop thread until `made` is set, for a while at most. */
typedef struct keeper {
    hf__task task;
    uint32_t kept;
    uint32_t made;
    bool seen;
} keeper;

static void keep(hf__task *task)
{
    keeper *self = (keeper *)task;
    int64_t until_ms = hf__clock_boot_ms() + LATE_MS;

    __atomic_store_n(&self->kept, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(&self->kept, false);
    while (__atomic_load_n(&self->made, __ATOMIC_SEQ_CST) == 0 &&
           hf__clock_boot_ms() < until_ms)
        hf__futex_wait(&self->made, 0, until_ms, false);
    self->seen = __atomic_load_n(&self->made, __ATOMIC_SEQ_CST) == 1;
}

/* Its creator may hold a mutex that the loop thread waits for. */
TEST(alarm_is_made_while_the_loop_is_kept)
{
    keeper self = {.task.run = keep};
    test_bell *bell;

    hf__loop_post(*state, &self.task);
    while (__atomic_load_n(&self.kept, __ATOMIC_SEQ_CST) == 0)
        hf__futex_wait(&self.kept, 0, INT64_MAX, false);
    bell = make_bell(*state);
    __atomic_store_n(&self.made, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(&self.made, false);
    hf__alarm_set(bell->alarm, 1);
    await_ring(bell, 1);
    assert_true(self.seen);
    hf__alarm_free(bell->alarm);
}
