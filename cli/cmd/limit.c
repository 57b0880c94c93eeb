/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.c - holdfast limit: take units from a rate limiter, then run a
 * command.
 */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/limiter.h"
#include "json_line.h"
#include "read_number.h"

/* "5m" or "m" to ms. */
static bool read_period(const char *text, int64_t *ms)
{
    size_t size = strlen(text);
    char one[8];

    if (size == 0 || text[size - 1] < 'a') /* without a unit */
        return false;
    if (strspn(text, "0123456789.") == 0) {
        (void)snprintf(one, sizeof(one), "1%s", text);
        text = one;
    }
    return number_duration(text, ms) && *ms > 0 &&
           *ms <= HF_LIMITER_PERIOD_MAX_MS;
}

static bool read_rate(const char *text, hf_limiter_options *options)
{
    const char *slash = strchr(text, '/');
    char number[20];

    if (slash == NULL || *text == '-' ||
        (size_t)(slash - text) >= sizeof(number))
        return false;
    (void)snprintf(number, sizeof(number), "%.*s", (int)(slash - text), text);
    return number_integer(number, &options->count) &&
           read_period(slash + 1, &options->period_ms);
}

static void print_state(const struct call *call, bool taken,
                        const hf_limiter_state *state)
{
    struct json json;

    if (!call->json) {
        if (taken && call->options->tail_count == 0)
            printf("%lld\n", (long long)state->remaining);
        return;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_bool(&json, "taken", taken);
    json_integer(&json, "remaining", state->remaining);
    json_integer(&json, "retry_ms", state->retry_ms);
    json_integer(&json, "full_ms", state->full_ms);
    json_end(&json);
}

/* Become the command. */
static int become_command(struct call *call)
{
    char **argv = call->options->tail;
    int why;

    hf_client_close(call->client);
    call->client = NULL;
    if (fflush(stdout) != 0)
        return EXIT_SYSTEM;
    (void)execvp(argv[0], argv);
    why = errno;
    complain("limit", "%s: %s", argv[0], strerror(why));
    return why == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* An exit code; an error was printed. */
static int check_rate(const char *text, hf_limiter_options *options)
{
    if (!read_rate(text, options)) {
        complain_about("--rate");
        complain("limit",
                 "--rate takes COUNT/TIME, such as 10/s, 100/5m or 1/200ms, "
                 "not \"%s\"",
                 text);
        return EXIT_USAGE;
    }
    if (options->count >= 1 && options->count <= HF_LIMITER_COUNT_MAX)
        return EXIT_YES;
    complain_about("--rate");
    complain("limit", "--rate: the count must be 1 to %lld, not \"%lld\"",
             (long long)HF_LIMITER_COUNT_MAX, (long long)options->count);
    return EXIT_USAGE;
}

/* A wait that is reported is long enough to be noticed. */
#define SAID_WAIT_MS 200

static void say_wait(const struct call *call, const hf_limiter_state *state)
{
    char seconds[NUMBER_SECONDS_SIZE];

    if (state->retry_ms < SAID_WAIT_MS)
        return;
    number_print_seconds(state->retry_ms, seconds, sizeof(seconds));
    notice("limit", "waiting %s s for limiter \"%s\": %lld units remain",
           seconds, call->options->operands[0], (long long)state->remaining);
}

/* How long it has to wait is known at once. */
static hf_status take_and_say(const struct call *call, int64_t cost,
                              const hf_limiter_options *options,
                              hf_limiter_state *state, hf_error *err)
{
    hf_limiter_options now = *options;
    hf_bytes name = call_operand(call, 0);
    hf_status status;

    now.wait_ms = 0;
    status = hf_limiter_take(call->client, name, cost, &now, state, err);
    if (status != HF_TIMEOUT || state->retry_ms > options->wait_ms)
        return status;
    say_wait(call, state);
    return hf_limiter_take(call->client, name, cost, options, state, err);
}

static hf_status take_or_look(const struct call *call, int64_t cost,
                              const hf_limiter_options *options,
                              hf_limiter_state *state, hf_error *err)
{
    hf_bytes name = call_operand(call, 0);

    if (cost == 0)
        return hf_limiter_inspect(call->client, name, options, state, err);
    if (options->wait_ms > 0 && call_says_waits(call))
        return take_and_say(call, cost, options, state, err);
    return hf_limiter_take(call->client, name, cost, options, state, err);
}

static int take_units(struct call *call)
{
    const struct options *given = call->options;
    hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;
    hf_limiter_state state;
    hf_error err = HF_ERROR_INIT;
    int64_t cost = given->given[OPT_COST] ? given->number[OPT_COST] : 1;
    hf_status status;

    if (!given->given[OPT_RATE])
        return call_usage(call, "missing --rate COUNT/TIME");
    if (check_rate(given->text[OPT_RATE], &options) != EXIT_YES)
        return EXIT_USAGE;
    options.burst = given->number[OPT_BURST];
    options.wait_ms = given->number[OPT_WAIT];
    status = take_or_look(call, cost, &options, &state, &err);
    if (status == HF_OK || status == HF_TIMEOUT)
        print_state(call, status == HF_OK, &state);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    return given->tail_count > 0 ? become_command(call) : EXIT_YES;
}

const struct command limit_commands[] = {
    {.grammar = {.name = "limit",
                 .accepts = OPTIONS_WRITE | OPTION(RATE) | OPTION(BURST) |
                            OPTION(COST) | OPTION(WAIT) | OPTION(VERBOSE) |
                            OPTION(QUIET),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME [-- COMMAND [ARGUMENT...]]",
                 .tail = TAIL_COMMAND,
                 .wait = "wait up to SEC seconds for the units"},
     .run = take_units},
    COMMAND_END,
};
