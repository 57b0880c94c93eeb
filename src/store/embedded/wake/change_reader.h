/* SPDX-License-Identifier: Apache-2.0 */
/* change_reader.h - reading the file of changes for the feeds of one store
 * handle. */
#ifndef HF__EMBEDDED_CHANGE_READER_H
#define HF__EMBEDDED_CHANGE_READER_H

#include "store/embedded/wake/note.h"
#include "store/embedded/wake/wake.h"
#include "store/store.h"
#include "util/poll.h"

typedef struct hf__change_reader {
    hf__wake_inbox *inbox;
    pthread_mutex_t mutex; /* guards `users` and `slot` */
    size_t users;          /* feeds, and near caches */
    uint32_t slot;

    /* The loop thread's. */
    hf__feed *feeds;
    hf__feed *next; /* to be called, while some are */
    hf__watch watch;
    hf__tick tick;
    uint64_t position;
    uint64_t stuck_at; /* where `pending` was last seen; -1: not */
    unsigned char key[HF__NOTE_KEY_MAX];
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

/* The same for a feed, and notify it. close() also on the loop thread. */
hf_status hf__change_reader_open(hf__change_reader *reader, hf__feed *feed,
                                 int64_t deadline_ms, hf_error *err);
void hf__change_reader_close(hf__change_reader *reader, hf__feed *feed);

#endif
