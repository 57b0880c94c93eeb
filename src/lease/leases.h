/* SPDX-License-Identifier: Apache-2.0 */
/* leases.h - what all leases of a client share. */
#ifndef HF__LEASE_LEASES_H
#define HF__LEASE_LEASES_H

#include "lease/lease.h"
#include "lease/owner.h"
#include "lease/queue.h"
#include "lease/registry.h"
#include "lease/turns.h"

/* Of the locks and semaphores of Redisson whose names have the same hash. */
#define HF__YIELDS 64

typedef struct hf__yield {
    _Atomic int64_t until_ms;        /* they are left to other programs */
    _Atomic int64_t listen_until_ms; /* this client listens for a semaphore */
} hf__yield;

typedef struct hf__leases {
    hf__watchdog watchdog;
    hf__owners owners; /* and the client's id */
    hf__wait_queues queues;
    hf__registry registry;
    hf__turns_table turns;
    hf__yield yields[HF__YIELDS];
} hf__leases;

/* Of a client that has its loop; NULL: no memory. `description` may be NULL. */
hf__leases *hf__leases_new(hf_client *client, const char *description);

/* hf__store_config::on_message, `user` being the leases. */
void hf__leases_take(void *user, hf_bytes topic, hf_bytes text);

/*
 * Closing, in this order. stop(): no more renewals and registrations, before
 * the store is closed. done(): nothing is watched any more. free(): with the
 * client's memory, as handles use a mutex until then. `forked`: in a child.
 */
void hf__leases_stop(hf__leases *leases, bool forked);
void hf__leases_done(hf__leases *leases, bool forked);
void hf__leases_free(hf__leases *leases);

#endif
