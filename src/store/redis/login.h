/* SPDX-License-Identifier: Apache-2.0 */
/* login.h - what is said first on every new connection. */
#ifndef HF__STORE_REDIS_LOGIN_H
#define HF__STORE_REDIS_LOGIN_H

#include "holdfast.h"
#include "store/redis/address.h"
#include "store/reply.h"
#include "util/buf.h"

#define HF__LOGIN_STEPS_MAX 4

typedef enum hf__login_step {
    HF__LOGIN_AUTH,
    HF__LOGIN_HELLO,
    HF__LOGIN_SELECT,
    HF__LOGIN_SETNAME
} hf__login_step;

typedef struct hf__login {
    const hf__redis_address *address;
    hf__login_step steps[HF__LOGIN_STEPS_MAX];
    size_t count;
    size_t answered;
} hf__login;

/* Write the whole login into `out`; false: out of memory. */
bool hf__login_begin(hf__login *login, const hf__redis_address *address,
                     hf__buf *out);

/* Has every step been answered? */
static inline bool hf__login_done(const hf__login *login)
{
    return login->answered == login->count;
}

/* Judge the answer to the next step. Not HF_OK: this connection, and likely
 * the next, is of no use. */
hf_status hf__login_answer(hf__login *login, const hf_reply *reply,
                           hf_error *err);

#endif
