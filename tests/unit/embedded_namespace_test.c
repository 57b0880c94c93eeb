/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_namespace_test.c - processes of several PID namespaces, as in
 * containers that share a volume, use one store. Threads of two of them may
 * have the same number, by which the kernel knows the owner of a robust mutex.
 */
#include "embedded_store.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "engine/commit/env.h"
#include "support/await_child.h"

#define NOT_ALLOWED 77
#define WAITERS 5

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "?max_size=4M");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* A process that is number 1 of a namespace of its own, or 2 of another's. */
typedef struct member {
    pid_t outer; /* its parent, which ends as it does */
    pid_t inner;
    int order_fd, answer_fd;
} member;

/* Wait for an order, or for the end of the test. */
static void await_order(int fd)
{
    char byte;

    if (read(fd, &byte, 1) != 1)
        _exit(1);
}

static void answer(int fd)
{
    if (write(fd, "", 1) != 1)
        _exit(1);
}

static void hold_or_wait(int order_fd, int answer_fd, bool is_first)
{
    hf__env *env;

    if (is_first && gettid() != 1)
        _exit(1);
    await_order(order_fd);
    env = hf__embedded_env(must_open(at.url, NULL));
    answer(answer_fd);
    await_order(order_fd);
    answer(answer_fd);
    if (hf__env_lock(env, hf__clock_boot_ms() + 60000, NULL) != HF_OK)
        _exit(2);
    answer(answer_fd);
    await_order(order_fd);
    hf__env_unlock(env);
    _exit(0);
}

static bool join_one(const member *host, const char *kind)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)host->inner,
                   kind);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && setns(fd, 0) == 0;
}

/* Children of this process get the namespace of `host`; NULL: a new one. */
static bool leave_namespace(const member *host)
{
    if (host == NULL)
        return unshare(CLONE_NEWPID) == 0 ||
               unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
    (void)join_one(host, "user"); /* fails if it is ours */
    return join_one(host, "pid");
}

static int run_outer(int order_fd, int answer_fd, const member *host)
{
    int status;
    pid_t pid;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!leave_namespace(host))
        return NOT_ALLOWED;
    pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        hold_or_wait(order_fd, answer_fd, host == NULL);
    }
    if (pid < 0 || write(answer_fd, &pid, sizeof(pid)) != sizeof(pid) ||
        waitpid(pid, &status, 0) != pid)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void give_order(const member *self)
{
    assert_int_equal(write(self->order_fd, "", 1), 1);
}

static void await_answer(const member *self)
{
    char byte;

    assert_int_equal(read(self->answer_fd, &byte, 1), 1);
}

/* It has not yet opened the store. */
static member start_member(const member *host)
{
    int orders[2], answers[2], status;
    member self;

    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    self.outer = fork();
    if (self.outer == 0) {
        close(orders[1]);
        close(answers[0]);
        _exit(run_outer(orders[0], answers[1], host));
    }
    close(orders[0]);
    close(answers[1]);
    self.order_fd = orders[1];
    self.answer_fd = answers[0];
    if (read(self.answer_fd, &self.inner, sizeof(self.inner)) ==
        sizeof(self.inner))
        return self;
    assert_int_equal(await_child(self.outer, &status), self.outer);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED) {
        print_message("needs leave to make a namespace\n");
        skip();
    }
    fail_msg("a member ended: %d", status);
    return self;
}

static member start_user(const member *host)
{
    member self = start_member(host);

    give_order(&self);
    await_answer(&self);
    return self;
}

static void let_lock(const member *self)
{
    give_order(self);
    await_answer(self);
    await_answer(self);
}

static int end_member(const member *self)
{
    int status;

    assert_int_equal(await_child(self->outer, &status), self->outer);
    close(self->order_fd);
    close(self->answer_fd);
    return status;
}

static void wait_a_moment(void)
{
    hf__clock_sleep_until(hf__clock_boot_ms() + 50);
}

/* Is it free, and was it unlocked by its last holder? */
static bool lock_here(int64_t wait_ms)
{
    hf__env *env = hf__embedded_env(at.store);
    bool died;

    if (!hf__sidecar_lock(&env->sidecar, hf__clock_boot_ms() + wait_ms, &died))
        return false;
    if (died)
        hf__sidecar_lock_mended(&env->sidecar);
    hf__env_unlock(env);
    assert_false(died);
    return true;
}

TEST(killed_waiter_of_another_namespace_frees_no_lock)
{
    member holder, waiters[WAITERS];

    at.store = must_open(at.url, NULL);
    holder = start_user(NULL);
    for (size_t i = 0; i < WAITERS; i++)
        waiters[i] = start_user(NULL);
    let_lock(&holder);
    for (size_t i = 0; i < WAITERS; i++) {
        give_order(&waiters[i]);
        await_answer(&waiters[i]);
        wait_a_moment(); /* it waits */
        assert_int_equal(kill(waiters[i].outer, SIGKILL), 0);
        assert_int_equal(end_member(&waiters[i]), SIGKILL);
    }
    assert_false(lock_here(200));
    give_order(&holder);
    assert_int_equal(end_member(&holder), 0);
    assert_true(lock_here(5000));
}

/* It waits in the mutex, as all do while the store is open in one namespace. */
TEST(waiter_that_was_stopped_before_frees_no_lock)
{
    member waiter = start_user(NULL);
    member earlier = start_user(&waiter);
    member holder = start_member(NULL);

    let_lock(&earlier);
    give_order(&waiter);
    await_answer(&waiter);
    wait_a_moment();
    assert_int_equal(kill(waiter.inner, SIGSTOP), 0);
    give_order(&holder); /* it opens the store */
    wait_a_moment();
    wait_a_moment();
    give_order(&earlier);
    assert_int_equal(end_member(&earlier), 0);
    await_answer(&holder);
    at.store = must_open(at.url, NULL);
    let_lock(&holder);
    assert_int_equal(kill(waiter.inner, SIGKILL), 0);
    assert_int_not_equal(end_member(&waiter), 0);
    assert_false(lock_here(200));
    give_order(&holder);
    assert_int_equal(end_member(&holder), 0);
    assert_true(lock_here(5000));
}
