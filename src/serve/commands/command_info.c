/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_info.c - COMMAND: the commands of the store and of the server, from
 * their tables.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/command_docs.h"
#include "serve/commands/key_specs.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "serve/users/acl_table.h"
#include "store/known_commands.h"
#include "util/glob.h"

/* A command, or a subcommand "command|subcommand". */
typedef struct row {
    const char *name; /* NULL: no more */
    int arity;
    unsigned flags; /* of hf__command; 0 of those of the server */
} row;

/* Position in both tables; begin with zeros. */
typedef struct table_place {
    size_t stored, served;
} table_place;

/* Does the server answer this command of the store itself? */
static bool is_shadowed(const char *name)
{
    return hf__served_find(hf_view(name, strcspn(name, "|"))) != NULL;
}

static row next_row(table_place *next)
{
    const hf__command *stored = hf__command_all() + next->stored;
    const hf__served *served = hf__served_all() + next->served;

    while (stored->name != NULL && is_shadowed(stored->name)) {
        stored++;
        next->stored++;
    }
    if (stored->name != NULL) {
        next->stored++;
        return (row){stored->name, stored->arity, stored->flags};
    }
    next->served += served->name != NULL;
    return (row){served->name, served->arity, 0};
}

static bool is_sub(const char *name)
{
    return strchr(name, '|') != NULL;
}

static bool is_sub_of(const char *name, const char *command)
{
    size_t size = strlen(command);

    return strncmp(name, command, size) == 0 && name[size] == '|';
}

static bool find_row(hf_bytes name, row *found)
{
    table_place next = {0};

    do
        *found = next_row(&next);
    while (found->name != NULL && !hf__arg_is(name, found->name));
    return found->name != NULL;
}

/* -------------------------------------------------------------------- INFO */

/* The command, and its subcommand in words[1]. */
static size_t split_name(const char *name, hf_bytes words[2])
{
    size_t size = strcspn(name, "|");

    words[0] = hf_view(name, size);
    if (name[size] == '\0')
        return 1;
    words[1] = hf_str(name + size + 1);
    return 2;
}

static uint32_t categories_of(const char *name)
{
    const hf__known_command *known = hf__known_find_row(hf_str(name));

    return known == NULL ? 0 : known->categories;
}

static bool is_in(uint32_t categories, const char *name)
{
    return (categories >> hf__acl_category(hf_str(name)) & 1) != 0;
}

static void put_categories(hf__answer *answer, uint32_t categories)
{
    char text[32];

    hf__answer_set(answer, (size_t)__builtin_popcount(categories));
    for (int i = 0; i < HF__ACL_CATEGORIES; i++) {
        if ((categories >> i & 1) == 0)
            continue;
        (void)snprintf(text, sizeof(text), "@%s", hf__acl_category_name(i));
        hf__answer_line(answer, text);
    }
}

/* Of those with subcommands, these have the keys. */
static hf__key_range keys_of(const row *one)
{
    hf_bytes words[2];
    bool sub = split_name(one->name, words) == 2;
    const hf__known_command *known = hf__known_find(words[0]);
    bool takes = sub ? one->arity >= 3 || one->arity <= -3
                     : (one->flags & HF__COMMAND_GROUP) == 0;

    if (known == NULL || !takes || known->last == 0)
        return (hf__key_range){.movable = known != NULL &&
                                          hf__known_is_movable(known) && takes};
    if (hf__known_is_counted(known))
        return (hf__key_range){known->last, known->last, 1, true};
    return (hf__key_range){known->first, known->last, known->step,
                           hf__known_is_movable(known)};
}

/* Of those with subcommands, these may be. */
static bool is_refused_in_scripts(const char *name)
{
    const hf__known_command *known = hf__known_find_row(hf_str(name));

    return known != NULL && !hf__known_has_subs(known) &&
           (known->flags & HF__KNOWN_NOSCRIPT) != 0;
}

static void put_flags(hf__answer *answer, const row *one, uint32_t categories,
                      bool movable)
{
    const char *flags[9];
    size_t count = 0;

    if (is_in(categories, "write"))
        flags[count++] = "write";
    if (is_in(categories, "read"))
        flags[count++] = "readonly";
    if ((one->flags & HF__COMMAND_GROWS) != 0)
        flags[count++] = "denyoom";
    if (is_in(categories, "admin"))
        flags[count++] = "admin";
    if (is_in(categories, "pubsub"))
        flags[count++] = "pubsub";
    if (is_refused_in_scripts(one->name))
        flags[count++] = "noscript";
    if (is_in(categories, "blocking"))
        flags[count++] = "blocking";
    if (is_in(categories, "fast"))
        flags[count++] = "fast";
    if (movable)
        flags[count++] = "movablekeys";
    hf__answer_set(answer, count);
    for (size_t i = 0; i < count; i++)
        hf__answer_line(answer, flags[i]);
}

