/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the parts of `holdfast run`.
 *
 *   run_plan.c    what the command line asks for
 *   run_phases.c  the phases, the exit code
 *   signals.c     signals are read from a descriptor; none has a handler
 *   sentry.c      a second process that kills the command if we cannot
 *   run_lease.c   the lock, acquired on a thread, so that signals are handled
 *   child.c       the command in its own process group
 *   tty.c         who owns the terminal
 *   child_loop.c  the loop while the command runs
 *   run_once.c    the result of a command that is run once
 *   child_output.c  what it writes
 *   run_jobs.c    a command for each job of a queue
 *   run_slots.c   several of these at a time
 *
 * The order of events; V is the instant at which the lock's validity ends:
 *
 *   acquired ... renewed ... loss known, TERM      KILL   guard's KILL   V
 *                            V - margin            V - margin/3
 *                                                         V - margin/5
 */
#ifndef HOLDFAST_CLI_RUN_RUN_H
#define HOLDFAST_CLI_RUN_RUN_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/redisson.h"
#include "holdfast/together.h"

/* ------------------------------------------------------------------- plan */

/* "run", "lead", "once" or "queue work", for messages. */
extern const char *run_verb;

/* The command line. */
struct run_plan {
    const struct call *call;
    const char *name; /* of the lock, or of all, with blanks between them */
    char **names;     /* of each */
    size_t name_count;
    const char *what;    /* it is: "lock", "lead of" */
    const char *text;    /* of a candidate; NULL: the name is of a lock */
    const char *store;   /* URL the command gets in HOLDFAST_STORE */
    int64_t ttl_ms;      /* of the lease */
    int64_t wait_ms;     /* 0: try once; HF_FOREVER */
    int64_t max_hold_ms; /* 0: no limit */
    uint32_t priority;
    int64_t min_hold_ms;
    int64_t delay_ms;
    int64_t permits;                /* of a semaphore; 0: NAME is a lock */
    bool shared;                    /* acquire it for reading */
    bool redisson;                  /* it is a lock of Redisson ... */
    hf_redisson_kind redisson_kind; /* ... of this kind */
    int64_t margin_ms;              /* a loss is reported this long before V */
    enum on_lost on_lost;
    int conflict_code;
    bool verbose;
    bool quiet;
    bool says_holder; /* while it waits */
    bool once;        /* end when the lead is lost */
    bool claims;      /* the name is of work that is done once ... */
    hf_once_options claim;
    bool retries;     /* ... and may be done again after a status but 0 */
    bool takes_jobs;  /* the name is of a work queue ... */
    int64_t slots;    /* ... of which so many jobs are worked on at a time */
    int64_t jobs_max; /* end after so many; 0: no limit */
    int64_t attempts; /* of a job; 0: as it says */
    int64_t backoff_ms;
    int64_t backoff_max_ms;
    char **argv; /* the command, NULL after the last word */
    char *shell_argv[4];
};

/* Make it of the command line. An exit code. */
int plan_make(struct run_plan *plan, const struct call *call);

/* The lock's holder is described by the command, unless the user says. */
void plan_describe(const struct run_plan *plan, struct call *call);

/* --dry-run: print what would be run, and whether the locks are free now. An
 * exit code. */
int plan_show(const struct run_plan *plan);

/* ---------------------------------------------------------------- signals */

struct signals {
    int fd;                        /* readable: signals_next() has one */
    sigset_t original;             /* the mask we were started with */
    struct sigaction child_action; /* SIGCHLD as we were started with */
};

/*
 * Block the signals for the command; `fd` receives them. A signal that is
 * ignored when we start (nohup) remains ignored, by the command too.
 */
int signals_open(struct signals *signals);
/* As before: in a process that was forked since. */
void signals_close(const struct signals *signals);

/* The next pending signal; 0: none. Never blocks. */
int signals_next(const struct signals *signals);

/* Does this signal end a process by default? */
bool signals_is_end(int signal);

/* End by `signal`: the shell sees 128+signal. */
_Noreturn void signals_die(int signal);

/* Stop as by Ctrl-Z, the whole job if `job`. False: not stopped, as no shell
 * could continue us (an orphaned group). */
