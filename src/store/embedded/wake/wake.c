/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.c - publishing events and waiting for them.
 *
 * An inbox belongs to one open store handle; a topic of it is hashed to one of
 * the counters in the sidecar. Publishing moves the counter after the commit,
 * and only then wakes: whoever read the counter before the commit sees it
 * move, whoever read it later sees what was committed. A publisher killed
 * between the two loses the wake-up, which every waiter's own poll mends.
 *
 * A thread sleeps on the counter itself (futex). A loop cannot; it has a FIFO
 * named by the inbox, which the publisher writes a byte to. FIFOs of dead
 * processes are removed when another makes its own.
 *
 * The watch list and the FIFO's poll handle are touched on the loop thread
 * only. In a watch, `bucket` holds the bucket and the low bits of the counter
 * seen last.
 */
#include "store/embedded/wake/wake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "store/embedded/commit/tx.h"
#include "store/embedded/keys/name.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"

#define CHANNEL_PREFIX "hf:inbox:"
#define CHANNEL_PREFIX_SIZE (sizeof(CHANNEL_PREFIX) - 1)

/* Events of one transaction; a script that publishes more is out of hand. */
#define EVENT_MAX 100000u

#define BUCKET_BITS 10
#define SEEN_BITS (32 - BUCKET_BITS)
_Static_assert(HF__BUCKET_MAX == 1u << BUCKET_BITS, "watch->bucket holds both");

static hf__bucket *bucket_at(hf__env *env, uint32_t bucket)
{
    return &env->sidecar.map->buckets[bucket];
}

uint32_t hf__wake_bucket(const char *inbox_id, hf_bytes topic)
{
    uint64_t seed = hf__name_hash(hf_view(inbox_id, HF__INBOX_SIZE), 0);

    return (uint32_t)hf__name_hash(topic, seed) % HF__BUCKET_MAX;
}

/* -------------------------------------------------------------- publishing */

static bool remember(hf__tx *tx, uint32_t inbox, uint32_t bucket)
{
    if (tx->event_count == tx->event_capacity) {
        size_t capacity = tx->event_capacity == 0 ? 16 : tx->event_capacity * 2;
        hf__event *events;

        if (capacity > EVENT_MAX) {
            hf__tx_fail(tx, MDB_TXN_FULL);
            return false;
        }
        events = hf__realloc(tx->events, capacity * sizeof(*events));
        if (events == NULL) {
            hf__tx_no_memory(tx);
            return false;
        }
        tx->events = events;
        tx->event_capacity = capacity;
    }
    tx->events[tx->event_count].inbox = inbox;
    tx->events[tx->event_count].bucket = bucket;
    tx->event_count++;
    return true;
}

int64_t hf__wake_publish(hf__tx *tx, hf_bytes channel, hf_bytes topic)
{
    hf__sidecar *sidecar = &tx->env->sidecar;
    const char *id;
    hf__inbox *inbox;
    uint32_t index;

    if (channel.size != CHANNEL_PREFIX_SIZE + HF__INBOX_SIZE ||
        memcmp(channel.data, CHANNEL_PREFIX, CHANNEL_PREFIX_SIZE) != 0)
        return 0;
    id = (const char *)channel.data + CHANNEL_PREFIX_SIZE;
    if (!hf__inbox_index(hf_view(id, HF__INBOX_SIZE), &index))
        return 0;
    inbox = &sidecar->map->inboxes[index];
    if (!inbox->used || memcmp(inbox->id, id, HF__INBOX_SIZE) != 0)
        return 0;
    if (!hf__inbox_alive(sidecar, index)) {
        inbox->used = 0;
        return 0;
    }
    return remember(tx, index, hf__wake_bucket(id, topic)) ? 1 : 0;
}

static bool fifo_path(const hf__env *env, const char *id, char *path,
                      size_t size)
{
    int length = snprintf(path, size, "%s/" HF__FILE_WAKE "/%.*s", env->path,
                          HF__INBOX_SIZE, id);

    return length > 0 && (size_t)length < size;
}