static void put_row(hf__answer *answer, const row *one);

static void put_subs(hf__answer *answer, const char *command)
{
    size_t count = 0;
    table_place next = {0};
    row one;

    for (one = next_row(&next); one.name != NULL; one = next_row(&next))
        count += is_sub_of(one.name, command);
    hf__answer_array(answer, count);
    next = (table_place){0};
    for (one = next_row(&next); one.name != NULL; one = next_row(&next)) {
        if (is_sub_of(one.name, command))
            put_row(answer, &one);
    }
}

/* Tips are left empty. */
static void put_row(hf__answer *answer, const row *one)
{
    uint32_t categories = categories_of(one->name);
    hf__key_range keys = keys_of(one);

    hf__answer_array(answer, 10);
    hf__answer_text(answer, one->name);
    hf__answer_integer(answer, one->arity);
    put_flags(answer, one, categories, keys.movable);
    hf__answer_integer(answer, keys.first);
    hf__answer_integer(answer, keys.last);
    hf__answer_integer(answer, keys.step);
    put_categories(answer, categories);
    hf__answer_set(answer, 0);
    hf__put_key_specs(answer, hf__known_find_row(hf_str(one->name)), &keys);
    if (is_sub(one->name))
        hf__answer_array(answer, 0);
    else
        put_subs(answer, one->name);
}

static size_t count_commands(void)
{
    size_t count = 0;
    table_place next = {0};

    for (row one = next_row(&next); one.name != NULL; one = next_row(&next))
        count += !is_sub(one.name);
    return count;
}

static void put_all(hf__conn *conn)
{
    table_place next = {0};

    hf__answer_array(&conn->answer, count_commands());
    for (row one = next_row(&next); one.name != NULL; one = next_row(&next)) {
        if (!is_sub(one.name))
            put_row(&conn->answer, &one);
    }
}

static void command_info(hf__conn *conn, const hf_bytes *words, size_t count)
{
    row one;

    if (count == 2) {
        put_all(conn);
        return;
    }
    hf__answer_array(&conn->answer, count - 2);
    for (size_t i = 2; i < count; i++) {
        if (find_row(words[i], &one))
            put_row(&conn->answer, &one);
        else
            conn->answer.out.ops->nil_array(&conn->answer.out);
    }
}

static void command_count(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer, (int64_t)count_commands());
}

/* -------------------------------------------------------------------- LIST */

typedef struct command_filter {
    bool all;
    hf_bytes pattern; /* size 0: none */
    int category;     /* -1: none */
} command_filter;

static bool is_wanted(const command_filter *which, const char *name)
{
    if (which->all)
        return true;
    if (which->pattern.size > 0)
        return hf__glob_fits(which->pattern, hf_str(name));
    return which->category >= 0 &&
           (categories_of(name) >> which->category & 1) != 0;
}

static bool read_filter(hf__conn *conn, const hf_bytes *words, size_t count,
                        command_filter *which)
{
    *which = (command_filter){.all = count == 2, .category = -1};
    if (count == 2)
        return true;
    if (count == 5 && hf__arg_is(words[2], "filterby")) {
        if (hf__arg_is(words[3], "pattern") &&
            !hf__answer_pattern(&conn->answer, words[4]))
            return false;
        if (hf__arg_is(words[3], "pattern"))
            which->pattern = words[4];
        else if (hf__arg_is(words[3], "aclcat"))
            which->category = hf__acl_category(words[4]);
        if (hf__arg_is(words[3], "pattern") || hf__arg_is(words[3], "aclcat") ||
            hf__arg_is(words[3], "module"))
            return true;
    }
    hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
    return false;
}

static void command_list(hf__conn *conn, const hf_bytes *words, size_t count)
{
    size_t found = 0;
    table_place next = {0};
    command_filter which;
    row one;

    if (!read_filter(conn, words, count, &which))
        return;
    for (one = next_row(&next); one.name != NULL; one = next_row(&next))
        found += is_wanted(&which, one.name);
    hf__answer_array(&conn->answer, found);
    next = (table_place){0};
    for (one = next_row(&next); one.name != NULL; one = next_row(&next)) {
        if (is_wanted(&which, one.name))
            hf__answer_text(&conn->answer, one.name);
    }
}

/* ----------------------------------------------------------------- GETKEYS */

