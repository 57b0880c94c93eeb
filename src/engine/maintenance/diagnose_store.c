/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_store.c - an embedded store: its file system, what a power cut would
 * lose, its free space, who has access.
 */
#include "engine/maintenance/diagnose_store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/clock.h"

/* f_type of statfs(2), from linux/magic.h. */
#define MAGIC_TMPFS 0x01021994u
#define MAGIC_EXT4 0xef53u
#define MAGIC_XFS 0x58465342u
#define MAGIC_BTRFS 0x9123683eu
#define MAGIC_OVERLAY 0x794c7630u
#define MAGIC_ZFS 0x2fc12fc1u
#define MAGIC_F2FS 0xf2f52010u

/* Nearly full, per cent. */
#define TIGHT_PERCENT 90

/* ------------------------------------------------------------------- place */

static const char *name_of_type(uint32_t type)
{
    static const struct {
        uint32_t magic;
        const char *name;
    } known[] = {
        {MAGIC_TMPFS, "tmpfs"},     {MAGIC_EXT4, "ext4"}, {MAGIC_XFS, "xfs"},
        {MAGIC_BTRFS, "btrfs"},     {MAGIC_ZFS, "zfs"},   {MAGIC_F2FS, "f2fs"},
        {MAGIC_OVERLAY, "overlay"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].magic == type)
            return known[i].name;
    }
    return NULL;
}

static void tell_file_system(const hf__env *env, const hf__diagnosis *to)
{
    struct statfs info;
    const char *name;

    if (fstatfs(env->dir_fd, &info) != 0)
        return;
    name = name_of_type((uint32_t)info.f_type);
    if (env->mode != HF__MODE_VOLATILE && (uint32_t)info.f_type == MAGIC_TMPFS)
        hf__report(to, HF_LEVEL_WARNING, "file system",
                   "put durable data on a disk",
                   "tmpfs: the store is gone after a reboot");
    else if (env->mode == HF__MODE_VOLATILE &&
             (uint32_t)info.f_type != MAGIC_TMPFS)
        hf__report(to, HF_LEVEL_NOTE, "file system",
                   "a named volatile store is in memory and faster",
                   "%s: a volatile store that is not in memory",
                   name != NULL ? name : "unknown");
    else if (name == NULL)
        hf__report(to, HF_LEVEL_NOTE, "file system",
                   "make sure that it is local and supports fallocate()",
                   "unknown type %08x", (unsigned)info.f_type);
    else
        hf__report(to, HF_LEVEL_OK, "file system", "", "%s", name);
}

static void tell_durability(const hf__env *env, const hf__diagnosis *to)
{
    if (env->mode == HF__MODE_VOLATILE)
        hf__report(
            to, HF_LEVEL_OK, "durability", "",
            "volatile: survives the end of all processes, but not a reboot");
    else if (env->mode == HF__MODE_FLUSH)
        hf__report(to, HF_LEVEL_NOTE, "durability",
                   "durability=commit, if nothing may be lost",
                   "flush: a power cut loses the last second and the time of "
                   "one sync");
    else
        hf__report(to, HF_LEVEL_OK, "durability", "",
                   "%s: acknowledged writes survive a power cut, if the "
                   "disk honours syncs",
                   env->mode == HF__MODE_LOG ? "log" : "commit");
    if (env->flush != NULL &&
        __atomic_load_n(&env->sidecar.map->flush.failed, __ATOMIC_RELAXED) ==
            HF__FLUSH_FAILED)
        hf__report_error(to, HF_SYSTEM, "disk", "see the system's log",
                         "a sync has failed");
}

/* -------------------------------------------------------------------- room */

/* Bytes of used pages; 0: unknown. */
static uint64_t used_size(hf__env *env)
{
    MDB_stat data, spare;
    MDB_txn *txn = NULL;
    uint64_t pages = 0;

    if (hf__env_begin_read(env, &txn, NULL) != HF_OK)
        return 0;
    if (mdb_stat(txn, env->dbi, &data) == MDB_SUCCESS &&
        mdb_stat(txn, 0, &spare) == MDB_SUCCESS)
        pages = 2 + data.ms_branch_pages + data.ms_leaf_pages +
                data.ms_overflow_pages + spare.ms_branch_pages +
                spare.ms_leaf_pages + spare.ms_overflow_pages;
    hf__env_end_read(env, txn);
    mdb_txn_abort(txn);
    return pages * env->page_size;
}

