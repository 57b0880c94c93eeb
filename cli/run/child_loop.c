/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_loop.c - the loop while the command runs.
 *
 * It sleeps in poll() until a signal, the loss of the lock, or the next check
 * of the lease. If the command is stopped we stop too, so that the shell
 * prompts; when we are continued, we continue the command. If it needs the
 * terminal and we are to keep that, it is asked to end.
 */
#include "run/run.h"

#include <poll.h>

#include "complain.h"
#include "lease_clock.h"

/* Even if the lease is long, so that after a suspend the guard soon learns of
 * a renewal. */
#define LOOK_MAX_MS INT64_C(5000)

/* After the command has ended, for its output: without any, and in all. */
#define SILENCE_MS 300
#define OUTPUT_MAX_MS INT64_C(1000)

enum phase {
    PHASE_HELD,   /* the lock is held */
    PHASE_ENDING, /* lost; the command was asked to end */
    PHASE_KILLED, /* lost; its group was killed */
    PHASE_WARNED  /* lost; the command continues (--on-lost warn) */
};

struct loop {
    struct watch *watch;
    enum phase phase;
    int64_t valid_until_ms; /* as the guard knows it */
    int64_t kill_at_ms;     /* in PHASE_ENDING */
    bool guard_missed;      /* its death was reported */
    bool tty_refused;       /* the command was asked to end for it */
};

static const char *reason_text(hf_status reason)
{
    switch ((int)reason) {
    case HF_LOST:
        return "taken by another owner";
    case HF_EXPIRED:
        return "lease expired, or broken by another user (holdfast lock "
               "break)";
    case HF_TIMEOUT:
        return "--max-hold passed";
    default:
        return "could not be renewed in time";
    }
}

static void update_guard(const struct loop *loop)
{
    guard_update(loop->watch->guard, loop->watch->child->pid,
                 loop->valid_until_ms - loop->watch->plan->margin_ms / 5);
}

static void kill_group(struct loop *loop)
{
    child_signal(loop->watch->child, SIGKILL);
    loop->phase = PHASE_KILLED;
}

/* A stopped command gets only SIGKILL before it is continued. */
static void ask_to_end(const struct loop *loop, int signal)
{
    child_signal(loop->watch->child, signal);
    child_signal(loop->watch->child, SIGCONT);
}

static void begin_ending(struct loop *loop)
{
    int64_t margin_ms = loop->watch->plan->margin_ms;
    int64_t latest_ms = now_ms() + margin_ms;

    /* A lock that was taken away is not valid any more. */
    if (loop->valid_until_ms > latest_ms) {
        loop->valid_until_ms = latest_ms;
        update_guard(loop);
    }
    loop->kill_at_ms = loop->valid_until_ms - margin_ms / 3;
    loop->phase = PHASE_ENDING;
    ask_to_end(loop, SIGTERM);
}

static void handle_loss(struct loop *loop, hf_status reason)
{
    static const char *const what[] = {
        [ON_LOST_TERM] = "ending the command",
        [ON_LOST_KILL] = "killing the command",
        [ON_LOST_WARN] = "the command continues",
    };
    const struct run_plan *plan = loop->watch->plan;

    loop->watch->lost = reason;
    loop->watch->loss_told =
        plan->on_lost != ON_LOST_WARN && !child_has_ended(loop->watch->child);
    /* The command first: a message may block on a full pipe. */
    switch (plan->on_lost) {
    case ON_LOST_TERM:
        begin_ending(loop);
        break;
    case ON_LOST_KILL:
        kill_group(loop);
        break;
    case ON_LOST_WARN:
        loop->phase = PHASE_WARNED;
        break;
    }
    complain(run_verb, "%s \"%s\" lost: %s; %s", plan->what, plan->name,
             reason_text(reason), what[plan->on_lost]);
}

static void follow_renewals(struct loop *loop)
{
    int64_t valid_until_ms = lease_valid_until_ms(loop->watch->lease);

    if (valid_until_ms <= loop->valid_until_ms)
        return;
    loop->valid_until_ms = valid_until_ms;
    update_guard(loop);
}

static void look_at_lease(struct loop *loop)
{
    hf_status reason;

    if (loop->phase == PHASE_ENDING && now_ms() >= loop->kill_at_ms)
        kill_group(loop);
    if (loop->phase != PHASE_HELD)
        return;
    reason = lease_lost(loop->watch->lease);
    if (reason != HF_OK)
        handle_loss(loop, reason);
    else
        follow_renewals(loop);
}

static void look_at_guard(struct loop *loop)
{
    if (loop->phase == PHASE_HELD && !loop->guard_missed &&
        guard_was_killed(loop->watch->guard)) {
        loop->guard_missed = true;
        complain(run_verb,
                 "the guard process was killed: if holdfast is killed "
                 "too, the command will continue");
    }
}

