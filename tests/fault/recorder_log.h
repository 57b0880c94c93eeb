/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder_log.h - what the recorder's functions share: writing to the log, and
 * which descriptors belong to recorded files.
 */
#ifndef TESTS_FAULT_RECORDER_LOG_H
#define TESTS_FAULT_RECORDER_LOG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "recorder.h"

#define EXPORT __attribute__((visibility("default")))

/* The C library's function that ours wraps. */
void (*log_real(const char *name))(void);
#define REAL(name) ((__typeof__(&name))log_real(#name))

typedef enum kind { UNSEEN = 0, OTHER, REGULAR, DIRECTORY } kind;

typedef struct descriptor {
    kind kind;
    bool synced; /* O_DSYNC or O_SYNC */
    uint64_t inode;
} descriptor;

/* Is anything recorded in this process? */
bool log_recording(void);

/* Reserve space in the log for an event, and begin it. NULL: it is full, as its
 * tail shows. */
recorder_event *log_begin(uint32_t what, uint64_t inode, const char *name,
                          size_t name_size, size_t data_size);
recorder_event *log_begin_write(const descriptor *file, off_t offset,
                                const struct iovec *parts, int count);
/* The call is over; `event` may be NULL. */
void log_done(recorder_event *event, bool worked);
/* A file was changed in a way that the log has no event for. */
void log_unknown(int fd, const char *call);

/* What a descriptor refers to; OTHER: to nothing recorded. */
kind log_look_up(int fd, descriptor *result);
bool log_is_file(int fd, descriptor *result);
/* It is closed, or reused. */
void log_closed(int fd);

bool log_descriptor_path(int fd, char path[PATH_MAX]);
/* The part of an absolute path below the root; NULL: it is not below. */
const char *log_below_root(const char *path);

#endif
