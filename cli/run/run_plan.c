/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_plan.c - what the command line of `holdfast run` and the like asks for,
 * before anything is started.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "holder_text.h"
#include "holdfast/semaphore.h"
#include "json_line.h"
#include "run/run.h"

#define TTL_DEFAULT_MS INT64_C(30000)

/* Two thirds of it are the time between TERM and KILL, which is enough to stop
 * what a lock protects. */
#define MARGIN_TERM_MAX_MS INT64_C(5000)

/* The time that a killed group needs to end. */
#define MARGIN_KILL_MAX_MS INT64_C(1000)

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

int plan_make(struct run_plan *plan, const struct call *call)
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
    else if (strcmp(run_verb, "queue work") == 0)
        code = jobs_plan(plan, options);
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
    plan->says_holder =
        plan->wait_ms > 0 && !plan->takes_jobs && call_says_waits(call);
    code = plan_names(plan, options);
    return code == EXIT_YES ? plan_command(plan, options) : code;
}

void plan_describe(const struct run_plan *plan, struct call *call)
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

int plan_show(const struct run_plan *plan)
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
