/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - the client: one store, one background thread, and what the locks
 * of a process share.
 */
#ifndef HF__CORE_CLIENT_H
#define HF__CORE_CLIENT_H

#include <pthread.h>

#include "core/cas_lane.h"
#include "core/check.h"
#include "core/dispatch.h"
#include "core/gate.h"
#include "core/interrupt.h"
#include "core/owner.h"
#include "core/registry.h"
#include "core/replicas.h"
#include "core/run.h"
#include "core/timers.h"
#include "core/watchdog.h"
#include "store/store.h"

struct hf_client {
    hf__store *store;
    hf__loop *loop;
    char *prefix;
    size_t prefix_size;
    char *password_file; /* the options'; NULL: not given */
    int64_t request_ms;
    hf__replicas replicas; /* for every write */
    hf__owners owners;     /* and this client's id */
    uint32_t fork_generation;
    hf__watchdog watchdog;
    hf__gates gates;
    hf__interrupts interrupts;
    hf__cas_lanes cas_lanes;
    hf__dispatch dispatch;
    hf__timers timers; /* of asynchronous waits, of the registration */
    hf__registry registry;
};

/* The store that `url` means: the environment's if it is NULL or "". */
const char *hf__client_url(const char *url);

/* HF_INVALID in a process that forked after the client was opened, and in a
 * done() that is told by hf_client_close(). */
hf_status hf__client_check(const hf_client *client, hf_error *err);

/* The same, and HF_INVALID on the client's own thread, which must not wait for
 * itself, and renews the locks. */
hf_status hf__client_may_block(const hf_client *client, hf_error *err);

/* Free the memory of a closed client. */
void hf__client_free(hf_client *client);

#endif
