/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cas_session.h - who a compare-and-set is, so that the store can tell a second
 * sending of it from another call.
 *
 * A call takes a lane of its client for as long as it is under way, and the
 * lane's next number. The script that has its effect writes the number into
 * the lane's mark, and has no effect if a number as high stands there. So there
 * are as many marks as calls were ever under way at once (in a cluster: for
 * each slot), not one for each call, and a sending that was held up on its way
 * is recognised even after other calls of the lane.
 */
#ifndef HF__CORE_CAS_SESSION_H
#define HF__CORE_CAS_SESSION_H

#include <pthread.h>

#include "core/check.h"
#include "store/store.h"

/* <prefix>hf:cas:<client>:<lane>{tag}, without the prefix */
#define HF__CAS_MARK_SIZE (48 + HF__TAG_SIZE)

typedef struct hf__cas_lane hf__cas_lane;
struct hf__cas_lane {
    hf__cas_lane *next;         /* of the free ones */
    hf__cas_lane *older;        /* of all */
    int64_t number;             /* of the latest call */
    size_t stem;                /* bytes of `mark` before the tag */
    char text[HF__NUMBER_SIZE]; /* the number */
    char life[HF__NUMBER_SIZE]; /* of the mark; for the call */
    char mark[];
};

typedef struct hf__cas_lanes {
    pthread_mutex_t mutex; /* guards the rest */
    hf__cas_lane *free;    /* the latest first, so that few are in use */
    hf__cas_lane *newest;
    unsigned count;
    const char *prefix;
    const char *client; /* its id */
} hf__cas_lanes;

void hf__cas_lanes_init(hf__cas_lanes *lanes, const char *prefix,
                        const char *client);
void hf__cas_lanes_done(hf__cas_lanes *lanes);

/* A lane with its next number; NULL: no memory. It is the caller's until
 * hf__cas_lane_give(). */
hf__cas_lane *hf__cas_lane_take(hf__cas_lanes *lanes);
void hf__cas_lane_give(hf__cas_lanes *lanes, hf__cas_lane *lane);

/* The words of a call on `key`: its mark, in the same part of the store, and
 * its number. They are the lane's. */
hf_bytes hf__cas_lane_mark(hf__cas_lane *lane, const hf__store *store,
                           hf_bytes key);
hf_bytes hf__cas_lane_number(hf__cas_lane *lane);

#endif
