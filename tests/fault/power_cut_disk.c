/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_disk.c - the model of a disk under a file system.
 *
 * What a file system promises, and no more:
 *
 * 1. A sector of 512 bytes is written whole or not at all.
 * 2. fsync() and fdatasync() make durable what was written to the file, and its
 *    size, before they began. A write through O_DSYNC, or msync(), is durable
 *    when it returns, with a size that reaches it.
 * 3. A name (a file created, renamed, removed) is durable after fsync() of its
 *    directory that began later. Renaming is atomic. Names of one directory
 *    become durable in their order, or (a quarter of the images) in any order.
 * 4. Everything else may be on the disk or not, sector by sector, whatever the
 *    order in which it was written. What a file's size covers and was never
 *    written is zero.
 *
 * State: what is durable is folded into each file's `base`; the rest is kept in
 * lists, in the order of the calls.
 */
#include "power_cut_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512u
/* The meta pages of LMDB, and the head of every other file. */
#define HEAD_SIZE 8192u
#define NAME_MAX_SIZE 128
#define ENTRY_MAX 64
#define FILE_MAX 4096

/* A call's begin or end. */
typedef struct moment {
    uint64_t tick;
    recorder_event *event;
} moment;

typedef struct change {
    const recorder_event *event;
    size_t file;  /* CREATE: which */
    bool durable; /* but an earlier one is not */
} change;

typedef struct changes {
    change *items;
    size_t count;
    size_t room;
} changes;

typedef struct content {
    unsigned char *bytes;
    size_t size;
    size_t used; /* zeros follow, perhaps without memory */
    size_t room;
} content;

typedef struct file {
    uint64_t inode;
    content base;
    changes loose;
} file;

typedef struct entry {
    char name[NAME_MAX_SIZE];
    bool folder;
    size_t file;
} entry;

typedef struct names {
    entry entries[ENTRY_MAX];
    size_t count;
} names;

struct disk {
    unsigned ignored;
    moment *moments;
    size_t moment_count;
    size_t at;
    file files[FILE_MAX];
    size_t file_count;
    names base;
    changes loose;
    int64_t time_ms;
};

static void *grown(void *memory, size_t size)
{
    void *result = realloc(memory, size);

    if (result == NULL) {
        perror("power_cut");
        exit(2);
    }
    return result;
}

static const char *name_of(const recorder_event *event)
{
    return (const char *)(event + 1);
}

static const unsigned char *data_of(const recorder_event *event)
{
    return (const unsigned char *)(event + 1) + ((event->name_size + 7u) & ~7u);
}

const char *cut_name(cut how)
{
    static const char *const texts[CUT_COUNT] = {
        "none", "all", "last", "writes", "sectors", "head", "all-but-one"};

    return texts[how];
}

/* ---------------------------------------------------------------- contents */

static void content_room(content *self, size_t size)
{
    if (size <= self->room)
        return;
    size += size / 2;
    self->bytes = grown(self->bytes, size);
    memset(self->bytes + self->room, 0, size - self->room);
    self->room = size;
}

static void content_cut(content *self, size_t size)
{
    if (size < self->used) {
        memset(self->bytes + size, 0, self->used - size);
        self->used = size;
    }
    self->size = size;
}

static void content_put(content *self, size_t at, const unsigned char *data,
                        size_t size)
{
    content_room(self, at + size);
    memcpy(self->bytes + at, data, size);
    if (self->used < at + size)
        self->used = at + size;
}

static void content_copy(content *to, const content *from)
{
    memset(to, 0, sizeof(*to));
    content_room(to, from->used);
    if (from->used > 0)
        memcpy(to->bytes, from->bytes, from->used);
    to->used = from->used;
    to->size = from->size;
}

/* The whole change. */
static void apply(content *to, const recorder_event *event)
{
    size_t end = event->kind == RECORDER_WRITE ? event->offset + event->length
                                               : event->length;

    if (event->kind == RECORDER_WRITE)
        content_put(to, event->offset, data_of(event), event->length);
    if (event->kind == RECORDER_SIZE)
        content_cut(to, end);
    else if (to->size < end)
        to->size = end;
}

