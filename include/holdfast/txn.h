/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/txn.h - transactions: operations that run together, all of
 * them or none, if all conditions hold.
 *
 * Contents:
 * - hf_txn_new(), hf_txn_free()
 * - hf_txn_if_exists(), hf_txn_if_absent(), hf_txn_if_value(),
 *   hf_txn_if_version(), hf_txn_if_field(): conditions on what is stored
 * - hf_txn_if_held(), hf_txn_if_token(): conditions on who holds a lock
 * - hf_txn_if_fence(): a condition on who has written
 * - hf_txn_exec(), hf_txn_exec_start()
 * - hf_txn_count(), hf_txn_status(), hf_txn_failed(): the outcome
 *
 * **Operations** are queued by their own `_start` functions: if hf_async::txn
 * is set, the call becomes part of the transaction, and its results are written
 * when that is executed. All of holdfast/value.h, hash.h, key.h, set.h, rank.h
 * and timeline.h can be queued, hf_script_run_start(), and hf_command_start()
 * with a command that reaches only the keys among its words; of queue.h put,
 * inspect, list, pause, revive and drop; of latch.h set, arrive and delete; of
 * barrier.h reset; inspect of lock.h, semaphore.h and election.h, holder and
 * holders of lock.h, and proclaim of election.h. Others return HF_UNSUPPORTED,
 * as do those that may grant a lease to a waiter: it has the message before a
 * later operation fails. Operations are numbered from 0 in the order in which
 * they are queued, and run in that order.
 *
 * A script that is queued must name all its keys: those that it reaches
 * otherwise are not restored on a server if a later operation fails.
 *
 * In a cluster all keys of a transaction must be in one slot: use a common
 * {tag}. One that is in another slot is refused when it is added.
 *
 * @code
 * #include <holdfast/value.h>
 * hf_status finish(hf_client *client, hf_bytes job, hf_bytes me, hf_error *err)
 * {
 *     hf_async queue = HF_ASYNC_INIT;
 *     hf_status status = hf_txn_new(client, NULL, &queue.txn, err);
 *
 *     if (status == HF_OK)
 *         status = hf_txn_if_value(queue.txn, job, me, err);
 *     if (status == HF_OK)
 *         status = hf_value_delete_start(client, job, &queue, err);
 *     if (status == HF_OK)
 *         status = hf_txn_exec(queue.txn, err); // HF_CONFLICT: not mine
 *     hf_txn_free(queue.txn);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_TXN_H
#define HOLDFAST_TXN_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most words of one operation, and of all operations and conditions together.
 *  Keys count twice in a command, and each operation as four more. */
#define HF_TXN_WORDS_MAX 7000
#define HF_TXN_WORDS_ALL_MAX 100000

/** Flags of hf_txn_options. */
enum {
    /** Send it at most once: if the reply is lost, hf_txn_exec() returns
     *  HF_INDETERMINATE. Otherwise it is sent again, and a dedup record in the
     *  store makes sure that it is applied once. On PostgreSQL there is no such
     *  record: what it has written shows that it was applied. If it only
     *  removed, or others have overwritten all of that, hf_txn_exec() returns
     *  HF_INDETERMINATE. */
    HF_TXN_ONCE = 1u << 0
};

/** Options of hf_txn_new(). */
typedef struct hf_txn_options {
    size_t struct_size; /**< #HF_TXN_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_TXN_* bits */
    uint32_t reserved0; /**< must be 0 */
} hf_txn_options;

/* clang-format off */
#define HF_TXN_OPTIONS_INIT { sizeof(hf_txn_options), 0, 0 }
/* clang-format on */

/**
 * Begin a transaction. Nothing is sent before hf_txn_exec().
 *
 * @param opts  NULL for defaults
 * @param txn   [out] free it with hf_txn_free(); one thread at a time may use
 *              it
 *
 * @retval HF_OK           conditions and operations can be added
 * @retval HF_UNSUPPORTED  a quorum has locks only
 */
HF_API HF_MUST_USE hf_status hf_txn_new(hf_client *client,
                                        const hf_txn_options *opts,
                                        hf_txn **txn, hf_error *err);

/**
 * Free a transaction. One that was started runs all the same, and the results
 * of its operations are written before its done() is called.
 *
 * @param txn  may be NULL
 */
HF_API void hf_txn_free(hf_txn *txn);

/**
 * Add a condition: the key exists. Conditions are numbered from 0 in the order
 * in which they are added, and checked in that order, before any operation
 * runs.
 *
 * @param txn  not executed yet
 * @param key  a key of any type
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  also: the transaction was executed; it is too large; the
 *                     key is in another slot than those before
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_exists(hf_txn *txn, hf_bytes key,
                                              hf_error *err);

/**
 * Add a condition: the key does not exist.
 *
 * @param txn  not executed yet
 * @param key  the key
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  see hf_txn_if_exists()
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_absent(hf_txn *txn, hf_bytes key,
                                              hf_error *err);

/**
 * Add a condition: the key holds this value. If it holds another type,
 * hf_txn_exec() returns HF_WRONG_TYPE.
 *
 * @param txn    not executed yet
 * @param key    the key
 * @param value  its value
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  see hf_txn_if_exists()
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_value(hf_txn *txn, hf_bytes key,
                                             hf_bytes value, hf_error *err);

/**
 * Add a condition: the value of the key has this version, which
 * hf_value_get_versioned() returned: for values too large to compare.
 *
 * @param txn      not executed yet
 * @param key      the key
 * @param version  its version, #HF_VALUE_VERSION_SIZE bytes
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  see hf_txn_if_exists(); or it is no version
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_version(hf_txn *txn, hf_bytes key,
                                               hf_bytes version, hf_error *err);

/**
 * Add a condition: a field of a hash has this value, or does not exist. If the
 * key holds another type, hf_txn_exec() returns HF_WRONG_TYPE.
 *
 * @param txn    not executed yet
 * @param key    the key
 * @param field  the field's name
 * @param value  its value; NULL: the field, or the key, does not exist
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  see hf_txn_if_exists()
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_field(hf_txn *txn, hf_bytes key,
                                             hf_bytes field,
                                             const hf_bytes *value,
                                             hf_error *err);

struct hf_lock;

/**
 * Add a condition: the handle's lease is held when the transaction is executed.
 * The store checks that in the same step, by its own clock: nothing is applied
 * once another owner can have the lock, however late the request arrives.
 *
 * The lease of a lock, of either handle of a read-write lock, of an election,
 * of a claim (once.h), of a permit, or of a job; of Redisson's layout that of a
 * lock or a writer. In a cluster its name must be in the slot of the other
 * keys.
 *
 * @param txn   not executed yet
 * @param lock  a handle of the same client, which holds its lease; it may be
 *              freed before the transaction is executed
 *
 * @retval HF_OK           the condition was added
 * @retval HF_INVALID      see hf_txn_if_exists(); or the handle holds nothing,
 *                         or it belongs to another client
 * @retval HF_LOST         this handle held the lease and lost it
 * @retval HF_TIMEOUT      the same: its max_hold_ms has passed
 * @retval HF_UNSUPPORTED  a reader or a permit of Redisson's layout
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_held(hf_txn *txn,
                                            const struct hf_lock *lock,
                                            hf_error *err);

/**
 * Add a condition: a lock, an election or a claim (once.h) is held with this
 * fencing token when the transaction is executed. For a program that was given
 * the token by the holder; the holder itself uses hf_txn_if_held(), which works
 * for all kinds of leases.
 *
 * @param txn    not executed yet
 * @param name   of an exclusive lock, a writer, an election or a claim, in our
 *               layout
 * @param token  hf_lock_token() of its holder; 1..2^53-1
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  see hf_txn_if_exists(); or the token is out of range
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_token(hf_txn *txn, hf_bytes name,
                                             uint64_t token, hf_error *err);

/**
 * Add a condition: no fenced write of the key with a higher token came before,
 * so that hf_value_put_fenced() and hf_hash_put_fenced() with this one are not
 * refused. Without it a fenced write that is refused leaves the other
 * operations applied.
 *
 * @param txn    not executed yet
 * @param key    the key that is written; with a `}` it needs a hash tag
 * @param token  hf_lock_token(); 1..2^53-1
 *
 * @retval HF_OK       the condition was added
 * @retval HF_INVALID  see hf_txn_if_exists(); or the token is out of range
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_if_fence(hf_txn *txn, hf_bytes key,
                                             uint64_t token, hf_error *err);

/**
 * Execute a transaction: check the conditions and, if all hold, run the
 * operations, in one atomic step. Other clients see all of its effects or none.
 *
 * If an operation fails, nothing remains of those before it. An embedded store
 * aborts its transaction. A server has no such thing: there, the keys that are
 * written before the last operation that can fail are copied first (DUMP), and
 * restored. So a transaction takes time in proportion to the size of these
 * keys, and one of more than 4 MiB is refused with HF_UNSUPPORTED. A key of
 * which only the last operation writes is not copied.
 *
 * An operation whose answer is "no" (1xx: a NX that was refused, a
 * compare-and-set that met another value) has not failed: the others are
 * applied. Make it a condition if they must not be.
 *
 * A transaction is executed once; afterwards only its outcome can be read.
 *
 * @param txn  not executed yet
 *
 * @retval HF_OK           all operations were applied; each has the status that
 *                         hf_txn_status() returns
 * @retval HF_CONFLICT     a condition does not hold, hf_txn_failed() says
 *                         which; nothing was applied
 * @retval HF_WRONG_TYPE   a condition or an operation met a key of another
 *                         type, hf_txn_failed() says which; nothing was applied
 * @retval HF_INVALID      an operation failed, hf_txn_failed() says which;
 *                         nothing was applied
 * @retval HF_SCRIPT       the same for a script
 * @retval HF_UNSUPPORTED  the same for a command that the store does not have;
 *                         or a key is too large to be restored
 * @retval HF_NO_MEMORY    also: the operations were applied, but the result of
 *                         one did not fit; hf_txn_failed() says which
 */
HF_API HF_MUST_USE hf_status hf_txn_exec(hf_txn *txn, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START_OF(hf_txn_exec_start, hf_txn *txn);

/**
 * The number of operations that were queued.
 *
 * @param txn  a transaction
 * @return the count
 */
HF_API size_t hf_txn_count(const hf_txn *txn);

/**
 * The status of an operation, as its own function would have returned it.
 *
 * @param txn    one that was executed
 * @param index  0..hf_txn_count() - 1
 *
 * @retval HF_OK         applied, and its results are written
 * @retval HF_CANCELLED  nothing of the transaction was applied, and another
 *                       operation or a condition is the cause
 * @retval HF_INVALID    the transaction has not been executed, or has no such
 *                       operation
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_txn_status(const hf_txn *txn, size_t index,
                                           hf_error *err);

/** No condition and no operation failed: SIZE_MAX. */
#define HF_TXN_NONE 18446744073709551615u

/**
 * What made hf_txn_exec() fail: on HF_CONFLICT the number of the condition,
 * otherwise that of the condition or operation that the message names.
 *
 * @param txn  one that was executed
 * @return the number, from 0; #HF_TXN_NONE if there is none
 */
HF_API size_t hf_txn_failed(const hf_txn *txn);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_TXN_H */
