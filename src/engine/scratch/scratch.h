/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.h - requests on records that their caller keeps: for a store that can
 * read records with versions, and write them if no version has changed.
 *
 * The caller reads the records of a request's keys and an instant. The request
 * runs on them in memory, in a transaction that is never committed; the caller
 * commits what it has changed, with its messages, or runs it again on newer
 * records. Several requests may share a transaction: each finds the records as
 * those before it have left them, and a record is read and written once.
 */
#ifndef HF__ENGINE_SCRATCH_H
#define HF__ENGINE_SCRATCH_H

#include "store/request.h"

/* Most keys of a request. */
#define HF__SCRATCH_KEYS 496u

typedef struct hf__scratch hf__scratch;

typedef struct hf__scratch_record {
    hf_bytes key;
    /* The value as DUMP returns it; size 0: the key does not exist. */
    hf_bytes payload;
    /* Unix time, ms, 0: never. One that is over does not exist. */
    int64_t expire_ms;
    /* Of what was changed: it is a sorted set; who changed it, the last of
     * them. */
    bool sorted;
    const hf__request *by;
    /* Of what was given, by the engine: the reply and the changes depend on
     * it. */
    bool used;
} hf__scratch_record;

typedef struct hf__scratch_message {
    hf_bytes channel;
    hf_bytes text;
} hf__scratch_message;

typedef struct hf__scratch_call {
    /* By the caller. Records of all keys of the request, those that do not
     * exist as well: it can use no other key. Between two requests of one
     * transaction there may come more behind them. */
    hf__scratch_record *records;
    size_t record_count;
    hf__arena *arena;  /* of what is returned */
    int64_t now_us;    /* what TIME replies: Unix time, us */
    int64_t budget_ms; /* of a user's script, processor time */
    /* Does a client listen on the channel? So PUBLISH and PUBSUB NUMSUB reply
     * 1 or 0. */
    bool (*listens)(void *user, hf_bytes channel);
    void *user;

    /* By the engine, at the end; none if the transaction was undone. Messages
     * are in the order of PUBLISH, and of channels on which a client listens.
     */
    const hf__scratch_record *changed;
    size_t changed_count;
    const hf__scratch_message *messages;
    size_t message_count;
    /* After each request. Another key that it tried to use; data NULL: none.
     * With its record as well, it may succeed. */
    hf_bytes missing;
    bool wrote;  /* it has changed a record, or published */
    bool undone; /* it failed, and with it the whole transaction */
    /* Of all records that were changed, without the elements of large
     * collections. */
    size_t changed_bytes;
} hf__scratch_call;

/* HF_SYSTEM, HF_NO_MEMORY. No file is left behind if the process is killed. */
hf_status hf__scratch_open(hf__scratch **scratch, hf_error *err);
void hf__scratch_close(hf__scratch *scratch);

/*
 * Run requests: begin, next for each, end. `call` stays where it is until the
 * end. One thread at a time.
 *
 * A request is a script of ours or a user's, or a command. Its status and reply
 * are set as a driver sets them. HF_CORRUPT: a payload is damaged; HF_INVALID:
 * it uses another key, or more than HF__SCRATCH_KEYS; HF_UNSUPPORTED: it is
 * about all keys; HF_FULL: it needs too much memory. What it has done stays, if
 * it fails as well; to be rid of it, begin again. hf__scratch_end():
 * HF_NO_MEMORY, HF_FULL; nothing was changed.
 */
void hf__scratch_begin(hf__scratch *scratch, hf__scratch_call *call);
void hf__scratch_next(hf__scratch *scratch, hf__request *request,
                      hf__scratch_call *call);
hf_status hf__scratch_end(hf__scratch *scratch, hf__scratch_call *call,
                          hf_error *err);

#endif
