/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast.h - all of libholdfast.
 *
 * Contents:
 * | header               | for                                                |
 * |----------------------|----------------------------------------------------|
 * | holdfast/base.h      | rules for every call; statuses, errors, bytes      |
 * | holdfast/client.h    | opening and closing a store: URLs and options      |
 * | holdfast/key.h       | keys of any type: expiry, type, name, list         |
 * | holdfast/value.h     | values: set, get, delete, compare and set          |
 * | holdfast/hash.h      | hashes: put, get, delete, compare and set a field  |
 * | holdfast/set.h       | sets of members, each expiring                     |
 * | holdfast/rank.h      | leaderboards: members by score, each expiring      |
 * | holdfast/timeline.h  | items ordered by time or attribute, each expiring  |
 * | holdfast/cache.h     | cache entries, each filled by one client at a time |
 * | holdfast/watch.h     | being notified of changes to keys                  |
 * | holdfast/near.h      | values kept in the process while they are current  |
 * | holdfast/lock.h      | locks                                              |
 * | holdfast/rwlock.h    | read-write locks: many readers or one writer       |
 * | holdfast/queue.h     | work queues: jobs that each one worker takes       |
 * | holdfast/semaphore.h | semaphores: at most N holders at the same time     |
 * | holdfast/limiter.h   | rate limiters                                      |
 * | holdfast/ids.h       | numbers that are unique and only grow              |
 * | holdfast/latch.h     | waiting for a number of arrivals                   |
 * | holdfast/election.h  | one of several programs leads                      |
 * | holdfast/once.h      | work that is done once, with a result that is kept |
 * | holdfast/adopt.h     | passing a held lock to another process             |
 * | holdfast/together.h  | acquiring several locks at once                    |
 * | holdfast/barrier.h   | parties that wait until all have arrived           |
 * | holdfast/redisson.h  | locks, semaphores and latches of Redisson          |
 * | holdfast/script.h    | Lua scripts                                        |
 * | holdfast/command.h   | any command, word by word                          |
 * | holdfast/reply.h     | replies of scripts and commands                    |
 * | holdfast/txn.h       | transactions of all these, with conditions         |
 * | holdfast/async.h     | asynchronous calls and event loops                 |
 * | holdfast/store.h     | facts, health, check, compaction, dump and load    |
 *
 * Not in it, as it is of another library (libholdfast-serve):
 * | holdfast/serve.h     | serving an embedded store to clients of Redis      |
 *
 * Nor what needs the library of an event loop:
 * | holdfast/loop/       | epoll.h, uv.h (libuv), glib.h, libevent.h: each    |
 * |                      | attaches a client to such a loop                   |
 *
 * @code
 * hf_status once(hf_client *client, hf_error *err)
 * {
 *     hf_lock *lock = NULL;
 *     hf_status status = hf_lock_new(client, hf_str("job"), NULL, &lock, err);
 *
 *     if (status == HF_OK)
 *         status = hf_lock_try(lock, err);
 *     if (status == HF_OK)
 *         status = hf_value_set(client, hf_str("done"), hf_str("yes"), NULL,
 *                               NULL, err);
 *     hf_lock_free(lock); // releases it
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include "holdfast/adopt.h"
#include "holdfast/async.h"
#include "holdfast/barrier.h"
#include "holdfast/base.h"
#include "holdfast/cache.h"
#include "holdfast/client.h"
#include "holdfast/command.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/ids.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "holdfast/lock.h"
#include "holdfast/near.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/rank.h"
#include "holdfast/redisson.h"
#include "holdfast/reply.h"
#include "holdfast/rwlock.h"
#include "holdfast/script.h"
#include "holdfast/semaphore.h"
#include "holdfast/set.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/together.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "holdfast/watch.h"

#endif /* HOLDFAST_H */
