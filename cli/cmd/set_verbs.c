/* SPDX-License-Identifier: Apache-2.0 */
/* set_verbs.c - holdfast set add|remove|has|count|members|expire. */
#include "cmd.h"

#include <stdlib.h>

#include "exit.h"
#include "holdfast/set.h"
#include "output.h"

static void begin_answer(const struct call *call, struct json *json)
{
    json_begin(json, stdout);
    json_bytes(json, "key", call_operand(call, 0));
}

/* How many members there are, were removed ...; its exit code. */
static int print_size(const struct call *call, const char *name, size_t count,
                      hf_status status, const hf_error *err)
{
    struct json json;

    if (status != HF_OK)
        return call_failed(call, status, err);
    if (!call->json) {
        printf("%zu\n", count);
        return EXIT_YES;
    }
    begin_answer(call, &json);
    json_integer(&json, name, (int64_t)count);
    json_end(&json);
    return EXIT_YES;
}

static int set_add(struct call *call)
{
    const bool *given = call->options->given;
    hf_set_add_options options = HF_SET_ADD_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_NO_MEMORY;
    size_t count, added = 0;
    hf_bytes *members = call_operands(call, 1, &count);

    options.flags = (given[OPT_NX] ? (uint32_t)HF_SET_NX : 0) |
                    (given[OPT_XX] ? (uint32_t)HF_SET_XX : 0) |
                    (given[OPT_MEMBER_KEEPTTL] ? (uint32_t)HF_SET_KEEPTTL : 0);
    options.ttl_ms = call_ttl_ms(call);
    if (members != NULL)
        status = hf_set_add(call->client, call_operand(call, 0), members, count,
                            &options, &added, &err);
    free(members);
    return print_size(call, "added", added, status, &err);
}

static int set_remove(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_NO_MEMORY;
    size_t count, removed = 0;
    hf_bytes *members = call_operands(call, 1, &count);
    int code;

    if (members != NULL)
        status = hf_set_remove(call->client, call_operand(call, 0), members,
                               count, &removed, &err);
    free(members);
    code = print_size(call, "removed", removed, status, &err);
    return code == EXIT_YES && removed == 0 ? EXIT_NO : code;
}

static int set_expire(struct call *call)
{
    bool never = call->options->given[OPT_PERSIST];
    int64_t ttl_ms = never ? -1 : call_ttl_ms(call);
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_NO_MEMORY;
    size_t count, found = 0;
    hf_bytes *members;
    int code;

    if (ttl_ms == 0)
        return call_usage(call, "--ttl or --persist is missing");
    members = call_operands(call, 1, &count);
    if (members != NULL)
        status = hf_set_expire(call->client, call_operand(call, 0), ttl_ms,
                               members, count, &found, &err);
    free(members);
    code = print_size(call, "found", found, status, &err);
    return code == EXIT_YES && found == 0 ? EXIT_NO : code;
}

static int set_count(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    size_t count = 0;
    hf_status status =
        hf_set_count(call->client, call_operand(call, 0), &count, &err);

    return print_size(call, "count", count, status, &err);
}

static int set_has(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t ttl_ms = -2;
    hf_status status = hf_set_has(call->client, call_operand(call, 0),
                                  call_operand(call, 1), &ttl_ms, &err);
    struct json json;

    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        begin_answer(call, &json);
        json_bytes(&json, "member", call_operand(call, 1));
        json_bool(&json, "found", status == HF_OK);
        json_integer(&json, "ttl_ms", ttl_ms);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static void put_member(struct json *json, const hf_set_member *member)
{
    if (json == NULL) {
        out_line(member->member);
        return;
    }
    json_open(json, NULL, '{');
    json_bytes(json, "member", member->member);
    json_integer(json, "ttl_ms", member->ttl_ms);
    json_close(json, '}');
}

/* A cursor is read until the next page has its own. */
static int set_members(struct call *call)
{
    hf_set_members page = HF_SET_MEMBERS_INIT, last = HF_SET_MEMBERS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    struct json json;

    if (call->json) {
        begin_answer(call, &json);
        json_open(&json, "members", '[');
    }
    do {
        status = hf_set_page(call->client, call_operand(call, 0), last.next,
                             HF_MEMBER_COUNT_MAX, &page, &err);
        hf_set_members_free(&last);
        for (size_t i = 0; status == HF_OK && i < page.count; i++)
            put_member(call->json ? &json : NULL, &page.items[i]);
        last = page;
        page = (hf_set_members)HF_SET_MEMBERS_INIT;
    } while (status == HF_OK && last.next.size > 0);
    hf_set_members_free(&last);
    if (call->json) {
        json_close(&json, ']');
        return call_end_json(call, &json, status, &err);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

#define VERB(verb, words, options, least, most)                                \
    {                                                                          \
        .grammar = {.name = "set " #verb,                                      \
                    .accepts = (options),                                      \
                    .operands_min = (least),                                   \
                    .operands_max = (most),                                    \
                    .operands = (words)},                                      \
        .run = set_##verb                                                      \
    }

const struct command set_commands[] = {
    VERB(add, "KEY MEMBER...",
         OPTIONS_WRITE | OPTION(TTL) | OPTION(NX) | OPTION(XX) |
             OPTION(MEMBER_KEEPTTL),
         2, -1),
    VERB(remove, "KEY MEMBER...", OPTIONS_WRITE, 2, -1),
    VERB(has, "KEY MEMBER", OPTIONS_COMMON, 2, 2),
    VERB(count, "KEY", OPTIONS_COMMON, 1, 1),
    VERB(members, "KEY", OPTIONS_COMMON, 1, 1),
    VERB(expire, "KEY MEMBER...", OPTIONS_WRITE | OPTION(TTL) | OPTION(PERSIST),
         2, -1),
    COMMAND_END,
};
