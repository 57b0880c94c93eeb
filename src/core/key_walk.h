/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_walk.h - all names of keys of a store, each once, a page at a time.
 *
 * The names come by SCAN, so a key that is there from the beginning to the end
 * is met. SCAN may give a name twice; those met are remembered (name_set.h).
 *
 *     begin; until_whole, with a function that makes one walk: start;
 *     while (!over) { run request(); turn(); use the names }; done
 *
 * Where a store has parts they are walked one after the other. A key that
 * changes its part meanwhile may be missed; until_whole() then walks again.
 */
#ifndef HF__CORE_KEY_WALK_H
#define HF__CORE_KEY_WALK_H

#include "core/client.h"
#include "util/buf.h"
#include "util/name_set.h"

typedef struct hf__key_walk {
    hf_bytes pattern;
    /* Which names are met; NULL: all. Others are left to a later walk. */
    bool (*wants)(void *user, hf_bytes name);
    void *user; /* passed to wants() */
    /* By turns: one holds the names, while the other fetches the next. */
    hf__request pages[2];
    unsigned now;
    hf_bytes words[6];
    char cursor[HF__NUMBER_SIZE];
    bool over;       /* nothing is left to ask for */
    hf__parts parts; /* count 0: there is one */
    size_t part_at;  /* the one being walked */
    uint32_t barren; /* pages in a row without a new name */
    hf_bytes *names; /* of this page */
    size_t count;
    size_t room; /* for names */
    hf__name_set met;
} hf__key_walk;

/* Check what the caller passes: a pattern, and a callback, if `told`. */
hf_status hf__key_walk_check(hf_bytes pattern, bool told, hf_error *err);

/* The pattern of whole names: the client's prefix, escaped, then `pattern`, or
 * all. `whole` is begun here, and must be ended whatever the status. */
hf_status hf__key_walk_pattern(const hf_client *client, hf_bytes pattern,
                               hf__buf *whole, hf_error *err);

/* Empty pattern: all. Its bytes must stay. */
void hf__key_walk_begin(hf__key_walk *walk, hf_bytes pattern);

/* Go from the beginning; those met stay met. HF_UNAVAILABLE: see
 * hf__store_ops.parts. */
hf_status hf__key_walk_start(hf__key_walk *walk, hf_client *client,
                             hf_error *err);

/* Call once(), which makes one walk, until no key has changed its part during
 * one; HF_UNAVAILABLE with the message `moved` after three. */
hf_status hf__key_walk_until_whole(const hf__key_walk *walk, hf_client *client,
                                   hf_status (*once)(void *user, hf_error *err),
                                   void *user, const char *moved,
                                   hf_error *err);

/* What to run for the next page. */
hf__request *hf__key_walk_request(hf__key_walk *walk);

/* That has been run: walk->names are the page's, valid until the next turn. */
hf_status hf__key_walk_turn(hf__key_walk *walk, hf_error *err);

/* A whole walk over the client's keys that match `pattern`, one request at a
 * time: look() sees the new names, at most `most` in a call, until it fails. */
typedef struct hf__key_list {
    hf_client *client;
    const hf_call *call; /* hf__aside_check() */
    size_t most;
    hf_status (*look)(void *user, const hf_bytes *names, size_t count,
                      hf_error *err);
    void *user;
    hf__key_walk walk;
} hf__key_list;

hf_status hf__key_list_run(hf__key_list *self, hf_bytes pattern, hf_error *err);

void hf__key_walk_done(hf__key_walk *walk);

#endif
