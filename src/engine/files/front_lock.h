/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front_lock.h - a lock in front of the writer lock, for stores that are open
 * in several PID namespaces.
 *
 * The kernel knows the owner of a robust mutex by its thread id, and frees the
 * mutex that a killed thread was waiting for if the two ids are equal, though
 * it is a thread of another namespace that holds it. So there a thread must not
 * wait in the mutex.
 */
#ifndef HF__ENGINE_FRONT_LOCK_H
#define HF__ENGINE_FRONT_LOCK_H

#include "engine/files/sidecar.h"

/* Longest wait in the mutex of a thread that did not see that it is
 * needed. */
#define HF__FRONT_BLIND_MS 20

/* Before the sidecar's first lock: from which namespace it is used. */
void hf__front_lock_join(hf__sidecar *sidecar);

/* Must it be taken? */
static inline bool hf__front_lock_is_needed(const hf__sidecar_map *map)
{
    return map->version > 3 &&
           __atomic_load_n(&map->front.state, __ATOMIC_RELAXED) != 0;
}

/* false: not by deadline_ms. */
bool hf__front_lock_take(hf__sidecar *sidecar, int64_t deadline_ms);
void hf__front_lock_drop(hf__sidecar *sidecar);

#endif
