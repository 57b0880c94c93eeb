/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renewal.c - extending leases, many in one script.
 *
 * A reply for an earlier acquisition of a handle is ignored (handle.h). A
 * renewal holds a reference, so that the handle may be freed meanwhile.
 */
#include "lease/renewal.h"

#include "lease/handle.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

/* Locks in one script, which then takes under 1 ms on Redis. */
#define BATCH_MAX 128

/* Shortest timeout of a try, however short the lease. */
#define TRY_MIN_MS 10

/* Timeout on a local store when something else is due at once. */
#define LOCAL_MIN_MS 5

/* Room for locks at first, and the factor by which it grows: in a cluster most
 * batches are small. */
#define ROOM_FIRST 4

/* A caller that waits for batches. */
typedef struct renewal_wait {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t open; /* batches not answered yet */
} renewal_wait;

typedef struct renewal_entry {
    hf_lock *lock;
    uint64_t acquisition;
    hf_status *status; /* with a wait; NULL: not wanted */
    int64_t try_ms;    /* after this without a reply it is tried again */
    int64_t valid_ms;  /* until when a reply is of use */
    int64_t lease_ms;
    char lease_text[HF__NUMBER_SIZE];
    char owner[HF_OWNER_SIZE];
} renewal_entry;

struct hf__renewal {
    hf__request request;
    hf__watchdog *watchdog;
    hf__renewal *next;
    hf__renewal *next_open; /* of the same place */
    int64_t sent_ms;
    const hf__lease_kind *kind; /* of each of its locks ... */
    uint32_t shard;
    hf__replicas replicas;
    renewal_entry *entries;
    size_t count;
    size_t room;        /* for entries */
    renewal_wait *wait; /* NULL: no caller waits */
    hf_bytes *words;    /* keys, owners, leases; once it is sent */
};

static hf__renewal_answer read_why(int64_t why)
{
    if (why == 0)
        return HF__GONE;
    return why < 0 ? HF__TAKEN : HF__UNDECIDED;
}

/* The reply is a flat list {i, why, ...} of the locks that failed. */
bool hf__renewal_read(const hf_reply *reply, size_t count,
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
        answers[item[0].integer - 1] = read_why(item[1].integer);
    }
    return true;
}

static hf_status status_of(const hf__renewal *batch, bool answered,
                           hf__renewal_answer answer)
{
    if (!answered)
        return batch->request.status == HF_OK ? HF_CORRUPT
                                              : batch->request.status;
    if (answer == HF__TAKEN)
        return HF_LOST;
    if (answer == HF__UNDECIDED)
        return HF_INDETERMINATE;
    return answer == HF__GONE ? HF_EXPIRED : HF_OK;
}

/* The statuses belong to the caller again when `open` is 0. */
static void report_answer(const hf__renewal *batch, bool answered,
                          const hf__renewal_answer *answers)
{
    renewal_wait *wait = batch->wait;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->entries[i].status != NULL)
            *batch->entries[i].status = status_of(batch, answered, answers[i]);
    }
    pthread_mutex_lock(&wait->mutex);
    if (--wait->open == 0)
        pthread_cond_signal(&wait->changed);
    pthread_mutex_unlock(&wait->mutex);
}

static void renewal_free(hf__renewal *batch)
{
    hf__request_done(&batch->request);
    hf__free(batch->entries);
    hf__free(batch->words);
    hf__free(batch);
}

static void report_silence(const hf__renewal *batch)
{
    const hf__request *request = &batch->request;

    HF__LOG(batch->watchdog->client->log, HF_LOG_WARNING,
            "no answer to a renewal of leases, which is repeated while they "
            "are valid: %s",
            request->status == HF_OK ? "malformed reply"
                                     : request->error.message);
}

static void renewal_done(hf__request *request)
{
    hf__renewal *batch = request->user;
    hf__watchdog *watchdog = batch->watchdog;
    hf__renewal_answer answers[BATCH_MAX];
    bool answered = request->status == HF_OK &&
                    hf__renewal_read(&request->reply, batch->count, answers);

    HF__PROBE(3, renewal, batch->count, (int)request->status,
              hf__clock_boot_ms() - batch->sent_ms);
    if (!answered)
        report_silence(batch);
    pthread_mutex_lock(&watchdog->mutex);
    for (size_t i = 0; i < batch->count; i++) {
        hf_lock *lock = batch->entries[i].lock;

        if (lock->acquisition == batch->entries[i].acquisition &&
            lock->state == HF__LOCK_HELD) {
            lock->renewing = false;
            if (answered && answers[i] == HF__RENEWED &&
                request->replicas != NULL)
                atomic_store(&lock->acked, request->acked);
            if (answered) {
                hf__lease_answer_locked(watchdog, lock, answers[i],
                                        request->began_ms,
                                        batch->entries[i].lease_ms);
            } else {
                watchdog->counts.unrenewed++;
                hf__lease_retry_locked(watchdog, lock, 0);
            }
        }
        hf__lock_unref_locked(lock);
    }
    hf__watchdog_arm_locked(watchdog);
    pthread_mutex_unlock(&watchdog->mutex);
    if (batch->wait != NULL)
        report_answer(batch, answered, answers);
    renewal_free(batch);
}

