/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rwlock.c - the kinds of the two handles of a read-write lock. The write lock
 * is the exclusive lock of that name.
 */
#include "holdfast/rwlock.h"
#include "lease/handle.h"
#include "script/script_words.h"
#include "util/error.h"

/* The form that kinds.h asks for. */
_Static_assert((int)HF__RWLOCK_ACQUIRE_WORDS == HF__LOCK_ACQUIRE_WORDS, "");
_Static_assert((int)HF__RWLOCK_RELEASE_RANK == HF__LOCK_RELEASE_RANK, "");

static const hf__lease_kind reader = {
    .acquire = HF__SCRIPT_RWLOCK_ACQUIRE,
    .renew = HF__SCRIPT_RWLOCK_RENEW,
    .release = HF__SCRIPT_RWLOCK_RELEASE,
    .refused = "a writer holds the lock or waits for it",
    .mode = ",shared", /* no argument has a comma */
    .held_as = "shared",
    .pair_holds = "this pair holds the write lock: downgrade or release it",
};

static const hf__lease_kind writer = {
    .acquire = HF__SCRIPT_LOCK_ACQUIRE,
    .renew = HF__SCRIPT_LOCK_RENEW,
    .release = HF__SCRIPT_LOCK_RELEASE,
    .refused = "another owner holds the lock",
    .held_as = "held",
    .gaps = true,
    .is_string = true,
    .pair_holds = "this pair holds the read lock, which cannot be upgraded: "
                  "release it first",
};

hf_status hf_rwlock_new(hf_client *client, hf_bytes name, uint32_t flags,
                        const hf_lock_options *opts, hf_lock **read,
                        hf_lock **write, hf_error *err)
{
    hf_lock *made = NULL;
    hf_status status;

    if ((flags & ~(uint32_t)HF_RWLOCK_PREFER_WRITERS) != 0)
        return hf__fail(err, HF_UNSUPPORTED, "hf_rwlock_new: unknown flag 0x%x",
                        (unsigned)flags);
    if (read == NULL)
        return hf__fail(err, HF_INVALID, "read is NULL");
    status = hf__lock_make(client, &reader, name, 0, opts, &made, err);
    if (status == HF_OK && write != NULL)
        status = hf__lock_make(client, &writer, name, 0, opts, write, err);
    if (status != HF_OK) {
        hf_lock_free(made);
        return status;
    }
    if (write != NULL) {
        made->pair = *write;
        (*write)->pair = made;
        (*write)->first = (flags & HF_RWLOCK_PREFER_WRITERS) != 0;
    }
    *read = made;
    return HF_OK;
}
