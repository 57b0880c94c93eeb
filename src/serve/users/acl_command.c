/* SPDX-License-Identifier: Apache-2.0 */
/* acl_command.c - ACL: the table, and the subcommands that only read. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "serve/users/access.h"
#include "serve/users/acl_change.h"
#include "serve/users/acl_log.h"
#include "util/rand.h"

/* A line of ACL LIST. */
#define LINE_SIZE_MAX (8u * 1024 * 1024)

/* Names in messages are cut here. */
#define NAME_SHOWN 128

#define GENPASS_BITS_MAX 4096

#define SHOWN(word)                                                            \
    (word).size > NAME_SHOWN ? NAME_SHOWN : (int)(word).size,                  \
        (const char *)(word).data

static void acl_whoami(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_text(&conn->answer, conn->user->name);
}

static size_t count_users(const hf_server *server)
{
    size_t count = 0;

    for (const hf__user *at = server->users.first; at != NULL; at = at->next)
        count++;
    return count;
}

static void acl_users(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf_server *server = conn->server;

    (void)words;
    (void)count;
    hf__answer_array(&conn->answer, count_users(server));
    for (const hf__user *at = server->users.first; at != NULL; at = at->next)
        hf__answer_text(&conn->answer, at->name);
}

/* What `describe` writes about a user. */
static void put_text(hf__conn *conn, const hf__user *user,
                     bool (*describe)(const hf__user *user, hf__buf *text))
{
    hf__buf text;

    hf__buf_init(&text, LINE_SIZE_MAX);
    if (!describe(user, &text))
        conn->answer.no_room = true;
    hf__answer_bytes(&conn->answer,
                     hf_view(hf__buf_front(&text), hf__buf_size(&text)));
    hf__buf_done(&text);
}

static void acl_list(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf_server *server = conn->server;

    (void)words;
    (void)count;
    hf__answer_array(&conn->answer, count_users(server));
    for (const hf__user *at = server->users.first; at != NULL; at = at->next)
        put_text(conn, at, hf__user_describe);
}

static void put_hashes(hf__answer *answer, const hf__user *user)
{
    char text[2 * HF__USERS_HASH_SIZE + 1];
    size_t count = 0;

    for (const hf__user_hash *at = user->hashes; at != NULL; at = at->next)
        count++;
    hf__answer_array(answer, count);
    for (const hf__user_hash *at = user->hashes; at != NULL; at = at->next) {
        hf__user_hash_text(at, text);
        hf__answer_text(answer, text);
    }
}

static void put_flags(hf__answer *answer, const hf__user *user)
{
    hf__answer_array(answer, user->nopass ? 2 : 1);
    hf__answer_text(answer, user->on ? "on" : "off");
    if (user->nopass)
        hf__answer_text(answer, "nopass");
}

static void acl_getuser(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__user *user = hf__users_find(&conn->server->users, words[2]);
    hf__answer *answer = &conn->answer;

    (void)count;
    if (user == NULL) {
        hf__answer_nil(answer);
        return;
    }
    hf__answer_map(answer, 6);
    hf__answer_text(answer, "flags");
    put_flags(answer, user);
    hf__answer_text(answer, "passwords");
    put_hashes(answer, user);
    hf__answer_text(answer, "commands");
    hf__answer_bytes(answer, hf_view(hf__buf_front(&user->rules),
                                     hf__buf_size(&user->rules)));
    hf__answer_text(answer, "keys");
    put_text(conn, user, hf__user_describe_keys);
    hf__answer_text(answer, "channels");
    put_text(conn, user, hf__user_describe_channels);
    hf__answer_text(answer, "selectors");
    hf__answer_array(answer, 0);
}

static bool is_of(int command, int category)
{
    return (hf__known_table[command].categories >> category & 1) != 0;
}

static void put_category(hf__answer *answer, int category)
{
    size_t size = 0;

    for (int i = 0; i < hf__acl_count(); i++)
        size += is_of(i, category);
    hf__answer_array(answer, size);
    for (int i = 0; i < hf__acl_count(); i++) {
        if (is_of(i, category))
            hf__answer_text(answer, hf__known_table[i].name);
    }
}

static void acl_cat(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__answer *answer = &conn->answer;
    int category = count == 3 ? hf__acl_category(words[2]) : -1;

    if (count > 3) {
        hf__answer_error(answer,
                         "ERR unknown subcommand or wrong number of arguments "
                         "for '%.*s'. Try ACL HELP.",
                         SHOWN(words[1]));
    } else if (category >= 0) {
        put_category(answer, category);
    } else if (count == 3) {
        hf__answer_error(answer, "ERR Unknown category '%.*s'",
                         SHOWN(words[2]));
    } else {
        hf__answer_array(answer, HF__ACL_CATEGORIES);
        for (int i = 0; i < HF__ACL_CATEGORIES; i++)
            hf__answer_text(answer, hf__acl_category_name(i));
    }
}

