/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_locks_local.c - locks that need no server; see peer_locks.h. The
 * transactions of databases write nothing: that only one has begun at a time is
 * all that these have in common with a lock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"
#include "peers/peer_locks.h"

#define WAIT_MS 30000
#define MAP_SIZE ((size_t)1 << 20)

static void *keep_directory(const peer_place *place)
{
    return strdup(place->directory);
}

static int open_file(const char *directory, const char *name)
{
    char path[BENCH_PATH_SIZE];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_fail("cannot open %s", path);
    return fd;
}

static int *new_fd(const char *directory, const char *name)
{
    int *fd = malloc(sizeof(*fd));

    if (fd != NULL && (*fd = open_file(directory, name)) < 0) {
        free(fd);
        return NULL;
    }
    return fd;
}

/* ------------------------------------------------------------------- flock */

static void *flock_new_lock(void *client)
{
    return new_fd(client, "flock");
}

static bool flock_acquire(void *lock)
{
    return flock(*(int *)lock, LOCK_EX) == 0;
}

static bool flock_release(void *lock)
{
    return flock(*(int *)lock, LOCK_UN) == 0;
}

const peer_library peer_flock = {keep_directory, flock_new_lock, flock_acquire,
                                 flock_release};

/* ------------------------------------------------------------------- fcntl */

static void *fcntl_new_lock(void *client)
{
    return new_fd(client, "fcntl");
}

static bool fcntl_acquire(void *lock)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(*(int *)lock, F_OFD_SETLKW, &whole) == 0;
}

static bool fcntl_release(void *lock)
{
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    return fcntl(*(int *)lock, F_OFD_SETLK, &whole) == 0;
}

const peer_library peer_fcntl = {keep_directory, fcntl_new_lock, fcntl_acquire,
                                 fcntl_release};

/* ------------------------------------------------------------------- mutex */

static bool init_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    bool ok =
        pthread_mutexattr_init(&attr) == 0 &&
        pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0 &&
        pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0 &&
        pthread_mutex_init(mutex, &attr) == 0;

    return ok || bench_fail("cannot initialize a mutex");
}

/* The first one to open the file initializes it, while the others wait. */
static void *map_mutex(int fd)
{
    pthread_mutex_t *mutex = MAP_FAILED;
    off_t size;

    if (flock(fd, LOCK_EX) != 0 || (size = lseek(fd, 0, SEEK_END)) < 0)
        return NULL;
    if (ftruncate(fd, sizeof(*mutex)) == 0)
        mutex = mmap(NULL, sizeof(*mutex), PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, 0);
    if (mutex == MAP_FAILED || (size == 0 && !init_mutex(mutex)))
        mutex = NULL;
    (void)flock(fd, LOCK_UN);
    return mutex;
}

static void *mutex_new_lock(void *client)
{
    int fd = open_file(client, "mutex");
    void *mutex = fd < 0 ? NULL : map_mutex(fd);

    if (fd >= 0)
        close(fd);
    return mutex;
}

static bool mutex_acquire(void *lock)
{
    return pthread_mutex_lock(lock) == 0;
}

static bool mutex_release(void *lock)
{
    return pthread_mutex_unlock(lock) == 0;
}

const peer_library peer_mutex = {keep_directory, mutex_new_lock, mutex_acquire,
                                 mutex_release};

/* -------------------------------------------------------------------- LMDB */

typedef struct lmdb_lock {
    bare base;
    MDB_txn *txn;
} lmdb_lock;

static void *lmdb_new_lock(void *client)
{
    lmdb_lock *self = calloc(1, sizeof(*self));

    if (self == NULL || !bare_open(&self->base, client, MAP_SIZE)) {
        free(self);
        return NULL;
    }
    return self;
}

static bool lmdb_acquire(void *lock)
{
    lmdb_lock *self = lock;

    return bare_begin(&self->base, 0, &self->txn);
}

static bool lmdb_release(void *lock)
{
    return bare_ok(mdb_txn_commit(((lmdb_lock *)lock)->txn));
}

const peer_library peer_lmdb = {keep_directory, lmdb_new_lock, lmdb_acquire,
                                lmdb_release};

/* ------------------------------------------------------------------ SQLite */

typedef struct sqlite_lock {
    sqlite3 *db;
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
} sqlite_lock;

static bool open_sqlite(sqlite_lock *self, const char *path)
{
    return sqlite3_open(path, &self->db) == SQLITE_OK &&
           sqlite3_busy_timeout(self->db, WAIT_MS) == SQLITE_OK &&
           sqlite3_exec(self->db,
                        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;",
                        NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(self->db, "BEGIN IMMEDIATE", -1, &self->begin,
                              NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(self->db, "COMMIT", -1, &self->commit, NULL) ==
               SQLITE_OK;
}

/* A change to WAL may fail, without a wait, while another makes it: one after
 * the other. */
static void *sqlite_new_lock(void *client)
{
    char path[BENCH_PATH_SIZE];
    sqlite_lock *self = calloc(1, sizeof(*self));
    int fd = open_file(client, "sqlite.open");
    bool ok;

    if (self == NULL || fd < 0)
        return NULL;
    snprintf(path, sizeof(path), "%s/sqlite", (const char *)client);
    ok = flock(fd, LOCK_EX) == 0 && open_sqlite(self, path);
    close(fd);
    if (!ok)
        bench_fail("sqlite: %s", sqlite3_errmsg(self->db));
    return ok ? self : NULL;
}

static bool run_statement(sqlite3_stmt *statement)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE;

    return (sqlite3_reset(statement) == SQLITE_OK && ok) ||
           bench_fail("sqlite: %s",
                      sqlite3_errmsg(sqlite3_db_handle(statement)));
}

static bool sqlite_acquire(void *lock)
{
    return run_statement(((sqlite_lock *)lock)->begin);
}

static bool sqlite_release(void *lock)
{
    return run_statement(((sqlite_lock *)lock)->commit);
}

const peer_library peer_sqlite = {keep_directory, sqlite_new_lock,
                                  sqlite_acquire, sqlite_release};
