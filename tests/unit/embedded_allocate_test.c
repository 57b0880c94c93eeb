/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_allocate_test.c - opening a store in memory allocates what is
 * missing, and does not go through what is there.
 */
#include "embedded_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/files/files.h"

#define DATA_LEAST (1 << 20)

static int allocated; /* data files */

/* In place of the C library's. */
int posix_fallocate(int fd, off_t offset, off_t size)
{
    allocated += size >= DATA_LEAST;
    return fallocate(fd, 0, offset, size) == 0 ? 0 : errno;
}

static void open_and_close(const place *at)
{
    allocated = 0;
    close_store(must_open(at->url, NULL));
}

TEST(a_store_in_memory_is_allocated_once)
{
    struct stat before, after;
    char path[160];
    place at;
    int fd;

    (void)unsetenv("HF_TEST_DIR"); /* it is in memory */
    make_place(&at, "volatile", "");
    open_and_close(&at);
    assert_int_equal(allocated, 1);
    open_and_close(&at);
    assert_int_equal(allocated, 0);
    (void)snprintf(path, sizeof(path), "%s/s/%s", at.folder, HF__FILE_DATA);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &before), 0);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                               before.st_size - 8192, 4096),
                     0);
    open_and_close(&at);
    assert_int_equal(allocated, 1);
    assert_int_equal(fstat(fd, &after), 0);
    assert_int_equal(after.st_blocks, before.st_blocks);
    (void)close(fd);
    remove_place(&at);
}
