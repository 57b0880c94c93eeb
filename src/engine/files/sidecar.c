/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.c - creating and mapping the sidecar; which processes are alive.
 *
 * The file is created atomically: filled under another name and then renamed.
 * `state` says whether the data file is complete, too. All blocks are allocated
 * at once, so that a full file system is an error here and not SIGBUS later.
 * The writer lock is in writer_lock.c.
 */
#include "engine/files/sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "engine/files/rights.h"
#include "engine/files/sum.h"
#include "util/clock.h"
#include "util/digits.h"
#include "util/error.h"
#include "util/rand.h"

#define MAGIC "HFSIDE\r\n"
/* Earlier versions ended before these fields. */
#define SIZE_1 offsetof(hf__sidecar_map, unix_ahead_ms)
#define SIZE_2 offsetof(hf__sidecar_map, texts)
#define SIZE_3 offsetof(hf__sidecar_map, front)
/* What is looked at, and cleared, at once. */
#define CLEAR_SIZE ((size_t)4096)
#define NEW_NAME HF__FILE_SIDECAR ".new"

static void init_lock(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

static hf_status map_file(hf__sidecar *sidecar, hf_error *err)
{
    void *memory = mmap(NULL, sizeof(hf__sidecar_map), PROT_READ | PROT_WRITE,
                        MAP_SHARED, sidecar->fd, 0);

    if (memory == MAP_FAILED)
        return hf__fail_errno(err, HF_SYSTEM, errno, "cannot map the sidecar");
    sidecar->map = memory;
    return HF_OK;
}

uint64_t hf__sidecar_head_sum(const hf__sidecar_map *map)
{
    uint64_t sum = hf__sum(0, map, offsetof(hf__sidecar_map, state));

    sum = hf__sum(sum, map->boot_id, sizeof(map->boot_id));
    if (map->version == 1)
        return sum;
    return hf__sum(sum, &map->unix_ahead_ms, sizeof(map->unix_ahead_ms));
}

int64_t hf__sidecar_unix_ahead_ms(const hf__sidecar *sidecar)
{
    const hf__sidecar_map *map = sidecar->map;

    return map->version == 1 ? hf__clock_unix_ahead_ms()
                             : map->unix_ahead_ms - sidecar->namespace_ms;
}

int64_t hf__sidecar_now_ms(const hf__sidecar *sidecar, int64_t boot_ms)
{
    if (sidecar->map->mode == HF__MODE_VOLATILE)
        return hf__sidecar_machine_ms(sidecar, boot_ms);
    return boot_ms + hf__sidecar_unix_ahead_ms(sidecar);
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Most of it is 0 already. The first write to a page of a file is a fault in
 * which the file system allocates and notes it; a read is not. */
static void clear_memory(void *memory, size_t size)
{
    unsigned char *bytes = memory;
    size_t piece;

    for (; size > 0; bytes += piece, size -= piece) {
        piece = size < CLEAR_SIZE ? size : CLEAR_SIZE;
        if (!is_zero(bytes, piece))
            memset(bytes, 0, piece);
    }
}

void hf__sidecar_reset(hf__sidecar_map *map)
{
    map->sweep_ms = 0;
    map->pending_deletes = 1; /* unknown */
    map->sweep_size = 0;
    map->inbox_next = 0;
    map->watched = 0;
    init_lock(&map->writer);
    clear_memory(map->buckets, sizeof(map->buckets));
    clear_memory(map->inboxes, sizeof(map->inboxes));
    if (hf__sidecar_has_texts(map))
        clear_memory(map->texts, sizeof(map->texts));
    if (hf__sidecar_has_front(map)) {
        memset(&map->front, 0, sizeof(map->front));
        init_lock(&map->front.writer);
    }
}

static hf_status fill_file(uint32_t mode, uint32_t state, int64_t ahead_ms,
                           hf__sidecar *sidecar, hf_error *err)
{
    hf__sidecar_map *map;
    hf_status status;

    status = hf__files_allocate(sidecar->fd, sizeof(hf__sidecar_map), err);
    if (status != HF_OK)
        return status;
    status = map_file(sidecar, err);
    if (status != HF_OK)
        return status;
    map = sidecar->map;
    memcpy(map->magic, MAGIC, sizeof(map->magic));
    map->version = HF__SIDECAR_VERSION;
    map->map_size = (uint32_t)sizeof(*map);
    sidecar->namespace_ms = hf__clock_namespace_ms();
    map->unix_ahead_ms =
        ahead_ms != 0 ? ahead_ms
                      : hf__clock_unix_ahead_ms() + sidecar->namespace_ms;
    map->mode = mode;
    map->state = state;
    status = hf__boot_id_read(map->boot_id, err);
    if (status != HF_OK)
        return status;
    map->head_sum = hf__sidecar_head_sum(map);
    hf__sidecar_reset(map);
    return HF_OK;
}

static hf_status fill_new(int dir_fd, uint32_t mode, uint32_t state,
                          int64_t ahead_ms, hf__sidecar *sidecar, hf_error *err)
{
    hf_status status = fill_file(mode, state, ahead_ms, sidecar, err);
    hf__sidecar_map *map = sidecar->map;

    if (status != HF_OK)
        return status;
    /* Synced before the rename: a power cut must not leave half of it. */
    if (mode != HF__MODE_VOLATILE &&
        (msync(map, sizeof(*map), MS_SYNC) != 0 || fsync(sidecar->fd) != 0))
        return hf__files_fail(err, errno, "cannot sync the sidecar");
    if (renameat(dir_fd, NEW_NAME, dir_fd, HF__FILE_SIDECAR) != 0)
        return hf__fail_errno(err, HF_SYSTEM, errno,
                              "cannot rename the sidecar");
    /* The sidecar must be on disk before the data file: alone that is an
     * error. */
    if (mode != HF__MODE_VOLATILE && fsync(dir_fd) != 0)
        return hf__files_fail(err, errno, "cannot sync the directory");
    return HF_OK;
}

hf_status hf__sidecar_create(int dir_fd, uint32_t mode, uint32_t state,
                             int64_t ahead_ms, hf__sidecar *sidecar,
                             hf_error *err)
{
    hf_status status;

    memset(sidecar, 0, sizeof(*sidecar));
    (void)unlinkat(dir_fd, NEW_NAME, 0);
    sidecar->fd = hf__rights_create(dir_fd, NEW_NAME, O_RDWR);
    if (sidecar->fd < 0)
        return hf__files_fail(err, errno, "cannot create the sidecar");
    status = fill_new(dir_fd, mode, state, ahead_ms, sidecar, err);
    if (status != HF_OK) {
        (void)unlinkat(dir_fd, NEW_NAME, 0);
        hf__sidecar_close(sidecar);
    }
    return status;
}

int64_t hf__sidecar_kept_clock(const hf__sidecar *sidecar)
{
    return sidecar->map->version > 1 ? sidecar->map->unix_ahead_ms : 0;
}

hf_status hf__sidecar_private(uint32_t mode, hf__sidecar *sidecar,
                              hf_error *err)
{
    hf_status status;

    memset(sidecar, 0, sizeof(*sidecar));
    sidecar->fd = memfd_create("holdfast", MFD_CLOEXEC);
    if (sidecar->fd < 0)
        return hf__files_fail(err, errno, "cannot create a file in memory");
    status = fill_file(mode, HF__SIDECAR_READY, 0, sidecar, err);
    if (status != HF_OK)
        hf__sidecar_close(sidecar);
    return status;
}

static size_t size_of(uint32_t version)
{
    static const size_t earlier[] = {0,
                                     SIZE_1,
                                     SIZE_2,
                                     SIZE_3,
                                     sizeof(hf__sidecar_map),
                                     sizeof(hf__sidecar_map)};

    return version < HF__SIDECAR_VERSION ? earlier[version]
                                         : sizeof(hf__sidecar_map);
}

/* Accessing the map of a short file would be SIGBUS. */
static hf_status check_size(int fd, hf_error *err)
{
    struct stat info;
    char head[16] = {0};
    uint32_t version;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return hf__fail(err, HF_CORRUPT, "the sidecar is not a regular file");
    if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head, MAGIC, 8) != 0)
        return hf__fail(err, HF_CORRUPT, "the sidecar is not a holdfast one");
    memcpy(&version, head + 8, sizeof(version));
    if (version > HF__SIDECAR_VERSION)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the store has format %u, newer than this library's %u",
                        version, HF__SIDECAR_VERSION);
    if (version == 0 || info.st_size != (off_t)size_of(version))
        return hf__fail(err, HF_CORRUPT, "the sidecar is damaged");
    return HF_OK;
}

