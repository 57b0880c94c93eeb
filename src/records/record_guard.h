/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_guard.h - since when a lease is known not to have changed: by the
 * clock of this machine, which no one sets. Loop thread only.
 *
 * A process remembers it for the leases that it has met. What others on the
 * same machine have seen is in the store, as marks: a record for each lease
 * that looked over, and machine. A mark of another machine, or from before it
 * was started, has another key: its clock means nothing here.
 */
#ifndef HF__RECORDS_RECORD_GUARD_H
#define HF__RECORDS_RECORD_GUARD_H

#include "holdfast/base.h"
#include "records/backend.h"
#include "util/arena.h"

/* Leases that are remembered: in sets, each of so many. One more in a set takes
 * the place of the one that was asked for least recently, which is then watched
 * from the start again: its lock is granted later, never earlier. */
#define HF__GUARD_SETS 256u
#define HF__GUARD_WAYS 8u

/* Of a mark as DUMP returns it, bytes. */
#define HF__GUARD_MARK_SIZE 44u

typedef struct hf__guard_watch {
    uint64_t version; /* of the lease's record; 0: none */
    int64_t since_us; /* of hf__clock_boot_us() */
    uint64_t turn;    /* when it was last asked for */
} hf__guard_watch;

typedef struct hf__guard {
    hf__guard_watch watched[HF__GUARD_SETS][HF__GUARD_WAYS];
    uint64_t turn;
    uint64_t machine; /* this boot of it; 0: not known, so there are no marks */
    int64_t ahead_us; /* hf__clock_boot_us() is, of the machine's */
} hf__guard;

/* NULL: no memory. */
hf__guard *hf__guard_new(void);
void hf__guard_free(hf__guard *guard);

/* Since when the version is known: from now_us on, if it was not. */
int64_t hf__guard_since(hf__guard *guard, uint64_t version, int64_t now_us);

/* When a lease is over, by the store's clock, ms; 0: never. now_ms is TIME,
 * which may be later than `bound_us`, a lower bound of that clock. `*guarded`:
 * it looks over, and is not, as it was not known for as long as it is. */
int64_t hf__guard_end(hf__guard *guard, const hf__backend_record *lease,
                      int64_t now_ms, int64_t bound_us, bool *guarded);

/* When a lease is over that is written again, with its end as it was: that, or
 * later, but not for longer than it was when it was written before. Others see
 * only how long it is from TIME of this write on, and TIME may have been set
 * forward since it was granted. */
int64_t hf__guard_end_again(hf__guard *guard, const hf__backend_record *lease,
                            int64_t now_ms);

/* The key of this machine's mark on a lease; data NULL: no memory, or no
 * marks. */
hf_bytes hf__guard_mark_key(const hf__guard *guard, hf_bytes key,
                            hf__arena *arena);
/* A mark, of what hf__guard_since() says of the version. */
void hf__guard_write_mark(hf__guard *guard, uint64_t version, int64_t now_us,
                          char mark[HF__GUARD_MARK_SIZE]);
/* Believe a mark. false: it is not of this version, nor of the past. */
bool hf__guard_read_mark(hf__guard *guard, hf_bytes mark, uint64_t version,
                         int64_t now_us);

#endif
