/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_disk.h - a disk that was cut off at some instant: from a recorder's
 * log to the files that a power cut may have left.
 */
#ifndef TESTS_FAULT_POWER_CUT_DISK_H
#define TESTS_FAULT_POWER_CUT_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "recorder.h"
#include "support/prng.h"

typedef struct disk disk;

/* Syncs to be ignored: faults that the test must detect. */
enum {
    DISK_IGNORE_SYNC = 1u << 0,     /* fsync() and fdatasync() of files */
    DISK_IGNORE_DSYNC = 1u << 1,    /* O_DSYNC, msync() */
    DISK_IGNORE_SYNC_DIR = 1u << 2, /* fsync() of directories */
};

/* Which of the changes that no sync covers are on the disk. */
typedef enum cut {
    CUT_NONE,        /* none of them */
    CUT_ALL,         /* all of them */
    CUT_LAST,        /* of each file only the last */
    CUT_WRITES,      /* some writes, whole */
    CUT_SECTORS,     /* some sectors */
    CUT_HEAD,        /* some sectors of the first pages, which hold the roots */
    CUT_ALL_BUT_ONE, /* all sectors but a few */
    CUT_COUNT
} cut;

const char *cut_name(cut how);

/* NULL: the log cannot be used, and *why has the reason. */
disk *disk_new(const recorder_head *log, unsigned ignored, const char **why);
void disk_free(disk *self);

size_t disk_moment_count(const disk *self);
/*
 * Advance to the next moment (the begin or the end of a call). `*boundary`: a
 * sync, or a write with O_DSYNC, was done. The event, if it is a mark, or NULL.
 */
const recorder_event *disk_step(disk *self, bool *boundary);
int64_t disk_time_ms(const disk *self);

/* How many changes are not covered by a sync now. */
size_t disk_loose(const disk *self);

/* Write what a power cut leaves now into an empty folder. false: it could not
 * be written. */
bool disk_build(const disk *self, cut how, prng *random, const char *folder);

#endif
