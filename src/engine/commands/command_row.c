/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_row.c - running a command, and the status of its errors.
 */
#include "engine/commands/command_row.h"

#include <stdio.h>
#include <string.h>

#include "engine/keys/reclaim.h"
#include "store/error_line.h"
#include "store/known_commands.h"
#include "store/limits.h"

bool hf__command_arity_fits(const hf__command *command, size_t count)
{
    return hf__known_arity_fits(command->arity, count);
}

/* Longer names are refused only where a key may come to be: one that an earlier
 * version has stored can be read and deleted. */
static bool may_name(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__key_words keys;
    size_t i = 1;

    while (i < count && hf__is_key_size(args[i].size))
        i++;
    if (i >= count)
        return true;
    hf__known_keys(hf__known_find(args[0]), args, count, &keys);
    for (i = hf__key_words_begin(&keys); i != 0;
         i = hf__key_words_next(&keys, i)) {
        if (!hf__arg_key(tx, args[i]))
            return false;
    }
    return true;
}

void hf__command_run(hf__tx *tx, const hf__command *command,
                     const hf_bytes *args, size_t count)
{
    tx->command = command;
    tx->reads = (command->flags & HF__COMMAND_WRITES) == 0;
    tx->claimed_size = 0;
    /* Those of the machine write the store only in part: functions.c. */
    if ((command->flags & (HF__COMMAND_WRITES | HF__COMMAND_MACHINE)) ==
            HF__COMMAND_WRITES &&
        !hf__tx_may_write(tx))
        return;
    hf__arena_free(&tx->arena);
    hf__tx_trim(tx);
    if ((command->flags & HF__COMMAND_GROWS) && hf__tx_is_full(tx)) {
        hf__reclaim_hard(tx);
        if (hf__tx_is_full(tx)) {
            hf__reply_error(tx, "OOM command not allowed when used memory > "
                                "'maxmemory'.");
            return;
        }
    }
    if ((command->flags & HF__COMMAND_GROWS) && !may_name(tx, args, count))
        return;
    if (command->flags & HF__COMMAND_GROWS)
        tx->grows = true;
    command->run(tx, args, count);
    tx->reads = false;
}

/* ------------------------------------------------------------ subcommands */

const hf__command *hf__subcommand_find(const hf__command *command,
                                       hf_bytes name)
{
    size_t size = strlen(command->name);

    for (const hf__command *row = command + 1;
         row->name != NULL && strncmp(row->name, command->name, size) == 0 &&
         row->name[size] == '|';
         row++) {
        if (hf__arg_is(name, row->name + size + 1))
            return row;
    }
    return NULL;
}

static const char *upper_name(char text[32], const char *name)
{
    size_t size = strcspn(name, "|");

    for (size_t i = 0; i < size; i++)
        text[i] = (char)(name[i] - 'a' + 'A');
    text[size] = '\0';
    return text;
}

void hf__subcommand_run(hf__tx *tx, const hf_bytes *args, size_t count)
{
    const hf__command *found = hf__subcommand_find(tx->command, args[1]);
    char text[HF__OUT_ERROR_SIZE];

    if (found == NULL) {
        hf__unknown_subcommand_text(text, tx->command->name, args[1]);
        hf__reply_error(tx, "%s", text);
    } else if (!hf__command_arity_fits(found, count)) {
        hf__reply_arity(tx, found->name);
    } else {
        hf__command_run(tx, found, args, count);
    }
}

void hf__help_heading(char text[HF__OUT_ERROR_SIZE], const char *name)
{
    char large[32];

    (void)snprintf(text, HF__OUT_ERROR_SIZE,
                   "%s <subcommand> [<arg> [value] [opt] ...]. Subcommands "
                   "are:",
                   upper_name(large, name));
}

void hf__reply_help(hf__tx *tx, const char *const *lines)
{
    char text[HF__OUT_ERROR_SIZE];
    size_t count = 0;

    while (lines[count] != NULL)
        count++;
    hf__reply_array(tx, count + 3);
    hf__help_heading(text, tx->command->name);
    hf__reply_line(tx, text);
    for (size_t i = 0; i < count; i++)
        hf__reply_line(tx, lines[i]);
    hf__reply_line(tx, "HELP");
    hf__reply_line(tx, "    Prints this help.");
}

/* ----------------------------------------------------------------- errors */

void hf__unknown_text(char text[HF__OUT_ERROR_SIZE], const hf_bytes *args,
                      size_t count)
{
    /* Redis shows up to 128 bytes of the name and, quotes not counted for the
     * last one, of the arguments. */
    char list[136];
    size_t used = 0;
    hf_bytes name = count > 0 ? args[0] : hf_view("", 0);

    list[0] = '\0';
    for (size_t i = 1; i < count && used < 128; i++) {
        size_t room = 128 - used;
        int size = args[i].size > room ? (int)room : (int)args[i].size;

        size = snprintf(list + used, sizeof(list) - used, "'%.*s' ", size,
                        args[i].size > 0 ? (const char *)args[i].data : "");
        used += size > 0 ? (size_t)size : 0;
    }
    (void)snprintf(text, HF__OUT_ERROR_SIZE,
                   "ERR unknown command '%.*s', with args beginning with: %s",
                   name.size > 128 ? 128 : (int)name.size,
                   name.size > 0 ? (const char *)name.data : "", list);
}

void hf__unknown_subcommand_text(char text[HF__OUT_ERROR_SIZE],
                                 const char *command, hf_bytes word)
{
    char name[32];

    (void)snprintf(text, HF__OUT_ERROR_SIZE,
                   "ERR unknown subcommand '%.*s'. Try %s HELP.",
                   word.size > 128 ? 128 : (int)word.size,
                   word.size > 0 ? (const char *)word.data : "",
                   upper_name(name, command));
}

/* What the line of a failed command or script says. */
static hf_status error_status(const char *text, bool script)
{
    if (strncmp(text, "WRONGTYPE", 9) == 0)
        return HF_WRONG_TYPE;
    if (strncmp(text, "OOM ", 4) == 0)
        return HF_FULL;
    if (strncmp(text, "HFTOKEN ", 8) == 0)
        return HF_CORRUPT;
    if (strncmp(text, "HFINVALID ", 10) == 0)
        return HF_INVALID;
    if (strncmp(text, "HFHELD ", 7) == 0)
        return HF_HELD;
    if (hf__text_begins(hf_str(text), "HFLATE " HF__LATE_TEXT) ||
        strncmp(text, "UNBLOCKED ", 10) == 0)
        return HF_UNAVAILABLE;
    if (strncmp(text, "ERR unknown subcommand", 22) == 0)
        return HF_UNSUPPORTED;
    if (script)
        return HF_SCRIPT;
    if (strncmp(text, "ERR unknown command", 19) == 0)
        return HF_UNSUPPORTED;
    if (strncmp(text, "ERR Error compiling script", 26) == 0)
        return HF_SCRIPT;
    return HF_INVALID;
}

void hf__command_fail(const hf__env *env, const char *text, bool script,
                      hf_error *err)
{
    hf_status status = error_status(text, script);

    if (status == HF_FULL)
        (void)hf__env_fail_full(env, err);
    else
        (void)hf__error_line(err, status, hf_str(text), NULL);
}
