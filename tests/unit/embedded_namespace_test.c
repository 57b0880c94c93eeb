/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_namespace_test.c - processes of several PID namespaces, as in
 * containers that share a volume, use one store. Threads of two of them may
 * have the same number, by which the kernel knows the owner of a robust mutex.
 */
#include "embedded_store.h"

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

/* A process that is number 1 of a namespace of its own. */
typedef struct member {
    pid_t outer; /* its parent, which ends as it does */
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

static void hold_or_wait(int order_fd, int answer_fd)
{
    hf__env *env = hf__embedded_env(must_open(at.url, NULL));

    if (gettid() != 1)
        _exit(1);
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

static int run_outer(int order_fd, int answer_fd)
{
    int status;
    pid_t pid;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWPID) != 0 &&
        unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return NOT_ALLOWED;
    pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        hold_or_wait(order_fd, answer_fd);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* It has opened the store. */
static member start_member(void)
{
    int orders[2], answers[2], status;
    member self;

    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    self.outer = fork();
    if (self.outer == 0) {
        close(orders[1]);
        close(answers[0]);
        _exit(run_outer(orders[0], answers[1]));
    }
    close(orders[0]);
    close(answers[1]);
    self.order_fd = orders[1];
    self.answer_fd = answers[0];
    if (read(self.answer_fd, &status, 1) == 1)
        return self;
    assert_int_equal(await_child(self.outer, &status), self.outer);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED) {
        print_message("needs leave to make a namespace\n");
        skip();
    }
    fail_msg("a member ended: %d", status);
    return self;
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

static int end_member(const member *self)
{
    int status;

    assert_int_equal(await_child(self->outer, &status), self->outer);
    close(self->order_fd);
    close(self->answer_fd);
    return status;
}

static hf_status lock_here(int64_t wait_ms)
{
    hf__env *env = hf__embedded_env(at.store);
    hf_status status = hf__env_lock(env, hf__clock_boot_ms() + wait_ms, NULL);

    if (status == HF_OK)
        hf__env_unlock(env);
    return status;
}

TEST(killed_waiter_of_another_namespace_frees_no_lock)
{
    member holder, waiters[WAITERS];

    at.store = must_open(at.url, NULL);
    holder = start_member();
    for (size_t i = 0; i < WAITERS; i++)
        waiters[i] = start_member();
    give_order(&holder);
    await_answer(&holder);
    await_answer(&holder);
    for (size_t i = 0; i < WAITERS; i++) {
        give_order(&waiters[i]);
        await_answer(&waiters[i]);
        hf__clock_sleep_until(hf__clock_boot_ms() + 50); /* it waits */
        assert_int_equal(kill(waiters[i].outer, SIGKILL), 0);
        assert_int_equal(end_member(&waiters[i]), SIGKILL);
    }
    assert_int_equal(lock_here(200), HF_UNAVAILABLE);
    give_order(&holder);
    assert_int_equal(end_member(&holder), 0);
    assert_int_equal(lock_here(5000), HF_OK);
}
