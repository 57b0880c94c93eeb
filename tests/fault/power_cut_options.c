/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_options.c - reading the command line.
 */
#include "power_cut_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power_cut_disk.h"
#include "power_cut_model.h"
#include "util/rand.h"

/* durability=flush loses a second at most; its thread may be late on a loaded
 * machine. Operations are spread over several seconds. */
#define FLUSH_GRACE_MS 1500
#define FLUSH_PACE_US 5000

static const char usage[] =
    "usage: power_cut [options]\n"
    "  --seed N|fresh     of the workload and of what is lost [1]\n"
    "  --ops N            operations of each thread [60]\n"
    "  --processes N      [2]\n"
    "  --threads N        of each process [2]\n"
    "  --every N          cut at every Nth such instant only [1]\n"
    "  --durability commit|log|flush  flush takes 5 ms for each operation "
    "[commit]\n"
    "  --grace MS         how much may be lost [0; with flush 1500]\n"
    "  --dir FOLDER       where the files are [/dev/shm]\n"
    "  --log FILE         cut a log that was kept; with its other options\n"
    "  --image N          only this image\n"
    "  --ignore sync|dsync|dir  ignore syncs of this kind\n"
    "  --expect-failures  exit with 0 if images are wrong, and with 1 if not\n"
    "  --json             print figures as JSON\n";

static unsigned read_ignored(const char *text)
{
    if (strcmp(text, "sync") == 0)
        return DISK_IGNORE_SYNC;
    if (strcmp(text, "dsync") == 0)
        return DISK_IGNORE_DSYNC;
    if (strcmp(text, "dir") == 0)
        return DISK_IGNORE_SYNC_DIR;
    fputs(usage, stderr);
    exit(2);
}

static uint64_t read_number(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || number < least ||
        number > most) {
        fputs(usage, stderr);
        exit(2);
    }
    return number;
}

static uint64_t read_seed(const char *text)
{
    uint64_t seed;

    if (strcmp(text, "fresh") != 0)
        return read_number(text, 0, UINT64_MAX);
    hf__rand_bytes(&seed, sizeof(seed));
    return seed >> 1;
}

static void read_option(int letter, const char *value, arguments *args)
{
    switch (letter) {
    case 's':
        args->seed = read_seed(value);
        break;
    case 'o':
        args->ops = read_number(value, 2, 1000000);
        break;
    case 'p':
        args->processes = (unsigned)read_number(value, 1, MODEL_THREAD_MAX);
        break;
    case 't':
        args->threads = (unsigned)read_number(value, 1, MODEL_THREAD_MAX);
        break;
    case 'e':
        args->every = read_number(value, 1, 1000000);
        break;
    case 'n':
        args->only = read_number(value, 1, UINT64_MAX);
        break;
    case 'u':
        args->durability = value;
        if (strcmp(value, "flush") == 0) {
            args->pace_us = FLUSH_PACE_US;
            args->grace_ms = FLUSH_GRACE_MS;
        }
        break;
    case 'g':
        args->grace_ms = read_number(value, 0, 1000000);
        break;
    case 'd':
        args->folder = value;
        break;
    case 'l':
        args->log = value;
        break;
    case 'i':
        args->ignored |= read_ignored(value);
        break;
    case 'f':
        args->expect_failures = true;
        break;
    case 'j':
        args->json = true;
        break;
    default:
        fputs(usage, letter == 'h' ? stdout : stderr);
        exit(letter == 'h' ? 0 : 2);
    }
}

void read_arguments(int argc, char **argv, arguments *args)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"ops", required_argument, NULL, 'o'},
        {"processes", required_argument, NULL, 'p'},
        {"threads", required_argument, NULL, 't'},
        {"every", required_argument, NULL, 'e'},
        {"durability", required_argument, NULL, 'u'},
        {"grace", required_argument, NULL, 'g'},
        {"dir", required_argument, NULL, 'd'},
        {"log", required_argument, NULL, 'l'},
        {"image", required_argument, NULL, 'n'},
        {"ignore", required_argument, NULL, 'i'},
        {"expect-failures", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    *args = (arguments){.seed = 1,
                        .ops = 60,
                        .every = 1,
                        .processes = 2,
                        .threads = 2,
                        .durability = "commit",
                        .folder = "/dev/shm"};
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1)
        read_option(letter, optarg, args);
    if (optind != argc || args->processes * args->threads > MODEL_THREAD_MAX)
        read_option('?', NULL, args);
}
