/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - one command or one script, handed to a driver and handed back.
 *
 * Life of a request: the caller fills the upper part of hf__request and hands
 * it over by perform() or submit(). The driver owns it, and the words it
 * points at, until it completes; it completes exactly once, with `status` one
 * of
 *
 *   done         HF_OK and `reply`; or 1xx/4xx/5xx when the store answered
 *                with an error, which was translated in one place per driver
 *   malformed    HF_CORRUPT: the store answered with what is not of the shape
 *                that the request asks for. Perhaps applied. A connection on
 *                which that came is dropped, as it has lost its place: the
 *                answer may be another request's
 *   not applied  HF_UNAVAILABLE (no byte of it left this process, or the store
 *                said so), HF_FULL
 *   unknown      HF_INDETERMINATE
 */
#ifndef HF__STORE_REQUEST_H
#define HF__STORE_REQUEST_H

#include "holdfast/script.h"
#include "script/script.h"
#include "store/reply_shape.h"
#include "util/arena.h"

/*
 * A script with the same effect as another, for fewer keys, which may not run
 * twice: its words are those of the other without the first and some of the
 * last. It is sent instead of one that was not answered if the keys are being
 * moved apart, and where `if_full`, if the store has no room.
 */
typedef struct hf__narrow {
    const hf__script *script;
    size_t fewer; /* words, the first included */
    bool if_full;
} hf__narrow;

/* How many replicas are to acknowledge a write, and how long to wait. */
typedef struct hf__replicas {
    uint32_t count;
    int64_t within_ms;
} hf__replicas;

typedef struct hf__request hf__request;
struct hf__request {
    /* Filled by the caller. */
    const hf__script *script; /* NULL: words[0] is a command's name */
    const hf_bytes *words;    /* script: keys, then arguments */
    size_t word_count;
    size_t key_count; /* script: how many of the words are keys */
    /* What a command may be answered with; NULL: anything. A script has its
     * own. */
    const hf__shape *answer;
    int64_t began_ms;    /* on hf__clock_boot_ms(): before it was handed over */
    int64_t deadline_ms; /* on the same clock */
    /* May be sent again when it is not known whether it was applied. */
    bool repeatable;
    hf__lane lane;
    void (*on_done)(hf__request *request); /* submit() only; the request may be
                                              freed or reused in it */
    void *user;                            /* the caller's */
    const hf__narrow *narrow;              /* NULL: none */
    /* NULL, or on a store with HF__CAP_REPLICAS what is waited for after an
     * answer for which `wrote` (NULL: any) says that it did write: the request
     * completes when so many have acknowledged it, or in time, or at its
     * deadline; HF_OK in any case. */
    const hf__replicas *replicas;
    bool (*wrote)(const hf__request *request); /* on the loop thread */
    /* 0: where its keys are. Else one of hf__parts, for what asks a part as a
     * whole (SCAN, DBSIZE); if that is no more, it is HF_UNAVAILABLE. */
    uint32_t part;

    /* Filled by the driver. */
    hf_status status;
    hf_reply reply; /* on HF_OK, of the shape that was asked for; never of kind
                       ERROR itself */
    hf_error error; /* on anything else */
    /* How often it was sent in a way that may have had an effect (an answer
     * such as NOSCRIPT says that it had none): more than 1 means that the
     * answer may be to an earlier sending's effect. */
    uint32_t sends;
    int32_t acked; /* replicas that have; -1: they were not counted */
    hf__arena arena;
    void *driver; /* the driver's while it owns the request */
};

/* Prepare a request; arena and result are empty afterwards. */
void hf__request_init(hf__request *request);
/* Prepare one that runs a script, one of our own or a user's ... */
void hf__request_script(hf__request *request, const hf__script *script,
                        const hf_bytes *words, size_t count, size_t key_count);
/* ... or a command: words[0] is its name. */
void hf__request_command(hf__request *request, const hf_bytes *words,
                         size_t count, bool repeatable);
/* Make it the narrow one, which has one key. */
void hf__request_narrow(hf__request *request);
/* Free what a completed request holds; it can be filled again. */
void hf__request_done(hf__request *request);
/* By drivers: is `reply`, which is no error, of the shape that the request asks
 * for? accepts(): if not it fails with HF_CORRUPT, reply and arena are empty.
 */
bool hf__request_fits(const hf__request *request);
bool hf__request_accepts(hf__request *request);
/* Complete with a failure: sets status and error. */
__attribute__((format(printf, 3, 4))) void
hf__request_fail(hf__request *request, hf_status status, const char *format,
                 ...);

#endif
