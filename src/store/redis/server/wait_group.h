/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_group.h - where calling threads sleep until the loop thread has
 * completed their requests. All servers of a store share them, as a request may
 * be redirected.
 */
#ifndef HF__STORE_REDIS_WAIT_GROUP_H
#define HF__STORE_REDIS_WAIT_GROUP_H

#include <stdatomic.h>
#include <stdint.h>

/* Blocked callers that share a futex, so that one wake-up serves all whose
 * replies came in one read. */
#define HF__WAIT_GROUPS 16

typedef struct hf__wait_group {
    uint32_t wakes; /* futex */
    uint32_t sleepers;
} hf__wait_group;

typedef struct hf__wait_groups {
    atomic_uint batch; /* callers of one batch share a group */
    hf__wait_group groups[HF__WAIT_GROUPS];
    unsigned touched; /* the loop thread's: groups to wake, as bits */
} hf__wait_groups;

void hf__wait_group_init(hf__wait_groups *all);

/* Callers that enter from now on belong to another batch. */
void hf__wait_group_next(hf__wait_groups *all);

/* Any thread but the loop's: announce a sleeper, and sleep until *done is set
 * by hf__wait_group_finish(). The request is handed to the loop thread in
 * between. */
unsigned hf__wait_group_enter(hf__wait_groups *all);
void hf__wait_group_sleep(hf__wait_groups *all, unsigned group,
                          const uint32_t *done);

/* The loop thread: set *done, whose memory is the sleeper's again; and wake
 * the sleepers of all that were set since the last time. */
void hf__wait_group_finish(hf__wait_groups *all, unsigned group,
                           uint32_t *done);
void hf__wait_group_wake(hf__wait_groups *all);

#endif
