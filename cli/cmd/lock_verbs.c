/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_verbs.c - holdfast lock inspect|holders|list|break, and the table of all
 * its commands.
 */
#include "cmd.h"

#include <inttypes.h>

#include "cmd/lock_keep.h"
#include "exit.h"
#include "holder_text.h"
#include "holdfast/lock.h"
#include "output.h"
#include "read_number.h"

/* A name may hold any bytes. */
static void print_safe(hf_bytes name)
{
    const char *text = name.data;

    for (size_t i = 0; i < name.size; i++)
        putchar((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?'
                                                                : text[i]);
}

static void print_holder(const hf_lock_info *info, const hf_holder *holder)
{
    char text[HOLDER_TEXT_SIZE];
    char seconds[NUMBER_SECONDS_SIZE];

    holder_foreign(info, text);
    printf("owner: %s\n", text);
    if (holder == NULL)
        return;
    holder_name(holder, text);
    printf("holder: %s\n", text);
    number_print_seconds(holder_held_ms(info, holder), seconds,
                         sizeof(seconds));
    printf("held for: %s s\n", seconds);
}

static void print_info(bool held, const hf_lock_info *info,
                       const hf_holder *holder)
{
    char seconds[NUMBER_SECONDS_SIZE];

    printf("held: %s\n", held ? "yes" : "no");
    if (held && info->mode != HF_LOCK_EXCLUSIVE)
        printf("mode: %s\nholders: %" PRId64 "\n", holder_modes[info->mode],
               info->holders);
    if (held)
        print_holder(info, holder);
    if (held && info->remaining_ms < 0) {
        puts("expires: never");
    } else if (held) {
        number_print_seconds(info->remaining_ms, seconds, sizeof(seconds));
        printf("expires: in %s s\n", seconds);
    }
    if (held && info->token > 0)
        printf("token: %" PRIu64 "\n", info->token);
    printf("last token: %" PRIu64 "\nwaiters: %" PRId64 "\n", info->last_token,
           info->waiters);
}

static int lock_inspect(struct call *call)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_holder holder = HF_HOLDER_INIT;
    const hf_holder *known = NULL;
    hf_error err = HF_ERROR_INIT;
    hf_bytes name = call_operand(call, 0);
    hf_status status = hf_lock_inspect(call->client, name, &info, &err);
    bool held = status == HF_OK;
    struct json json;

    if (!held && status != HF_NOT_FOUND)
        return call_failed(call, status, &err);
    if (held && holder_look(call->client, &info, &holder))
        known = &holder;
    if (call->json) {
        json_begin(&json, stdout);
        holder_lock_json(&json, name, held, &info, known);
        json_end(&json);
    } else {
        print_info(held, &info, known);
    }
    return held ? EXIT_YES : EXIT_NO;
}

static void list_json(struct json *json, const hf_lock_info *info,
                      const hf_holder *holder)
{
    json_bytes(json, "owner", holder_owner(info));
    json_integer(json, "remaining_ms", info->remaining_ms);
    json_integer(json, "permits", info->holders);
    holder_token_json(json, info);
    if (holder != NULL)
        holder_json(json, info, holder);
}

static void print_one(const hf_lock_info *info, const char *text)
{
    if (info->holders > 1)
        printf("%" PRIu64 " permits: ", info->holders);
    printf("%s", text);
    if (info->token > 0)
        printf(", token %" PRIu64, info->token);
    putchar('\n');
}

static int list_one(void *user, hf_bytes name, const hf_lock_info *info)
{
    const struct call *call = user;
    hf_holder holder = HF_HOLDER_INIT;
    const hf_holder *known = NULL;
    char text[HOLDER_TEXT_SIZE];

    if (holder_look(call->client, info, &holder))
        known = &holder;
    if (call->json) {
        struct json json;

        json_begin(&json, stdout);
        json_bytes(&json, "name", name);
        list_json(&json, info, known);
        json_end(&json);
        return 0;
    }
    holder_describe(info, known, text);
    print_safe(name);
    printf(": ");
    print_one(info, text);
    return 0;
}

