/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_phases.c - holdfast run: a command under a lock; holdfast lead: a command
 * while we lead.
 *
 * Phases: plan; block signals; start the guard; acquire, while handling
 * signals; start the command and watch it; end the guard; reap the command;
 * release. A candidate that has lost the lead continues with the guard.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "complain.h"
#include "exit.h"
#include "holder_text.h"
#include "holdfast/semaphore.h"
#include "json_line.h"
#include "lease_clock.h"
#include "read_number.h"
#include "run/run.h"

#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define TTL_DEFAULT_MS INT64_C(30000)

/* Two thirds of it are the time between TERM and KILL, which is enough to stop
 * what a lock protects. */
#define MARGIN_TERM_MAX_MS INT64_C(5000)

/* The time that a killed group needs to end. */
#define MARGIN_KILL_MAX_MS INT64_C(1000)

const char *run_verb = "run";

/* All parts of a run, in the order in which they start. */
struct run {
    struct run_plan plan;
    struct signals signals;
    struct guard guard;
    struct lease lease;
    struct child child;
    struct tty tty;
    int64_t began_ms;
    int64_t waited_ms;
    hf_status lost; /* HF_OK: not lost while the command ran */
    int output_fd;  /* of a command that is run once; -1: it has ours */
    int end_signal; /* what ended the command; 0: it ended by itself */
    bool told_to_end;
    bool command_began; /* the last time that the lock was acquired */
};

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t margin_of(enum on_lost on_lost, int64_t ttl_ms)
{
    switch (on_lost) {
    case ON_LOST_TERM:
        return least_of(ttl_ms / 4, MARGIN_TERM_MAX_MS);
    case ON_LOST_KILL:
        return least_of(ttl_ms / 8, MARGIN_KILL_MAX_MS);
    case ON_LOST_WARN:
        break;
    }
    return 0;
}

static const char *effective_store(const struct options *options)
{
    const char *store = options->text[OPT_STORE];

    if (store == NULL || store[0] == '\0')
        store = getenv("HOLDFAST_STORE");
    return store == NULL || store[0] == '\0' ? "volatile:" : store;
}

static int plan_command(struct run_plan *plan, const struct options *options)
{
    const char *text = options->text[OPT_SHELL];
    static char shell[] = "/bin/sh";
    static char flag[] = "-c";
    char *preferred = getenv("SHELL");

    if ((text != NULL) == (plan->argv != NULL)) {
        return call_usage(plan->call, text == NULL
                                          ? "missing argument COMMAND"
                                          : "specify either -c or a command");
    }
    if (text == NULL)
        return EXIT_YES;
    plan->shell_argv[0] =
        preferred == NULL || preferred[0] == '\0' ? shell : preferred;
    plan->shell_argv[1] = flag;
    plan->shell_argv[2] = (char *)(uintptr_t)text;
    plan->argv = plan->shell_argv;
    return EXIT_YES;
}

/* A candidate's text, unless the user gives one. */
static const char *host_name(void)
{
    static char name[HOST_NAME_MAX + 1];

    if (gethostname(name, sizeof(name) - 1) != 0)
        name[0] = '\0';
    return name;
}

static void plan_lead(struct run_plan *plan, const struct options *options)
{
    plan->what = "lead of";
    plan->once = options->given[OPT_ONCE];
    plan->text = options->text[OPT_TEXT];
    if (plan->text == NULL)
        plan->text = host_name();
}

static int out_of_memory(void)
{
    complain(run_verb, "out of memory");
    return EXIT_SYSTEM;
}

/* The names, with blanks between them, for messages and the environment. */
static int join_names(struct run_plan *plan)
{
    size_t size = 0;
    char *text;

    for (size_t i = 0; i < plan->name_count; i++)
        size += strlen(plan->names[i]) + 1;
    text = malloc(size);
    if (text == NULL)
        return out_of_memory();
    plan->name = text;
    for (size_t i = 0; i < plan->name_count; i++) {
        size = strlen(plan->names[i]);
        memcpy(text, plan->names[i], size);
        text[size] = i + 1 < plan->name_count ? ' ' : '\0';
        text += size + 1;
    }
    return EXIT_YES;
}

/*
 * The tail begins after the first name, or after the `--` that follows it. With
 * --all it has more names, up to a `--`; only with -c there need be none.
 */
static int plan_names(struct run_plan *plan, const struct options *options)
{
    char **tail = options->tail_count > 0 ? options->tail : NULL;
    int count = 0;

    plan->names = options->operands;
    plan->name_count = 1;
    plan->argv = tail;
    if (!options->given[OPT_ALL] || tail == NULL || strcmp(tail[-1], "--") == 0)
        return join_names(plan);
    while (count < options->tail_count && strcmp(tail[count], "--") != 0)
        count++;
    plan->argv = count + 1 < options->tail_count ? tail + count + 1 : NULL;
    if (count == options->tail_count && !options->given[OPT_SHELL])
        return call_usage(plan->call, "missing -- before COMMAND");
    if (count >= (int)HF_LOCK_ALL_MAX)
        return call_usage(plan->call, "more than 128 names");
    plan->names = calloc((size_t)count + 1, sizeof(char *));
    if (plan->names == NULL)
        return out_of_memory();
    plan->names[0] = options->operands[0];
    memcpy(plan->names + 1, tail, (size_t)count * sizeof(char *));
    plan->name_count = (size_t)count + 1;
    return join_names(plan);
}

