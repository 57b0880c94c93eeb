/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_verbs.c - holdfast cache get|put|delete|invalidate|fill.
 *
 * `fill` prints what its command has printed, now or for another reader. A
 * command that fails stores nothing; its output is printed and its exit code
 * returned, unless an old value may be printed instead.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cache_command.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/cache.h"
#include "output.h"

#define LIFE_OPTIONS                                                           \
    (OPTION(TTL) | OPTION(STALE) | OPTION(STALE_ERROR) | OPTION(JITTER) |      \
     OPTION(TAGS))

/* The options of a call, and the memory of its tags. */
struct entry_input {
    hf_cache_options options;
    hf_bytes tags[HF_CACHE_TAGS_MAX];
};

/* "a,b,c" */
static int read_tags(struct call *call, struct entry_input *entry,
                     const char *text)
{
    while (text != NULL) {
        const char *comma = strchr(text, ',');
        size_t size = comma == NULL ? strlen(text) : (size_t)(comma - text);

        if (entry->options.tag_count == HF_CACHE_TAGS_MAX)
            return call_usage(call, "--tags has more than 16 tags");
        entry->tags[entry->options.tag_count++] = hf_view(text, size);
        text = comma == NULL ? NULL : comma + 1;
    }
    return EXIT_YES;
}

static int read_entry(struct call *call, struct entry_input *entry)
{
    const struct options *given = call->options;
    hf_cache_options *options = &entry->options;

    *options = (hf_cache_options)HF_CACHE_OPTIONS_INIT;
    options->tags = entry->tags;
    options->ttl_ms = call_ttl_ms(call);
    options->stale_ms = given->number[OPT_STALE];
    options->error_ms = given->number[OPT_STALE_ERROR];
    options->jitter_percent = (int32_t)given->number[OPT_JITTER];
    if ((call->command->grammar.accepts & OPTION(TTL)) != 0 &&
        options->ttl_ms == 0)
        return call_usage(call, "--ttl is required");
    return read_tags(call, entry, given->text[OPT_TAGS]);
}

static int print_entry(const struct call *call, hf_status status,
                       const hf_error *err, const hf_buffer *value)
{
    int code = status == HF_OK ? EXIT_YES : call_failed(call, status, err);
    struct json json;

    if (!call->json) {
        out_value(value, call->options->given[OPT_RAW]);
    } else if (status == HF_OK || status == HF_NOT_FOUND) {
        json_begin(&json, stdout);
        json_bytes(&json, "key", call_operand(call, 0));
        json_buffer(&json, "value", value);
        json_end(&json);
    }
    return code;
}

/* `done` is the name of the outcome in JSON. */
static int print_done(const struct call *call, const char *name,
                      const char *done, hf_status status, const hf_error *err)
{
    int code = status == HF_OK ? EXIT_YES : call_failed(call, status, err);
    struct json json;

    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        json_begin(&json, stdout);
        json_bytes(&json, name, call_operand(call, 0));
        json_bool(&json, done, status == HF_OK);
        json_end(&json);
    }
    return code;
}

static int cache_get(struct call *call)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int code;

    options.flags =
        call->options->given[OPT_ALLOW_STALE] ? (uint32_t)HF_CACHE_STALE : 0;
    status = hf_cache_get(call->client, call_operand(call, 0), &options, &value,
                          &err);
    code = print_entry(call, status, &err, &value);
    hf_buffer_free(&value);
    return code;
}

static int put_bytes(struct call *call, const struct entry_input *entry,
                     hf_bytes value)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_cache_put(call->client, call_operand(call, 0), value,
                                    &entry->options, &err);

    return print_done(call, "key", "put", status, &err);
}

static int cache_put(struct call *call)
{
    bool from_stdin = call->options->given[OPT_STDIN];
    hf_buffer input = HF_BUFFER_INIT;
    struct entry_input entry;
    int code = read_entry(call, &entry);

    if (code != EXIT_YES)
        return code;
    if (from_stdin != (call->options->operand_count == 1))
        return call_usage(call, "specify either VALUE or --stdin");
    if (!from_stdin)
        return put_bytes(call, &entry, call_operand(call, 1));
    code = call_read_stdin(call, HF_VALUE_MAX, &input);
    if (code == EXIT_YES)
        code = put_bytes(call, &entry, hf_view(input.data, input.size));
    free(input.data);
    return code;
}

