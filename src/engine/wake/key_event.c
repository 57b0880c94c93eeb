/* SPDX-License-Identifier: Apache-2.0 */
/* key_event.c - see key_event.h. */
#include "engine/wake/key_event.h"

#include <string.h>

#include "engine/wake/message_writer.h"

/* The slots of those who want it. */
static uint64_t readers_of(const hf__ring *ring, uint32_t event_class)
{
    uint64_t readers = 0;

    for (uint32_t i = 0; i < HF__RING_READERS; i++) {
        if ((ring->head->slots[i].wanted & event_class) != 0)
            readers |= UINT64_C(1) << i;
    }
    return readers;
}

void hf__key_event_put(hf__tx *tx, uint32_t event_class, const char *name,
                       hf_bytes key)
{
    hf__noted *noted = &tx->noted[HF__RING_MESSAGES];

    noted->readers |=
        readers_of(&tx->env->rings[HF__RING_MESSAGES], event_class);
    event_class |= (uint32_t)tx->database << HF__EVENT_DATABASE_AT;
    if (!hf__message_put(tx, HF__NOTE_EVENT, event_class, hf_str(name), key))
        noted->lost = true;
}
