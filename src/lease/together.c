/* SPDX-License-Identifier: Apache-2.0 */
/* together.c - see together.h. */
#include "lease/together.h"

#include <stdlib.h>

#include "lease/release.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/event_fd.h"
#include "util/mem.h"
#include "util/order.h"

/* Longest time for a script on a local store, which runs on the loop thread;
 * the locks are then acquired one by one. */
#define LOCAL_ASK_MS 20

/* KEYS[1] and ARGV[1]; of each lock two keys and two arguments. */
#define WORDS(count) (2 + 4 * (count))

static hf__watchdog *watchdog_of(const hf__together *self)
{
    return &self->client->leases->watchdog;
}

/* -------------------------------------------------------------------- make */

static int compare(const void *a, const void *b)
{
    const hf__together_member *x = a, *y = b;
    hf_bytes p = x->lock->keys.main, q = y->lock->keys.main;
    int order;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    order = memcmp(p.data, q.data, p.size < q.size ? p.size : q.size);
    return order != 0 ? order : (p.size > q.size) - (p.size < q.size);
}

static hf_status sort(hf__together *self, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    qsort(self->members, self->count, sizeof(self->members[0]), compare);
    for (size_t i = 1; i < self->count; i++) {
        if (compare(&self->members[i - 1], &self->members[i]) == 0)
            return hf__fail(
                err, HF_INVALID, "lock %s is given twice",
                hf__quoted(quoted, hf_lock_name(self->members[i].lock)));
    }
    return HF_OK;
}

hf_status hf__together_new(hf_lock *const *locks, size_t count, int64_t wait_ms,
                           hf__together **made, hf_error *err)
{
    hf_client *client = locks[0]->client;
    hf__together *self =
        hf__calloc(1, sizeof(*self) + count * sizeof(self->members[0]) +
                          WORDS(count) * sizeof(hf_bytes));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu locks", count);
    self->client = client;
    self->wait_ms = wait_ms;
    self->until_ms =
        wait_ms == 0 ? 0 : hf__clock_after(hf__clock_boot_ms(), wait_ms);
    self->count = count;
    self->words = (hf_bytes *)(void *)&self->members[count];
    self->detail = (hf_error)HF_ERROR_INIT;
    hf__request_init(&self->request);
    for (size_t i = 0; i < count; i++) {
        self->members[i].lock = locks[i];
        self->members[i].shard =
            client->store->ops->shard(client->store, locks[i]->keys.main);
        self->members[i].mark = hf__interrupt_mark_of(locks[i]);
        self->members[i].all = self;
    }
    status = sort(self, err);
    if (status == HF_OK)
        *made = self;
    else
        hf__free(self);
    return status;
}

/* --------------------------------------------------------------------- end */

static void run_step(hf__task *task);

static void post(hf__together *self)
{
    self->task = (hf__task){.run = run_step};
    hf__loop_post(self->client->loop, &self->task);
}

/* All that were taken are released. */
static void end(hf__together *self)
{
    if (self->again) {
        self->again = self->single = false;
        self->at = 0;
        post(self);
    } else {
        self->done(self);
    }
}

static void released_one(hf__together *self)
{
    if (atomic_fetch_sub(&self->releasing, 1) == 1)
        end(self);
}

static void on_released(hf__request *request)
{
    hf__together_member *member =
        hf__container_of(request, hf__together_member, release);
    hf__watchdog *watchdog = watchdog_of(member->all);
    hf_lock *lock = member->lock;

    hf__request_done(request);
    pthread_mutex_lock(&watchdog->mutex);
    lock->state = HF__LOCK_FREE;
    if (lock->lost_fd >= 0)
        hf__event_fd_lower(lock->lost_fd);
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&watchdog->mutex);
    released_one(member->all);
}

/* Undo one acquire; true: it was the last, and its owner is to be released. */
static bool leave_locked(hf__together_member *member)
{
    hf_lock *lock = member->lock;
    bool last = member->taken && --lock->holds == 0;

    member->taken = false;
    if (!last)
        return false;
    hf__lease_unwatch_locked(watchdog_of(member->all), lock);
    lock->state = HF__LOCK_RELEASING;
    memcpy(member->grant.owner, lock->owner, HF_OWNER_SIZE);
    return true;
}

