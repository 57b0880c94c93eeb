/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_store.c - `store check`: check a whole store in a child process.
 *
 *  1. Open the store without checking it, and pin the current snapshot by a
 *     reader slot: writers continue, but do not reuse its pages. If the store
 *     cannot be opened, because it is damaged, hold the directory's lock
 *     instead, which keeps others from opening it.
 *  2. Create a child that checks the file (fsck.c) and writes messages of a
 *     fixed size to a pipe; nothing else of the file reaches the parent.
 *  3. Report the messages until the child is done. If it dies before, or is
 *     silent for STALL_MS, report that.
 *  4. Free the slot.
 *
 * The child is created by clone() without a termination signal, so that
 * programs that wait for their own children, or handle SIGCHLD, do not notice
 * it. Since other threads may have held any lock at that instant, it only makes
 * system calls and runs fsck, which neither allocates nor locks.
 */
#include "engine/maintenance/check_store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/env.h"
#include "engine/commit/identity.h"
#include "engine/commit/redo.h"
#include "engine/files/rights.h"
#include "engine/fsck/fsck.h"
#include "engine/open/open_store.h"
#include "store/maintenance.h"
#include "util/clock.h"
#include "util/error.h"

/* A disk without progress for so long has failed. */
#define STALL_MS 60000
/* How long to wait for a killed child; it may be stuck in the kernel. */
#define END_MS 2000
/* Calls of keep_going() per progress message: some megabytes. */
#define PROGRESS_EVERY 8u
/* Descriptors to close one by one if the kernel has no close_range(). */
#define DESCRIPTORS_MAX 65536

enum { SAYS_PROGRESS = 1, SAYS_FINDING = 2, SAYS_DONE = 3 };

/* Smaller than PIPE_BUF: written atomically. */
typedef struct message {
    uint32_t kind;
    uint32_t status; /* DONE: fsck's */
    uint64_t a;      /* PROGRESS: done; DONE: findings */
    uint64_t b;      /* PROGRESS: total; DONE: page of the I/O error */
    hf__finding found;
} message;

_Static_assert(sizeof(message) <= 512, "a message is written at once");

/* ------------------------------------------------------------ in the child */

typedef struct check_child {
    hf__fsck fsck;
    int pipe_fd;
    uint32_t findings_max;
    uint32_t calls;
} check_child;

/* Without a reader there is nothing to do. */
static void send_message(const check_child *self, const message *what)
{
    ssize_t wrote;

    do
        wrote = write(self->pipe_fd, what, sizeof(*what));
    while (wrote < 0 && errno == EINTR);
    if (wrote != (ssize_t)sizeof(*what))
        _exit(1);
}

static void reply_finding(hf__fsck *fsck, const hf__finding *found)
{
    check_child *self = fsck->user;
    message what = {.kind = SAYS_FINDING, .found = *found};

    if (fsck->findings <= self->findings_max)
        send_message(self, &what);
}

static bool reply_progress(hf__fsck *fsck, uint64_t done, uint64_t total)
{
    check_child *self = fsck->user;
    message what = {.kind = SAYS_PROGRESS, .a = done, .b = total};

    if (self->calls++ % PROGRESS_EVERY == 0)
        send_message(self, &what);
    return true;
}

static void close_range_of(unsigned first, unsigned last)
{
    if (first > last)
        return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0U) == 0)
        return;
#endif
    for (unsigned fd = first; fd <= last && fd < DESCRIPTORS_MAX; fd++)
        close((int)fd);
}

/* Inherited descriptors would keep locks and connections that the parent
 * closes. */
static void close_others(int one, int other)
{
    unsigned low = (unsigned)(one < other ? one : other);
    unsigned high = (unsigned)(one < other ? other : one);

    if (low > 0)
        close_range_of(0, low - 1);
    close_range_of(low + 1, high - 1);
    close_range_of(high + 1, ~0U);
}

__attribute__((noreturn)) static void run_child(check_child *self)
{
    message done = {.kind = SAYS_DONE};

    /* All signals are blocked. It dies with its parent, and never dumps
     * core. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_DUMPABLE, 0);
    close_others(self->fsck.fd, self->pipe_fd);
    done.status = (uint32_t)hf__fsck_run(&self->fsck);
    done.a = self->fsck.findings;
    done.b = self->fsck.error_page;
    send_message(self, &done);
    _exit(0);
}

/* ----------------------------------------------------------- in the parent */

typedef struct reading {
    const hf__check *check;
    pid_t pid;
    int pipe_fd;
    int64_t until_ms; /* the caller's limit */
    uint64_t told;
    hf_status status;
} reading;

static hf_status start_child(check_child *self, reading *job, hf_error *err)
{
    sigset_t all, before;
    int ends[2];
    long pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return hf__files_fail(err, errno, "cannot create a pipe");
    self->pipe_fd = ends[1];
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
    if (pid == 0)
        run_child(self);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return hf__fail_errno(err, HF_SYSTEM, errno,
                              "cannot create a process to read the store");
    }
    job->pid = (pid_t)pid;
    job->pipe_fd = ends[0];
    return HF_OK;
}

