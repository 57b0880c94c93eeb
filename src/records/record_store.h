/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_store.h - requests on a store of records: the part of a driver that
 * runs them, without its events.
 *
 * All of it but the queueing of requests runs on the loop thread.
 */
#ifndef HF__RECORDS_RECORD_STORE_H
#define HF__RECORDS_RECORD_STORE_H

#include "records/backend.h"
#include "records/instant.h"
#include "records/kept.h"
#include "records/record_guard.h"
#include "util/clock.h"
#include "util/heap.h"

struct hf__work;
typedef struct hf__work_key hf__work_key;

/* Of the keys of all works. */
#define HF__RECORD_BUCKETS 1024u

typedef struct hf__record_store {
    hf__loop *loop;
    hf__backend *backend;
    int64_t budget_ms; /* of a user's script */
    int64_t group_us;  /* for which the requests of a group run at most */

    /* For the works: end one, which is freed; set its timer, INT64_MAX: to the
     * deadline of its request. */
    void (*ended)(struct hf__work *work);
    void (*wake_at)(struct hf__work *work, int64_t at_ms);

    /* The loop thread's. */
    hf__scratch *scratch;
    hf__kept_table kept;
    hf__guard *guard;
    hf__instant instant; /* the newest */
    size_t calls;        /* of the backend, under way */
    /* Works that wait for a call to end: in the first line those that keep or
     * give back leases, in the second all others; of each the oldest first. */
    struct hf__work *line[2];
    struct hf__work **line_end[2];
    hf__heap timers; /* of works */
    hf__alarm *alarm;
    struct hf__work *first; /* all works, in the order of their arrival */
    struct hf__work **end;
    size_t count;
    size_t waiting;    /* of them, for another on the same key */
    uint64_t arrivals; /* so far */
    hf__work_key *keys[HF__RECORD_BUCKETS];
    hf__task next_task; /* begins works that have waited */
    bool begins;        /* it is posted */
    bool closing;
} hf__record_store;

/* Close a backend that no store owns, on the loop thread if it runs. */
void hf__record_store_drop(hf__loop *loop, hf__backend *backend);

/* The store owns the backend from then on. HF_SYSTEM, HF_NO_MEMORY. Starts the
 * loop. */
hf_status hf__record_store_open(hf__record_store *store, hf__loop *loop,
                                hf__backend *backend, int64_t budget_ms,
                                hf_error *err);

/* See hf__store_ops. */
void hf__record_store_perform(hf__record_store *store, hf__request *request);
void hf__record_store_submit(hf__record_store *store, hf__request *request);
void hf__record_store_cancel(hf__record_store *store, hf__request *request);
void hf__record_store_close(hf__record_store *store);

/* A message has come with a record that its commit has written or, of version
 * 0, removed: what the receiver does next need not meet a conflict first. It
 * may be older than what is kept. On the loop thread. */
void hf__record_store_learn(hf__record_store *store,
                            const hf__backend_record *record);

/* For the works: keep a record that was read or written. */
static inline void hf__record_store_keep(hf__record_store *store,
                                         const hf__backend_record *record)
{
    hf__kept_put(&store->kept, record);
    if (record->expire_ms < 0)
        (void)hf__guard_since(store->guard, record->version,
                              hf__clock_boot_us());
}

#endif
