/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - the file that names a snapshot of the data file that is
 * complete on disk, and reverting to it.
 *
 * A checkpoint is a copy of LMDB's meta page of a snapshot (its roots, its last
 * page, its number), with a checksum and the id of the boot. Each process that
 * has the store open owns two slots in the file and writes them alternately, so
 * that no process ever waits for another one that was stopped while writing.
 * The newest intact slot of all counts. Each slot is a block of its own: a
 * power cut while one is written damages no other.
 *
 * A process overwrites the older of its two slots, never the newest. flush.c
 * explains why every page of the snapshot still exists.
 */
#include "engine/commit/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "engine/files/pages.h"
#include "engine/files/rights.h"
#include "engine/files/sidecar.h"
#include "util/crc32c.h"
#include "util/error.h"

#define MAGIC "HFCHECK\n"
#define VERSION 1u
#define NEW_NAME HF__FILE_CHECKPOINT ".new"

/* Disks write 4096 bytes or less atomically. */
#define SLOT_SIZE 4096u
/* Processes that may have one store open. */
#define PAIR_COUNT 128u
#define FILE_SIZE (2u * PAIR_COUNT * SLOT_SIZE)

/* Offsets in a meta page of LMDB 0.9. */
enum { AT_FLAGS = 10, AT_MAGIC = 16 };
#define FLAG_META 0x08

typedef struct slot {
    char magic[8];
    uint32_t version;
    uint32_t page_size;
    uint64_t txn;
    char boot_id[HF__BOOT_ID_SIZE];
    unsigned char meta[HF__META_SIZE];
    uint32_t sum; /* of the fields above */
} slot;

/* -------------------------------------------------------------- data file */

static uint64_t txn_of(const unsigned char meta[HF__META_SIZE])
{
    uint64_t txn;

    memcpy(&txn, meta + HF__META_AT_TRANSACTION, sizeof(txn));
    return txn;
}

static bool read_meta(int fd, uint64_t offset, unsigned char *meta)
{
    uint16_t flags;
    uint32_t magic;

    if (pread(fd, meta, HF__META_SIZE, (off_t)offset) != (ssize_t)HF__META_SIZE)
        return false;
    memcpy(&flags, meta + AT_FLAGS, sizeof(flags));
    memcpy(&magic, meta + AT_MAGIC, sizeof(magic));
    return (flags & FLAG_META) != 0 && magic == HF__LMDB_MAGIC;
}

bool hf__checkpoint_of(int data_fd, uint32_t page_size, uint64_t txn,
                       hf__checkpoint *result)
{
    result->txn = txn;
    result->page_size = page_size;
    /* Even and odd snapshots have a meta page each. */
    return read_meta(data_fd, txn % 2 * page_size, result->meta) &&
           txn_of(result->meta) == txn;
}

/* The number of the snapshot that LMDB would use; 0: none is readable. */
static uint64_t current_txn(int data_fd, uint32_t page_size)
{
    unsigned char meta[HF__META_SIZE];
    uint64_t txn = 0;

    for (uint64_t i = 0; i < 2; i++) {
        if (!read_meta(data_fd, i * page_size, meta))
            return 0;
        if (txn_of(meta) > txn)
            txn = txn_of(meta);
    }
    return txn;
}

/* Both meta pages: LMDB uses the one with the higher number. The other gets the
 * number before it, as after a commit. */
static hf_status restore_meta(int data_fd, const hf__checkpoint *to,
                              hf_error *err)
{
    unsigned char meta[HF__META_SIZE];

    memcpy(meta, to->meta, sizeof(meta));
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t txn = to->txn % 2 == i || to->txn == 0 ? to->txn : to->txn - 1;

        memcpy(meta, &i, sizeof(i)); /* its page's number */
        memcpy(meta + HF__META_AT_TRANSACTION, &txn, sizeof(txn));
        if (pwrite(data_fd, meta, sizeof(meta), (off_t)(i * to->page_size)) !=
            (ssize_t)sizeof(meta))
            return hf__files_fail(err, errno,
                                  "cannot revert to the checkpoint");
    }
    if (fdatasync(data_fd) != 0)
        return hf__files_fail(err, errno, "cannot revert to the checkpoint");
    return HF_OK;
}