static void put_refusal(hf__conn *conn, hf__access access,
                        const hf_bytes *words, size_t count, size_t at)
{
    static const char *const verbs[] = {[HF__ACCESS_COMMAND] = "run",
                                        [HF__ACCESS_KEY] = "access",
                                        [HF__ACCESS_CHANNEL] = "access",
                                        [HF__ACCESS_SORT_BY] = "run",
                                        [HF__ACCESS_SORT_GET] = "run"};
    static const char *const nouns[] = {[HF__ACCESS_COMMAND] = "command",
                                        [HF__ACCESS_KEY] = "key",
                                        [HF__ACCESS_CHANNEL] = "channel",
                                        [HF__ACCESS_SORT_BY] = "command",
                                        [HF__ACCESS_SORT_GET] = "command"};
    int number = hf__acl_find_words(words, count);
    hf_bytes what = at > 0        ? words[at]
                    : number >= 0 ? hf_str(hf__known_table[number].name)
                                  : words[0];
    char text[NAME_SHOWN + 80];

    (void)snprintf(text, sizeof(text),
                   "This user has no permissions to %s the '%.*s' %s",
                   verbs[access], SHOWN(what), nouns[access]);
    hf__answer_text(&conn->answer, text);
}

/* The number of words of a command that may be one of the server or the
 * store. */
static bool has_command(hf_bytes name, int *arity)
{
    const hf__served *served = hf__served_find(name);
    const hf__command *command = hf__command_find(name);

    if (served != NULL)
        *arity = served->arity;
    else if (command != NULL)
        *arity = command->arity;
    return served != NULL || command != NULL;
}

static void acl_dryrun(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__user *user = hf__users_find(&conn->server->users, words[2]);
    int arity = 0;
    hf__access access;
    size_t at;

    if (user == NULL) {
        hf__answer_error(&conn->answer, "ERR User '%.*s' not found",
                         SHOWN(words[2]));
    } else if (!has_command(words[3], &arity)) {
        hf__answer_error(&conn->answer, "ERR Command '%.*s' not found",
                         SHOWN(words[3]));
    } else if (!hf__known_arity_fits(arity, count - 3)) {
        hf__answer_error(&conn->answer,
                         "ERR wrong number of arguments for '%.*s' command",
                         SHOWN(words[3]));
    } else {
        access = hf__access_check(user, words + 3, count - 3, &at);
        if (access == HF__ACCESS_OK)
            hf__answer_line(&conn->answer, "OK");
        else
            put_refusal(conn, access, words + 3, count - 3, at);
    }
}

static void acl_genpass(hf__conn *conn, const hf_bytes *words, size_t count)
{
    char text[GENPASS_BITS_MAX / 4 + 1];
    int64_t bits = 256;

    if (count > 3) {
        hf__answer_error(&conn->answer, "ERR syntax error");
    } else if (count == 3 && (!hf__number_integer(words[2], &bits) ||
                              bits < 1 || bits > GENPASS_BITS_MAX)) {
        hf__answer_error(&conn->answer,
                         "ERR ACL GENPASS argument must be the number of bits "
                         "for the output password, a positive number up to %d",
                         GENPASS_BITS_MAX);
    } else {
        hf__rand_hex(text, GENPASS_BITS_MAX / 8);
        hf__answer_bytes(&conn->answer, hf_view(text, (size_t)(bits + 3) / 4));
    }
}

static void acl_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "CAT [<category>]",
        "    List all commands that belong to <category>, or all command "
        "categories",
        "    when no category is specified.",
        "DELUSER <username> [<username> ...]",
        "    Delete a list of users.",
        "DRYRUN <username> <command> [<arg> ...]",
        "    Returns whether the user can execute the given command without "
        "executing the command.",
        "GENPASS [<bits>]",
        "    Generate a secure 256-bit user password. The optional `bits` "
        "argument can",
        "    be used to specify a different size.",
        "GETUSER <username>",
        "    Get the user's details.",
        "LIST",
        "    Show users details in config file format.",
        "LOAD",
        "    Reload users from the ACL file.",
        "LOG [<count> | RESET]",
        "    Show the ACL log entries.",
        "SAVE",
        "    Save the current config to the ACL file.",
        "SETUSER <username> <attribute> [<attribute> ...]",
        "    Create or modify a user with the specified attributes.",
        "USERS",
        "    List all the registered usernames.",
        "WHOAMI",
        "    Return the current connection username.",
        NULL};

    (void)words;
    (void)count;
    hf__served_help(conn, "acl", lines);
}

const hf__served_entry hf__served_acl[] = {{"acl", 0, hf__served_subcommand},
                                           {"acl|cat", 0, acl_cat},
                                           {"acl|deluser", 0, hf__acl_deluser},
                                           {"acl|dryrun", 0, acl_dryrun},
                                           {"acl|genpass", 0, acl_genpass},
                                           {"acl|getuser", 0, acl_getuser},
                                           {"acl|help", 0, acl_help},
                                           {"acl|list", 0, acl_list},
                                           {"acl|load", 0, hf__acl_load},
                                           {"acl|log", 0, hf__acl_log_command},
                                           {"acl|save", 0, hf__acl_save},
                                           {"acl|setuser", 0, hf__acl_setuser},
                                           {"acl|users", 0, acl_users},
                                           {"acl|whoami", 0, acl_whoami},
                                           {NULL, 0, NULL}};