static void send_release(hf__together_member *member)
{
    hf__store *store = member->lock->client->store;
    hf__request *request = &member->release;

    hf__lock_release_fill(member->lock, request, member->words,
                          member->grant.owner);
    request->on_done = on_released;
    request->status = hf__request_stamp(member->lock->client, request,
                                        INT64_MAX, &request->error);
    if (request->status == HF_OK)
        store->ops->submit(store, &request, 1);
    else
        on_released(request);
}

/* Step 5. */
static void release_all(hf__together *self)
{
    hf__watchdog *watchdog = watchdog_of(self);

    atomic_store(&self->releasing, 1);
    for (size_t i = 0; i < self->at; i++) {
        bool last;

        pthread_mutex_lock(&watchdog->mutex);
        last = leave_locked(&self->members[i]);
        pthread_mutex_unlock(&watchdog->mutex);
        if (last) {
            atomic_fetch_add(&self->releasing, 1);
            send_release(&self->members[i]);
        }
    }
    released_one(self);
}

/* `detail` says why. */
static void name_culprit(hf__together *self)
{
    char quoted[HF__QUOTED_SIZE];

    hf__quoted(quoted, hf_lock_name(self->members[self->culprit].lock));
    if (self->wait_ms != 0 &&
        (self->status == HF_TIMEOUT || self->status == HF_HELD))
        self->status = hf__fail(&self->detail, HF_TIMEOUT,
                                "timed out after %lld ms waiting for lock %s",
                                (long long)self->wait_ms, quoted);
    else if (self->status != HF_CANCELLED)
        hf__fail_prefix(&self->detail, "lock %s", quoted);
}

static void fail(hf__together *self)
{
    name_culprit(self);
    release_all(self);
}

/* ------------------------------------------------------------------- script */

/* May the script take it together with the first of the run? */
static bool fits(const hf__together *self, size_t i)
{
    const hf_lock *lock = self->members[i].lock;

    return lock->state == HF__LOCK_FREE && lock->replicas.count == 0 &&
           lock->kind->acquire == HF__SCRIPT_LOCK_ACQUIRE &&
           self->members[i].shard == self->members[self->at].shard;
}

static void leave_run_locked(hf__together *self, size_t from)
{
    for (size_t i = from; i < self->run; i++) {
        hf_lock *lock = self->members[self->at + i].lock;

        lock->state = HF__LOCK_FREE;
        pthread_cond_broadcast(&lock->changed);
    }
}

/* The locks of the run are ACQUIRING afterwards, if there are several. */
static void find_run(hf__together *self)
{
    hf__watchdog *watchdog = watchdog_of(self);
    bool busy;

    self->run = 0;
    if ((self->client->store->capabilities & HF__CAP_UNDOES) != 0)
        return;
    pthread_mutex_lock(&watchdog->mutex);
    while (self->at + self->run < self->count &&
           fits(self, self->at + self->run) &&
           hf__lock_begin_locked(self->members[self->at + self->run].lock, 0,
                                 &busy, NULL) == HF_OK)
        self->run++;
    if (self->run < 2) {
        leave_run_locked(self, 0);
        self->run = 0;
    }
    pthread_mutex_unlock(&watchdog->mutex);
}

static void fill(hf__together *self)
{
    size_t n = self->run;
    hf_bytes *words = self->words;

    words[0] = self->members[self->at].lock->keys.token;
    words[2 * n + 1] = hf_str(self->wait_ms == 0 ? "1" : "0");
    for (size_t i = 0; i < n; i++) {
        hf__together_member *member = &self->members[self->at + i];
        hf_lock *lock = member->lock;

        hf__owner_draw(&self->client->leases->owners, member->grant.owner);
        words[1 + i] = lock->keys.main;
        words[1 + n + i] = lock->keys.waiters;
        words[2 * n + 2 + 2 * i] = hf_str(member->grant.owner);
        words[2 * n + 3 + 2 * i] = hf__number(
            member->lease_text, lock->lease_ms + lock->options.delay_ms);
    }
    hf__request_script(&self->request,
                       &hf__scripts[HF__SCRIPT_LOCK_ACQUIRE_ALL], words,
                       WORDS(n), 2 * n + 1);
}

bool hf__together_ask(hf__together *self)
{
    if (self->single)
        return false;
    find_run(self);
    if (self->run > 0)
        fill(self);
    return self->run > 0;
}

