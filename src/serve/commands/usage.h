/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - how often each command ran, and how long.
 *
 * Reading the clock twice costs a twentieth of a simple command, so one of
 * HF__USAGE_STRIDE is timed, and the first of each turn of the loop. The stride
 * is a prime, so that pipelines of equal length do not always have the same one
 * timed. The others are measured by the ticks of the clock, which is enough to
 * find those that are slow.
 */
#ifndef HF__SERVE_USAGE_H
#define HF__SERVE_USAGE_H

#include "holdfast/serve.h"
#include "util/clock.h"

#define HF__USAGE_STRIDE 17u

/* A power of two, more than twice the number of commands. */
#define HF__USAGE_SLOTS 1024u

/* What ticks may miss: one is up to 10 ms long. */
#define HF__USAGE_TICK_NS INT64_C(10000000)

/* Kinds of errors, by the first word of their texts; of scripts, which may
 * reply any, the first so many. */
#define HF__USAGE_CODES 64u
typedef struct hf__usage_code {
    uint64_t count;
    char text[24];
} hf__usage_code;

typedef struct hf__usage {
    unsigned untimed; /* commands before the next one that is timed */
    unsigned stride;  /* 0: HF__USAGE_STRIDE */
    int64_t tick_ns;  /* when the last one ended, or a transaction began */
    hf_server_command *slots[HF__USAGE_SLOTS]; /* by the address of the name */
    hf__usage_code codes[HF__USAGE_CODES];
} hf__usage;

/* The instant at which a command begins; negative: a tick. */
static inline int64_t hf__usage_begin(hf__usage *usage)
{
    if (usage->untimed > 0) {
        usage->untimed--;
        return -usage->tick_ns;
    }
    usage->untimed = (usage->stride > 0 ? usage->stride : HF__USAGE_STRIDE) - 1;
    return hf__clock_monotonic_ns();
}

/* It has ended. `name` is that of its row, always at the same address. Returns
 * what it took, ns; 0: less than HF__USAGE_TICK_NS. */
int64_t hf__usage_end(hf__usage *usage, const char *name, bool failed,
                      int64_t began_ns);

/* A command that has waited ran once more, for the call that was counted when
 * it began to wait. */
void hf__usage_again(hf__usage *usage, const char *name);
/* It has failed without having run. */
void hf__usage_fail_call(hf__usage *usage, const char *name);

/* A reply was this error. */
void hf__usage_failed(hf__usage *usage, const char *error);

/* Drop all counts; also at the end. */
void hf__usage_clear(hf__usage *usage);

#endif
