/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry_args.h - expiries in arguments.
 */
#ifndef HF__ENGINE_EXPIRY_ARGS_H
#define HF__ENGINE_EXPIRY_ARGS_H

#include "engine/commands/command_row.h"

/* Unit and origin of an expiry. */
typedef struct hf__expiry {
    bool seconds;
    bool absolute; /* Unix time */
} hf__expiry;

/* It as flags of a row, and of the command that runs. */
#define HF__EXPIRY_SECONDS HF__VARIANT(1)
#define HF__EXPIRY_ABSOLUTE HF__VARIANT(2)

static inline hf__expiry hf__expiry_of(const hf__tx *tx)
{
    return (hf__expiry){(tx->command->flags & HF__EXPIRY_SECONDS) != 0,
                        (tx->command->flags & HF__EXPIRY_ABSOLUTE) != 0};
}

/*
 * The instant on the store's clock for `value`, never 0. false: out of range,
 * replied. `positive`: refuse values <= 0, as SET does.
 */
bool hf__expiry_instant(hf__tx *tx, hf__expiry expiry, int64_t value,
                        bool positive, int64_t *expire_ms);

#endif
