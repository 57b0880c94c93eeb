/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - see queue.h. A queue exists while a caller is in it.
 */
#include "lease/queue.h"

#include "lease/handle.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

struct hf__wait_queue {
    hf__wait_queue *next;
    size_t users; /* at the head and waiting */
    bool entered;
    pthread_cond_t left;
    pthread_cond_t passed; /* for the head */
    size_t threads;        /* waiting */
    hf__wait_place *first; /* waiting, oldest first */
    hf__wait_place **end;
    bool threads_turn;         /* threads and places take turns */
    char owner[HF_OWNER_SIZE]; /* of the head; "": it does not wait */
    hf__handed handed;
    const hf_lock *holder; /* that the head may wait for; NULL: none */
    hf__pass *offer;       /* of the head; NULL: none */
    bool passing;          /* a release has taken it */
    uint32_t priority;
    size_t name_size;
    char name[];
};

void hf__wait_queues_init(hf__wait_queues *queues)
{
    pthread_mutex_init(&queues->mutex, NULL);
    memset(queues->lists, 0, sizeof(queues->lists));
}

void hf__wait_queues_done(hf__wait_queues *queues)
{
    pthread_mutex_destroy(&queues->mutex);
}

/* FNV-1a (Fowler, Noll, Vo), 32 bits. */
static hf__wait_queue **list_of(hf__wait_queues *queues, const char *name,
                                size_t size)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return &queues->lists[hash % HF__WAIT_QUEUE_LISTS];
}

static hf__wait_queue *queue_new(hf__wait_queue **list, hf_bytes name,
                                 uint32_t priority)
{
    hf__wait_queue *queue = hf__alloc(sizeof(*queue) + name.size);

    if (queue == NULL)
        return NULL;
    hf__cond_init(&queue->left);
    hf__cond_init(&queue->passed);
    queue->users = queue->threads = 0;
    queue->entered = queue->threads_turn = false;
    queue->first = NULL;
    queue->end = &queue->first;
    queue->owner[0] = '\0';
    queue->handed.what = HF__HANDED_NOTHING;
    queue->holder = NULL;
    queue->offer = NULL;
    queue->passing = false;
    queue->priority = priority;
    queue->name_size = name.size;
    memcpy(queue->name, name.data, name.size);
    queue->next = *list;
    *list = queue;
    return queue;
}

static hf__wait_queue *find_locked(hf__wait_queues *queues, hf_bytes name,
                                   uint32_t priority)
{
    hf__wait_queue **list = list_of(queues, name.data, name.size);

    for (hf__wait_queue *queue = *list; queue != NULL; queue = queue->next) {
        if (queue->name_size == name.size && queue->priority == priority &&
            memcmp(queue->name, name.data, name.size) == 0)
            return queue;
    }
    return NULL;
}

static hf__wait_queue *queue_of_locked(hf__wait_queues *queues, hf_bytes name,
                                       uint32_t priority)
{
    hf__wait_queue *queue = find_locked(queues, name, priority);

    return queue != NULL ? queue
                         : queue_new(list_of(queues, name.data, name.size),
                                     name, priority);
}

static void unuse_locked(hf__wait_queues *queues, hf__wait_queue *queue)
{
    hf__wait_queue **at = list_of(queues, queue->name, queue->name_size);

    if (--queue->users > 0)
        return;
    while (*at != queue)
        at = &(*at)->next;
    *at = queue->next;
    pthread_cond_destroy(&queue->left);
    pthread_cond_destroy(&queue->passed);
    hf__free(queue);
}

/* The queue of `name`, with one more user. */
static hf__wait_queue *use_locked(hf__wait_queues *queues, hf_bytes name,
                                  uint32_t priority, hf_error *err)
{
    hf__wait_queue *queue = queue_of_locked(queues, name, priority);

    if (queue == NULL)
        hf__fail(err, HF_NO_MEMORY, "waiting for a lock");
    else
        queue->users++;
    return queue;
}

