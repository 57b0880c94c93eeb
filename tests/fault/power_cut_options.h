/* SPDX-License-Identifier: Apache-2.0 */
/* power_cut_options.h - the options of the program. */
#ifndef TESTS_FAULT_POWER_CUT_OPTIONS_H
#define TESTS_FAULT_POWER_CUT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct arguments {
    uint64_t seed;
    uint64_t ops;
    uint64_t every;
    uint64_t pace_us;  /* between a thread's operations */
    uint64_t grace_ms; /* older acknowledged writes are durable */
    const char *durability;
    uint64_t only; /* this image; 0: all */
    unsigned processes;
    unsigned threads;
    unsigned ignored;
    const char *folder;
    const char *log; /* an earlier recording; NULL: record now */
    bool expect_failures;
    bool json;
} arguments;

/* Set the defaults, then parse the arguments. Exits on wrong usage and after
 * --help. */
void read_arguments(int argc, char **argv, arguments *args);

#endif
