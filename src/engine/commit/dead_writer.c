/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_writer.c - what a writer of a volatile store leaves that was killed
 * while it wrote LMDB's meta page.
 *
 * LMDB writes the meta page of a volatile store in memory, field by field, and
 * the compiler puts the number of the snapshot before the last of them (0.9.24
 * of Debian 12: before the root of the tree). A process that is killed between
 * the two leaves the new number with an old root. LMDB publishes the number in
 * lock.mdb afterwards, so nothing uses the page yet; but the next writer finds
 * LMDB's mutex left by a dead owner, and then takes the greatest number.
 *
 * So before that, a page whose number was not published becomes the older one
 * of the two again: the commit was not acknowledged, and no one has seen it. On
 * disk this must not be done, as pages of a synced snapshot would be written
 * again; there the page is written by one call, which a kill does not cut.
 *
 * A data file that was just compacted has no such number (new_file.c).
 */
#include "engine/commit/dead_writer.h"

#include <unistd.h>

#include "engine/files/pages.h"
#include "engine/files/rights.h"

/* Its lock file begins with this. */
typedef struct lock_head {
    uint32_t magic;
    uint32_t format;
    pthread_mutex_t readers;
    size_t txn; /* the last one that is published */
} lock_head;

/* The number that lock.mdb has; false: it is none of LMDB's. */
static bool read_published(int fd, uint64_t *txn)
{
    lock_head head;

    if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
        return false;
    *txn = head.txn;
    return head.magic == HF__LMDB_MAGIC && *txn > 0;
}

static bool read_word(int fd, uint64_t page, off_t at, uint64_t *word)
{
    return pread(fd, word, sizeof(*word), (off_t)page + at) ==
           (ssize_t)sizeof(*word);
}

/* The other page must be the published snapshot, which is never empty. */
static void take_back(int data_fd, uint64_t published)
{
    uint64_t txn, root, kept_txn, kept, torn, older = published - 1;
    uint32_t page_size;

    if (pread(data_fd, &page_size, sizeof(page_size), HF__META_AT_PAGE_SIZE) !=
        (ssize_t)sizeof(page_size))
        return;
    kept = published % 2 * page_size;
    torn = page_size - kept;
    if (read_word(data_fd, kept, HF__META_AT_TRANSACTION, &kept_txn) &&
        read_word(data_fd, kept, HF__META_AT_ROOT, &root) &&
        read_word(data_fd, torn, HF__META_AT_TRANSACTION, &txn) &&
        kept_txn == published && root != HF__NO_PAGE && txn == published + 1)
        (void)!pwrite(data_fd, &older, sizeof(older),
                      (off_t)torn + HF__META_AT_TRANSACTION);
}

static void undo_in(int data_fd, int lock_fd)
{
    uint64_t published;

    if (data_fd >= 0 && lock_fd >= 0 && read_published(lock_fd, &published))
        take_back(data_fd, published);
}

void hf__dead_writer_undo(const hf__env *env)
{
    int data_fd, lock_fd;

    if (env->mode != HF__MODE_VOLATILE)
        return;
    if (env->mdb != NULL) {
        /* Closing another descriptor would end LMDB's locks (fcntl(2)). */
        undo_in(env->data_fd, env->lock_fd);
        return;
    }
    data_fd = hf__rights_open(env->dir_fd, HF__FILE_DATA, O_RDWR);
    lock_fd = hf__rights_open(env->dir_fd, HF__FILE_LOCK, O_RDONLY);
    undo_in(data_fd, lock_fd);
    if (lock_fd >= 0)
        close(lock_fd);
    if (data_fd >= 0)
        close(data_fd);
}