static void ring(hf__env *env, uint32_t index)
{
    char path[PATH_MAX];
    int fd;

    if (!fifo_path(env, env->sidecar.map->inboxes[index].id, path,
                   sizeof(path)))
        return;
    /* For reading, too: a FIFO whose owner closes it now must not raise
     * SIGPIPE here. */
    fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    /* A full FIFO is as good as one more byte in it. */
    if (write(fd, "", 1) < 0)
        errno = 0;
    close(fd);
}

void hf__wake_fire(hf__env *env, const hf__event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hf__bucket *bucket = bucket_at(env, events[i].bucket);
        const hf__inbox *inbox = &env->sidecar.map->inboxes[events[i].inbox];

        __atomic_fetch_add(&bucket->seq, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&bucket->waiters, __ATOMIC_SEQ_CST) > 0)
            hf__futex_wake_all(&bucket->seq, true);
        if (__atomic_load_n(&inbox->fifo, __ATOMIC_SEQ_CST))
            ring(env, events[i].inbox);
    }
}

/* ----------------------------------------------------------------- waiting */

uint32_t hf__ear_seq(const hf__ear *ear, hf_bytes topic)
{
    hf__bucket *bucket = bucket_at(ear->env, hf__wake_bucket(ear->id, topic));

    return __atomic_load_n(&bucket->seq, __ATOMIC_SEQ_CST);
}

bool hf__ear_wait(const hf__ear *ear, hf_bytes topic, uint32_t seq,
                  int64_t until_ms)
{
    hf__bucket *bucket = bucket_at(ear->env, hf__wake_bucket(ear->id, topic));
    bool moved;

    __atomic_fetch_add(&bucket->waiters, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        moved = __atomic_load_n(&bucket->seq, __ATOMIC_SEQ_CST) != seq;
        if (moved || hf__clock_boot_ms() >= until_ms)
            break;
        hf__futex_wait(&bucket->seq, seq, until_ms, true);
    }
    __atomic_fetch_sub(&bucket->waiters, 1, __ATOMIC_SEQ_CST);
    return moved;
}

/* ---------------------------------------------------------------- watching */

/* Outlives the ear until libuv has closed the handle. */
typedef struct hf__ear_poll {
    uv_poll_t handle;
    hf__env *env;
    hf__watch *watches;
    int fd;
    char path[PATH_MAX];
} hf__ear_poll;

static void remember_seen(hf__watch *watch, uint32_t bucket, uint32_t seq)
{
    watch->bucket = bucket | seq << BUCKET_BITS;
}

static void tell_watches(hf__ear_poll *poll)
{
    hf__watch *next;

    for (hf__watch *watch = poll->watches; watch != NULL; watch = next) {
        uint32_t bucket = watch->bucket & (HF__BUCKET_MAX - 1);
        uint32_t seq = __atomic_load_n(&bucket_at(poll->env, bucket)->seq,
                                       __ATOMIC_SEQ_CST);

        next = watch->next;
        if (watch->bucket >> BUCKET_BITS == (seq & ((1u << SEEN_BITS) - 1)))
            continue;
        remember_seen(watch, bucket, seq);
        watch->moved(watch);
    }
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    hf__ear_poll *poll = handle->data;
    char bytes[512];

    (void)status;
    (void)events;
    /* What is left in a fuller FIFO makes it readable again. */
    if (read(poll->fd, bytes, sizeof(bytes)) < 0)
        errno = 0;
    tell_watches(poll);
}

/* An id that its place in the table does not hold is nobody's. */
static void remove_stale(hf__env *env, const char *folder)
{
    struct dirent *entry;
    DIR *dir = opendir(folder);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        hf_bytes id = hf_view(entry->d_name, strlen(entry->d_name));
        uint32_t index;

        if (hf__inbox_index(id, &index) &&
            memcmp(env->sidecar.map->inboxes[index].id, id.data, id.size) != 0)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir != NULL)
        closedir(dir);
}

