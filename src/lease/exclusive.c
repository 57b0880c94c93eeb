/* SPDX-License-Identifier: Apache-2.0 */
/* exclusive.c - the kind of an exclusive lock. */
#include "holdfast/lock.h"
#include "lease/redisson.h"

static const hf__lease_kind exclusive = {
    .acquire = HF__SCRIPT_LOCK_ACQUIRE,
    .renew = HF__SCRIPT_LOCK_RENEW,
    .release = HF__SCRIPT_LOCK_RELEASE,
    .refused = "another owner holds the lock",
    .held_as = "held",
    .gaps = true,
    .passes = true,
    .on_quorum = true,
    .is_string = true,
};

hf_status hf_lock_new(hf_client *client, hf_bytes name,
                      const hf_lock_options *opts, hf_lock **lock,
                      hf_error *err)
{
    const hf__lease_kind *kind = &exclusive;

    if (client != NULL && client->layout.redisson)
        kind = &hf__redisson_lock;
    return hf__lock_make(client, kind, name, 0, opts, lock, err);
}
