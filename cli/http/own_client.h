/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_client.h - a client of the server that the page is about, which connects
 * to an address of it as other programs do.
 *
 * So the page can read what such a connection may read: the rules of the users
 * apply. It logs in only if requests need the token: as the user "page", whose
 * password is the token, if the server has a user of this name, whatever it may
 * do and even if it is refused; else as the user "default". When users change
 * it connects again.
 */
#ifndef HOLDFAST_CLI_HTTP_OWN_CLIENT_H
#define HOLDFAST_CLI_HTTP_OWN_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/serve.h"

/* Those that a server has. */
#define HTTP_DATABASES 16

/* How a database could not be connected to. */
struct http_tried {
    int64_t retry_ms; /* not before; of now_ms() */
    hf_status status;
    hf_error err;
};

struct http_own {
    hf_server *server;
    const char *token;         /* NULL: requests need none */
    const char *password_file; /* of the user "default"; NULL: none */
    bool is_page;              /* this user, else "default" */
    uint64_t changes;          /* of the users, when it was looked */
    bool no_dry_run;           /* who may not run ACL DRYRUN */
    int db;                    /* the database that the client is at */
    hf_client *client;         /* NULL: not connected */
    struct http_tried tried[HTTP_DATABASES];
};

/* May every program of this machine connect to the server? Then, by TCP, it may
 * read without a token what the page shows. */
bool http_own_is_public(const hf_server *server);

/* Any database of http_own_client(). */
#define HTTP_ANY_DATABASE (-1)

/* The client, connected to this database if it is not; on an error NULL is in
 * `*client`, and one at another database stays connected. After one this
 * database is not tried again for two seconds, or for a minute if it was
 * refused, and none of them for a minute if the password was; unless users
 * change. */
hf_status http_own_client(struct http_own *own, int db, hf_client **client,
                          hf_error *err);

/* Closes the client. */
void http_own_done(struct http_own *own);

#endif