static hf_status make_fifo(hf__ear *ear, hf__ear_poll *poll, hf_error *err)
{
    char folder[PATH_MAX];

    if (!fifo_path(ear->env, ear->id, poll->path, sizeof(poll->path)))
        return hf__fail(err, HF_INVALID, "the store's path is too long");
    (void)snprintf(folder, sizeof(folder), "%.*s",
                   (int)(strlen(poll->path) - HF__INBOX_SIZE - 1), poll->path);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return hf__fail_errno(err, HF_SYSTEM, errno, "cannot make the folder");
    remove_stale(ear->env, folder);
    if (mkfifo(poll->path, 0600) != 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "cannot make a FIFO");
    /* For writing, too: so it never reports its end. */
    poll->fd = open(poll->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (poll->fd < 0) {
        (void)hf__fail_errno(err, HF_SYSTEM, errno, "cannot open a FIFO");
        (void)unlink(poll->path);
        return HF_SYSTEM;
    }
    return HF_OK;
}

static void on_closed(uv_handle_t *handle)
{
    hf__free(handle->data);
}

static hf_status start_poll(hf__ear *ear, hf_error *err)
{
    hf__ear_poll *poll = hf__calloc(1, sizeof(*poll));
    hf_status status;

    if (poll == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    poll->env = ear->env;
    status = make_fifo(ear, poll, err);
    if (status != HF_OK) {
        hf__free(poll);
        return status;
    }
    if (uv_poll_init(hf__loop_uv(ear->loop), &poll->handle, poll->fd) != 0) {
        close(poll->fd);
        (void)unlink(poll->path);
        hf__free(poll);
        return hf__fail(err, HF_SYSTEM, "cannot watch a FIFO");
    }
    poll->handle.data = poll;
    (void)uv_poll_start(&poll->handle, UV_READABLE, on_readable);
    ear->poll = poll;
    __atomic_store_n(&ear->env->sidecar.map->inboxes[ear->index].fifo, 1,
                     __ATOMIC_SEQ_CST);
    return HF_OK;
}

/* A call carried to the loop thread. */
typedef struct errand {
    hf__task task;
    hf__ear *ear;
    hf__watch *watch;
    uint32_t bucket;
    hf_status status;
    hf_error *err;
} errand;

static void run_watch(hf__task *task)
{
    errand *what = (errand *)(void *)task;
    hf__ear *ear = what->ear;

    what->status = ear->poll == NULL ? start_poll(ear, what->err) : HF_OK;
    if (what->status != HF_OK)
        return;
    remember_seen(what->watch, what->bucket,
                  __atomic_load_n(&bucket_at(ear->env, what->bucket)->seq,
                                  __ATOMIC_SEQ_CST));
    what->watch->next = ear->poll->watches;
    ear->poll->watches = what->watch;
}

static void run_unwatch(hf__task *task)
{
    errand *what = (errand *)(void *)task;
    hf__watch **at;

    if (what->ear->poll == NULL)
        return;
    at = &what->ear->poll->watches;
    while (*at != NULL && *at != what->watch)
        at = &(*at)->next;
    if (*at != NULL)
        *at = what->watch->next;
}

static void run_close(hf__task *task)
{
    errand *what = (errand *)(void *)task;
    hf__ear_poll *poll = what->ear->poll;

    what->ear->poll = NULL;
    (void)uv_poll_stop(&poll->handle);
    (void)unlink(poll->path);
    close(poll->fd);
    uv_close((uv_handle_t *)&poll->handle, on_closed);
}

static void carry(hf__ear *ear, errand *what)
{
    if (hf__loop_here(ear->loop))
        what->task.run(&what->task);
    else
        hf__loop_call(ear->loop, &what->task);
}

hf_status hf__ear_watch(hf__ear *ear, hf_bytes topic, hf__watch *watch,
                        hf_error *err)
{
    errand what = {0};
    hf_status status = hf__loop_start(ear->loop, err);

    if (status != HF_OK)
        return status;
    what.task.run = run_watch;
    what.ear = ear;
    what.watch = watch;
    what.bucket = hf__wake_bucket(ear->id, topic);
    what.err = err;
    carry(ear, &what);
    return what.status;
}

void hf__ear_unwatch(hf__ear *ear, hf__watch *watch)
{
    errand what = {0};

    what.task.run = run_unwatch;
    what.ear = ear;
    what.watch = watch;
    carry(ear, &what);
}

void hf__ear_close(hf__ear *ear)
{
    errand what = {0};

    if (ear->poll == NULL)
        return;
    what.task.run = run_close;
    what.ear = ear;
    carry(ear, &what);
}
