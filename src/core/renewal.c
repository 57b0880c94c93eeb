/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renewal.c - asking the store to let leases run anew: many locks in one
 * script, from the background thread, or one lock from its caller's.
 *
 * An answer for an earlier acquisition of a handle is dropped (lock.h). A
 * renewal holds a reference, so that the handle may be freed meanwhile.
 */
#include "core/renewal.h"

#include "core/lock.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* Locks in one script, which then takes under 1 ms on Redis. */
#define BATCH_MAX 128

/* No try is shorter, however short the lease. */
#define TRY_MIN_MS 10

/* What a try may take on a local store when something else is due at once. */
#define LOCAL_MIN_MS 5

struct hf__renewal {
    hf__request request;
    hf__watchdog *watchdog;
    hf__renewal *next;
    int64_t sent_ms;
    uint32_t shard;
    size_t count;
    hf_lock *locks[BATCH_MAX];
    uint64_t acquisitions[BATCH_MAX];
    hf__renewal_answer answers[BATCH_MAX];
    char owners[BATCH_MAX][HF_OWNER_SIZE];
    hf_bytes words[3 * BATCH_MAX]; /* keys, owners, leases */
};

/* The reply is a flat list {i, why, ...} of the locks that failed. */
static bool read_answers(const hf_reply *reply, size_t count,
                         hf__renewal_answer *answers)
{
    for (size_t i = 0; i < count; i++)
        answers[i] = HF__RENEWED;
    if (reply->kind != HF_REPLY_ARRAY || reply->array.count % 2 != 0)
        return false;
    for (size_t i = 0; i < reply->array.count; i += 2) {
        const hf_reply *item = &reply->array.items[i];

        if (item[0].kind != HF_REPLY_INTEGER || item[0].integer < 1 ||
            item[0].integer > (int64_t)count ||
            item[1].kind != HF_REPLY_INTEGER)
            return false;
        answers[item[0].integer - 1] =
            item[1].integer == 0 ? HF__GONE : HF__TAKEN;
    }
    return true;
}

static void renewal_done(hf__request *request)
{
    hf__renewal *batch = request->user;
    hf__watchdog *watchdog = batch->watchdog;
    bool answered = request->status == HF_OK &&
                    read_answers(&request->reply, batch->count, batch->answers);

    pthread_mutex_lock(&watchdog->mutex);
    for (size_t i = 0; i < batch->count; i++) {
        hf_lock *lock = batch->locks[i];

        if (lock->acquisition == batch->acquisitions[i] &&
            lock->state == HF__LOCK_HELD) {
            lock->renewing = false;
            if (answered)
                hf__watchdog_answer_locked(watchdog, lock, batch->answers[i],
                                           batch->sent_ms);
            else
                hf__watchdog_retry_locked(watchdog, lock);
        }
        hf__lock_unref_locked(lock);
    }
    hf__watchdog_arm_locked(watchdog);
    pthread_mutex_unlock(&watchdog->mutex);
    hf__request_done(request);
    hf__free(batch);
}

static hf__renewal *renewal_new(hf__watchdog *watchdog, uint32_t shard,
                                hf__renewal *next)
{
    hf__renewal *batch = hf__alloc(sizeof(*batch));

    if (batch == NULL)
        return NULL;
    hf__request_init(&batch->request);
    batch->watchdog = watchdog;
    batch->shard = shard;
    batch->count = 0;
    batch->next = next;
    return batch;
}

/* Add a lock to an open batch of its shard, or to a new one. */
hf__renewal *hf__renewal_add_locked(hf__watchdog *watchdog, hf_lock *lock,
                                    hf__renewal *batches)
{
    hf__store *store = watchdog->client->store;
    uint32_t shard = store->ops->shard(store, lock->keys.main);
    hf__renewal *batch = batches;
    size_t i;

    while (batch != NULL &&
           (batch->shard != shard || batch->count == BATCH_MAX))
        batch = batch->next;
    if (batch == NULL) {
        batch = renewal_new(watchdog, shard, batches);
        if (batch == NULL) {
            hf__watchdog_retry_locked(watchdog, lock);
            return batches;
        }
        batches = batch;
    }
    i = batch->count++;
    batch->locks[i] = lock;
    batch->acquisitions[i] = lock->acquisition;
    memcpy(batch->owners[i], lock->owner, HF_OWNER_SIZE);
    lock->references++;
    lock->renewing = true;
    hf__heap_put(&watchdog->heap, &lock->node, hf__watchdog_next_event(lock));
    return batches;
}

