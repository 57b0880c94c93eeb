/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.c - publishing events and waiting for them.
 *
 * An inbox belongs to one open store handle; each of its topics is hashed to
 * one of the counters in the sidecar. Publishing increments the counter after
 * the commit and then wakes: a waiter that read the counter before the commit
 * sees it change, one that read it later sees what was committed. If the
 * publisher is killed in between, the wake-up is lost; polling recovers it.
 *
 * A thread sleeps on the counter itself (futex). An event loop cannot; it has a
 * FIFO named after the inbox, to which the publisher writes a byte. FIFOs of
 * dead processes are removed when another process creates its own.
 *
 * The watch list and the FIFO's poll handle are only used on the loop thread.
 * In a watch, `bucket` holds the bucket and the low bits of the last counter
 * value.
 */
#include "engine/wake/wake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/commit/tx.h"
#include "engine/files/rights.h"
#include "engine/wake/event_text.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/poll.h"

/* The end of a channel's name. The client's prefix before it matters on a
 * server only; here the id is unique. */
#define CHANNEL_ROLE_SIZE (sizeof(HF__CHANNEL_ROLE) - 1)
#define CHANNEL_END (CHANNEL_ROLE_SIZE + HF__INBOX_SIZE)

/* Most events of one transaction. */
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
    uint64_t seed = hf__hash(hf_view(inbox_id, HF__INBOX_SIZE), 0);

    return (uint32_t)hf__hash(topic, seed) % HF__BUCKET_MAX;
}

/* -------------------------------------------------------------- publishing */

bool hf__wake_reserve(hf__tx *tx, size_t count)
{
    size_t capacity = tx->event_capacity == 0 ? 16 : tx->event_capacity;
    hf__event *events;

    while (capacity < tx->event_count + count)
        capacity *= 2;
    if (capacity == tx->event_capacity)
        return true;
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
    return true;
}

bool hf__wake_remember(hf__tx *tx, uint32_t inbox, uint32_t bucket)
{
    if (!hf__wake_reserve(tx, 1))
        return false;
    tx->events[tx->event_count].inbox = inbox;
    tx->events[tx->event_count].bucket = bucket;
    tx->event_count++;
    return true;
}

bool hf__wake_listens(hf__env *env, hf_bytes channel, uint32_t *index)
{
    hf__sidecar *sidecar = &env->sidecar;
    const char *id;
    hf__inbox_slot *inbox;

    if (channel.size < CHANNEL_END)
        return false;
    id = (const char *)channel.data + channel.size - HF__INBOX_SIZE;
    if (memcmp(id - CHANNEL_ROLE_SIZE, HF__CHANNEL_ROLE, CHANNEL_ROLE_SIZE) !=
        0)
        return false;
    if (!hf__inbox_index(hf_view(id, HF__INBOX_SIZE), index))
        return false;
    inbox = &sidecar->map->inboxes[*index];
    if (!inbox->used || memcmp(inbox->id, id, HF__INBOX_SIZE) != 0)
        return false;
    if (hf__inbox_alive(sidecar, *index))
        return true;
    __atomic_store_n(&inbox->used, 0, __ATOMIC_RELAXED);
    return false;
}

int64_t hf__wake_publish(hf__tx *tx, hf_bytes channel, hf_bytes text,
                         hf_bytes topic)
{
    const char *id = (const char *)channel.data + channel.size - HF__INBOX_SIZE;
    uint32_t index, bucket;

    if (!hf__wake_listens(tx->env, channel, &index))
        return 0;
    bucket = hf__wake_bucket(id, topic);
    if (!hf__wake_remember(tx, index, bucket))
        return 0;
    hf__event_says(tx, bucket, text);
    return 1;
}

/* The folder of FIFOs; in a shared directory it may have been replaced. */
static int open_folder(const hf__env *env)
{
    return openat(env->dir_fd, HF__FILE_WAKE,
                  O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int open_fifo(int folder_fd, const char *id)
{
    struct stat info;
    int fd;

    /* Opened for reading, too: so writing never raises SIGPIPE, and ours never
     * reports end of file. */
    fd = openat(folder_fd, id, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode)))
        return fd;
    close(fd);
    return -1;
}

