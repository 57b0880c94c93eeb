/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentry.c - a process that kills the command when holdfast cannot.
 *
 * 1. It is forked before the store is opened, so it has no threads, locks or
 *    connections; it makes only system calls.
 * 2. It has a session and a name of its own, and all signals blocked: neither
 *    Ctrl-C, nor a signal to the job, nor `killall holdfast` reaches it.
 * 3. Over a socket we send it the command's group and the instant of
 *    CLOCK_BOOTTIME by which that group must have ended. Each renewal of the
 *    lock moves the instant.
 * 4. It kills the group at end of file, when we died (kill -9), and when the
 *    instant passes, as we are stopped, frozen or starved. In both cases
 *    before another owner can be granted the lock.
 * 5. We end it with SIGKILL before we reap the command, so it can never kill a
 *    group whose id was reused.
 *
 * The id of a group is not reused while the group has a member. Step 4 checks
 * that it is not another process's, in case we died, init reaped the leader,
 * and the group had no other member.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"

/* A message to the guard. */
struct order {
    int64_t deadline_ms;
    pid_t pgid;
};

/* The guard's own state. */
struct sentry {
    struct order order; /* pgid 0: nothing to kill yet */
    int leader_fd; /* pidfd of the group's leader; -1: the kernel has none */
    int timer_fd;
};

/* The caller's descriptors would keep its pipes open after our death. */
static void keep_only(int fd)
{
    dup2(fd, 0);
    if (syscall(SYS_close_range, 1U, UINT_MAX, 0U) != 0) {
        int limit = (int)sysconf(_SC_OPEN_MAX);
        int other;

        for (other = 1; other < limit; other++)
            close(other);
    }
}

static void set_timer(const struct sentry *sentry)
{
    struct itimerspec when;

    memset(&when, 0, sizeof(when));
    when.it_value.tv_sec = sentry->order.deadline_ms / 1000;
    when.it_value.tv_nsec = sentry->order.deadline_ms % 1000 * 1000000;
    timerfd_settime(sentry->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* False if the leader was reaped and its id belongs to a new process. */
static bool is_still_ours(const struct sentry *sentry)
{
    if (sentry->leader_fd >= 0 &&
        syscall(SYS_pidfd_send_signal, sentry->leader_fd, 0, NULL, 0U) == 0)
        return true;
    return kill(sentry->order.pgid, 0) != 0 && errno == ESRCH;
}

static _Noreturn void kill_group(const struct sentry *sentry)
{
    if (sentry->order.pgid > 0 && is_still_ours(sentry))
        kill(-sentry->order.pgid, SIGKILL);
    _exit(EXIT_YES);
}

static void obey_order(struct sentry *sentry, const struct order *order)
{
    if (sentry->order.pgid == 0)
        sentry->leader_fd = (int)syscall(SYS_pidfd_open, order->pgid, 0U);
    sentry->order = *order;
    set_timer(sentry);
}

/* Read the latest order; fires at end of file, and at anything invalid. */
static void listen_once(struct sentry *sentry)
{
    struct order order;
    ssize_t got = recv(0, &order, sizeof(order), MSG_TRUNC);

    if (got == (ssize_t)sizeof(order))
        obey_order(sentry, &order);
    else if (got >= 0 || errno != EINTR)
        kill_group(sentry);
}

static _Noreturn void stand_guard(int fd)
{
    struct sentry sentry = {{0, 0}, -1, -1};
    struct pollfd watched[2] = {{0, POLLIN, 0}, {-1, POLLIN, 0}};

    setsid();
    prctl(PR_SET_NAME, "hf-guard");
    keep_only(fd);
    (void)!chdir("/"); /* do not prevent an unmount */
    sentry.timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    watched[1].fd = sentry.timer_fd;
    for (;;) {
        if (poll(watched, 2, -1) < 0)
            continue;
        /* A newer deadline may be waiting to be read. */
        if (watched[0].revents != 0)
            listen_once(&sentry);
        else if (watched[1].revents != 0)
            kill_group(&sentry);
    }
}

int guard_start(struct guard *guard)
{
    int pair[2];
    sigset_t all;
    sigset_t before;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        complain(run_verb, "socketpair: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    guard->pid = fork();
    if (guard->pid == 0) {
        close(pair[0]);
        stand_guard(pair[1]);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    guard->fd = pair[0];
    if (guard->pid < 0) {
        complain(run_verb, "fork: %s", strerror(errno));
        guard->pid = 0;
        close(guard->fd);
        return EXIT_SYSTEM;
    }
    return EXIT_YES;
}

void guard_update(const struct guard *guard, pid_t pgid, int64_t deadline_ms)
{
    struct order order;

    if (guard->pid == 0)
        return;
    memset(&order, 0, sizeof(order));
    order.deadline_ms = deadline_ms > 0 ? deadline_ms : 1;
    order.pgid = pgid;
    /* If the guard does not read, it fires early, which is safe. */
    (void)send(guard->fd, &order, sizeof(order), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool guard_was_killed(const struct guard *guard)
{
    siginfo_t info;

    info.si_pid = 0;
    return guard->pid > 0 &&
           waitid(P_PID, (id_t)guard->pid, &info,
                  WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == guard->pid && info.si_code != CLD_EXITED;
}

void guard_end(struct guard *guard)
{
    if (guard->pid == 0)
        return;
    kill(guard->pid, SIGKILL);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    close(guard->fd);
    guard->pid = 0;
}