static int cache_delete(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_cache_delete(call->client, call_operand(call, 0), &err);

    return print_done(call, "key", "deleted", status, &err);
}

static int cache_invalidate(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_cache_invalidate(call->client, call_operand(call, 0), &err);

    return print_done(call, "tag", "invalidated", status, &err);
}

/* -------------------------------------------------------------------- fill */

static int print_filled(const struct call *call,
                        const struct cache_command *command, hf_status status,
                        const hf_error *err, const hf_buffer *value)
{
    if (command->code != EXIT_YES && status == HF_OK) {
        complain("cache fill",
                 "the command failed with exit code %d; printed "
                 "an old value",
                 command->code);
    } else if (command->code != EXIT_YES) {
        out_value(&command->output, true);
        return command->code;
    }
    return print_entry(call, status, err, value);
}

static hf_status get_or_fill(struct call *call, struct cache_command *command,
                             hf_cache_options *options, hf_buffer *value,
                             hf_error *err)
{
    hf_bytes key = call_operand(call, 0);
    uint32_t flags = options->flags;

    if ((flags & HF_CACHE_NO_WAIT) == 0 && call_says_waits(call)) {
        hf_status status;

        options->flags |= HF_CACHE_NO_WAIT;
        status = hf_cache_get_or_fill(call->client, key, cache_command_run,
                                      command, options, value, NULL, err);
        options->flags = flags;
        if (status != HF_TIMEOUT)
            return status;
        notice("cache fill", "waiting for \"%s\": another fill is under way",
               call->options->operands[0]);
    }
    return hf_cache_get_or_fill(call->client, key, cache_command_run, command,
                                options, value, NULL, err);
}

static int cache_fill(struct call *call)
{
    const struct options *given = call->options;
    struct cache_command command = {.argv = given->tail};
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    struct entry_input entry;
    hf_status status;
    int code = read_entry(call, &entry);

    if (code != EXIT_YES)
        return code;
    if (given->tail_count == 0)
        return call_usage(call, "missing argument COMMAND");
    entry.options.lease_ms = given->number[OPT_FILL_LEASE];
    entry.options.wait_ms =
        given->given[OPT_WAIT] && given->number[OPT_WAIT] > 0
            ? given->number[OPT_WAIT]
            : HF_FOREVER;
    if (given->given[OPT_NONBLOCK] ||
        (given->given[OPT_WAIT] && given->number[OPT_WAIT] == 0))
        entry.options.flags = HF_CACHE_NO_WAIT;
    status = get_or_fill(call, &command, &entry.options, &value, &err);
    code = print_filled(call, &command, status, &err, &value);
    hf_buffer_free(&value);
    cache_command_end(&command);
    return code;
}

const struct command cache_commands[] = {
    {.grammar = {.name = "cache get",
                 .accepts = OPTIONS_COMMON | OPTION(RAW) | OPTION(ALLOW_STALE),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = cache_get},
    {.grammar = {.name = "cache put",
                 .accepts = OPTIONS_WRITE | LIFE_OPTIONS | OPTION(STDIN),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "KEY [VALUE]"},
     .run = cache_put},
    {.grammar = {.name = "cache delete",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = cache_delete},
    {.grammar = {.name = "cache invalidate",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "TAG"},
     .run = cache_invalidate},
    {.grammar = {.name = "cache fill",
                 .accepts = OPTIONS_WRITE | LIFE_OPTIONS | OPTION(RAW) |
                            OPTION(FILL_LEASE) | OPTION(WAIT) |
                            OPTION(NONBLOCK) | OPTION(VERBOSE) | OPTION(QUIET),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY [--] COMMAND [ARGUMENT...]",
                 .tail = TAIL_COMMAND},
     .run = cache_fill},
    COMMAND_END,
};