static void ring_inbox(hf__env *env, uint32_t index)
{
    char id[HF__INBOX_SIZE + 1];
    uint32_t same;
    int folder_fd, fd;

    hf__inbox_id(&env->sidecar, index, id);
    if (!hf__inbox_index(hf_view(id, HF__INBOX_SIZE), &same))
        return;
    folder_fd = open_folder(env);
    if (folder_fd < 0)
        return;
    fd = open_fifo(folder_fd, id);
    close(folder_fd);
    if (fd < 0)
        return;
    /* A full FIFO wakes as well. */
    if (write(fd, "", 1) < 0)
        errno = 0;
    close(fd);
}

void hf__wake_fire(hf__env *env, const hf__event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hf__bucket *bucket = bucket_at(env, events[i].bucket);
        const hf__inbox_slot *inbox =
            &env->sidecar.map->inboxes[events[i].inbox];

        __atomic_fetch_add(&bucket->seq, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&bucket->waiters, __ATOMIC_SEQ_CST) > 0)
            hf__futex_wake_all(&bucket->seq, true);
        if (__atomic_load_n(&inbox->fifo, __ATOMIC_SEQ_CST))
            ring_inbox(env, events[i].inbox);
    }
}

/* ----------------------------------------------------------------- waiting */

uint32_t hf__wake_inbox_seq(const hf__wake_inbox *inbox, hf_bytes topic)
{
    hf__bucket *bucket =
        bucket_at(inbox->env, hf__wake_bucket(inbox->id, topic));

    return __atomic_load_n(&bucket->seq, __ATOMIC_SEQ_CST);
}

