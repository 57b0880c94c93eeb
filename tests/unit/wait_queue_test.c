/* SPDX-License-Identifier: Apache-2.0 */
/* wait_queue_test.c - the order in which calls of one client lead the queue. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lease/handle.h"
#include "lease/queue.h"
#include "support/test.h"

#define THREADS 5
#define AT_ONCE 2 /* of them before a place that is no thread's */

static hf__wait_queues queues;
static hf_client client;
static hf_lock lock = {.client = &client, .keys.topic = {"name", 4}};
static char order[THREADS + 2];

typedef struct waiter {
    pthread_t thread;
    _Atomic pid_t tid;
    char name;
} waiter;

static void lead(hf__wait_queue *queue, char name)
{
    order[strlen(order)] = name;
    hf__wait_queue_leave(&queues, queue, NULL);
}

static void *enter(void *user)
{
    waiter *self = user;
    hf__wait_queue *queue = NULL;

    self->tid = gettid();
    if (hf__wait_queue_enter(&queues, &lock, hf__interrupt_mark_of(&lock),
                             INT64_MAX, NULL, &queue, NULL) == HF_OK)
        lead(queue, self->name);
    return NULL;
}

static bool sleeps(const waiter *self)
{
    char path[64], line[256] = "";
    const char *state;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
                   (int)self->tid);
    file = self->tid != 0 ? fopen(path, "r") : NULL;
    if (file == NULL)
        return false;
    (void)!fgets(line, sizeof(line), file);
    (void)fclose(file);
    state = strrchr(line, ')');
    return state != NULL && state[2] == 'S';
}

static void start(waiter *self, char name)
{
    self->tid = 0;
    self->name = name;
    assert_int_equal(pthread_create(&self->thread, NULL, enter, self), 0);
    while (!sleeps(self))
        usleep(1000);
}

static void entered(hf__wait_place *place)
{
    lead(place->queue, '+');
}

TEST(wait_queue_is_led_in_the_order_of_arrival)
{
    hf__wait_place place = {.entered = entered}, head;
    waiter waiters[THREADS];

    hf__wait_queues_init(&queues);
    assert_int_equal(
        hf__wait_queue_join(&queues, hf_str("name"), 0, &head, NULL), HF_OK);
    for (int i = 0; i < THREADS; i++) {
        if (i == AT_ONCE)
            assert_int_equal(
                hf__wait_queue_join(&queues, hf_str("name"), 0, &place, NULL),
                HF_HELD);
        start(&waiters[i], (char)('1' + i));
    }
    hf__wait_queue_leave(&queues, head.queue, NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(waiters[i].thread, NULL), 0);
    assert_string_equal(order, "12+345");
    hf__wait_queues_done(&queues);
}

/* A request that took 300 ms makes the clock look as much ahead. */
TEST(delay_does_not_move_the_clock)
{
    hf__wait_place head = {0};

    hf__wait_queues_init(&queues);
    assert_int_equal(
        hf__wait_queue_join(&queues, hf_str("name"), 0, &head, NULL), HF_OK);
    assert_int_equal(hf__wait_queue_clock(&queues, head.queue, 1000), 0);
    hf__wait_queue_note_clock(&queues, head.queue, 1000, 7300000);
    hf__wait_queue_note_clock(&queues, head.queue, 1500, 7501000);
    hf__wait_queue_note_clock(&queues, head.queue, 2000, 8200000);
    assert_int_equal(hf__wait_queue_clock(&queues, head.queue, 1200), 7201000);
    hf__wait_queue_leave(&queues, head.queue, NULL);
    hf__wait_queues_done(&queues);
}
