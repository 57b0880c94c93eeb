/* SPDX-License-Identifier: Apache-2.0 */
/* expiry.c - see expiry.h. */
#include "core/expiry.h"

#include "holdfast/value.h"
#include "util/error.h"

/* 9999-12-31T23:59:59.999Z */
#define UNIX_MS_MAX INT64_C(253402300799999)

hf_status hf__check_expiry(int64_t ttl_ms, int64_t expires_unix_ms, bool other,
                           const char *name, hf_error *err)
{
    if ((ttl_ms != 0) + (expires_unix_ms != 0) + other > 1)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms, expires_unix_ms and %s exclude each other",
                        name);
    if (ttl_ms != 0)
        return hf__check_ttl(ttl_ms, "ttl_ms", err);
    return hf__check_option(expires_unix_ms, UNIX_MS_MAX, "expires_unix_ms",
                            err);
}

void hf__add_expiry(hf_call *call, int64_t ttl_ms, int64_t expires_unix_ms)
{
    if (ttl_ms == 0 && expires_unix_ms == 0)
        return;
    hf__add(call, hf_str(ttl_ms != 0 ? "PX" : "PXAT"));
    hf__add_number(call, ttl_ms + expires_unix_ms);
}

static hf_status check_expiry(const hf_value_expire_options *o, hf_error *err)
{
    bool persist = (o->flags & HF_EXPIRE_PERSIST) != 0;

    if (o->ttl_ms == 0 && o->expires_unix_ms == 0 && !persist)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms, expires_unix_ms or HF_EXPIRE_PERSIST must be "
                        "given");
    return hf__check_expiry(o->ttl_ms, o->expires_unix_ms, persist,
                            "HF_EXPIRE_PERSIST", err);
}

bool hf__load_expiry(hf_call *call, hf_value_expire_options *options,
                     const hf_value_expire_options *opts)
{
    return HF__LOAD(call, options, opts, hf_value_expire_options,
                    HF_EXPIRE_PERSIST) &&
           HF__TRY(call, check_expiry(options, call->form.err));
}
