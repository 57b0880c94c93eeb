/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - how often each command ran, and how long.
 *
 * Reading the clock twice costs a twentieth of a simple command, so one of
 * HF__USAGE_STRIDE is timed, and the first of each turn of the loop. The stride
 * is a prime, so that pipelines of equal length do not always have the same one
 * timed.
 */
#ifndef HF__SERVE_USAGE_H
#define HF__SERVE_USAGE_H

#include "holdfast/serve.h"
#include "util/clock.h"

#define HF__USAGE_STRIDE 17u

/* A power of two, more than twice the number of commands. */
#define HF__USAGE_SLOTS 1024u

typedef struct hf__usage {
    unsigned untimed; /* commands before the next one that is timed */
    hf_server_command *slots[HF__USAGE_SLOTS]; /* by the address of the name */
} hf__usage;

/* The instant at which a command begins; 0: it is not timed. */
static inline int64_t hf__usage_begin(hf__usage *usage)
{
    if (usage->untimed > 0) {
        usage->untimed--;
        return 0;
    }
    usage->untimed = HF__USAGE_STRIDE - 1;
    return hf__clock_monotonic_ns();
}

/* It has ended. `name` is that of its row, always at the same address. */
void hf__usage_end(hf__usage *usage, const char *name, bool failed,
                   int64_t began_ns);

void hf__usage_done(hf__usage *usage);

#endif
