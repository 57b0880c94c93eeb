/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_file.c - holdfast txn FILE: a condition or a command on each line.
 *
 * Errors name the line. Replies are printed in the order of the commands.
 */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/words.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/command.h"
#include "holdfast/txn.h"
#include "output.h"

#define TEXT_MAX (64u << 20)

/* What became of the lines. */
struct txn {
    struct call *call;
    hf_async queue; /* its txn */
    hf_reply **replies;
    size_t *command_lines;
    size_t command_count, command_room;
    size_t *condition_lines;
    size_t condition_count, condition_room;
};

static int fail_line(const struct txn *txn, size_t line, const char *wrong)
{
    complain(txn->call->command->grammar.name, "line %zu: %s", line, wrong);
    return EXIT_USAGE;
}

static int fail_call(const struct txn *txn, size_t line, hf_status status,
                     const hf_error *err)
{
    hf_error named = *err;

    if (line > 0)
        (void)snprintf(named.message, sizeof(named.message), "line %zu: %.200s",
                       line, err->message);
    return call_failed(txn->call, status, &named);
}

/* Make room in a list of lines. */
static bool grow_lines(size_t **lines, size_t *room, size_t count)
{
    size_t wanted = *room == 0 ? 16 : 2 * *room;
    size_t *grown;

    if (count < *room)
        return true;
    grown = realloc(*lines, wanted * sizeof(*grown));
    if (grown == NULL)
        return false;
    *lines = grown;
    *room = wanted;
    return true;
}

static int no_memory(const struct txn *txn)
{
    complain(txn->call->command->grammar.name, "out of memory");
    return EXIT_SYSTEM;
}

/* -------------------------------------------------------------- conditions */

enum condition {
    EXISTS,
    ABSENT,
    VALUE,
    VERSION,
    FIELD,
    NO_FIELD,
    TOKEN,
    FENCE
};

static const struct {
    const char *name;
    size_t words;
    const char *usage;
} conditions[] = {
    [EXISTS] = {"exists", 3, "if exists KEY"},
    [ABSENT] = {"absent", 3, "if absent KEY"},
    [VALUE] = {"value", 4, "if value KEY VALUE"},
    [VERSION] = {"version", 4, "if version KEY VERSION"},
    [FIELD] = {"field", 5, "if field KEY FIELD VALUE"},
    [NO_FIELD] = {"no-field", 4, "if no-field KEY FIELD"},
    [TOKEN] = {"token", 4, "if token LOCK TOKEN"},
    [FENCE] = {"fence", 4, "if fence KEY TOKEN"},
};

#define CONDITION_COUNT (sizeof(conditions) / sizeof(conditions[0]))

static bool is_word(hf_bytes word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static hf_status add_token(hf_txn *txn, enum condition kind, hf_bytes name,
                           hf_bytes text, hf_error *err)
{
    int64_t token = 0;

    /* What is no number is out of range. */
    if (hf_bytes_int(text, &token, NULL) != HF_OK || token < 0)
        token = 0;
    return kind == TOKEN ? hf_txn_if_token(txn, name, (uint64_t)token, err)
                         : hf_txn_if_fence(txn, name, (uint64_t)token, err);
}

static hf_status add_condition(hf_txn *txn, enum condition kind,
                               const hf_bytes *words, hf_error *err)
{
    switch (kind) {
    case EXISTS:
        return hf_txn_if_exists(txn, words[2], err);
    case ABSENT:
        return hf_txn_if_absent(txn, words[2], err);
    case VALUE:
        return hf_txn_if_value(txn, words[2], words[3], err);
    case VERSION:
        return hf_txn_if_version(txn, words[2], words[3], err);
    case FIELD:
        return hf_txn_if_field(txn, words[2], words[3], &words[4], err);
    case TOKEN:
    case FENCE:
        return add_token(txn, kind, words[2], words[3], err);
    case NO_FIELD:
        break;
    }
    return hf_txn_if_field(txn, words[2], words[3], NULL, err);
}

static int read_condition(struct txn *txn, const struct words *words,
                          size_t line)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    char usage[64];
    size_t kind = 0;

    while (
        kind < CONDITION_COUNT &&
        (words->count < 2 || !is_word(words->items[1], conditions[kind].name)))
        kind++;
    if (kind == CONDITION_COUNT)
        return fail_line(txn, line,
                         "\"if\" is followed by exists, absent, value, "
                         "version, field, no-field, token or fence");
    if (words->count != conditions[kind].words) {
        (void)snprintf(usage, sizeof(usage), "expected: %s",
                       conditions[kind].usage);
        return fail_line(txn, line, usage);
    }
    if (!grow_lines(&txn->condition_lines, &txn->condition_room,
                    txn->condition_count))
        return no_memory(txn);
    status =
        add_condition(txn->queue.txn, (enum condition)kind, words->items, &err);
    if (status != HF_OK)
        return fail_call(txn, line, status, &err);
    txn->condition_lines[txn->condition_count++] = line;
    return EXIT_YES;
}

