/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_dead_writer_test.c - a writer of a volatile store that is killed
 * while it writes LMDB's meta page: see dead_writer.c.
 */
#include "embedded_store.h"
#include "open_env.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "engine/commit/flush_map.h"
#include "engine/files/pages.h"
#include "support/await_child.h"

/* The number is written, and the root is that of the snapshot before. */
static void tear_meta(const char *url)
{
    hf__env *env = open_env(url);
    uint64_t next;
    MDB_txn *txn;

    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    next = hf__flush_last_txn(env) + 1;
    assert_int_equal(mdb_txn_begin(env->mdb, NULL, 0, &txn), MDB_SUCCESS);
    assert_int_equal(
        pwrite(env->data_fd, &next, sizeof(next),
               (off_t)(next % 2 * env->page_size) + HF__META_AT_TRANSACTION),
        sizeof(next));
    (void)raise(SIGKILL);
}

static void kill_writer(const char *url)
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        tear_meta(url);
    assert_int_equal(await_child(pid, &status), pid);
    assert_true(WIFSIGNALED(status));
}

/* Without them the next process takes the store for one that no one has open,
 * and resets LMDB's lock file. */
static void expect_locks_of_lmdb(const place *at)
{
    char path[160];
    int status = 0;
    pid_t pid;

    (void)snprintf(path, sizeof(path), "%s/s/lock.mdb", at->folder);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_CLOEXEC);

        _exit(fd < 0 || fcntl(fd, F_GETLK, &lock) != 0 ||
              lock.l_type == F_UNLCK);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* It is found by one that has the store open, or by the next to open it. */
TEST(half_written_meta_page_is_undone)
{
    for (int i = 0; i < 4; i++) {
        char line[64];
        place at;

        make_place(&at, "volatile", "");
        for (int round = 0; round < 10; round++) {
            at.store = must_open(at.url, NULL);
            (void)snprintf(line, sizeof(line), "set a %d", round);
            expect(at.store, line, "+:OK");
            if (i % 2 == 0) {
                close_store(at.store);
                at.store = NULL;
            }
            kill_writer(at.url);
            if (at.store == NULL)
                at.store = must_open(at.url, NULL);
            expect(at.store, "set b 1", "+:OK");
            expect_locks_of_lmdb(&at);
            (void)snprintf(line, sizeof(line), "s:%d", round);
            expect(at.store, "get a", line);
            close_store(at.store);
            at.store = NULL;
        }
        remove_place(&at);
    }
}
