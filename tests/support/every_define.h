/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_define.h - for the files that define the calls of every_call.h: each is
 * DEFINE(name) { ... } in one of them, and a row of every_rows.h.
 */
#ifndef TESTS_SUPPORT_EVERY_DEFINE_H
#define TESTS_SUPPORT_EVERY_DEFINE_H

#include "support/every_call.h"

#define DEFINE(name)                                                           \
    hf_status every_##name(every_place *p, const hf_async *async, hf_error *err)

/* Run it, or start it: `...` are the arguments before async and err. */
#define CALL(function, ...)                                                    \
    (async == NULL ? function(__VA_ARGS__, err)                                \
                   : function##_start(__VA_ARGS__, async, err))

static inline hf_bytes one(void)
{
    return hf_str("1");
}

#define EVERY(function, ...) DEFINE(function);
#include "support/every_rows.h"
#undef EVERY

#endif
