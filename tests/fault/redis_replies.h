/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_replies.h - one call of each kind in each of its forms, made through a
 * proxy, and its effect, read through a separate connection.
 */
#ifndef REDIS_REPLIES_H
#define REDIS_REPLIES_H

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/byte_proxy.h"
#include "support/redis_server.h"
#include "support/test.h"

#define MANY 3

typedef enum operation {
    ACQUIRE,
    REFUSED,
    RELEASE,
    RENEW,
    CAS,
    CAS_FIELD, /* of a hash */
    DELETE_IF,
    TXN,      /* INCR, whose result must arrive as well */
    ARRIVE,   /* at a latch */
    PASS,     /* a barrier, as the last party */
    CAS_ONCE, /* nothing after it is repeatable */
    PUT,
    INCR,
    OPS
} operation;
typedef enum call_form { BLOCKING, STARTED, TOGETHER, FORMS } call_form;

extern const char *const op_names[OPS];
extern const char *const form_names[FORMS];

/* Whose calls these are. */
typedef struct stage {
    byte_proxy *proxy;
    hf_client *direct; /* not through the proxy */
    hf_client *client;
    hf_script *incr;
} stage;

/* One call on names of its own. */
typedef struct trial {
    const stage *at;
    operation op;
    call_form form;
    size_t count;
    char names[MANY][48];
    hf_lock *locks[MANY];
    hf_lock *others[MANY]; /* of REFUSED: who holds it */
    hf_status statuses[MANY];
    hf_reply *reply;
    bool told;
} trial;

/* Fail with the case in the message. */
#define expect(trial, condition)                                               \
    do {                                                                       \
        if (!(condition))                                                      \
            fail_msg("%s, %s: not so: %s (statuses %s %s %s)",                 \
                     form_names[(trial)->form], op_names[(trial)->op],         \
                     #condition, hf_status_name((trial)->statuses[0]),         \
                     hf_status_name((trial)->statuses[1]),                     \
                     hf_status_name((trial)->statuses[2]));                    \
    } while (0)

#define must(call) assert_int_equal((call), HF_OK)

/* May it be repeated? */
bool is_resolved(operation op);
bool has_form(operation op, call_form form);

void prepare(trial *self, const stage *at, operation op, call_form form);
void run(trial *self);

/* Has the call had its effect, and once? */
bool is_applied(trial *self, size_t i);
bool value_is(const stage *at, const char *name, const char *want);

/* The status of a call that got its reply. */
hf_status answer_of(operation op);

/* All were sent to the server; some replies were lost. Returns how many
 * outcomes are unknown. */
size_t check(trial *self);

void finish(trial *self);

#endif
