/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - requests of one process that share a transaction and its commit.
 *
 * On a durable store the commit waits for the disk, far longer than the
 * request takes to run. So:
 *
 *  1. A caller puts its jobs into the queue. If there is no leader, it leads;
 *     else it sleeps on its own futex word.
 *  2. The leader takes the writer lock, by its own deadline, and begins a
 *     transaction. It takes jobs out of the queue, its own and others', and
 *     runs each, until the queue is empty, the transaction is large enough, or
 *     the lock was held for long enough. It commits.
 *  3. It releases the lock, makes the owner of the first job in the queue the
 *     next leader, and wakes the owners of completed jobs. Jobs that arrived
 *     during the commit are in that next transaction.
 *
 * job_batch.c runs the transaction.
 *
 * A job that is still in the queue at its deadline is removed by its owner.
 * Once taken by a leader it is waited for, however long the commit takes.
 *
 * Locks: `mutex` guards the queue, who leads, and each caller's `left`; it is
 * never held while anything is run or woken. A leader takes the writer lock
 * without it.
 */
#include "engine/run/group.h"

#include <assert.h>

#include "engine/commit/flush.h"
#include "engine/run/write.h"
#include "util/clock.h"
#include "util/futex.h"
#include "util/mem.h"

/* A caller's word. Nothing is written to it after DONE. */
enum { WAITING = 0, LEAD = 1, DONE = 2 };

typedef struct hf__caller {
    uint32_t word;
    size_t left; /* incomplete jobs */
} hf__caller;

static void set_word(hf__caller *who, uint32_t word)
{
    __atomic_store_n(&who->word, word, __ATOMIC_RELEASE);
}

static uint32_t word_of(const hf__caller *who)
{
    return __atomic_load_n(&who->word, __ATOMIC_ACQUIRE);
}

/* Choose the next leader, to be woken by its word; NULL: none waits. */
static hf__caller *hand_over_locked(hf__queue *queue)
{
    hf__queued_job *next = hf__queue_first_locked(queue);

    if (next == NULL) {
        queue->led = false;
        return NULL;
    }
    set_word(next->owner, LEAD);
    return next->owner;
}

/* --------------------------------------------------------------- leading */

/* Wake the owners and, if `self` is finished, the next leader. */
static void notify_owners(hf__batch *done, hf__caller *self)
{
    hf__queue *queue = done->env->queue;
    hf__caller *ready[HF__BATCH_MAX];
    hf__caller *next = NULL;
    size_t count = 0;

    pthread_mutex_lock(&queue->mutex);
    queue->expected = done->done_count + queue->queued_count;
    for (size_t i = 0; i < done->done_count; i++) {
        hf__caller *owner = done->done[i]->owner;

        if (--owner->left == 0 && owner != self)
            ready[count++] = owner;
    }
    if (self->left == 0)
        next = hand_over_locked(queue);
    pthread_mutex_unlock(&queue->mutex);
    if (next != NULL)
        hf__futex_wake_all(&next->word, false);
    for (size_t i = 0; i < count; i++) {
        set_word(ready[i], DONE);
        /* It may be gone by now; waking is harmless. */
        hf__futex_wake_all(&ready[i]->word, false);
    }
}

/* One transaction. false: the writer lock was not available, or the disk has
 * failed. */
static bool lead_once(hf__env *env, int64_t deadline_ms, hf__caller *self,
                      hf_error *err)
{
    hf__batch work;

    if (hf__flush_lock(env, deadline_ms, err) != HF_OK)
        return false;
    hf__batch_run(&work, env);
    hf__write_end(env);
    hf__batch_run_rest(&work);
    notify_owners(&work, self);
    return true;
}

/* ------------------------------------------------------------------ calls */

/* A caller's own jobs. */
typedef struct group_call {
    hf__env *env;
    hf__caller self;
    hf__queued_job *members;
    size_t count;
} group_call;

/* The earliest deadline of the caller's queued jobs. */
static int64_t deadline_locked(const group_call *what)
{
    int64_t deadline_ms = INT64_MAX;

    for (size_t i = 0; i < what->count; i++) {
        const hf__request *request = what->members[i].job->request;

        if (what->members[i].queued && request->deadline_ms < deadline_ms)
            deadline_ms = request->deadline_ms;
    }
    return deadline_ms;
}

static int64_t deadline_of(group_call *what)
{
    int64_t deadline_ms;

    pthread_mutex_lock(&what->env->queue->mutex);
    deadline_ms = deadline_locked(what);
    pthread_mutex_unlock(&what->env->queue->mutex);
    return deadline_ms;
}

/*
 * Fail queued jobs with a deadline of until_ms or less. true: the call is
 * complete; if it led, or was to lead, another one does now. `why`: unless it
 * was busy.
 */
static bool give_up(group_call *what, int64_t until_ms, const hf_error *why)
{
    bool busy = why == NULL || why->status == HF_UNAVAILABLE;
    hf__queue *queue = what->env->queue;
    hf__caller *next = NULL;
    size_t count = 0;
    bool complete;

    pthread_mutex_lock(&queue->mutex);
    for (size_t i = 0; i < what->count; i++) {
        hf__queued_job *one = &what->members[i];

        if (!one->queued || one->job->request->deadline_ms > until_ms)
            continue;
        hf__queue_remove_locked(queue, one);
        hf__queued_job_fail(
            one, busy ? HF_UNAVAILABLE : why->status,
            busy ? "the store was busy until the request's deadline"
                 : why->message);
        count++;
    }
    what->self.left -= count;
    complete = count > 0 && what->self.left == 0;
    if (complete && word_of(&what->self) == LEAD)
        next = hand_over_locked(queue);
    pthread_mutex_unlock(&queue->mutex);
    if (next != NULL)
        hf__futex_wake_all(&next->word, false);
    return complete;
}

static void lead_group(group_call *what)
{
    /* Each round completes a job: the queue's first, or one of its own. */
    while (what->self.left > 0) {
        int64_t deadline_ms = deadline_of(what);
        hf_error why = HF_ERROR_INIT;

        if (!lead_once(what->env, deadline_ms, &what->self, &why) &&
            give_up(what, deadline_ms, &why))
            return;
    }
}

static void follow_leader(group_call *what)
{
    for (;;) {
        int64_t deadline_ms = deadline_of(what);

        while (word_of(&what->self) == WAITING &&
               hf__clock_boot_ms() < deadline_ms)
            hf__futex_wait(&what->self.word, WAITING, deadline_ms, false);
        if (word_of(&what->self) == DONE)
            return;
        if (word_of(&what->self) == LEAD) {
            lead_group(what);
            return;
        }
        if (give_up(what, deadline_ms, NULL))
            return;
    }
}

void hf__group_run(hf__env *env, const hf__job *jobs, size_t count)
{
    hf__queue *queue = env->queue;
    hf__queued_job members[HF__BATCH_MAX];
    group_call what = {env, {WAITING, count}, members, count};
    bool leads;

    assert(count <= HF__BATCH_MAX);
    if (count == 0)
        return;
    pthread_mutex_lock(&queue->mutex);
    for (size_t i = 0; i < count; i++) {
        members[i].job = &jobs[i];
        members[i].owner = &what.self;
        hf__queue_put_locked(queue, &members[i]);
    }
    leads = !queue->led;
    if (leads) {
        queue->led = true;
        what.self.word = LEAD;
    }
    pthread_mutex_unlock(&queue->mutex);
    if (leads)
        lead_group(&what);
    else
        follow_leader(&what);
}
