/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_reader.h - the thread that reads all of the store: which locks are
 * held, and how much is in it.
 *
 * Both read every key, which may take a minute, so no one waits for it: views
 * have what it has read last. It takes a sample of the locks after it was asked
 * for one, and for at most a tenth of the time; how much is in the store it
 * reads before each, and each ten seconds.
 */
#ifndef HOLDFAST_CLI_HTTP_STORE_READER_H
#define HOLDFAST_CLI_HTTP_STORE_READER_H

#include "http/http_thread.h"
#include "lock_sample.h"
#include "store_facts.h"

struct http_reader;

/* What it has read last. */
struct http_store {
    struct store_facts facts;
    const struct lock_sample *sample; /* NULL: none was taken yet */
    bool failed; /* to take one since then; `err` says why */
    hf_error err;
};

/* Reads the facts. `asks` is woken after each sample. NULL: an error was
 * printed. */
struct http_reader *http_reader_start(hf_client *client,
                                      struct http_thread *asks);

/* Take a sample when it is time for one; `changed`: at once. */
void http_reader_ask(struct http_reader *reader, bool changed);

/* Will there be a sample, that was asked for, without a pause before it? */
bool http_reader_is_busy(struct http_reader *reader);

/* What it has read, until http_reader_unlock(). The reader waits for that, and
 * who asks it. */
const struct http_store *http_reader_lock(struct http_reader *reader);
void http_reader_unlock(struct http_reader *reader);

/* The request under way is awaited, the sample is not. */
void http_reader_stop(struct http_reader *reader);

/* After all who use it. May be NULL. */
void http_reader_free(struct http_reader *reader);

#endif
