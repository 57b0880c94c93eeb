/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.c - see repeat.h. */
#include "core/repeat.h"

#include "core/background.h"
#include "util/clock.h"

void hf__repeats_init(hf__repeats *repeats, hf_client *client)
{
    repeats->client = client;
    repeats->alarm = NULL;
    repeats->armed_ms = INT64_MAX;
    repeats->closed = false;
    hf__heap_init(&repeats->heap);
    pthread_mutex_init(&repeats->mutex, NULL);
}

void hf__repeats_close(hf__repeats *repeats, bool forked)
{
    hf__heap_node *node;

    if (!forked)
        pthread_mutex_lock(&repeats->mutex);
    repeats->closed = true;
    while ((node = hf__heap_first(&repeats->heap)) != NULL)
        hf__heap_remove(&repeats->heap, node);
    hf__heap_done(&repeats->heap);
    if (!forked)
        pthread_mutex_unlock(&repeats->mutex);
    hf__alarm_free(repeats->alarm);
}

/* A ring that comes too early does no harm, and is cheaper than another one
 * for each that begins. */
static void arm_locked(hf__repeats *repeats)
{
    const hf__heap_node *first = hf__heap_first(&repeats->heap);

    if (first == NULL || first->at_ms >= repeats->armed_ms)
        return;
    repeats->armed_ms = first->at_ms;
    hf__alarm_set(repeats->alarm, first->at_ms);
}

/* The next request that is due; false: there is none. */
static bool take_due(hf__repeats *repeats, int64_t now_ms, hf__request **copy)
{
    hf__heap_node *node;
    hf__request request;
    bool due;

    pthread_mutex_lock(&repeats->mutex);
    node = hf__heap_first(&repeats->heap);
    due = node != NULL && node->at_ms <= now_ms;
    if (due) {
        hf__repeat *self = (hf__repeat *)node;

        self->fill(self, &request);
        *copy = hf__background_copy(&request, self->time_ms);
        hf__heap_put(&repeats->heap, node, now_ms + self->every_ms);
    } else {
        repeats->armed_ms = INT64_MAX;
        arm_locked(repeats);
    }
    pthread_mutex_unlock(&repeats->mutex);
    return due;
}

static void ring_repeat(void *user)
{
    hf__repeats *repeats = user;
    int64_t now_ms = hf__clock_boot_ms();
    hf__request *copy;

    while (take_due(repeats, now_ms, &copy))
        hf__background_send(repeats->client, copy);
}

void hf__repeat_begin(hf__repeats *repeats, hf__repeat *self)
{
    hf__loop *loop = repeats->client->loop;
    bool begins;

    hf__heap_node_init(&self->node);
    pthread_mutex_lock(&repeats->mutex);
    begins = !repeats->closed && hf__loop_start(loop, NULL) == HF_OK &&
             (repeats->alarm != NULL ||
              hf__alarm_new(loop, ring_repeat, repeats, &repeats->alarm,
                            NULL) == HF_OK) &&
             hf__heap_reserve(&repeats->heap, repeats->heap.count + 1);
    if (begins) {
        hf__heap_put(&repeats->heap, &self->node,
                     hf__clock_after(hf__clock_boot_ms(), self->every_ms));
        arm_locked(repeats);
    }
    pthread_mutex_unlock(&repeats->mutex);
}

void hf__repeat_end(hf__repeats *repeats, hf__repeat *self)
{
    pthread_mutex_lock(&repeats->mutex);
    hf__heap_remove(&repeats->heap, &self->node);
    pthread_mutex_unlock(&repeats->mutex);
}
