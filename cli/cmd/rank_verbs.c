/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_verbs.c - holdfast rank add|incr|get|page|around|count|remove|trim|
 * expire.
 */
#include "cmd.h"

#include <stdlib.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/rank.h"
#include "output.h"

static void begin_answer(const struct call *call, struct json *json)
{
    json_begin(json, stdout);
    json_bytes(json, "key", call_operand(call, 0));
}

static bool read_score(const struct call *call, const char *text,
                       double *number)
{
    char *end;

    *number = strtod(text, &end);
    if (end != text && *end == '\0')
        return true;
    complain(call->command->grammar.name, "\"%s\" is no number", text);
    return false;
}

/* A number of members; its exit code. */
static int print_size(const struct call *call, const char *name, size_t count)
{
    struct json json;

    if (!call->json) {
        printf("%zu\n", count);
        return EXIT_YES;
    }
    begin_answer(call, &json);
    json_integer(&json, name, (int64_t)count);
    json_end(&json);
    return EXIT_YES;
}

/* ------------------------------------------------------------- add, get ... */

/* Where a member is: its rank, a tab, its score. */
static void print_place(const struct call *call, const hf_rank_place *place,
                        const int64_t *ttl_ms)
{
    char score[JSON_NUMBER_SIZE];
    struct json json;

    if (!call->json) {
        json_number_text(score, place->score);
        printf("%zu\t%s\n", place->rank, score);
        return;
    }
    begin_answer(call, &json);
    json_bytes(&json, "member", call_operand(call, 1));
    json_number(&json, "score", place->score);
    json_integer(&json, "rank", (int64_t)place->rank);
    json_integer(&json, "count", (int64_t)place->count);
    if (ttl_ms != NULL)
        json_integer(&json, "ttl_ms", *ttl_ms);
    json_end(&json);
}

static hf_rank_add_options add_options(const struct call *call)
{
    const bool *given = call->options->given;
    hf_rank_add_options options = HF_RANK_ADD_OPTIONS_INIT;

    options.flags = (given[OPT_NX] ? (uint32_t)HF_RANK_NX : 0) |
                    (given[OPT_XX] ? (uint32_t)HF_RANK_XX : 0) |
                    (given[OPT_GT] ? (uint32_t)HF_RANK_GT : 0) |
                    (given[OPT_LT] ? (uint32_t)HF_RANK_LT : 0) |
                    (given[OPT_MEMBER_KEEPTTL] ? (uint32_t)HF_RANK_KEEPTTL : 0);
    options.ttl_ms = call_ttl_ms(call);
    return options;
}

