/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handed.h - what a release says to the waiter that it wakes
 * (scripts/use/hand_over.lua, wake.lua).
 */
#ifndef HF__LEASE_HANDED_H
#define HF__LEASE_HANDED_H

#include <stdbool.h>

#include "holdfast/lock.h"
#include "lease/turns.h"

typedef struct hf__handed {
    enum {
        HF__HANDED_NOTHING,
        HF__HANDED_TURN, /* it is free: ask for it */
        HF__HANDED_GAP,  /* ... in lease_ms, or once another library has it */
        HF__HANDED_GRANT /* `owner` holds it */
    } what;
    char owner[HF_OWNER_SIZE];
    uint64_t token;
    int64_t at_us;    /* when it was granted, store's clock */
    int64_t lease_ms; /* from then */
    hf__turns_told turns;
} hf__handed;

/* The longest lease that a release gives. */
#define HF__HANDED_LEASE_MS 1000

/* Untrusted input; false: it is neither. */
bool hf__handed_read(hf_bytes text, hf__handed *handed);

/* Counts of turns, as a release sends them. */
#define HF__HANDED_TURNS_SIZE 160
void hf__handed_print(const hf__turns_told *told,
                      char text[HF__HANDED_TURNS_SIZE]);

/* The same of the value of a lock whose owner waited; lease_ms remains as it
 * is. */
bool hf__handed_find(hf_bytes value, hf__handed *handed);

#endif
