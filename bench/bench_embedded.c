/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_embedded.c - the embedded store against bare LMDB, a server and a raw
 * disk, each figure next to its ceiling in the same run.
 *
 *     bench_embedded [--json] [--quick] [--large] [FIGURE...]
 *
 * Without a FIGURE: all but the large ones, which take minutes and gigabytes;
 * --large adds them. --quick only checks that everything runs. Stores are in
 * new directories below /dev/shm and, the durable ones, below TMPDIR or
 * /var/tmp, which should be on a disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

typedef struct figure {
    const char *name;
    bool (*measure)(const bench_run *run);
    bool large;
} figure;

static const figure figures[] = {
    {"lock_pairs", figure_lock_pairs, false},
    {"lock_redis", figure_lock_redis, false},
    {"two_processes", figure_two_processes, false},
    {"value_get", figure_value_get, false},
    {"zrange", figure_zrange, false},
    {"command", figure_command, false},
    {"command_redis", figure_command_redis, false},
    {"durable", figure_durable, false},
    {"many_keys", figure_many_keys, true},
    {"overwrites", figure_overwrites, true},
};

#define FIGURE_COUNT (sizeof(figures) / sizeof(figures[0]))

static int print_usage(void)
{
    fputs("usage: bench_embedded [--json] [--quick] [--large] [FIGURE...]\n"
          "figures:",
          stderr);
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        fprintf(stderr, " %s%s", figures[i].name,
                figures[i].large ? " (large)" : "");
    fputc('\n', stderr);
    return 64;
}

/* false: unknown. */
static bool read_option(const char *word, bench_run *run, bool *large,
                        bool chosen[FIGURE_COUNT])
{
    if (strcmp(word, "--json") == 0)
        return run->json = true;
    if (strcmp(word, "--quick") == 0)
        return run->quick = true;
    if (strcmp(word, "--large") == 0)
        return *large = true;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (strcmp(word, figures[i].name) == 0)
            return chosen[i] = true;
    }
    return false;
}

static bool measure_chosen(const bench_run *run,
                           const bool chosen[FIGURE_COUNT])
{
    bool ok = true;

    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (chosen[i] && !figures[i].measure(run))
            ok = bench_fail("%s could not be measured", figures[i].name);
    }
    return ok;
}

/* No names: all, or all but the large ones. */
static void choose_default(bool large, bool chosen[FIGURE_COUNT])
{
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (chosen[i])
            return;
    }
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        chosen[i] = large || !figures[i].large;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    const char *disk = getenv("TMPDIR");
    bool chosen[FIGURE_COUNT] = {false};
    bool large = false;
    bool ok = false;
    char *memory_path, *disk_path;

    for (int i = 1; i < argc; i++) {
        if (!read_option(argv[i], &run, &large, chosen))
            return print_usage();
    }
    choose_default(large, chosen);
    if (run.quick) {
        run.pairs = 3;
        run.slice_ms = 10;
    }
    memory_path = bench_make_directory("/dev/shm");
    disk_path = bench_make_directory(disk != NULL ? disk : "/var/tmp");
    if (memory_path != NULL && disk_path != NULL) {
        run.memory = memory_path;
        run.disk = disk_path;
        ok = measure_chosen(&run, chosen);
    }
    bench_remove_directory(memory_path);
    bench_remove_directory(disk_path);
    return ok ? 0 : 1;
}
