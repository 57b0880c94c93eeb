/* SPDX-License-Identifier: Apache-2.0 */
/* give_way.h - newcomers at the writer lock let a long waiter go first. */
#ifndef HF__ENGINE_GIVE_WAY_H
#define HF__ENGINE_GIVE_WAY_H

#include "engine/files/sidecar.h"

/* Before a waiter asks for it, it naps, which needs no wake-up. Two writers
 * that took turns after each transaction would move all its memory from one
 * processor to the other each time: two processes together made 0.74 of what
 * one makes alone. After a nap the other has run some dozen transactions in a
 * row: 0.89. */
#define HF__NAP_US 40
#define HF__NAPS_MAX 10

/*
 * Let others leave the lock alone until an instant that is further ahead the
 * longer this thread has waited. It expires by itself; returned so that it can
 * be withdrawn.
 */
int64_t hf__give_way_ask(hf__sidecar *sidecar, int64_t waited_ms);

/* Wait while another asks for it. */
void hf__give_way(const hf__sidecar *sidecar, int64_t deadline_ms);

#endif