/* The command needs the terminal that we keep, so it would stop again whenever
 * it is continued. */
static void refuse_tty(struct loop *loop)
{
    struct watch *watch = loop->watch;
    bool again = loop->tty_refused;

    loop->tty_refused = true;
    if (watch->told_to_end == 0)
        watch->told_to_end = SIGTERM;
    ask_to_end(loop, again ? SIGKILL : SIGTERM);
    complain(run_verb,
             "the command needs the terminal, which it does not get; %s it",
             again ? "killing" : "ending");
}

/* The command stopped. Stop too if the reason is the terminal. */
static void follow_stop(struct loop *loop, int stop_signal)
{
    struct watch *watch = loop->watch;
    bool wants_tty = stop_signal == SIGTTIN || stop_signal == SIGTTOU;
    bool had_tty = watch->tty->to != 0;

    if (wants_tty && (watch->plan->claims || watch->plan->takes_jobs)) {
        refuse_tty(loop);
        return;
    }
    if (wants_tty && tty_give(watch->tty, watch->child->pid)) {
        child_signal(watch->child, SIGCONT);
        return;
    }
    if (!had_tty && !wants_tty && stop_signal != SIGTSTP)
        return;
    tty_take(watch->tty);
    if (!signals_stop(watch->tty->fd >= 0) && had_tty) {
        /* We cannot stop, as no shell would continue us. */
        tty_give(watch->tty, watch->child->pid);
        child_signal(watch->child, SIGCONT);
    } else if (had_tty) {
        tty_give(watch->tty, watch->child->pid);
    }
}

/* False once the child has ended. */
static bool look_at_child(struct loop *loop)
{
    int stop_signal = 0;

    switch (child_look(loop->watch->child, &stop_signal)) {
    case CHILD_RUNS:
        return true;
    case CHILD_STOPPED:
        follow_stop(loop, stop_signal);
        return true;
    case CHILD_ENDED:
        break;
    }
    return false;
}

static void pass_signals_on(struct loop *loop)
{
    const struct run_plan *plan = loop->watch->plan;
    int signal;

    while ((signal = signals_next(loop->watch->signals)) != 0) {
        if (signal == SIGINT || signal == SIGQUIT || signal == SIGTERM ||
            (signal == SIGHUP && (plan->claims || plan->takes_jobs))) {
            loop->watch->told_to_end = signal;
            ask_to_end(loop, signal);
        } else if (signal == SIGCHLD) {
            look_at_guard(loop);
        } else {
            child_signal(loop->watch->child, signal);
        }
    }
}

static int next_look_ms(const struct loop *loop)
{
    int64_t wait_ms = loop->watch->plan->ttl_ms / 6;

    if (loop->phase == PHASE_ENDING) {
        wait_ms = loop->kill_at_ms - now_ms();
        return wait_ms > 0 ? (int)wait_ms : 0;
    }
    if (loop->phase != PHASE_HELD)
        return -1;
    return (int)(wait_ms < LOOK_MAX_MS ? wait_ms : LOOK_MAX_MS);
}

/* Handle what has happened; false once the command has ended. The child is
 * last: the others may have ended it, and no further signal would come. */
static bool handle_events(struct loop *loop)
{
    output_take(loop->watch->output);
    pass_signals_on(loop);
    look_at_lease(loop);
    return look_at_child(loop) || loop->phase == PHASE_ENDING;
}

/* A process of a pipeline may outlive the command by a moment. */
static void take_last_output(struct loop *loop)
{
    struct child_output *output = loop->watch->output;
    int64_t until_ms = now_ms() + OUTPUT_MAX_MS;
    struct pollfd watched = {-1, POLLIN, 0};

    output_take(output);
    while (output->from_fd >= 0 && now_ms() < until_ms &&
           lease_lost(loop->watch->lease) == HF_OK) {
        follow_renewals(loop);
        watched.fd = output->from_fd;
        if (poll(&watched, 1, SILENCE_MS) <= 0)
            return;
        output_take(output);
    }
}

void watch_child(struct watch *watch)
{
    struct loop loop = {watch, PHASE_HELD, 0, 0, false, false};

    while (handle_events(&loop)) {
        struct pollfd watched[3] = {
            {watch->signals->fd, POLLIN, 0},
            {watch->output->from_fd, POLLIN, 0},
            {watch->lease->lost_fd, POLLIN, 0},
        };
        /* A loss is reported once; the descriptor stays readable. */
        nfds_t count = loop.phase == PHASE_HELD ? 3 : 2;

        (void)poll(watched, count, next_look_ms(&loop));
    }
    take_last_output(&loop);
    if (watch->lost == HF_OK) {
        watch->lost = lease_lost(watch->lease);
        if (watch->lost != HF_OK) {
            complain(run_verb, "%s \"%s\" lost: %s", watch->plan->what,
                     watch->plan->name, reason_text(watch->lost));
        }
    }
}