bool signals_stop(bool job);

/* ------------------------------------------------------------------ guard */

struct guard {
    pid_t pid; /* 0: there is none */
    int fd;
};

/* Start the guard; call it while the process has one thread. */
int guard_start(struct guard *guard);

/* From now on: kill group `pgid` at `deadline_ms`, or if we die. */
void guard_update(const struct guard *guard, pid_t pgid, int64_t deadline_ms);

/* True if the guard was killed by another process. */
bool guard_was_killed(const struct guard *guard);

/* End the guard; afterwards it kills nothing. */
void guard_end(struct guard *guard);

/* ------------------------------------------------------------------ lease */

struct lease {
    const struct run_plan *plan;
    hf_client *client;
    hf_lock *locks[HF_LOCK_ALL_MAX];
    size_t count;
    /* How the job that the handle has, if any, ends with the next acquire. */
    hf_queue_outcome outcome;
    int64_t delay_ms; /* ... and how long it is delayed */
    bool ends_job;    /* there is one */
    int done_fd;      /* readable: the acquisition has ended */
    int cancel_fd;    /* readable: give it up */
    int lost_fd;      /* readable: the lock was lost */
    atomic_int lost;  /* hf_status why; HF_OK: not lost */
    hf_status status; /* of the acquisition */
    hf_error err;     /* of the acquisition */
    pthread_t thread;
};

/* Begin to acquire, on a thread. */
int lease_begin(struct lease *lease, const struct run_plan *plan);

/* The same after a loss, or after a job. */
int lease_begin_again(struct lease *lease);

/* Has the acquisition ended? */
bool lease_is_done(const struct lease *lease);

/* Wait for the acquisition, which has ended. */
void lease_join(struct lease *lease);

/* Give up the acquisition, or the lock; takes a short time at most. */
void lease_cancel(struct lease *lease);

/* Why the lock was lost; HF_OK: it is held. */
hf_status lease_lost(const struct lease *lease);

/* Instant at which validity ends unless renewed, margin included. */
int64_t lease_valid_until_ms(const struct lease *lease);

/* What the command gets in HOLDFAST_TOKEN and _OWNER: of each lock, with blanks
 * between them. To be freed; NULL: no memory. */
char *lease_tokens(const struct lease *lease);
char *lease_owners(const struct lease *lease);

/* Release the lock; then lease_close() frees what is left. */
hf_status lease_release(struct lease *lease, hf_error *err);
void lease_close(struct lease *lease);

/* ------------------------------------------------------------------ child */

struct child {
    pid_t pid; /* also the id of its process group */
    int fd;    /* for the errno of exec */
};

/* How the child is started. */
struct child_plan {
    const struct lease *lease;
    const struct signals *signals;
    const struct guard *guard;
    int64_t deadline_ms; /* for the guard */
    int tty_fd;          /* the terminal that it gets; -1: none */
    int input_fd;        /* its standard input; -1: ours */
    int output_fd;       /* its standard output; -1: ours */
};

/* Execute the command as a child, which leads a group that the guard knows. */
int child_start(struct child *child, const struct child_plan *plan);

/* Signal the whole group. Only before child_reap(). */
void child_signal(const struct child *child, int signal);

/* Has it ended? It is not reaped. */
bool child_has_ended(const struct child *child);

enum child_state { CHILD_RUNS, CHILD_STOPPED, CHILD_ENDED };

/* The state of the child; `stop_signal` is set for CHILD_STOPPED, which is
 * returned once for each stop. */
enum child_state child_look(const struct child *child, int *stop_signal);

/* Reap the child: its exit code as a shell has it. `signal` is what ended it,
 * or 0. */
int child_reap(struct child *child, const char *command, int *signal);

/* ----------------------------------------------------------------- output */

/* Of a command that is run once. */
struct child_output {
    int from_fd; /* read from it; -1: nothing more comes, or it is ours */
    int to_fd;   /* for the command; -1: it has ours */
    char *bytes;
    size_t size, room;
    int failed; /* errno: not all is in `bytes` */
};

int output_open(struct child_output *output);

/* The command has its end. */
void output_given(struct child_output *output);

