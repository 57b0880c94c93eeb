/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - the file that says which snapshot of the data file is whole
 * on the disk. Only a store with durability=flush has one.
 */
#ifndef HF__EMBEDDED_CHECKPOINT_H
#define HF__EMBEDDED_CHECKPOINT_H

#include "holdfast/base.h"

/* The head of a snapshot, as LMDB writes it. */
#define HF__META_SIZE 152u

typedef struct hf__checkpoint {
    uint64_t txn;
    uint32_t page_size;
    unsigned char meta[HF__META_SIZE];
} hf__checkpoint;

typedef struct hf__checkpoint_file {
    int fd;        /* also holds the lock on our pair of slots */
    uint32_t pair; /* which one */
    uint32_t slot; /* of the two, the one to write next */
} hf__checkpoint_file;

/* The head of snapshot `txn`, which must be one of the last two; false: it is
 * not there. The writer lock is held. */
bool hf__checkpoint_of(int data_fd, uint32_t page_size, uint64_t txn,
                       hf__checkpoint *result);

/*
 * Before LMDB opens the file, while nobody uses it: if the machine was started
 * anew since the last checkpoint, take the data file back to it. `force`: in
 * any case. HF_OK also when there is no file. HF_CORRUPT: it is damaged.
 */
hf_status hf__checkpoint_recover(int dir_fd, bool force, hf_error *err);

/* HF_DENIED if the data file would have to be taken back first. */
hf_status hf__checkpoint_check(int dir_fd, hf_error *err);

/* Make the file, with one checkpoint in it. What it names is on the disk. */
hf_status hf__checkpoint_create(int dir_fd, const hf__checkpoint *first,
                                hf_error *err);

/* Open it and take a pair of slots. HF_NOT_FOUND: there is none; HF_SYSTEM:
 * too many processes. */
hf_status hf__checkpoint_open(int dir_fd, hf__checkpoint_file *file,
                              hf_error *err);
void hf__checkpoint_close(hf__checkpoint_file *file);

/* Does no other process have the file open? */
bool hf__checkpoint_alone(const hf__checkpoint_file *file);

/* The newest one in the file, and whether it was written since the machine was
 * started. HF_CORRUPT: none is whole. */
hf_status hf__checkpoint_newest(int fd, hf__checkpoint *newest, bool *same_boot,
                                hf_error *err);

/* Write one, down to the disk. What it names is on the disk already. */
hf_status hf__checkpoint_write(hf__checkpoint_file *file,
                               const hf__checkpoint *what, hf_error *err);

/* Remove the file, before a data file that is whole on the disk takes the
 * place of the one it speaks of. Nobody uses the store. */
hf_status hf__checkpoint_remove(int dir_fd, hf_error *err);

#endif
