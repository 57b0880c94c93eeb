/* SPDX-License-Identifier: Apache-2.0 */
/* ring_read.h - reading a ring (files/ring.h) for one store handle. */
#ifndef HF__ENGINE_RING_READ_H
#define HF__ENGINE_RING_READ_H

#include "engine/wake/wake.h"
#include "store/store.h"
#include "util/buf.h"
#include "util/poll.h"
#include "util/private_api.h"

typedef struct hf__ring_reader {
    hf__wake_inbox *inbox;
    uint32_t which;
    /* A note; or a gap, HF__NOTE_GAP, without bytes. On the loop thread. */
    void (*note)(struct hf__ring_reader *reader, uint32_t kind, hf_bytes note);
    uint32_t slot;

    /* The loop thread's. */
    bool running;
    hf__watch watch;
    hf__tick tick;
    uint64_t position;
    uint64_t stuck_at; /* where `pending` was last seen; -1: not */
    hf__buf bytes;     /* of the note */
} hf__ring_reader;

/* `note` is set by the caller. */
void hf__ring_reader_init(hf__ring_reader *reader, hf__wake_inbox *inbox,
                          uint32_t which);
void hf__ring_reader_done(hf__ring_reader *reader);

/* Have writers leave notes from now on, until leave(). Not on the loop thread
 * of a client, because these wait for the writer lock. */
hf_status hf__ring_reader_join(hf__ring_reader *reader, int64_t deadline_ms,
                               hf_error *err);
void hf__ring_reader_leave(hf__ring_reader *reader);

/* Joined, under the writer lock: these classes of events, too. */
void hf__ring_reader_want(hf__ring_reader *reader, uint32_t wanted);

/* Be called with what comes from now on. Joined, on the loop thread. stop()
 * also from `note`. */
hf_status hf__ring_reader_start(hf__ring_reader *reader, hf_error *err);
void hf__ring_reader_stop(hf__ring_reader *reader);

/* Be not woken until the next look, which the caller promises. */
HF__PRIVATE_API void hf__ring_reader_pause(hf__ring_reader *reader);
/* Read what there is. */
HF__PRIVATE_API void hf__ring_reader_look(hf__ring_reader *reader);

#endif
