/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_reader.c - see change_reader.h.
 *
 * Locks: `mutex`, and the writer lock within it.
 */
#include "engine/wake/change_reader.h"

#include <string.h>

#include "engine/wake/note.h"
#include "util/container.h"
#include "util/mem.h"

static bool concerns_feed(const hf__feed *feed, uint32_t database,
                          hf_change_kind kind, hf_bytes key)
{
    return kind == HF_CHANGE_GAP ||
           ((feed->all_databases || database == feed->database) &&
            key.size >= feed->prefix.size &&
            memcmp(key.data, feed->prefix.data, feed->prefix.size) == 0);
}

static void report_change(hf__ring_reader *ring, uint32_t kind, hf_bytes key)
{
    hf__change_reader *reader = hf__container_of(ring, hf__change_reader, ring);
    hf_change_kind change = HF_CHANGE_GAP;
    uint32_t database = kind >> HF__NOTE_DATABASE_BITS;

    kind &= (1u << HF__NOTE_DATABASE_BITS) - 1;
    if (kind >= HF_CHANGE_WRITTEN && kind < HF_CHANGE_GAP)
        change = (hf_change_kind)kind;
    for (hf__feed *feed = reader->feeds; feed != NULL; feed = reader->next) {
        reader->next = feed->next;
        feed->changed_in = database;
        if (concerns_feed(feed, database, change, key))
            feed->changed(feed, change, key);
    }
}

/* ------------------------------------------------------------------ users */

hf_status hf__change_reader_join(hf__change_reader *reader, int64_t deadline_ms,
                                 hf_error *err)
{
    hf_status status = HF_OK;

    pthread_mutex_lock(&reader->mutex);
    if (reader->users == 0)
        status = hf__ring_reader_join(&reader->ring, deadline_ms, err);
    if (status == HF_OK)
        reader->users++;
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

void hf__change_reader_leave(hf__change_reader *reader)
{
    pthread_mutex_lock(&reader->mutex);
    if (--reader->users == 0)
        hf__ring_reader_leave(&reader->ring);
    pthread_mutex_unlock(&reader->mutex);
}

/* ------------------------------------------------------------------ feeds */

hf_status hf__change_reader_add(hf__change_reader *reader, hf__feed *feed,
                                hf_error *err)
{
    hf_status status = HF_OK;

    feed->next = reader->feeds;
    reader->feeds = feed;
    if (feed->next == NULL)
        status = hf__ring_reader_start(&reader->ring, err);
    if (status != HF_OK)
        reader->feeds = NULL;
    return status;
}

void hf__change_reader_remove(hf__change_reader *reader, hf__feed *feed)
{
    hf__feed **at = &reader->feeds;

    while (*at != NULL && *at != feed)
        at = &(*at)->next;
    if (*at != NULL)
        *at = feed->next;
    if (reader->next == feed)
        reader->next = feed->next;
    if (reader->feeds == NULL)
        hf__ring_reader_stop(&reader->ring);
}

typedef struct reader_task {
    hf__task base;
    hf__change_reader *reader;
    hf__feed *feed;
    hf_status status;
    hf_error *err;
} reader_task;

static void run_open(hf__task *task)
{
    reader_task *what = (reader_task *)(void *)task;

    what->status = hf__change_reader_add(what->reader, what->feed, what->err);
}

static void run_close(hf__task *task)
{
    reader_task *what = (reader_task *)(void *)task;

    hf__change_reader_remove(what->reader, what->feed);
}

hf_status hf__change_reader_open(hf__change_reader *reader, hf__feed *feed,
                                 int64_t deadline_ms, hf_error *err)
{
    reader_task what = {{run_open, NULL}, reader, feed, HF_OK, err};
    hf_status status = hf__loop_start(reader->ring.inbox->loop, err);

    if (status == HF_OK)
        status = hf__change_reader_join(reader, deadline_ms, err);
    if (status != HF_OK)
        return status;
    hf__loop_run(reader->ring.inbox->loop, &what.base);
    if (what.status != HF_OK)
        hf__change_reader_leave(reader);
    return what.status;
}

void hf__change_reader_close(hf__change_reader *reader, hf__feed *feed)
{
    reader_task what = {{run_close, NULL}, reader, feed, HF_OK, NULL};

    hf__loop_run(reader->ring.inbox->loop, &what.base);
    hf__change_reader_leave(reader);
}

hf__change_reader *hf__change_reader_new(hf__wake_inbox *inbox)
{
    hf__change_reader *reader = hf__calloc(1, sizeof(*reader));

    if (reader == NULL)
        return NULL;
    hf__ring_reader_init(&reader->ring, inbox, HF__RING_CHANGES);
    reader->ring.note = report_change;
    pthread_mutex_init(&reader->mutex, NULL);
    return reader;
}

void hf__change_reader_free(hf__change_reader *reader)
{
    if (reader == NULL)
        return;
    hf__ring_reader_done(&reader->ring);
    pthread_mutex_destroy(&reader->mutex);
    hf__free(reader);
}
