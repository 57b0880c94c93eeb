/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_phases.c - holdfast run: a command under a lock; holdfast lead: a command
 * while we lead.
 *
 * Phases: plan (run_plan.c); block signals; start the guard; acquire, while
 * handling signals; start the command and watch it; end the guard; reap the
 * command; release. A candidate that has lost the lead continues with the
 * guard.
 */
#include <stdio.h>
#include <stdlib.h>

#include "complain.h"
#include "exit.h"
#include "holder_text.h"
#include "json_line.h"
#include "lease_clock.h"
#include "read_number.h"
#include "run/run.h"

#include <malloc.h>
#include <poll.h>
#include <string.h>

const char *run_verb = "run";

/* Those of a job's command are sent to all workers, perhaps between two. */
static bool ends_wait(const struct run *run, int signal)
{
    bool is_users = signal == SIGUSR1 || signal == SIGUSR2;

    return signals_is_end(signal) && !(is_users && run->plan.takes_jobs);
}

int run_wait(struct run *run)
{
    struct pollfd watched[2] = {
        {run->signals.fd, POLLIN, 0},
        {run->lease.done_fd, POLLIN, 0},
    };
    int signal;

    do {
        (void)poll(watched, 2, -1);
        while ((signal = signals_next(&run->signals)) != 0) {
            if (ends_wait(run, signal)) {
                lease_cancel(&run->lease);
                return signal;
            }
            if (signal == SIGTSTP)
                (void)signals_stop(false);
        }
    } while (!lease_is_done(&run->lease));
    lease_join(&run->lease);
    run->waited_ms = now_ms() - run->began_ms;
    return 0;
}

int run_pause(struct run *run, int pause_ms)
{
    struct pollfd watched = {run->signals.fd, POLLIN, 0};
    int signal;

    (void)poll(&watched, 1, pause_ms);
    while ((signal = signals_next(&run->signals)) != 0) {
        if (ends_wait(run, signal))
            return signal;
    }
    return 0;
}

/* `holder` is "held by ..."; "": not known. */
static void complain_refusal(const struct run *run, const char *holder)
{
    const struct run_plan *plan = &run->plan;
    char seconds[NUMBER_SECONDS_SIZE];

    if (plan->name_count > 1) {
        complain(run_verb, "%s", run->lease.err.message);
        return;
    }

    if (plan->wait_ms == 0) {
        complain(run_verb, "%s \"%s\" is %s", plan->what, plan->name,
                 holder[0] != '\0' ? holder : "held by another owner");
        return;
    }
    number_print_seconds(plan->wait_ms, seconds, sizeof(seconds));
    complain(run_verb, "timed out after %s s waiting for %s \"%s\"%s%s",
             seconds, plan->what, plan->name, holder[0] != '\0' ? "; " : "",
             holder);
}

int run_refused(const struct run *run)
{
    const struct run_plan *plan = &run->plan;
    hf_status status = run->lease.status;
    char holder[HOLDER_TEXT_SIZE];
    int code = plan->claims ? once_unclaimed(&run->lease) : -1;

    if (code >= 0)
        return code;
    if (status == HF_TIMEOUT) {
        complain_of(status);
        if (!plan->quiet) {
            holder_find(run->lease.client, hf_str(plan->name), holder);
            complain_refusal(run, holder);
        }
        return plan->conflict_code;
    }
    code = call_failed(plan->call, status, &run->lease.err);
    /* The command was not started: for `run` the outcome is known. */
    return status == HF_INDETERMINATE ? EXIT_UNAVAILABLE : code;
}

static void report_acquired(const struct run *run)
{
    char seconds[NUMBER_SECONDS_SIZE];
    char *tokens = run->plan.verbose ? lease_tokens(&run->lease) : NULL;

    if (run->plan.verbose) {
        number_print_seconds(run->waited_ms, seconds, sizeof(seconds));
        notice(run_verb, "%s \"%s\" acquired after %s s, token %s",
               run->plan.what, run->plan.name, seconds,
               tokens == NULL ? "?" : tokens);
    }
    free(tokens);
}

/* With the terminal, if it should have that. */
static int start_command(struct run *run)
{
    struct child_plan plan = {.lease = &run->lease,
                              .signals = &run->signals,
                              .guard = &run->guard,
                              .tty_fd = -1,
                              .input_fd = run->input_fd,
                              .output_fd = run->output.to_fd};
    int code;

    if (tty_is_interactive() && tty_is_ours(&run->tty))
        plan.tty_fd = run->tty.fd;
    plan.deadline_ms =
        lease_valid_until_ms(&run->lease) - run->plan.margin_ms / 5;
    code = child_start(&run->child, &plan);
    output_given(&run->output);
    if (code == EXIT_YES && plan.tty_fd >= 0)
        tty_was_taken(&run->tty, run->child.pid);
    return code;
}

