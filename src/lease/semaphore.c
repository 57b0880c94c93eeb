/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - the kind of a permit, of which a name has several. */
#include "lease/handle.h"
#include "script/script_words.h"
#include "util/error.h"

/* The form that kinds.h asks for. */
_Static_assert((int)HF__SEMAPHORE_ACQUIRE_BEGAN == HF__LOCK_ACQUIRE_BEGAN, "");
_Static_assert((int)HF__SEMAPHORE_ACQUIRE_PERMITS == HF__LOCK_ACQUIRE_WORDS,
               "");
_Static_assert((int)HF__SEMAPHORE_RELEASE_OWNER == HF__LOCK_RELEASE_OWNER, "");

static const hf__lease_kind permit = {
    .acquire = HF__SCRIPT_SEMAPHORE_ACQUIRE,
    .renew = HF__SCRIPT_SEMAPHORE_RENEW,
    .release = HF__SCRIPT_SEMAPHORE_RELEASE,
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
