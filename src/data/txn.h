/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn.h - a transaction while it is put together, executed and read.
 *
 * Life: it is open until hf_txn_exec() claims it, and then never again. The
 * call that executes it holds a reference. What it returned is distributed to
 * its operations by their own `finish`.
 */
#ifndef HF__DATA_TXN_H
#define HF__DATA_TXN_H

#include <stdatomic.h>

#include "core/cas_session.h"
#include "core/client.h"
#include "core/form.h"
#include "core/queued.h"
#include "util/error.h"
#include "util/sha1.h"

/* Words of a condition besides its key: command, field, found, value. */
#define HF__TXN_CONDITION_WORDS 4

typedef struct hf__txn_condition {
    hf_bytes key;
    hf_bytes words[HF__TXN_CONDITION_WORDS];
    bool joined; /* to the one before: for the caller both are one */
} hf__txn_condition;

typedef struct hf__txn_operation {
    hf_call *call;
    const hf__script *body; /* NULL: a command; a user's is ours, see `owned` */
    const hf_bytes *keys;   /* among its words */
    size_t key_count;
    bool reads;    /* it changes nothing */
    bool sure;     /* it fails only if the user may not run it */
    bool in_parts; /* it may fail after it has changed something */
    hf_status status;
    hf_error error;
} hf__txn_operation;

enum { HF__TXN_OPEN, HF__TXN_CLAIMED, HF__TXN_DONE };

/* Which operations have a status of their own. */
typedef enum hf__txn_outcome {
    HF__TXN_NONE_ANSWERED,
    HF__TXN_ONE_FAILED, /* `failed`, with `error`: nothing was applied */
    HF__TXN_ALL_ANSWERED
} hf__txn_outcome;

struct hf_txn {
    hf__txn base;
    atomic_uint references;
    uint32_t flags;
    /* HF__TXN_*; DONE is set on any thread. */
    atomic_int state;
    size_t word_count; /* of all */
    size_t key_count;
    hf__txn_condition *conditions;
    size_t condition_count, condition_room;
    hf__txn_operation *operations;
    size_t operation_count, operation_room;
    hf__arena arena; /* of the conditions' bytes, users' scripts */
    hf_bytes key;    /* the first */

    /* While it is executed. */
    size_t saved; /* the keys of so many operations are saved */
    hf__script script;
    hf__shape shape; /* of its reply */
    char sha1[HF__SHA1_HEX_SIZE];
    char *text; /* of the script; NULL: it is the library's */
    hf__cas_session *session;

    hf_status (*inner)(hf_call *call, hf_error *err); /* reads the reply */

    hf_status status; /* of the execution */
    hf__txn_outcome outcome;
    size_t failed;
    hf_error error; /* of a request that failed */
};

/* HF_INVALID: it was executed. */
static inline hf_status hf__txn_check(const hf_txn *txn, hf_error *err)
{
    hf_status status = hf__check_out(txn, "txn", err);

    if (status == HF_OK)
        status = hf__client_check(txn->base.client, err);
    if (status == HF_OK && atomic_load(&txn->state) != HF__TXN_OPEN)
        status = hf__fail(err, HF_INVALID,
                          "the transaction was executed; make another one");
    return status;
}

/* Count words to come, or fail: there are too many. */
hf_status hf__txn_add_words(hf_txn *txn, size_t count, hf_error *err);

/* A key of it: all must be in one slot. Its bytes are the transaction's. */
hf_status hf__txn_add_key(hf_txn *txn, hf_bytes key, hf_error *err);

/* Make room for one more element; `what` is for the message. */
hf_status hf__txn_grow(void **items, size_t *room, size_t count, size_t size,
                       hf_error *err);

/* hf__txn::take */
hf_status hf__txn_take(hf_txn *txn, hf_call *call, hf_error *err);

/* The script that runs its operations: the library's, if all are commands, else
 * one with their scripts. Sets txn->script; `numbers` of each operation, from
 * 1, 0 for a command. */
hf_status hf__txn_make_script(hf_txn *txn, size_t *numbers, hf_error *err);

void hf__txn_unref(hf_txn *txn);

#endif
