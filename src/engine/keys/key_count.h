/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_count.h - counting the keys of a database. Reads every key record, some
 * 45 ns each; a stored counter would make every new key write two records.
 */
#ifndef HF__ENGINE_KEY_COUNT_H
#define HF__ENGINE_KEY_COUNT_H

#include "engine/commit/tx.h"
#include "util/private_api.h"

typedef struct hf__key_counts {
    int64_t keys;
    int64_t expiring; /* of these, with an expiry */
    double left_ms;   /* sum of their times to live */
} hf__key_counts;

/* false: fatal. */
HF__PRIVATE_API bool hf__key_count(hf__tx *tx, hf__key_counts *counts);

#endif
