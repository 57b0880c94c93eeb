/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_command.c - FUNCTION. FCALL is in eval.c.
 */
#include "engine/commands/command_row.h"
#include "engine/lua/functions.h"
#include "engine/lua/shebang.h"
#include "util/glob.h"

static void function_load(hf__tx *tx, const hf_bytes *words, size_t count)
{
    const hf__library *library;
    bool replace = false;

    for (size_t i = 2; i + 1 < count; i++) {
        if (!hf__arg_is(words[i], "replace")) {
            hf__reply_error(tx, "ERR Unknown option given: %.*s",
                            HF__SHOWN(words[i]));
            return;
        }
        replace = true;
    }
    if (hf__functions_load(tx, words[count - 1], replace, &library))
        hf__reply_bytes(tx, library->name.data, library->name.size);
}

static void function_delete(hf__tx *tx, const hf_bytes *words, size_t count)
{
    (void)count;
    if (hf__functions_delete(tx, words[2]))
        hf__reply_line(tx, "OK");
}

static void function_flush(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (count > 3)
        hf__reply_words(tx, "FUNCTION", words[1]);
    else if (count == 3 && !hf__arg_is(words[2], "sync") &&
             !hf__arg_is(words[2], "async"))
        hf__reply_error(tx,
                        "ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
    else if (hf__functions_flush(tx))
        hf__reply_line(tx, "OK");
}

static void function_dump(hf__tx *tx, const hf_bytes *words, size_t count)
{
    const hf__functions *functions = hf__functions_current(tx);
    hf_bytes payload;

    (void)words;
    (void)count;
    if (functions != NULL && hf__functions_dump(tx, functions, &payload))
        hf__reply_bytes(tx, payload.data, payload.size);
}

static void function_restore(hf__tx *tx, const hf_bytes *words, size_t count)
{
    hf__restore_policy policy = HF__RESTORE_APPEND;

    if (count > 4) {
        hf__reply_words(tx, "FUNCTION", words[1]);
        return;
    }
    if (count == 4 && hf__arg_is(words[3], "replace")) {
        policy = HF__RESTORE_REPLACE;
    } else if (count == 4 && hf__arg_is(words[3], "flush")) {
        policy = HF__RESTORE_FLUSH;
    } else if (count == 4 && !hf__arg_is(words[3], "append")) {
        hf__reply_error(tx, "ERR Wrong restore policy given, value should be "
                            "either FLUSH, APPEND or REPLACE.");
        return;
    }
    if (hf__functions_restore(tx, words[2], policy))
        hf__reply_line(tx, "OK");
}

/* --------------------------------------------------------------- what there is
 */

static void reply_flags(hf__tx *tx, unsigned flags)
{
    hf__reply_set(tx, (size_t)__builtin_popcount(flags));
    for (size_t i = 0; i < HF__SCRIPT_FLAG_COUNT; i++) {
        if ((flags & (1u << i)) != 0)
            hf__reply_line(tx, hf__script_flags[i]);
    }
}

static void reply_function(hf__tx *tx, const hf__function *function)
{
    hf_bytes text = function->description;

    hf__reply_map(tx, 3);
    hf__reply_word(tx, "name");
    hf__reply_bytes(tx, function->name.data, function->name.size);
    hf__reply_word(tx, "description");
    if (text.data != NULL)
        hf__reply_bytes(tx, text.data, text.size);
    else
        hf__reply_nil(tx);
    hf__reply_word(tx, "flags");
    reply_flags(tx, function->flags);
}

static void reply_library(hf__tx *tx, const hf__library *library,
                          bool with_code)
{
    hf__reply_map(tx, with_code ? 4 : 3);
    hf__reply_word(tx, "library_name");
    hf__reply_bytes(tx, library->name.data, library->name.size);
    hf__reply_word(tx, "engine");
    hf__reply_word(tx, "LUA");
    hf__reply_word(tx, "functions");
    hf__reply_array(tx, library->count);
    for (const hf__function *at = library->first; at != NULL; at = at->next)
        reply_function(tx, at);
    if (with_code) {
        hf__reply_word(tx, "library_code");
        hf__reply_bytes(tx, library->code.data, library->code.size);
    }
}

typedef struct list_options {
    hf_bytes pattern; /* data NULL: any name */
    bool with_code;
} list_options;

static bool read_list(hf__tx *tx, const hf_bytes *words, size_t count,
                      list_options *options)
{
    for (size_t i = 2; i < count; i++) {
        if (!options->with_code && hf__arg_is(words[i], "withcode")) {
            options->with_code = true;
        } else if (options->pattern.data == NULL &&
                   hf__arg_is(words[i], "libraryname")) {
            if (++i == count)
                return hf__reply_error(
                    tx, "ERR library name argument was not given");
            options->pattern =
                hf_view(words[i].size > 0 ? words[i].data : "", words[i].size);
        } else {
            return hf__reply_error(tx, "ERR Unknown argument %.*s",
                                   HF__SHOWN(words[i]));
        }
    }
    return true;
}

static bool is_listed(const list_options *options, const hf__library *library)
{
    return options->pattern.data == NULL ||
           hf__glob_fits(options->pattern, library->name);
}

static void function_list(hf__tx *tx, const hf_bytes *words, size_t count)
{
    list_options options = {.with_code = false};
    const hf__functions *functions;
    size_t listed = 0;

    if (!read_list(tx, words, count, &options))
        return;
    functions = hf__functions_current(tx);
    if (functions == NULL)
        return;
    for (const hf__library *at = functions->first; at != NULL; at = at->next)
        listed += is_listed(&options, at);
    hf__reply_array(tx, listed);
    for (const hf__library *at = functions->first; at != NULL; at = at->next) {
        if (is_listed(&options, at))
            reply_library(tx, at, options.with_code);
    }
}

/* A function that runs keeps the writer lock, which this needs too. */
static void function_stats(hf__tx *tx, const hf_bytes *words, size_t count)
{
    const hf__functions *functions = hf__functions_current(tx);

    (void)words;
    (void)count;
    if (functions == NULL)
        return;
    hf__reply_map(tx, 2);
    hf__reply_word(tx, "running_script");
    hf__reply_nil(tx);
    hf__reply_word(tx, "engines");
    hf__reply_map(tx, 1);
    hf__reply_word(tx, "LUA");
    hf__reply_map(tx, 2);
    hf__reply_word(tx, "libraries_count");
    hf__reply_integer(tx, (int64_t)functions->library_count);
    hf__reply_word(tx, "functions_count");
    hf__reply_integer(tx, (int64_t)functions->function_count);
}

/* As of FUNCTION STATS. */
static void function_kill(hf__tx *tx, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__reply_error(tx, "NOTBUSY No scripts in execution right now.");
}

static void function_help(hf__tx *tx, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "DELETE <library-name>",
        "    Delete a library.",
        "DUMP",
        "    Return all libraries in the form that RESTORE reads.",
        "FLUSH [ASYNC|SYNC]",
        "    Delete all libraries.",
        "KILL",
        "    Stop the function that runs.",
        "LIST [LIBRARYNAME <pattern>] [WITHCODE]",
        "    Return the libraries and their functions.",
        "LOAD [REPLACE] <code>",
        "    Add a library, or replace the one of its name.",
        "RESTORE <payload> [APPEND|FLUSH|REPLACE]",
        "    Add the libraries of a dump: to those that there are, in place of "
        "all,",
        "    or in place of those of the same names.",
        "STATS",
        "    Return which function runs, and how many there are.",
        NULL};

    (void)words;
    (void)count;
    hf__reply_help(tx, lines);
}

const hf__command_entry hf__commands_function[] = {
    {"function", HF__COMMAND_WRITES | HF__COMMAND_MACHINE | HF__COMMAND_GROUP,
     hf__subcommand_run},
    {"function|load", 0, function_load},
    {"function|delete", 0, function_delete},
    {"function|flush", 0, function_flush},
    {"function|dump", 0, function_dump},
    {"function|restore", 0, function_restore},
    {"function|list", 0, function_list},
    {"function|stats", 0, function_stats},
    {"function|kill", 0, function_kill},
    {"function|help", 0, function_help},
    {NULL, 0, NULL}};
