/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_watch.h - tracks the current master: queries the sentinels,
 * subscribes to them, and is the resolver of the master's connections.
 */
#ifndef HF__STORE_REDIS_SENTINEL_WATCH_H
#define HF__STORE_REDIS_SENTINEL_WATCH_H

#include <pthread.h>

#include "store/redis/server/store_context.h"
#include "store/redis/topology/sentinel_peer.h"
#include "store/redis/topology/sentinel_url.h"
#include "store/redis/wire/resolve.h"

/* Sentinels queried: those of the URL and those they list. */
#define HF__SENTINEL_MAX 32

typedef struct hf__sentinel_watch {
    hf__resolver resolver; /* first: the master's; not freed with it */
    const hf__sentinel_url *place;
    hf__store_context context; /* of the peers */
    void (*moved)(void *user); /* the master has changed; loop thread */
    void *user;

    pthread_mutex_t mutex;      /* guards what follows, up to `heard` */
    hf__resolver *address;      /* of the master; NULL: not known yet */
    hf__sentinel_answer master; /* while address != NULL */
    hf_error error;             /* why the latest round named none; or OK */
    bool known;                 /* `address` is, and moved() was called */
    bool hopeless;              /* waiting longer will not help */
    bool posted;                /* refresh_task is posted */
    bool closing;               /* post nothing more */
    uint32_t heard;             /* moves with every outcome; a futex */

    hf__task refresh_task;
    hf__task close_task;
    hf__alarm *gone_alarm; /* the alarm, being freed */

    /* The loop thread. */
    hf__alarm *alarm; /* NULL: not begun, or ended */
    hf__task turn_task;
    bool turning; /* turn_task is posted */
    hf__sentinel_peer *peers[HF__SENTINEL_MAX];
    size_t count;
    uint32_t round;
    bool wanted;         /* a round was requested */
    bool unsure;         /* the latest round decided nothing */
    int64_t began_ms;    /* that round */
    int64_t again_ms;    /* from there to the next, while unsure */
    int64_t minority_ms; /* since when a newer minority is there; 0: none */
} hf__sentinel_watch;

/* Starts nothing. `place` must stay valid. */
void hf__sentinel_watch_init(hf__sentinel_watch *watch,
                             const hf__sentinel_url *place,
                             const hf__store_config *config,
                             void (*moved)(void *user), void *user);

/* Start the loop and the first round. Not on the loop thread. On failure only
 * close() may follow. */
hf_status hf__sentinel_watch_start(hf__sentinel_watch *watch, hf_error *err);

/* Wait for a master, until an instant, or until waiting cannot help. */
hf_status hf__sentinel_watch_wait(hf__sentinel_watch *watch, int64_t until_ms,
                                  hf_error *err);

/* Describe the master and the sentinels. Not after close(). */
void hf__sentinel_watch_describe(hf__sentinel_watch *watch,
                                 hf__describe_fn line, void *user);

/* Stop; the resolver keeps its last address. Not on the loop thread. */
void hf__sentinel_watch_close(hf__sentinel_watch *watch);

/* After close(), when no connection uses the resolver any more. */
void hf__sentinel_watch_done(hf__sentinel_watch *watch);

/* In a forked child, instead of close() and done(). */
void hf__sentinel_watch_close_forked(hf__sentinel_watch *watch);

#endif
