/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the table of commands against COMMAND of a server: how many words a
 * command takes, whether it writes, whether it needs memory, whether scripts
 * may call it; and what a script gets that calls another of the server's
 * commands.
 */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/lua/noscript.h"
#include "engine/run/command_table.h"
#include "newer.h"

/* In the order of a row of COMMAND. */
enum { ROW_NAME = 0, ROW_ARITY = 1, ROW_FLAGS = 2, ROW_SUBCOMMANDS = 9 };

static bool is_text(const hf_reply *reply, const char *text)
{
    return reply->bytes.size == strlen(text) &&
           memcmp(reply->bytes.data, text, reply->bytes.size) == 0;
}

static bool has_flag(const hf_reply *row, const char *flag)
{
    const hf_reply *flags = &row->array.items[ROW_FLAGS];

    for (size_t i = 0; i < flags->array.count; i++) {
        if (is_text(&flags->array.items[i], flag))
            return true;
    }
    return false;
}

/* "a", or the subcommand "a|b". */
static const hf_reply *find_row(const hf_reply *rows, const char *name)
{
    size_t size = strcspn(name, "|");

    for (size_t i = 0; i < rows->array.count; i++) {
        const hf_reply *row = &rows->array.items[i];
        const hf_reply *found = &row->array.items[ROW_NAME];

        if (is_text(found, name))
            return row;
        if (name[size] == '|' && found->bytes.size == size &&
            memcmp(found->bytes.data, name, size) == 0)
            return find_row(&row->array.items[ROW_SUBCOMMANDS], name);
    }
    return NULL;
}

static unsigned compare_flag(const hf__command *command, const hf_reply *row,
                             unsigned flag, const char *name)
{
    bool ours = (command->flags & flag) != 0;

    if (ours == has_flag(row, name))
        return 0;
    printf("%s: the server's flag %s %s\n", command->name, name,
           ours ? "is not there" : "is there");
    return 1;
}

/* Ours are also writers where the write transaction is needed for events,
 * scripts or what PFCOUNT keeps, those that put what is pending in a stream are
 * refused by a full store, and Redis keeps only the container of SCRIPT
 * from scripts by its subcommands. */
static bool is_special(const hf__command *command)
{
    return strcmp(command->name, "publish") == 0 ||
           strcmp(command->name, "xreadgroup") == 0 ||
           strcmp(command->name, "xclaim") == 0 ||
           strcmp(command->name, "xautoclaim") == 0 ||
           strcmp(command->name, "pfcount") == 0 ||
           strcmp(command->name, "spublish") == 0 ||
           strncmp(command->name, "pubsub", 6) == 0 ||
           strncmp(command->name, "script", 6) == 0 ||
           strncmp(command->name, "function", 8) == 0 ||
           strcmp(command->name, "xgroup") == 0 ||
           (command->flags & HF__COMMAND_EVAL) != 0;
}

static unsigned compare_command(const hf__command *command,
                                const hf_reply *rows)
{
    const hf_reply *row = find_row(rows, command->name);
    unsigned count = 0;

    if (newer_has_other_row(command->name) || newer_lacks(command->name))
        return 0;
    if (row == NULL) {
        printf("%s: the server has no such command\n", command->name);
        return 1;
    }
    if (row->array.items[ROW_ARITY].integer != command->arity) {
        printf("%s: arity %d, the server's is %lld\n", command->name,
               command->arity, (long long)row->array.items[ROW_ARITY].integer);
        count++;
    }
    if (is_special(command))
        return count;
    count += compare_flag(command, row, HF__COMMAND_WRITES, "write");
    count += compare_flag(command, row, HF__COMMAND_GROWS, "denyoom");
    count += compare_flag(command, row, HF__COMMAND_NO_SCRIPT, "noscript");
    return count;
}

/* -------------------------------------------------------- refused commands */

#define WORDS_MAX 16

/* What a script gets for a command of `count` words, "a" or "a|b". */
static const char *refusal(const hf_reply *row, size_t count)
{
    const hf_reply *name = &row->array.items[ROW_NAME];
    hf_bytes whole = hf_view(name->bytes.data, name->bytes.size);
    const char *bar = memchr(whole.data, '|', whole.size);
    hf_bytes words[WORDS_MAX];

    for (size_t i = 0; i < WORDS_MAX; i++)
        words[i] = hf_str("x");
    words[0] = whole;
    if (bar != NULL) {
        words[0].size = (size_t)(bar - (const char *)whole.data);
        words[1] = hf_view(bar + 1, whole.size - words[0].size - 1);
    }
    return hf__noscript_error(words, count);
}

static unsigned expect_refusal(const hf_reply *row, int64_t count,
                               const char *wanted)
{
    const char *text;

    if (count < 1 || count > WORDS_MAX)
        return 0;
    text = refusal(row, (size_t)count);
    if (strstr(text, wanted) != NULL)
        return 0;
    printf("%s with %lld words in a script: %s\n",
           row->array.items[ROW_NAME].bytes.data, (long long)count, text);
    return 1;
}

static unsigned compare_refusals(const hf_reply *rows);

/* Those that scripts may call are unknown here, or in our own table. */
static unsigned compare_refusal(const hf_reply *row)
{
    int64_t arity = row->array.items[ROW_ARITY].integer;
    int64_t words = arity < 0 ? -arity : arity;
    unsigned count = 0;

    if (newer_has_other_row(row->array.items[ROW_NAME].bytes.data))
        return 0;
    if (row->array.items[ROW_SUBCOMMANDS].array.count > 0)
        return compare_refusals(&row->array.items[ROW_SUBCOMMANDS]);
    if (!has_flag(row, "noscript"))
        return expect_refusal(row, words, "Unknown");
    count += expect_refusal(row, words, "not allowed");
    count += expect_refusal(row, words - 1, "Wrong number");
    count += expect_refusal(row, words + 1,
                            arity < 0 ? "not allowed" : "Wrong number");
    return count;
}

static unsigned compare_refusals(const hf_reply *rows)
{
    unsigned count = 0;

    for (size_t i = 0; i < rows->array.count; i++)
        count += compare_refusal(&rows->array.items[i]);
    return count;
}

unsigned table_differences(side *server)
{
    hf_bytes words[] = {hf_str("command")};
    op asked = {.kind = OP_PLAIN, .words = words, .word_count = 1};
    unsigned differences = 0;
    unsigned commands = 0;
    hf__request request;
    hf__arena arena;

    hf__arena_init(&arena);
    side_perform(server, &asked, 1, &request, &arena);
    if (request.status != HF_OK || request.reply.kind != HF_REPLY_ARRAY) {
        fprintf(stderr, "differential: COMMAND: %s\n", request.error.message);
        exit(2);
    }
    for (const hf__command *command = hf__command_all(); command->name != NULL;
         command++) {
        differences += compare_command(command, &request.reply);
        commands++;
    }
    differences += compare_refusals(&request.reply);
    printf("%u commands, %u differences\n", commands, differences);
    hf__request_done(&request);
    hf__arena_free(&arena);
    return differences;
}
