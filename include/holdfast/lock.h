/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/lock.h - locks: leases that are renewed in the background.
 */
#ifndef HOLDFAST_LOCK_H
#define HOLDFAST_LOCK_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Shortest and longest lease of a lock, ms: shorter than 10 ms no renewal
 *  could keep up; a day is the longest a crashed holder can block others. */
#define HF_LOCK_TTL_MIN_MS INT64_C(10)
#define HF_LOCK_TTL_MAX_MS INT64_C(86400000)

/**
 * A handle on a lock's name. The handle, not the thread, owns the lock: any
 * thread may release it, and acquiring through the same handle again is
 * re-entry.
 */
typedef struct hf_lock hf_lock;

/**
 * Told once for each acquisition that is lost, as soon as the loss is known and
 * before the validity ends (hf_lock_is_held()); later only by as much as other
 * on_lost callbacks take. Not told if the loss was learned first by releasing
 * the lock.
 *
 * Runs on the library's background thread with no lock of the library held. It
 * must return soon: while it runs no lock of this client is renewed. It may
 * call hf_lock_is_held() and the other getters, start calls (hf_..._start(),
 * on_lost's lock is released so), interrupt, and free any handle:
 * hf_lock_free() does not wait there, a lock that is held is released in the
 * background. Calls of this client that block are HF_INVALID, and
 * hf_client_close() does nothing.
 *
 * @param lock    the lock that was lost
 * @param reason  HF_LOST: another owner has it. HF_EXPIRED: it is gone from
 *                the store, or its time is over and nothing was to renew it
 *                (HF_LOCK_NO_RENEW). HF_INDETERMINATE: it could not be renewed
 * before its validity ended. HF_TIMEOUT: max_hold_ms has passed.
 * @param user    hf_lock_options::user
 */
typedef void (*hf_lock_lost_fn)(hf_lock *lock, hf_status reason, void *user);

/** Flags of hf_lock_new(). */
enum {
    HF_LOCK_NO_RENEW = 1u << 0 /**< no watchdog: the lease ends after ttl_ms */
};

/** Options of hf_lock_new(). */
typedef struct hf_lock_options {
    size_t struct_size; /**< #HF_LOCK_OPTIONS_INIT sets it */
    /** Lease, ms; 0: 30000; range #HF_LOCK_TTL_MIN_MS..#HF_LOCK_TTL_MAX_MS.
     *  The watchdog renews at a third of it; a crashed holder blocks the
     *  others for at most this long. */
    int64_t ttl_ms;
    /** The lock is lost this long after the acquisition, ms; 0: never. A hung
     *  holder blocks the others for at most this and what is left of the last
     *  lease, ttl_ms. */
    int64_t max_hold_ms;
    /** Declare the lock lost this long before its validity ends, ms; 0: at the
     *  end; at most ttl_ms / 2. Time for a holder to stop its work. */
    int64_t lost_margin_ms;
    uint32_t flags;          /**< HF_LOCK_* bits */
    uint32_t reserved0;      /**< must be 0 */
    hf_lock_lost_fn on_lost; /**< NULL: nobody is told by call */
    void *user;              /**< passed to on_lost */
    /** Replicas that are to acknowledge an acquire or a renewal; 0: as the
     *  client; #HF_REPLICAS_NONE: none; 1..#HF_REPLICAS_MAX. See "Replicas"
     *  above. */
    int32_t replicas;
    uint32_t reserved1; /**< must be 0 */
    /** Longest time to wait for them, ms; 0: as the client; range 1..3600000.
     *  An acquire waits for a third of the lease at most, a renewal for a
     *  sixth. */
    int64_t replicas_ms;
} hf_lock_options;

/* clang-format off */
#define HF_LOCK_OPTIONS_INIT \
    { sizeof(hf_lock_options), 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0 }
/* clang-format on */

