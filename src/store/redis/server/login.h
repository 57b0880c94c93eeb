/* SPDX-License-Identifier: Apache-2.0 */
/* login.h - the first commands on every new connection. */
#ifndef HF__STORE_REDIS_LOGIN_H
#define HF__STORE_REDIS_LOGIN_H

#include "holdfast/reply.h"
#include "store/redis/wire/address.h"
#include "store/reply.h"
#include "util/buf.h"

#define HF__LOGIN_STEPS_MAX 8

/* Bytes of a reply until the login is complete: anyone may have sent it. HELLO
 * lists modules, ROLE a hundred replicas in a tenth of it. */
#define HF__LOGIN_REPLY_MAX ((size_t)128 * 1024)

typedef enum hf__login_step {
    HF__LOGIN_AUTH,
    HF__LOGIN_HELLO,
    HF__LOGIN_SELECT,
    HF__LOGIN_CLIENT, /* CLIENT SETNAME and SETINFO */
    HF__LOGIN_ROLE,
    HF__LOGIN_WAIT
} hf__login_step;

typedef enum hf__redis_mode {
    HF__REDIS_UNKNOWN, /* HELLO was refused or has no mode */
    HF__REDIS_STANDALONE,
    HF__REDIS_SENTINEL,
    HF__REDIS_CLUSTER
} hf__redis_mode;

/* A server's properties, from its reply to HELLO. */
typedef struct hf__redis_traits {
    uint8_t major; /* of its version; 0: unknown */
    uint8_t minor;
    uint8_t patch;
    uint8_t mode; /* hf__redis_mode */
    bool is_valkey;
    bool is_replica;
    bool resp3;     /* this connection's */
    bool told_role; /* whether it is a replica is known */
} hf__redis_traits;

typedef struct hf__login {
    const hf__redis_account *account;
    hf__login_step steps[HF__LOGIN_STEPS_MAX];
    size_t count;
    size_t answered;
    hf__redis_traits traits;
    int64_t id; /* of the connection at the server; 0: unknown */
    bool busy;  /* refused, as by a server that runs a script, or loads */
} hf__login;

/*
 * Write the whole login into `out`; false: out of memory. `resp3`: request
 * RESP3, for pushes; a server without it uses RESP2.
 */
bool hf__login_begin(hf__login *login, const hf__redis_account *account,
                     bool resp3, hf__buf *out);

/* After it: check that the server has WAIT and permits it. */
bool hf__login_add_wait(hf__login *login, hf__buf *out);

/* Has every step been answered? */
static inline bool hf__login_done(const hf__login *login)
{
    return login->answered == login->count;
}

/* Evaluate the reply to the next step. Not HF_OK: this connection, and probably
 * the next, is unusable. */
hf_status hf__login_answer(hf__login *login, const hf_reply *reply,
                           hf_error *err);

/*
 * No reply at all: add to the message in `err` that the port may be for TLS.
 */
void hf__login_hint(const hf__login *login, hf_error *err);

#endif