static hf_status check_map(const hf__sidecar_map *map, hf_error *err)
{
    if (map->map_size != size_of(map->version))
        return hf__fail(err, HF_UNSUPPORTED,
                        "the store is used by programs of another word size");
    if (map->mode < HF__MODE_VOLATILE || map->mode > HF__MODE_LOG ||
        (map->mode == HF__MODE_LOG && map->version < 3) ||
        map->state < HF__SIDECAR_CREATING || map->state > HF__SIDECAR_READY ||
        map->head_sum != hf__sidecar_head_sum(map) ||
        (map->state == HF__SIDECAR_READY &&
         (map->max_size < HF__SIZE_MIN || map->max_size > HF__SIZE_MAX)))
        return hf__fail(err, HF_CORRUPT, "the sidecar is damaged");
    return HF_OK;
}

hf_status hf__sidecar_open(int dir_fd, hf__sidecar *sidecar, hf_error *err)
{
    hf_status status;

    memset(sidecar, 0, sizeof(*sidecar));
    sidecar->fd = hf__rights_open(dir_fd, HF__FILE_SIDECAR, O_RDWR);
    if (sidecar->fd < 0 && errno == ENOENT)
        return hf__fail(err, HF_NOT_FOUND, "no sidecar");
    if (sidecar->fd < 0)
        return hf__files_fail(err, errno, "cannot open the sidecar");
    status = check_size(sidecar->fd, err);
    if (status == HF_OK)
        status = map_file(sidecar, err);
    if (status == HF_OK)
        status = check_map(sidecar->map, err);
    if (status != HF_OK)
        hf__sidecar_close(sidecar);
    else if (sidecar->map->version > 1)
        sidecar->namespace_ms = hf__clock_namespace_ms();
    return status;
}