/* ------------------------------------------------------------------- names */

static entry *names_find(names *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->entries[i].name, name) == 0)
            return &self->entries[i];
    }
    return NULL;
}

static void names_remove(names *self, const char *name)
{
    entry *found = names_find(self, name);

    if (found != NULL)
        *found = self->entries[--self->count];
}

static void names_put(names *self, const char *name, bool folder, size_t where)
{
    entry *to;

    names_remove(self, name);
    if (self->count == ENTRY_MAX || strlen(name) >= NAME_MAX_SIZE) {
        fprintf(stderr, "power_cut: too many names\n");
        exit(2);
    }
    to = &self->entries[self->count++];
    memcpy(to->name, name, strlen(name) + 1);
    to->folder = folder;
    to->file = where;
}

static void names_apply(names *to, const change *what)
{
    const char *name = name_of(what->event);
    const entry *found;

    switch (what->event->kind) {
    case RECORDER_RENAME:
        found = names_find(to, name);
        if (found != NULL) {
            names_put(to, name + strlen(name) + 1, found->folder, found->file);
            names_remove(to, name);
        }
        break;
    case RECORDER_UNLINK:
        names_remove(to, name);
        break;
    default:
        names_put(to, name, what->event->kind == RECORDER_MKDIR, what->file);
    }
}

static bool is_in(const char *name, const char *folder)
{
    const char *slash = strrchr(name, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - name);

    return size == strlen(folder) && memcmp(name, folder, size) == 0;
}

/* ----------------------------------------------------------------- changes */

static void changes_add(changes *to, const recorder_event *event, size_t where)
{
    if (to->count == to->room) {
        to->room = to->room * 2 + 16;
        to->items = grown(to->items, to->room * sizeof(to->items[0]));
    }
    to->items[to->count++] = (change){event, where, false};
}

/* Remove what is durable from the front; returns how many. */
static void changes_drop(changes *from, size_t count)
{
    from->count -= count;
    memmove(from->items, from->items + count,
            from->count * sizeof(from->items[0]));
}

static void fold_file(file *self)
{
    size_t count = 0;

    while (count < self->loose.count && self->loose.items[count].durable)
        apply(&self->base, self->loose.items[count++].event);
    changes_drop(&self->loose, count);
}

static void fold_names(disk *self)
{
    size_t count = 0;

    while (count < self->loose.count && self->loose.items[count].durable)
        names_apply(&self->base, &self->loose.items[count++]);
    changes_drop(&self->loose, count);
}

static file *file_of(disk *self, const recorder_event *event)
{
    /* The youngest with this number: numbers are reused. */
    for (size_t i = self->file_count; i > 0; i--) {
        if (self->files[i - 1].inode == event->file)
            return &self->files[i - 1];
    }
    fprintf(stderr, "power_cut: a file was changed that was never created\n");
    exit(2);
}

static size_t add_file(disk *self, uint64_t inode)
{
    if (self->file_count == FILE_MAX) {
        fprintf(stderr, "power_cut: too many files\n");
        exit(2);
    }
    self->files[self->file_count].inode = inode;
    return self->file_count++;
}

static void sync_file(file *self, uint64_t before)
{
    for (size_t i = 0; i < self->loose.count; i++) {
        if (self->loose.items[i].event->done < before)
            self->loose.items[i].durable = true;
    }
    fold_file(self);
}

static void sync_one(file *self, const recorder_event *event)
{
    for (size_t i = 0; i < self->loose.count; i++) {
        if (self->loose.items[i].event == event)
            self->loose.items[i].durable = true;
    }
    fold_file(self);
}

/* Who has made a directory may not have run since, while others use it. */
static bool was_done(const disk *self, const recorder_event *event,
                     uint64_t before)
{
    const char *name = name_of(event);
    size_t size = strlen(name);
    bool done = event->done < before;

    if (event->kind != RECORDER_MKDIR)
        return done;
    for (size_t i = 0; !done && i < self->moment_count; i++) {
        const recorder_event *other = self->moments[i].event;

        done = other->kind == RECORDER_CREATE && other->done < before &&
               strncmp(name_of(other), name, size) == 0 &&
               name_of(other)[size] == '/';
    }
    return done;
}