/**
 * Make a handle for a lock. Nothing is sent.
 *
 * The lock's key in the store is the client's prefix followed by `name`, a
 * string with a time to live, so that it excludes and is excluded by every
 * client that locks with SET NX PX on the same key (redis-py, redsync,
 * node-redlock, LockTake of StackExchange.Redis).
 *
 * @param client  open client
 * @param name    the lock's name. One with a `}` but without a Redis hash tag
 *                ("a}b", "{}a") is refused: the lock's other keys could not
 *                share its slot.
 * @param opts    NULL for defaults; copied
 * @param lock    [out] end it with hf_lock_free()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK           `*lock` is ready to acquire
 * @retval HF_INVALID      bad name or options; the message names the part
 * @retval HF_UNSUPPORTED  an option this library does not know, or replicas on
 *                         a store that has none
 * @retval HF_NO_MEMORY    nothing was made
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_new(hf_client *client, hf_bytes name,
                                         const hf_lock_options *opts,
                                         hf_lock **lock, hf_error *err);

/** Most permits of a semaphore: each held one is an entry in one key. */
#define HF_SEMAPHORE_PERMITS_MAX 100000u

/**
 * Make a handle for one permit of a semaphore: of all handles on a name, at
 * most `permits` hold one at a time. Nothing is sent.
 *
 * Every hf_lock_* function that takes a handle works as for a lock: HF_HELD
 * means that all permits are held, each permit has its own lease and fencing
 * token, and a permit of a killed holder is free when its lease ends. Those
 * that take a name are HF_WRONG_TYPE: a semaphore is no lock, and a name is one
 * or the other.
 *
 * Give the same number everywhere. It is not stored: each acquire counts the
 * permits that are held, whoever holds them, against its own number. So the
 * number can be changed while the semaphore is in use, and until all have the
 * new one, those with the smaller number wait for longer.
 *
 * @param client   open client
 * @param name     as in hf_lock_new()
 * @param permits  1..#HF_SEMAPHORE_PERMITS_MAX
 * @param opts     as in hf_lock_new()
 * @param lock     [out] end it with hf_lock_free()
 * @param err      [out] may be NULL
 *
 * @retval HF_OK           `*lock` is ready to acquire
 * @retval HF_INVALID      bad name, permits or options
 * @retval HF_UNSUPPORTED  as in hf_lock_new(), and any quorum (redlock:)
 * @retval HF_NO_MEMORY    nothing was made
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_semaphore_new(hf_client *client, hf_bytes name,
                                              uint32_t permits,
                                              const hf_lock_options *opts,
                                              hf_lock **lock, hf_error *err);

/**
 * Free a handle. A lock that is still held is released first, in one attempt
 * whose outcome is not told; use hf_lock_release() to know it. Once the client
 * is closed only memory is freed.
 *
 * Asynchronous calls on it end first, an acquire by being cancelled; they are
 * told by hf_client_dispatch() as ever.
 *
 * @param lock  NULL is allowed; no blocking call on it may be in progress
 *
 * Blocks: up to request_ms if the lock is held or a call on it under way, and
 * until a running on_lost has returned. Since 0.1.
 */
HF_API void hf_lock_free(hf_lock *lock);

