/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text.h - what events say: in the sidecar, the text of the last event of
 * each counter.
 *
 * It saves the one that is woken a look into the store. It may be missing: not
 * every text is short enough, and another topic's may have taken its place.
 */
#ifndef HF__ENGINE_EVENT_TEXT_H
#define HF__ENGINE_EVENT_TEXT_H

#include "engine/commit/tx.h"

/* Remember what an event of the transaction says; not if it is too long, or
 * says nothing. */
void hf__event_says(hf__tx *tx, uint32_t bucket, hf_bytes text);

/* After the commit, before the counters move; the writer lock is held. */
void hf__event_texts_write(hf__tx *tx);

/* The size; 0: unknown. Others may be writing it. */
size_t hf__event_text_read(const hf__sidecar *sidecar, uint32_t bucket,
                           char text[HF__EVENT_TEXT_MAX]);

#endif
