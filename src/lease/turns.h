/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - how often each library has held a lock lately, as a handle saw it.
 *
 * Libraries are told apart by the length of their owner ids.
 */
#ifndef HF_LEASE_TURNS_H
#define HF_LEASE_TURNS_H

#include <stddef.h>
#include <stdint.h>

#define HF__TURNS_FORMS 16

typedef struct hf__turns {
    unsigned char counts[HF__TURNS_FORMS]; /* [0]: of ours */
    unsigned char last;                    /* the form of the last holder */
} hf__turns;

void hf__turns_note_ours(hf__turns *turns);
void hf__turns_note_foreign(hf__turns *turns, size_t owner_size);

/* How long to hold back after the last holder's release, ms, at random. */
int64_t hf__turns_delay(const hf__turns *turns);

#endif
