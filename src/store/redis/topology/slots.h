/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - which hash slot of a cluster keys and requests belong to. */
#ifndef HF__STORE_REDIS_SLOTS_H
#define HF__STORE_REDIS_SLOTS_H

#include "store/redis/wire/errors.h"
#include "store/store.h"

/* The slot of a key, below HF__SLOT_COUNT: of its tag, if it has one. */
uint32_t hf__slot_of(hf_bytes key);

/* A tag of the slot: a key with {text} in it, and no brace before that, belongs
 * to it. Any thread. */
void hf__slot_tag(uint32_t slot, char text[HF__TAG_SIZE]);

/*
 * The slot of all keys of a request; slot 0 if it has none. HF_INVALID: keys of
 * different slots, which the message names.
 */
hf_status hf__slot_of_request(const hf__request *request, uint32_t *slot,
                              hf_error *err);

#endif
