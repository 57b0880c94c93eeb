/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_barrier.c - holdfast barrier wait|reset. */
#include "cmd.h"

#include <stdio.h>

#include "complain.h"
#include "exit.h"
#include "json.h"
#include "number.h"

static void print_generation(const struct call *call, int64_t generation,
                             const int *last)
{
    struct json json;

    if (!call->json) {
        printf("%lld%s\n", (long long)generation,
               last != NULL && *last != 0 ? " last" : "");
        return;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_integer(&json, "generation", generation);
    if (last != NULL)
        json_bool(&json, "last", *last != 0);
    json_end(&json);
}

static int barrier_wait(struct call *call)
{
    const struct options *given = call->options;
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;
    hf_barrier_pass pass;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int64_t parties;

    if (!number_integer(given->operands[1], &parties) || parties < 1 ||
        parties > HF_BARRIER_PARTIES_MAX) {
        complain("barrier wait", "PARTIES is 1 to %u, not \"%s\"",
                 HF_BARRIER_PARTIES_MAX, given->operands[1]);
        return EXIT_USAGE;
    }
    options.ttl_ms = given->number[OPT_LEASE];
    status = hf_barrier_wait(
        call->client, call_operand(call, 0), (uint32_t)parties,
        given->given[OPT_WAIT] ? given->number[OPT_WAIT] : HF_FOREVER, &options,
        &pass, &err);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    print_generation(call, pass.generation, &pass.last);
    return EXIT_YES;
}

static int barrier_reset(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t generation;
    hf_status status = hf_barrier_reset(call->client, call_operand(call, 0),
                                        &generation, &err);

    if (status != HF_OK)
        return call_failed(call, status, &err);
    print_generation(call, generation, NULL);
    return EXIT_YES;
}

const struct command barrier_commands[] = {
    {.grammar = {.name = "barrier wait",
                 .accepts = OPTIONS_WRITE | OPTION(WAIT) | OPTION(LEASE),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "NAME PARTIES"},
     .summary = "arrive at a barrier, and wait until all have arrived",
     .notes =
         "Prints the generation that has ended, and \"last\" behind it for "
         "the party that\ncompleted it. A wait that ends otherwise breaks "
         "the barrier.\n",
     .run = barrier_wait},
    {.grammar = {.name = "barrier reset",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .summary = "repair a broken barrier; print the generation that begins",
     .run = barrier_reset},
    COMMAND_END,
};
