/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - creating and mapping the files with a ring. */
#include "engine/files/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/changes.h"
#include "engine/files/files.h"
#include "engine/files/messages.h"
#include "engine/files/rights.h"
#include "util/error.h"

typedef struct layout {
    const char *name;
    const char *magic;
    uint32_t version;
    uint32_t map_size;
    size_t words_at;
} layout;

static const layout layouts[HF__RING_COUNT] = {
    [HF__RING_CHANGES] = {HF__FILE_CHANGES, "HFCHNG\r\n", 3,
                          sizeof(hf__changes), offsetof(hf__changes, words)},
    [HF__RING_MESSAGES] = {HF__FILE_MESSAGES, "HFMSGS\r\n", 2,
                           sizeof(hf__messages), offsetof(hf__messages, words)},
};

static bool is_whole(const layout *of, int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size == (off_t)of->map_size;
}

static hf_status fail_damaged(const layout *of, hf_error *err)
{
    return hf__fail(err, HF_CORRUPT, "the file of %s is damaged", of->name);
}

static hf_status open_file(const layout *of, int dir_fd, bool create, int *fd,
                           hf_error *err)
{
    hf_status status = HF_OK;

    *fd = hf__rights_open(dir_fd, of->name, O_RDWR);
    if (*fd < 0 && errno == ENOENT && create)
        *fd = hf__rights_create(dir_fd, of->name, O_RDWR);
    if (*fd < 0)
        return hf__files_fail(err, errno, "cannot open a shared file");
    /* Its creator may have been killed. */
    if (!is_whole(of, *fd) && create)
        status = hf__files_allocate(*fd, of->map_size, err);
    if (status == HF_OK && !is_whole(of, *fd))
        status = fail_damaged(of, err);
    if (status != HF_OK)
        close(*fd);
    return status;
}

static bool is_valid(const layout *of, const hf__ring_head *head)
{
    return memcmp(head->magic, of->magic, sizeof(head->magic)) == 0 &&
           head->version == of->version && head->map_size == of->map_size;
}

static void fill_head(const layout *of, hf__ring_head *head)
{
    memset(head, 0, of->map_size);
    memcpy(head->magic, of->magic, sizeof(head->magic));
    head->version = of->version;
    head->map_size = of->map_size;
}

hf_status hf__ring_map(int dir_fd, uint32_t which, bool create, hf__ring *ring,
                       hf_error *err)
{
    const layout *of = &layouts[which];
    hf_status status;
    char *map;
    int fd;

    status = open_file(of, dir_fd, create, &fd, err);
    if (status != HF_OK)
        return status;
    map = mmap(NULL, of->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        status =
            hf__fail_errno(err, HF_SYSTEM, errno, "cannot map a shared file");
    close(fd);
    if (status != HF_OK)
        return status;
    ring->head = (hf__ring_head *)(void *)map;
    ring->words = (uint64_t *)(void *)(map + of->words_at);
    ring->size = of->map_size - of->words_at;
    if (create && !is_valid(of, ring->head))
        fill_head(of, ring->head);
    if (is_valid(of, ring->head))
        return HF_OK;
    munmap(map, of->map_size);
    ring->head = NULL;
    return fail_damaged(of, err);
}

void hf__ring_unmap(hf__ring *ring)
{
    if (ring->head != NULL)
        munmap(ring->head,
               (size_t)((char *)ring->words - (char *)ring->head) + ring->size);
    ring->head = NULL;
}
