/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/queue.h - work queues: jobs that each one worker takes, under
 * a lease.
 *
 * Contents:
 * - hf_queue_put(), hf_queue_put_many(): put jobs into a queue
 * - hf_queue_new(): a handle that takes jobs, one at a time, by the functions
 * of lock.h
 * - hf_queue_job(): the job that it has taken
 * - hf_queue_done(), hf_queue_again(), hf_queue_defer(), hf_queue_fail(): end
 * it
 * - hf_queue_next(): end it and take the next one, in one request
 * - hf_queue_ended(): was it ended?
 * - hf_queue_backoff(): how long to wait before the next attempt
 * - hf_queue_inspect(): how many jobs are in which state
 * - hf_queue_list(), hf_queue_jobs_free(): those in one state
 * - hf_queue_pause(): give no jobs for a while
 * - hf_queue_revive(): move dead letters back
 * - hf_queue_drop(): remove a job
 *
 * Those that ask the store have a `_start` form.
 *
 * A handle is an hf_lock. hf_lock_acquire() takes the job that is to be done
 * next and, if none is ready, waits for one: HF_TIMEOUT, and HF_HELD of
 * hf_lock_try(), mean that none was. The lease on the job is renewed as that of
 * a lock is, with the same options, and its loss reported in the same way; its
 * fencing token is hf_lock_token(). hf_lock_acquire_start() takes one without
 * blocking, hf_lock_acquire_many() takes one for each of several handles.
 * hf_lock_release(), and hf_lock_free() of a handle that has a job, put it back
 * in its place, as if it had not been taken.
 *
 * A job is done at least once: one whose worker was killed, or lost its lease,
 * is ready again when the lease ends, before all that were put later. At any
 * time at most one worker has a valid lease on it, and one that has lost the
 * job cannot end it. Its work may still be done twice; check the token where
 * the result is written (value.h, hf_value_put_fenced()), or write the result
 * in a transaction that asks for the lease (txn.h, hf_txn_if_held()).
 *
 * Jobs of higher priority come first, those of equal priority in the order in
 * which they were put. Of a group, one job at a time is taken, in the order in
 * which they were put: the next is ready when the one before it is done or a
 * dead letter. One that is delayed holds up those of its group behind it.
 *
 * A queue is one object, and lasts until its last job is done. A call that
 * puts, takes or ends a job also moves those whose delay or lease has ended
 * since, up to 128 of each; nothing runs for that in the background.
 *
 * Not on a quorum (redlock:), nor with the layout of Redisson.
 *
 * @code
 * hf_status work(hf_lock *worker, hf_error *err) // of hf_queue_new()
 * {
 *     hf_job job = HF_JOB_INIT;
 *     hf_status status = hf_lock_acquire(worker, HF_FOREVER, err);
 *
 *     while (status == HF_OK || status == HF_EXPIRED) {
 *         if (status == HF_OK && hf_queue_job(worker, &job, err) == HF_OK)
 *             printf("%s\n", (const char *)job.payload.data);
 *         status = hf_queue_next(worker, HF_QUEUE_DONE, 0, HF_FOREVER, err);
 *     }
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_QUEUE_H
#define HOLDFAST_QUEUE_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most bytes of an id, and of the name of a group. */
#define HF_QUEUE_ID_MAX 512

/** Most bytes of a payload. */
#define HF_QUEUE_PAYLOAD_MAX 1048576

/** Highest priority. */
#define HF_QUEUE_PRIORITY_MAX 9

/** Most attempts that can be asked for. */
#define HF_QUEUE_ATTEMPTS_MAX 1000000

/** Longest delay, and longest time for which an id is remembered: ten years,
 *  ms. */
#define HF_QUEUE_DELAY_MAX_MS 315360000000

/** Options of hf_queue_put() and hf_queue_put_many(). */
typedef struct hf_queue_options {
    size_t struct_size; /**< #HF_QUEUE_OPTIONS_INIT sets it */
    uint32_t flags;     /**< must be 0 */
    uint32_t reserved0; /**< must be 0 */
    int64_t delay_ms;   /**< no one takes it for so long, 0..
                             #HF_QUEUE_DELAY_MAX_MS */
    int64_t priority;   /**< 0..#HF_QUEUE_PRIORITY_MAX; the highest is taken
                             first */
    /** How often it is taken at most, 0..#HF_QUEUE_ATTEMPTS_MAX: if the last
     *  attempt does not end in hf_queue_done(), it is a dead letter. 0: no
     *  limit. */
    int64_t attempts;
    /** For how long its id is refused from now on, even after it is done, 0..
     *  #HF_QUEUE_DELAY_MAX_MS; 0: until it is done. */
    int64_t remember_ms;
    hf_bytes group; /**< of which one job at a time is taken, up to
                         #HF_QUEUE_ID_MAX bytes; size 0: none */
} hf_queue_options;

/* clang-format off */
#define HF_QUEUE_OPTIONS_INIT \
    { sizeof(hf_queue_options), 0, 0, 0, 0, 0, 0, { NULL, 0 } }
/* clang-format on */

/**
 * Put a job into a queue, and give it to a worker that waits. It is stored as
 * any other write is: see the durability of the store.
 *
 * @param queue    the queue's name, as for hf_lock_new(). HF_WRONG_TYPE: the
 * key is something else
 * @param id       of the job, up to #HF_QUEUE_ID_MAX bytes; size 0: a random
 * one
 * @param payload  what the worker gets, up to #HF_QUEUE_PAYLOAD_MAX bytes
 * @param opts     NULL for defaults
 *
 * @retval HF_OK           the job is in the queue
 * @retval HF_CONFLICT     the queue has a job with that id, or remembers it
 * @retval HF_UNSUPPORTED  the store is a quorum
 */
HF_API HF_MUST_USE hf_status hf_queue_put(hf_client *client, hf_bytes queue,
                                          hf_bytes id, hf_bytes payload,
                                          const hf_queue_options *opts,
                                          hf_error *err);

/** A job of hf_queue_put_many(). */
typedef struct hf_queue_put_item {
    hf_bytes id;      /**< as for hf_queue_put() */
    hf_bytes payload; /**< as for hf_queue_put() */
} hf_queue_put_item;

/**
 * Put several jobs, in one round trip where the store allows. Each has its own
 * outcome; they are not one atomic step.
 *
 * @param queue     as for hf_queue_put()
 * @param jobs      `count` jobs
 * @param count     how many; 0: does nothing
 * @param opts      of all; NULL for defaults
 * @param statuses  [out] `count` statuses, each as of hf_queue_put()
 *
 * @retval HF_OK  all were put; else the first failure
 */
HF_API HF_MUST_USE hf_status hf_queue_put_many(
    hf_client *client, hf_bytes queue, const hf_queue_put_item *jobs,
    size_t count, const hf_queue_options *opts, hf_status *statuses,
    hf_error *err);

/**
 * Make a handle that takes jobs of a queue, one at a time. Nothing is sent. Use
 * one for each job that is to be worked on at the same time.
 *
 * @param name  the queue's name
 * @param opts  as for hf_lock_new(), except that `min_hold_ms` and `delay_ms`
 *              must be 0. `priority` is that of the worker among those that
 *              wait, not of jobs
 * @param lock  [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired. While it has a job, another
 *                         acquire is HF_INVALID
 * @retval HF_UNSUPPORTED  as for hf_lock_new(), and on a quorum (redlock:)
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_queue_new(hf_client *client, hf_bytes name,
                                          const hf_lock_options *opts,
                                          hf_lock **lock, hf_error *err);

/** A job, as it was when it was taken. */
typedef struct hf_job {
    size_t struct_size; /**< #HF_JOB_INIT sets it */
    hf_bytes id;
    hf_bytes payload;
    hf_bytes group;   /**< size 0: none */
    int64_t attempt;  /**< how often it was taken, this time included */
    int64_t attempts; /**< how often at most; 0: no limit */
    int64_t priority; /**< 0..#HF_QUEUE_PRIORITY_MAX */
    int64_t put_ms;   /**< when it was put, ms of the store's clock */
} hf_job;

/* clang-format off */
#define HF_JOB_INIT \
    { sizeof(hf_job), { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, 0, 0, 0, 0 }
/* clang-format on */

/**
 * The job that a handle has, or had last. Nothing is sent.
 *
 * @param lock  of hf_queue_new()
 * @param job   [in,out] start it with #HF_JOB_INIT. Its bytes are followed by a
 *              NUL, and are valid until the handle takes another job or is
 * freed
 *
 * @retval HF_OK         `*job` is filled
 * @retval HF_INVALID    the handle is of no queue
 * @retval HF_NOT_FOUND  the handle has had no job
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_queue_job(const hf_lock *lock, hf_job *job,
                                          hf_error *err);

/**
 * How long the next attempt at a job should wait: `first_ms`, doubled for each
 * attempt after the first, up to `most_ms`. For hf_queue_again().
 *
 * @param job       of hf_queue_job()
 * @param first_ms  after the first attempt, 0..`most_ms`
 * @param most_ms   at most, up to #HF_QUEUE_DELAY_MAX_MS
 * @return ms
 */
HF_API int64_t hf_queue_backoff(const hf_job *job, int64_t first_ms,
                                int64_t most_ms);

/**
 * The job is done: it is gone from the queue.
 *
 * @param lock  of hf_queue_new(), which has a job
 *
 * @retval HF_OK       the job is gone. A lease that has ended does not matter
 * as long as no one was given the job
 * @retval HF_EXPIRED  the lease had ended and the job is back in the queue, or
 *                     another worker has or had it
 * @retval HF_INDETERMINATE  no reply arrived before the lease ended: the job is
 *                     done, or is back in the queue
 * @retval HF_INVALID  the handle has no job, or is of no queue
 *
 * The handle can be acquired again in all cases but HF_INVALID. After
 * HF_UNAVAILABLE or HF_INDETERMINATE, of this or of hf_queue_next(), the same
 * end can be sent once more instead, until the store has answered; then it is
 * HF_INVALID.
 */
HF_API HF_MUST_USE hf_status hf_queue_done(hf_lock *lock, hf_error *err);

/**
 * The job is to be tried again: it goes back to its place in the queue, after a
 * delay. If it was taken as often as it may be, it is a dead letter.
 *
 * @param lock      as for hf_queue_done()
 * @param delay_ms  no one takes it for so long, 0..#HF_QUEUE_DELAY_MAX_MS
 *
 * @retval HF_OK       it went back
 * @retval HF_EXPIRED  as for hf_queue_done()
 * @retval HF_INVALID  as for hf_queue_done()
 */
HF_API HF_MUST_USE hf_status hf_queue_again(hf_lock *lock, int64_t delay_ms,
                                            hf_error *err);

/**
 * The job is not to be tried now: it goes back to its place in the queue, after
 * a delay, as if it had not been taken. The attempt does not count.
 *
 * @param lock      as for hf_queue_done()
 * @param delay_ms  no one takes it for so long, 0..#HF_QUEUE_DELAY_MAX_MS
 *
 * @retval HF_OK       it went back
 * @retval HF_EXPIRED  as for hf_queue_done()
 * @retval HF_INVALID  as for hf_queue_done()
 */
HF_API HF_MUST_USE hf_status hf_queue_defer(hf_lock *lock, int64_t delay_ms,
                                            hf_error *err);

/**
 * The job has failed for good: it is a dead letter, whatever attempts are left.
 *
 * @param lock  as for hf_queue_done()
 *
 * @retval HF_OK       it is a dead letter
 * @retval HF_EXPIRED  as for hf_queue_done()
 * @retval HF_INVALID  as for hf_queue_done()
 */
HF_API HF_MUST_USE hf_status hf_queue_fail(hf_lock *lock, hf_error *err);

/** How a job ends, for hf_queue_next(). */
typedef enum hf_queue_outcome {
    HF_QUEUE_DONE,  /**< as by hf_queue_done() */
    HF_QUEUE_AGAIN, /**< as by hf_queue_again() */
    HF_QUEUE_DEFER, /**< as by hf_queue_defer() */
    HF_QUEUE_FAIL   /**< as by hf_queue_fail() */
} hf_queue_outcome;

/**
 * End the job that the handle has now, and take the next one in the same
 * request; if none is ready, wait for one as hf_lock_acquire() does. A handle
 * without a job just takes one. What was read of the job that is ended, its
 * bytes too, is no longer valid. If the lease on the job had ended and another
 * worker was given it, that is said and no job is taken: call this again.
 *
 * The end is sent at once, also if other threads of the client wait for jobs of
 * the queue, and again while the store is away. The lease is not renewed
 * meanwhile. A call that is cancelled before the end was answered sends it once
 * more: it ends after twice the request timeout of the client at the latest,
 * once for a request that is under way and once for that.
 *
 * @param lock      of hf_queue_new()
 * @param outcome   how the job ends
 * @param delay_ms  for HF_QUEUE_AGAIN and HF_QUEUE_DEFER: no one takes it for
 * so long, 0..#HF_QUEUE_DELAY_MAX_MS; else it has no effect
 * @param wait_ms   as for hf_lock_acquire()
 *
 * @retval HF_OK         the job was ended, and the handle has the next one
 * @retval HF_TIMEOUT    the job was ended; no other was ready in time
 * @retval HF_CANCELLED  the job was ended; the wait for the next one was
 *                       cancelled or interrupted
 * @retval HF_EXPIRED    as for hf_queue_done(); no job was taken
 * @retval HF_INVALID    the handle is of no queue, or another thread took a job
 *                       with it meanwhile
 *
 * After any other status the job was ended, or is ready again after its lease:
 * see hf_queue_ended(). The handle has no job then, and can take one in all
 * cases but HF_INVALID.
 */
HF_API HF_MUST_USE hf_status hf_queue_next(hf_lock *lock,
                                           hf_queue_outcome outcome,
                                           int64_t delay_ms, int64_t wait_ms,
                                           hf_error *err);

/**
 * How the end that the last hf_queue_next() sent went, whatever became of the
 * take: the store may have answered the one, and been away afterwards. Nothing
 * is sent. A call that waits for the next job can be asked about, too. While
 * a call waits for another thread's call on the handle, the answer is about
 * that thread's.
 *
 * @param lock  of hf_queue_new()
 *
 * @retval HF_OK             the job was ended
 * @retval HF_EXPIRED        as for hf_queue_done()
 * @retval HF_INDETERMINATE  the store has not answered: the job was ended, or
 *                           is ready again after its lease
 * @retval HF_NOT_FOUND      there was no job to end
 * @retval HF_INVALID        the handle is of no queue
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_queue_ended(const hf_lock *lock, hf_error *err);

/** A queue as seen by hf_queue_inspect(). */
typedef struct hf_queue_info {
    size_t struct_size; /**< #HF_QUEUE_INFO_INIT sets it */
    int64_t ready;      /**< jobs that can be taken */
    int64_t taken;      /**< jobs with a lease that has not ended */
    int64_t delayed;    /**< jobs that are not due yet */
    int64_t behind;     /**< jobs behind another of their group */
    int64_t dead;       /**< dead letters */
    int64_t remembered; /**< ids of jobs that are done */
    int64_t waiters;    /**< workers in the wait queue, one for each client */
    bool paused;        /**< no job is given to anyone */
} hf_queue_info;

/* clang-format off */
#define HF_QUEUE_INFO_INIT \
    { sizeof(hf_queue_info), 0, 0, 0, 0, 0, 0, 0, false }
/* clang-format on */

/**
 * Look at a queue. Nothing is changed. One that does not exist has no jobs.
 *
 * @param queue  the queue's name
 * @param info   [in,out] start it with #HF_QUEUE_INFO_INIT
 *
 * @retval HF_OK          `*info` is filled
 * @retval HF_WRONG_TYPE  the key is something else
 */
HF_API HF_MUST_USE hf_status hf_queue_inspect(hf_client *client, hf_bytes queue,
                                              hf_queue_info *info,
                                              hf_error *err);

/** In which state a job is. */
typedef enum hf_queue_state {
    HF_QUEUE_READY,   /**< it can be taken */
    HF_QUEUE_TAKEN,   /**< a worker has it */
    HF_QUEUE_DELAYED, /**< it is not due yet */
    HF_QUEUE_BEHIND,  /**< behind another of its group */
    HF_QUEUE_DEAD     /**< a dead letter */
} hf_queue_state;

/** Jobs, owned by the caller; free with hf_queue_jobs_free(). */
typedef struct hf_queue_jobs {
    hf_job *jobs;
    size_t count;
} hf_queue_jobs;

/* clang-format off */
#define HF_QUEUE_JOBS_INIT { NULL, 0 }
/* clang-format on */

/** Most jobs of a list. */
#define HF_QUEUE_LIST_MAX 1000

/**
 * Free what was listed, and reset it.
 *
 * @param jobs  may be NULL
 */
HF_API void hf_queue_jobs_free(hf_queue_jobs *jobs);

/**
 * List the jobs that are in one state, with their payloads, as far as these are
 * 16 MiB together. Nothing is taken or moved: a job whose lease has ended, or
 * that has become due, is listed as it was until a call moves it.
 *
 * @param queue   the queue's name
 * @param state   of the jobs. Ready ones, and those behind others, are in the
 *                order in which they will be taken, taken and delayed ones by
 *                when that ends, dead letters by when they became that
 * @param offset  how many to leave out, 0..2^31-1
 * @param count   how many at most, 1..#HF_QUEUE_LIST_MAX. There may be more if
 *                any were listed
 * @param jobs    [out] free it with hf_queue_jobs_free()
 *
 * @retval HF_OK          `*jobs` is set; without jobs if there are none
 * @retval HF_WRONG_TYPE  the key is something else
 */
HF_API HF_MUST_USE hf_status hf_queue_list(hf_client *client, hf_bytes queue,
                                           hf_queue_state state, int64_t offset,
                                           int64_t count, hf_queue_jobs *jobs,
                                           hf_error *err);

/**
 * Give no job to anyone, or give jobs again. Jobs can be put meanwhile, and
 * those that are taken can be ended. Workers that wait keep waiting.
 *
 * @param queue   the queue's name; it may have no jobs yet
 * @param paused  true: from now on, but for a job that a worker was already
 *                woken for, within the last second
 *
 * @retval HF_OK          it is so
 * @retval HF_WRONG_TYPE  the key is something else
 */
HF_API HF_MUST_USE hf_status hf_queue_pause(hf_client *client, hf_bytes queue,
                                            bool paused, hf_error *err);

/**
 * Move dead letters back: each is ready in its old place, or behind the others
 * of its group, and its attempts begin again.
 *
 * @param queue  the queue's name
 * @param id     of one; size 0: of those that are dead letters for longest
 * @param count  of these, how many at most, 1..#HF_QUEUE_LIST_MAX
 * @param moved  [out] how many; may be NULL
 *
 * @retval HF_OK          moved
 * @retval HF_NOT_FOUND   no dead letter has the id
 * @retval HF_WRONG_TYPE  the key is something else
 */
HF_API HF_MUST_USE hf_status hf_queue_revive(hf_client *client, hf_bytes queue,
                                             hf_bytes id, int64_t count,
                                             int64_t *moved, hf_error *err);

/**
 * Remove a job that no worker has: one that is ready, delayed, behind others of
 * its group, or a dead letter. The next of its group takes its place. Its id is
 * free again, even if it was to be remembered.
 *
 * @param queue  the queue's name
 * @param id     of the job, 1..#HF_QUEUE_ID_MAX bytes
 *
 * @retval HF_OK          it was removed
 * @retval HF_NOT_FOUND   the queue has no such job; it may remember the id
 * @retval HF_HELD        a worker has it, or was just woken for it
 * @retval HF_WRONG_TYPE  the key is something else
 */
HF_API HF_MUST_USE hf_status hf_queue_drop(hf_client *client, hf_bytes queue,
                                           hf_bytes id, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_queue_put_start, hf_bytes queue, hf_bytes id, hf_bytes payload,
         const hf_queue_options *opts);
HF_START(hf_queue_put_many_start, hf_bytes queue, const hf_queue_put_item *jobs,
         size_t count, const hf_queue_options *opts, hf_status *statuses);
HF_START(hf_queue_inspect_start, hf_bytes queue, hf_queue_info *info);
HF_START(hf_queue_list_start, hf_bytes queue, hf_queue_state state,
         int64_t offset, int64_t count, hf_queue_jobs *jobs);
HF_START(hf_queue_pause_start, hf_bytes queue, bool paused);
HF_START(hf_queue_revive_start, hf_bytes queue, hf_bytes id, int64_t count,
         int64_t *moved);
HF_START(hf_queue_drop_start, hf_bytes queue, hf_bytes id);
HF_START_OF(hf_queue_done_start, hf_lock *lock);
HF_START_OF(hf_queue_again_start, hf_lock *lock, int64_t delay_ms);
HF_START_OF(hf_queue_defer_start, hf_lock *lock, int64_t delay_ms);
HF_START_OF(hf_queue_fail_start, hf_lock *lock);
HF_START_OF(hf_queue_next_start, hf_lock *lock, hf_queue_outcome outcome,
            int64_t delay_ms, int64_t wait_ms);

#ifdef __cplusplus
}
#endif

#endif