/* ------------------------------------------------------------- collecting */

static hf__renewal *renewal_new(hf__watchdog *watchdog, uint32_t shard,
                                const hf_lock *lock)
{
    hf__renewal *batch = hf__alloc(sizeof(*batch));

    if (batch == NULL)
        return NULL;
    hf__request_init(&batch->request);
    batch->watchdog = watchdog;
    batch->shard = shard;
    batch->kind = lock->kind;
    batch->replicas = lock->renewal_replicas;
    batch->entries = NULL;
    batch->count = 0;
    batch->room = 0;
    batch->wait = NULL;
    batch->words = NULL;
    return batch;
}

static bool make_room(hf__renewal *batch)
{
    size_t room = batch->room == 0 ? ROOM_FIRST : batch->room * ROOM_FIRST;
    renewal_entry *entries;

    if (batch->count < batch->room)
        return true;
    if (room > BATCH_MAX)
        room = BATCH_MAX;
    entries = hf__realloc(batch->entries, room * sizeof(*entries));
    if (entries == NULL)
        return false;
    batch->entries = entries;
    batch->room = room;
    return true;
}

static bool batch_fits(const hf__renewal *batch, uint32_t shard,
                       const hf_lock *lock)
{
    const hf__replicas *replicas = &lock->renewal_replicas;

    return batch->shard == shard && batch->kind == lock->kind &&
           batch->replicas.count == replicas->count &&
           batch->replicas.within_ms == replicas->within_ms;
}

/* A batch for the lock, with room for one more; NULL: no memory. A full batch
 * leaves the open ones. */
static hf__renewal *find_open(hf__watchdog *watchdog, uint32_t shard,
                              const hf_lock *lock, hf__renewals *renewals)
{
    hf__renewal **place;
    hf__renewal *batch;

    if (renewals->first == NULL)
        memset(renewals->open, 0, sizeof(renewals->open));
    place = &renewals->open[shard % HF__RENEWAL_PLACES];
    while (*place != NULL && !batch_fits(*place, shard, lock))
        place = &(*place)->next_open;
    if (*place != NULL && (*place)->count < BATCH_MAX)
        return make_room(*place) ? *place : NULL;
    batch = renewal_new(watchdog, shard, lock);
    if (batch == NULL || !make_room(batch)) {
        hf__free(batch);
        return NULL;
    }
    batch->next_open = *place == NULL ? NULL : (*place)->next_open;
    *place = batch;
    batch->next = NULL;
    *renewals->end = batch;
    renewals->end = &batch->next;
    return batch;
}

bool hf__renewal_add_locked(hf__watchdog *watchdog, hf_lock *lock,
                            hf_status *status, hf__renewals *renewals)
{
    hf__store *store = watchdog->client->store;
    uint32_t shard = store->ops->shard(store, lock->keys.main);
    hf__renewal *batch = find_open(watchdog, shard, lock, renewals);
    renewal_entry *entry;

    if (batch == NULL) {
        hf__lease_retry_locked(watchdog, lock, 0);
        return false;
    }
    entry = &batch->entries[batch->count++];
    entry->lock = lock;
    entry->acquisition = lock->acquisition;
    entry->status = status;
    entry->try_ms = hf__at_least(lock->granted_ms / 6, TRY_MIN_MS);
    entry->lease_ms = hf__lease_wanted_locked(lock, hf__clock_boot_ms());
    memcpy(entry->owner, lock->owner, HF_OWNER_SIZE);
    entry->valid_ms = atomic_load(&lock->valid_until_ms);
    lock->references++;
    lock->renewing = (store->capabilities & HF__CAP_LOCAL) != 0;
    hf__lease_retry_locked(watchdog, lock, entry->try_ms);
    return true;
}

/* ---------------------------------------------------------------- sending */

