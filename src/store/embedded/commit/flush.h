/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush.h - durability=flush: writes are acknowledged before they are on the
 * disk, and a power cut takes the store back by a second's worth of them at
 * most.
 */
#ifndef HF__EMBEDDED_FLUSH_H
#define HF__EMBEDDED_FLUSH_H

#include "store/embedded/commit/env.h"

struct hf__tx;

/* Begin, when LMDB has the file open; starts a thread. The writer lock is
 * held. In any other mode this and the rest do nothing. */
hf_status hf__flush_open(hf__env *env, int dir_fd, hf_error *err);

/* A last checkpoint, the end of the thread. The writer lock is not held. */
void hf__flush_close(hf__env *env);

/*
 * Take the writer lock, by deadline_ms, in order to write: in any mode. May
 * have to wait for the disk first. HF_UNAVAILABLE: not by then; HF_SYSTEM: the
 * disk failed, and the store takes no more writes.
 */
hf_status hf__flush_lock(hf__env *env, int64_t deadline_ms, hf_error *err);

/* After a commit that changed something, under a lock that hf__flush_lock()
 * took. */
void hf__flush_wrote(struct hf__tx *tx);

/*
 * There is no room: have what was freed since the last checkpoint made free
 * for use; `again`, if that has not helped: what other processes hold back
 * too, for which it may wait a second. The writer lock is not held. true: it is
 * held now, before others can take the room, and trying again may help.
 */
bool hf__flush_make_room(hf__env *env, bool again, int64_t deadline_ms);

#endif
