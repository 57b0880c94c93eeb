/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watched_key.h - a key of some type that calls which are refused must leave as
 * it was, its expiry included.
 */
#ifndef SUPPORT_WATCHED_KEY_H
#define SUPPORT_WATCHED_KEY_H

#include "support/store_fixture.h"

#define WATCHED_CLEAR "redis.call('del', KEYS[1]) "

/* A type and a script that creates the key. */
typedef struct watched_type {
    const char *type;
    const char *make;
} watched_type;

#define WATCHED_TYPES 5
extern const watched_type watched_types[WATCHED_TYPES];

/* Run a script with one key, by the fixture's other client. */
void run_on_key(fixture *f, const char *source, hf_bytes key);

/* Create the key; from now on it must not change. One at a time. */
void watch_key(fixture *f, hf_bytes key, const watched_type *type);
bool watched_key_has_changed(void);

/* The call, whose last argument is ERR, has a status and a message that names
 * the culprit, and the key is what it was. */
#define refused(want, culprit, call)                                           \
    refused_at((want), (culprit), (call), #call, __FILE__, __LINE__)
void refused_at(hf_status want, const char *culprit, hf_status got,
                const char *call, const char *file, int line);

#endif
