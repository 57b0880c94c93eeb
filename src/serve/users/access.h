/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - may a user run a command on its keys and channels? The texts of
 * errors are Redis 7.0's.
 */
#ifndef HF__SERVE_ACCESS_H
#define HF__SERVE_ACCESS_H

#include "serve/users/users.h"

typedef enum hf__access {
    HF__ACCESS_OK,
    HF__ACCESS_COMMAND, /* may not be called */
    HF__ACCESS_KEY,
    HF__ACCESS_CHANNEL,
    HF__ACCESS_SORT_BY, /* reads keys that are not named */
    HF__ACCESS_SORT_GET
} hf__access;

/* `at`: the key or channel that is refused. */
hf__access hf__access_check(const hf__user *user, const hf_bytes *words,
                            size_t count, size_t *at);

struct hf__conn;

/* May the client run this command, whose number of words fits? Otherwise
 * replies with an error. `stranger`: before it has logged in, too. */
bool hf__access_allows(struct hf__conn *conn, const hf_bytes *words,
                       size_t count, bool stranger);

/* Why a script of the connection may not call a command; NULL: it may. */
const char *hf__access_of_script(void *conn, const hf_bytes *words,
                                 size_t count);

#endif
