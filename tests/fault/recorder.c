/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c - an LD_PRELOAD library that records what a program does to the
 * files below one directory: see recorder.h for the log.
 *
 * Every call that changes a file or makes a change durable passes through here,
 * or (if it concerns names) through recorder_names.c. A change is recorded,
 * with its data, before it is made. Changes through a shared map are not seen:
 * such maps are recorded as MAPPED, so that the reader of the log can reject
 * what it would misjudge; msync() records their content. Files are identified
 * by inode number, from CREATE on.
 *
 * Locks: map_mutex guards the table of maps.
 */
#include "recorder_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP_COUNT 64
/* Marks between two records of the mapped files. */
#define SNAPSHOT_EVERY 64u

typedef struct mapping {
    char *at; /* NULL: free */
    size_t size;
    uint64_t inode;
} mapping;

static pthread_mutex_t map_mutex = PTHREAD_MUTEX_INITIALIZER;
static mapping mappings[MAP_COUNT];

/* ------------------------------------------------------------------ writes */

static void done_write(recorder_event *event, ssize_t written)
{
    if (event != NULL && written >= 0)
        event->length = (uint64_t)written;
    log_done(event, written >= 0);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count,
                       off_t offset)
{
    recorder_event *event = NULL;
    descriptor file;
    ssize_t size;

    if (log_is_file(fd, &file))
        event = log_begin_write(&file, offset, parts, count);
    size = REAL(pwritev)(fd, parts, count, offset);
    done_write(event, size);
    return size;
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *parts, int count,
                         off64_t offset)
{
    return pwritev(fd, parts, count, offset);
}

EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count,
                        off_t offset, int flags)
{
    log_unknown(fd, "pwritev2");
    return REAL(pwritev2)(fd, parts, count, offset, flags);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    struct iovec part = {(void *)(uintptr_t)data, size};
    recorder_event *event = NULL;
    descriptor file;
    ssize_t written;

    if (log_is_file(fd, &file))
        event = log_begin_write(&file, offset, &part, 1);
    written = REAL(pwrite)(fd, data, size, offset);
    done_write(event, written);
    return written;
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    return pwrite(fd, data, size, offset);
}

/* The offset of a write without one. A descriptor shared by threads has one
 * position: their writes are assumed to take turns. */
static off_t position(int fd)
{
    struct stat info;

    if ((fcntl(fd, F_GETFL) & O_APPEND) != 0 && fstat(fd, &info) == 0)
        return info.st_size;
    return lseek(fd, 0, SEEK_CUR);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    recorder_event *event = NULL;
    descriptor file;
    ssize_t size;

    if (log_is_file(fd, &file))
        event = log_begin_write(&file, position(fd), parts, count);
    size = REAL(writev)(fd, parts, count);
    done_write(event, size);
    return size;
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    struct iovec part = {(void *)(uintptr_t)data, size};
    recorder_event *event = NULL;
    descriptor file;
    ssize_t written;

    if (log_is_file(fd, &file))
        event = log_begin_write(&file, position(fd), &part, 1);
    written = REAL(write)(fd, data, size);
    done_write(event, written);
    return written;
}

EXPORT ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
    log_unknown(to, "sendfile");
    return REAL(sendfile)(to, from, offset, size);
}

EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int to,
                               off64_t *to_at, size_t size, unsigned flags)
{
    log_unknown(to, "copy_file_range");
    return REAL(copy_file_range)(from, from_at, to, to_at, size, flags);
}

EXPORT ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at,
                      size_t size, unsigned flags)
{
    log_unknown(to, "splice");
    return REAL(splice)(from, from_at, to, to_at, size, flags);
}

/* ------------------------------------------------------------------- sizes */

static recorder_event *begin_size(uint32_t what, int fd, off_t size)
{
    recorder_event *event;
    descriptor file;

    if (!log_is_file(fd, &file))
        return NULL;
    event = log_begin(what, file.inode, NULL, 0, 0);
    if (event != NULL)
        event->length = (uint64_t)size;
    return event;
}

EXPORT int ftruncate(int fd, off_t size)
{
    recorder_event *event = begin_size(RECORDER_SIZE, fd, size);
    int rc = REAL(ftruncate)(fd, size);

    log_done(event, rc == 0);
    return rc;
}

EXPORT int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

EXPORT int posix_fallocate(int fd, off_t offset, off_t size)
{
    recorder_event *event = begin_size(RECORDER_EXTEND, fd, offset + size);
    int rc = REAL(posix_fallocate)(fd, offset, size);

    log_done(event, rc == 0);
    return rc;
}

EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
    return posix_fallocate(fd, offset, size);
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t size)
{
    recorder_event *event = NULL;
    int rc;

    if (mode == 0)
        event = begin_size(RECORDER_EXTEND, fd, offset + size);
    else if (mode != FALLOC_FL_KEEP_SIZE)
        log_unknown(fd, "fallocate");
    rc = REAL(fallocate)(fd, mode, offset, size);
    log_done(event, rc == 0);
    return rc;
}

EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    return fallocate(fd, mode, offset, size);
}

/* ------------------------------------------------------------------- syncs */

