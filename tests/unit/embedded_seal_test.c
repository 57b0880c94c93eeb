/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_seal_test.c - the seal of a store that was closed cleanly and not
 * written since, which spares the next opener the check.
 */
#include "embedded_store.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "engine/files/files.h"
#include "engine/files/sidecar.h"
#include "holdfast/store.h"
#include "support/await_child.h"

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "file", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static int open_file(const char *name)
{
    char path[512];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/s/%s", at.folder, name);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    return fd;
}

static void write_store(const char *line)
{
    hf__store *store = must_open(at.url, NULL);

    expect(store, line, "+:OK");
    close_store(store);
}

static bool is_sealed(void)
{
    static hf__sidecar_map map;
    int fd = open_file(HF__FILE_DATA);
    int sidecar = open_file(HF__FILE_SIDECAR);
    bool fits;

    assert_int_equal(read(sidecar, &map, sizeof(map)), (ssize_t)sizeof(map));
    fits = hf__seal_fits(fd, &map.seal);
    close(sidecar);
    close(fd);
    return fits;
}

/* A file that was closed and not touched since need not be read again. */
TEST(a_seal_is_broken_by_any_write)
{
    unsigned char byte;
    int fd;

    write_store("set a 1");
    assert_true(is_sealed());
    fd = open_file(HF__FILE_DATA);
    assert_int_equal(pread(fd, &byte, 1, 3 * 4096), 1);
    assert_true(is_sealed()); /* by no reader */
    assert_int_equal(pwrite(fd, &byte, 1, 3 * 4096), 1);
    close(fd);
    assert_false(is_sealed());
    write_store("set a 2");
    assert_true(is_sealed());
}

TEST(a_killed_process_leaves_no_seal)
{
    pid_t pid;
    int state_of;

    write_store("set a 1");
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        hf__store *store = must_open(at.url, NULL);

        expect(store, "set a 1", "+:OK");
        _exit(0); /* without closing it */
    }
    assert_int_equal(await_child(pid, &state_of), pid);
    assert_int_equal(state_of, 0);
    assert_false(is_sealed());
    assert_int_equal(hf_store_check(at.url, NULL, NULL, NULL, NULL), HF_OK);
}
