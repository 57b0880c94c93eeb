/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - a table of event counters.
 *
 * A counter is a futex word. Any thread reads and sleeps; watches belong to the
 * loop thread, so there is no lock.
 */
#include "store/events.h"

#include <string.h>

#include "util/clock.h"
#include "util/futex.h"

void hf__events_init(hf__events *events)
{
    memset(events, 0, sizeof(*events));
}

/* FNV-1a; the high half is folded in because the low bits of the product
 * depend on the low bits of the bytes alone. */
uint32_t hf__events_bucket(hf_bytes topic)
{
    const unsigned char *bytes = topic.data;
    uint32_t hash = 2166136261u;
    size_t at;

    for (at = 0; at < topic.size; at++)
        hash = (hash ^ bytes[at]) * 16777619u;
    return (hash ^ hash >> 16) % HF__EVENTS_COUNT;
}

uint32_t hf__events_read(const hf__events *events, uint32_t bucket)
{
    return __atomic_load_n(&events->words[bucket], __ATOMIC_ACQUIRE);
}

bool hf__events_wait(const hf__events *events, uint32_t bucket, uint32_t seen,
                     int64_t until_ms)
{
    while (hf__events_read(events, bucket) == seen) {
        if (hf__clock_boot_ms() >= until_ms)
            return false;
        hf__futex_wait(&events->words[bucket], seen, until_ms, false);
    }
    return true;
}

void hf__events_wake(hf__events *events, uint32_t bucket)
{
    __atomic_add_fetch(&events->words[bucket], 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&events->words[bucket], false);
}

void hf__events_move(hf__events *events, uint32_t bucket)
{
    hf__watch *watch = events->watches[bucket];

    hf__events_wake(events, bucket);
    for (; watch != NULL; watch = events->next) {
        events->next = watch->next;
        watch->moved(watch);
    }
}

void hf__events_move_all(hf__events *events)
{
    uint32_t bucket;

    for (bucket = 0; bucket < HF__EVENTS_COUNT; bucket++)
        hf__events_move(events, bucket);
}

void hf__events_add(hf__events *events, hf__watch *watch)
{
    watch->next = events->watches[watch->bucket];
    events->watches[watch->bucket] = watch;
}

void hf__events_remove(hf__events *events, hf__watch *watch)
{
    hf__watch **place = &events->watches[watch->bucket];

    while (*place != NULL && *place != watch)
        place = &(*place)->next;
    if (*place == watch)
        *place = watch->next;
    if (events->next == watch)
        events->next = watch->next;
}
