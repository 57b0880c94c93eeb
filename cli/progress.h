/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on stderr that tells how far something is; nothing
 * unless stderr is a terminal.
 */
#ifndef HOLDFAST_CLI_PROGRESS_H
#define HOLDFAST_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* the word the line begins with */
    bool shown;       /* stderr is a terminal */
    bool drawn;       /* the line is on it */
    int64_t began_ms;
    int64_t drawn_ms;
};

/* Begin; nothing is drawn yet. */
void progress_begin(struct progress *progress, const char *what);

/*
 * Draw the line again, at most ten times a second: a bar if `total` is not 0,
 * the keys and bytes so far, and how many a second. `done` and `total` have
 * any one unit.
 */
void progress_draw(struct progress *progress, uint64_t done, uint64_t total,
                   uint64_t keys, uint64_t bytes);

/* Take the line away, so that others can be written. */
void progress_clear(struct progress *progress);

#endif