hf_status hf__wait_queue_enter(hf__wait_queues *queues, const hf_lock *lock,
                               hf_bytes name, hf__interrupt_mark mark,
                               int64_t until_ms, hf__wait_queue **queue,
                               hf_error *err)
{
    hf_status status = HF_OK;
    hf__wait_queue *found;

    pthread_mutex_lock(&queues->mutex);
    found = use_locked(queues, name, lock->options.priority, err);
    if (found == NULL) {
        pthread_mutex_unlock(&queues->mutex);
        return HF_NO_MEMORY;
    }
    found->threads++;
    while (found->entered && status == HF_OK) {
        if (hf__interrupted(lock, mark))
            status = hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        else if (hf__clock_boot_ms() >= until_ms)
            status = hf__fail(err, HF_TIMEOUT,
                              "timed out queueing behind other threads");
        else
            hf__cond_wait_until(&found->left, &queues->mutex, until_ms);
    }
    found->threads--;
    if (status == HF_OK) {
        found->entered = true;
        *queue = found;
    } else {
        unuse_locked(queues, found);
    }
    pthread_mutex_unlock(&queues->mutex);
    return status;
}

void hf__wait_queues_wake(hf__wait_queues *queues, hf_bytes name)
{
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    for (uint32_t level = 0; level <= HF_LOCK_PRIORITY_MAX; level++) {
        queue = find_locked(queues, name, level);
        if (queue == NULL)
            continue;
        pthread_cond_broadcast(&queue->left);
        pthread_cond_signal(&queue->passed);
    }
    pthread_mutex_unlock(&queues->mutex);
}

static void append_locked(hf__wait_queue *queue, hf__wait_place *place)
{
    place->waiting = true;
    place->next = NULL;
    place->at = queue->end;
    *queue->end = place;
    queue->end = &place->next;
}

static void remove_locked(hf__wait_place *place)
{
    *place->at = place->next;
    if (place->next != NULL)
        place->next->at = place->at;
    else
        place->queue->end = place->at;
    place->waiting = false;
}

hf_status hf__wait_queue_join(hf__wait_queues *queues, hf_bytes name,
                              uint32_t priority, hf__wait_place *place,
                              hf_error *err)
{
    hf_status status = HF_OK;
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    queue = use_locked(queues, name, priority, err);
    place->queue = queue;
    place->waiting = false;
    if (queue == NULL) {
        status = HF_NO_MEMORY;
    } else if (!queue->entered) {
        queue->entered = true;
    } else {
        status = HF_HELD;
        append_locked(queue, place);
    }
    pthread_mutex_unlock(&queues->mutex);
    return status;
}

hf_status hf__wait_queue_try(hf__wait_queues *queues, hf_bytes name,
                             uint32_t priority, hf__wait_place *place,
                             hf_error *err)
{
    hf_status status = HF_HELD;
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    queue = find_locked(queues, name, priority);
    if (queue == NULL || !queue->entered) {
        place->queue = queue = use_locked(queues, name, priority, err);
        place->waiting = false;
        status = queue == NULL ? HF_NO_MEMORY : HF_OK;
        if (queue != NULL)
            queue->entered = true;
    }
    pthread_mutex_unlock(&queues->mutex);
    return status;
}

bool hf__wait_queue_withdraw(hf__wait_queues *queues, hf__wait_place *place)
{
    bool waiting;

    pthread_mutex_lock(&queues->mutex);
    waiting = place->waiting;
    if (waiting) {
        remove_locked(place);
        unuse_locked(queues, place->queue);
    }
    pthread_mutex_unlock(&queues->mutex);
    return waiting;
}

/* The place that becomes the head; NULL: a thread may. */
static hf__wait_place *take_turn_locked(hf__wait_queue *queue)
{
    hf__wait_place *place = queue->first;

    if (queue->threads > 0 && (place == NULL || queue->threads_turn)) {
        queue->threads_turn = false;
        return NULL;
    }
    if (place != NULL) {
        remove_locked(place);
        queue->threads_turn = true;
    }
    return place;
}

void hf__wait_queue_expect(hf__wait_queues *queues, hf__wait_queue *queue,
                           const char owner[HF_OWNER_SIZE])
{
    pthread_mutex_lock(&queues->mutex);
    memcpy(queue->owner, owner, sizeof(queue->owner));
    queue->handed.what = HF__HANDED_NOTHING;
    pthread_mutex_unlock(&queues->mutex);
}

