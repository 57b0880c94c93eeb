/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_verbs.c - holdfast store info|check|compact|setup, and the table of
 * all.
 */
#include "cmd/store_verbs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/store.h"
#include "json_line.h"
#include "read_number.h"

/* Room for a name in JSON; the library's are much shorter. */
#define NAME_SIZE 64

/* -------------------------------------------------------------------- info */

/* Names of facts have spaces, in JSON underscores. */
static void json_name(char name[NAME_SIZE], const char *words)
{
    size_t i;

    for (i = 0; words[i] != '\0' && i < NAME_SIZE - 1; i++)
        name[i] = words[i] == ' ' ? '_' : words[i];
    name[i] = '\0';
}

/* Digits only, and few enough for any 63-bit number. */
static bool is_number(const char *text)
{
    size_t size = strspn(text, "0123456789");

    return size > 0 && size < 19 && text[size] == '\0';
}

static void put_line_json(void *user, const char *name, const char *value)
{
    char member[NAME_SIZE];
    struct json *json = user;

    json_name(member, name);
    if (is_number(value))
        json_integer(json, member, strtoll(value, NULL, 10));
    else
        json_text(json, member, value);
}

static void put_line(void *user, const char *name, const char *value)
{
    size_t i;

    (void)user;
    printf("%s: ", name);
    for (i = 0; value[i] != '\0'; i++)
        putchar(iscntrl((unsigned char)value[i]) ? '?' : value[i]);
    putchar('\n');
}

static int store_info(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    if (call->json)
        json_begin(&json, stdout);
    status = hf_store_info(call->client, call->json ? put_line_json : put_line,
                           &json, &err);
    return call_end_json(call, &json, status, &err);
}

/* ------------------------------------------------------------------- check */

struct check {
    struct json *json; /* NULL: for people */
    bool terminal;     /* stderr is one: show progress */
    bool drawn;
    uint64_t percent; /* as drawn */
};

static void clear_progress(struct check *check)
{
    if (check->drawn)
        fputs("\r\033[K", stderr);
    check->drawn = false;
}

static void draw_progress(void *user, uint64_t done, uint64_t total)
{
    struct check *check = user;
    uint64_t percent = total > 0 ? done * 100 / total : 0;

    if (!check->terminal || (check->drawn && check->percent == percent))
        return;
    check->drawn = true;
    check->percent = percent;
    fprintf(stderr, "\rstore check %3" PRIu64 "%%\033[K", percent);
    (void)fflush(stderr);
}

static void put_fault(void *user, const char *fault)
{
    struct check *check = user;

    clear_progress(check);
    if (check->json != NULL)
        json_text(check->json, NULL, fault);
    else
        puts(fault);
}

static int store_check(struct call *call)
{
    hf_store_check_options options = HF_STORE_CHECK_OPTIONS_INIT;
    struct check check = {.terminal = isatty(STDERR_FILENO) == 1};
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    options.limit_ms = call->options->number[OPT_WAIT];
    options.progress = draw_progress;
    if (call->json) {
        check.json = &json;
        json_begin(&json, stdout);
        json_open(&json, "faults", '[');
    }
    status = hf_store_check(call->options->text[OPT_STORE], &options, put_fault,
                            &check, &err);
    clear_progress(&check);
    if (call->json) {
        json_close(&json, ']');
        json_bool(&json, "ok", status == HF_OK);
        json_text(&json, "status", hf_status_name(status));
    }
    if (status == HF_OK && !call->json)
        puts("no errors found");
    return call_end_json(call, &json, status, &err);
}

/* ----------------------------------------------------------------- compact */

static void put_compaction(const hf_store_compaction *done)
{
    printf("expired keys removed: %" PRIu64 "\nelements removed: %" PRIu64
           "\nbytes before: %" PRIu64 "\nbytes after: %" PRIu64
           "\nbytes at most: %" PRIu64 "\nrewritten: %s\n",
           done->keys, done->elements, done->size_before, done->size_after,
           done->max_size,
           done->rewritten ? "yes"
           : done->in_use  ? "no, the store is open elsewhere"
                           : "no");
}

static void put_compaction_json(const hf_store_compaction *done)
{
    struct json json;

    json_begin(&json, stdout);
    json_integer(&json, "expired_keys_removed", (int64_t)done->keys);
    json_integer(&json, "elements_removed", (int64_t)done->elements);
    json_integer(&json, "bytes_before", (int64_t)done->size_before);
    json_integer(&json, "bytes_after", (int64_t)done->size_after);
    json_integer(&json, "bytes_at_most", (int64_t)done->max_size);
    json_bool(&json, "rewritten", done->rewritten);
    json_bool(&json, "in_use", done->in_use);
    json_end(&json);
}

static int store_compact(struct call *call)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    const char *limit = call->options->text[OPT_MAX_SIZE];
    hf_error err = HF_ERROR_INIT;
    int64_t size = 0;
    hf_status status;

    if (limit != NULL && !number_size(limit, &size)) {
        complain("store compact",
                 "--max-size takes bytes, or with K, M, G, not \"%s\"", limit);
        return EXIT_USAGE;
    }
    done.max_size = (uint64_t)size;
    status = hf_store_compact(call->options->text[OPT_STORE], &done, &err);
    if (status != HF_OK && status != HF_FULL)
        return call_failed(call, status, &err);
    if (call->json)
        put_compaction_json(&done);
    else
        put_compaction(&done);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* ------------------------------------------------------------------- setup */

static void put_sql(void *user, const char *sql)
{
    if (user != NULL)
        json_text(user, "sql", sql);
    else
        fputs(sql, stdout);
}

static int store_setup(struct call *call)
{
    bool prints = call->options->given[OPT_DRY_RUN];
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    if (call->json)
        json_begin(&json, stdout);
    status =
        hf_store_setup(call->options->text[OPT_STORE], prints ? put_sql : NULL,
                       call->json ? &json : NULL, &err);
    if (call->json)
        json_bool(&json, "done", status == HF_OK && !prints);
    return call_end_json(call, &json, status, &err);
}

const struct command store_commands[] = {
    {.grammar = {.name = "store info", .accepts = OPTIONS_COMMON},
     .run = store_info},
    {.grammar = {.name = "store diagnose",
                 .accepts = OPTIONS_COMMON | OPTION(WAIT) | OPTION(REQUESTS)},
     .opens_store = true,
     .run = store_diagnose},
    {.grammar = {.name = "store check",
                 .accepts = OPTIONS_COMMON | OPTION(WAIT)},
     .opens_store = true,
     .run = store_check},
    {.grammar = {.name = "store compact",
                 .accepts = OPTIONS_COMMON | OPTION(MAX_SIZE)},
     .opens_store = true,
     .run = store_compact},
    {.grammar = {.name = "store salvage",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "STORE NEW"},
     .opens_store = true,
     .run = store_salvage},
    {.grammar = {.name = "store dump",
                 .accepts = OPTIONS_COMMON | OPTION(OUTPUT) | OPTION(MATCH)},
     .run = store_dump},
    {.grammar = {.name = "store load",
                 .accepts = OPTIONS_COMMON | OPTION(REPLACE) | OPTION(SKIP) |
                            OPTION(DRY_RUN) | OPTION(DROP_FIELD_TTL) |
                            OPTION(CONTINUE),
                 .operands_max = 1,
                 .operands = "[FILE|-]"},
     .run = store_load},
    {.grammar = {.name = "store setup",
                 .accepts = OPTIONS_COMMON | OPTION(DRY_RUN)},
     .opens_store = true,
     .run = store_setup},
    COMMAND_END,
};
