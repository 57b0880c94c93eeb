/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - one waiter at the store for each lock and client.
 *
 * A gate lives while a thread stands in it or before it.
 */
#include "lease/queue.h"

#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"

struct hf__gate {
    hf__gate *next;
    size_t users; /* inside and before it */
    bool entered;
    pthread_cond_t left;
    size_t threads;        /* before it */
    hf__gate_place *first; /* places before it, oldest first */
    hf__gate_place **end;
    bool threads_turn; /* threads and places take turns */
    size_t name_size;
    char name[];
};

void hf__gates_init(hf__gates *gates)
{
    pthread_mutex_init(&gates->mutex, NULL);
    memset(gates->lists, 0, sizeof(gates->lists));
}

void hf__gates_done(hf__gates *gates)
{
    pthread_mutex_destroy(&gates->mutex);
}

/* FNV-1a (Fowler, Noll, Vo), 32 bits. */
static hf__gate **list_of(hf__gates *gates, const char *name, size_t size)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return &gates->lists[hash % HF__GATE_LISTS];
}

static hf__gate *gate_new(hf__gate **list, hf_bytes name)
{
    hf__gate *gate = hf__alloc(sizeof(*gate) + name.size);

    if (gate == NULL)
        return NULL;
    hf__cond_init(&gate->left);
    gate->users = gate->threads = 0;
    gate->entered = gate->threads_turn = false;
    gate->first = NULL;
    gate->end = &gate->first;
    gate->name_size = name.size;
    memcpy(gate->name, name.data, name.size);
    gate->next = *list;
    *list = gate;
    return gate;
}

static hf__gate *find_locked(hf__gates *gates, hf_bytes name)
{
    hf__gate **list = list_of(gates, name.data, name.size);

    for (hf__gate *gate = *list; gate != NULL; gate = gate->next) {
        if (gate->name_size == name.size &&
            memcmp(gate->name, name.data, name.size) == 0)
            return gate;
    }
    return NULL;
}

static hf__gate *gate_of_locked(hf__gates *gates, hf_bytes name)
{
    hf__gate *gate = find_locked(gates, name);

    return gate != NULL ? gate
                        : gate_new(list_of(gates, name.data, name.size), name);
}

static void gate_unuse_locked(hf__gates *gates, hf__gate *gate)
{
    hf__gate **at = list_of(gates, gate->name, gate->name_size);

    if (--gate->users > 0)
        return;
    while (*at != gate)
        at = &(*at)->next;
    *at = gate->next;
    pthread_cond_destroy(&gate->left);
    hf__free(gate);
}

/* Use the gate of `name`, one more user of it. */
static hf__gate *use_locked(hf__gates *gates, hf_bytes name, hf_error *err)
{
    hf__gate *gate = gate_of_locked(gates, name);

    if (gate == NULL)
        hf__fail(err, HF_NO_MEMORY, "waiting for a lock");
    else
        gate->users++;
    return gate;
}

hf_status hf__gate_enter(hf__gates *gates, const hf_lock *lock, hf_bytes name,
                         hf__interrupt_mark mark, int64_t until_ms,
                         hf__gate **gate, hf_error *err)
{
    hf_status status = HF_OK;
    hf__gate *found;

    pthread_mutex_lock(&gates->mutex);
    found = use_locked(gates, name, err);
    if (found == NULL) {
        pthread_mutex_unlock(&gates->mutex);
        return HF_NO_MEMORY;
    }
    found->threads++;
    while (found->entered && status == HF_OK) {
        if (hf__interrupted(lock, mark))
            status = hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        else if (hf__clock_boot_ms() >= until_ms)
            status = hf__fail(err, HF_TIMEOUT,
                              "other threads waited for the lock before us");
        else
            hf__cond_wait_until(&found->left, &gates->mutex, until_ms);
    }
    found->threads--;
    if (status == HF_OK) {
        found->entered = true;
        *gate = found;
    } else {
        gate_unuse_locked(gates, found);
    }
    pthread_mutex_unlock(&gates->mutex);
    return status;
}

void hf__gates_wake(hf__gates *gates, hf_bytes name)
{
    hf__gate *gate;

    pthread_mutex_lock(&gates->mutex);
    gate = find_locked(gates, name);
    if (gate != NULL)
        pthread_cond_broadcast(&gate->left);
    pthread_mutex_unlock(&gates->mutex);
}

static void append_locked(hf__gate *gate, hf__gate_place *place)
{
    place->waiting = true;
    place->next = NULL;
    place->at = gate->end;
    *gate->end = place;
    gate->end = &place->next;
}

static void remove_locked(hf__gate_place *place)
{
    *place->at = place->next;
    if (place->next != NULL)
        place->next->at = place->at;
    else
        place->gate->end = place->at;
    place->waiting = false;
}

hf_status hf__gate_queue(hf__gates *gates, hf_bytes name, hf__gate_place *place,
                         hf_error *err)
{
    hf_status status = HF_OK;
    hf__gate *gate;

    pthread_mutex_lock(&gates->mutex);
    gate = use_locked(gates, name, err);
    place->gate = gate;
    place->waiting = false;
    if (gate == NULL) {
        status = HF_NO_MEMORY;
    } else if (!gate->entered) {
        gate->entered = true;
    } else {
        status = HF_HELD;
        append_locked(gate, place);
    }
    pthread_mutex_unlock(&gates->mutex);
    return status;
}

bool hf__gate_withdraw(hf__gates *gates, hf__gate_place *place)
{
    bool waiting;

    pthread_mutex_lock(&gates->mutex);
    waiting = place->waiting;
    if (waiting) {
        remove_locked(place);
        gate_unuse_locked(gates, place->gate);
    }
    pthread_mutex_unlock(&gates->mutex);
    return waiting;
}

/* The place that enters instead of the one that leaves; NULL: a thread may. */
static hf__gate_place *take_turn_locked(hf__gate *gate)
{
    hf__gate_place *place = gate->first;

    if (gate->threads > 0 && (place == NULL || gate->threads_turn)) {
        gate->threads_turn = false;
        return NULL;
    }
    if (place != NULL) {
        remove_locked(place);
        gate->threads_turn = true;
    }
    return place;
}

void hf__gate_leave(hf__gates *gates, hf__gate *gate)
{
    hf__gate_place *place;

    pthread_mutex_lock(&gates->mutex);
    place = take_turn_locked(gate);
    gate->entered = place != NULL;
    pthread_cond_signal(&gate->left);
    gate_unuse_locked(gates, gate);
    pthread_mutex_unlock(&gates->mutex);
    if (place != NULL)
        place->entered(place);
}
