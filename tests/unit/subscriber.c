/* SPDX-License-Identifier: Apache-2.0 */
/* subscriber.c - see subscriber.h. */
#include "subscriber.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "open_env.h"
#include "util/clock.h"
#include "util/container.h"

#define SOON_MS 20000

static void on_got(hf__message_reader *reader, const hf__message *message)
{
    subscriber *self = hf__container_of(reader, subscriber, reader);

    pthread_mutex_lock(&self->mutex);
    if (self->got != NULL)
        self->got(self, message->text);
    while (self->held)
        pthread_cond_wait(&self->changed, &self->mutex);
    self->received++;
    (void)snprintf(self->last, sizeof(self->last), "%.*s %.*s",
                   (int)message->channel.size,
                   (const char *)message->channel.data, (int)message->text.size,
                   (const char *)message->text.data);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void on_lost(hf__message_reader *reader)
{
    subscriber *self = hf__container_of(reader, subscriber, reader);

    pthread_mutex_lock(&self->mutex);
    self->losses++;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

/* ------------------------------------------------------------------- life */

typedef struct call {
    hf__task task;
    subscriber *self;
    void (*run)(subscriber *self);
} call;

static void run_call(hf__task *task)
{
    call *what = (call *)(void *)task;

    what->run(what->self);
}

void subscriber_call(subscriber *self, void (*run)(subscriber *self))
{
    call what = {{run_call, NULL}, self, run};

    hf__loop_call(self->loop, &what.task);
}

static void start(subscriber *self)
{
    assert_int_equal(hf__message_reader_start(
                         &self->reader, hf__clock_boot_ms() + SOON_MS, NULL),
                     HF_OK);
}

static void stop(subscriber *self)
{
    hf__message_reader_stop(&self->reader);
}

subscriber *subscriber_open(const char *url)
{
    subscriber *self = calloc(1, sizeof(*self));

    assert_non_null(self);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->env = open_env(url);
    self->loop = hf__loop_new();
    assert_int_equal(hf__loop_start(self->loop, NULL), HF_OK);
    self->inbox.env = self->env;
    self->inbox.loop = self->loop;
    assert_int_equal(
        hf__env_lock(self->env, hf__clock_boot_ms() + SOON_MS, NULL), HF_OK);
    assert_int_equal(hf__inbox_claim(&self->env->sidecar, &self->inbox.index,
                                     self->inbox.id, NULL),
                     HF_OK);
    hf__env_unlock(self->env);
    hf__message_reader_init(&self->reader, &self->inbox);
    self->reader.got = on_got;
    self->reader.lost = on_lost;
    subscriber_call(self, start);
    return self;
}

void subscriber_close(subscriber *self)
{
    subscriber_call(self, stop);
    hf__message_reader_done(&self->reader);
    hf__wake_inbox_close(&self->inbox);
    assert_int_equal(
        hf__env_lock(self->env, hf__clock_boot_ms() + SOON_MS, NULL), HF_OK);
    hf__inbox_release(&self->env->sidecar, self->inbox.index);
    hf__env_unlock(self->env);
    hf__loop_free(self->loop);
    hf__env_unref(self->env);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

/* ----------------------------------------------------------- subscriptions */

hf__subscribed subscriber_add(subscriber *self, hf__channel_kind kind,
                              hf_bytes name)
{
    hf__subscribed made;

    assert_int_equal(hf__message_reader_lock(
                         &self->reader, hf__clock_boot_ms() + SOON_MS, NULL),
                     HF_OK);
    made = hf__message_subscribe(&self->reader, kind, name);
    hf__message_reader_unlock(&self->reader);
    return made;
}

void subscriber_remove(subscriber *self, hf__channel_kind kind, hf_bytes name,
                       hf__subscribed subscribed)
{
    assert_int_equal(hf__message_reader_lock(
                         &self->reader, hf__clock_boot_ms() + SOON_MS, NULL),
                     HF_OK);
    hf__message_unsubscribe(&self->reader, kind, name, subscribed);
    hf__message_reader_unlock(&self->reader);
}

void subscriber_on_text(subscriber *self,
                        void (*got)(subscriber *self, hf_bytes text))
{
    pthread_mutex_lock(&self->mutex);
    self->got = got;
    pthread_mutex_unlock(&self->mutex);
}

long subscriber_number(hf_bytes text)
{
    char copy[32];

    (void)snprintf(copy, sizeof(copy), "%.*s", (int)text.size,
                   (const char *)text.data);
    return strtol(copy, NULL, 10);
}

/* ---------------------------------------------------------------- waiting */

/* false: for too long. */
static bool wait_for_more(subscriber *self)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SOON_MS / 1000;
    return pthread_cond_timedwait(&self->changed, &self->mutex, &until) == 0;
}

size_t subscriber_received(subscriber *self)
{
    size_t received;

    pthread_mutex_lock(&self->mutex);
    received = self->received;
    pthread_mutex_unlock(&self->mutex);
    return received;
}

void subscriber_expect(subscriber *self, size_t received, size_t losses)
{
    size_t now_received, now_losses;

    pthread_mutex_lock(&self->mutex);
    while ((self->received < received || self->losses < losses) &&
           wait_for_more(self))
        continue;
    now_received = self->received;
    now_losses = self->losses;
    pthread_mutex_unlock(&self->mutex);
    if (now_received != received || now_losses != losses)
        fail_msg("%zu received, %zu losses", now_received, now_losses);
}

void subscriber_expect_loss(subscriber *self)
{
    bool lost;

    pthread_mutex_lock(&self->mutex);
    while (self->losses == 0 && wait_for_more(self))
        continue;
    lost = self->losses > 0;
    pthread_mutex_unlock(&self->mutex);
    assert_true(lost);
}

void subscriber_expect_last(subscriber *self, const char *last)
{
    bool found;

    pthread_mutex_lock(&self->mutex);
    while (strcmp(self->last, last) != 0 && wait_for_more(self))
        continue;
    found = strcmp(self->last, last) == 0;
    pthread_mutex_unlock(&self->mutex);
    if (!found)
        fail_msg("%s was not received", last);
}

void subscriber_hold(subscriber *self, bool held)
{
    pthread_mutex_lock(&self->mutex);
    self->held = held;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}
