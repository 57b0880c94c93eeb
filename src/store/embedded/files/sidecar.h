/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.h - the small file beside the data that every process maps: the
 * writer lock, the event counters, the table of inboxes.
 *
 * It holds nothing that could not be made anew once nobody has the store open.
 */
#ifndef HF__EMBEDDED_SIDECAR_H
#define HF__EMBEDDED_SIDECAR_H

#include <pthread.h>
#include <sys/types.h>

#include "holdfast/base.h"
#include "store/embedded/files/seal.h"

/* Fewer buckets would wake waiters of other topics more often. */
#define HF__BUCKET_MAX 1024u
/* Open stores of one machine; three hexadecimal digits of an inbox id. */
#define HF__INBOX_MAX 4096u
#define HF__INBOX_SIZE 16

#define HF__BOOT_ID_SIZE 40

/* What is known of the data beside it. */
enum {
    HF__SIDECAR_CREATING = 1, /* half made: may be thrown away */
    HF__SIDECAR_ADOPTING = 2, /* older than the sidecar, which is half made */
    HF__SIDECAR_READY = 3
};

enum { HF__MODE_VOLATILE = 1, HF__MODE_DURABLE = 2, HF__MODE_FLUSH = 3 };

/* What flush.c keeps here. */
typedef struct hf__flush_map {
    uint64_t checkpoint;    /* the snapshot that a power cut goes back to */
    int64_t unsynced_ms;    /* of the first commit after it; 0: none */
    uint64_t written_pages; /* by all commits, about */
    uint64_t synced_pages;  /* of these by the checkpoint */
    int64_t claimed_ms;     /* when the one that is being made was begun */
    uint32_t word;          /* futex: there is something to sync */
    uint32_t failed;        /* HF__FLUSH_FAILED: the disk did not write */
} hf__flush_map;
#define HF__FLUSH_FAILED 0x4c494146u

/* An event counter. Words are touched with __atomic builtins only. */
typedef struct hf__bucket {
    uint32_t seq;
    uint32_t waiters; /* threads in futex sleep; too high after a kill */
} hf__bucket;

/* Who listens. Written under the writer lock. */
typedef struct hf__inbox_slot {
    char id[HF__INBOX_SIZE]; /* not terminated */
    uint32_t used;           /* perhaps by a process that died since */
    uint32_t fifo;           /* has a FIFO to be written to */
} hf__inbox_slot;

typedef struct hf__sidecar_map {
    char magic[8];
    uint32_t version;
    uint32_t map_size; /* differs between word sizes too */
    uint32_t mode;
    uint32_t state;
    char boot_id[HF__BOOT_ID_SIZE];
    uint64_t head_sum; /* of what stands above, `state` excepted */
    uint64_t data_inode;
    uint64_t lock_inode;
    uint64_t own_inode; /* another one: this is a copy */
    /* Guarded by `writer`. */
    uint64_t allocated_size; /* of the data file, blocks and all */
    uint64_t max_size;
    int64_t sweep_ms;         /* when to look for expired keys again */
    uint32_t pending_deletes; /* elements of deleted keys may be left */
    uint32_t sweep_size;      /* of sweep_key */
    uint32_t inbox_next;      /* where to look for a free inbox */
    uint32_t reserved;
    unsigned char sweep_key[512];
    int64_t hurry_ms; /* until when others give way to a sleeper; atomic */
    pthread_mutex_t writer;
    hf__bucket buckets[HF__BUCKET_MAX];
    hf__inbox_slot inboxes[HF__INBOX_MAX];
    hf__seal seal;       /* of the data file when it was closed last */
    hf__flush_map flush; /* guarded by `writer`, `word` and `failed` excepted */
} hf__sidecar_map;

typedef struct hf__sidecar {
    int fd; /* -1: not open; also holds the locks that prove life */
    hf__sidecar_map *map;
    /* One bit for each inbox of this process. Guarded by the writer lock. */
    uint64_t own[HF__INBOX_MAX / 64];
} hf__sidecar;

/* The id of this boot, zero-padded. */
void hf__sidecar_boot_id(char boot_id[HF__BOOT_ID_SIZE]);

/*
 * Make a new one in `dir_fd`, in place of what is there, and map it. The
 * directory's lock is held. HF_FULL, HF_DENIED, HF_SYSTEM.
 */
hf_status hf__sidecar_create(int dir_fd, uint32_t mode, uint32_t state,
                             hf__sidecar *sidecar, hf_error *err);

/*
 * Map the one in `dir_fd`. HF_NOT_FOUND: none. HF_CORRUPT: not one of ours;
 * HF_UNSUPPORTED: of another version.
 */
hf_status hf__sidecar_open(int dir_fd, hf__sidecar *sidecar, hf_error *err);

/* One in memory, for this process alone. HF_SYSTEM, HF_NO_MEMORY. */
hf_status hf__sidecar_private(uint32_t mode, hf__sidecar *sidecar,
                              hf_error *err);

void hf__sidecar_close(hf__sidecar *sidecar);

/* What head_sum must be: a boot's id that changed by itself would throw a
 * volatile store away. */
uint64_t hf__sidecar_head_sum(const hf__sidecar_map *map);

/*
 * Make all that is shared anew: the lock, the counters, the inboxes. Nobody
 * has the store open, so what stands there is of no use, and may be damaged.
 */
void hf__sidecar_reset(hf__sidecar_map *map);

/*
 * Take the writer lock, by deadline_ms at the latest; false: another has it.
 * A holder that died left nothing to repair: LMDB undoes its transaction.
 */
bool hf__sidecar_lock(hf__sidecar_map *map, int64_t deadline_ms);
void hf__sidecar_unlock(hf__sidecar_map *map);

/*
 * Life of inboxes. Each open store holds a POSIX record lock on one byte of
 * the sidecar: gone with the process however it dies, not inherited by a
 * child, and the same in every PID namespace. The writer lock is held.
 */
/* Claim one and fill `id` (terminated). HF_SYSTEM: all are taken. */
hf_status hf__inbox_claim(hf__sidecar *sidecar, uint32_t *index,
                          char id[HF__INBOX_SIZE + 1], hf_error *err);
void hf__inbox_release(hf__sidecar *sidecar, uint32_t index);
/* Is the process that claimed it alive? */
bool hf__inbox_alive(const hf__sidecar *sidecar, uint32_t index);
/* Does any other process have this store open? */
bool hf__sidecar_in_use(const hf__sidecar *sidecar);
/* The index that an id carries; false: not an id. */
bool hf__inbox_index(hf_bytes id, uint32_t *index);

#endif