void hf__wait_queue_hand(hf__wait_queues *queues, hf_bytes name,
                         const hf__handed *handed)
{
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    for (uint32_t level = 0; level <= HF_LOCK_PRIORITY_MAX; level++) {
        queue = find_locked(queues, name, level);
        if (queue != NULL && queue->owner[0] != '\0' &&
            (handed->what == HF__HANDED_TURN
                 ? queue->handed.what == HF__HANDED_NOTHING
                 : strcmp(queue->owner, handed->owner) == 0))
            queue->handed = *handed;
    }
    pthread_mutex_unlock(&queues->mutex);
}

void hf__wait_queue_take(hf__wait_queues *queues, hf__wait_queue *queue,
                         hf__handed *handed)
{
    pthread_mutex_lock(&queues->mutex);
    *handed = queue->handed;
    queue->handed.what = HF__HANDED_NOTHING;
    pthread_mutex_unlock(&queues->mutex);
}

/* -------------------------------------------------- passing on in a client */

/* How long the head leaves it to the holder to queue it. */
#define PASS_WAIT_MS 1000

bool hf__wait_queue_await_pass(hf__wait_queues *queues, hf__wait_queue *queue,
                               const hf_lock *lock, hf__pass *pass)
{
    int64_t until_ms = hf__at_most(
        pass->until_ms, hf__clock_after(hf__clock_boot_ms(), PASS_WAIT_MS));

    pass->handed.what = HF__HANDED_NOTHING;
    pthread_mutex_lock(&queues->mutex);
    queue->offer = pass;
    while (queue->passing ||
           (queue->holder != NULL && !hf__interrupted(lock, pass->mark) &&
            hf__clock_boot_ms() < until_ms))
        hf__cond_wait_until(&queue->passed, &queues->mutex,
                            queue->passing ? INT64_MAX : until_ms);
    queue->offer = NULL;
    queue->holder = NULL;
    pthread_mutex_unlock(&queues->mutex);
    return pass->handed.what == HF__HANDED_GRANT;
}

static hf__wait_queue *held_locked(hf__wait_queues *queues,
                                   const hf_lock *holder)
{
    hf__wait_queue *queue =
        find_locked(queues, holder->keys.topic, holder->options.priority);

    return queue != NULL && queue->holder == holder ? queue : NULL;
}

char *hf__wait_queue_take_offer(hf__wait_queues *queues, const hf_lock *holder,
                                int64_t *entered_ms)
{
    char *entry = NULL;
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    queue = held_locked(queues, holder);
    if (queue != NULL && queue->offer != NULL)
        entry = hf__strdup(queue->offer->entry);
    if (entry != NULL) {
        *entered_ms = queue->offer->entered_ms;
        queue->offer->queued = queue->passing = true;
    } else if (queue != NULL) {
        queue->holder = NULL;
        pthread_cond_signal(&queue->passed);
    }
    pthread_mutex_unlock(&queues->mutex);
    return entry;
}

void hf__wait_queue_pass(hf__wait_queues *queues, const hf_lock *holder,
                         const hf__handed *handed, int64_t sent_ms)
{
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    queue = held_locked(queues, holder); /* its offer stays until now */
    if (handed != NULL) {
        queue->offer->handed = *handed;
        queue->offer->sent_ms = sent_ms;
        queue->offer->asked_ms = holder->asked_ms;
        queue->offer->clock_us = holder->clock_us;
    }
    queue->passing = false;
    queue->holder = NULL;
    pthread_cond_signal(&queue->passed);
    pthread_mutex_unlock(&queues->mutex);
}

void hf__wait_queue_leave(hf__wait_queues *queues, hf__wait_queue *queue,
                          const hf_lock *holder)
{
    hf__wait_place *place;

    pthread_mutex_lock(&queues->mutex);
    queue->owner[0] = '\0';
    queue->handed.what = HF__HANDED_NOTHING;
    queue->holder = queue->threads > 0 ? holder : NULL;
    place = take_turn_locked(queue);
    queue->entered = place != NULL;
    pthread_cond_signal(&queue->left);
    unuse_locked(queues, queue);
    pthread_mutex_unlock(&queues->mutex);
    if (place != NULL)
        place->entered(place);
}
