/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_group.c - a blocked caller sleeps on the word of its group. Entries that
 * arrive at about the same time share a group, as their replies are probably
 * read together: one wake-up serves them all.
 *
 * A sleeper reads its group's counter before its own word, and the loop thread
 * sets that word before it increments the counter: no wake-up is lost.
 */
#include "store/redis/server/wait_group.h"

#include <string.h>

#include "util/futex.h"

void hf__wait_group_init(hf__wait_groups *all)
{
    memset(all, 0, sizeof(*all));
    atomic_init(&all->batch, 0);
}

void hf__wait_group_next(hf__wait_groups *all)
{
    atomic_fetch_add_explicit(&all->batch, 1, memory_order_relaxed);
}

unsigned hf__wait_group_enter(hf__wait_groups *all)
{
    unsigned group = atomic_load_explicit(&all->batch, memory_order_relaxed) %
                     HF__WAIT_GROUPS;

    __atomic_add_fetch(&all->groups[group].sleepers, 1, __ATOMIC_SEQ_CST);
    return group;
}

void hf__wait_group_sleep(hf__wait_groups *all, unsigned group,
                          const uint32_t *done)
{
    hf__wait_group *mine = &all->groups[group];
    uint32_t wakes;

    for (;;) {
        wakes = __atomic_load_n(&mine->wakes, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(done, __ATOMIC_ACQUIRE) != 0)
            break;
        hf__futex_wait(&mine->wakes, wakes, INT64_MAX, false);
    }
    __atomic_sub_fetch(&mine->sleepers, 1, __ATOMIC_SEQ_CST);
}

void hf__wait_group_finish(hf__wait_groups *all, unsigned group, uint32_t *done)
{
    all->touched |= 1u << group;
    __atomic_store_n(done, 1, __ATOMIC_RELEASE);
}

void hf__wait_group_wake(hf__wait_groups *all)
{
    hf__wait_group *group;
    unsigned at;

    for (at = 0; all->touched != 0; at++) {
        if ((all->touched & (1u << at)) == 0)
            continue;
        all->touched &= ~(1u << at);
        group = &all->groups[at];
        __atomic_add_fetch(&group->wakes, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&group->sleepers, __ATOMIC_SEQ_CST) > 0)
            hf__futex_wake_all(&group->wakes, false);
    }
}