static void sync_names(disk *self, const recorder_event *event)
{
    for (size_t i = 0; i < self->loose.count; i++) {
        change *item = &self->loose.items[i];

        if (was_done(self, item->event, event->begin) &&
            is_in(name_of(item->event), name_of(event)))
            item->durable = true;
    }
    fold_names(self);
}

/* ----------------------------------------------------------------- moments */

static int compare(const void *a, const void *b)
{
    const moment *first = a;
    const moment *second = b;

    return first->tick < second->tick ? -1 : first->tick > second->tick;
}

static const char *collect(disk *self, const recorder_head *log)
{
    char *at = (char *)(uintptr_t)log + RECORDER_HEAD_SIZE;
    char *end = (char *)(uintptr_t)log + log->tail;
    size_t room = 0;

    if (log->magic != RECORDER_MAGIC || log->tail > log->capacity)
        return "the log is too small";
    while (at < end) {
        recorder_event *event = (recorder_event *)(void *)at;

        if (event->kind == RECORDER_UNKNOWN)
            return name_of(event);
        if (event->kind == RECORDER_MAPPED &&
            strstr(name_of(event), "data") != NULL)
            return "a data file was mapped for writing";
        at += event->size;
        if (event->done == 0)
            continue; /* it failed */
        if (self->moment_count + 2 > room) {
            room = room * 2 + 1024;
            self->moments = grown(self->moments, room * sizeof(moment));
        }
        self->moments[self->moment_count++] = (moment){event->begin, event};
        self->moments[self->moment_count++] = (moment){event->done, event};
    }
    qsort(self->moments, self->moment_count, sizeof(moment), compare);
    return NULL;
}

disk *disk_new(const recorder_head *log, unsigned ignored, const char **why)
{
    disk *self = calloc(1, sizeof(*self));

    if (self == NULL)
        exit(2);
    self->ignored = ignored;
    *why = collect(self, log);
    if (*why == NULL)
        return self;
    disk_free(self);
    return NULL;
}

void disk_free(disk *self)
{
    for (size_t i = 0; i < self->file_count; i++) {
        free(self->files[i].base.bytes);
        free(self->files[i].loose.items);
    }
    free(self->loose.items);
    free(self->moments);
    free(self);
}

size_t disk_moment_count(const disk *self)
{
    return self->moment_count;
}

int64_t disk_time_ms(const disk *self)
{
    return self->time_ms;
}

size_t disk_loose(const disk *self)
{
    size_t count = self->loose.count;

    for (size_t i = 0; i < self->file_count; i++)
        count += self->files[i].loose.count;
    return count;
}

static void begin_event(disk *self, const recorder_event *event)
{
    switch (event->kind) {
    case RECORDER_WRITE:
    case RECORDER_SIZE:
    case RECORDER_EXTEND:
        changes_add(&file_of(self, event)->loose, event, 0);
        break;
    case RECORDER_CREATE:
        changes_add(&self->loose, event, add_file(self, event->file));
        break;
    case RECORDER_MKDIR:
    case RECORDER_RENAME:
    case RECORDER_UNLINK:
        changes_add(&self->loose, event, 0);
        break;
    default:
        break;
    }
}

/* Was something made durable? */
static bool end_event(disk *self, const recorder_event *event)
{
    unsigned ignored = self->ignored;

    switch (event->kind) {
    case RECORDER_WRITE:
        if ((event->flags & RECORDER_SYNCED) == 0 ||
            (ignored & DISK_IGNORE_DSYNC) != 0)
            return false;
        sync_one(file_of(self, event), event);
        return true;
    case RECORDER_SYNC:
        if ((ignored & DISK_IGNORE_SYNC) == 0)
            sync_file(file_of(self, event), event->begin);
        return true;
    case RECORDER_SYNC_DIR:
        if ((ignored & DISK_IGNORE_SYNC_DIR) == 0)
            sync_names(self, event);
        return true;
    default:
        return false;
    }
}

