/* SPDX-License-Identifier: Apache-2.0 */
/* store_reader.c - see store_reader.h. */
#include "http/store_reader.h"

#include <stdlib.h>

#include "complain.h"
#include "lease_clock.h"

/* How often facts are read. */
#define FACTS_MS 10000

struct http_reader {
    hf_client *client;
    struct http_thread *asks;
    atomic_bool stop;
    struct http_thread thread;
    struct http_store store; /* guarded by its mutex, as all below */
    bool asked;
    bool changed;     /* since the sample that is being taken has begun */
    bool reads;       /* one is being taken */
    int64_t next_ms;  /* not before the next one begins; of now_ms() */
    int64_t facts_ms; /* when facts are due */
};

static void read_facts_locked(struct http_reader *reader)
{
    struct store_facts facts;

    pthread_mutex_unlock(&reader->thread.mutex);
    (void)store_facts_read(&facts, reader->client);
    pthread_mutex_lock(&reader->thread.mutex);
    reader->store.facts = facts;
    reader->facts_ms = now_ms() + FACTS_MS;
}

static void take_sample_locked(struct http_reader *reader)
{
    const struct lock_sample *previous = reader->store.sample;
    struct lock_sample *sample = NULL;
    hf_error err = HF_ERROR_INIT;
    int64_t began_ms = now_ms();
    hf_status status;

    reader->asked = reader->changed = false;
    reader->reads = true;
    read_facts_locked(reader);
    pthread_mutex_unlock(&reader->thread.mutex);
    status = lock_sample_take(reader->client, hf_view("", 0), previous,
                              &reader->stop, &sample, &err);
    pthread_mutex_lock(&reader->thread.mutex);
    reader->reads = false;
    if (!reader->changed)
        reader->next_ms = now_ms() + 9 * (now_ms() - began_ms);
    reader->store.failed = status != HF_OK;
    reader->store.err = err;
    if (status == HF_OK) {
        reader->store.sample = sample;
        lock_sample_free((struct lock_sample *)previous);
    }
    pthread_mutex_unlock(&reader->thread.mutex);
    http_thread_wake(reader->asks);
    pthread_mutex_lock(&reader->thread.mutex);
}

static void *run_reader(void *user)
{
    struct http_reader *reader = user;

    pthread_mutex_lock(&reader->thread.mutex);
    while (!reader->thread.stops) {
        int64_t at_ms = now_ms();

        if (reader->asked && reader->next_ms <= at_ms)
            take_sample_locked(reader);
        else if (reader->facts_ms <= at_ms)
            read_facts_locked(reader);
        else
            http_thread_sleep_locked(
                &reader->thread,
                (reader->asked && reader->next_ms < reader->facts_ms
                     ? reader->next_ms
                     : reader->facts_ms) -
                    at_ms);
    }
    pthread_mutex_unlock(&reader->thread.mutex);
    return NULL;
}

struct http_reader *http_reader_start(hf_client *client,
                                      struct http_thread *asks)
{
    struct http_reader *reader = calloc(1, sizeof(*reader));

    if (reader == NULL) {
        complain("serve --http", "out of memory");
        return NULL;
    }
    reader->client = client;
    reader->asks = asks;
    (void)store_facts_read(&reader->store.facts, client);
    reader->facts_ms = now_ms() + FACTS_MS;
    if (http_thread_start(&reader->thread, run_reader, reader))
        return reader;
    free(reader);
    return NULL;
}

void http_reader_ask(struct http_reader *reader, bool changed)
{
    pthread_mutex_lock(&reader->thread.mutex);
    reader->asked = true;
    if (changed) {
        reader->changed = true;
        reader->next_ms = 0;
    }
    pthread_cond_signal(&reader->thread.wake);
    pthread_mutex_unlock(&reader->thread.mutex);
}

bool http_reader_is_busy(struct http_reader *reader)
{
    bool busy;

    pthread_mutex_lock(&reader->thread.mutex);
    busy = reader->reads || (reader->asked && reader->next_ms <= now_ms());
    pthread_mutex_unlock(&reader->thread.mutex);
    return busy;
}

const struct http_store *http_reader_lock(struct http_reader *reader)
{
    pthread_mutex_lock(&reader->thread.mutex);
    return &reader->store;
}

void http_reader_unlock(struct http_reader *reader)
{
    pthread_mutex_unlock(&reader->thread.mutex);
}

void http_reader_stop(struct http_reader *reader)
{
    atomic_store(&reader->stop, true);
    http_thread_stop(&reader->thread);
}

void http_reader_free(struct http_reader *reader)
{
    if (reader == NULL)
        return;
    lock_sample_free((struct lock_sample *)reader->store.sample);
    http_thread_done(&reader->thread);
    free(reader);
}
