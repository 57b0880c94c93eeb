/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front_lock.h - a lock in front of the writer lock, for stores that are open
 * in several PID namespaces.
 *
 * The kernel knows the owner of a robust mutex by its thread id, and frees the
 * mutex that a killed thread was waiting for if the two ids are equal, though
 * it is a thread of another namespace that holds it. So there a thread must not
 * wait in the mutex. One that already waits may be stopped there and killed
 * much later, so that mutex is then retired for another, in which no thread has
 * ever waited.
 */
#ifndef HF__ENGINE_FRONT_LOCK_H
#define HF__ENGINE_FRONT_LOCK_H

#include "engine/files/sidecar.h"

/* hf__front_lock_map.state; 0: not needed. */
enum {
    HF__FRONT_ANNOUNCED = 1, /* a thread without it may hold the mutex */
    HF__FRONT_IN_USE = 2     /* the mutex is retired */
};

/* Before the sidecar's first lock: from which namespace it is used. */
void hf__front_lock_join(hf__sidecar *sidecar);

static inline uint64_t hf__front_lock_state(const hf__sidecar_map *map)
{
    return hf__sidecar_has_front(map)
               ? __atomic_load_n(&map->front.state, __ATOMIC_RELAXED)
               : 0;
}

/* false: not by deadline_ms. */
bool hf__front_lock_take(hf__sidecar *sidecar, int64_t deadline_ms);
void hf__front_lock_drop(hf__sidecar *sidecar);

#endif
