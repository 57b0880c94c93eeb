/* SPDX-License-Identifier: Apache-2.0 */
/* expiry.h - a key's new expiry, as callers give it. */
#ifndef HF__CORE_EXPIRY_H
#define HF__CORE_EXPIRY_H

#include "core/call.h"

struct hf_value_expire_options; /* holdfast/value.h */

/* Ranges of a time to live (ms, 0: none) and an instant (Unix ms, 0: none), at
 * most one of which is given, or else `other`, of that name. */
hf_status hf__check_expiry(int64_t ttl_ms, int64_t expires_unix_ms, bool other,
                           const char *name, hf_error *err);

/* Words: PX or PXAT, and the number; nothing if both are 0. */
void hf__add_expiry(hf_call *call, int64_t ttl_ms, int64_t expires_unix_ms);

/* The options, all of which are checked; false: the call has failed. */
bool hf__load_expiry(hf_call *call, struct hf_value_expire_options *options,
                     const struct hf_value_expire_options *opts);

#endif
