/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - the log of the recorder: what programs did to the files below
 * one directory, in an order that all of their threads agree on.
 *
 * Each event has two ticks of one shared clock: `begin` before the call and
 * `done` after it. So a reader can distinguish what may be on the disk when the
 * power fails at tick T (all that began before T) from what must be there (all
 * that was done before a sync began that was itself done before T).
 */
#ifndef TESTS_FAULT_RECORDER_H
#define TESTS_FAULT_RECORDER_H

#include <stdint.h>

#define RECORDER_MAGIC UINT64_C(0x31676f6c72636572)
#define RECORDER_HEAD_SIZE 4096u

/* Environment of a recorded program. */
#define RECORDER_LOG "HF_RECORDER_LOG"   /* a file of zeroes */
#define RECORDER_ROOT "HF_RECORDER_ROOT" /* absolute, without symlinks */
#define RECORDER_BOOT "HF_RECORDER_BOOT" /* read instead of the boot id */

enum {
    RECORDER_WRITE = 1, /* `length` bytes of data at `offset` */
    RECORDER_SIZE,      /* the file's size becomes `length` */
    RECORDER_EXTEND,    /* the same, if it is smaller */
    RECORDER_SYNC,      /* of the file's data and size */
    RECORDER_CREATE,    /* name */
    RECORDER_MKDIR,     /* name */
    RECORDER_RENAME,    /* old name, NUL, new name */
    RECORDER_UNLINK,    /* name */
    RECORDER_SYNC_DIR,  /* name of the directory, "" for the root */
    RECORDER_MAPPED,    /* name; shared and writable */
    RECORDER_UNKNOWN,   /* name of a call that the recorder does not support */
    RECORDER_MARK       /* the program's own; see recorder_mark() */
};

/* Flag of RECORDER_WRITE: by a descriptor with O_DSYNC, or by msync(). */
#define RECORDER_SYNCED 1u

typedef struct recorder_head {
    uint64_t magic;
    uint64_t capacity; /* bytes of the log file */
    uint64_t tail;     /* where the next event goes; beyond capacity: lost */
    uint64_t tick;
} recorder_head;

typedef struct recorder_event {
    uint32_t size; /* with names and data; a multiple of 8 */
    uint32_t kind;
    uint64_t begin;
    uint64_t done; /* 0: it failed, or never returned */
    uint64_t file; /* inode number */
    uint64_t offset;
    uint64_t length;
    int64_t time_ms; /* CLOCK_BOOTTIME at begin */
    uint32_t flags;
    uint32_t name_size; /* of the names after this struct, NULs included;
                         *                            data follow at the next
                         * multiple of 8
                         */
} recorder_event;

/*
 * Exported by the recorder, found by dlsym(): record a mark. `number` and
 * `value` become the event's offset and length, `who` its file and `kind` its
 * flags. Now and then it also records the content of mapped files, as writes
 * that the kernel may have done.
 */
typedef void (*recorder_mark_fn)(uint32_t kind, uint64_t who, uint64_t number,
                                 uint64_t value);

#endif
