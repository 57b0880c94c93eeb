/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - see queue.h. A queue exists while it has a head.
 */
#include "lease/queue.h"

#include "lease/handle.h"
#include "util/error.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/order.h"

struct hf__wait_queue {
    hf__wait_queue *next;
    hf__wait_place *awaiting; /* the head, a pass; NULL: it does not */
    hf__wait_place *first;    /* waiting, oldest first */
    hf__wait_place **end;
    char owner[HF_OWNER_SIZE]; /* of the head; "": it does not wait */
    hf__handed handed;
    const hf_lock *holder; /* that the head may wait for; NULL: none */
    hf__pass *offer;       /* of the head; NULL: none */
    bool passing;          /* a release has taken it */
    int64_t asked_ms; /* the store's clock showed clock_us then; 0: unknown */
    int64_t clock_us;
    uint32_t priority;
    uint64_t latest; /* arrival of those that joined */
    size_t name_size;
    char name[];
};

void hf__wait_queues_init(hf__wait_queues *queues)
{
    pthread_mutex_init(&queues->mutex, NULL);
    atomic_init(&queues->count, 0);
    atomic_init(&queues->arrivals, 0);
    memset(queues->lists, 0, sizeof(queues->lists));
}

void hf__wait_queues_done(hf__wait_queues *queues)
{
    pthread_mutex_destroy(&queues->mutex);
}

static hf__wait_queue **list_of(hf__wait_queues *queues, hf_bytes name)
{
    return &queues->lists[hf__hash(name, 0) % HF__WAIT_QUEUE_LISTS];
}

static hf__wait_queue *queue_new(hf__wait_queue **list, hf_bytes name,
                                 uint32_t priority)
{
    hf__wait_queue *queue = hf__alloc(sizeof(*queue) + name.size);

    if (queue == NULL)
        return NULL;
    queue->awaiting = NULL;
    queue->first = NULL;
    queue->end = &queue->first;
    queue->owner[0] = '\0';
    queue->handed.what = HF__HANDED_NOTHING;
    queue->holder = NULL;
    queue->offer = NULL;
    queue->passing = false;
    queue->asked_ms = queue->clock_us = 0;
    queue->priority = priority;
    queue->latest = 0;
    queue->name_size = name.size;
    memcpy(queue->name, name.data, name.size);
    queue->next = *list;
    *list = queue;
    return queue;
}

/* From `queue` on in its list, the next one of the name; NULL: none. */
static hf__wait_queue *same_name(hf__wait_queue *queue, hf_bytes name)
{
    while (queue != NULL && (queue->name_size != name.size ||
                             memcmp(queue->name, name.data, name.size) != 0))
        queue = queue->next;
    return queue;
}

/* Each queue of a name, of whatever priority. */
#define EACH_LOCKED(queue, queues, name)                                       \
    (hf__wait_queue *queue = same_name(*list_of(queues, name), name);          \
     queue != NULL; queue = same_name(queue->next, name))

static hf__wait_queue *find_locked(hf__wait_queues *queues, hf_bytes name,
                                   uint32_t priority)
{
    for
        EACH_LOCKED(queue, queues, name)
        {
            if (queue->priority == priority)
                return queue;
        }
    return NULL;
}

static void drop_locked(hf__wait_queues *queues, hf__wait_queue *queue)
{
    hf__wait_queue **at =
        list_of(queues, hf_view(queue->name, queue->name_size));

    while (*at != queue)
        at = &(*at)->next;
    *at = queue->next;
    hf__free(queue);
    atomic_fetch_sub(&queues->count, 1);
}

/* By arrival: a call whose first try at the store is answered late joins when
 * later ones have. Nearly all come behind the last. */
