/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.c - see interrupt.h. */
#include "core/interrupt.h"

#include "core/client.h"
#include "util/cond.h"

void hf__interrupts_init(hf__interrupts *interrupts)
{
    atomic_init(&interrupts->count, 0);
    pthread_mutex_init(&interrupts->mutex, NULL);
    hf__cond_init(&interrupts->unpinned);
    interrupts->first = NULL;
    interrupts->rounds = 0;
}

void hf__interrupts_done(hf__interrupts *interrupts)
{
    pthread_cond_destroy(&interrupts->unpinned);
    pthread_mutex_destroy(&interrupts->mutex);
}

void hf__sleeper_add(hf__interrupts *interrupts, hf__sleeper *sleeper)
{
    if (sleeper->registered)
        return;
    sleeper->registered = true;
    pthread_mutex_lock(&interrupts->mutex);
    sleeper->round = interrupts->rounds - 1; /* which may be under way */
    sleeper->next = interrupts->first;
    sleeper->at = &interrupts->first;
    if (sleeper->next != NULL)
        sleeper->next->at = &sleeper->next;
    interrupts->first = sleeper;
    pthread_mutex_unlock(&interrupts->mutex);
}

void hf__sleeper_remove(hf__interrupts *interrupts, hf__sleeper *sleeper)
{
    if (!sleeper->registered)
        return;
    sleeper->registered = false;
    pthread_mutex_lock(&interrupts->mutex);
    while (sleeper->pins > 0)
        hf__cond_wait_until(&interrupts->unpinned, &interrupts->mutex,
                            INT64_MAX);
    *sleeper->at = sleeper->next;
    if (sleeper->next != NULL)
        sleeper->next->at = sleeper->at;
    pthread_mutex_unlock(&interrupts->mutex);
}

/* The next that neither this round has woken nor a later one; NULL: none. */
static hf__sleeper *next_locked(hf__interrupts *interrupts, const void *about,
                                unsigned round)
{
    hf__sleeper *sleeper = interrupts->first;

    while (sleeper != NULL && ((int)(sleeper->round - round) >= 0 ||
                               (about != NULL && sleeper->about != NULL &&
                                sleeper->about != about)))
        sleeper = sleeper->next;
    return sleeper;
}

void hf__interrupts_wake(hf__interrupts *interrupts, const void *about)
{
    hf__sleeper *sleeper;
    unsigned round;

    pthread_mutex_lock(&interrupts->mutex);
    round = ++interrupts->rounds;
    while ((sleeper = next_locked(interrupts, about, round)) != NULL) {
        sleeper->round = round;
        sleeper->pins++;
        pthread_mutex_unlock(&interrupts->mutex);
        sleeper->wake(sleeper);
        pthread_mutex_lock(&interrupts->mutex);
        if (--sleeper->pins == 0)
            pthread_cond_broadcast(&interrupts->unpinned);
    }
    pthread_mutex_unlock(&interrupts->mutex);
}

bool hf__client_interrupted(const hf_client *client, unsigned count)
{
    return hf__life_is_closing(&client->life) ||
           atomic_load(&client->interrupts.count) != count;
}

hf_status hf_client_interrupt(hf_client *client, hf_error *err)
{
    hf_status status = hf__client_enter(client, err);

    if (status != HF_OK)
        return status;
    atomic_fetch_add(&client->interrupts.count, 1);
    hf__interrupts_wake(&client->interrupts, NULL);
    hf__life_leave(&client->life);
    return HF_OK;
}
