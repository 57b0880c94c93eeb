/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder_log.c - the recorder's log and its table of descriptors.
 *
 * Space in the log is reserved by an atomic addition, so that threads and
 * processes write to it without a lock; table_mutex guards the table.
 */
#include "recorder_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTOR_MAX 4096

static pthread_once_t once = PTHREAD_ONCE_INIT;
static recorder_head *head; /* NULL: nothing is recorded */
static char root[PATH_MAX];
static size_t root_size;

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static descriptor descriptors[DESCRIPTOR_MAX];

void (*log_real(const char *name))(void)
{
    void *found = dlsym(RTLD_NEXT, name);
    void (*function)(void);

    if (found == NULL)
        abort();
    memcpy(&function, &found, sizeof(function));
    return function;
}

static void start(void)
{
    const char *log = getenv(RECORDER_LOG);
    const char *where = getenv(RECORDER_ROOT);
    struct stat info;
    void *memory;
    int fd;

    if (log == NULL || where == NULL || strlen(where) >= sizeof(root))
        return;
    fd = REAL(open)(log, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        abort();
    memory = REAL(mmap)(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE,
                        MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        abort();
    (void)REAL(close)(fd);
    memcpy(root, where, strlen(where) + 1);
    root_size = strlen(root);
    head = memory;
}

bool log_recording(void)
{
    pthread_once(&once, start);
    return head != NULL;
}

/* --------------------------------------------------------------------- log */

static uint64_t next_tick(void)
{
    return __atomic_add_fetch(&head->tick, 1, __ATOMIC_SEQ_CST);
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t round_up(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

recorder_event *log_begin(uint32_t what, uint64_t inode, const char *name,
                          size_t name_size, size_t data_size)
{
    size_t size =
        sizeof(recorder_event) + round_up(name_size) + round_up(data_size);
    uint64_t at = __atomic_fetch_add(&head->tail, size, __ATOMIC_SEQ_CST);
    recorder_event *event = (recorder_event *)(void *)((char *)head + at);

    if (size > UINT32_MAX || at + size > head->capacity)
        return NULL;
    event->size = (uint32_t)size;
    event->kind = what;
    event->file = inode;
    event->name_size = (uint32_t)name_size;
    event->time_ms = now_ms();
    if (name_size > 0)
        memcpy(event + 1, name, name_size);
    event->begin = next_tick();
    return event;
}

void log_done(recorder_event *event, bool worked)
{
    if (event != NULL && worked)
        event->done = next_tick();
}

static char *data_of(recorder_event *event)
{
    return (char *)(event + 1) + round_up(event->name_size);
}

/* As the kernel copies a page that others are writing to: word by word, and not
 * by memcpy(), where a sanitizer would report a race. */
static void copy(char *to, const volatile char *from, size_t size)
{
    for (; size >= 8 && ((uintptr_t)from & 7) == 0; size -= 8) {
        uint64_t word = *(const volatile uint64_t *)(const volatile void *)from;

        memcpy(to, &word, sizeof(word));
        to += 8;
        from += 8;
    }
    while (size-- > 0)
        *to++ = *from++;
}

recorder_event *log_begin_write(const descriptor *file, off_t offset,
                                const struct iovec *parts, int count)
{
    recorder_event *event;
    size_t size = 0;
    char *to;

    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    event = log_begin(RECORDER_WRITE, file->inode, NULL, 0, size);
    if (event == NULL)
        return NULL;
    event->offset = (uint64_t)offset;
    event->length = size;
    event->flags = file->synced ? RECORDER_SYNCED : 0;
    to = data_of(event);
    for (int i = 0; i < count; i++) {
        copy(to, parts[i].iov_base, parts[i].iov_len);
        to += parts[i].iov_len;
    }
    return event;
}

/* ------------------------------------------------------------------- files */

const char *log_below_root(const char *path)
{
    if (strncmp(path, root, root_size) != 0)
        return NULL;
    if (path[root_size] == '\0')
        return path + root_size;
    return path[root_size] == '/' ? path + root_size + 1 : NULL;
}

bool log_descriptor_path(int fd, char path[PATH_MAX])
{
    char link[64];
    ssize_t size;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    size = readlink(link, path, PATH_MAX - 1);
    if (size < 0)
        return false;
    path[size] = '\0';
    return true;
}

static void look_at(int fd, descriptor *result)
{
    char path[PATH_MAX];
    struct stat info;

    result->kind = OTHER;
    if (fstat(fd, &info) != 0 || !log_descriptor_path(fd, path) ||
        log_below_root(path) == NULL)
        return;
    if (S_ISDIR(info.st_mode))
        result->kind = DIRECTORY;
    else if (S_ISREG(info.st_mode))
        result->kind = REGULAR;
    result->inode = info.st_ino;
    result->synced = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
}

kind log_look_up(int fd, descriptor *result)
{
    memset(result, 0, sizeof(*result));
    if (!log_recording() || fd < 0)
        return OTHER;
    if (fd >= DESCRIPTOR_MAX) {
        look_at(fd, result);
        return result->kind;
    }
    pthread_mutex_lock(&table_mutex);
    if (descriptors[fd].kind == UNSEEN)
        look_at(fd, &descriptors[fd]);
    *result = descriptors[fd];
    pthread_mutex_unlock(&table_mutex);
    return result->kind;
}

bool log_is_file(int fd, descriptor *result)
{
    return log_look_up(fd, result) == REGULAR;
}

void log_closed(int fd)
{
    if (fd < 0 || fd >= DESCRIPTOR_MAX)
        return;
    pthread_mutex_lock(&table_mutex);
    memset(&descriptors[fd], 0, sizeof(descriptors[fd]));
    pthread_mutex_unlock(&table_mutex);
}

void log_unknown(int fd, const char *call)
{
    descriptor file;

    if (log_is_file(fd, &file))
        log_done(
            log_begin(RECORDER_UNKNOWN, file.inode, call, strlen(call) + 1, 0),
            true);
}