static int make_plan(struct run_plan *plan, const struct call *call)
{
    const struct options *options = call->options;
    const int64_t *number = options->number;
    int code = EXIT_YES;

    plan->call = call;
    plan->what = "lock";
    if (strcmp(run_verb, "lead") == 0)
        plan_lead(plan, options);
    else if (strcmp(run_verb, "once") == 0)
        code = once_plan(plan, options);
    if (code != EXIT_YES)
        return code;
    plan->store = effective_store(options);
    plan->ttl_ms =
        options->given[OPT_LEASE] ? number[OPT_LEASE] : TTL_DEFAULT_MS;
    plan->wait_ms = options->given[OPT_NONBLOCK] ? 0 : HF_FOREVER;
    if (options->given[OPT_WAIT])
        plan->wait_ms = number[OPT_WAIT];
    plan->max_hold_ms = number[OPT_MAX_HOLD];
    plan->priority = (uint32_t)number[OPT_PRIORITY];
    plan->min_hold_ms = number[OPT_MIN_HOLD];
    plan->delay_ms = number[OPT_DELAY];
    plan->permits = number[OPT_PERMITS];
    plan->shared = options->given[OPT_SHARED];
    plan->redisson = options->given[OPT_REDISSON];
    plan->redisson_kind = (hf_redisson_kind)number[OPT_REDISSON];
    plan->on_lost = (enum on_lost)number[OPT_ON_LOST];
    plan->margin_ms = margin_of(plan->on_lost, plan->ttl_ms);
    plan->conflict_code = options->given[OPT_CONFLICT_CODE]
                              ? (int)number[OPT_CONFLICT_CODE]
                              : EXIT_NO;
    plan->verbose = options->given[OPT_VERBOSE];
    plan->quiet = options->given[OPT_QUIET];
    plan->says_holder = plan->wait_ms > 0 && call_says_waits(call);
    code = plan_names(plan, options);
    return code == EXIT_YES ? plan_command(plan, options) : code;
}

/* A signal ended the wait; end by it. */
static _Noreturn void give_up(struct run *run, int signal)
{
    lease_cancel(&run->lease);
    signals_die(signal);
}

static void wait_for_lock(struct run *run)
{
    struct pollfd watched[2] = {
        {run->signals.fd, POLLIN, 0},
        {run->lease.done_fd, POLLIN, 0},
    };
    int signal;

    do {
        (void)poll(watched, 2, -1);
        while ((signal = signals_next(&run->signals)) != 0) {
            if (signals_is_end(signal))
                give_up(run, signal);
            else if (signal == SIGTSTP)
                (void)signals_stop(false);
        }
    } while (!lease_is_done(&run->lease));
    lease_join(&run->lease);
    run->waited_ms = now_ms() - run->began_ms;
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

/* The lock was not acquired. */
static int report_refusal(const struct run *run)
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
                              .output_fd = run->output_fd};
    int code;

    if (tty_is_interactive() && tty_is_ours(&run->tty))
        plan.tty_fd = run->tty.fd;
    plan.deadline_ms =
        lease_valid_until_ms(&run->lease) - run->plan.margin_ms / 5;
    code = child_start(&run->child, &plan);
    if (code == EXIT_YES && plan.tty_fd >= 0)
        tty_was_taken(&run->tty, run->child.pid);
    return code;
}

/* Until the command has ended; its exit code. */
static int watch_command(struct run *run)
{
    struct watch watch = {&run->plan,  &run->signals, &run->guard, &run->lease,
                          &run->child, &run->tty,     HF_OK,       false};

    watch_child(&watch);
    run->lost = watch.lost;
    run->told_to_end = watch.told_to_end;
    guard_end(&run->guard);
    tty_take(&run->tty);
    return child_reap(&run->child, run->plan.argv[0], &run->end_signal);
}