static recorder_event *begin_sync(int fd)
{
    char path[PATH_MAX];
    descriptor file;

    switch (log_look_up(fd, &file)) {
    case REGULAR:
        return log_begin(RECORDER_SYNC, file.inode, NULL, 0, 0);
    case DIRECTORY:
        if (log_descriptor_path(fd, path) && log_below_root(path) != NULL)
            return log_begin(RECORDER_SYNC_DIR, file.inode,
                             log_below_root(path),
                             strlen(log_below_root(path)) + 1, 0);
        return NULL;
    default:
        return NULL;
    }
}

EXPORT int fsync(int fd)
{
    recorder_event *event = begin_sync(fd);
    int rc = REAL(fsync)(fd);

    log_done(event, rc == 0);
    return rc;
}

EXPORT int fdatasync(int fd)
{
    recorder_event *event = begin_sync(fd);
    int rc = REAL(fdatasync)(fd);

    log_done(event, rc == 0);
    return rc;
}

/* It promises nothing about the disk's cache or the file's size, so it is
 * passed on and makes nothing durable. */
EXPORT int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags)
{
    return REAL(sync_file_range)(fd, offset, size, flags);
}

/* -------------------------------------------------------------------- maps */

static void remember_map(void *at, size_t size, uint64_t inode)
{
    pthread_mutex_lock(&map_mutex);
    for (size_t i = 0; i < MAP_COUNT; i++) {
        if (mappings[i].at == NULL) {
            mappings[i] = (mapping){at, size, inode};
            pthread_mutex_unlock(&map_mutex);
            return;
        }
    }
    abort();
}

static void remove_map(const void *at)
{
    pthread_mutex_lock(&map_mutex);
    for (size_t i = 0; i < MAP_COUNT; i++) {
        if (mappings[i].at == at)
            mappings[i].at = NULL;
    }
    pthread_mutex_unlock(&map_mutex);
}

static bool find_map(const void *at, mapping *result)
{
    uintptr_t place = (uintptr_t)at;
    bool found = false;

    pthread_mutex_lock(&map_mutex);
    for (size_t i = 0; i < MAP_COUNT && !found; i++) {
        uintptr_t first = (uintptr_t)mappings[i].at;

        found =
            first != 0 && place >= first && place < first + mappings[i].size;
        if (found)
            *result = mappings[i];
    }
    pthread_mutex_unlock(&map_mutex);
    return found;
}

EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset)
{
    void *memory = REAL(mmap)(at, size, protection, flags, fd, offset);
    char path[PATH_MAX];
    descriptor file;

    if (memory == MAP_FAILED || (flags & MAP_ANONYMOUS) != 0 ||
        (flags & MAP_TYPE) == MAP_PRIVATE || (protection & PROT_WRITE) == 0 ||
        !log_is_file(fd, &file) || !log_descriptor_path(fd, path))
        return memory;
    if (offset != 0)
        log_unknown(fd, "mmap");
    log_done(log_begin(RECORDER_MAPPED, file.inode, log_below_root(path),
                       strlen(log_below_root(path)) + 1, 0),
             true);
    remember_map(memory, size, file.inode);
    return memory;
}

EXPORT void *mmap64(void *at, size_t size, int protection, int flags, int fd,
                    off64_t offset)
{
    return mmap(at, size, protection, flags, fd, offset);
}

EXPORT int munmap(void *at, size_t size)
{
    if (log_recording())
        remove_map(at);
    return REAL(munmap)(at, size);
}

static recorder_event *begin_map_write(const mapping *map, const char *at,
                                       size_t size, bool synced)
{
    descriptor file = {REGULAR, synced, map->inode};
    struct iovec part = {(void *)(uintptr_t)at, size};

    return log_begin_write(&file, at - map->at, &part, 1);
}

EXPORT int msync(void *at, size_t size, int flags)
{
    recorder_event *event = NULL;
    mapping map;
    int rc;

    if (log_recording() && (flags & MS_SYNC) != 0 && find_map(at, &map))
        event = begin_map_write(&map, at, size, true);
    rc = REAL(msync)(at, size, flags);
    log_done(event, rc == 0);
    return rc;
}

/* ------------------------------------------------------------------- marks */

/* The kernel may write back a mapped page at any time. */
static void snapshot_maps(void)
{
    for (size_t i = 0; i < MAP_COUNT; i++) {
        /* Held so that the map stays while it is copied. */
        pthread_mutex_lock(&map_mutex);
        if (mappings[i].at != NULL)
            log_done(begin_map_write(&mappings[i], mappings[i].at,
                                     mappings[i].size, false),
                     true);
        pthread_mutex_unlock(&map_mutex);
    }
}

EXPORT void recorder_mark(uint32_t what, uint64_t who, uint64_t number,
                          uint64_t value);

void recorder_mark(uint32_t what, uint64_t who, uint64_t number, uint64_t value)
{
    static unsigned count;
    recorder_event *event;

    if (!log_recording())
        return;
    event = log_begin(RECORDER_MARK, who, NULL, 0, 0);
    if (event == NULL)
        return;
    event->offset = number;
    event->length = value;
    event->flags = what;
    log_done(event, true);
    if (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % SNAPSHOT_EVERY == 0)
        snapshot_maps();
}
