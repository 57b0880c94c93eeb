/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/election.h - one of several programs leads.
 *
 * Contents:
 * - hf_election_new(): a candidate's handle
 * - hf_election_proclaim(): change the leader's text
 * - hf_election_inspect(), hf_leader_free(): who leads now
 * - hf_observer_open(), hf_observer_next(), hf_observer_close(): each change of
 *   leader
 *
 * Proclaim, leader and next have a `_start` form.
 *
 * @code
 * hf_status lead(hf_client *client, const char *address, hf_error *err)
 * {
 *     hf_lock *lock = NULL;
 *     hf_status status = hf_election_new(client, hf_str("scheduler"),
 *                                        hf_str(address), NULL, &lock, err);
 *
 *     if (status == HF_OK)
 *         status = hf_lock_acquire(lock, HF_FOREVER, err); // campaign
 *     while (status == HF_OK && hf_lock_is_held(lock))
 *         printf("working in term %llu\n",
 *                (unsigned long long)hf_lock_token(lock));
 *     hf_lock_free(lock); // resigns
 *     return status;
 * }
 * @endcode
 *
 * An election is a lock whose holder says who it is. Its key has nothing else
 * to do with that of a lock: a name is one or the other.
 */
#ifndef HOLDFAST_ELECTION_H
#define HOLDFAST_ELECTION_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most bytes of a candidate's text. */
#define HF_ELECTION_TEXT_MAX 1024

/**
 * Make a handle for a candidate. Nothing is sent.
 *
 * Every hf_lock_* function that takes a handle works as for a lock:
 * hf_lock_acquire() campaigns, hf_lock_release() resigns, and the next
 * candidate, the one that has waited longest, leads. HF_TIMEOUT, and HF_HELD of
 * hf_lock_try(), mean that another one leads. hf_lock_token() is the term: it
 * grows with every leader, also over a time without one. A leader that does not
 * renew its lease is reported to have lost it as the holder of a lock is; no
 * other leads before.
 *
 * The text is stored by the request that makes the candidate lead, and expires
 * with its lease: a leader is never seen with the text of another one. Put
 * there how to reach the leader, such as its address.
 *
 * Functions that take the name of a lock return HF_WRONG_TYPE for an election.
 *
 * @param name  as for hf_lock_new()
 * @param text  0..#HF_ELECTION_TEXT_MAX bytes, of any value; copied
 * @param opts  as for hf_lock_new()
 * @param lock  [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_UNSUPPORTED  as for hf_lock_new(), and on a quorum (redlock:)
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_election_new(hf_client *client, hf_bytes name,
                                             hf_bytes text,
                                             const hf_lock_options *opts,
                                             hf_lock **lock, hf_error *err);

/**
 * Change the text of a leader, for as long as it leads. When the handle is
 * acquired again it has the text that it was made with.
 *
 * @param lock  a handle from hf_election_new() that leads
 * @param text  as for hf_election_new()
 *
 * @retval HF_OK       changed
 * @retval HF_LOST     another owner leads, or the handle has lost the lead
 * @retval HF_EXPIRED  the lease has expired; no other owner leads
 * @retval HF_INVALID  the handle does not lead, or is not of an election
 */
HF_API HF_MUST_USE hf_status hf_election_proclaim(hf_lock *lock, hf_bytes text,
                                                  hf_error *err);

/** Who leads. Start it with #HF_LEADER_INIT; it may be used again. */
typedef struct hf_leader {
    size_t struct_size;        /**< #HF_LEADER_INIT sets it */
    uint64_t term;             /**< its fencing token; 0: no one leads */
    int64_t remaining_ms;      /**< of its lease, which it renews */
    int64_t candidates;        /**< clients that wait to lead */
    char owner[HF_OWNER_SIZE]; /**< owner id, for hf_lock_holder(); or "" */
    hf_buffer text;            /**< followed by a NUL */
} hf_leader;

/* clang-format off */
#define HF_LEADER_INIT \
    { sizeof(hf_leader), 0, 0, 0, { 0 }, { NULL, 0 } }