/**
 * Acquire the lock, waiting up to `wait_ms`.
 *
 * On success the lease runs from the moment before the request was sent. It is
 * renewed in the background until hf_lock_release(), unless HF_LOCK_NO_RENEW
 * is set, and carries a fencing token larger than that of every earlier holder
 * of the name, on this store, while the store's clock is sane.
 *
 * If the handle holds the lock already, this is a re-entry: it succeeds at
 * once without asking the store, keeps the token, and needs one more release.
 *
 * @param lock     the handle
 * @param wait_ms  0: try once; #HF_FOREVER: until acquired; negative: invalid
 * @param err      [out] may be NULL
 *
 * @retval HF_OK             held from now until lost or released
 * @retval HF_HELD           wait_ms is 0 and another owner holds it
 * @retval HF_TIMEOUT        another owner held it until wait_ms had passed
 * @retval HF_CANCELLED      interrupted: see hf_lock_interrupt()
 * @retval HF_LOST           this handle held the lock and lost it; release it
 *                           before acquiring anew
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        bad wait_ms, the handle came through fork(), or its
 *                           lease exceeds the quarantine of a redlock: store
 * @retval HF_UNAVAILABLE    the store could not be reached, or too few replicas
 *                           acknowledged the lock; nothing is held
 * @retval HF_INDETERMINATE  no answer came: the name may be blocked by this
 *                           try for at most ttl_ms; this handle does not hold
 *                           it
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           the store has no room; nothing is held
 * @retval HF_NO_MEMORY      nothing is held
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * Blocks: up to wait_ms plus request_ms. Threads: several may wait on one
 * handle; all of them then share the one acquisition. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire(hf_lock *lock, int64_t wait_ms,
                                             hf_error *err);

/**
 * End the blocking hf_lock_acquire(), hf_lock_try() and hf_lock_acquire_many()
 * calls on a handle that run on other threads: they return HF_CANCELLED and
 * leave nothing behind, neither a place in the queue nor a lock, as a grant
 * that is on its way is given back. One that sleeps ends at once, one whose
 * request is at the store when that has answered, request_ms at the latest;
 * without an answer it is HF_INDETERMINATE, as ever, and a release follows.
 * A lock that is held already, or that was granted before, is not touched.
 *
 * A call that begins later is unaffected. One that is about to begin on another
 * thread may be either: set a flag of your own before you interrupt, and look
 * at it before each acquire.
 *
 * Not from a signal handler, as nothing else here. Have the handler write a
 * byte to a pipe, or block the signal and read a signalfd, and let a thread
 * that polls the descriptor interrupt.
 *
 * @param lock  the handle; it may be in use by any thread
 * @param err   [out] may be NULL
 *
 * @retval HF_OK       calls under way end; also if there were none
 * @retval HF_INVALID  lock is NULL, from before fork(), or its client is closed
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_interrupt(hf_lock *lock, hf_error *err);

/**
 * Try to acquire the lock without waiting: hf_lock_acquire() with wait_ms 0. A
 * request of another thread's blocking call on the same handle is waited for:
 * if it acquires the lock this is a re-entry, else the store is asked.
 *
 * @param lock  the handle
 * @param err   [out] may be NULL
 *
 * @retval HF_OK             held from now until lost or released
 * @retval HF_HELD           another owner holds it
 * @retval HF_LOST           this handle held the lock and lost it; release it
 *                           before acquiring anew
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        the handle came through fork()
 * @retval HF_UNAVAILABLE    as in hf_lock_acquire(); nothing is held
 * @retval HF_INDETERMINATE  as in hf_lock_acquire()
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           the store has no room; nothing is held
 * @retval HF_NO_MEMORY      nothing is held
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_try(hf_lock *lock, hf_error *err);

/**
 * Release the lock: undo one acquire. The last one tells the store and wakes
 * the waiter that has waited longest.
 *
 * Afterwards the handle does not hold the lock, whatever the status, unless an
 * outer acquire of the same handle remains.
 *
 * @param lock  the handle
 * @param err   [out] may be NULL
 *
 * @retval HF_OK             released; or one of several re-entries undone
 * @retval HF_EXPIRED        the lease had ended before; nobody took it since
 * @retval HF_LOST           another owner has taken it since
 * @retval HF_INVALID        the handle does not hold the lock
 * @retval HF_UNAVAILABLE    the store was not told; the lock ends by itself
 *                           within ttl_ms
 * @retval HF_INDETERMINATE  no answer: the lock is free now or within ttl_ms
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      the store was not told
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_release(hf_lock *lock, hf_error *err);

/**
 * Renew the lease now: it ends ttl_ms from now. Needed only with
 * HF_LOCK_NO_RENEW.
 *
 * @param lock  the handle
 * @param err   [out] may be NULL
 *
 * @retval HF_OK             renewed
 * @retval HF_LOST           another owner has it, or it was lost before
 * @retval HF_EXPIRED        it is gone from the store; nobody holds it
 * @retval HF_TIMEOUT        max_hold_ms has passed
 * @retval HF_INVALID        the handle does not hold the lock
 * @retval HF_UNAVAILABLE    not renewed; the validity is unchanged
 * @retval HF_INDETERMINATE  no answer; the validity is unchanged
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not renewed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew(hf_lock *lock, hf_error *err);

/**
 * Is the lock held and its validity not over? A comparison of two numbers, no
 * round trip. Validity ends `ttl_ms - (ttl_ms / 100 + 2)` ms after the last
 * successful acquire or renewal was sent, on CLOCK_BOOTTIME (the allowance for
 * clock drift is that of the Redlock description), less lost_margin_ms. A lock
 * that is not renewed is declared lost up to 5 ms before that, so that on_lost
 * has begun by then.
 *
 * @param lock  the handle
 * @return true while held
 *
 * Never blocks. Since 0.1.
 */
