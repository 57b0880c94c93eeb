/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.c - see auth.h; the command AUTH.
 */
#include "serve/users/auth.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/log.h"
#include "serve/parts.h"
#include "serve/users/acl_log.h"
#include "serve/users/guesses.h"
#include "util/secret.h"

/* -------------------------------------------------------------------- users */

hf_status hf__auth_read(const hf_server_options *options, hf__users *users,
                        hf_error *err)
{
    char password[HF__SECRET_SIZE];
    hf_status status;

    if (options->users_file != NULL)
        return hf__users_read(options->users_file, users, err);
    if (options->password_file == NULL)
        return hf__users_single(NULL, users, err);
    status =
        hf__secret_read("password_file", options->password_file, password, err);
    if (status == HF_OK)
        status = hf__users_single(password, users, err);
    explicit_bzero(password, sizeof(password));
    return status;
}

static bool is_listed(const hf__users *users, const hf__user *user)
{
    const hf__user *at = users->first;

    while (at != NULL && at != user)
        at = at->next;
    return at != NULL;
}

void hf__auth_leave(hf_server *server, const hf__users *users, hf__conn *self)
{
    hf__conn *next;

    for (hf__conn *conn = server->conns; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->user == NULL || is_listed(users, conn->user))
            continue;
        if (conn == self) {
            conn->user = NULL;
            conn->closing = true;
        } else {
            hf__conn_close(conn);
        }
    }
}

void hf__auth_replace(hf_server *server, hf__users *users, hf__conn *self)
{
    hf__users_keep(users, &server->users);
    hf__auth_leave(server, users, self);
    hf__users_done(&server->users);
    server->users = *users;
    server->user_changes++;
}

/* ------------------------------------------------------------------ logging in
 */

void hf__auth_reset(hf__conn *conn)
{
    const hf__user *user =
        hf__users_find(&conn->server->users, hf_str("default"));

    conn->user = user->on && user->nopass ? user : NULL;
}

const hf__part hf__auth_part = {.opened = hf__auth_reset};

bool hf__auth_login(hf__conn *conn, hf_bytes name, hf_bytes password)
{
    const hf__user *user = hf__users_find(&conn->server->users, name);
    bool right = user != NULL && hf__user_takes(user, password);

    hf__guesses_judge(conn, right);
    if (right) {
        conn->user = user;
        return true;
    }
    hf__log_refused(conn, name);
    hf__acl_log_add(conn, HF__ACL_AUTH, hf_str("AUTH"), name, false);
    hf__answer_error(&conn->answer, "WRONGPASS invalid username-password pair "
                                    "or user is disabled.");
    return false;
}

static void run_auth(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_bytes name = count == 3 ? words[1] : hf_str("default");
    const hf__user *user;

    if (count > 3) {
        hf__answer_error(&conn->answer, "ERR syntax error");
        return;
    }
    user = hf__users_find(&conn->server->users, name);
    if (count == 2 && user->nopass) {
        hf__answer_error(&conn->answer,
                         "ERR AUTH <password> called without any password "
                         "configured for the default user. Are you sure your "
                         "configuration is correct?");
        return;
    }
    if (hf__auth_login(conn, name, words[count - 1]))
        hf__answer_line(&conn->answer, "OK");
}

const hf__served_entry hf__served_auth[] = {
    {"auth", HF__SERVED_STRANGER | HF__SERVED_LOGIN, run_auth},
    {NULL, 0, NULL}};
