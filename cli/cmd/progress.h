/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a progress line on stderr, if that is a terminal. */
#ifndef HOLDFAST_CLI_CMD_PROGRESS_H
#define HOLDFAST_CLI_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* first word of the line */
    bool shown;       /* stderr is a terminal */
    bool drawn;       /* the line is visible */
    int64_t began_ms;
    int64_t drawn_ms;
};

/* Begin; nothing is drawn yet. */
void progress_begin(struct progress *progress, const char *what);

/*
 * Update the line, at most ten times a second: a bar if `total` is not 0, keys
 * and bytes so far, and their rates. `done` and `total` have the same unit.
 */
void progress_draw(struct progress *progress, uint64_t done, uint64_t total,
                   uint64_t keys, uint64_t bytes);

/* Erase the line, so that other output can be written. */
void progress_clear(struct progress *progress);

#endif
