/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - who uses a client: calls under way, which closing waits for, and
 * handles, which keep its memory.
 *
 * 1. A call enters before it uses the store and leaves as the last thing it
 *    does. In between it may enter again.
 * 2. Closing refuses later calls, wakes sleepers, waits until all calls have
 *    left, and takes the client apart.
 * 3. The client's own reference and one of each handle keep the memory, and
 *    the mutex of the handles' state; the last one frees it.
 *
 * Calls are counted in slots, a thread always in the same one, so that threads
 * seldom share a cache line.
 */
#ifndef HF__CORE_LIFE_H
#define HF__CORE_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HF__LIFE_SLOTS 8

typedef struct hf__life {
    struct {
        uint32_t word; /* calls under way, and whether more are refused */
        char apart[60];
    } slots[HF__LIFE_SLOTS];
    atomic_uint references;
    atomic_bool over; /* there is no store any more */
} hf__life;

/* A call whose callbacks must not close the client; the caller's memory. */
typedef struct hf__visit {
    const hf__life *life;
    struct hf__visit *outer;
} hf__visit;

void hf__life_init(hf__life *life);

/* false: the client is being closed. */
bool hf__life_enter(hf__life *life);
/* Nothing of the client may be used afterwards. */
void hf__life_leave(hf__life *life);

/* Refuse calls from now on; false: another close does already. */
bool hf__life_close(hf__life *life);
bool hf__life_is_closing(const hf__life *life);
/* Until all calls have left. */
void hf__life_await(hf__life *life);

/* Note on this thread that a call of this life runs callbacks. */
void hf__visit_begin(hf__visit *visit, const hf__life *life);
void hf__visit_end(const hf__visit *visit);
bool hf__is_visited(const hf__life *life);

#endif