/* EVAL and the like may have none. */
static bool may_lack_keys(const hf__known_command *known, const hf_bytes *words)
{
    return hf__known_is_counted(known) && known->first == 2 &&
           hf__arg_is(words[2], "0");
}

/* The keys among the words of a command. false: replied with an error. */
static bool find_keys(hf__conn *conn, const hf_bytes *words, size_t count,
                      hf__key_words *keys, size_t *found)
{
    const hf__known_command *known = hf__known_find(words[0]);
    row one;

    if (!find_row(words[0], &one)) {
        hf__answer_error(&conn->answer, "ERR Invalid command specified");
        return false;
    }
    if (known == NULL || (known->last == 0 && !hf__known_is_movable(known))) {
        hf__answer_error(&conn->answer, "ERR The command has no key arguments");
        return false;
    }
    if (!hf__known_arity_fits(one.arity, count)) {
        hf__answer_error(&conn->answer, "ERR Invalid number of arguments "
                                        "specified for command");
        return false;
    }
    hf__known_keys(known, words, count, keys);
    *found = 0;
    for (size_t at = hf__key_words_begin(keys); at != 0;
         at = hf__key_words_next(keys, at))
        ++*found;
    if (*found > 0 || may_lack_keys(known, words))
        return true;
    hf__answer_error(&conn->answer,
                     "ERR Invalid arguments specified for command");
    return false;
}

/* All of them in turn, in the order of the words; 0: no more. Begin with 0. */
static size_t next_key(const hf__key_words *keys, size_t at)
{
    hf__key_words others = *keys;
    size_t next;

    if (keys->extra < keys->first)
        return at == 0 ? hf__key_words_begin(keys)
                       : hf__key_words_next(keys, at);
    if (at == keys->extra)
        return 0;
    others.extra = 0;
    next = at == 0 ? hf__key_words_begin(&others)
                   : hf__key_words_next(&others, at);
    return next != 0 ? next : keys->extra;
}

static void command_getkeys(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__key_words keys;
    size_t found;

    if (!find_keys(conn, words + 2, count - 2, &keys, &found))
        return;
    hf__answer_array(&conn->answer, found);
    for (size_t at = next_key(&keys, 0); at != 0; at = next_key(&keys, at))
        hf__answer_bytes(&conn->answer, words[2 + at]);
}

static void command_getkeysandflags(hf__conn *conn, const hf_bytes *words,
                                    size_t count)
{
    hf__key_words keys;
    const hf__known_command *known = hf__known_find_words(words + 2, count - 2);
    size_t found, first;

    if (!find_keys(conn, words + 2, count - 2, &keys, &found))
        return;
    first =
        keys.extra != 0 && keys.extra < keys.first ? keys.extra : keys.first;
    hf__answer_array(&conn->answer, found);
    for (size_t at = next_key(&keys, 0); at != 0; at = next_key(&keys, at)) {
        hf__answer_array(&conn->answer, 2);
        hf__answer_bytes(&conn->answer, words[2 + at]);
        hf__put_key_flags(
            &conn->answer,
            hf__key_access(known, words + 2, count - 2, at == first));
    }
}

/* ------------------------------------------------------------------- table */

static void command_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "(no subcommand)",
        "    Return details about all Redis commands.",
        "COUNT",
        "    Return the total number of commands in this Redis server.",
        "LIST",
        "    Return a list of all commands in this Redis server.",
        "INFO [<command-name> ...]",
        "    Return details about multiple Redis commands.",
        "    If no command names are given, documentation details for all",
        "    commands are returned.",
        "DOCS [<command-name> ...]",
        "    Return what commands are for, and their arguments.",
        "GETKEYS <full-command>",
        "    Return the keys from a full Redis command.",
        "GETKEYSANDFLAGS <full-command>",
        "    Return the keys and the access flags from a full Redis command.",
        NULL};

    (void)words;
    (void)count;
    hf__served_help(conn, "command", lines);
}

static void run_command(hf__conn *conn, const hf_bytes *words, size_t count)
{
    if (count == 1)
        put_all(conn);
    else
        hf__served_subcommand(conn, words, count);
}

const hf__served_entry hf__served_command[] = {
    {"command", HF__SERVED_UNIT | HF__SERVED_IN_EXEC, run_command},
    {"command|count", 0, command_count},
    {"command|docs", 0, hf__command_docs},
    {"command|getkeys", 0, command_getkeys},
    {"command|getkeysandflags", 0, command_getkeysandflags},
    {"command|help", 0, command_help},
    {"command|info", 0, command_info},
    {"command|list", 0, command_list},
    {NULL, 0, NULL}};