static int list_holder(void *user, const hf_lock_info *info)
{
    const struct call *call = user;
    hf_holder holder = HF_HOLDER_INIT;
    const hf_holder *known =
        holder_look(call->client, info, &holder) ? &holder : NULL;
    char text[HOLDER_TEXT_SIZE];
    struct json json;

    if (!call->json) {
        holder_describe(info, known, text);
        print_one(info, text);
        return 0;
    }
    json_begin(&json, stdout);
    list_json(&json, info, known);
    json_end(&json);
    return 0;
}

static int lock_holders(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_lock_holders(call->client, call_operand(call, 0),
                                       list_holder, call, &err);

    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int lock_list(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_bytes pattern = hf_view("", 0);
    hf_status status;

    if (call->options->operand_count > 0)
        pattern = call_operand(call, 0);
    status = hf_lock_list(call->client, pattern, list_one, call, &err);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* Owner ids are never used twice, so no later holder is hit. */
static hf_status break_token(const struct call *call, hf_bytes name,
                             hf_error *err)
{
    uint64_t token = (uint64_t)call->options->number[OPT_HELD_TOKEN];
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(call->client, name, &info, err);

    if (status != HF_OK)
        return status;
    if (info.token == token)
        return hf_lock_break_owner(call->client, name, holder_owner(&info),
                                   err);
    err->status = HF_NOT_FOUND;
    snprintf(err->message, sizeof(err->message),
             "the lock is not held with token %" PRIu64, token);
    return HF_NOT_FOUND;
}

static hf_status break_lock(const struct call *call, hf_bytes name,
                            hf_error *err)
{
    const char *owner = call->options->text[OPT_OWNER];

    if (call->options->given[OPT_HELD_TOKEN])
        return break_token(call, name, err);
    return owner == NULL
               ? hf_lock_break(call->client, name, err)
               : hf_lock_break_owner(call->client, name, hf_str(owner), err);
}

static int lock_break(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_bytes name = call_operand(call, 0);
    struct json json;
    hf_status status;

    if (call->options->given[OPT_HELD_TOKEN] && call->options->given[OPT_OWNER])
        return call_usage(call, "specify either --owner or --token");
    status = break_lock(call, name, &err);
    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        json_begin(&json, stdout);
        json_bytes(&json, "name", name);
        json_bool(&json, "broken", status == HF_OK);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command lock_commands[] = {
    {.grammar = {.name = "lock acquire",
                 .accepts = OPTIONS_WRITE | OPTION(NONBLOCK) | OPTION(WAIT) |
                            OPTION(CONFLICT_CODE) | OPTION(LEASE) |
                            OPTION(MAX_HOLD) | OPTION(PERMITS) |
                            OPTION(VERBOSE) | OPTION(QUIET) | OPTION(KEEP_PID) |
                            OPTION(SIGNAL),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .opens_store = true,
     .run = lock_acquire},
    {.grammar = {.name = "lock renew",
                 .accepts = OPTION(JSON) | OPTION(HELP),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "HANDLE"},
     .opens_store = true,
     .run = lock_renew},
    {.grammar = {.name = "lock release",
                 .accepts = OPTION(JSON) | OPTION(HELP),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "HANDLE"},
     .opens_store = true,
     .run = lock_release},
    {.grammar = {.name = "lock inspect",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = lock_inspect},
    {.grammar = {.name = "lock holders",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = lock_holders},
    {.grammar = {.name = "lock list",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 0,
                 .operands_max = 1,
                 .operands = "[PATTERN]"},
     .run = lock_list},
    {.grammar = {.name = "lock break",
                 .accepts = OPTIONS_WRITE | OPTION(OWNER) | OPTION(HELD_TOKEN),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = lock_break},
    COMMAND_END,
};
