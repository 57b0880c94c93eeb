/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.h - a small file that every process maps: the writer lock, the event
 * counters, the table of inboxes.
 *
 * All of it can be created again while no process has the store open.
 */
#ifndef HF__ENGINE_SIDECAR_H
#define HF__ENGINE_SIDECAR_H

#include <pthread.h>
#include <sys/types.h>

#include "engine/files/seal.h"
#include "engine/files/wait_line.h"
#include "holdfast/base.h"
#include "util/boot_id.h"

/* With fewer buckets, more waiters of other topics would be woken. */
#define HF__BUCKET_MAX 1024u
/* Store handles open at once; three hexadecimal digits of an inbox id. */
#define HF__INBOX_MAX 4096u
#define HF__INBOX_SIZE 16

/* State of the data file. */
enum {
    HF__SIDECAR_CREATING = 1, /* incomplete: may be discarded */
    HF__SIDECAR_ADOPTING = 2, /* complete, but the sidecar is not */
    HF__SIDECAR_READY = 3
};

enum {
    HF__MODE_VOLATILE = 1,
    HF__MODE_DURABLE = 2,
    HF__MODE_FLUSH = 3,
    HF__MODE_LOG = 4
};

/* Is an acknowledged write on the disk? */
static inline bool hf__mode_syncs(uint32_t mode)
{
    return mode == HF__MODE_DURABLE || mode == HF__MODE_LOG;
}

/* flush.c's part. Instants are of hf__sidecar_machine_ms(). */
typedef struct hf__flush_map {
    uint64_t checkpoint; /* the snapshot that a power cut goes back to */
    int64_t unsynced_ms; /* when the first commit after it was made; 0: none */
    uint64_t written_pages; /* pages of all commits, roughly */
    uint64_t synced_pages;  /* of these in the checkpoint */
    int64_t claimed_ms;     /* when the checkpoint in progress was begun */
    uint32_t word;          /* futex: there is something to sync */
    uint32_t failed;        /* HF__FLUSH_FAILED: a sync failed */
} hf__flush_map;
#define HF__FLUSH_FAILED 0x4c494146u

/* redo.c's part; guarded by the writer lock. */
#define HF__REDO_PARTS 3u
typedef struct hf__redo_map {
    uint64_t last_txn; /* the last transaction that is in the log, or that a
                          checkpoint has */
    uint64_t serial;   /* of the last attempt to write a record */
    uint64_t current;  /* the part that is written */
    struct {
        uint64_t salt;
        uint64_t end; /* of its records, bytes; 0: never used */
        uint64_t last_txn;
    } parts[HF__REDO_PARTS];
} hf__redo_map;

/* front_lock.c's part; the numbers are atomic. */
typedef struct hf__front_lock_map {
    uint64_t first; /* the PID namespace of the first that opened the store */
    uint64_t state; /* not 0: others have opened it since */
    pthread_mutex_t writer; /* then in the place of the other `writer` */
} hf__front_lock_map;

/* An event counter. Words are touched with __atomic builtins only. */
typedef struct hf__bucket {
    uint32_t seq;
    uint32_t waiters; /* threads in futex sleep; too high after a kill */
} hf__bucket;

/* What the last event of a counter said, if it was as short as that. Written
 * under the writer lock; the version is odd meanwhile, and remains so if the
 * writer was killed. */
#define HF__EVENT_TEXT_MAX 120u
typedef struct hf__event_text {
    uint32_t version;
    uint32_t size;
    uint64_t words[HF__EVENT_TEXT_MAX / sizeof(uint64_t)];
} hf__event_text;

/* A store handle that receives events. Written under the writer lock, read
 * without it, too: by __atomic builtins. */
typedef struct hf__inbox_slot {
    char id[HF__INBOX_SIZE]; /* not terminated */
    uint32_t used;           /* maybe by a process that has died */
    uint32_t fifo;           /* has a FIFO to be written to */
} hf__inbox_slot;

typedef struct hf__sidecar_map {
    char magic[8];
    uint32_t version;
    uint32_t map_size; /* differs between word sizes too */
    uint32_t mode;
    uint32_t state;
    char boot_id[HF__BOOT_ID_SIZE];
    uint64_t head_sum; /* of these fields except `state`; and of the last */
    uint64_t data_inode;
    uint64_t lock_inode;
    uint64_t own_inode; /* differs in a copy of the file */
    /* Guarded by `writer`. */
    uint64_t allocated_size; /* of the data file, with its blocks */
    uint64_t max_size;
    int64_t sweep_ms;         /* when to sweep expired keys again */
    uint32_t pending_deletes; /* elements of deleted keys may be left */
    uint32_t sweep_size;      /* of sweep_key */
    uint32_t inbox_next;      /* where to search for a free inbox */
    uint32_t watched;         /* writers note their changes; atomic */
    unsigned char sweep_key[512];
    int64_t yield_ms; /* until when others yield to a sleeper, by
                         hf__sidecar_machine_ms(); atomic */
    pthread_mutex_t writer;
    hf__bucket buckets[HF__BUCKET_MAX];
    hf__inbox_slot inboxes[HF__INBOX_MAX];
    hf__seal seal;       /* of the data file, set by the last close */
    hf__flush_map flush; /* guarded by `writer` except `word` and `failed` */
    /* Version 1 ends here. */
    int64_t unix_ahead_ms; /* of the machine's CLOCK_BOOTTIME, when created */
    /* Version 2 ends here. */
    hf__event_text texts[HF__BUCKET_MAX];
    hf__redo_map redo;
    /* Version 3 ends here. */
    hf__front_lock_map front;
    /* Versions 4 to 6 end here. */
} hf__sidecar_map;

