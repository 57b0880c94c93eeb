/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datafile.c - is a data file safe to hand to LMDB?
 *
 * LMDB trusts its file: a short one is SIGBUS, a damaged one SIGSEGV or
 * SIGABRT. So the two meta pages are read here first, by the layout that
 * LMDB 0.9 gives them (data format version 1, 64-bit), and the page that each
 * tree starts at. LMDB has no checksums; damage deeper down stays unseen.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/files.h"
#include "util/error.h"

#define LMDB_MAGIC 0xbeefc0deu
#define LMDB_VERSION 1u

/* Bytes from the start of a meta page. */
enum {
    AT_FLAGS = 10,
    AT_MAGIC = 16,
    AT_VERSION = 20,
    AT_TREES = 40, /* two trees: free pages, then data */
    TREE_SIZE = 48,
    AT_TREE_DEPTH = 6,
    AT_TREE_ROOT = 40,
    AT_LAST_PAGE = 136,
    AT_TRANSACTION = 144,
    META_SIZE = 152
};

#define FLAG_BRANCH 0x01
#define FLAG_LEAF 0x02
#define FLAG_META 0x08
/* LMDB's own limit on the height of a tree. */
#define DEPTH_MAX 32

typedef struct meta {
    uint32_t page_size;
    uint64_t roots[2];
    uint16_t depths[2];
    uint64_t last_page;
    uint64_t transaction;
} meta;

static uint16_t read16(const unsigned char *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t read32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint64_t read64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

/* false: not a meta page of LMDB 0.9. */
static bool read_meta(int fd, off_t offset, meta *result)
{
    unsigned char page[META_SIZE];

    if (pread(fd, page, sizeof(page), offset) != (ssize_t)sizeof(page) ||
        (read16(page + AT_FLAGS) & FLAG_META) == 0 ||
        read32(page + AT_MAGIC) != LMDB_MAGIC ||
        read32(page + AT_VERSION) != LMDB_VERSION)
        return false;
    result->page_size = read32(page + AT_TREES);
    for (size_t i = 0; i < 2; i++) {
        const unsigned char *tree = page + AT_TREES + i * TREE_SIZE;

        result->depths[i] = read16(tree + AT_TREE_DEPTH);
        result->roots[i] = read64(tree + AT_TREE_ROOT);
    }
    result->last_page = read64(page + AT_LAST_PAGE);
    result->transaction = read64(page + AT_TRANSACTION);
    return true;
}

static bool check_root(int fd, const meta *now, size_t tree)
{
    uint64_t root = now->roots[tree];
    unsigned char head[16];

    if (root == UINT64_MAX) /* an empty tree */
        return now->depths[tree] == 0;
    if (root < 2 || root > now->last_page || now->depths[tree] == 0 ||
        now->depths[tree] > DEPTH_MAX)
        return false;
    if (pread(fd, head, sizeof(head), (off_t)(root * now->page_size)) !=
        (ssize_t)sizeof(head))
        return false;
    return read64(head) == root &&
           (read16(head + AT_FLAGS) & (FLAG_BRANCH | FLAG_LEAF)) != 0;
}

static hf_status check_file(int fd, uint64_t size, hf_error *err)
{
    meta first, second;
    const meta *now;

    if (!read_meta(fd, 0, &first))
        return hf__fail(err, HF_INVALID, "its data file is not an LMDB file");
    if (first.page_size < 512 || first.page_size > 65536 ||
        (first.page_size & (first.page_size - 1)) != 0 ||
        !read_meta(fd, (off_t)first.page_size, &second) ||
        second.page_size != first.page_size)
        return hf__fail(err, HF_CORRUPT, "the data file is damaged");
    now = second.transaction > first.transaction ? &second : &first;
    if (now->last_page >= size / now->page_size)
        return hf__fail(err, HF_CORRUPT, "the data file was cut short");
    if (!check_root(fd, now, 0) || !check_root(fd, now, 1))
        return hf__fail(err, HF_CORRUPT, "the data file is damaged");
    return HF_OK;
}

hf_status hf__files_check_data(int dir_fd, uint64_t *size, hf_error *err)
{
    struct stat info;
    hf_status status;
    int fd = openat(dir_fd, HF__FILE_DATA, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    if (fstat(fd, &info) != 0)
        status = hf__files_fail(err, errno, "cannot ask for the data file");
    else
        status = check_file(fd, (uint64_t)info.st_size, err);
    if (status == HF_OK)
        *size = (uint64_t)info.st_size;
    close(fd);
    return status;
}