/*
 * A try must not outlive the time in which another could still succeed. A
 * local store runs it on this thread, which then must be back for what comes
 * next: `next_ms` is the first instant in the heap.
 */
static int64_t renewal_deadline(const hf__renewal *batch, int64_t now_ms,
                                int64_t next_ms)
{
    const hf_client *client = batch->watchdog->client;
    int64_t deadline_ms = now_ms + client->request_ms;

    for (size_t i = 0; i < batch->count; i++) {
        const hf_lock *lock = batch->locks[i];
        int64_t sixth_ms = hf__at_least(lock->options.ttl_ms / 6, TRY_MIN_MS);

        deadline_ms = hf__at_most(deadline_ms, now_ms + sixth_ms);
    }
    if ((client->store->capabilities & HF__CAP_LOCAL) != 0)
        deadline_ms = hf__at_most(deadline_ms,
                                  hf__at_least(next_ms, now_ms + LOCAL_MIN_MS));
    return deadline_ms;
}

static void send_batch(hf__renewal *batch, int64_t next_ms)
{
    hf__request *request = &batch->request;
    hf__store *store = batch->watchdog->client->store;
    size_t n = batch->count;

    for (size_t i = 0; i < n; i++) {
        batch->words[i] = batch->locks[i]->keys.main;
        batch->words[n + i] = hf_str(batch->owners[i]);
        batch->words[2 * n + i] = batch->locks[i]->ttl_word;
    }
    batch->sent_ms = hf__clock_boot_ms();
    request->script = &hf__scripts[HF__SCRIPT_LOCK_RENEW];
    request->words = batch->words;
    request->word_count = 3 * n;
    request->key_count = n;
    request->repeatable = true;
    request->lane = HF__LANE_LEASE;
    request->deadline_ms = renewal_deadline(batch, batch->sent_ms, next_ms);
    request->on_done = renewal_done;
    request->user = batch;
    store->ops->submit(store, &request, 1);
}

void hf__renewal_send(hf__renewal *batches, int64_t next_ms)
{
    while (batches != NULL) {
        hf__renewal *batch = batches;

        batches = batch->next;
        send_batch(batch, next_ms);
    }
}

hf_status hf__renewal_now(hf__watchdog *watchdog, hf_lock *lock, hf_error *err)
{
    char owner[HF_OWNER_SIZE];
    hf_bytes words[3] = {
        lock->keys.main, {owner, HF_OWNER_SIZE - 1}, lock->ttl_word};
    hf__request request;
    int64_t sent_ms;
    hf__renewal_answer answer;
    uint64_t acquisition;
    hf_status status;

    pthread_mutex_lock(&watchdog->mutex);
    memcpy(owner, lock->owner, sizeof(owner));
    acquisition = lock->acquisition;
    pthread_mutex_unlock(&watchdog->mutex);
    status = hf__run_script(watchdog->client, HF__SCRIPT_LOCK_RENEW, words, 3,
                            1, &request, err);
    if (status == HF_OK && !read_answers(&request.reply, 1, &answer))
        status = hf__bad_reply("lock_renew", err);
    sent_ms = request.began_ms;
    hf__request_done(&request);
    if (status != HF_OK)
        return status;

    pthread_mutex_lock(&watchdog->mutex);
    if (lock->acquisition == acquisition && lock->state == HF__LOCK_HELD) {
        hf__watchdog_answer_locked(watchdog, lock, answer, sent_ms);
        hf__watchdog_arm_locked(watchdog);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    if (answer == HF__TAKEN)
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    if (answer == HF__GONE)
        return hf__fail(err, HF_EXPIRED, "the lease had ended");
    return HF_OK;
}
