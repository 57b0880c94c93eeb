/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush.h - durability=flush: writes are acknowledged before they are on disk;
 * a power cut loses those of the last second at most.
 */
#ifndef HF__ENGINE_FLUSH_H
#define HF__ENGINE_FLUSH_H

#include "engine/commit/env.h"

struct hf__tx;

/* Start, after LMDB has opened the file; creates a thread. The writer lock is
 * held. In other modes all of these do nothing. */
hf_status hf__flush_open(hf__env *env, int dir_fd, hf_error *err);

/* Make a last checkpoint and stop the thread. The writer lock is not held. */
void hf__flush_close(hf__env *env);

/*
 * Take the writer lock for writing, in any mode. May wait for the disk first.
 * HF_UNAVAILABLE: not by deadline_ms; HF_SYSTEM: the disk failed, and the store
 * is no longer writable.
 */
hf_status hf__flush_lock(hf__env *env, int64_t deadline_ms, hf_error *err);

/* After a commit that changed something, in a store with `flush`, under a lock
 * that hf__flush_lock() took. */
void hf__flush_wrote(struct hf__tx *tx);

/*
 * The store is full: make pages freed since the last checkpoint reusable; with
 * `again`, because that has not helped, also those pinned by other processes,
 * for which it may wait a second. `tried` is the oldest snapshot that was in
 * use when it was full. The writer lock is not held. true: it is held now, and
 * trying again may help.
 */
bool hf__flush_make_room(hf__env *env, bool again, uint64_t tried,
                         int64_t deadline_ms);

#endif
