/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_verbs.c - holdfast key list|ttl|expire|type|rename|copy|delete.
 */
#include "cmd.h"

#include <stdio.h>

#include "exit.h"
#include "holdfast/key.h"
#include "output.h"
#include "read_number.h"

/* Begin the line of JSON that every result has. */
static void begin_json(struct json *json, hf_bytes key)
{
    json_begin(json, stdout);
    json_bytes(json, "key", key);
}

static int list_one(void *user, hf_bytes key)
{
    const struct call *call = user;
    struct json json;

    if (call->json) {
        begin_json(&json, key);
        json_end(&json);
    } else {
        out_line(key);
    }
    return ferror(stdout);
}

static int key_list(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_bytes pattern = hf_view("", 0);
    uint32_t flags =
        call->options->given[OPT_ALL] ? (uint32_t)HF_KEY_LIST_ALL : 0;
    hf_status status;

    if (call->options->operand_count > 0)
        pattern = call_operand(call, 0);
    status = hf_key_list(call->client, pattern, flags, list_one, call, &err);
    if (status == HF_CANCELLED)
        return EXIT_YES; /* out_end() says why */
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static void print_ttl(const struct call *call, int64_t ttl_ms)
{
    char seconds[NUMBER_SECONDS_SIZE];
    struct json json;

    if (call->json) {
        begin_json(&json, call_operand(call, 0));
        json_known(&json, "ttl_ms", ttl_ms);
        json_end(&json);
    } else if (ttl_ms < 0) {
        puts("never");
    } else {
        number_print_seconds(ttl_ms, seconds, sizeof(seconds));
        puts(seconds);
    }
}

static int key_ttl(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t ttl_ms = 0;
    hf_status status =
        hf_key_ttl(call->client, call_operand(call, 0), &ttl_ms, &err);

    if (status != HF_OK)
        return call_failed(call, status, &err);
    print_ttl(call, ttl_ms);
    return EXIT_YES;
}

/* The outcome of a call that writes; `done` is its name in JSON. */
static int finish_write(const struct call *call, const char *done,
                        hf_status status, const hf_error *err)
{
    struct json json;

    if (call->json && (status == HF_OK || status == HF_NOT_FOUND ||
                       status == HF_CONFLICT || status == HF_HELD)) {
        begin_json(&json, call_operand(call, 0));
        json_bool(&json, done, status == HF_OK);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, err);
}

static int key_expire(struct call *call)
{
    bool persist = call->options->given[OPT_PERSIST];
    int64_t ttl_ms = persist ? -1 : call_ttl_ms(call);
    hf_error err = HF_ERROR_INIT;

    if (ttl_ms == 0)
        return call_usage(call, "specify --ttl, --ex, --px or --persist");
    return finish_write(
        call, "set",
        hf_key_expire(call->client, call_operand(call, 0), ttl_ms, &err), &err);
}

static int key_type(struct call *call)
{
    hf_buffer type = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status =
        hf_key_type(call->client, call_operand(call, 0), &type, &err);

    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (call->json) {
        begin_json(&json, call_operand(call, 0));
        json_buffer(&json, "type", &type);
        json_end(&json);
    } else {
        out_value(&type, false);
    }
    hf_buffer_free(&type);
    return EXIT_YES;
}

static int key_rename(struct call *call)
{
    uint32_t flags = call->options->given[OPT_NX] ? (uint32_t)HF_RENAME_NX : 0;
    hf_error err = HF_ERROR_INIT;

    return finish_write(call, "renamed",
                        hf_key_rename(call->client, call_operand(call, 0),
                                      call_operand(call, 1), flags, &err),
                        &err);
}

static int key_copy(struct call *call)
{
    uint32_t flags =
        call->options->given[OPT_REPLACE] ? (uint32_t)HF_COPY_REPLACE : 0;
    hf_error err = HF_ERROR_INIT;

    return finish_write(call, "copied",
                        hf_key_copy(call->client, call_operand(call, 0),
                                    call_operand(call, 1), flags, &err),
                        &err);
}

static int key_delete(struct call *call)
{
    hf_error err = HF_ERROR_INIT;

    return finish_write(
        call, "deleted",
        hf_key_delete(call->client, call_operand(call, 0), &err), &err);
}

const struct command key_commands[] = {
    {.grammar = {.name = "key list",
                 .accepts = OPTIONS_COMMON | OPTION(ALL),
                 .operands_max = 1,
                 .operands = "[PATTERN]",
                 .all = "Holdfast's own keys, too"},
     .run = key_list},
    {.grammar = {.name = "key ttl",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = key_ttl},
    {.grammar = {.name = "key expire",
                 .accepts = OPTIONS_WRITE | OPTION(EX) | OPTION(PX) |
                            OPTION(TTL) | OPTION(PERSIST),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = key_expire},
    {.grammar = {.name = "key type",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = key_type},
    {.grammar = {.name = "key rename",
                 .accepts = OPTIONS_WRITE | OPTION(NX),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "KEY NEW"},
     .run = key_rename},
    {.grammar = {.name = "key copy",
                 .accepts = OPTIONS_WRITE | OPTION(REPLACE),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "KEY NEW"},
     .run = key_copy},
    {.grammar = {.name = "key delete",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = key_delete},
    COMMAND_END,
};