const recorder_event *disk_step(disk *self, bool *boundary)
{
    const moment *now = &self->moments[self->at++];
    const recorder_event *event = now->event;

    *boundary = false;
    self->time_ms = event->time_ms;
    if (event->kind == RECORDER_MARK)
        return now->tick == event->done ? event : NULL;
    if (now->tick == event->begin)
        begin_event(self, event);
    else
        *boundary = end_event(self, event);
    return NULL;
}

/* ------------------------------------------------------------------ images */

/* Is this sector of the change on the disk? */
static bool sector_stays(cut how, prng *random, size_t at)
{
    switch (how) {
    case CUT_SECTORS:
        return prng_chance(random, 50);
    case CUT_HEAD:
        return at < HEAD_SIZE && prng_chance(random, 70);
    case CUT_ALL_BUT_ONE:
        return !prng_chance(random, 3);
    default:
        return true;
    }
}

static void apply_torn(content *to, const recorder_event *event, cut how,
                       prng *random)
{
    const unsigned char *data = data_of(event);
    size_t end = event->offset + event->length;
    size_t reached = 0;

    for (size_t at = event->offset; at < end;) {
        size_t next = (at / SECTOR + 1) * SECTOR;

        if (next > end)
            next = end;
        if (sector_stays(how, random, at)) {
            content_put(to, at, data + (at - event->offset), next - at);
            reached = next;
        }
        at = next;
    }
    if (to->size < reached && prng_chance(random, 70))
        to->size = reached;
}

static bool change_stays(const changes *loose, size_t index, cut how,
                         prng *random)
{
    switch (how) {
    case CUT_NONE:
        return false;
    case CUT_LAST:
        return index + 1 == loose->count;
    case CUT_WRITES:
        return prng_chance(random, 50);
    default:
        return true;
    }
}

/* Truncation drops what is behind it, which a disk would have lost. */
static void build_content(const file *self, cut how, prng *random,
                          content *result)
{
    content_copy(result, &self->base);
    for (size_t i = 0; i < self->loose.count; i++) {
        const change *item = &self->loose.items[i];

        if (item->durable)
            apply(result, item->event);
        else if (!change_stays(&self->loose, i, how, random))
            continue;
        else if (item->event->kind == RECORDER_WRITE && how > CUT_WRITES)
            apply_torn(result, item->event, how, random);
        else
            apply(result, item->event);
    }
    content_cut(result, result->size);
}

static void build_names(const disk *self, cut how, prng *random, names *result)
{
    bool ordered = how <= CUT_LAST || !prng_chance(random, 25);
    size_t some =
        self->loose.count == 0 ? 0 : prng_below(random, self->loose.count + 1);

    if (how == CUT_NONE)
        some = 0;
    else if (how <= CUT_LAST)
        some = self->loose.count;
    *result = self->base;
    for (size_t i = 0; i < self->loose.count; i++) {
        const change *item = &self->loose.items[i];
        bool stays = ordered ? i < some : prng_chance(random, 50);

        if (item->durable || stays)
            names_apply(result, item);
    }
}

static bool write_file(const char *path, const content *from)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool worked;

    if (fd < 0)
        return errno == ENOENT; /* its folder was lost */
    worked = ftruncate(fd, (off_t)from->size) == 0 &&
             (from->used == 0 ||
              write(fd, from->bytes, from->used) == (ssize_t)from->used);
    return close(fd) == 0 && worked;
}

static bool build_file(const file *self, cut how, prng *random,
                       const char *path)
{
    content whole;
    bool worked;

    build_content(self, how, random, &whole);
    worked = write_file(path, &whole);
    free(whole.bytes);
    return worked;
}

bool disk_build(const disk *self, cut how, prng *random, const char *folder)
{
    names found;
    char path[PATH_MAX];

    build_names(self, how, random, &found);
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < found.count; i++) {
            const entry *one = &found.entries[i];

            (void)snprintf(path, sizeof(path), "%s/%s", folder, one->name);
            if (one->folder && pass == 0 && mkdir(path, 0700) != 0)
                return false;
            if (!one->folder && pass == 1 &&
                !build_file(&self->files[one->file], how, random, path))
                return false;
        }
    }
    return true;
}