void hf__sidecar_close(hf__sidecar *sidecar)
{
    if (sidecar->map != NULL)
        munmap(sidecar->map, sizeof(*sidecar->map));
    if (sidecar->fd >= 0)
        close(sidecar->fd);
    sidecar->map = NULL;
    sidecar->fd = -1;
}

/* --------------------------------------------------------------- inboxes */

static bool held_by_another(int fd, uint32_t index, uint32_t count)
{
    struct flock lock = hf__files_range(F_WRLCK, index, count);

    if (fcntl(fd, F_GETLK, &lock) != 0)
        return true; /* unknown: at worst one spurious wake-up */
    return lock.l_type != F_UNLCK;
}

/* One word of `own`, which is read without the writer lock, too. */
static bool is_own(const hf__sidecar *sidecar, uint32_t index)
{
    uint64_t word =
        __atomic_load_n(&sidecar->own[index / 64], __ATOMIC_RELAXED);

    return (word >> index % 64 & 1) != 0;
}

static void set_own(hf__sidecar *sidecar, uint32_t index, bool own)
{
    uint64_t *word = &sidecar->own[index / 64];
    uint64_t bit = UINT64_C(1) << index % 64;

    __atomic_store_n(word, own ? *word | bit : *word & ~bit, __ATOMIC_RELAXED);
}

bool hf__inbox_alive(const hf__sidecar *sidecar, uint32_t index)
{
    /* fcntl() does not report the caller's own locks. */
    return is_own(sidecar, index) || held_by_another(sidecar->fd, index, 1);
}

static void set_used(hf__inbox_slot *inbox, bool used)
{
    __atomic_store_n(&inbox->used, used ? 1 : 0, __ATOMIC_RELAXED);
}

bool hf__inbox_used(const hf__sidecar *sidecar, uint32_t index)
{
    const hf__inbox_slot *inbox = &sidecar->map->inboxes[index];

    return __atomic_load_n(&inbox->used, __ATOMIC_RELAXED) != 0 &&
           hf__inbox_alive(sidecar, index);
}

static void set_id(hf__inbox_slot *inbox, const char id[HF__INBOX_SIZE])
{
    for (size_t i = 0; i < HF__INBOX_SIZE; i++)
        __atomic_store_n(&inbox->id[i], id[i], __ATOMIC_RELAXED);
}