HF_API bool hf_lock_is_held(const hf_lock *lock);

/**
 * How long hf_lock_is_held() stays true without another renewal, ms.
 *
 * @param lock  the handle
 * @return 0 if the lock is not held
 *
 * Never blocks. Since 0.1.
 */
HF_API int64_t hf_lock_remaining_ms(const hf_lock *lock);

/**
 * Fencing token of the present or last acquisition. Pass it with each write;
 * a resource that refuses a token lower than the highest it has seen is safe
 * from a holder that was paused beyond its lease.
 *
 * @param lock  the handle
 * @return the token; 0 before the first acquisition. Below 2^53.
 *
 * Never blocks. Since 0.1.
 */
HF_API uint64_t hf_lock_token(const hf_lock *lock);

/**
 * How many replicas have acknowledged the last acquisition, or the last renewal
 * of it, by the watchdog or by hf_lock_renew(). Fewer than the lock asks for
 * after a renewal do not end it: the lease runs anew, but a failover may bring
 * back the one before.
 *
 * @param lock  the handle
 * @return how many; -1: nobody has counted them, as the lock does not ask for
 *         replicas, was not acquired yet, or the counting was interrupted
 *
 * Never blocks. Since 0.1.
 */
HF_API int hf_lock_replicas(const hf_lock *lock);

/** Bytes of an owner id as text, the terminating NUL included. */
#define HF_OWNER_SIZE 33

/**
 * Owner id of the present or last acquisition: what the lock's key holds in
 * the store. The client's id, 16 random lower-case hexadecimal digits, then
 * '-' and 15 digits of a number that the client uses for no other acquisition.
 *
 * @param lock   the handle
 * @param owner  [out] the text; "" before the first acquisition
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_lock_owner(const hf_lock *lock, char owner[HF_OWNER_SIZE]);

/**
 * A file descriptor that polls readable once the lock is lost, and until the
 * handle releases it. It belongs to the handle: do not read, write or close
 * it.
 *
 * @param lock  the handle
 * @param fd    [out] the descriptor, valid until hf_lock_free()
 * @param err   [out] may be NULL
 *
 * @retval HF_OK       `*fd` can be polled
 * @retval HF_INVALID  the handle came through fork()
 * @retval HF_SYSTEM   no descriptor could be had
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_lost_fd(hf_lock *lock, int *fd,
                                             hf_error *err);

/** Longest part of a foreign owner id that hf_lock_inspect() shows, bytes. */
#define HF_LOCK_INFO_OWNER_MAX 128

/** What hf_lock_inspect() finds. */
typedef struct hf_lock_info {
    size_t struct_size;   /**< #HF_LOCK_INFO_INIT sets it */
    int64_t remaining_ms; /**< of the lease; -1: a foreign lock without one */
    uint64_t last_token;  /**< the last fencing token that was issued for any
                               lock of the store (in a cluster, of the slot):
                               the holder's is no larger; 0: none known */
    uint64_t waiters;     /**< processes in the queue */
    size_t owner_size;    /**< bytes of the owner id in the store */
    /** The owner id, cut after #HF_LOCK_INFO_OWNER_MAX bytes, NUL-terminated.
     */
    char owner[HF_LOCK_INFO_OWNER_MAX + 1];
} hf_lock_info;

/* clang-format off */
#define HF_LOCK_INFO_INIT { sizeof(hf_lock_info), 0, 0, 0, 0, { 0 } }
/* clang-format on */

/**
 * Look at a lock without touching it, whoever holds it.
 *
 * @param client  open client
 * @param name    the lock's name
 * @param info    [in,out] start it with #HF_LOCK_INFO_INIT. Filled on HF_OK;
 *                on HF_NOT_FOUND last_token and waiters are filled.
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the lock is held
 * @retval HF_NOT_FOUND      the lock is free
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        bad name or struct_size
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not asked
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_inspect(hf_client *client, hf_bytes name,
                                             hf_lock_info *info, hf_error *err);

/** Room of each text of hf_holder, bytes, the terminating NUL included. */
#define HF_HOLDER_TEXT_SIZE 128

