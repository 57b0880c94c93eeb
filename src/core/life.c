/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - see life.h. */
#include "core/life.h"

#include <string.h>

#include "util/futex.h"

#define CLOSING (UINT32_C(1) << 31)

static _Thread_local uint32_t thread_number; /* 0: none yet */
static _Thread_local hf__visit *visits;      /* innermost first */

static uint32_t *slot_of_thread(hf__life *life)
{
    static atomic_uint threads;

    if (thread_number == 0)
        thread_number = atomic_fetch_add(&threads, 1) % HF__LIFE_SLOTS + 1;
    return &life->slots[thread_number - 1].word;
}

void hf__life_init(hf__life *life)
{
    memset(life, 0, sizeof(*life));
    atomic_init(&life->references, 1);
    atomic_init(&life->over, false);
}

bool hf__life_enter(hf__life *life)
{
    uint32_t *word = slot_of_thread(life);

    if ((__atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL) & CLOSING) == 0)
        return true;
    hf__life_leave(life);
    return false;
}

void hf__life_leave(hf__life *life)
{
    uint32_t *word = slot_of_thread(life);

    /* The client may be gone after the subtraction. Nothing reads the word: a
     * private wake only looks for sleepers on the address. */
    if (__atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL) == (CLOSING | 1))
        hf__futex_wake_all(word, false);
}

bool hf__life_close(hf__life *life)
{
    for (size_t i = 0; i < HF__LIFE_SLOTS; i++) {
        uint32_t *word = &life->slots[i].word;
        uint32_t before = __atomic_fetch_or(word, CLOSING, __ATOMIC_SEQ_CST);

        if (i == 0 && (before & CLOSING) != 0)
            return false;
    }
    return true;
}

bool hf__life_is_closing(const hf__life *life)
{
    return (__atomic_load_n(&life->slots[0].word, __ATOMIC_SEQ_CST) &
            CLOSING) != 0;
}

void hf__life_await(hf__life *life)
{
    for (size_t i = 0; i < HF__LIFE_SLOTS; i++) {
        uint32_t *word = &life->slots[i].word;
        uint32_t seen;

        while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != CLOSING)
            hf__futex_wait(word, seen, INT64_MAX, false);
    }
}

void hf__visit_begin(hf__visit *visit, const hf__life *life)
{
    visit->life = life;
    visit->outer = visits;
    visits = visit;
}

void hf__visit_end(const hf__visit *visit)
{
    visits = visit->outer;
}

bool hf__is_visited(const hf__life *life)
{
    const hf__visit *visit = visits;

    while (visit != NULL && visit->life != life)
        visit = visit->outer;
    return visit != NULL;
}
