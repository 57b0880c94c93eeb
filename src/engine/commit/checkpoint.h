/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - the file that names a snapshot of the data file that is
 * complete on disk. A store with durability=flush or log has
 * one.
 */
#ifndef HF__ENGINE_CHECKPOINT_H
#define HF__ENGINE_CHECKPOINT_H

#include "holdfast/base.h"

/* The meta page of a snapshot, as LMDB writes it. */
#define HF__META_SIZE 152u

typedef struct hf__checkpoint {
    uint64_t txn;
    uint32_t page_size;
    unsigned char meta[HF__META_SIZE];
} hf__checkpoint;

typedef struct hf__checkpoint_file {
    int fd;        /* also holds the lock on our pair of slots */
    uint32_t pair; /* index of the pair */
    uint32_t slot; /* of the two, the one to write next */
} hf__checkpoint_file;

/* Read the meta page of snapshot `txn`, one of the last two; false: not found.
 * The writer lock is held. */
bool hf__checkpoint_of(int data_fd, uint32_t page_size, uint64_t txn,
                       hf__checkpoint *result);

/*
 * Before LMDB opens the file, while no process uses it: if the machine was
 * rebooted since the last checkpoint, or with `force`, revert the data file to
 * it. HF_OK also if there is no checkpoint file. HF_CORRUPT: it is damaged.
 */
hf_status hf__checkpoint_recover(int dir_fd, bool force, hf_error *err);

/* HF_DENIED if the data file would have to be reverted first. `*txn` is set to
 * the snapshot if it was made in an earlier boot. deny(): that failure. */
hf_status hf__checkpoint_check(int dir_fd, uint64_t *txn, hf_error *err);
hf_status hf__checkpoint_deny(hf_error *err);

/* Create the file, with one checkpoint, whose snapshot is on disk. */
hf_status hf__checkpoint_create(int dir_fd, const hf__checkpoint *first,
                                hf_error *err);

/* Open it and claim a pair of slots. HF_NOT_FOUND: no such file; HF_SYSTEM: too
 * many processes. */
hf_status hf__checkpoint_open(int dir_fd, hf__checkpoint_file *file,
                              hf_error *err);
void hf__checkpoint_close(hf__checkpoint_file *file);

/* Is this the only process that has it open? */
bool hf__checkpoint_alone(const hf__checkpoint_file *file);

/* The newest checkpoint, and whether it was written in this boot. HF_CORRUPT:
 * none is intact. */
hf_status hf__checkpoint_newest(int fd, hf__checkpoint *newest, bool *same_boot,
                                hf_error *err);

/* Write and sync one, whose snapshot is on disk. */
hf_status hf__checkpoint_write(hf__checkpoint_file *file,
                               const hf__checkpoint *what, hf_error *err);

/* Remove the file before the data file is replaced by one that is on disk. No
 * process uses the store. */
hf_status hf__checkpoint_remove(int dir_fd, hf_error *err);

#endif