/* ------------------------------------------------------------------ slots */

static off_t offset_of(uint32_t pair, uint32_t which)
{
    return (off_t)(2 * pair + which) * (off_t)SLOT_SIZE;
}

static bool read_slot(int fd, uint32_t pair, uint32_t which, slot *result)
{
    return pread(fd, result, sizeof(*result), offset_of(pair, which)) ==
               (ssize_t)sizeof(*result) &&
           memcmp(result->magic, MAGIC, sizeof(result->magic)) == 0 &&
           result->version == VERSION &&
           result->sum == hf__crc32c(0, result, offsetof(slot, sum)) &&
           result->txn == txn_of(result->meta);
}

static hf_status write_slot(int fd, uint32_t pair, uint32_t which,
                            const hf__checkpoint *what, hf_error *err)
{
    hf_status status;
    slot made;

    memset(&made, 0, sizeof(made));
    memcpy(made.magic, MAGIC, sizeof(made.magic));
    made.version = VERSION;
    made.page_size = what->page_size;
    made.txn = what->txn;
    status = hf__boot_id_read(made.boot_id, err);
    if (status != HF_OK)
        return status;
    memcpy(made.meta, what->meta, sizeof(made.meta));
    made.sum = hf__crc32c(0, &made, offsetof(slot, sum));
    if (pwrite(fd, &made, sizeof(made), offset_of(pair, which)) !=
            (ssize_t)sizeof(made) ||
        fdatasync(fd) != 0)
        return hf__files_fail(err, errno, "cannot write a checkpoint");
    return HF_OK;
}

hf_status hf__checkpoint_newest(int fd, hf__checkpoint *newest, bool *same_boot,
                                hf_error *err)
{
    char boot_id[HF__BOOT_ID_SIZE];
    slot one;
    hf_status status = hf__boot_id_read(boot_id, err);

    if (status != HF_OK)
        return status;
    newest->txn = 0;
    for (uint32_t i = 0; i < 2 * PAIR_COUNT; i++) {
        if (!read_slot(fd, i / 2, i % 2, &one) || one.txn < newest->txn)
            continue;
        newest->txn = one.txn;
        newest->page_size = one.page_size;
        memcpy(newest->meta, one.meta, sizeof(newest->meta));
        *same_boot = memcmp(one.boot_id, boot_id, sizeof(boot_id)) == 0;
    }
    if (newest->txn == 0)
        return hf__fail(err, HF_CORRUPT, "the checkpoint file is damaged");
    return HF_OK;
}

/* --------------------------------------------------------------- recovery */

hf_status hf__checkpoint_deny(hf_error *err)
{
    return hf__fail(err, HF_DENIED,
                    "the store was not closed before the last reboot: open it "
                    "once with write access");
}

static hf_status recover_data(int dir_fd, const hf__checkpoint *newest,
                              bool read_only, hf_error *err)
{
    int fd =
        hf__rights_open(dir_fd, HF__FILE_DATA, read_only ? O_RDONLY : O_RDWR);
    hf_status status = HF_OK;
    uint64_t txn;

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    txn = current_txn(fd, newest->page_size);
    if (txn != 0 && txn < newest->txn)
        status = hf__fail(err, HF_CORRUPT,
                          "the data file is older than its checkpoint");
    else if (txn != newest->txn && read_only)
        status = hf__checkpoint_deny(err);
    else if (txn != newest->txn)
        status = restore_meta(fd, newest, err);
    close(fd);
    return status;
}

/* `*txn`: the snapshot, if it had to be looked at. */
static hf_status recover_newest(int dir_fd, bool force, bool read_only,
                                uint64_t *txn, hf_error *err)
{
    hf__checkpoint newest;
    bool same_boot = false;
    hf_status status;
    int fd = hf__rights_open(dir_fd, HF__FILE_CHECKPOINT, O_RDONLY);

    if (fd < 0 && errno == ENOENT)
        return HF_OK;
    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the checkpoint file");
    status = hf__checkpoint_newest(fd, &newest, &same_boot, err);
    close(fd);
    /* In the same boot no write is lost, synced or not. */
    if (status != HF_OK || (same_boot && !force))
        return status;
    *txn = newest.txn;
    return recover_data(dir_fd, &newest, read_only, err);
}