/* clang-format on */

/**
 * Free the contents of a leader.
 *
 * @param leader  may be NULL
 */
HF_API void hf_leader_free(hf_leader *leader);

/**
 * Find out who leads now. By the time the caller looks at it this may have
 * changed: pass the term with what is asked of the leader.
 *
 * @param name    of the election
 * @param leader  [in,out] start it with #HF_LEADER_INIT; what it held before is
 *                freed. On HF_NOT_FOUND term is 0, and candidates is filled.
 *
 * @retval HF_OK           `*leader` leads
 * @retval HF_NOT_FOUND    no one leads
 * @retval HF_WRONG_TYPE   the key holds something that is not an election
 * @retval HF_UNSUPPORTED  on a quorum (redlock:)
 */
HF_API HF_MUST_USE hf_status hf_election_inspect(hf_client *client,
                                                 hf_bytes name,
                                                 hf_leader *leader,
                                                 hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START_OF(hf_election_proclaim_start, hf_lock *lock, hf_bytes text);
HF_START(hf_election_inspect_start, hf_bytes name, hf_leader *leader);

/** Follows who leads. */
typedef struct hf_observer hf_observer;

/**
 * Follow who leads in an election, from now on.
 *
 * The key is watched as by hf_watch_open(), with what that needs of a store and
 * costs it; each renewal of the leader's lease costs one more request. A leader
 * that died is noticed when its lease ends.
 *
 * @param name      of the election
 * @param observer  [out] close it with hf_observer_close()
 *
 * @retval HF_OK           changes are followed
 * @retval HF_UNSUPPORTED  a quorum; or the server has no RESP3
 * @retval HF_DENIED       the user may not use CLIENT TRACKING; or the embedded
 *                         store is read-only
 * @retval HF_SYSTEM       as for hf_watch_open()
 *
 * Blocks: up to request_ms.
 */
HF_API HF_MUST_USE hf_status hf_observer_open(hf_client *client, hf_bytes name,
                                              hf_observer **observer,
                                              hf_error *err);

/**
 * Stop following. hf_observer_next() of other threads must have returned;
 * started ones complete with HF_CANCELLED. It may be closed before or after its
 * client.
 *
 * @param observer  may be NULL
 *
 * Not in on_lost. Blocks: up to request_ms.
 */
HF_API void hf_observer_close(hf_observer *observer);

/**
 * Get who leads, or that no one does: the first call at once, a later one when
 * the term or the text differs from what the call before has reported. Leaders
 * in between may be skipped.
 *
 * @param observer  an open observer
 * @param leader    [in,out] start it with #HF_LEADER_INIT; what it held before
 *                  is freed. Its term is 0 if no one leads.
 * @param wait_ms   0..#HF_FOREVER
 *
 * @retval HF_OK          `*leader` is set
 * @retval HF_TIMEOUT     nothing has changed within wait_ms
 * @retval HF_CANCELLED   hf_client_interrupt(), or the client is being closed
 * @retval HF_WRONG_TYPE  the key holds something that is not an election
 *
 * Other statuses say why the leader could not be read. It is read again every
 * second, and the next call waits for that. Each change goes to one of the
 * threads that wait. Blocks: up to wait_ms.
 */
HF_API HF_MUST_USE hf_status hf_observer_next(hf_observer *observer,
                                              hf_leader *leader,
                                              int64_t wait_ms, hf_error *err);

/**
 * Start hf_observer_next() without a time limit. hf_client_interrupt() does not
 * end it; hf_call_cancel() does.
 *
 * @param observer  an open observer
 * @param leader    [in,out] as for hf_observer_next()
 * @param async     how to report it
 *
 * @retval HF_OK  done() will be called
 */
HF_API HF_MUST_USE hf_status hf_observer_next_start(hf_observer *observer,
                                                    hf_leader *leader,
                                                    const hf_async *async,
                                                    hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_ELECTION_H */
