/* SPDX-License-Identifier: Apache-2.0 */
/* redisson.h - the keys and channels of locks of Redisson, and their kinds. */
#ifndef HF__LEASE_REDISSON_H
#define HF__LEASE_REDISSON_H

#include "holdfast/lock.h"
#include "lease/handle.h"

/* How a kind is stored. */
typedef struct hf__redisson {
    const char *token;    /* its key, without the name; NULL: as of our locks */
    const char *waiters;  /* likewise */
    const char *channel;  /* on which a release is published */
    const char *argument; /* of its acquire script; NULL: how to publish */
    bool by_owner; /* each waiter is in the queue, with a channel of its own */
} hf__redisson;

/* The kind of hf_lock_new() with layout=redisson. */
extern const hf__lease_kind hf__redisson_lock;
/* The keys for inspect and break: of a fenced lock, and of a fair one. */
extern const hf__redisson hf__redisson_any;

/*
 * A key or channel of Redisson about a key: "ROLE:{KEY}" or, if the key has a
 * brace, "ROLE:KEY"; with a role ":ROLE" that comes last. Its size is that of
 * both and 3.
 */
hf_bytes hf__redisson_put(const char *role, hf_bytes main, char *at);

/* HF_INVALID: they could not all be in one slot. */
hf_status hf__redisson_check_name(hf_bytes name, hf_error *err);

/* Listen to the channel of a lock in state ACQUIRING, for an owner that waits;
 * unlisten(): it does not any more. */
void hf__redisson_listen(hf_lock *lock, const char owner[HF_OWNER_SIZE]);
void hf__redisson_unlisten(hf_lock *lock, const char owner[HF_OWNER_SIZE]);

/* A lock was released, and the script replied `reply`: other programs may
 * listen, and the key is left to them. */
void hf__redisson_released(hf_lock *lock, int64_t reply);

/* Leave a key to others from now on; for how long still, ms? */
hf__yield *hf__yield_of(const hf_client *client, hf_bytes main);
void hf__yield_begin(hf__yield *yield);
int64_t hf__yield_left(const hf__yield *yield);

#endif