hf_status hf__checkpoint_recover(int dir_fd, bool force, hf_error *err)
{
    uint64_t txn;

    return recover_newest(dir_fd, force, false, &txn, err);
}

hf_status hf__checkpoint_check(int dir_fd, uint64_t *txn, hf_error *err)
{
    return recover_newest(dir_fd, false, true, txn, err);
}

/* ------------------------------------------------------------------- file */

static hf_status fill_new(int dir_fd, int fd, const hf__checkpoint *first,
                          hf_error *err)
{
    hf_status status = hf__files_allocate(fd, FILE_SIZE, err);

    if (status == HF_OK)
        status = write_slot(fd, 0, 0, first, err);
    if (status != HF_OK)
        return status;
    if (fsync(fd) != 0 ||
        renameat(dir_fd, NEW_NAME, dir_fd, HF__FILE_CHECKPOINT) != 0 ||
        fsync(dir_fd) != 0)
        return hf__files_fail(err, errno, "cannot create the checkpoint file");
    return HF_OK;
}

hf_status hf__checkpoint_create(int dir_fd, const hf__checkpoint *first,
                                hf_error *err)
{
    hf_status status;
    int fd;

    (void)unlinkat(dir_fd, NEW_NAME, 0);
    fd = hf__rights_create(dir_fd, NEW_NAME, O_RDWR);
    if (fd < 0)
        return hf__files_fail(err, errno, "cannot create the checkpoint file");
    status = fill_new(dir_fd, fd, first, err);
    if (status != HF_OK)
        (void)unlinkat(dir_fd, NEW_NAME, 0);
    close(fd);
    return status;
}

static bool take_pair(hf__checkpoint_file *file)
{
    slot slots[2];

    for (file->pair = 0; file->pair < PAIR_COUNT; file->pair++) {
        struct flock lock = hf__files_range(F_WRLCK, file->pair, 1);

        if (fcntl(file->fd, F_SETLK, &lock) == 0)
            break;
    }
    if (file->pair == PAIR_COUNT)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!read_slot(file->fd, file->pair, i, &slots[i]))
            slots[i].txn = 0;
    }
    file->slot = slots[1].txn < slots[0].txn;
    return true;
}

hf_status hf__checkpoint_open(int dir_fd, hf__checkpoint_file *file,
                              hf_error *err)
{
    file->fd = hf__rights_open(dir_fd, HF__FILE_CHECKPOINT, O_RDWR);
    if (file->fd < 0 && errno == ENOENT)
        return hf__fail(err, HF_NOT_FOUND, "no checkpoint file");
    if (file->fd < 0)
        return hf__files_fail(err, errno, "cannot open the checkpoint file");
    if (take_pair(file))
        return HF_OK;
    hf__checkpoint_close(file);
    return hf__fail(err, HF_SYSTEM, "the store is already open in %u processes",
                    PAIR_COUNT);
}

void hf__checkpoint_close(hf__checkpoint_file *file)
{
    close(file->fd);
    file->fd = -1;
}

bool hf__checkpoint_alone(const hf__checkpoint_file *file)
{
    /* fcntl() does not report the caller's own lock. */
    struct flock lock = hf__files_range(F_WRLCK, 0, PAIR_COUNT);

    return fcntl(file->fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

hf_status hf__checkpoint_write(hf__checkpoint_file *file,
                               const hf__checkpoint *what, hf_error *err)
{
    hf_status status = write_slot(file->fd, file->pair, file->slot, what, err);

    if (status == HF_OK)
        file->slot = 1 - file->slot;
    return status;
}

hf_status hf__checkpoint_remove(int dir_fd, hf_error *err)
{
    if (unlinkat(dir_fd, HF__FILE_CHECKPOINT, 0) != 0) {
        if (errno == ENOENT)
            return HF_OK;
        return hf__files_fail(err, errno, "cannot remove the checkpoint file");
    }
    if (fsync(dir_fd) != 0)
        return hf__files_fail(err, errno, "cannot sync the directory");
    return HF_OK;
}
