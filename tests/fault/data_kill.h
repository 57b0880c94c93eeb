/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_kill.h - what the parts of data_kill share: the journal of what was
 * begun and acknowledged, and the table of kinds of work.
 *
 * Each life of a worker has keys of its own. What they hold after operation n
 * of a kind is a function of n, so one number says what must be in the store:
 * after a kill it is at least the last that was acknowledged and at most the
 * last that was begun, whenever a server gets to what a dead client has sent.
 */
#ifndef DATA_KILL_H
#define DATA_KILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/client.h"

#define WORKERS 4
#define KINDS_MAX 16
#define LIVES_MAX 20000
#define TEXT_SIZE 400

/* Far longer than a run. */
#define TTL_MS 3600000

typedef struct life {
    uint32_t begun[KINDS_MAX]; /* operations of each kind, from 1 */
    uint32_t acked[KINDS_MAX];
} life;

typedef struct journal {
    char url[256];
    char fault[16]; /* done wrong on purpose; "" if nothing is */
    uint64_t seed;
    uint32_t failed; /* `failure` is set */
    char failure[TEXT_SIZE];
    uint32_t current[WORKERS]; /* its life */
    uint32_t lives;
    life life[LIVES_MAX];
} journal;

#define load(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define store(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELEASE)

typedef struct worker {
    hf_client *client;
    const char *fault;
    char name[64]; /* of the key of this life and kind */
    hf_bytes key;
    hf_error err;
} worker;

/* Operation n was applied if the state is that of n. */
#define STATE_BROKEN UINT32_MAX

typedef struct kind {
    const char *name;
    /* Operation n. */
    hf_status (*act)(worker *self, uint32_t n);
    /* The number of the state in the store, 0 if there is nothing yet, or
     * STATE_BROKEN with the reason in `say`. */
    uint32_t (*read)(worker *self, char say[TEXT_SIZE]);
    bool rare; /* each operation leaves keys */
} kind;

/* data_kill_timeline.c */
hf_status act_timeline(worker *self, uint32_t n);
uint32_t read_timeline(worker *self, char say[TEXT_SIZE]);

/* data_kill_cache.c */
hf_status act_cache(worker *self, uint32_t n);
uint32_t read_cache(worker *self, char say[TEXT_SIZE]);
hf_status act_fill(worker *self, uint32_t n);
uint32_t read_fill(worker *self, char say[TEXT_SIZE]);

extern const kind kinds[];
extern const size_t kind_count;

/* Name the key of a life and a kind. */
void worker_aim(worker *self, uint32_t number, const kind *of);
/* STATE_BROKEN, with what is wrong. */
uint32_t broken(char say[TEXT_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool is_fault(const worker *self, const char *fault);

#endif
