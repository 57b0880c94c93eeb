/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - creating and mapping the file of changes. */
#include "store/embedded/files/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/files/files.h"
#include "store/embedded/files/rights.h"
#include "util/error.h"
#include "util/hash.h"

#define MAGIC "HFCHNG\r\n"
#define VERSION 1u

static bool is_whole(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size == (off_t)sizeof(hf__changes);
}

static hf_status open_file(int dir_fd, bool create, int *fd, hf_error *err)
{
    hf_status status = HF_OK;

    *fd = hf__rights_open(dir_fd, HF__FILE_CHANGES, O_RDWR);
    if (*fd < 0 && errno == ENOENT && create)
        *fd = hf__rights_create(dir_fd, HF__FILE_CHANGES, O_RDWR);
    if (*fd < 0)
        return hf__files_fail(err, errno, "cannot open the file of changes");
    /* Its creator may have been killed. */
    if (!is_whole(*fd) && create)
        status = hf__files_allocate(*fd, sizeof(hf__changes), err);
    if (status == HF_OK && !is_whole(*fd))
        status = hf__fail(err, HF_CORRUPT, "the file of changes is damaged");
    if (status != HF_OK)
        close(*fd);
    return status;
}

static bool is_valid(const hf__changes *changes)
{
    return memcmp(changes->magic, MAGIC, sizeof(changes->magic)) == 0 &&
           changes->version == VERSION &&
           changes->map_size == (uint32_t)sizeof(*changes);
}

static void fill(hf__changes *changes)
{
    memset(changes, 0, sizeof(*changes));
    memcpy(changes->magic, MAGIC, sizeof(changes->magic));
    changes->version = VERSION;
    changes->map_size = (uint32_t)sizeof(*changes);
}

hf_status hf__changes_map(int dir_fd, bool create, hf__changes **changes,
                          hf_error *err)
{
    hf__changes *map;
    hf_status status;
    int fd;

    status = open_file(dir_fd, create, &fd, err);
    if (status != HF_OK)
        return status;
    map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        status = hf__fail_errno(err, HF_SYSTEM, errno,
                                "cannot map the file of changes");
    close(fd);
    if (status != HF_OK)
        return status;
    if (create && !is_valid(map))
        fill(map);
    if (!is_valid(map)) {
        hf__changes_unmap(map);
        return hf__fail(err, HF_CORRUPT, "the file of changes is damaged");
    }
    *changes = map;
    return HF_OK;
}

void hf__changes_unmap(hf__changes *changes)
{
    if (changes != NULL)
        munmap(changes, sizeof(*changes));
}

void hf__changes_recover(hf__changes *changes)
{
    if (!__atomic_load_n(&changes->pending, __ATOMIC_ACQUIRE))
        return;
    for (uint32_t i = 0; i < HF__STAMPS; i++) {
        if (changes->stamps[i] & 1)
            __atomic_add_fetch(&changes->stamps[i], 1, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&changes->head, changes->pending_end, __ATOMIC_SEQ_CST);
    __atomic_store_n(&changes->pending, 0, __ATOMIC_RELEASE);
}

uint32_t hf__changes_bucket(hf_bytes key)
{
    return (uint32_t)(hf__hash(key, 0) % HF__STAMPS);
}
