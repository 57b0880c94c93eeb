/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - the entry that says which process a client is.
 *
 * An owner id names its client; the entry `<prefix>hf:client:<id>` says who
 * that is. It is written when the first watched lock was acquired, DELAY_MS
 * later if the client has no description, so that locks held for a moment cost
 * nothing, and renewed while any is held. No caller waits for it, and failures
 * are not reported.
 *
 *   idle -> wanted (a lock was acquired) -> registered, again and again while
 *   locks are held -> idle
 */
#ifndef HF__LEASE_REGISTRY_H
#define HF__LEASE_REGISTRY_H

#include <stdatomic.h>

#include "core/check.h"
#include "core/own_key.h"
#include "core/timers.h"
#include "holdfast/lock.h"
#include "store/store.h"

/* The lines of an entry behind the first: pid, user, host, program, text. */
#define HF__REGISTRY_LINES_SIZE (24 + 4 * HF_HOLDER_TEXT_SIZE)

struct hf_client;

typedef struct hf__registry {
    struct hf_client *client;
    char *description; /* the options'; NULL: none */
    atomic_bool wanted;
    atomic_bool stored; /* the store may have the entry */

    /* The loop thread's. */
    hf__timer timer;
    hf__task begin_task;
    hf__task done_task;
    hf__task close_task;
    bool closing;
    bool busy;   /* the request is under way */
    bool failed; /* the last one; read after it */
    hf__request request;
    hf_bytes words[4];
    char *key;
    char lines[HF__REGISTRY_LINES_SIZE];
    char age[HF__NUMBER_SIZE];
    char ttl[HF__NUMBER_SIZE];
} hf__registry;

/* false: no memory. `description` may be NULL. */
bool hf__registry_init(hf__registry *registry, struct hf_client *client,
                       const char *description);

/* A watched lock was acquired. Any thread, with nothing held. */
void hf__registry_note(hf__registry *registry);

/* No request follows; then the entry is deleted. Before the store is closed;
 * not in a forked child. */
void hf__registry_close(hf__registry *registry);
void hf__registry_done(hf__registry *registry);

/* The key of a client's entry, to be freed; NULL: no memory. */
char *hf__registry_key(const struct hf_client *client, const char *id);

#endif
