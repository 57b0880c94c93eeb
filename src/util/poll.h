/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll.h - waiting for descriptors and instants, on one thread.
 *
 * Everything is intrusive and nothing is allocated: watching a descriptor can
 * fail only in the kernel, and never ends the process.
 */
#ifndef HF__UTIL_POLL_H
#define HF__UTIL_POLL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

enum {
    HF__POLL_IN = 1,
    HF__POLL_OUT = 2,
    /* With both others. The next call on the descriptor returns it; it is not
     * watched any more until hf__poll_watch(). */
    HF__POLL_ERROR = 4
};

/* A descriptor that is watched; all zero: it is not. */
typedef struct hf__poll {
    void (*ready)(struct hf__poll *poll, int events);
    void *user;
    int fd;
    bool added;
} hf__poll;

/* An instant to be called at; all zero: none is set. */
typedef struct hf__tick {
    void (*ring)(struct hf__tick *tick);
    void *user;
    int64_t at_ms;
    struct hf__tick *next;
    struct hf__tick **link; /* what points here; NULL: not set */
} hf__tick;

#define HF__POLL_BATCH 64

typedef struct hf__poller {
    int fd;
    struct epoll_event batch[HF__POLL_BATCH];
    int batch_size;
    hf__tick *ticks;
} hf__poller;

/* 0 or an errno. */
int hf__poller_open(hf__poller *poller);
void hf__poller_close(hf__poller *poller);

/* Wait for events, and call back for all of them. */
void hf__poller_turn(hf__poller *poller);

/* Watch poll->fd for these events from now on. 0 or an errno: unchanged. The
 * first time from any thread. */
int hf__poll_watch(hf__poller *poller, hf__poll *poll, int events);
/* Watch one for other events, or with 0 for errors only; nothing if it is not
 * watched any more. Any thread, but not while the descriptor is closed. */
void hf__poll_change(hf__poller *poller, hf__poll *poll, int events);
/* No more calls. Before the descriptor is closed. */
void hf__poll_stop(hf__poller *poller, hf__poll *poll);

/* Ring once, at an instant of hf__clock_boot_ms(), in place of the one set. */
void hf__tick_set(hf__poller *poller, hf__tick *tick, int64_t at_ms);
void hf__tick_stop(hf__tick *tick);

#endif