/* Start the command and watch it until it ends; its exit code. */
static int run_command(struct run *run)
{
    int code;

    /* We may have been stopped, or starved, for longer than the lease. */
    run->lost = lease_lost(&run->lease);
    run->command_began = run->lost == HF_OK;
    if (!run->command_began) {
        guard_end(&run->guard);
        return EXIT_LOST;
    }
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

/* A command that was ended has perhaps had its effect, also if it exited by
 * itself then, but for one that succeeded; one that did not start has not. */
static int end_claim(struct run *run, int code)
{
    bool ran = run->command_began && run->child.pid > 0;
    bool told = run->told_to_end ||
                (run->lost != HF_OK && run->plan.on_lost != ON_LOST_WARN);
    bool in_doubt = ran && (run->end_signal != 0 || (told && code != 0));

    if (!ran)
        (void)lease_release(&run->lease, NULL);
    else
        code = once_end(&run->lease, run->output_fd, code, in_doubt);
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
    wait_for_lock(run);
    if (run->lease.status != HF_OK)
        return report_refusal(run);
    report_acquired(run);
    return run_command(run);
}

static int run_again(struct run *run)
{
    int code = EXIT_YES;

    if (run->plan.on_lost != ON_LOST_WARN)
        code = guard_start(&run->guard);
    run->lost = HF_OK;
    run->began_ms = now_ms();
    if (code == EXIT_YES)
        code = lease_begin_again(&run->lease);
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

/* The lock's holder is described by the command, unless the user says. */
static void describe_by_command(struct call *call, const struct run_plan *plan)
{
    static char text[HF_HOLDER_TEXT_SIZE];
    const char *name = call->options->text[OPT_SHELL];
    const char *slash;

    if (getenv("HOLDFAST_DESCRIPTION") != NULL)
        return;
    if (name == NULL) {
        slash = strrchr(plan->argv[0], '/');
        name = slash == NULL ? plan->argv[0] : slash + 1;
    }
    snprintf(text, sizeof(text), "%s", name);
    call->description = text;
}

static void print_plan(const struct run_plan *plan)
{
    fputs("would run:", stdout);
    for (char **word = plan->argv; *word != NULL; word++)
        printf(" %s", *word);
    putchar('\n');
}

/* Could it be acquired now, as far as can be seen? */
static bool is_free(const struct run_plan *plan, hf_client *client,
                    hf_bytes name)
{
    hf_semaphore_info permits = HF_SEMAPHORE_INFO_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status;

    if (plan->permits > 0)
        return hf_semaphore_inspect(client, name, plan->permits, &permits,
                                    NULL) == HF_OK &&
               permits.available > 0;
    status = hf_lock_inspect(client, name, &info, NULL);
    return status == HF_NOT_FOUND ||
           (status == HF_OK && plan->shared && info.mode == HF_LOCK_SHARED);
}

/* One line for each name, or one object for all. */
static bool look_at_names(const struct run_plan *plan, hf_client *client)
{
    char holder[HOLDER_TEXT_SIZE];
    struct json json;
    bool all_free = true;

    if (plan->call->json) {
        json_begin(&json, stdout);
        json_open(&json, "locks", '[');
    }
    for (size_t i = 0; i < plan->name_count; i++) {
        bool free = is_free(plan, client, hf_str(plan->names[i]));

        all_free = all_free && free;
        holder_find(client, hf_str(plan->names[i]), holder);
        if (!plan->call->json) {
            printf("%s \"%s\" is %s\n", plan->what, plan->names[i],
                   free ? "free" : holder);
            continue;
        }
        json_open(&json, NULL, '{');
        json_text(&json, "name", plan->names[i]);
        json_bool(&json, "free", free);
        json_close(&json, '}');
    }
    if (plan->call->json) {
        json_close(&json, ']');
        json_end(&json);
    }
    return all_free;
}

/* --dry-run: what would be run, and whether the locks are free now. */
static int run_dry(const struct run_plan *plan)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status = call_open(plan->call, &client, &err);
    bool free;

    if (status != HF_OK)
        return call_failed(plan->call, status, &err);
    if (!plan->call->json)
        print_plan(plan);
    free = look_at_names(plan, client);
    hf_client_close(client);
    return free ? EXIT_YES : plan->conflict_code;
}

/* Of two threads that mostly wait, neither needs a heap of its own, which takes
 * longer to map than it saves. */
static void share_heap(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

static int run_run(struct call *call)
{
    static struct run run;
    int code;

    share_heap();
    run_verb = call->command->grammar.name;
    if (call->options->given[OPT_SHOW] || call->options->given[OPT_DELETE])
        return once_look(call);
    code = make_plan(&run.plan, call);
    if (code == EXIT_YES && call->options->given[OPT_DRY_RUN])
        return run_dry(&run.plan);
    run.began_ms = now_ms();
    if (code == EXIT_YES)
        describe_by_command(call, &run.plan);
    run.output_fd = -1;
    if (code == EXIT_YES && run.plan.claims) {
        run.output_fd = once_open_output();
        code = run.output_fd < 0 ? EXIT_SYSTEM : EXIT_YES;
    }
    if (code == EXIT_YES)
        code = signals_open(&run.signals);
    if (code == EXIT_YES && run.plan.on_lost != ON_LOST_WARN)
        code = guard_start(&run.guard);
    if (code == EXIT_YES)
        code = lease_begin(&run.lease, &run.plan);
    if (code == EXIT_YES)
        code = run_phases(&run);
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
     .run = run_run},
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
     .run = run_run},
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
     .run = run_run},
    COMMAND_END,
};