/** What hf_lock_holder() finds. Texts have no control characters. */
typedef struct hf_holder {
    size_t struct_size; /**< #HF_HOLDER_INIT sets it */
    int64_t held_ms;    /**< since its acquire was sent, by the store's clock */
    int64_t pid;        /**< of the process, on its host */
    char user[HF_HOLDER_TEXT_SIZE];    /**< effective; a number if unknown */
    char host[HF_HOLDER_TEXT_SIZE];    /**< its name for itself */
    char program[HF_HOLDER_TEXT_SIZE]; /**< file name */
    char description[HF_HOLDER_TEXT_SIZE]; /**< hf_client_options.description */
} hf_holder;

/* clang-format off */
#define HF_HOLDER_INIT \
    { sizeof(hf_holder), 0, 0, { 0 }, { 0 }, { 0 }, { 0 } }
/* clang-format on */

/**
 * Who the holder of a lock is, by the owner id that hf_lock_inspect() has told.
 *
 * A client registers itself when it has held a lock for 100 ms, unless the lock
 * is one that nobody watches (#HF_LOCK_NO_RENEW without `on_lost` or a
 * descriptor); the entry, `PREFIXhf:client:ID`, ends with the client, or 60 s
 * after a process that was killed. What it says is what that process says.
 *
 * @param client  open client
 * @param owner   `info.owner`, `info.owner_size` bytes
 * @param holder  [in,out] start it with #HF_HOLDER_INIT
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             filled
 * @retval HF_NOT_FOUND      it is not registered, or another library's
 * @retval HF_UNSUPPORTED    on `redlock:`, where nobody is registered
 * @retval HF_INVALID        bad struct_size
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      not asked
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_holder(hf_client *client, hf_bytes owner,
                                            hf_holder *holder, hf_error *err);

/**
 * Told of a lock by hf_lock_list(), on its calling thread.
 *
 * @param user  as given
 * @param name  without the client's prefix; valid during the call
 * @param info  owner and remaining_ms; the rest is 0
 * @return 0: go on; else the list ends, HF_CANCELLED
 */
typedef int (*hf_lock_list_fn)(void *user, hf_bytes name,
                               const hf_lock_info *info);