bool hf__wake_inbox_wait(const hf__wake_inbox *inbox, hf_bytes topic,
                         uint32_t seq, int64_t until_ms)
{
    hf__bucket *bucket =
        bucket_at(inbox->env, hf__wake_bucket(inbox->id, topic));
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

size_t hf__wake_inbox_text(const hf__wake_inbox *inbox, hf_bytes topic,
                           char text[HF__EVENT_TEXT_MAX])
{
    return hf__event_text_read(&inbox->env->sidecar,
                               hf__wake_bucket(inbox->id, topic), text);
}

void hf__wake_inbox_wake(const hf__wake_inbox *inbox, hf_bytes topic)
{
    hf__bucket *bucket =
        bucket_at(inbox->env, hf__wake_bucket(inbox->id, topic));

    __atomic_fetch_add(&bucket->seq, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(&bucket->seq, true);
}

/* ---------------------------------------------------------------- watching */

typedef struct hf__wake_poll {
    hf__poll handle; /* of fd */
    hf__env *env;
    hf__watch *watches;
    int fd;
    char id[HF__INBOX_SIZE + 1];
} hf__wake_poll;

static void remember_seen(hf__watch *watch, uint32_t bucket, uint32_t seq)
{
    watch->bucket = bucket | seq << BUCKET_BITS;
}

static void tell_watches(hf__wake_poll *poll)
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

static void on_readable(hf__poll *handle, int events)
{
    hf__wake_poll *poll = handle->user;
    char bytes[512];

    (void)events;
    /* The FIFO stays readable if there is more. */
    if (read(poll->fd, bytes, sizeof(bytes)) < 0)
        errno = 0;
    tell_watches(poll);
}

/* An id that is not at its index belongs to no one. */
static void remove_stale(hf__env *env)
{
    struct dirent *entry;
    int fd = open_folder(env);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        hf_bytes id = hf_view(entry->d_name, strlen(entry->d_name));
        uint32_t index;

        char now[HF__INBOX_SIZE + 1];

        if (!hf__inbox_index(id, &index))
            continue;
        hf__inbox_id(&env->sidecar, index, now);
        if (strcmp(now, entry->d_name) != 0)
            (void)unlinkat(fd, entry->d_name, 0);
    }
    if (dir != NULL)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

static hf_status make_folder(const hf__env *env, int *fd, hf_error *err)
{
    if (mkdirat(env->dir_fd, HF__FILE_WAKE, 0700) == 0
            ? !hf__rights_give(env->dir_fd, env->dir_fd, HF__FILE_WAKE)
            : errno != EEXIST)
        return hf__fail_errno(err, HF_SYSTEM, errno,
                              "cannot create the folder");
    *fd = open_folder(env);
    if (*fd < 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "cannot open the folder");
    return HF_OK;
}

static void remove_fifo(hf__wake_poll *poll)
{
    int folder_fd = open_folder(poll->env);

    if (folder_fd < 0)
        return;
    (void)unlinkat(folder_fd, poll->id, 0);
    close(folder_fd);
}

static hf_status make_fifo(hf__wake_poll *poll, hf_error *err)
{
    hf_status status;
    int folder_fd = -1;

    status = make_folder(poll->env, &folder_fd, err);
    if (status != HF_OK)
        return status;
    remove_stale(poll->env);
    if (mkfifoat(folder_fd, poll->id, 0600) == 0 &&
        hf__rights_give(poll->env->dir_fd, folder_fd, poll->id))
        poll->fd = open_fifo(folder_fd, poll->id);
    if (poll->fd < 0) {
        status = hf__fail_errno(err, HF_SYSTEM, errno, "cannot create a FIFO");
        (void)unlinkat(folder_fd, poll->id, 0);
    }
    close(folder_fd);
    return status;
}

static hf_status start_poll(hf__wake_inbox *inbox, hf_error *err)
{
    hf__wake_poll *poll = hf__calloc(1, sizeof(*poll));
    hf_status status;
    int rc;

    if (poll == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    poll->env = inbox->env;
    poll->fd = -1;
    memcpy(poll->id, inbox->id, sizeof(poll->id));
    status = make_fifo(poll, err);
    if (status != HF_OK) {
        hf__free(poll);
        return status;
    }
    poll->handle.ready = on_readable;
    poll->handle.user = poll;
    poll->handle.fd = poll->fd;
    rc = hf__poll_watch(hf__loop_poller(inbox->loop), &poll->handle,
                        HF__POLL_IN);
    if (rc != 0) {
        close(poll->fd);
        remove_fifo(poll);
        hf__free(poll);
        return hf__fail_errno(err, HF_SYSTEM, rc, "cannot watch a FIFO");
    }
    inbox->poll = poll;
    __atomic_store_n(&inbox->env->sidecar.map->inboxes[inbox->index].fifo, 1,
                     __ATOMIC_SEQ_CST);
    return HF_OK;
}

/* A call made on the loop thread. */
typedef struct inbox_task {
    hf__task task;
    hf__wake_inbox *inbox;
    hf__watch *watch;
    uint32_t bucket;
    hf_status status;
    hf_error *err;
} inbox_task;

static void run_watch(hf__task *task)
{
    inbox_task *what = (inbox_task *)(void *)task;
    hf__wake_inbox *inbox = what->inbox;

    what->status = inbox->poll == NULL ? start_poll(inbox, what->err) : HF_OK;
    if (what->status != HF_OK)
        return;
    remember_seen(what->watch, what->bucket,
                  __atomic_load_n(&bucket_at(inbox->env, what->bucket)->seq,
                                  __ATOMIC_SEQ_CST));
    what->watch->next = inbox->poll->watches;
    inbox->poll->watches = what->watch;
}

static void run_unwatch(hf__task *task)
{
    inbox_task *what = (inbox_task *)(void *)task;
    hf__watch **at;

    if (what->inbox->poll == NULL)
        return;
    at = &what->inbox->poll->watches;
    while (*at != NULL && *at != what->watch)
        at = &(*at)->next;
    if (*at != NULL)
        *at = what->watch->next;
}

static void run_close(hf__task *task)
{
    inbox_task *what = (inbox_task *)(void *)task;
    hf__wake_poll *poll = what->inbox->poll;

    what->inbox->poll = NULL;
    hf__poll_stop(hf__loop_poller(what->inbox->loop), &poll->handle);
    remove_fifo(poll);
    close(poll->fd);
    hf__free(poll);
}

hf_status hf__wake_inbox_watch(hf__wake_inbox *inbox, hf_bytes topic,
                               hf__watch *watch, hf_error *err)
{
    inbox_task what = {0};
    hf_status status = hf__loop_start(inbox->loop, err);

    if (status != HF_OK)
        return status;
    what.task.run = run_watch;
    what.inbox = inbox;
    what.watch = watch;
    what.bucket = hf__wake_bucket(inbox->id, topic);
    what.err = err;
    hf__loop_run(inbox->loop, &what.task);
    return what.status;
}

void hf__wake_inbox_unwatch(hf__wake_inbox *inbox, hf__watch *watch)
{
    inbox_task what = {0};

    what.task.run = run_unwatch;
    what.inbox = inbox;
    what.watch = watch;
    hf__loop_run(inbox->loop, &what.task);
}

void hf__wake_inbox_close(hf__wake_inbox *inbox)
{
    inbox_task what = {0};

    if (inbox->poll == NULL)
        return;
    what.task.run = run_close;
    what.inbox = inbox;
    hf__loop_run(inbox->loop, &what.task);
}
