/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acl_change.c - see acl_change.h. A change is in memory; ACL SAVE writes it to
 * the file of users, and ACL LOAD, or SIGHUP, undoes what was not saved.
 */
#include "serve/users/acl_change.h"

#include <string.h>

#include "serve/state.h"
#include "serve/users/auth.h"
#include "serve/users/user_rules.h"
#include "util/error.h"
#include "util/mem.h"

#define ERROR_NO_FILE                                                          \
    "ERR This Redis instance is not configured to use an ACL file. You may "   \
    "want to specify users via the ACL SETUSER command and then issue a "      \
    "CONFIG REWRITE (assuming you have a Redis configuration file set) in "    \
    "order to store users in the Redis configuration."

static bool has_pattern(const hf__user_pattern *list, hf_bytes text)
{
    while (list != NULL && (list->text.size != text.size ||
                            memcmp(list->text.data, text.data, text.size) != 0))
        list = list->next;
    return list != NULL;
}

static bool loses_channels(const hf__user *old, const hf__user *user)
{
    bool loses = old->all_channels;

    if (user->all_channels)
        return false;
    for (const hf__user_pattern *at = old->channels; at != NULL && !loses;
         at = at->next)
        loses = !has_pattern(user->channels, at->text);
    return loses;
}

static bool is_subscriber(const hf__conn *conn)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(conn->follows) / sizeof(conn->follows[0]);
         i++)
        count += conn->follows[i];
    return count > 0;
}

/* Its connections have the new rules from now on; those that may have
 * subscribed to a channel that it has lost are closed, `self` after its
 * reply. */
static void move_conns(hf_server *server, hf__conn *self, const hf__user *old,
                       const hf__user *user)
{
    bool loses = loses_channels(old, user);
    hf__conn *next;

    for (hf__conn *conn = server->conns; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->user != old)
            continue;
        conn->user = user;
        if (!loses || !is_subscriber(conn))
            continue;
        if (conn == self)
            conn->closing = true;
        else
            hf__conn_close(conn);
    }
}

/* Put it in place of the one of its name, unless it is only checked. false: who
 * can reach the server would become able to do anything. */
static bool put_user(hf_server *server, hf__conn *self, hf__user *user,
                     bool apply, hf_error *why)
{
    hf__user *old = hf__users_put(&server->users, user);
    bool fits = server->check_users(server, &server->users, why) == HF_OK;

    if (!fits || !apply) {
        if (old != NULL)
            (void)hf__users_put(&server->users, old);
        else
            (void)hf__users_take(&server->users, hf_str(user->name));
        hf__user_free(user);
        return fits;
    }
    if (old != NULL) {
        move_conns(server, self, old, user);
        hf__user_free(old);
    }
    server->user_changes++;
    return true;
}

bool hf__acl_password(hf_server *server, hf_bytes password, bool apply,
                      hf_error *why)
{
    bool none = password.size == 0;
    hf_bytes rules[2] = {hf_str("resetpass"), hf_str("nopass")};
    char *rule = hf__alloc(1 + password.size);
    hf__user *user = NULL;

    if (rule == NULL)
        return hf__fail(why, HF_NO_MEMORY, "out of memory") == HF_OK;
    rule[0] = '>';
    if (!none) {
        memcpy(rule + 1, password.data, password.size);
        rules[1] = hf_view(rule, 1 + password.size);
    }
    user = hf__user_made(&server->users, hf_str("default"), rules, 2, why);
    explicit_bzero(rule, 1 + password.size);
    hf__free(rule);
    return user != NULL && put_user(server, NULL, user, apply, why);
}

static bool is_name(hf__conn *conn, hf_bytes name)
{
    const char *text = name.data;
    bool fits = name.size > 0 && strchr("><#!", text[0]) == NULL;

    for (size_t i = 0; fits && i < name.size; i++)
        fits = (unsigned char)text[i] > ' ';
    if (!fits)
        hf__answer_error(&conn->answer, "ERR Usernames can't contain spaces or "
                                        "null characters");
    return fits;
}

void hf__acl_setuser(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    hf_error why = HF_ERROR_INIT;
    hf__user *user;

    if (!is_name(conn, words[2]))
        return;
    user = hf__user_made(&server->users, words[2], words + 3, count - 3, &why);
    if (user != NULL && put_user(server, conn, user, true, &why))
        hf__answer_line(&conn->answer, "OK");
    else
        hf__answer_error(&conn->answer, "ERR %s", why.message);
}

void hf__acl_deluser(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    int64_t deleted = 0;

    for (size_t i = 2; i < count; i++) {
        if (hf__user_word_is(words[i], "default")) {
            hf__answer_error(&conn->answer,
                             "ERR The 'default' user cannot be removed");
            return;
        }
    }
    for (size_t i = 2; i < count; i++) {
        hf__user *user = hf__users_take(&server->users, words[i]);

        if (user == NULL)
            continue;
        hf__auth_leave(server, &server->users, conn);
        hf__user_free(user);
        server->user_changes++;
        deleted++;
    }
    hf__answer_integer(&conn->answer, deleted);
}

/* --------------------------------------------------------------- the file */

static bool has_file(hf__conn *conn)
{
    if (conn->server->options.users_file != NULL)
        return true;
    hf__answer_error(&conn->answer, ERROR_NO_FILE);
    return false;
}

void hf__acl_load(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    hf_error error = HF_ERROR_INIT;
    hf__users users = {NULL};
    hf_status status;

    (void)words;
    (void)count;
    if (!has_file(conn))
        return;
    status = hf__auth_read(&server->options, &users, &error);
    if (status == HF_OK)
        status = server->check_users(server, &users, &error);
    if (status == HF_OK) {
        hf__auth_replace(server, &users, conn);
        hf__answer_line(&conn->answer, "OK");
        return;
    }
    hf__users_done(&users);
    hf__answer_error(&conn->answer, "ERR %s; users not changed", error.message);
}

void hf__acl_save(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_error error = HF_ERROR_INIT;

    (void)words;
    (void)count;
    if (!has_file(conn))
        return;
    if (hf__users_write(&conn->server->users, conn->server->options.users_file,
                        &error) == HF_OK)
        hf__answer_line(&conn->answer, "OK");
    else
        hf__answer_error(&conn->answer, "ERR %s", error.message);
}