/*
 * A late reply counts as long as a lease is valid, although there may have been
 * another try. One for which a caller waits, or on a local store, must leave
 * time for another one to succeed. A local store runs it on this thread, which
 * must be back for what is due next: `next_ms`, the first instant in the heap.
 */
static int64_t renewal_deadline(const hf__renewal *batch, int64_t now_ms,
                                int64_t next_ms)
{
    const hf_client *client = batch->watchdog->client;
    bool local = (client->store->capabilities & HF__CAP_LOCAL) != 0;
    int64_t try_ms = client->request_ms, valid_ms = now_ms + TRY_MIN_MS;

    for (size_t i = 0; i < batch->count; i++) {
        try_ms = hf__at_most(try_ms, batch->entries[i].try_ms);
        valid_ms = hf__at_least(valid_ms, batch->entries[i].valid_ms);
    }
    if (!local && batch->wait == NULL)
        return hf__at_most(valid_ms, now_ms + client->request_ms);
    if (!local)
        return now_ms + try_ms;
    return hf__at_most(now_ms + try_ms,
                       hf__at_least(next_ms, now_ms + LOCAL_MIN_MS));
}

/* In the order of the script's keys and arguments; false: no memory. */
static bool make_words(hf__renewal *batch)
{
    size_t n = batch->count;

    batch->words = hf__alloc(3 * n * sizeof(*batch->words));
    if (batch->words == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        renewal_entry *entry = &batch->entries[i];

        batch->words[i] = entry->lock->keys.main;
        batch->words[n + i] = hf_str(entry->owner);
        batch->words[2 * n + i] = hf__number(
            entry->lease_text, entry->lease_ms + entry->lock->options.delay_ms);
    }
    return true;
}

static void fail_batch(hf__renewal *batch, hf_status status, const char *why)
{
    batch->request.user = batch;
    hf__request_fail(&batch->request, status, "%s", why);
    renewal_done(&batch->request);
}

static void send_batch(hf__renewal *batch, int64_t next_ms)
{
    hf__request *request = &batch->request;
    hf__store *store = batch->watchdog->client->store;

    batch->sent_ms = hf__clock_boot_ms();
    if (!make_words(batch)) {
        fail_batch(batch, HF_NO_MEMORY, "out of memory");
        return;
    }
    hf__request_script(request, &hf__scripts[batch->kind->renew], batch->words,
                       3 * batch->count, batch->count);
    request->on_done = renewal_done;
    request->user = batch;
    request->began_ms = batch->sent_ms;
    request->deadline_ms = renewal_deadline(batch, batch->sent_ms, next_ms);
    hf__request_replicate(request, &batch->replicas, NULL);
    store->ops->submit(store, &request, 1);
}

/* A batch that is sent takes no more locks. */
static void leave_open(hf__renewals *renewals, const hf__renewal *batch)
{
    hf__renewal **place = &renewals->open[batch->shard % HF__RENEWAL_PLACES];

    while (*place != NULL && *place != batch)
        place = &(*place)->next_open;
    if (*place != NULL)
        *place = batch->next_open;
}

/* Remove the first; NULL: there is none. */
static hf__renewal *take_first(hf__renewals *renewals)
{
    hf__renewal *batch = renewals->first;

    if (batch == NULL)
        return NULL;
    leave_open(renewals, batch);
    renewals->first = batch->next;
    if (renewals->first == NULL)
        renewals->end = &renewals->first;
    return batch;
}

bool hf__renewal_send(hf__renewals *renewals, int64_t next_ms)
{
    hf__renewal *batch = take_first(renewals);

    if (batch != NULL)
        send_batch(batch, next_ms);
    return batch != NULL;
}

void hf__renewal_drop(hf__renewals *renewals)
{
    hf__renewal *batch;

    while ((batch = take_first(renewals)) != NULL)
        fail_batch(batch, HF_UNAVAILABLE, "the client is closed");
}

void hf__renewal_run(hf__renewals *renewals)
{
    renewal_wait wait = {.open = 0};

    pthread_mutex_init(&wait.mutex, NULL);
    hf__cond_init(&wait.changed);
    for (hf__renewal *batch = renewals->first; batch != NULL;
         batch = batch->next) {
        batch->wait = &wait;
        wait.open++;
    }
    while (hf__renewal_send(renewals, INT64_MAX))
        ;
    pthread_mutex_lock(&wait.mutex);
    while (wait.open > 0)
        hf__cond_wait_until(&wait.changed, &wait.mutex, INT64_MAX);
    pthread_mutex_unlock(&wait.mutex);
    pthread_cond_destroy(&wait.changed);
    pthread_mutex_destroy(&wait.mutex);
}
