/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_group.h - where calling threads sleep until the loop thread has
 * completed their requests. All servers of a store share one, as a request may
 * end on another server than the one it was given to.
 */
#ifndef HF__STORE_REDIS_WAIT_GROUP_H
#define HF__STORE_REDIS_WAIT_GROUP_H

#include <stdatomic.h>
#include <stdint.h>

/* Parked callers that share a word to sleep on, so that one wake-up serves
 * all whose answers came in one read. */
#define HF__PARKING_GROUPS 16

typedef struct hf__parking_group {
    uint32_t turn; /* futex */
    uint32_t sleepers;
} hf__parking_group;

typedef struct hf__parking {
    atomic_uint batch; /* callers of one batch share a group */
    hf__parking_group groups[HF__PARKING_GROUPS];
    unsigned touched; /* the loop thread's: groups to wake, as bits */
} hf__parking;

void hf__parking_init(hf__parking *parking);

/* Callers that enter from now on belong to another batch. */
void hf__parking_next(hf__parking *parking);

/* Any thread but the loop's: announce a sleeper, and sleep until *done is set
 * by hf__parking_finish(). What is to be completed goes to the loop thread in
 * between. */
unsigned hf__parking_enter(hf__parking *parking);
void hf__parking_sleep(hf__parking *parking, unsigned group,
                       const uint32_t *done);

/* The loop thread: set *done, whose memory is the sleeper's again; and wake
 * the sleepers of all that were set since the last time. */
void hf__parking_finish(hf__parking *parking, unsigned group, uint32_t *done);
void hf__parking_wake(hf__parking *parking);

#endif