/* ---------------------------------------------------------------- commands */

static int read_command(struct txn *txn, const struct words *words, size_t line)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    if (!grow_lines(&txn->command_lines, &txn->command_room,
                    txn->command_count))
        return no_memory(txn);
    status =
        hf_command_start(txn->call->client, words->count, words->items,
                         &txn->replies[txn->command_count], &txn->queue, &err);
    if (status != HF_OK)
        return fail_call(txn, line, status, &err);
    txn->command_lines[txn->command_count++] = line;
    return EXIT_YES;
}

static int read_lines(struct txn *txn, char *text, size_t size)
{
    struct words words = {NULL, 0, 0};
    int code = EXIT_YES;
    size_t line = 1;

    for (char *at = text, *end = text + size; code == EXIT_YES && at < end;
         line++) {
        char *next = memchr(at, '\n', (size_t)(end - at));
        const char *wrong;

        if (next == NULL)
            next = end;
        wrong = words_split(&words, at, (size_t)(next - at));
        if (wrong != NULL)
            code = fail_line(txn, line, wrong);
        else if (words.count > 0)
            code = is_word(words.items[0], "if")
                       ? read_condition(txn, &words, line)
                       : read_command(txn, &words, line);
        at = next + 1;
    }
    words_free(&words);
    return code;
}

/* --------------------------------------------------------------- execution */

static void print_replies(const struct txn *txn)
{
    struct json json;

    if (txn->call->json) {
        json_begin(&json, stdout);
        json_bool(&json, "applied", true);
        json_open(&json, "replies", '[');
        for (size_t i = 0; i < txn->command_count; i++)
            out_reply_json(&json, NULL, txn->replies[i]);
        json_close(&json, ']');
        json_end(&json);
        return;
    }
    for (size_t i = 0; i < txn->command_count; i++) {
        if (txn->call->options->given[OPT_RAW])
            out_reply_raw(txn->replies[i]);
        else
            out_reply(txn->replies[i]);
    }
}

/* The line of what failed; 0: none. */
static size_t failed_line(const struct txn *txn, const hf_error *err)
{
    size_t failed = hf_txn_failed(txn->queue.txn);
    bool is_condition = strncmp(err->message, "condition ", 10) == 0;

    if (failed == HF_TXN_NONE)
        return 0;
    return is_condition ? txn->condition_lines[failed]
                        : txn->command_lines[failed];
}

static int execute_txn(struct txn *txn)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_txn_exec(txn->queue.txn, &err);
    struct json json;
    size_t line;

    if (status == HF_OK) {
        print_replies(txn);
        return EXIT_YES;
    }
    line = failed_line(txn, &err);
    if (status == HF_CONFLICT && txn->call->json) {
        json_begin(&json, stdout);
        json_bool(&json, "applied", false);
        json_integer(&json, "line", (int64_t)line);
        json_end(&json);
    }
    return fail_call(txn, line, status, &err);
}

static size_t count_lines(const char *text, size_t size)
{
    size_t count = 1;

    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    return count;
}

static int run_text(struct call *call, char *text, size_t size)
{
    struct txn txn = {.call = call, .queue = HF_ASYNC_INIT};
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_txn_new(call->client, NULL, &txn.queue.txn, &err);
    size_t lines = count_lines(text, size);
    int code;

    if (status != HF_OK)
        return call_failed(call, status, &err);
    txn.replies = calloc(lines, sizeof(hf_reply *));
    code = txn.replies == NULL ? no_memory(&txn) : read_lines(&txn, text, size);
    if (code == EXIT_YES)
        code = execute_txn(&txn);
    for (size_t i = 0; i < txn.command_count; i++)
        hf_reply_free(txn.replies[i]);
    hf_txn_free(txn.queue.txn);
    free(txn.replies);
    free(txn.command_lines);
    free(txn.condition_lines);
    return code;
}

static int txn_run(struct call *call)
{
    hf_buffer text = HF_BUFFER_INIT;
    int code =
        call_read_file(call, call->options->operands[0], TEXT_MAX, &text);

    if (code == EXIT_YES)
        code = run_text(call, text.data, text.size);
    free(text.data);
    return code;
}

const struct command txn_commands[] = {
    {.grammar = {.name = "txn",
                 .accepts = OPTIONS_WRITE | OPTION(RAW),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "FILE|-"},
     .run = txn_run},
    COMMAND_END,
};