/* Keep what it has written, or a part of that. Never blocks. */
void output_take(struct child_output *output);

/* ------------------------------------------------------------------- once */

/* The command line of `once`. An exit code. */
int once_plan(struct run_plan *plan, const struct options *options);

struct run;

/* Open what the command has as its standard input and output. An exit code. */
int once_streams(struct run *run);

/* The command has ended with `code`: store that and its output, or give the
 * claim back, or do neither, and print the output. An exit code: in doubt it is
 * not 0. */
int once_end(const struct lease *lease, const struct child_output *output,
             int code, bool in_doubt);

/* The work was not claimed: the exit code; -1: as another claim is held, or by
 * an error that the caller reports. */
int once_unclaimed(const struct lease *lease);

/* --show and --delete. */
int once_look(const struct call *call);

/* -------------------------------------------------------------------- tty */

struct tty {
    int fd;   /* the controlling terminal; -1: none */
    pid_t to; /* the group that got it; 0: none */
    bool was_given;
};

void tty_open(struct tty *tty);

/* Is our group in the foreground, so that we may give the terminal away? */
bool tty_is_ours(const struct tty *tty);

/* Make `pgid` the foreground group; false unless we are. */
bool tty_give(struct tty *tty, pid_t pgid);

/* Group `pgid` has made itself the foreground group. */
void tty_was_taken(struct tty *tty, pid_t pgid);

/* Take it back, unless another group has it now. */
void tty_take(struct tty *tty);

/* Does the command get the terminal at the start? */
bool tty_is_interactive(void);

void tty_close(struct tty *tty);

/* ------------------------------------------------------------------ watch */

/* The loop's view of the parts; they belong to run_phases.c. */
struct watch {
    const struct run_plan *plan;
    const struct signals *signals;
    const struct guard *guard;
    const struct lease *lease;
    const struct child *child;
    struct child_output *output;
    struct tty *tty;
    hf_status lost;  /* why; HF_OK: the lock was held until the child ended */
    int told_to_end; /* by INT, QUIT, TERM; of work also by HUP; 0: not */
    bool loss_told;  /* as the lock was lost, when it had not ended */
};

/* Run until the child has ended, and its group too if the lock was lost. */
void watch_child(struct watch *watch);

/* ----------------------------------------------------------------- phases */

/* All parts of a run, in the order in which they start. */
struct run {
    struct run_plan plan;
    struct signals signals;
    struct guard guard;
    struct lease lease;
    struct child child;
    struct child_output output; /* of a command that is run once */
    struct tty tty;
    int64_t began_ms;
    int64_t waited_ms;
    hf_status lost;     /* HF_OK: not lost while the command ran */
    int input_fd;       /* of a job; -1: the command has ours */
    int end_signal;     /* what ended the command; 0: it ended by itself */
    int told_to_end;    /* the signal; 0: it was not */
    bool loss_told;     /* the command was asked to end as the lock was lost */
    bool command_began; /* the last time that the lock was acquired */
};

/* Begin to acquire again, behind a guard of its own. An exit code. */
int run_begin_again(struct run *run);

/* Until the acquire has ended: 0; or until a signal that ends us, which is
 * returned: the acquire was cancelled, and the lease cannot be used, or closed,
 * any more. */
int run_wait(struct run *run);

/* Pause, less if a signal comes; one that ends us is returned, or 0. */
int run_pause(struct run *run, int pause_ms);

/* The lock was not acquired: report why. An exit code. */
int run_refused(const struct run *run);

/* Start the command and watch it until it ends; its exit code. */
int run_command(struct run *run);

/* run, lead, once, queue work. */
int run_call(struct call *call);

/* ------------------------------------------------------------------- jobs */

/* The command line of `queue work`. An exit code. */
int jobs_plan(struct run_plan *plan, const struct options *options);

/* Run the command for each job; the acquire of the first has begun. An exit
 * code. */
int jobs_run(struct run *run);

/* True in a process that is to work; false, with its exit code, in one that has
 * started and watched such processes. Call it while the process has one
 * thread. */
bool slots_begin(const struct run_plan *plan, int *code);

#endif
