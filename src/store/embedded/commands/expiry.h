/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry.h - an expiry as a command is given it.
 */
#ifndef HF__EMBEDDED_EXPIRY_H
#define HF__EMBEDDED_EXPIRY_H

#include "store/embedded/commands/command.h"

/* Units of an expiry, and whether it counts from now. */
typedef struct hf__expiry {
    bool seconds;
    bool absolute; /* Unix time */
} hf__expiry;
/*
 * The instant on the store's clock for `value`, never 0. false: out of range,
 * which was said. `positive`: refuse what is not above 0, as SET does.
 */
bool hf__expiry_instant(hf__tx *tx, hf__expiry expiry, int64_t value,
                        bool positive, int64_t *expire_ms);

#endif