static int rank_add(struct call *call)
{
    hf_rank_add_options options = add_options(call);
    hf_error err = HF_ERROR_INIT;
    hf_rank_place place;
    double score;
    hf_status status;

    if (!read_score(call, call->options->operands[2], &score))
        return EXIT_USAGE;
    status = hf_rank_add(call->client, call_operand(call, 0),
                         call_operand(call, 1), score, &options, &place, &err);
    if (status == HF_OK)
        print_place(call, &place, NULL);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int rank_incr(struct call *call)
{
    hf_rank_add_options options = add_options(call);
    hf_error err = HF_ERROR_INIT;
    hf_rank_place place;
    double delta = 1;
    hf_status status;

    if (call->options->operand_count > 2 &&
        !read_score(call, call->options->operands[2], &delta))
        return EXIT_USAGE;
    status =
        hf_rank_increment(call->client, call_operand(call, 0),
                          call_operand(call, 1), delta, &options, &place, &err);
    if (status == HF_OK)
        print_place(call, &place, NULL);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int rank_get(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_rank_place place;
    int64_t ttl_ms;
    hf_status status =
        hf_rank_get(call->client, call_operand(call, 0), call_operand(call, 1),
                    &place, &ttl_ms, &err);

    if (status == HF_OK)
        print_place(call, &place, &ttl_ms);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* -------------------------------------------------------------------- page */

static void print_page(const struct call *call, const hf_rank_members *page)
{
    char score[JSON_NUMBER_SIZE];
    struct json json;

    for (size_t i = 0; i < page->count && !call->json; i++) {
        json_number_text(score, page->items[i].score);
        out_pair(page->items[i].member, hf_str(score));
    }
    if (!call->json)
        return;
    begin_answer(call, &json);
    json_open(&json, "members", '[');
    for (size_t i = 0; i < page->count; i++) {
        json_open(&json, NULL, '{');
        json_bytes(&json, "member", page->items[i].member);
        json_number(&json, "score", page->items[i].score);
        json_integer(&json, "rank", (int64_t)page->items[i].rank);
        json_integer(&json, "ttl_ms", page->items[i].ttl_ms);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

static uint32_t page_order(const struct call *call)
{
    return call->options->given[OPT_OLDEST] ? (uint32_t)HF_RANK_ASCENDING : 0;
}

static int end_page(const struct call *call, hf_status status,
                    hf_rank_members *page, const hf_error *err)
{
    if (status != HF_OK)
        return call_failed(call, status, err);
    print_page(call, page);
    hf_rank_members_free(page);
    return EXIT_YES;
}

static int rank_page(struct call *call)
{
    const int64_t *number = call->options->number;
    hf_rank_members page = HF_RANK_MEMBERS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_rank_page(
        call->client, call_operand(call, 0), (size_t)number[OPT_OFFSET],
        (size_t)number[OPT_LIMIT], page_order(call), &page, &err);

    return end_page(call, status, &page, &err);
}

static int rank_around(struct call *call)
{
    size_t each = call->options->given[OPT_LIMIT]
                      ? (size_t)call->options->number[OPT_LIMIT]
                      : 2;
    hf_rank_members page = HF_RANK_MEMBERS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_rank_around(call->client, call_operand(call, 0),
                                      call_operand(call, 1), each,
                                      page_order(call), &page, &err);

    return end_page(call, status, &page, &err);
}

/* ------------------------------------------------------ count, remove, trim */

static int rank_count(struct call *call)
{
    const struct options *given = call->options;
    bool has_min = given->given[OPT_FROM], has_max = given->given[OPT_TO];
    hf_error err = HF_ERROR_INIT;
    double min, max;
    size_t count;
    hf_status status;

    if ((has_min && !read_score(call, given->text[OPT_FROM], &min)) ||
        (has_max && !read_score(call, given->text[OPT_TO], &max)))
        return EXIT_USAGE;
    status = hf_rank_count(call->client, call_operand(call, 0),
                           has_min ? &min : NULL, has_max ? &max : NULL, &count,
                           &err);
    return status == HF_OK ? print_size(call, "count", count)
                           : call_failed(call, status, &err);
}

static int rank_remove(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_NO_MEMORY;
    size_t count, removed = 0;
    hf_bytes *members = call_operands(call, 1, &count);

    if (members != NULL)
        status = hf_rank_remove(call->client, call_operand(call, 0), members,
                                count, &removed, &err);
    free(members);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    (void)print_size(call, "removed", removed);
    return removed > 0 ? EXIT_YES : EXIT_NO;
}

static int rank_trim(struct call *call)
{
    int64_t keep =
        call->options->given[OPT_KEEP] ? call->options->number[OPT_KEEP] : -1;
    hf_rank_trimmed trimmed = {0, true};
    hf_error err = HF_ERROR_INIT;
    size_t removed = 0;

    while (trimmed.more) {
        hf_status status = hf_rank_trim(call->client, call_operand(call, 0),
                                        keep, &trimmed, &err);

        if (status != HF_OK)
            return call_failed(call, status, &err);
        removed += trimmed.removed;
    }
    return print_size(call, "removed", removed);
}

static int rank_expire(struct call *call)
{
    bool never = call->options->given[OPT_PERSIST];
    int64_t ttl_ms = never ? -1 : call_ttl_ms(call);
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    if (ttl_ms == 0)
        return call_usage(call, "--ttl or --persist is missing");
    status = hf_rank_expire(call->client, call_operand(call, 0),
                            call_operand(call, 1), ttl_ms, &err);
    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        begin_answer(call, &json);
        json_bytes(&json, "member", call_operand(call, 1));
        json_bool(&json, "found", status == HF_OK);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

#define OPTIONS_RANK_ADD                                                       \
    (OPTION(TTL) | OPTION(NX) | OPTION(XX) | OPTION(GT) | OPTION(LT) |         \
     OPTION(MEMBER_KEEPTTL))

#define VERB(verb, words, options, least, most)                                \
    {                                                                          \
        .grammar = {.name = "rank " #verb,                                     \
                    .accepts = (options),                                      \
                    .operands_min = (least),                                   \
                    .operands_max = (most),                                    \
                    .operands = (words)},                                      \
        .run = rank_##verb                                                     \
    }

const struct command rank_commands[] = {
    VERB(add, "KEY MEMBER SCORE", OPTIONS_WRITE | OPTIONS_RANK_ADD, 3, 3),
    VERB(incr, "KEY MEMBER [DELTA]", OPTIONS_WRITE | OPTIONS_RANK_ADD, 2, 3),
    VERB(get, "KEY MEMBER", OPTIONS_COMMON, 2, 2),
    VERB(page, "KEY",
         OPTIONS_COMMON | OPTION(OFFSET) | OPTION(LIMIT) | OPTION(OLDEST), 1,
         1),
    VERB(around, "KEY MEMBER", OPTIONS_COMMON | OPTION(LIMIT) | OPTION(OLDEST),
         2, 2),
    VERB(count, "KEY", OPTIONS_COMMON | OPTION(FROM) | OPTION(TO), 1, 1),
    VERB(remove, "KEY MEMBER...", OPTIONS_WRITE, 2, -1),
    VERB(trim, "KEY", OPTIONS_WRITE | OPTION(KEEP), 1, 1),
    VERB(expire, "KEY MEMBER", OPTIONS_WRITE | OPTION(TTL) | OPTION(PERSIST), 2,
         2),
    COMMAND_END,
};
