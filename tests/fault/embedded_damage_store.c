/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_store.c - creating the store that is damaged, and putting
 * damaged files in its place.
 *
 * Files keep their inodes, which the sidecar records, by hard links in a folder
 * next to the store: otherwise every variant would look like a copied store.
 */
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded_damage.h"
#include "embedded_damage_content.h"
#include "support/remove_tree.h"

static const char *const file_names[FILE_COUNT] = {"data.mdb", "lock.mdb",
                                                   "sidecar", "checkpoint"};

/* ------------------------------------------------------------------- bytes */

void bytes_resize(bytes *self, size_t size)
{
    if (size > self->room) {
        unsigned char *grown = realloc(self->data, size);

        if (grown == NULL)
            abort();
        self->data = grown;
        self->room = size;
    }
    if (size > self->size)
        memset(self->data + self->size, 0, size - self->size);
    self->size = size;
}

void bytes_set(bytes *to, const void *data, size_t size)
{
    bytes_resize(to, size);
    if (size > 0)
        memcpy(to->data, data, size);
}

/* ------------------------------------------------------------------- paths */

static void path_of(char path[PATH_MAX], const stage *self, const char *folder,
                    size_t file)
{
    if (snprintf(path, PATH_MAX, "%s/%s/%s", self->folder, folder,
                 file_names[file]) >= PATH_MAX)
        abort();
}

static bool read_file(const char *path, bytes *to)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    bool worked;

    if (fd < 0)
        return false;
    worked = fstat(fd, &info) == 0;
    if (worked) {
        bytes_resize(to, (size_t)info.st_size);
        worked = read(fd, to->data, to->size) == (ssize_t)to->size;
    }
    return close(fd) == 0 && worked;
}

static bool write_file(const char *path, const bytes *from)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool worked;

    if (fd < 0)
        return false;
    worked = ftruncate(fd, (off_t)from->size) == 0 &&
             (from->size == 0 ||
              write(fd, from->data, from->size) == (ssize_t)from->size);
    return close(fd) == 0 && worked;
}

/* -------------------------------------------------------------------- make */

/* Each round in its own process, which leaves the store closed. */
static bool write_round(const stage *self, unsigned round)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(content_write(self->url, self->seed, round) ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool make_foreign(stage *self)
{
    char path[PATH_MAX];
    char word[] = "a key of another program";
    MDB_val key = {sizeof(word), word};
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    bool worked;

    if (snprintf(path, sizeof(path), "%s/foreign", self->folder) >= PATH_MAX ||
        mkdir(path, 0700) != 0 || mdb_env_create(&env) != MDB_SUCCESS)
        return false;
    worked = mdb_env_set_maxdbs(env, 2) == MDB_SUCCESS &&
             mdb_env_open(env, path, 0, 0600) == MDB_SUCCESS &&
             mdb_txn_begin(env, NULL, 0, &txn) == MDB_SUCCESS &&
             mdb_dbi_open(txn, "theirs", MDB_CREATE | MDB_DUPSORT, &dbi) ==
                 MDB_SUCCESS &&
             mdb_put(txn, dbi, &key, &key, 0) == MDB_SUCCESS &&
             mdb_txn_commit(txn) == MDB_SUCCESS;
    mdb_env_close(env);
    path_of(path, self, "foreign", FILE_DATA);
    return worked && read_file(path, &self->from.foreign);
}

static bool keep_inodes(stage *self)
{
    char from[PATH_MAX], to[PATH_MAX];
    struct stat info;

    path_of(from, self, "s", FILE_DATA);
    if (stat(from, &info) != 0)
        return false;
    self->written = info.st_mtim;
    if (snprintf(to, sizeof(to), "%s/kept", self->folder) >= PATH_MAX ||
        mkdir(to, 0700) != 0)
        return false;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        path_of(from, self, "s", i);
        path_of(to, self, "kept", i);
        if (access(from, F_OK) != 0) {
            self->whole.forms[i] = FORM_MISSING;
            bytes_resize(&self->whole.files[i], 0);
            if (close(creat(to, 0600)) != 0)
                return false;
            continue;
        }
        if (!read_file(from, &self->whole.files[i]) || link(from, to) != 0)
            return false;
    }
    return true;
}

bool stage_make(stage *self, const char *scheme, const char *options,
                const char *folder, uint64_t seed)
{
    char path[PATH_MAX];

    self->seed = seed;
    if (snprintf(self->folder, PATH_MAX, "%s/hf-damage-XXXXXX", folder) >=
            PATH_MAX ||
        mkdtemp(self->folder) == NULL)
        return false;
    if (snprintf(self->store, PATH_MAX, "%s/s", self->folder) >= PATH_MAX)
        return false;
    (void)snprintf(self->url, sizeof(self->url), "%s:%s%s", scheme, self->store,
                   options);
    path_of(path, self, "s", FILE_DATA);
    if (!make_foreign(self) || !write_round(self, 0) ||
        !read_file(path, &self->from.older) || !write_round(self, 1) ||
        !keep_inodes(self))
        return false;
    sources_walk(&self->from, &self->whole.files[FILE_DATA]);
    return true;
}

void stage_remove(stage *self)
{
    (void)remove_tree(self->folder);
    for (size_t i = 0; i < FILE_COUNT; i++)
        free(self->whole.files[i].data);
    for (size_t i = 0; i < PAGE_KINDS; i++)
        free(self->from.pages[i].at);
    free(self->from.older.data);
    free(self->from.foreign.data);
}

/* --------------------------------------------------------------------- put */

static bool put_form(const stage *self, size_t file, file_form form)
{
    char kept[PATH_MAX], path[PATH_MAX];

    path_of(kept, self, "kept", file);
    path_of(path, self, "s", file);
    switch (form) {
    case FORM_FILE:
        return link(kept, path) == 0;
    case FORM_FOLDER:
        return mkdir(path, 0700) == 0;
    case FORM_SYMLINK:
        return symlink(kept, path) == 0;
    case FORM_FIFO:
        return mkfifo(path, 0600) == 0;
    default:
        return true;
    }
}

bool stage_put(const stage *self, const image *from)
{
    const struct timespec times[2] = {{0, UTIME_OMIT}, self->written};
    char kept[PATH_MAX];

    (void)remove_tree(self->store);
    if (mkdir(self->store, 0700) != 0)
        return false;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        path_of(kept, self, "kept", i);
        if (!write_file(kept, &from->files[i]) ||
            !put_form(self, i, from->forms[i]))
            return false;
    }
    path_of(kept, self, "kept", FILE_DATA);
    return !self->sealed || utimensat(AT_FDCWD, kept, times, 0) == 0;
}

bool stage_unchanged(const stage *self, const image *from)
{
    char path[PATH_MAX];
    bytes now = {NULL, 0, 0};
    bool same;

    path_of(path, self, "kept", FILE_DATA);
    same = read_file(path, &now) && now.size == from->files[FILE_DATA].size &&
           (now.size == 0 ||
            memcmp(now.data, from->files[FILE_DATA].data, now.size) == 0);
    free(now.data);
    return same;
}