/* The signal that killed the child; 0: none, or unknown. */
static int end_child(const reading *job)
{
    int64_t until_ms = hf__clock_boot_ms() + END_MS;
    int state = 0;
    pid_t ended;

    close(job->pipe_fd);
    for (;;) {
        ended = waitpid(job->pid, &state, WNOHANG | __WALL);
        if (ended != 0 || hf__clock_boot_ms() >= until_ms)
            break;
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
    return ended == job->pid && WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

static void tell_finding(reading *job, const hf__finding *found)
{
    char text[HF__FINDING_TEXT_SIZE];

    job->told++;
    job->check->finding(job->check->user, hf__finding_text(text, found));
}

static hf_status finish_check(reading *job, const message *done, hf_error *err)
{
    switch ((hf_status)done->status) {
    case HF_OK:
        return HF_OK;
    case HF_SYSTEM:
        return hf__fail(err, HF_SYSTEM, "page %llu: I/O error",
                        (unsigned long long)done->b);
    case HF_NO_MEMORY:
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    case HF_INVALID:
        return hf__fail(err, HF_INVALID,
                        "the LMDB file is not a holdfast store");
    case HF_UNSUPPORTED:
        return hf__fail(err, HF_UNSUPPORTED,
                        "the store has a format newer than this library's");
    default:
        return hf__fail(err, HF_CORRUPT,
                        "the store is damaged: %llu findings, %llu reported",
                        (unsigned long long)done->a,
                        (unsigned long long)job->told);
    }
}

/* The child died silently. */
static hf_status judge_death(reading *job, hf_error *err)
{
    int number = end_child(job);
    char text[96];

    if (number == SIGKILL || number == 0)
        return hf__fail(err, HF_SYSTEM,
                        "the process that read the store was killed");
    (void)snprintf(text, sizeof(text),
                   "the process that read the store crashed (signal %d)",
                   number);
    job->check->finding(job->check->user, text);
    return hf__fail(err, HF_CORRUPT, "%s", text);
}

/* Wait for a message. HF_OK: `*what` is one, or `*ended`. */
static hf_status listen_once(reading *job, message *what, bool *ended,
                             hf_error *err)
{
    int64_t now_ms;
    int64_t until_ms = hf__clock_boot_ms() + STALL_MS;
    struct pollfd poll_fd = {.fd = job->pipe_fd, .events = POLLIN};
    ssize_t got;
    int rc;

    if (until_ms > job->until_ms)
        until_ms = job->until_ms;
    do {
        now_ms = hf__clock_boot_ms();
        rc =
            poll(&poll_fd, 1, until_ms > now_ms ? (int)(until_ms - now_ms) : 0);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return hf__files_fail(err, errno, "cannot wait for the child");
    if (now_ms >= job->until_ms ||
        (rc == 0 && hf__clock_boot_ms() >= job->until_ms))
        return hf__fail(err, HF_TIMEOUT, "the check took too long");
    if (rc == 0)
        return hf__fail(err, HF_SYSTEM, "the disk does not respond");
    do
        got = read(job->pipe_fd, what, sizeof(*what));
    while (got < 0 && errno == EINTR);
    *ended = got != (ssize_t)sizeof(*what);
    return HF_OK;
}

static hf_status listen_to_child(reading *job, hf_error *err)
{
    const hf__check *check = job->check;
    hf_status status;
    message what;
    bool ended = false;

    for (;;) {
        status = listen_once(job, &what, &ended, err);
        if (status != HF_OK) {
            (void)kill(job->pid, SIGKILL);
            (void)end_child(job);
            return status;
        }
        if (ended)
            return judge_death(job, err);
        if (what.kind == SAYS_FINDING)
            tell_finding(job, &what.found);
        else if (what.kind == SAYS_PROGRESS && check->progress != NULL)
            check->progress(check->user, what.a, what.b);
        else if (what.kind == SAYS_DONE)
            break;
    }
    (void)end_child(job);
    return finish_check(job, &what, err);
}

/* Check the file in a child. */
static hf_status read_file(const hf__check *check, int fd, uint64_t size,
                           const hf__meta *meta, hf_error *err)
{
    check_child self = {.findings_max = check->findings_max};
    reading job = {.check = check, .until_ms = INT64_MAX};
    hf_status status;

    self.fsck.fd = fd;
    self.fsck.file_size = size;
    self.fsck.meta = *meta;
    self.fsck.report = reply_finding;
    self.fsck.keep_going = reply_progress;
    self.fsck.user = &self;
    if (check->limit_ms > 0)
        job.until_ms = hf__clock_after(hf__clock_boot_ms(), check->limit_ms);
    status = start_child(&self, &job, err);
    return status == HF_OK ? listen_to_child(&job, err) : status;
}

/* ------------------------------------------------------------ what to read */

static hf_status tell_head(const hf__check *check, const hf__finding *found,
                           hf_error *err)
{
    char text[HF__FINDING_TEXT_SIZE];
    hf_status status = hf__finding_status(found);

    hf__finding_text(text, found);
    if (status == HF_CORRUPT)
        check->finding(check->user, text);
    return hf__fail(err, status, "%s", text);
}

static hf_status read_heads(const hf__check *check, int fd, uint64_t *size,
                            hf__meta *meta, hf_error *err)
{
    hf__finding found;
    struct stat info;

    if (fstat(fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the data file");
    *size = (uint64_t)info.st_size;
    if (!hf__pages_meta(fd, *size, meta, &found))
        return tell_head(check, &found, err);
    return HF_OK;
}

/* The writer lock is held: no commit in between. */
static hf_status pin_snapshot(hf__env *env, const hf__check *check, int fd,
                              MDB_txn **txn, uint64_t *size, hf__meta *meta,
                              hf_error *err)
{
    MDB_txn *room = NULL;
    hf_status status = HF_OK;

    /* Adopts a map that another process made larger. */
    if (!env->read_only)
        status = hf__env_begin_write(env, hf__clock_boot_ms(), &room, err);
    if (status != HF_OK)
        return status;
    if (room != NULL)
        mdb_txn_abort(room);
    status = hf__env_begin_read(env, txn, err);
    if (status != HF_OK)
        return status;
    /* From here on only the slot is needed, not the map. */
    pthread_rwlock_unlock(&env->map_lock);
    return read_heads(check, fd, size, meta, err);
}

static hf_status check_open_store(hf__env *env, const hf__check *check,
                                  int64_t deadline_ms, hf_error *err)
{
    MDB_txn *txn = NULL;
    uint64_t size;
    hf__meta meta;
    hf_status status;
    int fd = hf__rights_open(env->dir_fd, HF__FILE_DATA, O_RDONLY);

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    status = hf__env_lock(env, deadline_ms, err);
    if (status == HF_OK) {
        status = pin_snapshot(env, check, fd, &txn, &size, &meta, err);
        hf__env_unlock(env);
    }
    if (status == HF_OK)
        status = read_file(check, fd, size, &meta, err);
    if (txn != NULL)
        mdb_txn_abort(txn);
    close(fd);
    return status;
}

/* It cannot be opened, for the reason `why`. If the file can be read, all its
 * errors are reported. */
static hf_status check_closed_store(const hf__settings *settings,
                                    const hf__check *check, const hf_error *why,
                                    int64_t deadline_ms, hf_error *err)
{
    uint64_t size;
    hf__meta meta;
    hf__directory directory;
    int fd;
    hf_status status =
        hf__directory_open(settings, &deadline_ms, &directory, err);

    if (status != HF_OK)
        return status;
    fd = hf__rights_open(directory.fd, HF__FILE_DATA, O_RDONLY);
    status = HF_OK;
    if (fd >= 0 && hf__identity_check_unused(directory.fd, 0, NULL) == HF_OK) {
        status = directory.read_only
                     ? hf__redo_check(directory.fd, err)
                     : hf__checkpoint_recover(directory.fd, false, err);
        if (status == HF_OK)
            status = read_heads(check, fd, &size, &meta, err);
        if (status == HF_OK)
            status = read_file(check, fd, size, &meta, err);
    }
    if (fd >= 0)
        close(fd);
    hf__directory_close(&directory);
    if (status != HF_OK)
        return status;
    check->finding(check->user, why->message);
    return hf__fail_copy(err, why);
}

hf_status hf__embedded_check(const hf__store_config *config,
                             const hf__check *check, hf_error *err)
{
    int64_t deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), config->connect_ms);
    hf_error why = HF_ERROR_INIT;
    hf__settings settings;
    hf__env *env;
    hf_status status = hf__settings_read(config->url, &settings, err);

    if (status != HF_OK)
        return status;
    settings.existing = true;
    settings.unverified = true;
    status = hf__env_open(&settings, &deadline_ms, &env, &why);
    if (status == HF_CORRUPT)
        return check_closed_store(&settings, check, &why, deadline_ms, err);
    if (status != HF_OK)
        return hf__fail_copy(err, &why);
    status = check_open_store(env, check, deadline_ms, err);
    hf__env_unref(env);
    return status;
}