/* Until the command has ended; its exit code. */
static int watch_command(struct run *run)
{
    struct watch watch = {&run->plan,  &run->signals, &run->guard, &run->lease,
                          &run->child, &run->output,  &run->tty,   HF_OK,
                          0,           false};

    watch_child(&watch);
    run->lost = watch.lost;
    run->told_to_end = watch.told_to_end;
    run->loss_told = watch.loss_told;
    guard_end(&run->guard);
    tty_take(&run->tty);
    return child_reap(&run->child, run->plan.argv[0], &run->end_signal);
}

int run_command(struct run *run)
{
    int code;

    /* We may have been stopped, or starved, for longer than the lease. */
    run->lost = lease_lost(&run->lease);
    run->command_began = run->lost == HF_OK;
    if (!run->command_began) {
        guard_end(&run->guard);
        return EXIT_LOST;
    }
    if (run->plan.takes_jobs || run->plan.claims)
        run->tty.fd = -1; /* Ctrl-C is for us */
    else
        tty_open(&run->tty);
    code = start_command(run);
    if (code == EXIT_YES)
        code = watch_command(run);
    tty_close(&run->tty);
    return code;
}

/* Release the lock. If the store says we did not hold it, it was lost. */
static void release_lease(struct run *run)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    /* The store has not answered for as long as the lease. */
    if (run->lost == HF_INDETERMINATE)
        return;
    status = lease_release(&run->lease, &err);
    if (run->lost != HF_OK)
        return;
    if (status == HF_LOST || status == HF_EXPIRED) {
        run->lost = status;
        complain(run_verb, "%s \"%s\" lost while the command ran: %s",
                 run->plan.what, run->plan.name,
                 status == HF_LOST ? "taken by another owner"
                                   : "lease expired (not taken by another "
                                     "owner)");
    } else if (status != HF_OK) {
        (void)call_failed(run->plan.call, status, &err);
    } else if (run->plan.verbose) {
        notice(run_verb, "%s \"%s\" released", run->plan.what, run->plan.name);
    }
}

/* A command that was killed, or asked to end, has perhaps had a part of its
 * effect, whatever it exits with; one that did not start has had none. Without
 * its output there is no result. */
static int end_claim(struct run *run, int code)
{
    bool ran = run->command_began && run->child.pid > 0;
    bool in_doubt = ran && (run->end_signal != 0 || run->told_to_end ||
                            run->loss_told || run->output.failed != 0);

    if (!ran)
        (void)lease_release(&run->lease, NULL);
    else
        code = once_end(&run->lease, &run->output, code, in_doubt);
    if (in_doubt && run->lost != HF_OK)
        return EXIT_LOST;
    if (in_doubt)
        run->lost = HF_INDETERMINATE; /* closing would release it */
    return code;
}

static void print_tokens(struct json *json, const struct run *run)
{
    const struct lease *lease = &run->lease;

    json_integer(json, "token", (int64_t)hf_lock_token(lease->locks[0]));
    if (lease->count < 2)
        return;
    json_open(json, "tokens", '{');
    for (size_t i = 0; i < lease->count; i++)
        json_integer(json, run->plan.names[i],
                     (int64_t)hf_lock_token(lease->locks[i]));
    json_close(json, '}');
}

/* One line for machines. stdout is the command's, so it goes to stderr. */
static void print_report(const struct run *run, int code)
{
    bool acquired = run->lease.status == HF_OK;
    struct json json;

    json_begin(&json, stderr);
    json_text(&json, "name", run->plan.name);
    json_bool(&json, "acquired", acquired);
    json_integer(&json, "waited_ms", run->waited_ms);
    if (acquired) {
        print_tokens(&json, run);
        if (run->lost == HF_OK)
            json_null(&json, "lost");
        else
            json_text(&json, "lost", hf_status_name(run->lost));
    }
    json_integer(&json, "exit", code);
    if (complained())
        complain_json(&json, code);
    json_end(&json);
}

/* After a loss: does the command run again once we lead again, or run at last?
 */
static bool acquires_again(const struct run *run)
{
    bool leads = run->plan.text != NULL && !run->plan.once &&
                 run->plan.on_lost != ON_LOST_WARN;

    return run->lost != HF_OK && !run->told_to_end &&
           (leads || !run->command_began);
}

/* From the wait to the end of the command, or of the wait. */
static int run_once(struct run *run)
{
    int signal = run_wait(run);

    if (signal != 0)
        signals_die(signal);
    if (run->lease.status != HF_OK)
        return run_refused(run);
    report_acquired(run);
    return run_command(run);
}

int run_begin_again(struct run *run)
{
    int code = EXIT_YES;

    if (run->plan.on_lost != ON_LOST_WARN)
        code = guard_start(&run->guard);
    run->lost = HF_OK;
    run->began_ms = now_ms();
    return code == EXIT_YES ? lease_begin_again(&run->lease) : code;
}

static int run_again(struct run *run)
{
    int code = run_begin_again(run);

    return code == EXIT_YES ? run_once(run) : code;
}

/* From the wait to the exit code. */
static int run_phases(struct run *run)
{
    int code = run_once(run);

    while (acquires_again(run))
        code = run_again(run);
    if (run->lease.status == HF_OK && run->plan.claims) {
        code = end_claim(run, code);
    } else if (run->lease.status == HF_OK) {
        release_lease(run);
        code = run->lost == HF_OK ? code : EXIT_LOST;
    }
    if (run->plan.call->json)
        print_report(run, code);
    /* Closing would send one more request, and wait for it. */
    if (run->lost != HF_INDETERMINATE)
        lease_close(&run->lease);
    return code;
}