/**
 * List the locks that clients of Holdfast hold: keys with the client's prefix
 * that hold an owner id of our form and expire. Locks of other libraries, which
 * look like any value, are not listed. A lock held from beginning to end of
 * the call is told once; others may be.
 *
 * Reads all names of keys of the store, by SCAN, in a cluster on every master,
 * 24 bytes of memory for each that fits. A user of a server needs +scan and
 * +strlen.
 *
 * @param client   open client
 * @param pattern  of names, as for Redis KEYS; empty: all
 * @param tell     told of each
 * @param user     handed to it
 * @param err      [out] may be NULL
 *
 * @retval HF_OK             all were told
 * @retval HF_CANCELLED      `tell` ended it
 * @retval HF_UNSUPPORTED    on `redlock:`
 * @retval HF_INVALID        an argument is wrong
 * @retval HF_UNAVAILABLE    the store was lost, or slots were on the move
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused a command
 * @retval HF_NO_MEMORY      some were told
 *
 * Blocks: as long as it takes; each request up to request_ms. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_list(hf_client *client, hf_bytes pattern,
                                          hf_lock_list_fn tell, void *user,
                                          hf_error *err);

/**
 * Take a lock away from whoever holds it; the waiter that has waited longest is
 * woken. The old holder learns of it at its next renewal. The next holder's
 * fencing token is larger than the old one's.
 *
 * @param client  open client
 * @param name    the lock's name
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the lock is free
 * @retval HF_NOT_FOUND      nobody held it
 * @retval HF_WRONG_TYPE     the key holds something that is not a lock
 * @retval HF_INVALID        bad name
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_break(hf_client *client, hf_bytes name,
                                           hf_error *err);

/**
 * hf_lock_acquire() without waiting for the answer, or for the lock.
 *
 * When done() is told HF_OK the lock is held since the store granted it, and it
 * is renewed from then on like any other, also while the call waits to be
 * dispatched: who starts calls and does not dispatch keeps locks from others.
 * If that took long, look at hf_lock_is_held(): a lock that was lost meanwhile
 * is told as HF_OK too, and on_lost has told of its loss.
 *
 * @param lock     the handle
 * @param wait_ms  as there
 * @param async    whom to tell; done() may also be told HF_CANCELLED, or
 *                 HF_HELD if another call is using the handle
 * @param err      [out] may be NULL
 *
 * @retval HF_OK           started
 * @retval HF_INVALID      an argument is wrong; nothing was started
 * @retval HF_UNAVAILABLE  too many calls are under way
 * @retval HF_NO_MEMORY    nothing was started
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_start(hf_lock *lock,
                                                   int64_t wait_ms,
                                                   const hf_async *async,
                                                   hf_error *err);

/**
 * hf_lock_release() without waiting for the answer. The handle must not be
 * freed until done() is called.
 *
 * @param lock   the handle
 * @param async  whom to tell
 * @param err    [out] may be NULL
 *
 * @retval HF_OK           started
 * @retval HF_LOST         as there: an inner acquire of a lost lock was undone
 * @retval HF_INVALID      an argument is wrong, or the handle does not hold the
 *                         lock; nothing was started
 * @retval HF_UNAVAILABLE  far too many calls are under way; nothing was
 *                         started, and the handle still holds the lock
 * @retval HF_NO_MEMORY    the same holds
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_release_start(hf_lock *lock,
                                                   const hf_async *async,
                                                   hf_error *err);

/**
 * hf_lock_renew() without waiting for the answer. The handle must not be freed
 * until done() is called.
 *
 * @param lock   the handle
 * @param async  whom to tell
 * @param err    [out] may be NULL
 *
 * @retval HF_OK           started
 * @retval HF_LOST         as there; nothing was started
 * @retval HF_TIMEOUT      as there; nothing was started
 * @retval HF_INVALID      an argument is wrong, or the handle does not hold the
 *                         lock; nothing was started
 * @retval HF_UNAVAILABLE  far too many calls are under way
 * @retval HF_NO_MEMORY    nothing was started
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew_start(hf_lock *lock,
                                                 const hf_async *async,
                                                 hf_error *err);

/** Starts hf_lock_inspect(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_lock_inspect_start(hf_client *client,
                                                   hf_bytes name,
                                                   hf_lock_info *info,
                                                   const hf_async *async,
                                                   hf_error *err);

/** Starts hf_lock_holder(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_lock_holder_start(hf_client *client,
                                                  hf_bytes owner,
                                                  hf_holder *holder,
                                                  const hf_async *async,
                                                  hf_error *err);

/** Starts hf_lock_break(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_lock_break_start(hf_client *client,
                                                 hf_bytes name,
                                                 const hf_async *async,
                                                 hf_error *err);

/**
 * Acquire many locks at once, each as hf_lock_acquire() does; interrupted,
 * those that are not held yet are HF_CANCELLED. See hf_value_get_many(). Those
 * that were acquired are held whatever became of the others, so two programs
 * that take the same locks with a wait may each hold what the other waits for,
 * until wait_ms ends it.
 *
 * @param locks     `count` different handles of one client
 * @param count     any number
 * @param wait_ms   for each, from its first try on, all at the same time
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Blocks: up to wait_ms plus request_ms for each 1024 locks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_many(hf_lock *const *locks,
                                                  size_t count, int64_t wait_ms,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Release many locks at once, each as hf_lock_release() does. See
 * hf_value_get_many().
 *
 * @param locks     `count` handles of one client
 * @param count     any number
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_release_many(hf_lock *const *locks,
                                                  size_t count,
                                                  hf_status *statuses,
                                                  hf_error *err);

/**
 * Renew many leases at once, each as hf_lock_renew() does, 128 in one script.
 * See hf_value_get_many().
 *
 * @param locks     `count` handles of one client
 * @param count     any number
 * @param statuses  [out] `count` statuses
 * @param err       [out] may be NULL
 *
 * @retval HF_OK         the store answered all; see `statuses`
 * @retval HF_INVALID    as there
 * @retval HF_NO_MEMORY  as there
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_lock_renew_many(hf_lock *const *locks,
                                                size_t count,
                                                hf_status *statuses,
                                                hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOCK_H */
