/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - signals as a descriptor.
 *
 * No handler is installed, and the command starts with the dispositions that
 * we were started with. Only that of SIGCHLD is changed meanwhile: if it were
 * ignored there would be no child to wait for. SIGTTOU is blocked so that we
 * can move the terminal from the background, SIGPIPE so that a closed stderr
 * does not end the holder of a lock.
 */
#include "run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"

/* Forwarded to the command. */
static const int passed_on[] = {
    SIGHUP,  SIGINT,  SIGTERM,  SIGQUIT, SIGUSR1,
    SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP,
};

static bool is_ignored(int signal)
{
    struct sigaction action;

    return sigaction(signal, NULL, &action) == 0 &&
           action.sa_handler == SIG_IGN;
}

int signals_open(struct signals *signals)
{
    struct sigaction plain;
    sigset_t received;
    sigset_t blocked;
    size_t i;

    memset(&plain, 0, sizeof(plain));
    plain.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &plain, &signals->child_action);
    sigemptyset(&received);
    sigaddset(&received, SIGCHLD);
    for (i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        if (!is_ignored(passed_on[i]))
            sigaddset(&received, passed_on[i]);
    blocked = received;
    sigaddset(&blocked, SIGTTOU);
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, &signals->original);
    signals->fd = signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->fd < 0) {
        complain(run_verb, "signalfd: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    return EXIT_YES;
}

void signals_close(const struct signals *signals)
{
    close(signals->fd);
    sigaction(SIGCHLD, &signals->child_action, NULL);
    sigprocmask(SIG_SETMASK, &signals->original, NULL);
}

int signals_next(const struct signals *signals)
{
    struct signalfd_siginfo info;
    ssize_t got = read(signals->fd, &info, sizeof(info));

    return got == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

bool signals_is_end(int signal)
{
    return signal != SIGCHLD && signal != SIGCONT && signal != SIGWINCH &&
           signal != SIGTSTP;
}

static void unblock_signal(int signal, sigset_t *before)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, before);
}

void signals_die(int signal)
{
    kill(getpid(), signal);
    unblock_signal(signal, NULL);
    _exit(EXIT_SIGNAL + signal);
}

static bool is_pending(int signal)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

bool signals_stop(bool job)
{
    sigset_t before;

    /* Continued before we stopped: SIGTSTP would discard the SIGCONT, and we
     * would stay stopped. */
    if (is_pending(SIGCONT))
        return true;
    kill(job ? 0 : getpid(), SIGTSTP);
    unblock_signal(SIGTSTP, &before);
    /* Stopped here, until SIGCONT. */
    sigprocmask(SIG_SETMASK, &before, NULL);
    return is_pending(SIGCONT);
}