void hf__inbox_id(const hf__sidecar *sidecar, uint32_t index,
                  char id[HF__INBOX_SIZE + 1])
{
    const hf__inbox_slot *inbox = &sidecar->map->inboxes[index];

    for (size_t i = 0; i < HF__INBOX_SIZE; i++)
        id[i] = __atomic_load_n(&inbox->id[i], __ATOMIC_RELAXED);
    id[HF__INBOX_SIZE] = '\0';
}

bool hf__sidecar_in_use(const hf__sidecar *sidecar)
{
    return held_by_another(sidecar->fd, 0, HF__INBOX_MAX);
}

/* 0: locked. EUSERS: none is free. One that is not in use may be locked by a
 * process that was killed while it claimed it: the kernel releases its mutexes
 * before its files. */
static int lock_free(const hf__sidecar *sidecar, uint32_t *index)
{
    const hf__sidecar_map *map = sidecar->map;

    for (uint32_t i = 0; i < HF__INBOX_MAX; i++) {
        uint32_t at = (map->inbox_next + i) % HF__INBOX_MAX;
        struct flock lock = hf__files_range(F_WRLCK, at, 1);

        if (map->inboxes[at].used)
            continue;
        *index = at;
        if (fcntl(sidecar->fd, F_SETLK, &lock) == 0)
            return 0;
        if (errno != EAGAIN && errno != EACCES)
            return errno;
    }
    return EUSERS;
}

/* Free the inboxes of killed processes; only when the table is full. */
static void free_dead(hf__sidecar *sidecar)
{
    for (uint32_t i = 0; i < HF__INBOX_MAX; i++) {
        if (!hf__inbox_alive(sidecar, i))
            set_used(&sidecar->map->inboxes[i], false);
    }
}

hf_status hf__inbox_claim(hf__sidecar *sidecar, uint32_t *index,
                          char id[HF__INBOX_SIZE + 1], hf_error *err)
{
    static const char digits[] = "0123456789abcdef";
    hf__sidecar_map *map = sidecar->map;
    hf__inbox_slot *inbox;
    uint32_t at;
    int rc = lock_free(sidecar, &at);

    if (rc == EUSERS) {
        free_dead(sidecar);
        rc = lock_free(sidecar, &at);
    }
    if (rc == EUSERS)
        return hf__fail(err, HF_SYSTEM, "the store is already open %u times",
                        HF__INBOX_MAX);
    if (rc != 0)
        return hf__fail_errno(err, HF_SYSTEM, rc, "cannot lock an inbox");
    inbox = &map->inboxes[at];
    hf__rand_hex(id, HF__INBOX_SIZE / 2);
    id[HF__INBOX_SIZE - 3] = digits[at >> 8 & 15];
    id[HF__INBOX_SIZE - 2] = digits[at >> 4 & 15];
    id[HF__INBOX_SIZE - 1] = digits[at & 15];
    set_id(inbox, id);
    __atomic_store_n(&inbox->fifo, 0, __ATOMIC_RELAXED);
    set_own(sidecar, at, true);
    set_used(inbox, true);
    map->inbox_next = (at + 1) % HF__INBOX_MAX;
    *index = at;
    return HF_OK;
}

void hf__inbox_release(hf__sidecar *sidecar, uint32_t index)
{
    static const char none[HF__INBOX_SIZE];
    struct flock lock = hf__files_range(F_UNLCK, index, 1);
    hf__inbox_slot *inbox = &sidecar->map->inboxes[index];

    set_id(inbox, none);
    __atomic_store_n(&inbox->fifo, 0, __ATOMIC_RELAXED);
    set_used(inbox, false);
    set_own(sidecar, index, false);
    (void)fcntl(sidecar->fd, F_SETLK, &lock);
}

bool hf__inbox_index(hf_bytes id, uint32_t *index)
{
    const char *text = id.data;
    uint32_t sum = 0;

    if (id.size != HF__INBOX_SIZE)
        return false;
    for (size_t i = 0; i < HF__INBOX_SIZE; i++) {
        int value = hf__lower_hex_value(text[i]);

        if (value < 0)
            return false;
        sum = sum << 4 | (uint32_t)value;
    }
    *index = sum % HF__INBOX_MAX;
    return true;
}
