/* SPDX-License-Identifier: Apache-2.0 */
/* latch_verbs.c - holdfast latch set|arrive|await|inspect|delete. */
#include "cmd.h"

#include <stdio.h>

#include "complain.h"
#include "exit.h"
#include "holder_text.h"
#include "holdfast/latch.h"
#include "holdfast/redisson.h"
#include "json_line.h"
#include "lease_clock.h"

/* The count that is left; -1: there is no latch. */
static void print_left(const struct call *call, int64_t left)
{
    struct json json;

    if (!call->json) {
        if (left >= 0)
            printf("%lld\n", (long long)left);
        return;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_known(&json, "left", left);
    json_end(&json);
}

static bool is_redisson(const struct call *call)
{
    return call->options->given[OPT_REDISSON_COUNT];
}

static int redisson_set(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t count;

    if (call->options->given[OPT_TTL])
        return call_usage(call, "with --redisson a latch has no --ttl");
    if (!call_count(call, 1, "COUNT", 1, HF_REDISSON_COUNT_MAX, &count))
        return EXIT_USAGE;
    return call_redisson_set(
        call,
        hf_redisson_latch_set(call->client, call_operand(call, 0), count, &err),
        &err);
}

/* What is left is not known. */
static int redisson_arrive(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    if (call->options->operand_count > 1)
        return call_usage(call, "with --redisson an arrival has no ID");
    status =
        hf_redisson_latch_arrive(call->client, call_operand(call, 0), &err);
    if (status == HF_OK || status == HF_NOT_FOUND)
        call_print_done(call, "arrived", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int latch_set(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int64_t count;

    if (is_redisson(call))
        return redisson_set(call);
    if (!call->options->given[OPT_TTL])
        return call_usage(call, "missing --ttl SEC");
    if (!call_count(call, 1, "COUNT", 1, HF_LATCH_COUNT_MAX, &count))
        return EXIT_USAGE;
    status = hf_latch_set(call->client, call_operand(call, 0), count,
                          call_ttl_ms(call), NULL, &err);
    if (status == HF_OK || status == HF_CONFLICT)
        call_print_done(call, "set", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int latch_arrive(struct call *call)
{
    hf_bytes id =
        call->options->operand_count > 1 ? call_operand(call, 1) : hf_str("");
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int64_t left = -1;

    if (is_redisson(call))
        return redisson_arrive(call);
    if (call->options->operand_count > 1 && id.size == 0)
        return call_usage(call, "ID is empty");
    status = hf_latch_arrive(call->client, call_operand(call, 0), id, 1, &left,
                             &err);
    if (status == HF_OK || status == HF_NOT_FOUND)
        print_left(call, left);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static hf_status await_for(const struct call *call, int64_t wait_ms,
                           hf_error *err)
{
    hf_bytes name = call_operand(call, 0);

    if (is_redisson(call))
        return hf_redisson_latch_await(call->client, name, wait_ms, err);
    if (call->options->given[OPT_EARLY])
        return hf_latch_await_early(call->client, name, wait_ms, err);
    return hf_latch_await(call->client, name, wait_ms, err);
}

static void say_left(const struct call *call)
{
    hf_bytes name = call_operand(call, 0);
    int64_t left = 0;
    hf_status status =
        is_redisson(call)
            ? hf_redisson_latch_inspect(call->client, name, &left, NULL)
            : hf_latch_inspect(call->client, name, &left, NULL);

    if (status == HF_OK)
        notice("latch await", "waiting for latch \"%s\": %lld arrivals missing",
               call->options->operands[0], (long long)left);
    else if (status == HF_NOT_FOUND)
        notice("latch await", "waiting for latch \"%s\": it is not set yet",
               call->options->operands[0]);
}

/* A wait has no place in a queue, so it may be one of several parts. */
static hf_status await_and_say(const struct call *call, int64_t wait_ms,
                               hf_error *err)
{
    int64_t began_ms = now_ms();
    hf_status status = HF_TIMEOUT;
    int ms;

    for (size_t said = 0; status == HF_TIMEOUT; said++) {
        int64_t left_ms =
            wait_ms == HF_FOREVER ? HF_FOREVER : began_ms + wait_ms - now_ms();

        ms = holder_ms_to_say(began_ms, said);
        if (ms < 0 || (left_ms != HF_FOREVER && ms >= left_ms))
            return await_for(call, left_ms > 0 ? left_ms : 0, err);
        status = await_for(call, ms, err);
        if (status == HF_TIMEOUT)
            say_left(call);
    }
    return status;
}

static int latch_await(struct call *call)
{
    const struct options *given = call->options;
    hf_error err = HF_ERROR_INIT;
    int64_t wait_ms =
        given->given[OPT_WAIT] ? given->number[OPT_WAIT] : HF_FOREVER;
    hf_status status;

    if (is_redisson(call) && given->given[OPT_EARLY])
        return call_usage(call, "--early cannot be used with --redisson");
    status = call_says_waits(call) ? await_and_say(call, wait_ms, &err)
                                   : await_for(call, wait_ms, &err);
    if (status == HF_OK || status == HF_TIMEOUT)
        call_print_done(call, "open", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int latch_get(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t left = -1;
    hf_bytes name = call_operand(call, 0);
    hf_status status =
        is_redisson(call)
            ? hf_redisson_latch_inspect(call->client, name, &left, &err)
            : hf_latch_inspect(call->client, name, &left, &err);

    if (status == HF_OK || status == HF_NOT_FOUND)
        print_left(call, left);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int latch_delete(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_latch_delete(call->client, call_operand(call, 0), &err);

    if (status == HF_OK || status == HF_NOT_FOUND)
        call_print_done(call, "deleted", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command latch_commands[] = {
    {.grammar = {.name = "latch set",
                 .accepts =
                     OPTIONS_WRITE | OPTION(TTL) | OPTION(REDISSON_COUNT),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "NAME COUNT"},
     .run = latch_set},
    {.grammar = {.name = "latch arrive",
                 .accepts = OPTIONS_WRITE | OPTION(REDISSON_COUNT),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "NAME [ID]"},
     .run = latch_arrive},
    {.grammar = {.name = "latch await",
                 .accepts = OPTIONS_COMMON | OPTION(WAIT) | OPTION(EARLY) |
                            OPTION(VERBOSE) | OPTION(QUIET) |
                            OPTION(REDISSON_COUNT),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = latch_await},
    {.grammar = {.name = "latch inspect",
                 .accepts = OPTIONS_COMMON | OPTION(REDISSON_COUNT),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = latch_get},
    {.grammar = {.name = "latch delete",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = latch_delete},
    COMMAND_END,
};
