/* SPDX-License-Identifier: Apache-2.0 */
/* value_batch.h - what tests of batches of values work with. */
#ifndef TESTS_SUPPORT_VALUE_BATCH_H
#define TESTS_SUPPORT_VALUE_BATCH_H

#include <stdio.h>

#include "holdfast/value.h"
#include "support/store_fixture.h"

#define VALUE_BATCH_MAX 3000

typedef struct value_batch {
    char names[VALUE_BATCH_MAX][64];
    hf_bytes keys[VALUE_BATCH_MAX];
    hf_value_set_item items[VALUE_BATCH_MAX];
    hf_buffer values[VALUE_BATCH_MAX];
    hf_status statuses[VALUE_BATCH_MAX];
} value_batch;

/* Keys of the running test, each with an item whose value is its name, and
 * statuses that no call returns. */
static inline void value_batch_fill(value_batch *batch, fixture *f)
{
    hf_bytes key = fixture_key(f, "m");

    memset(batch, 0, sizeof(*batch));
    for (size_t i = 0; i < VALUE_BATCH_MAX; i++) {
        snprintf(batch->names[i], sizeof(batch->names[i]), "%.*s:%zu",
                 (int)key.size, (const char *)key.data, i);
        batch->keys[i] = hf_str(batch->names[i]);
        batch->items[i] =
            (hf_value_set_item){batch->keys[i], hf_str(batch->names[i])};
        batch->statuses[i] = HF_SYSTEM;
    }
}

#endif
