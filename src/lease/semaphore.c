/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - the kind of a permit, of which a name has several. */
#include "lease/handle.h"
#include "util/error.h"

static const hf__lease_kind permit = {
    .acquire = HF__SCRIPT_SEMAPHORE_ACQUIRE,
    .renew = HF__SCRIPT_SEMAPHORE_RENEW,
    .release = HF__SCRIPT_SEMAPHORE_RELEASE,
    .leave = HF__SCRIPT_LOCK_LEAVE,
    .refused = "all permits are held",
};

hf_status hf_semaphore_new(hf_client *client, hf_bytes name, uint32_t permits,
                           const hf_lock_options *opts, hf_lock **lock,
                           hf_error *err)
{
    if (permits < 1 || permits > HF_SEMAPHORE_PERMITS_MAX)
        return hf__fail(err, HF_INVALID, "permits is %u; it must be 1..%u",
                        permits, HF_SEMAPHORE_PERMITS_MAX);
    return hf__lock_make(client, &permit, name, permits, opts, lock, err);
}