static void tell_room(hf__env *env, uint64_t limit, const hf__diagnosis *to)
{
    uint64_t used = used_size(env);
    struct statvfs info;

    if (used > 0 && used / (limit / 100 + 1) >= TIGHT_PERCENT)
        hf__report(to, HF_LEVEL_WARNING, "room",
                   "open it with a larger max_size, or delete keys",
                   "%" PRIu64 " of %" PRIu64 " bytes used", used, limit);
    else
        hf__report(to, HF_LEVEL_OK, "room", "",
                   "%" PRIu64 " of %" PRIu64 " bytes used", used, limit);
    if (fstatvfs(env->dir_fd, &info) != 0)
        return;
    if (info.f_blocks > 0 &&
        info.f_bavail / (info.f_blocks / 100 + 1) < 100 - TIGHT_PERCENT)
        hf__report(to, HF_LEVEL_WARNING, "free space",
                   "free some: on a full disk writes that grow the store fail "
                   "(HF_FULL), releases do not",
                   "%" PRIu64 " bytes, less than a tenth of the file system",
                   (uint64_t)info.f_bavail * info.f_frsize);
    else
        hf__report(to, HF_LEVEL_OK, "free space", "", "%" PRIu64 " bytes",
                   (uint64_t)info.f_bavail * info.f_frsize);
}

/* The usable size, read under the writer lock, which is thereby tested. 0: the
 * lock is not available. */
static uint64_t usable_size(hf__env *env, const hf__diagnosis *to)
{
    int64_t until_ms = hf__diagnosis_until(to, hf__clock_boot_ms());
    hf_error err = HF_ERROR_INIT;
    uint64_t pages;

    if (hf__env_lock(env, until_ms, &err) != HF_OK) {
        hf__report_error(to, HF_UNAVAILABLE, "writer lock",
                         "find the process that has it: stopped, in a "
                         "debugger, or waiting for its disk",
                         "nothing can be written: %s", err.message);
        return 0;
    }
    pages = hf__env_limit_pages(env) - hf__env_reserve_pages(env);
    hf__env_unlock(env);
    hf__report(to, HF_LEVEL_OK, "writer lock", "", "available");
    return pages * env->page_size;
}

/* --------------------------------------------------------------- who has it */

static void tell_users(hf__env *env, const hf__diagnosis *to)
{
    MDB_envinfo info;
    unsigned handles = 0;

    for (uint32_t i = 0; i < HF__INBOX_MAX; i++) {
        if (hf__inbox_used(&env->sidecar, i))
            handles++;
    }
    hf__report(to,
               handles * 100 >= HF__INBOX_MAX * TIGHT_PERCENT ? HF_LEVEL_WARNING
                                                              : HF_LEVEL_OK,
               "open handles", "", "%u of %u, including this one", handles,
               HF__INBOX_MAX);
    if (mdb_env_info(env->mdb, &info) != MDB_SUCCESS)
        return;
    if (info.me_numreaders * 100 >= info.me_maxreaders * TIGHT_PERCENT)
        hf__report(to, HF_LEVEL_WARNING, "reader slots",
                   "use fewer threads or processes; readers without a slot "
                   "take turns with writers",
                   "%u of %u in use", info.me_numreaders, info.me_maxreaders);
    else
        hf__report(to, HF_LEVEL_OK, "reader slots", "", "%u of %u in use",
                   info.me_numreaders, info.me_maxreaders);
}

