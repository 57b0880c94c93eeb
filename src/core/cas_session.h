/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cas_session.h - makes a compare-and-set recognizable when it is sent twice.
 *
 * A call holds a session of its client while it is under way, and takes the
 * session's next number. The script writes the number into the session's dedup
 * record together with its effect, and has no effect if the record has that
 * number or a higher one. There are as many records as there were calls at once
 * (in a cluster: for each slot), and a delayed sending is recognized even after
 * later calls of the session.
 */
#ifndef HF__CORE_CAS_SESSION_H
#define HF__CORE_CAS_SESSION_H

#include <pthread.h>

#include "core/check.h"
#include "store/store.h"

/* <prefix>hf:cas:<client>:<session>{tag}, without the prefix */
#define HF__CAS_KEY_SIZE (48 + HF__TAG_SIZE)

typedef struct hf__cas_session hf__cas_session;
struct hf__cas_session {
    hf__cas_session *next;      /* of the free ones */
    hf__cas_session *older;     /* of all */
    int64_t number;             /* of the latest call */
    size_t stem;                /* bytes of `key` before the tag */
    char text[HF__NUMBER_SIZE]; /* the number */
    char ttl[HF__NUMBER_SIZE];  /* of the record; set by the call */
    char key[];                 /* of the record */
};

/* Of transactions, whose records have another form. */
#define HF__TXN_SESSION_FIRST 1000000000u

typedef struct hf__cas_sessions {
    pthread_mutex_t mutex; /* guards the rest */
    hf__cas_session *free; /* the latest first, so that few are in use */
    hf__cas_session *newest;
    unsigned first; /* its number */
    unsigned count;
    const char *prefix;
    const char *client; /* its id */
} hf__cas_sessions;

void hf__cas_sessions_init(hf__cas_sessions *sessions, unsigned first,
                           const char *prefix, const char *client);
void hf__cas_sessions_done(hf__cas_sessions *sessions);

/* A session with its next number, for the caller alone until
 * hf__cas_session_release(); NULL: no memory. */
hf__cas_session *hf__cas_session_take(hf__cas_sessions *sessions);
void hf__cas_session_release(hf__cas_sessions *sessions,
                             hf__cas_session *session);

/* Words for a call on `key`: the key of the dedup record, in the same part of
 * the store, and the number. Their bytes are the session's. */
hf_bytes hf__cas_session_key(hf__cas_session *session, const hf__store *store,
                             hf_bytes key);
hf_bytes hf__cas_session_number(hf__cas_session *session);

#endif