/* The first `taken` of the run are held now. */
static void hold_locked(hf__together *self, size_t taken, uint64_t token,
                        bool *watched)
{
    for (size_t i = 0; i < taken; i++) {
        hf__together_member *member = &self->members[self->at + i];

        member->grant.token = token + i;
        member->grant.acked = -1;
        member->grant.sent_ms = self->request.began_ms;
        member->grant.lease_ms = member->lock->lease_ms;
        member->taken = true;
        hf__lock_hold_locked(member->lock, &member->grant);
        *watched = *watched || member->lock->watched;
        pthread_cond_broadcast(&member->lock->changed);
    }
}

/* A reply that came after the end of a lease does not count. */
static hf_status check_late(hf__together *self)
{
    int64_t now_ms = hf__clock_boot_ms();

    for (size_t i = 0; i < self->run; i++) {
        const hf_lock *lock = self->members[self->at + i].lock;

        if (now_ms >=
            hf__lock_validity(lock, self->request.began_ms, lock->lease_ms))
            return hf__fail(&self->detail, HF_INDETERMINATE,
                            "the reply took longer than the lease");
    }
    return HF_OK;
}

/* Nothing is known of what the script did, or it failed half-way. */
static void undo_run(hf__together *self)
{
    for (size_t i = 0; i < self->run; i++)
        hf__lock_undo(self->members[self->at + i].lock,
                      self->members[self->at + i].grant.owner);
}

static void note_reply(hf__together *self, hf_status status)
{
    if (status == HF_INDETERMINATE)
        self->silent = true;
    else if (status != HF_UNAVAILABLE && status != HF_CANCELLED)
        self->silent = false;
}

/* What the shape of the reply does not say. */
static hf_status check_counts(hf__together *self)
{
    const hf_reply *items = self->request.reply.array.items;
    int64_t room = (int64_t)self->run - (items[1].integer == 0);

    if (items[0].integer <= room &&
        (items[0].integer > 0 || items[1].integer == 0) &&
        items[1].integer <= HF__TOKEN_MAX - (int64_t)self->run)
        return check_late(self);
    return hf__bad_reply(self->request.script->name, &self->detail);
}

/* Another owner holds one, and the call does not wait. */
static void refuse(hf__together *self, size_t culprit)
{
    const hf_lock *lock = self->members[culprit].lock;

    self->culprit = culprit;
    self->status = hf__fail(&self->detail, HF_HELD, "%s", lock->kind->refused);
}

static void take(hf__together *self, size_t taken)
{
    hf__watchdog *watchdog = watchdog_of(self);
    bool watched = false;

    pthread_mutex_lock(&watchdog->mutex);
    hold_locked(self, taken,
                (uint64_t)self->request.reply.array.items[1].integer, &watched);
    leave_run_locked(self, taken);
    pthread_mutex_unlock(&watchdog->mutex);
    if (watched)
        hf__registry_note(&self->client->leases->registry);
    self->at += taken;
    self->single = taken < self->run;
}

static void leave_run(hf__together *self)
{
    hf__watchdog *watchdog = watchdog_of(self);

    pthread_mutex_lock(&watchdog->mutex);
    leave_run_locked(self, 0);
    pthread_mutex_unlock(&watchdog->mutex);
    self->single = true;
}

/* Locks are acquired one by one where the script has failed: that waits, and
 * names a key of another type. */
void hf__together_read(hf__together *self, hf_status status)
{
    const hf_reply *items = self->request.reply.array.items;

    self->culprit = self->at;
    self->status = status == HF_OK ? check_counts(self) : status;
    note_reply(self, self->status);
    if (self->status != HF_OK) {
        if (self->status != HF_UNAVAILABLE)
            undo_run(self);
        leave_run(self);
        if (self->status == HF_WRONG_TYPE ||
            (self->wait_ms != 0 && hf__steps_may_retry(self->status)))
            self->status = HF_OK;
    } else if (items[1].integer != 0) {
        take(self, (size_t)items[0].integer);
    } else {
        leave_run(self);
        if (self->wait_ms == 0)
            refuse(self, self->at + (size_t)items[0].integer);
    }
    hf__request_done(&self->request);
}

bool hf__together_over(hf__together *self)
{
    if (self->status == HF_OK)
        return self->at == self->count;
    if (self->at > 0)
        return false;
    name_culprit(self);
    return true;
}

/* -------------------------------------------------------------------- steps */

