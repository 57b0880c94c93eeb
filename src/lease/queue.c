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

struct hf__wait_queue {
    hf__wait_queue *next;
    size_t users; /* at the head and waiting */
    bool entered;
    pthread_cond_t left;
    size_t threads;        /* waiting */
    hf__wait_place *first; /* waiting, oldest first */
    hf__wait_place **end;
    bool threads_turn;         /* threads and places take turns */
    char owner[HF_OWNER_SIZE]; /* of the head; "": it does not wait */
    hf__handed handed;
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
    queue->users = queue->threads = 0;
    queue->entered = queue->threads_turn = false;
    queue->first = NULL;
    queue->end = &queue->first;
    queue->owner[0] = '\0';
    queue->handed.what = HF__HANDED_NOTHING;
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
    for (uint32_t class = 0; class <= HF_LOCK_PRIORITY_MAX; class ++) {
        queue = find_locked(queues, name, class);
        if (queue != NULL)
            pthread_cond_broadcast(&queue->left);
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
    for (uint32_t class = 0; class <= HF_LOCK_PRIORITY_MAX; class ++) {
        queue = find_locked(queues, name, class);
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

void hf__wait_queue_leave(hf__wait_queues *queues, hf__wait_queue *queue)
{
    hf__wait_place *place;

    pthread_mutex_lock(&queues->mutex);
    queue->owner[0] = '\0';
    queue->handed.what = HF__HANDED_NOTHING;
    place = take_turn_locked(queue);
    queue->entered = place != NULL;
    pthread_cond_signal(&queue->left);
    unuse_locked(queues, queue);
    pthread_mutex_unlock(&queues->mutex);
    if (place != NULL)
        place->entered(place);
}
