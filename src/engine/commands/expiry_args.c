/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry_args.c - see expiry_args.h.
 */
#include "engine/commands/expiry_args.h"

static bool refuse_expiry(hf__tx *tx)
{
    return hf__reply_error(tx, "ERR invalid expire time in '%s' command",
                           tx->command->name);
}

bool hf__expiry_instant(hf__tx *tx, hf__expiry expiry, int64_t value,
                        bool positive, int64_t *expire_ms)
{
    int64_t instant = value;

    if (positive && value <= 0)
        return refuse_expiry(tx);
    if (expiry.seconds && __builtin_mul_overflow(value, 1000, &instant))
        return refuse_expiry(tx);
    if (expiry.absolute) {
        *expire_ms = hf__tx_from_unix(tx, instant);
    } else {
        int64_t sum;

        /* Redis adds to Unix time, so its overflow is checked. */
        if (instant > INT64_MAX / 2 &&
            __builtin_add_overflow(instant, hf__tx_unix_us(tx) / 1000, &sum))
            return refuse_expiry(tx);
        if (__builtin_add_overflow(tx->now_ms, instant, expire_ms))
            *expire_ms = instant < 0 ? INT64_MIN : INT64_MAX;
    }
    if (*expire_ms == 0)
        *expire_ms = -1; /* 0 means never */
    return true;
}