static void insert_locked(hf__wait_queue *queue, hf__wait_place *place)
{
    hf__wait_place **at = queue->end;

    if (place->arrival < queue->latest) {
        at = &queue->first;
        while (*at != NULL && (*at)->arrival < place->arrival)
            at = &(*at)->next;
    } else {
        queue->latest = place->arrival;
    }
    place->waiting = true;
    place->next = *at;
    place->at = at;
    *at = place;
    if (place->next != NULL)
        place->next->at = &place->next;
    else
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

static hf_status lead_locked(hf__wait_queues *queues, hf_bytes name,
                             uint32_t priority, hf__wait_place *place,
                             hf_error *err)
{
    place->waiting = false;
    place->queue = queue_new(list_of(queues, name), name, priority);
    if (place->queue == NULL)
        return hf__fail(err, HF_NO_MEMORY, "waiting for a lock");
    atomic_fetch_add(&queues->count, 1);
    return HF_OK;
}

static hf_status join_locked(hf__wait_queues *queues, hf_bytes name,
                             uint32_t priority, hf__wait_place *place,
                             hf_error *err)
{
    place->queue = find_locked(queues, name, priority);
    if (place->queue == NULL)
        return lead_locked(queues, name, priority, place, err);
    insert_locked(place->queue, place);
    return HF_HELD;
}

uint64_t hf__wait_queue_arrive(hf__wait_queues *queues)
{
    return atomic_fetch_add_explicit(&queues->arrivals, 1,
                                     memory_order_relaxed);
}

hf_status hf__wait_queue_join(hf__wait_queues *queues, hf_bytes name,
                              uint32_t priority, hf__wait_place *place,
                              hf_error *err)
{
    hf_status status;

    pthread_mutex_lock(&queues->mutex);
    status = join_locked(queues, name, priority, place, err);
    pthread_mutex_unlock(&queues->mutex);
    return status;
}

hf_status hf__wait_queue_try(hf__wait_queues *queues, hf_bytes name,
                             uint32_t priority, hf__wait_place *place,
                             hf_error *err)
{
    hf_status status = HF_HELD;

    pthread_mutex_lock(&queues->mutex);
    if (find_locked(queues, name, priority) == NULL)
        status = lead_locked(queues, name, priority, place, err);
    pthread_mutex_unlock(&queues->mutex);
    return status;
}

bool hf__wait_queue_exists(hf__wait_queues *queues, hf_bytes name,
                           uint32_t priority)
{
    bool exists;

    if (atomic_load_explicit(&queues->count, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&queues->mutex);
    exists = find_locked(queues, name, priority) != NULL;
    pthread_mutex_unlock(&queues->mutex);
    return exists;
}

bool hf__wait_queue_withdraw(hf__wait_queues *queues, hf__wait_place *place)
{
    bool waiting;

    pthread_mutex_lock(&queues->mutex);
    waiting = place->waiting;
    if (waiting)
        remove_locked(place);
    pthread_mutex_unlock(&queues->mutex);
    return waiting;
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
    pthread_mutex_lock(&queues->mutex);
    for
        EACH_LOCKED(queue, queues, name)
        {
            if (queue->owner[0] != '\0' &&
                (handed->what != HF__HANDED_GRANT
                     ? queue->handed.what == HF__HANDED_NOTHING
                     : strcmp(queue->owner, handed->owner) == 0))
                queue->handed = *handed;
        }
    pthread_mutex_unlock(&queues->mutex);
}

bool hf__wait_queue_outranked(hf__wait_queues *queues, const hf_lock *lock)
{
    bool found = false;

    pthread_mutex_lock(&queues->mutex);
    for
        EACH_LOCKED(queue, queues, lock->keys.topic)
    found |=
        queue->priority > lock->options.priority && queue->owner[0] != '\0';
    pthread_mutex_unlock(&queues->mutex);
    return found;
}

void hf__wait_queue_note_clock(hf__wait_queues *queues, hf__wait_queue *queue,
                               int64_t asked_ms, int64_t clock_us)
{
    pthread_mutex_lock(&queues->mutex);
    /* The longer the request took to the store, the more the clock seems to be
     * ahead. */
    if (queue->clock_us == 0 ||
        clock_us - queue->clock_us < (asked_ms - queue->asked_ms) * 1000) {
        queue->asked_ms = asked_ms;
        queue->clock_us = clock_us;
    }
    pthread_mutex_unlock(&queues->mutex);
}

int64_t hf__wait_queue_clock(hf__wait_queues *queues, hf__wait_queue *queue,
                             int64_t at_ms)
{
    int64_t clock_us;

    pthread_mutex_lock(&queues->mutex);
    clock_us = queue->clock_us;
    if (clock_us != 0)
        clock_us += (at_ms - queue->asked_ms) * 1000;
    pthread_mutex_unlock(&queues->mutex);
    return hf__at_least(clock_us, 0);
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

static void end_offer_locked(hf__wait_queue *queue)
{
    queue->holder = NULL;
    queue->offer = NULL;
}

bool hf__wait_queue_await_pass(hf__wait_queues *queues, hf__wait_place *place)
{
    hf__wait_queue *queue = place->queue;
    bool awaits;

    pthread_mutex_lock(&queues->mutex);
    awaits = queue->holder != NULL;
    queue->awaiting = awaits ? place : NULL;
    if (!awaits)
        end_offer_locked(queue);
    pthread_mutex_unlock(&queues->mutex);
    return !awaits;
}

bool hf__wait_queue_stop_pass(hf__wait_queues *queues, hf__wait_place *place,
                              bool awaits)
{
    hf__wait_queue *queue = place->queue;
    bool stopped;

    pthread_mutex_lock(&queues->mutex);
    stopped = !queue->passing && (queue->awaiting != NULL || !awaits);
    if (stopped)
        end_offer_locked(queue);
    if (stopped || queue->passing)
        queue->awaiting = stopped ? NULL : place;
    pthread_mutex_unlock(&queues->mutex);
    return stopped;
}

/* It awaits nothing any more: the place to be entered; NULL: none. */
static hf__wait_place *end_await_locked(hf__wait_queue *queue)
{
    hf__wait_place *place = queue->awaiting;

    end_offer_locked(queue);
    queue->awaiting = NULL;
    return place;
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
    hf__wait_place *place = NULL;
    char *entry = NULL;
    hf__wait_queue *queue;

    /* A queue that has this holder is there since its acquire. */
    if (atomic_load(&queues->count) == 0)
        return NULL;
    pthread_mutex_lock(&queues->mutex);
    queue = held_locked(queues, holder);
    if (queue != NULL && queue->offer != NULL)
        entry = hf__strdup(queue->offer->entry);
    if (entry != NULL) {
        *entered_ms = queue->offer->entered_ms;
        queue->offer->queued = queue->passing = true;
    } else if (queue != NULL) {
        place = end_await_locked(queue);
    }
    pthread_mutex_unlock(&queues->mutex);
    if (place != NULL)
        place->entered(place);
    return entry;
}

void hf__wait_queue_pass(hf__wait_queues *queues, const hf_lock *holder,
                         const hf__handed *handed, int64_t sent_ms,
                         int64_t rest_ms)
{
    hf__wait_place *place;
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    queue = held_locked(queues, holder); /* its offer stays until now */
    queue->offer->rest_ms = rest_ms;
    if (handed != NULL) {
        queue->offer->handed = *handed;
        queue->offer->sent_ms = sent_ms;
        queue->offer->asked_ms = holder->asked_ms;
        queue->offer->clock_us = holder->clock_us;
    }
    queue->passing = false;
    place = end_await_locked(queue);
    pthread_mutex_unlock(&queues->mutex);
    if (place != NULL)
        place->entered(place);
}

void hf__wait_queue_end_pass(hf__wait_queues *queues, const hf_lock *holder)
{
    hf__wait_place *place = NULL;
    hf__wait_queue *queue;

    pthread_mutex_lock(&queues->mutex);
    queue = held_locked(queues, holder);
    if (queue != NULL && !queue->passing)
        place = end_await_locked(queue);
    pthread_mutex_unlock(&queues->mutex);
    if (place != NULL)
        place->entered(place);
}

void hf__wait_queue_leave(hf__wait_queues *queues, hf__wait_queue *queue,
                          const hf_lock *holder)
{
    hf__wait_place *place;
    bool offers;

    pthread_mutex_lock(&queues->mutex);
    queue->owner[0] = '\0';
    queue->handed.what = HF__HANDED_NOTHING;
    place = queue->first;
    offers = place != NULL && place->pass != NULL;
    queue->holder = offers ? holder : NULL;
    queue->offer = offers ? place->pass : NULL;
    if (place == NULL)
        drop_locked(queues, queue);
    else
        remove_locked(place);
    pthread_mutex_unlock(&queues->mutex);
    if (place != NULL)
        place->entered(place);
}