/*
 * The command died of Ctrl-C. A shell continues its script unless the process
 * that it waits for dies of the signal too; and while the command had the
 * terminal, the rest of our job did not get the signal.
 */
static _Noreturn void die_interrupted(const struct run *run)
{
    if (run->tty.was_given)
        kill(0, SIGINT);
    signals_die(SIGINT);
}

/* Of two threads that mostly wait, neither needs a heap of its own, which takes
 * longer to map than it saves. */
static void share_heap(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

int run_call(struct call *call)
{
    static struct run run;
    int code;

    share_heap();
    run_verb = call->command->grammar.name;
    if (call->options->given[OPT_SHOW] || call->options->given[OPT_DELETE])
        return once_look(call);
    code = plan_make(&run.plan, call);
    if (code == EXIT_YES && call->options->given[OPT_DRY_RUN])
        return plan_show(&run.plan);
    run.began_ms = now_ms();
    if (code == EXIT_YES)
        plan_describe(&run.plan, call);
    call->says_outages = run.plan.takes_jobs;
    run.input_fd = run.output.from_fd = run.output.to_fd = -1;
    if (code == EXIT_YES && run.plan.claims)
        code = once_streams(&run);
    if (code == EXIT_YES && !slots_begin(&run.plan, &code))
        return code;
    if (code == EXIT_YES)
        code = signals_open(&run.signals);
    if (code == EXIT_YES && run.plan.on_lost != ON_LOST_WARN)
        code = guard_start(&run.guard);
    if (code == EXIT_YES)
        code = lease_begin(&run.lease, &run.plan);
    if (code == EXIT_YES)
        code = run.plan.takes_jobs ? jobs_run(&run) : run_phases(&run);
    guard_end(&run.guard);
    if (run.end_signal == SIGINT && code != EXIT_LOST)
        die_interrupted(&run);
    return code;
}

const struct command run_commands[] = {
    {.grammar = {.name = "run",
                 .accepts = OPTIONS_WRITE | OPTION(NONBLOCK) | OPTION(WAIT) |
                            OPTION(CONFLICT_CODE) | OPTION(SHELL) |
                            OPTION(LEASE) | OPTION(MAX_HOLD) | OPTION(PERMITS) |
                            OPTION(ALL) | OPTION(PRIORITY) | OPTION(MIN_HOLD) |
                            OPTION(DELAY) | OPTION(ON_LOST) | OPTION(VERBOSE) |
                            OPTION(QUIET) | OPTION(DRY_RUN) |
                            OPTION(EXCLUSIVE) | OPTION(SHARED) |
                            OPTION(REDISSON) | OPTION(CLOSE),
                 .operands_min = 1,
                 .operands_max = 1,
                 .tail = TAIL_COMMAND,
                 .operands = "NAME [--] COMMAND [ARGUMENT...]"},
     .opens_store = true,
     .run = run_call},
    COMMAND_END,
};

const struct command lead_commands[] = {
    {.grammar = {.name = "lead",
                 .accepts = OPTIONS_WRITE | OPTION(NONBLOCK) | OPTION(WAIT) |
                            OPTION(CONFLICT_CODE) | OPTION(SHELL) |
                            OPTION(LEASE) | OPTION(MAX_HOLD) | OPTION(ON_LOST) |
                            OPTION(VERBOSE) | OPTION(QUIET) | OPTION(TEXT) |
                            OPTION(ONCE),
                 .operands_min = 1,
                 .operands_max = 1,
                 .tail = TAIL_COMMAND,
                 .operands = "NAME [--] COMMAND [ARGUMENT...]",
                 .nonblock = "fail at once if another leads"},
     .opens_store = true,
     .run = run_call},
    COMMAND_END,
};

const struct command once_commands[] = {
    {.grammar = {.name = "once",
                 .accepts = OPTIONS_WRITE | OPTION(NONBLOCK) | OPTION(WAIT) |
                            OPTION(CONFLICT_CODE) | OPTION(SHELL) |
                            OPTION(LEASE) | OPTION(MAX_HOLD) | OPTION(ON_LOST) |
                            OPTION(VERBOSE) | OPTION(QUIET) |
                            OPTION(FINGERPRINT) | OPTION(FINGERPRINT_FILE) |
                            OPTION(ONCE_KEEP) | OPTION(RETRY_DOUBT) |
                            OPTION(ON_FAILURE) | OPTION(PERIOD) |
                            OPTION(ONCE_EARLY) | OPTION(SHOW) | OPTION(DELETE),
                 .operands_min = 1,
                 .operands_max = 1,
                 .tail = TAIL_COMMAND,
                 .operands = "KEY [--] COMMAND [ARGUMENT...]",
                 .nonblock = "fail at once if another is running it"},
     .opens_store = true,
     .run = run_call},
    COMMAND_END,
};
