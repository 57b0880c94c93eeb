/* SPDX-License-Identifier: Apache-2.0 */
/* errors.h - the meaning of a server's error replies. */
#ifndef HF__STORE_REDIS_ERRORS_H
#define HF__STORE_REDIS_ERRORS_H

#include "holdfast/base.h"
#include "store/redis/wire/address.h"

/* How to handle a reply. Except for ANSWER and BREAK, the request was not
 * executed. */
typedef enum hf__verdict {
    HF__VERDICT_ANSWER,   /* complete with the status */
    HF__VERDICT_LOAD,     /* the script is not known: send it whole */
    HF__VERDICT_BACK_OFF, /* retry on this connection after a pause */
    HF__VERDICT_DROP,     /* complete, then drop the connection */
    /* Complete, and break the connection: the reply does not match the request,
     * so later ones may not match theirs. */
    HF__VERDICT_BREAK
} hf__verdict;

/* Why a server could not serve a request; in none of these was it executed. */
typedef enum hf__redirect_kind {
    HF__REDIRECT_NONE,
    HF__REDIRECT_MOVED,     /* the slot is another server's: `host`, `port` */
    HF__REDIRECT_ASK,       /* once, with ASKING: `host`, `port` */
    HF__REDIRECT_TRY_AGAIN, /* keys of one request are being moved apart */
    HF__REDIRECT_CLUSTER_DOWN, /* the slot has no owner at present */
    HF__REDIRECT_REPLICA,      /* it is, or has become, a replica */
    HF__REDIRECT_UNREACHABLE,  /* no connection could be made */
    HF__REDIRECT_GONE          /* the server was retired */
} hf__redirect_kind;

typedef struct hf__redirect {
    hf__redirect_kind kind;
    bool counts;   /* in request->sends, until redirected */
    uint32_t slot; /* of MOVED and ASK, below HF__SLOT_COUNT */
    int port;
    /* "": the host of the replying server; "?": unknown to it. */
    char host[HF__HOST_SIZE];
} hf__redirect;

#define HF__SLOT_COUNT 16384

/*
 * Set `redirect` from an error line; NONE if it is none. MOVED and ASK must be
 * complete, "MOVED 3999 10.0.0.1:6381"; IPv6 addresses have no brackets.
 */
void hf__redirect_read(hf_bytes line, hf__redirect *redirect);

/*
 * Classify an error line (without '-' and CRLF). `is_script`: it is the reply
 * to EVAL or EVALSHA. `err` gets the status and message for the caller, if the
 * request completes with it.
 */
hf__verdict hf__redis_error(hf_bytes line, bool is_script, hf_error *err);

#endif
