/* SPDX-License-Identifier: Apache-2.0 */
/* redisson_kinds.c - the kinds of Redisson's locks, and their constructors. */
#include "holdfast/redisson.h"
#include "lease/redisson.h"
#include "script/script_words.h"
#include "util/error.h"

static const hf__redisson plain = {
    .waiters = "redisson_lock__channel",
    .channel = "redisson_lock__channel",
    .argument = "plain",
};

static const hf__redisson fenced = {
    .token = "redisson_lock_token",
    .waiters = "redisson_lock__channel",
    .channel = "redisson_lock__channel",
    .argument = "fenced",
};

static const hf__redisson fair = {
    .token = "redisson_lock_timeout",
    .waiters = "redisson_lock_queue",
    .channel = "redisson_lock__channel",
    .argument = "fair",
    .by_owner = true,
};

static const hf__redisson shared = {
    .waiters = "redisson_rwlock",
    .channel = "redisson_rwlock",
    .argument = "readwrite",
};

static const hf__redisson permits = {
    .token = ":timeout",
    .waiters = "redisson_sc",
    .channel = "redisson_sc",
};

const hf__redisson hf__redisson_any = {
    .token = "redisson_lock_token",
    .waiters = "redisson_lock_queue",
    .channel = "redisson_lock__channel",
};

#define LOCK_SCRIPTS                                                           \
    .acquire = HF__SCRIPT_REDISSON_ACQUIRE,                                    \
    .renew = HF__SCRIPT_REDISSON_RENEW,                                        \
    .release = HF__SCRIPT_REDISSON_RELEASE,                                    \
    .refused = "another owner holds the lock", .held_as = "held"

const hf__lease_kind hf__redisson_lock = {LOCK_SCRIPTS, .redisson = &plain};

static const hf__lease_kind fenced_lock = {LOCK_SCRIPTS, .redisson = &fenced};

static const hf__lease_kind fair_lock = {
    .acquire = HF__SCRIPT_REDISSON_FAIR_ACQUIRE,
    .renew = HF__SCRIPT_REDISSON_RENEW,
    .release = HF__SCRIPT_REDISSON_FAIR_RELEASE,
    .refused = "another owner holds the lock",
    .held_as = "held",
    .redisson = &fair,
};

static const hf__lease_kind read_lock = {
    .acquire = HF__SCRIPT_REDISSON_READ_ACQUIRE,
    .renew = HF__SCRIPT_REDISSON_RENEW,
    .release = HF__SCRIPT_REDISSON_READ_RELEASE,
    .refused = "another owner writes",
    .redisson = &shared,
};

static const hf__lease_kind write_lock = {
    .acquire = HF__SCRIPT_REDISSON_WRITE_ACQUIRE,
    .renew = HF__SCRIPT_REDISSON_RENEW,
    .release = HF__SCRIPT_REDISSON_WRITE_RELEASE,
    .refused = "other owners read or write",
    .held_as = "held",
    .redisson = &shared,
};

static const hf__lease_kind permit = {
    .acquire = HF__SCRIPT_REDISSON_PERMIT_ACQUIRE,
    .renew = HF__SCRIPT_REDISSON_PERMIT_RENEW,
    .release = HF__SCRIPT_REDISSON_PERMIT_RELEASE,
    .refused = "no permit is free",
    .redisson = &permits,
};

hf_status hf_redisson_lock_new(hf_client *client, hf_bytes name,
                               hf_redisson_kind kind,
                               const hf_lock_options *opts, hf_lock **lock,
                               hf_error *err)
{
    static const hf__lease_kind *const kinds[] = {
        [HF_REDISSON_LOCK] = &hf__redisson_lock,
        [HF_REDISSON_FENCED_LOCK] = &fenced_lock,
        [HF_REDISSON_FAIR_LOCK] = &fair_lock,
        [HF_REDISSON_READ_LOCK] = &read_lock,
        [HF_REDISSON_WRITE_LOCK] = &write_lock,
        [HF_REDISSON_PERMIT] = &permit,
    };

    if ((unsigned)kind >= sizeof(kinds) / sizeof(kinds[0]))
        return hf__fail(err, HF_UNSUPPORTED, "unknown kind of lock %d",
                        (int)kind);
    return hf__lock_make(client, kinds[kind], name, 0, opts, lock, err);
}