static void run_read(hf__task *task)
{
    hf__together *self = hf__container_of(task, hf__together, task);
    hf__request *request = &self->request;

    self->asking = false;
    if (request->status != HF_OK)
        hf__fail_copy(&self->detail, &request->error);
    hf__together_read(self, request->status);
    run_step(task);
}

/* On any thread. */
static void on_asked(hf__request *request)
{
    hf__together *self = request->user;

    self->task = (hf__task){.run = run_read};
    hf__loop_post(self->client->loop, &self->task);
}

static void submit(hf__together *self, int64_t limit_ms)
{
    hf__store *store = self->client->store;
    hf__request *request = &self->request;

    self->asking = true;
    request->on_done = on_asked;
    request->user = self;
    request->status =
        hf__request_stamp(self->client, request, limit_ms, &request->error);
    if (request->status == HF_OK)
        store->ops->submit(store, &request, 1);
    else
        on_asked(request);
}

void hf__together_start(hf__together *self, bool asks)
{
    if (asks)
        submit(self, INT64_MAX);
    else
        post(self);
}

static void on_acquired(void *user, hf_status status, const hf_error *detail)
{
    hf__together *self = user;

    self->acquiring = NULL;
    self->status = status;
    note_reply(self, status);
    if (status == HF_OK) {
        self->members[self->at++].taken = true;
        self->single = false;
    } else {
        hf__fail_copy(&self->detail, detail);
    }
    post(self);
}

/* Step 3. */
static void acquire_next(hf__together *self)
{
    hf__store *store = self->client->store;
    int64_t wait_ms = self->wait_ms;
    hf__request *request;

    if (wait_ms != 0 && wait_ms != HF_FOREVER)
        wait_ms = hf__at_least(self->until_ms - hf__clock_boot_ms(), 0);
    self->culprit = self->at;
    self->acquiring =
        hf__acquiring_new(self->members[self->at].lock, wait_ms, 0);
    if (self->acquiring == NULL) {
        self->status = hf__fail(&self->detail, HF_NO_MEMORY, "a lock");
        fail(self);
        return;
    }
    self->acquiring->done = on_acquired;
    self->acquiring->user = self;
    request = hf__acquiring_begin(self->acquiring);
    if (request != NULL)
        store->ops->submit(store, &request, 1);
}

/* Step 4. */
static void settle(hf__together *self)
{
    size_t i = 0;

    while (i < self->count && hf_lock_is_held(self->members[i].lock))
        i++;
    if (i == self->count) {
        self->done(self);
    } else if (self->wait_ms != 0 && hf__clock_boot_ms() < self->until_ms) {
        self->again = true;
        release_all(self);
    } else {
        self->culprit = i;
        self->status = hf__fail(&self->detail, HF_LOST,
                                "lost before the others were acquired");
        fail(self);
    }
}

static hf_status be_cancelled(hf__together *self)
{
    if (self->silent)
        return hf__fail(&self->detail, HF_INDETERMINATE,
                        "cancelled while a try had no reply");
    return hf__fail(&self->detail, HF_CANCELLED, "cancelled");
}

static void run_step(hf__task *task)
{
    hf__together *self = hf__container_of(task, hf__together, task);
    int64_t limit_ms = INT64_MAX;

    if ((self->client->store->capabilities & HF__CAP_LOCAL) != 0)
        limit_ms = hf__clock_boot_ms() + LOCAL_ASK_MS;
    if (atomic_load(&self->cancelled) &&
        (self->status == HF_OK || hf__steps_may_retry(self->status)))
        self->status = be_cancelled(self);
    if (self->status != HF_OK)
        fail(self);
    else if (self->at == self->count)
        settle(self);
    else if (hf__together_ask(self))
        submit(self, limit_ms);
    else
        acquire_next(self);
}

/* ------------------------------------------------------------------- cancel */

bool hf__together_interrupted(const hf__together *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (hf__interrupted(self->members[i].lock, self->members[i].mark))
            return true;
    }
    return false;
}

/* As when a call is cancelled (acquire_start.c). */
void hf__together_cancel(hf__together *self)
{
    hf__store *store = self->client->store;

    if (atomic_exchange(&self->cancelled, true))
        return;
    if (self->acquiring != NULL)
        hf__acquiring_cancel(self->acquiring);
    if (self->asking && store->ops->cancel != NULL)
        store->ops->cancel(store, &self->request);
}
