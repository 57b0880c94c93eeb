/* SPDX-License-Identifier: Apache-2.0 */
/* change_reader.h - reading the file of changes for the feeds of one store
 * handle. */
#ifndef HF__ENGINE_CHANGE_READER_H
#define HF__ENGINE_CHANGE_READER_H

#include "engine/wake/ring_read.h"
#include "store/feed.h"

typedef struct hf__change_reader {
    hf__ring_reader ring;
    pthread_mutex_t mutex; /* guards `users` */
    size_t users;          /* feeds, and near caches */

    /* The loop thread's. */
    hf__feed *feeds;
    hf__feed *next; /* to be called, while some are */
} hf__change_reader;

/* NULL: out of memory. */
hf__change_reader *hf__change_reader_new(hf__wake_inbox *inbox);
/* There are no users. */
void hf__change_reader_free(hf__change_reader *reader);

/* Have writers note their changes from now on, until leave(). Not on the loop
 * thread. */
hf_status hf__change_reader_join(hf__change_reader *reader, int64_t deadline_ms,
                                 hf_error *err);
void hf__change_reader_leave(hf__change_reader *reader);

/* Joined, on the loop thread: notify a feed of what comes from now on. */
hf_status hf__change_reader_add(hf__change_reader *reader, hf__feed *feed,
                                hf_error *err);
/* The same thread; also from `changed`. */
void hf__change_reader_remove(hf__change_reader *reader, hf__feed *feed);

/* The same as join() and add(), and the contrary, on any thread. open() not on
 * the loop thread. close() also on the loop thread. */
hf_status hf__change_reader_open(hf__change_reader *reader, hf__feed *feed,
                                 int64_t deadline_ms, hf_error *err);
void hf__change_reader_close(hf__change_reader *reader, hf__feed *feed);

#endif
