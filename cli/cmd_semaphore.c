/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_semaphore.c - holdfast semaphore inspect|resize.
 */
#include "cmd.h"

#include <inttypes.h>

#include "exit.h"
#include "number.h"
#include "out.h"

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
    json_integer(&json, "held", (int64_t)info->held);
    json_integer(&json, "holders", (int64_t)info->holders);
    json_integer(&json, "waiters", (int64_t)info->waiters);
    json_end(&json);
}

static void print_text(const hf_semaphore_info *info)
{
    if (info->permits > 0)
        printf("permits: %" PRIu32 "%s\navailable: %" PRIu32 "\n",
               info->permits, info->stored ? ", stored" : "", info->available);
    printf("held: %" PRIu64 ", by %" PRIu64 "\nwaiters: %" PRIu64 "\n",
           info->held, info->holders, info->waiters);
}

static int semaphore_inspect(struct call *call)
{
    hf_semaphore_info info = HF_SEMAPHORE_INFO_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes name = call_operand(call, 0);
    uint32_t permits = (uint32_t)call->options->number[OPT_PERMITS];
    hf_status status =
        hf_semaphore_inspect(call->client, name, permits, &info, &err);

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

    if (!number_integer(call->options->operands[1], &permits) || permits < 0 ||
        permits > HF_SEMAPHORE_PERMITS_MAX)
        return call_usage(call, "PERMITS must be 0..100000");
    status = hf_semaphore_resize(call->client, call_operand(call, 0),
                                 (uint32_t)permits, &err);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command semaphore_commands[] = {
    {.grammar = {.name = "semaphore inspect",
                 .accepts = OPTIONS_COMMON | OPTION(PERMITS),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .summary = "show how many permits are held",
     .notes = "Without --slots, how many are available is only shown if "
              "`semaphore resize`\nhas stored how many there are. `lock "
              "holders` lists who holds them.\n",
     .run = semaphore_inspect},
    {.grammar = {.name = "semaphore resize",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "NAME PERMITS"},
     .summary = "store how many permits there are, for all who use it",
     .notes = "PERMITS 0 removes the stored number. Holders keep what they "
              "have.\n",
     .run = semaphore_resize},
    COMMAND_END,
};
