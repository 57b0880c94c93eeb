/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the parts of `holdfast run`.
 *
 *   cmd_run.c      reads the plan, goes through the phases, gives the code
 *   run_signals.c  signals come in through a descriptor; none has a handler
 *   run_guard.c    a second process that kills the command if we cannot
 *   run_lease.c    the lock, acquired on a thread so that signals get through
 *   run_child.c    the command in its own process group
 *   run_tty.c      who owns the terminal
 *   run_watch.c    the loop while the command runs
 *
 * Time runs like this, V being the instant at which the lock's validity ends:
 *
 *   acquired ... renewed ... lost is told, TERM    KILL   guard's KILL   V
 *                            V - margin            V - margin/3
 *                                                         V - margin/5
 */
#ifndef HOLDFAST_CLI_RUN_H
#define HOLDFAST_CLI_RUN_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd.h"
#include "holdfast.h"

/* ------------------------------------------------------------------- plan */

/* What the command line asks for. */
struct run_plan {
    const struct call *call;
    const char *name;    /* of the lock */
    const char *store;   /* URL the command gets in HOLDFAST_STORE */
    int64_t ttl_ms;      /* of the lease */
    int64_t wait_ms;     /* 0: try once; HF_FOREVER */
    int64_t max_hold_ms; /* 0: no limit */
    uint32_t permits;    /* of a semaphore; 0: NAME is a lock */
    int64_t margin_ms;   /* the loss is told this long before V */
    enum on_lost on_lost;
    int conflict_code;
    bool verbose;
    char **argv; /* the command, NULL behind the last word */
    char *shell_argv[4];
};

/* Milliseconds of CLOCK_BOOTTIME, the clock of the lock's validity. */
int64_t run_now_ms(void);

/* ---------------------------------------------------------------- signals */

struct signals {
    int fd;                        /* readable: signals_next() has one */
    sigset_t original;             /* the mask we were started with */
    struct sigaction child_action; /* SIGCHLD as we were started with */
};

/*
 * Block what shall reach the command and have it come through `fd`. A signal
 * that is ignored when we start (nohup) stays ignored, for the command too.
 */
int signals_open(struct signals *signals);

/* The next signal that came; 0: none. Never blocks. */
int signals_next(const struct signals *signals);

/* Would this signal end a process that does nothing about it? */
bool signals_is_end(int signal);

/* End as if we had never blocked `signal`: the shell sees 128+signal. */
_Noreturn void signals_die(int signal);

/* Stop as Ctrl-Z does, the whole job if `job`; false: nobody could continue
 * us (an orphaned group), so we went on. */
bool signals_stop(bool job);

/* ------------------------------------------------------------------ guard */

struct guard {
    pid_t pid; /* 0: there is none */
    int fd;
};

/* Start the guard; call it while the process has one thread. */
int guard_start(struct guard *guard);

/* From now on: kill group `pgid` at `deadline_ms`, or if we die. */
void guard_tell(const struct guard *guard, pid_t pgid, int64_t deadline_ms);

/* True if somebody else has killed the guard; one that fired ends by itself. */
bool guard_was_killed(const struct guard *guard);

/* End the guard; it kills nobody after this has returned. */
void guard_end(struct guard *guard);

/* ------------------------------------------------------------------ lease */

struct lease {
    const struct run_plan *plan;
    hf_client *client;
    hf_lock *lock;
    int done_fd;      /* readable: the acquisition has ended */
    int cancel_fd;    /* readable: it is to be given up */
    int lost_fd;      /* readable: the lock was lost */
    atomic_int lost;  /* hf_status why; HF_OK: not lost */
    hf_status status; /* of the acquisition */
    hf_error err;     /* of the acquisition */
    pthread_t thread;
};

/* Begin to acquire, on a thread of its own. */
int lease_begin(struct lease *lease, const struct run_plan *plan);

/* Has the acquisition ended? */
bool lease_is_done(const struct lease *lease);

/* Wait for the end of the acquisition, which must be near. */
void lease_join(struct lease *lease);

/* Give up the acquisition, and whatever it came to; a short time at most. */
void lease_cancel(struct lease *lease);

/* Why the lock is not held any more; HF_OK: it is. */
hf_status lease_lost(const struct lease *lease);

/* Instant at which validity ends unless renewed, margin included. */
int64_t lease_valid_until_ms(const struct lease *lease);

/* Release the lock; then lease_close() frees what is left. */
hf_status lease_release(struct lease *lease, hf_error *err);
void lease_close(struct lease *lease);

/* ------------------------------------------------------------------ child */

struct child {
    pid_t pid; /* also the id of its process group */
    int fd;    /* to let it go, and to learn why it could not be executed */
};

/* Fork; the child waits for child_go() before it executes the command. */
int child_start(struct child *child, const struct lease *lease,
                const struct signals *signals);
void child_go(const struct child *child);

/* Signal the whole group. Only before child_reap(). */
void child_signal(const struct child *child, int signal);

enum child_state { CHILD_RUNS, CHILD_STOPPED, CHILD_ENDED };

/* What the child has done; `stop_signal` is set for CHILD_STOPPED. Each stop
 * is told once, the end as often as asked. */
enum child_state child_look(const struct child *child, int *stop_signal);

/* Collect the ended child: its exit code as a shell sees it. `signal` is what
 * ended it, or 0. */
int child_reap(struct child *child, const char *command, int *signal);

/* -------------------------------------------------------------------- tty */

struct tty {
    int fd;   /* the controlling terminal; -1: none */
    pid_t to; /* the group we gave it to; 0: we did not */
    bool was_given;
};

void tty_open(struct tty *tty);

/* Make `pgid` the foreground group; false unless it is ours to give. */
bool tty_give(struct tty *tty, pid_t pgid);

/* Take it back, unless somebody else has it now. */
void tty_take(struct tty *tty);

/* Shall the command have the terminal from the start? */
bool tty_is_interactive(void);

void tty_close(struct tty *tty);

/* ------------------------------------------------------------------ watch */

/* The loop's view of the parts; they belong to cmd_run.c. */
struct watch {
    const struct run_plan *plan;
    const struct signals *signals;
    const struct guard *guard;
    const struct lease *lease;
    const struct child *child;
    struct tty *tty;
    hf_status lost; /* why; HF_OK: the lock was held until the child ended */
};

/* Run until the child has ended, and its group too if the lock was lost. */
void watch_child(struct watch *watch);

#endif
