/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_timeline.h - ways to keep items that expire and to read the 20 with the
 * greatest fee.
 */
#ifndef BENCH_BENCH_TIMELINE_H
#define BENCH_BENCH_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/client.h"

#define TIMELINE_PAGE 20
#define TIMELINE_PAYLOAD 100 /* bytes */

/* Add `count` items from number `first` on. */
typedef struct timeline_way {
    const char *name;
    bool (*add)(hf_client *client, int64_t first, size_t count, int64_t ttl_ms);
    bool (*page)(hf_client *client, int64_t items);
    /* What the program must do itself every second; NULL: nothing. */
    bool (*sweep)(hf_client *client);
    bool apart; /* run only if it is named, and on an embedded store, too */
} timeline_way;

/* Ours first. */
extern const timeline_way timeline_ways[];
extern const int timeline_way_count;

#endif