static void tell_permissions(const hf__env *env, const hf__diagnosis *to)
{
    struct stat info;

    if (fstat(env->dir_fd, &info) != 0)
        return;
    if ((info.st_mode & S_IWOTH) != 0)
        hf__report(to, HF_LEVEL_WARNING, "permissions", "chmod 700",
                   "mode %03o: its directory is writable by everyone",
                   (unsigned)info.st_mode & 0777);
    else if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        hf__report(to, HF_LEVEL_NOTE, "permissions",
                   "chmod 700, unless others are meant to use it",
                   "mode %03o: others may search its directory",
                   (unsigned)info.st_mode & 0777);
    else
        hf__report(to, HF_LEVEL_OK, "permissions", "", "mode %03o",
                   (unsigned)info.st_mode & 0777);
}

/* Are the open files still those at the store's path? */
static void tell_files(const hf__env *env, const hf__diagnosis *to)
{
    static const char *const files[] = {HF__FILE_DATA, HF__FILE_LOCK,
                                        HF__FILE_SIDECAR};
    const ino_t inodes[] = {env->inode, (ino_t)env->sidecar.map->lock_inode,
                            (ino_t)env->sidecar.map->own_inode};
    int dir_fd = open(env->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat info;
    size_t i;

    if (env->read_only) {
        hf__report(to, HF_LEVEL_NOTE, "files", "",
                   "read-only: no permission to write to it");
        if (dir_fd >= 0)
            close(dir_fd);
        return;
    }
    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (dir_fd < 0 || fstatat(dir_fd, files[i], &info, 0) != 0 ||
            info.st_ino != inodes[i])
            break;
    }
    if (i < sizeof(files) / sizeof(files[0]))
        hf__report_error(to, HF_CORRUPT, "files",
                         "close all programs that have it open, and open it "
                         "again; never touch a store's files while it is open",
                         "%s was removed or replaced", files[i]);
    else
        hf__report(to, HF_LEVEL_OK, "files", "", "complete");
    if (dir_fd >= 0)
        close(dir_fd);
}

/* -------------------------------------------------------------------- whole */

static void run_request(void *target, hf__request *request)
{
    hf__store *store = target;

    store->ops->perform(store, request);
}

static void tell_clock(const hf__env *env, const hf__diagnosis *to,
                       int64_t ahead_us)
{
    int64_t off_us = ahead_us < 0 ? -ahead_us : ahead_us;
    hf_level level =
        off_us > HF__CLOCK_WARNING_US ? HF_LEVEL_WARNING : HF_LEVEL_NOTE;

    if (off_us <= HF__CLOCK_NOTE_US)
        hf__report(to, HF_LEVEL_OK, "clock", "", "that of the system");
    else
        hf__report(to, level, "clock",
                   env->mode == HF__MODE_VOLATILE
                       ? "reboot, if programs set instants of expiry (EXAT, "
                         "PXAT); leases do not depend on it"
                       : "reboot, or close the store everywhere and remove its "
                         "sidecar, if programs set instants of expiry (EXAT, "
                         "PXAT); leases do not depend on it",
                   "%" PRId64 " s %s the system's, which was set",
                   off_us / 1000000, ahead_us < 0 ? "behind" : "ahead of");
}

static void tell_pace(hf__store *store, const hf__env *env,
                      const hf__diagnosis *to)
{
    hf__diagnose_clock clock;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf__diagnose_latency(to, run_request, store, &clock, &err);

    if (status != HF_OK) {
        hf__report_error(to, status, "reachable", "", "no: %s", err.message);
        return;
    }
    tell_clock(env, to, clock.ahead_us);
    /* A reboot sets the store's clock back to the system's. */
    if (clock.ahead_us > 0)
        clock.ahead_us = 0;
    hf__diagnose_tokens(to, run_request, store, &clock);
}

void hf__embedded_diagnose(hf__store *store, hf__env *env,
                           const hf__diagnosis *diagnosis)
{
    hf__diagnosis to = *diagnosis;
    uint64_t limit;

    to.node = env->path;
    tell_pace(store, env, &to);
    limit = usable_size(env, &to);
    tell_file_system(env, &to);
    tell_durability(env, &to);
    if (limit > 0)
        tell_room(env, limit, &to);
    tell_files(env, &to);
    tell_permissions(env, &to);
    tell_users(env, &to);
    hf__report(&to, HF_LEVEL_OK, "engine", "", "%s, Lua 5.1",
               mdb_version(NULL, NULL, NULL));
}
