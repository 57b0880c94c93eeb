/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - one command or one script, given to a driver and returned.
 *
 * Life of a request: the caller fills the upper part of hf__request and hands
 * it over by perform() or submit(). The driver owns it, and the words it points
 * at, until it completes; it completes exactly once, with `status` one of
 *
 * - done: HF_OK and `reply`; or 1xx/4xx/5xx when the store answered with an
 *   error, which was translated in one place per driver
 * - malformed: HF_CORRUPT, the reply does not have the required shape. Perhaps
 *   applied. The connection is dropped: the reply may belong to another request
 * - not applied: HF_UNAVAILABLE (no byte of it left this process, or the store
 *   said so), HF_FULL
 * - unknown: HF_INDETERMINATE
 */
#ifndef HF__STORE_REQUEST_H
#define HF__STORE_REQUEST_H

#include "holdfast/reply.h"
#include "script/script.h"
#include "store/reply_shape.h"
#include "util/arena.h"
#include "util/probe.h"

/*
 * A script with the same effect as another, for fewer keys, which may not run
 * twice: its words are those of the other without the first and some of the
 * last. It is sent instead if the keys are being moved apart (TRYAGAIN) and,
 * with `if_full`, if the store is full; not after a sending without a reply.
 */
typedef struct hf__narrow {
    const hf__script *script;
    size_t fewer; /* words, the first included */
    bool if_full;
} hf__narrow;

/* How many replicas must acknowledge a write, and how long to wait. */
typedef struct hf__replicas {
    uint32_t count;
    int64_t within_ms;
} hf__replicas;

/* Why a script may not call a command, as Redis says it; NULL: it may. */
typedef const char *hf__command_refuser(void *user, const hf_bytes *words,
                                        size_t count);

typedef struct hf__request hf__request;
/* Tries of a user's script that were undone because the store had to grow. */
typedef struct hf__script_tries {
    int64_t used_us; /* processor time */
    uint32_t count;
} hf__script_tries;

struct hf__request {
    /* Filled by the caller. */
    const hf__script *script; /* NULL: words[0] is a command's name */
    const hf_bytes *words;    /* script: keys, then arguments */
    size_t word_count;
    size_t key_count; /* script: how many of the words are keys */
    /* Shape of a command's reply; NULL: any. Scripts have their own. */
    const hf__shape *answer;
    /* On hf__clock_boot_ms(): before submission. A driver that runs it by an
     * instant of the store's clock that may be older sets it to what that
     * corresponds to: leases are counted from it. */
    int64_t began_ms;
    int64_t deadline_ms; /* on the same clock */
    /* Not 0: a command that waits for an element, so long at most (INT64_MAX:
     * no limit), and has until deadline_ms for the rest. By submit() only, on a
     * store with HF__CAP_WAITS. */
    int64_t wait_ms;
    /* Such a command's submit() may wait for the disk: its caller waits for the
     * request on a thread of its own. */
    bool caller_waits;
    /* May be sent again if it is unknown whether it was applied. */
    bool repeatable;
    /* An error reply is returned: the status is HF_OK, `reply` of kind ERROR
     * with the store's text, and `error` what it means. Not one that says that
     * the store cannot serve the request at present. */
    bool keeps_error;
    /* Embedded: which commands a user's script may not call; NULL: none. */
    hf__command_refuser *refuse;
    void *refuse_user;
    /* on_done may run on a thread in await(), too (store.h). It takes no lock
     * but that of the completions, and enters no driver. */
    bool any_thread;
    hf__lane lane;
    void (*on_done)(hf__request *request); /* submit() only; the request may be
                                              freed or reused in it */
    void *user;                            /* the caller's */
    const hf__narrow *narrow;              /* NULL: none */
    /* NULL: none. Otherwise, on a store with HF__CAP_REPLICAS, a request whose
     * reply says that it wrote (`wrote`; NULL: always) completes once so many
     * replicas have acknowledged it, after within_ms, or at its deadline; HF_OK
     * in any case. */
    const hf__replicas *replicas;
    bool (*wrote)(const hf__request *request); /* on the loop thread */
    /* 0: by its keys. Otherwise one of hf__parts, for requests about a whole
     * part (SCAN, DBSIZE); HF_UNAVAILABLE if it is gone. */
    uint32_t part;

    /* Filled by the driver. */
    hf_status status;
    hf_reply reply; /* on HF_OK, of the required shape; the top is never of kind
                       ERROR, unless keeps_error is set */
    hf_error error; /* on anything else */
    /* How often it was sent and may have had an effect (NOSCRIPT and similar
     * replies exclude one). If more than 1, the reply may reflect an earlier
     * sending. */
    uint32_t sends;
    int32_t acked;          /* replicas; -1: not counted */
    hf__script_tries tries; /* the embedded driver's */
    hf__arena arena;
    void *driver; /* the driver's while it owns the request */
};

/* Have a filled request wait for replicas, if there are to be any; `wrote` as
 * in hf__request. */
static inline void
hf__request_replicate(hf__request *request, const hf__replicas *replicas,
                      bool (*wrote)(const hf__request *request))
{
    request->replicas = replicas->count > 0 ? replicas : NULL;
    request->wrote = wrote;
}

/* Did one that was answered get fewer replicas than it asked for? */
static inline bool hf__request_missed(const hf__request *request)
{
    return request->replicas != NULL &&
           request->acked < (int32_t)request->replicas->count;
}

/* Prepare a request; arena and result are empty afterwards. */
void hf__request_init(hf__request *request);
/* Have a prepared one run a script, one of our own or a user's, or a command,
 * whose name is words[0]. */
void hf__request_set_script(hf__request *request, const hf__script *script,
                            const hf_bytes *words, size_t count,
                            size_t key_count);
void hf__request_set_command(hf__request *request, const hf_bytes *words,
                             size_t count, bool repeatable);
/* Both in one. */
void hf__request_script(hf__request *request, const hf__script *script,
                        const hf_bytes *words, size_t count, size_t key_count);
void hf__request_command(hf__request *request, const hf_bytes *words,
                         size_t count, bool repeatable);
/* Replace the script by its narrower one, which has one key less. */
void hf__request_narrow(hf__request *request);
/* Free the contents of a completed request; it can be filled again. */
void hf__request_done(hf__request *request);
/* For drivers: does `reply`, not an error, have the required shape? accepts():
 * if not, the request fails with HF_CORRUPT, and reply and arena are
 * emptied. */
bool hf__request_fits(const hf__request *request);
bool hf__request_accepts(hf__request *request);
/* Complete with an error reply of this text, of which `error` has the meaning;
 * `line` may be in the arena. */
void hf__request_error(hf__request *request, hf_bytes line);
/* Complete with a failure: sets status and error. */
__attribute__((format(printf, 3, 4))) void
hf__request_fail(hf__request *request, hf_status status, const char *format,
                 ...);

int64_t hf__request_probe_sent(const hf__request *request);
void hf__request_probe_answered(const hf__request *request, int64_t sent_us);

/* The probes around one (util/probe.h), before it is given to the store and
 * when it has completed. What end() needs; 0: no tracer looks. */
static inline int64_t hf__request_probe_begin(const hf__request *request)
{
    if (HF__PROBED(request__begin) || HF__PROBED(request__end))
        return hf__request_probe_sent(request);
    return 0;
}

static inline void hf__request_probe_end(const hf__request *request,
                                         int64_t sent_us)
{
    if (HF__PROBED(request__end))
        hf__request_probe_answered(request, sent_us);
}

#endif
