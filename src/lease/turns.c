/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.c - how often each library has held a lock lately.
 */
#include "lease/turns.h"
#include "util/rand.h"

/* A count that reaches this halves them all: old turns count for less. */
#define COUNT_MAX 64

/* Held back for a library that has had fewer turns than ours: longer than the
 * 10 ms for which one that polls often sleeps (docs/adr/0039). */
#define YIELD_MIN_MS 20
#define YIELD_MAX_MS 40

static void note(hf__turns *turns, size_t form)
{
    turns->last = (unsigned char)form;
    if (++turns->counts[form] < COUNT_MAX)
        return;
    for (size_t i = 0; i < HF__TURNS_FORMS; i++)
        turns->counts[i] /= 2;
}

void hf__turns_note_ours(hf__turns *turns)
{
    note(turns, 0);
}

void hf__turns_note_foreign(hf__turns *turns, size_t owner_size)
{
    note(turns, 1 + owner_size % (HF__TURNS_FORMS - 1));
}

int64_t hf__turns_delay(const hf__turns *turns)
{
    if (turns->counts[turns->last] > turns->counts[0])
        return 0;
    return hf__rand_between(YIELD_MIN_MS, YIELD_MAX_MS);
}
