/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h - an open LMDB environment with its sidecar: one per store and process,
 * shared by all handles.
 */
#ifndef HF__ENGINE_ENV_H
#define HF__ENGINE_ENV_H

#include <lmdb.h>
#include <pthread.h>

#include "engine/files/files.h"
#include "engine/files/ring.h"
#include "engine/files/sidecar.h"

/* Read transactions kept for the next reader. */
#define HF__READER_KEEP 8

typedef struct hf__env {
    struct hf__env *next; /* the registry's */
    uint32_t refs;        /* the registry's */
    dev_t device;
    ino_t inode; /* of the data file */
    uint32_t mode;
    char path[PATH_MAX];
    int dir_fd;     /* of that directory; all files are opened from it */
    bool read_only; /* nothing can be written: read_only.c */
    hf__sidecar sidecar;

    MDB_env *mdb;
    MDB_dbi dbi;
    int data_fd; /* LMDB's */
    int lock_fd; /* of lock.mdb, open as long as LMDB has it; -1: none */
    uint32_t page_size;

    /* Held for reading while a read transaction is open, for writing while
     * LMDB's map is replaced. */
    pthread_rwlock_t map_lock;
    bool broken; /* the map was lost; guarded by map_lock */
    /* The whole file was checked. Guarded by the registry's lock. */
    bool verified;

    /* Guarded by the writer lock. */
    uint64_t map_size;
    uint64_t last_page; /* LMDB's, at our last write */
    int64_t readers_checked_ms;
    int64_t grow_retry_ms;
    bool disk_full;         /* the last attempt to grow failed */
    int64_t await_again_ms; /* readers.c's, like the next */
    uint64_t awaited;
    uint64_t advanced; /* write.c's: its last empty transaction */
    bool tight;        /* little space left; set by begin_write */
    uint64_t expired;  /* keys that this process found expired and deleted;
                          atomic */
    int64_t swept_ms;  /* reclaim.c's, like the next */
    uint32_t sweep_allowance;
    struct hf__tx *write_tx;         /* made when first needed */
    struct hf__machine *users;       /* of users' scripts */
    struct hf__functions *functions; /* of this store; made when needed */
    hf__ring rings[HF__RING_COUNT];  /* mapped when first needed */

    struct hf__queue *queue;
    struct hf__flush *flush; /* NULL: commits are synced by LMDB, or not */
    struct hf__redo *redo;   /* NULL: there is no log */
    bool reverted;           /* to the checkpoint, by this open */

    uint64_t awaiting; /* the snapshot whose end a writer of the process has
                          waited for last, or 0; atomic */
    uint64_t copied;   /* that of a copy of the process, or 0; atomic */

    /* What identity.c saw last, and when. Touched with __atomic builtins. */
    int64_t identity_checked_ms;
    uint32_t identity;

    pthread_mutex_t readers_lock;
    struct hf__tx *readers[HF__READER_KEEP];
    size_t reader_count;

    /* Guarded by readers_lock too; NULL until something is scanned. */
    struct hf__scan_position *scan_positions;
    uint64_t scan_stamp;
} hf__env;

/*
 * Take the writer lock and begin a write transaction. HF_UNAVAILABLE: not by
 * deadline_ms. Several transactions may follow under one lock.
 */
hf_status hf__env_lock(hf__env *env, int64_t deadline_ms, hf_error *err);
void hf__env_unlock(hf__env *env);
hf_status hf__env_begin_write(hf__env *env, int64_t now_ms, MDB_txn **txn,
                              hf_error *err);
/* mdb_txn_commit() */
int hf__env_commit(hf__env *env, MDB_txn *txn);

/* Set LMDB's map to the allocated size, to which another process may have
 * extended the file. The writer lock is held, no write transaction is open. */
bool hf__env_adopt_size(hf__env *env);

/*
 * Extend the file by `wanted_size` bytes or as much as possible. The writer
 * lock is held and no write transaction is open. false: no space.
 */
bool hf__env_grow(hf__env *env, uint64_t wanted_size, int64_t now_ms);

/* The same for a transaction that only deletes, beyond max_size. */
bool hf__env_overdraw(hf__env *env, int64_t now_ms);

/*
 * Begin or renew a read transaction; `*txn` is NULL or one that was reset.
 * HF_UNAVAILABLE: read in a write transaction instead, because the map is too
 * small, no reader slot is free, or LMDB takes a process of another PID
 * namespace for us. After HF_OK call hf__env_end_read().
 */
hf_status hf__env_begin_read(hf__env *env, MDB_txn **txn, hf_error *err);
void hf__env_end_read(hf__env *env, MDB_txn *txn);

/*
 * Let others replace LMDB's map within a read transaction, which keeps its
 * snapshot: it has page numbers, not addresses. Its cursors and views end.
 * false of the second: there is no map, and the transaction must be ended.
 */
void hf__env_pause_read(hf__env *env);
bool hf__env_resume_read(hf__env *env);

static inline void hf__env_note_expired(hf__env *env)
{
    (void)__atomic_add_fetch(&env->expired, 1, __ATOMIC_RELAXED);
}

/* Fail with HF_DENIED. */
hf_status hf__env_fail_read_only(hf_error *err);
/* Fail with HF_FULL, and say what limits the store. */
hf_status hf__env_fail_full(const hf__env *env, hf_error *err);

/* Pages reserved for deletes and renewals in a full store. */
uint64_t hf__env_reserve_pages(const hf__env *env);
/* The largest size, limited by the disk or max_size. */
uint64_t hf__env_limit_pages(const hf__env *env);

#endif
