/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/lock.h - locks: leases that are renewed in the background.
 *
 * Contents:
 * - hf_lock_options, hf_lock_new(), hf_lock_free()
 * - hf_lock_acquire(), hf_lock_acquire_for(), hf_lock_try(),
 *   hf_lock_release(), hf_lock_renew(), hf_lock_interrupt()
 * - of a handle: hf_lock_is_held(), hf_lock_remaining_ms(), hf_lock_token(),
 *   hf_lock_name(), hf_lock_holds(), hf_lock_replicas(), hf_lock_owner(),
 *   hf_lock_lost_fd()
 * - of any lock: hf_lock_inspect(), hf_lock_holder(), hf_lock_holders(),
 *   hf_lock_list(), hf_lock_break(), hf_lock_break_owner()
 * - hf_lock_acquire_many(), hf_lock_release_many(), hf_lock_renew_many()
 *
 * Acquire, release, renew, inspect, holder, holders, list, break and the
 * batches have a `_start` form.
 *
 * A release gives the lock to the client that has waited longest. That client
 * holds it at first for 1 s at most, until its first renewal. If it was killed
 * meanwhile, the next one finds the lock free when it polls, 1 to 2 s later.
 * When a lease runs out without a release, the first client that asks gets the
 * lock; its place in the queue does not count.
 *
 * A client renews its leases every third of ttl_ms: up to 128 in one request on
 * a server, those of one slot in a cluster. A reply counts while the lease is
 * valid. 20 000 leases of 3 s take 4 % of a core in the client and 6 % in the
 * server, or 9 % and 12 % in a cluster of three masters. Leases are lost where
 * either does not get its share, such as next to twelve busy threads for each
 * processor. Longer leases cost less, in proportion.
 *
 * @code
 * hf_status back_up(hf_client *client, hf_error *err)
 * {
 *     hf_lock *lock = NULL;
 *     hf_status status = hf_lock_new(client, hf_str("job"), NULL, &lock, err);
 *
 *     if (status != HF_OK)
 *         return status;
 *     status = hf_lock_acquire(lock, 5000, err); // HF_TIMEOUT: held for 5 s
 *     for (int file = 0; file < 10 && hf_lock_is_held(lock); file++)
 *         printf("copying file %d\n", file);
 *     if (status == HF_OK)
 *         status = hf_lock_release(lock, err);
 *     hf_lock_free(lock);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_LOCK_H
#define HOLDFAST_LOCK_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Shortest and longest lease of a lock, ms: shorter than 10 ms no renewal
 *  could keep up; a day is the longest a crashed holder can block others. */
#define HF_LOCK_TTL_MIN_MS 10
#define HF_LOCK_TTL_MAX_MS 86400000

/**
 * A handle for a lock. The handle, not the thread, owns the lock: any thread
 * may release it, and acquiring it again through the same handle is re-entry.
 */
typedef struct hf_lock hf_lock;

/**
 * Called once for each acquisition that is lost, as soon as the loss is known
 * and before the validity ends (hf_lock_is_held()); later by the time that
 * other on_lost callbacks take, and that the library's thread waits for a
 * processor: on a machine with six runnable threads for each processor, 2 of 60
 * calls came 18 and 90 ms late. Where that matters, lost_margin_ms makes it
 * earlier. hf_lock_is_held() is right at any time. Not called if
 * hf_lock_release() was the first to learn of the loss.
 *
 * It runs on the library's background thread, with no lock of the library held,
 * and must return soon: until then no lock of this client is renewed. It may
 * call hf_lock_is_held() and the other getters, start asynchronous calls (such
 * as the release of its lock), interrupt, and free any handle; hf_lock_free()
 * does not wait there, and a lock that is held is released in the background.
 * Calls of this client that block return HF_INVALID, and hf_client_close() does
 * nothing.
 *
 * @param lock    the lock that was lost
 * @param reason  HF_LOST: another owner has it. HF_EXPIRED: it is gone from the
 *                store, or it expired without renewal (HF_LOCK_NO_RENEW).
 *                HF_INDETERMINATE: it could not be renewed before its validity
 *                ended. HF_TIMEOUT: max_hold_ms passed.
 * @param user    hf_lock_options::user
 */
typedef void (*hf_lock_lost_fn)(hf_lock *lock, hf_status reason, void *user);

/** Highest priority of a waiter. */
#define HF_LOCK_PRIORITY_MAX 4u

/** Flags of hf_lock_options. */
enum {
    HF_LOCK_NO_RENEW = 1u << 0 /**< do not renew: the lease ends after ttl_ms */
};

/** hf_lock_options::gaps */
enum {
    /** Leave gaps to a library that was seen to hold the lock: until it has
     *  held it as often as ours, and for at most two thirds of the time. To
     *  find one, servers' locks that change hands without a pause are left free
     *  once in 10 s. */
    HF_LOCK_GAPS_AUTO = 0,
    /** Leave none: clients of other libraries may never get the lock. */
    HF_LOCK_GAPS_NEVER = 1,
    /** Leave gaps as if another library was known to wait, so that it need not
     *  be found first; if there is none, for a fifth of the time. */
    HF_LOCK_GAPS_ALWAYS = 2
};

/** Options of hf_lock_new(). */
typedef struct hf_lock_options {
    size_t struct_size; /**< #HF_LOCK_OPTIONS_INIT sets it */
    /** Lease, ms; 0: 30000; range #HF_LOCK_TTL_MIN_MS..#HF_LOCK_TTL_MAX_MS.
     *  It is renewed after a third of that time. A holder that crashed blocks
     *  others for at most this long. */
    int64_t ttl_ms;
    /** The lock is lost this long after it was acquired, ms; 0: never. A holder
     *  that hangs blocks others for at most this plus ttl_ms. */
    int64_t max_hold_ms;
    /** Report a loss this long before the validity ends, ms, so that the holder
     *  has time to stop; 0: at the end; at most ttl_ms / 2. */
    int64_t lost_margin_ms;
    uint32_t flags; /**< HF_LOCK_* bits */
    /** A release serves a waiter before all those with a lower priority, in
     *  other processes too: 0, the default, to #HF_LOCK_PRIORITY_MAX. Among
     *  equals, the first to come goes first. A steady flow of a higher priority
     *  keeps the lower ones waiting. */
    uint32_t priority;
    hf_lock_lost_fn on_lost; /**< NULL: no callback */
    void *user;              /**< passed to on_lost */
    /** Replicas that must acknowledge an acquire or a renewal; 0: as for the
     *  client; #HF_REPLICAS_NONE: none; 1..#HF_REPLICAS_MAX. See "Replicas" in
     *  base.h. */
    int32_t replicas;
    /** #HF_LOCK_GAPS_AUTO, the default, and others: whether a release leaves
     *  the lock free, for 110 ms at most, for clients of other libraries. See
     *  hf_lock_new(). */
    uint32_t gaps;
    /** Longest time to wait for them, ms; 0: as for the client; range
     *  1..3600000. An acquire waits for at most a third of the lease, a renewal
     *  for a sixth. */
    int64_t replicas_ms;
    /** Others cannot acquire it for this long after it was acquired, ms, even
     *  if it was released before; 0: no minimum; at most #HF_LOCK_TTL_MAX_MS.
     *  For what must run once in a period, on hosts whose clocks differ: with
     *  wait_ms 0, and a minimum longer than the difference. The release leaves
     *  the owner id in the store, to expire by itself. After a crash it expires
     *  after ttl_ms, as any lease. */
    int64_t min_hold_ms;
    /** After a holder that did not release it, others can acquire it only this
     *  long after its lease has ended, ms; 0: at once; at most
     *  #HF_LOCK_TTL_MAX_MS. For resources that cannot check a fencing token:
     *  what the dead holder has sent may still arrive. In the store the lease
     *  is longer by this time. */
    int64_t delay_ms;
} hf_lock_options;

/* clang-format off */
#define HF_LOCK_OPTIONS_INIT \
    { sizeof(hf_lock_options), 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0 }
/* clang-format on */

/**
 * Make a handle for a lock. Nothing is sent.
 *
 * The lock's key in the store is the client's prefix followed by `name`, a
 * string with a time to live. It therefore works with every client that locks
 * by SET NX PX on the same key (redis-py, redsync, node-redlock, LockTake of
 * StackExchange.Redis): they exclude each other.
 *
 * Those poll for the lock, and while several clients of Holdfast want it, there
 * is no moment in which it is free: a release gives it to the next of them. So
 * some releases leave a gap instead: the lock stays free until another library
 * has taken it, for 110 ms at most, longer than the 100 ms at which redis-py
 * polls. hf_lock_options::gaps says which: by default, only while another
 * library takes part, and on servers once in 10 s to find that out. No other
 * client of Holdfast gets the lock in a gap, hf_lock_try() included. Set it to
 * #HF_LOCK_GAPS_NEVER if no other library uses the lock and no hand-over may
 * take 110 ms.
 *
 * @param name    the lock's name. One with a `}` but without a Redis hash tag
 *                ("a}b", "{}a") is refused: the lock's other keys could not be
 *                in the same slot.
 * @param opts    NULL for defaults; copied
 * @param lock    [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_UNSUPPORTED  an option is newer than this library; replicas on a
 *                         store that has none; priority, min_hold_ms,
 *                         delay_ms or #HF_LOCK_GAPS_ALWAYS on a quorum, the
 *                         last on PostgreSQL too
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_lock_new(hf_client *client, hf_bytes name,
                                         const hf_lock_options *opts,
                                         hf_lock **lock, hf_error *err);

/**
 * Free a handle. A lock that is still held is released first, in one attempt
 * whose outcome is not reported; use hf_lock_release() to learn it.
 *
 * Asynchronous calls on the handle are completed first, an acquire by
 * cancelling it; hf_client_dispatch() reports them as usual. Once the client is
 * closed, only memory is freed.
 *
 * @param lock  may be NULL; no blocking call on it may be in progress
 *
 * Blocks: up to request_ms if the lock is held or a call on it is in progress,
 * and until a running on_lost has returned.
 */
HF_API void hf_lock_free(hf_lock *lock);

/**
 * Acquire a lock, waiting up to `wait_ms`.
 *
 * The lease begins before the request is sent. It is renewed in the background
 * until hf_lock_release(), unless HF_LOCK_NO_RENEW is set. Its fencing token is
 * larger than that of every earlier holder of the name on this store; see
 * hf_lock_token().
 *
 * If the handle already holds the lock, this is re-entry: it succeeds
 * immediately without a request, keeps the token, and needs one more release.
 *
 * @param lock     the handle
 * @param wait_ms  0: try once; #HF_FOREVER: no limit; negative: invalid
 *
 * @retval HF_OK             held from now until it is lost or released
 * @retval HF_TIMEOUT        another owner held it until wait_ms had passed
 * @retval HF_CANCELLED      interrupted; see hf_lock_interrupt()
 * @retval HF_LOST           this handle held the lock and lost it; release it
 *                           before acquiring it again
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        also if the lease exceeds the quarantine of a
 *                           redlock: store
 * @retval HF_UNAVAILABLE    also if too few replicas acknowledged the lock; it
 *                           is not held
 * @retval HF_INDETERMINATE  no reply arrived: the lock is not held, but this
 *                           attempt may block the name for at most ttl_ms
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * Blocks: up to wait_ms plus request_ms. Several threads may wait on one
 * handle; they then share the one acquisition.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire(hf_lock *lock, int64_t wait_ms,
                                             hf_error *err);

/**
 * Acquire a lock for a given time: as hf_lock_acquire(), but with a lease of
 * its own, which is not renewed unless by hf_lock_renew(), which then grants
 * the same time. The next acquisition is as the handle's options say.
 *
 * A re-entry with a lease changes none: the lock stays as the first acquire of
 * the handle took it. (In Redisson a re-entry with a shorter lease shortens
 * that of the outer holder.) A re-entry by hf_lock_acquire() has it renewed
 * from then on, by ttl_ms, until the last release; what is left of the lease is
 * not shortened.
 *
 * @param lock      the handle
 * @param wait_ms   as for hf_lock_acquire()
 * @param lease_ms  0: as hf_lock_acquire(); else
 *                  #HF_LOCK_TTL_MIN_MS..#HF_LOCK_TTL_MAX_MS
 *
 * @retval HF_OK  held from now until the lease ends or it is released; the
 *                others as for hf_lock_acquire()
 *
 * Blocks: up to wait_ms plus request_ms.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_for(hf_lock *lock, int64_t wait_ms,
                                                 int64_t lease_ms,
                                                 hf_error *err);

/**
 * Interrupt the blocking hf_lock_acquire(), hf_lock_try() and
 * hf_lock_acquire_many() calls of other threads on a handle: they return
 * HF_CANCELLED, and leave neither a place in the wait queue nor a lock; a lock
 * that is granted meanwhile is released. A call that is waiting ends at once;
 * one whose request is at the store ends when the reply arrives, after
 * request_ms at the latest. Without a reply it returns HF_INDETERMINATE as
 * usual, and a release is sent. A lock that is already held is not affected.
 *
 * Calls that begin later are not affected. A call that is about to begin on
 * another thread may or may not be: set a flag of your own before you
 * interrupt, and check it before each acquire.
 *
 * It must not be called from a signal handler. Let the handler write to a pipe,
 * or block the signal and read a signalfd, and let a thread that polls the
 * descriptor interrupt.
 *
 * @param lock  the handle; any thread may be using it
 *
 * @retval HF_OK  calls in progress end; also if there are none
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_lock_interrupt(hf_lock *lock, hf_error *err);

/**
 * Try to acquire a lock without waiting: hf_lock_acquire() with wait_ms 0, and
 * a status of its own if another owner holds it. If a request of another thread
 * on the same handle is in progress, its outcome is waited for: if it acquires
 * the lock this is a re-entry, otherwise a request is sent.
 *
 * @param lock  the handle
 *
 * @retval HF_OK             held from now until it is lost or released
 * @retval HF_HELD           another owner holds it
 * @retval HF_CANCELLED      interrupted; see hf_lock_interrupt()
 * @retval HF_LOST           this handle held the lock and lost it; release it
 *                           before acquiring it again
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_UNAVAILABLE    as for hf_lock_acquire()
 * @retval HF_INDETERMINATE  as for hf_lock_acquire()
 * @retval HF_SYSTEM         the background thread could not be started
 */
HF_API HF_MUST_USE hf_status hf_lock_try(hf_lock *lock, hf_error *err);

/**
 * Release a lock: undo one acquire. Undoing the last one releases the lock in
 * the store, or gives it to the client that has waited longest.
 *
 * Whatever the status, the handle does not hold the lock afterwards, unless an
 * outer acquire of the same handle remains.
 *
 * @param lock  the handle
 *
 * @retval HF_OK             released, or one of several re-entries undone
 * @retval HF_EXPIRED        the lease had expired; no other owner has taken it
 * @retval HF_LOST           another owner has taken it
 * @retval HF_INVALID        the handle does not hold the lock
 * @retval HF_UNAVAILABLE    the release was not sent; the lease expires within
 *                           ttl_ms
 * @retval HF_INDETERMINATE  no reply arrived: the lock is free now or within
 *                           ttl_ms
 * @retval HF_NO_MEMORY      the release was not sent
 */
HF_API HF_MUST_USE hf_status hf_lock_release(hf_lock *lock, hf_error *err);

/**
 * Renew a lease now: it ends ttl_ms from now, or later if what is left of the
 * lease of hf_lock_acquire_for() does. Only needed with HF_LOCK_NO_RENEW.
 *
 * @param lock  the handle
 *
 * @retval HF_OK       renewed
 * @retval HF_LOST     another owner has it, or it was lost before
 * @retval HF_EXPIRED  it is gone from the store; no other owner has taken it
 * @retval HF_TIMEOUT  max_hold_ms passed
 * @retval HF_INVALID  the handle does not hold the lock
 *
 * After other statuses the validity is unchanged.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew(hf_lock *lock, hf_error *err);

/**
 * Is the lock held and valid? A comparison of two numbers, without a request.
 * The validity ends `ttl_ms - (ttl_ms / 100 + 2)` ms after the last successful
 * acquire or renewal was sent, by CLOCK_BOOTTIME, less lost_margin_ms; the
 * allowance for clock drift is that of Redlock. A lock that is not renewed is
 * reported lost ttl_ms / 200 earlier, 5 to 50 ms (1 ms if ttl_ms is below 100),
 * so that on_lost has begun by then.
 *
 * @param lock  the handle
 * @return true while it is held
 */
HF_API bool hf_lock_is_held(const hf_lock *lock);

/**
 * How long hf_lock_is_held() remains true without another renewal, ms.
 *
 * @param lock  the handle
 * @return 0 if the lock is not held
 */
HF_API int64_t hf_lock_remaining_ms(const hf_lock *lock);

/**
 * The fencing token of the current or last acquisition. Pass it with each
 * write: a resource that refuses tokens lower than the highest it has seen is
 * safe from holders that were paused beyond their lease. What its order
 * survives (lost data, failovers, clocks that are set) is in
 * docs/explanation/fencing.md.
 *
 * @param lock  the handle
 * @return the token, below 2^53; 0 before the first acquisition
 */
HF_API uint64_t hf_lock_token(const hf_lock *lock);

/**
 * The name that the handle was made with.
 *
 * @param lock  the handle
 * @return without the client's prefix; valid until hf_lock_free()
 */
HF_API hf_bytes hf_lock_name(const hf_lock *lock);

/**
 * How often the handle has to be released: its acquires less its releases. A
 * lock that was lost counts until it is released.
 *
 * @param lock  the handle
 * @return 0 if it was not acquired, or was released as often
 */
HF_API uint32_t hf_lock_holds(const hf_lock *lock);

/**
 * How many replicas acknowledged the last acquisition, or its last renewal. If
 * a renewal was acknowledged by fewer than the lock asks for, the lock is still
 * held, but a failover may bring back the lease before it.
 *
 * @param lock  the handle
 * @return how many; -1 if unknown: the lock does not ask for replicas, was not
 *         acquired yet, or was interrupted while they were counted
 */
HF_API int hf_lock_replicas(const hf_lock *lock);

/** Bytes of an owner id as text, including the terminating NUL. */
#define HF_OWNER_SIZE 33

/**
 * The owner id of the current or last acquisition, with which the value of the
 * lock's key in the store begins: the client's id of 16 random hexadecimal
 * digits, '-', and 15 digits of a number that the client uses only once.
 *
 * @param lock   the handle
 * @param owner  [out] the text; "" before the first acquisition
 */
HF_API void hf_lock_owner(const hf_lock *lock, char owner[HF_OWNER_SIZE]);

/**
 * A file descriptor that polls readable once the lock is lost, until the handle
 * releases it. It belongs to the handle: do not read, write or close it.
 *
 * @param lock  the handle
 * @param fd    [out] the descriptor, valid until hf_lock_free()
 *
 * @retval HF_OK      `*fd` can be polled
 * @retval HF_SYSTEM  no descriptor could be opened
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_lock_lost_fd(hf_lock *lock, int *fd,
                                             hf_error *err);

/** Bytes of an owner id that hf_lock_inspect() returns at most. */
#define HF_LOCK_INFO_OWNER_MAX 128

/** How a lock is held. */
typedef enum hf_lock_mode {
    HF_LOCK_EXCLUSIVE, /**< by one owner */
    HF_LOCK_SHARED,    /**< by readers; see rwlock.h */
    HF_LOCK_PERMITS    /**< it is a semaphore; see semaphore.h */
} hf_lock_mode;

/** A lock as seen by hf_lock_inspect(). Of several owners it has the reader
 *  whose lease ends last, or the holder of permits whose lease ends first. */
typedef struct hf_lock_info {
    size_t struct_size;   /**< #HF_LOCK_INFO_INIT sets it */
    int64_t remaining_ms; /**< of the lease; -1: does not expire (foreign) */
    uint64_t token;       /**< the holder's fencing token; 0: unknown, as of
                               readers, holders of permits, other libraries and
                               on `redlock:` */
    uint64_t last_token;  /**< last fencing token issued for any lock of the
                               store (in a cluster, of the slot); the holder's
                               is not larger. 0: unknown */
    int64_t waiters;      /**< clients in the wait queue */
    /** Since it was acquired by a holder that had to wait, by the store's
     * clock; -1: the holder did not wait, see hf_holder. */
    int64_t held_ms;
    int64_t holders; /**< owners; more than one if they read or hold permits */
    hf_lock_mode mode; /**< what they do */
    size_t owner_size; /**< bytes of the owner id in the store */
    /** The owner id, truncated to #HF_LOCK_INFO_OWNER_MAX bytes; ends with
     *  NUL. */
    char owner[HF_LOCK_INFO_OWNER_MAX + 1];
} hf_lock_info;

/* clang-format off */
#define HF_LOCK_INFO_INIT \
    { sizeof(hf_lock_info), 0, 0, 0, 0, 0, 0, HF_LOCK_EXCLUSIVE, 0, { 0 } }
/* clang-format on */

/**
 * Look at a lock, whatever its owner. Nothing is changed.
 *
 * @param name  the lock's name
 * @param info  [in,out] start it with #HF_LOCK_INFO_INIT. Filled on HF_OK; on
 *              HF_NOT_FOUND last_token and waiters are filled, and held_ms is
 *              -1.
 *
 * @retval HF_OK          the lock is held
 * @retval HF_NOT_FOUND   the lock is free
 * @retval HF_WRONG_TYPE  the key holds something that is not a lock
 */
HF_API HF_MUST_USE hf_status hf_lock_inspect(hf_client *client, hf_bytes name,
                                             hf_lock_info *info, hf_error *err);

/** Bytes of each text of hf_holder, including the terminating NUL. */
#define HF_HOLDER_TEXT_SIZE 128

/** The holder of a lock. Texts have no control characters. */
typedef struct hf_holder {
    size_t struct_size; /**< #HF_HOLDER_INIT sets it */
    /** Since the holder asked for it, by the store's clock: how long it has
     *  held it, unless hf_lock_info.held_ms is known. */
    int64_t asked_ms;
    int64_t pid;                           /**< of the process, on its host */
    char user[HF_HOLDER_TEXT_SIZE];        /**< effective; or its number */
    char host[HF_HOLDER_TEXT_SIZE];        /**< as it names itself */
    char program[HF_HOLDER_TEXT_SIZE];     /**< file name */
    char description[HF_HOLDER_TEXT_SIZE]; /**< hf_client_options.description */
} hf_holder;

/* clang-format off */
#define HF_HOLDER_INIT \
    { sizeof(hf_holder), 0, 0, { 0 }, { 0 }, { 0 }, { 0 } }
/* clang-format on */

/**
 * Find out who the holder of a lock is, by the owner id from hf_lock_inspect().
 *
 * A client registers itself once it has held a lock for 100 ms, or at once if
 * it has a description; not for locks that nothing watches (#HF_LOCK_NO_RENEW
 * without `on_lost` or a descriptor). The entry `PREFIXhf:client:ID` is deleted
 * when the client is closed, and expires 60 s after a process that was killed.
 * It says what the process says about itself.
 *
 * @param owner   `info.owner`, `info.owner_size` bytes
 * @param holder  [in,out] start it with #HF_HOLDER_INIT
 *
 * @retval HF_OK           `*holder` is filled
 * @retval HF_NOT_FOUND    the owner is not registered, or is of another library
 * @retval HF_UNSUPPORTED  on `redlock:`, where clients do not register
 */
HF_API HF_MUST_USE hf_status hf_lock_holder(hf_client *client, hf_bytes owner,
                                            hf_holder *holder, hf_error *err);

/**
 * Receives a holder of a lock from hf_lock_list(): on the calling thread, or of
 * a started call in hf_client_dispatch(), once all were found.
 *
 * @param user  as passed to hf_lock_list()
 * @param name  without the client's prefix; valid until the function returns
 * @param info  as for hf_lock_holder_fn
 * @return 0 to continue; anything else ends the list with HF_CANCELLED
 */
typedef int (*hf_lock_list_fn)(void *user, hf_bytes name,
                               const hf_lock_info *info);

/**
 * List the locks that clients of Holdfast hold: keys with the client's prefix
 * that expire and hold an owner id of our form. Locks of other libraries look
 * like any value and are not listed. A lock with several readers or holders of
 * permits is reported for each of them, one after another. A hold that lasts
 * during the whole call is reported once; others may be.
 *
 * All key names of the store are read by SCAN, in a cluster on every master;
 * each match takes 24 bytes of memory. A user of a server needs +scan and
 * +strlen.
 *
 * @param pattern  of names, as for KEYS of Redis; empty: all
 * @param report   called for each holder of each lock
 * @param user     passed to `report`
 *
 * @retval HF_OK           all were listed
 * @retval HF_CANCELLED    `report` ended the list
 * @retval HF_UNSUPPORTED  on `redlock:`
 * @retval HF_UNAVAILABLE  the store was lost, or slots were being moved
 *
 * Blocks: as long as it takes; each request up to request_ms.
 */
HF_API HF_MUST_USE hf_status hf_lock_list(hf_client *client, hf_bytes pattern,
                                          hf_lock_list_fn report, void *user,
                                          hf_error *err);

/**
 * Receives a holder from hf_lock_holders(): on the calling thread, or in
 * hf_client_dispatch().
 *
 * @param user    as passed to hf_lock_holders()
 * @param holder  owner, remaining_ms, token, and in `holders` its permits,
 * which are 1 except of a semaphore; held_ms is -1, the rest is 0. Valid until
 * the function returns
 * @return 0 to continue; anything else ends the list with HF_CANCELLED
 */
typedef int (*hf_lock_holder_fn)(void *user, const hf_lock_info *holder);

/**
 * List all who hold a lock: its owner, its readers, or the holders of permits
 * of a semaphore, these by the end of their leases.
 *
 * @param name    the lock's name
 * @param report  called for each holder; not at all if the lock is free
 * @param user    passed to `report`
 *
 * @retval HF_OK           all were listed
 * @retval HF_CANCELLED    `report` ended the list
 * @retval HF_WRONG_TYPE   the key holds something that is not a lock
 * @retval HF_UNSUPPORTED  on `redlock:`
 */
HF_API HF_MUST_USE hf_status hf_lock_holders(hf_client *client, hf_bytes name,
                                             hf_lock_holder_fn report,
                                             void *user, hf_error *err);

/**
 * Take a lock away from its holder, its readers, or the holders of permits, and
 * wake the client that has waited longest. They learn of it at their next
 * renewal. The next holder's fencing token is larger.
 *
 * @param name  the lock's name
 *
 * @retval HF_OK          the lock is free
 * @retval HF_NOT_FOUND   the lock was not held
 * @retval HF_WRONG_TYPE  the key holds something that is not a lock
 */
HF_API HF_MUST_USE hf_status hf_lock_break(hf_client *client, hf_bytes name,
                                           hf_error *err);

/**
 * The same, if this owner holds it; of readers, or of those who hold permits,
 * only its own hold. So no one is hit that acquired the lock after
 * hf_lock_inspect(), hf_lock_holders() or hf_lock_list() had shown the owner:
 * owner ids of Holdfast are never used twice. Those of Java threads are, so one
 * that has released the lock and acquired it again is hit; all its re-entries
 * end.
 *
 * @param name   the lock's name
 * @param owner  hf_lock_info::owner, 1..#HF_LOCK_INFO_OWNER_MAX bytes
 *
 * @retval HF_OK           the owner holds it no more
 * @retval HF_NOT_FOUND    the owner does not hold it
 * @retval HF_WRONG_TYPE   the key holds something that is not a lock
 */
HF_API HF_MUST_USE hf_status hf_lock_break_owner(hf_client *client,
                                                 hf_bytes name, hf_bytes owner,
                                                 hf_error *err);

/**
 * Starts hf_lock_acquire().
 *
 * On HF_OK the lock is held since the store granted it, and has been renewed
 * since then, even while the call waited to be dispatched: a program that stops
 * dispatching keeps its locks. If dispatching took long, check
 * hf_lock_is_held(): a lock that was lost meanwhile is reported as HF_OK too,
 * after its on_lost.
 *
 * @param async    done() can also receive HF_CANCELLED; if another call is
 *                 using the handle, it receives HF_TIMEOUT at once

 */
HF_START_OF(hf_lock_acquire_start, hf_lock *lock, int64_t wait_ms);

/**
 * Starts hf_lock_acquire_for(). Otherwise as hf_lock_acquire_start().

 */
HF_START_OF(hf_lock_acquire_for_start, hf_lock *lock, int64_t wait_ms,
            int64_t lease_ms);

/**
 * Starts hf_lock_release(). The handle may be freed before done() is called.
 *
 *
 * @retval HF_LOST         as for hf_lock_release(): an inner acquire of a lost
 *                         lock was undone
 * @retval HF_INVALID      also if the handle does not hold the lock
 * @retval HF_UNAVAILABLE  far too many calls are in progress; nothing was
 *                         started, and the handle still holds the lock
 * @retval HF_NO_MEMORY    the same
 */
HF_START_OF(hf_lock_release_start, hf_lock *lock);

/**
 * Starts hf_lock_renew(). The handle may be freed before done() is called.
 *
 *
 * @retval HF_LOST         as for hf_lock_renew(); nothing was started
 * @retval HF_TIMEOUT      as for hf_lock_renew(); nothing was started
 * @retval HF_INVALID      also if the handle does not hold the lock
 * @retval HF_UNAVAILABLE  far too many calls are in progress
 */
HF_START_OF(hf_lock_renew_start, hf_lock *lock);

/**
 * Acquire many locks at once, each as by hf_lock_acquire(). If it is
 * interrupted, those not yet held are HF_CANCELLED. Locks that were acquired
 * are held whatever became of the others; so two programs that take the same
 * locks may each hold what the other waits for, until wait_ms passes;
 * hf_lock_acquire_all() prevents that.
 *
 * @param locks     `count` different handles of one client
 * @param count     any number
 * @param wait_ms   for each, from its first attempt, all at the same time
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 *
 * Blocks: up to wait_ms plus request_ms for each 1024 locks.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_many(hf_lock *const *locks,
                                                  size_t count, int64_t wait_ms,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Release many locks at once, each as by hf_lock_release().
 *
 * @param locks     `count` handles of one client
 * @param count     any number
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_lock_release_many(hf_lock *const *locks,
                                                  size_t count,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Renew many leases at once, each as by hf_lock_renew(), 128 in one script.
 *
 * @param locks     `count` handles of one client
 * @param count     any number
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_lock_renew_many(hf_lock *const *locks,
                                                size_t count,
                                                hf_status *statuses,
                                                hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_lock_inspect_start, hf_bytes name, hf_lock_info *info);
HF_START(hf_lock_holder_start, hf_bytes owner, hf_holder *holder);
HF_START(hf_lock_holders_start, hf_bytes name, hf_lock_holder_fn report,
         void *user);
HF_START(hf_lock_list_start, hf_bytes pattern, hf_lock_list_fn report,
         void *user);
HF_START(hf_lock_break_owner_start, hf_bytes name, hf_bytes owner);
HF_START(hf_lock_break_start, hf_bytes name);
HF_START_OF(hf_lock_acquire_many_start, hf_lock *const *locks, size_t count,
            int64_t wait_ms, hf_status *statuses);
HF_START_OF(hf_lock_release_many_start, hf_lock *const *locks, size_t count,
            hf_status *statuses);
HF_START_OF(hf_lock_renew_many_start, hf_lock *const *locks, size_t count,
            hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOCK_H */
