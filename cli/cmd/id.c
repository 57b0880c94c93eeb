/* SPDX-License-Identifier: Apache-2.0 */
/* id.c - holdfast id: numbers that are unique and only grow. */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

#include "exit.h"
#include "holdfast/ids.h"
#include "json_line.h"

static void print_ids(const struct call *call, const int64_t *values,
                      size_t count)
{
    struct json json;

    if (!call->json) {
        for (size_t i = 0; i < count; i++)
            printf("%lld\n", (long long)values[i]);
        return;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_open(&json, "ids", '[');
    for (size_t i = 0; i < count; i++)
        json_integer(&json, NULL, values[i]);
    json_close(&json, ']');
    json_end(&json);
}

static hf_status take_ids(const struct call *call, int64_t *values,
                          size_t count, hf_error *err)
{
    hf_ids_options options = HF_IDS_OPTIONS_INIT;
    hf_ids *ids = NULL;
    hf_status status;

    options.flags =
        call->options->given[OPT_DENSE] ? (uint32_t)HF_IDS_DENSE : 0;
    options.block = 1;
    status =
        hf_ids_new(call->client, call_operand(call, 0), &options, &ids, err);
    if (status == HF_OK)
        status = hf_ids_next_many(ids, values, count, err);
    hf_ids_free(ids);
    return status;
}

static int allocate_ids(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t count = 1;
    int64_t *values;
    hf_status status;

    if (call->options->operand_count > 1 &&
        !call_count(call, 1, "COUNT", 1, HF_IDS_BLOCK_MAX, &count))
        return EXIT_USAGE;
    values = calloc((size_t)count, sizeof(*values));
    if (values == NULL)
        return EXIT_SYSTEM;
    status = take_ids(call, values, (size_t)count, &err);
    if (status == HF_OK)
        print_ids(call, values, (size_t)count);
    free(values);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command id_commands[] = {
    {.grammar = {.name = "id",
                 .accepts = OPTIONS_WRITE | OPTION(DENSE),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "NAME [COUNT]"},
     .run = allocate_ids},
    COMMAND_END,
};