/* Of what is created. Earlier ones are used as long as programs have them open,
 * then replaced. */
#define HF__SIDECAR_VERSION 6u

typedef struct hf__sidecar {
    int fd; /* -1: not open; also holds the locks that prove life */
    hf__sidecar_map *map;
    int64_t namespace_ms;  /* hf__clock_namespace_ms(); in version 1: 0 */
    pthread_mutex_t front; /* hf__front_lock_take() */
    hf__wait_line line;    /* of threads that wait for the writer lock */
    bool fronted;          /* the holder of the writer lock has taken it;
                              guarded by the writer lock */
    /* One bit for each inbox of this process. Guarded by the writer lock. */
    uint64_t own[HF__INBOX_MAX / 64];
} hf__sidecar;

/*
 * Create one in `dir_fd`, replacing any that exists, and map it. `ahead_ms`:
 * the clock of that one; 0: the system's. The directory's lock is held.
 * HF_FULL, HF_DENIED, HF_SYSTEM.
 */
hf_status hf__sidecar_create(int dir_fd, uint32_t mode, uint32_t state,
                             int64_t ahead_ms, hf__sidecar *sidecar,
                             hf_error *err);

/* The clock of one that is replaced in the same boot, so that a step of the
 * system's clock moves nothing; 0: it has none. */
int64_t hf__sidecar_kept_clock(const hf__sidecar *sidecar);

/*
 * Map the one in `dir_fd`. HF_NOT_FOUND: none. HF_CORRUPT: not a sidecar;
 * HF_UNSUPPORTED: another version.
 */
hf_status hf__sidecar_open(int dir_fd, hf__sidecar *sidecar, hf_error *err);

/* One in private memory. HF_SYSTEM, HF_NO_MEMORY. */
hf_status hf__sidecar_private(uint32_t mode, hf__sidecar *sidecar,
                              hf_error *err);

void hf__sidecar_close(hf__sidecar *sidecar);

/* What head_sum must be: if the boot id were damaged, a volatile store would be
 * discarded. */
uint64_t hf__sidecar_head_sum(const hf__sidecar_map *map);

/*
 * How far Unix time, as the store counts it, is ahead of hf__clock_boot_ms():
 * as it was when the sidecar was created, that is, when the store was first
 * opened since the machine was booted. So a step of the system's clock moves no
 * deadline before the next boot. In version 1, how far it is now.
 */
int64_t hf__sidecar_unix_ahead_ms(const hf__sidecar *sidecar);

/* The store's clock, on which its deadlines are, when hf__clock_boot_ms() is
 * `boot_ms`: Unix time or, of a volatile store, the machine's CLOCK_BOOTTIME.
 */
int64_t hf__sidecar_now_ms(const hf__sidecar *sidecar, int64_t boot_ms);

/* hf__clock_boot_ms() of the machine, when ours is `boot_ms`: for instants that
 * processes share, also those of different time namespaces. */
static inline int64_t hf__sidecar_machine_ms(const hf__sidecar *sidecar,
                                             int64_t boot_ms)
{
    return boot_ms - sidecar->namespace_ms;
}

/* Is there room for what events say? */
static inline bool hf__sidecar_has_texts(const hf__sidecar_map *map)
{
    return map->version > 2;
}

/* Can it be shared with other PID namespaces? */
static inline bool hf__sidecar_has_front(const hf__sidecar_map *map)
{
    return map->version > 3;
}

/* Does every program that has the store open know format 3? One that opened it
 * before may continue with version 4. */
static inline bool hf__sidecar_knows_format_3(const hf__sidecar_map *map)
{
    return map->version > 4;
}

/* The same of format 4. */
static inline bool hf__sidecar_knows_format_4(const hf__sidecar_map *map)
{
    return map->version > 5;
}

/*
 * Reset the lock, the counters and the inboxes. No process has the store open;
 * what is there is unused and may be damaged.
 */
void hf__sidecar_reset(hf__sidecar_map *map);

/*
 * Take the writer lock; false: not by deadline_ms. If its holder died, `*died`
 * is set: then mended() must follow, and until then the lock counts as left by
 * a dead one, should the caller die, too. Readers may miss what that committed
 * until a write transaction begins.
 */
bool hf__sidecar_lock(hf__sidecar *sidecar, int64_t deadline_ms, bool *died);
void hf__sidecar_lock_mended(hf__sidecar *sidecar);
void hf__sidecar_unlock(hf__sidecar *sidecar);

/*
 * Inboxes. Each open store holds a POSIX record lock on one byte of the
 * sidecar: it ends with the process however that dies, is not inherited by a
 * child, and works across PID namespaces. The writer lock is held.
 */
/* Claim one and set `id` (terminated). HF_SYSTEM: none is free. */
hf_status hf__inbox_claim(hf__sidecar *sidecar, uint32_t *index,
                          char id[HF__INBOX_SIZE + 1], hf_error *err);
void hf__inbox_release(hf__sidecar *sidecar, uint32_t index);
/* Is the process that claimed it alive? */
bool hf__inbox_alive(const hf__sidecar *sidecar, uint32_t index);
/* Has one claimed it that is alive? The writer lock is not needed. */
bool hf__inbox_used(const hf__sidecar *sidecar, uint32_t index);
/* A copy of its id, which others may be changing: not checked. */
void hf__inbox_id(const hf__sidecar *sidecar, uint32_t index,
                  char id[HF__INBOX_SIZE + 1]);
/* Does any other process have this store open? */
bool hf__sidecar_in_use(const hf__sidecar *sidecar);
/* The index in an id; false: not an id, and maybe not the name of a file. */
bool hf__inbox_index(hf_bytes id, uint32_t *index);

#endif
