/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_place.h - what tests of faults share: a folder with a store in it,
 * other processes that open it and are killed, a separate file system.
 */
#ifndef FAULT_PLACE_H
#define FAULT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "holdfast/client.h"

typedef struct place {
    char folder[64]; /* a new one, to be removed */
    char dir[80];    /* the store's directory, below it */
    char url[128];
    hf_client *client; /* NULL: not open */
} place;

/* A new folder in /dev/shm; no store yet. `scheme` is "volatile" or "file",
 * `parameters` such as "?max_size=2M". */
void place_make(place *at, const char *scheme, const char *parameters);
/* Close the client and remove everything. */
void place_remove(place *at);
/* Run `act` on a new store, "server" or a scheme, which is then removed; false:
 * it did, or there is no server. */
bool place_run(const char *store, bool (*act)(const char *url, long kills),
               long kills);
void place_open(place *at);
void place_close(place *at);
/* A file of the store: "data.mdb". Valid until the next call. */
const char *place_file(const place *at, const char *name);

/* Open it in this process; on failure the message is in *err. */
hf_status try_open(const char *url, hf_error *err);

/* Run `act` in a child, whose exit status it returns. */
pid_t start_child(int (*act)(const place *at), const place *at);
/* The same, and wait: its exit status, or 128 + the signal that ended it. */
int in_child(int (*act)(const place *at), const place *at);

/* Kill a child and await its end; a pid below 1: there is none. */
void kill_child(pid_t pid);

/* The options of tests that kill: [--kills N] [--store volatile|file|server]
 * [--cheat]. Others are left alone. */
typedef struct kill_options {
    const char *store;
    long kills;
    bool cheats;
} kill_options;

kill_options kill_options_of(int argc, char **argv, long kills);
/* Zeroed memory that is shared with children; without it the program ends. */
void *share_memory(size_t size);

/* The result of opening it in another process; if that succeeds, a value is
 * read and one is written. `part` must be in the message of a refusal. */
void expect_other(const place *at, hf_status want, const char *part);

/* Set and read the key "a"; the status of the first failure. */
hf_status set_number(hf_client *client, int number);
/* -1: no such key; -2: an error. */
int get_number(hf_client *client);

/*
 * Enter a new mount namespace, as root of a user namespace if need be, and
 * mount a tmpfs on the folder. false: this machine does not allow it. The
 * calling process stays there: call it in a child.
 */
bool own_tmpfs(const place *at, const char *options);

#endif
