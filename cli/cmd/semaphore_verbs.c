/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semaphore_verbs.c - holdfast semaphore inspect|resize; and set, acquire and
 * release, of those of Redisson.
 */
#include "cmd.h"

#include <inttypes.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/redisson.h"
#include "holdfast/semaphore.h"
#include "output.h"

static void print_json(hf_bytes name, const hf_semaphore_info *info)
{
    struct json json;

    json_begin(&json, stdout);
    json_bytes(&json, "name", name);
    if (info->permits > 0) {
        json_integer(&json, "permits", info->permits);
        json_integer(&json, "available", info->available);
    }
    json_bool(&json, "stored", info->stored);
    json_integer(&json, "held", info->held);
    json_integer(&json, "holders", info->holders);
    json_integer(&json, "waiters", info->waiters);
    json_end(&json);
}

static void print_text(const hf_semaphore_info *info)
{
    if (info->permits > 0)
        printf("permits: %" PRId64 "%s\navailable: %" PRId64 "\n",
               info->permits, info->stored ? ", stored" : "", info->available);
    printf("held: %" PRId64 ", by %" PRId64 "\nwaiters: %" PRId64 "\n",
           info->held, info->holders, info->waiters);
}

static int redisson_inspect(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    struct json json;
    int64_t free = 0;
    hf_status status;

    if (call->options->given[OPT_PERMITS])
        return call_usage(call, "--slots excludes --redisson");
    status = hf_redisson_semaphore_inspect(call->client, call_operand(call, 0),
                                           &free, &err);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (!call->json) {
        printf("available: %" PRId64 "\n", free);
        return EXIT_YES;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_integer(&json, "available", free);
    json_end(&json);
    return EXIT_YES;
}

static int semaphore_inspect(struct call *call)
{
    hf_semaphore_info info = HF_SEMAPHORE_INFO_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes name = call_operand(call, 0);
    int64_t permits = call->options->number[OPT_PERMITS];
    hf_status status;

    if (call->options->given[OPT_REDISSON_COUNT])
        return redisson_inspect(call);
    status = hf_semaphore_inspect(call->client, name, permits, &info, &err);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (call->json)
        print_json(name, &info);
    else
        print_text(&info);
    return EXIT_YES;
}

static int semaphore_resize(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int64_t permits;

    if (!call_count(call, 1, "PERMITS", 0, HF_SEMAPHORE_PERMITS_MAX, &permits))
        return EXIT_USAGE;
    status =
        hf_semaphore_resize(call->client, call_operand(call, 0), permits, &err);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* Of ours, permits have holders. */
static bool is_redisson(const struct call *call)
{
    if (call->options->given[OPT_REDISSON_COUNT])
        return true;
    (void)call_usage(call, "missing --redisson; permits of other semaphores "
                           "are held by `holdfast run --slots N`");
    return false;
}

static int semaphore_set(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t permits;

    if (!is_redisson(call) ||
        !call_count(call, 1, "PERMITS", 1, HF_REDISSON_COUNT_MAX, &permits))
        return EXIT_USAGE;
    return call_redisson_set(call,
                             hf_redisson_semaphore_set(call->client,
                                                       call_operand(call, 0),
                                                       permits, &err),
                             &err);
}

static void say_wait(const struct call *call, int64_t permits)
{
    int64_t free = 0;

    if (hf_redisson_semaphore_inspect(call->client, call_operand(call, 0),
                                      &free, NULL) == HF_OK)
        notice("semaphore acquire",
               "waiting for permits of \"%s\": %" PRId64 " wanted, %" PRId64
               " available",
               call->options->operands[0], permits, free);
}

static hf_status acquire_permits(const struct call *call, int64_t permits,
                                 int64_t wait_ms, hf_error *err)
{
    hf_bytes name = call_operand(call, 0);

    if (wait_ms != 0 && call_says_waits(call)) {
        hf_status status =
            hf_redisson_semaphore_acquire(call->client, name, permits, 0, err);

        if (status != HF_TIMEOUT)
            return status;
        say_wait(call, permits);
    }
    return hf_redisson_semaphore_acquire(call->client, name, permits, wait_ms,
                                         err);
}

static int semaphore_acquire(struct call *call)
{
    const struct options *given = call->options;
    hf_error err = HF_ERROR_INIT;
    int64_t permits = 1, wait_ms = HF_FOREVER;
    hf_status status;

    if (!is_redisson(call) ||
        (given->operand_count > 1 &&
         !call_count(call, 1, "PERMITS", 1, HF_REDISSON_COUNT_MAX, &permits)))
        return EXIT_USAGE;
    if (given->given[OPT_NONBLOCK] || given->given[OPT_WAIT])
        wait_ms = given->number[OPT_WAIT];
    status = acquire_permits(call, permits, wait_ms, &err);
    if (status == HF_OK || status == HF_TIMEOUT)
        call_print_done(call, "acquired", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int semaphore_release(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t permits = 1;
    hf_status status;

    if (!is_redisson(call) ||
        (call->options->operand_count > 1 &&
         !call_count(call, 1, "PERMITS", -HF_REDISSON_COUNT_MAX,
                     HF_REDISSON_COUNT_MAX, &permits)))
        return EXIT_USAGE;
    status = hf_redisson_semaphore_release(call->client, call_operand(call, 0),
                                           permits, &err);
    if (status == HF_OK)
        call_print_done(call, "released", true);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command semaphore_commands[] = {
    {.grammar = {.name = "semaphore inspect",
                 .accepts =
                     OPTIONS_COMMON | OPTION(PERMITS) | OPTION(REDISSON_COUNT),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = semaphore_inspect},
    {.grammar = {.name = "semaphore resize",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "NAME PERMITS"},
     .run = semaphore_resize},
    {.grammar = {.name = "semaphore set",
                 .accepts = OPTIONS_WRITE | OPTION(REDISSON_COUNT),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "NAME PERMITS --redisson"},
     .run = semaphore_set},
    {.grammar = {.name = "semaphore acquire",
                 .accepts = OPTIONS_COMMON | OPTION(NONBLOCK) | OPTION(WAIT) |
                            OPTION(REDISSON_COUNT) | OPTION(VERBOSE) |
                            OPTION(QUIET),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "NAME [PERMITS] --redisson",
                 .nonblock = "fail at once if too few permits are free"},
     .run = semaphore_acquire},
    {.grammar = {.name = "semaphore release",
                 .accepts = OPTIONS_WRITE | OPTION(REDISSON_COUNT),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "NAME [PERMITS] --redisson"},
     .run = semaphore_release},
    COMMAND_END,
};
