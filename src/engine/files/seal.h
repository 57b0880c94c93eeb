/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - is a data file unchanged since it was last known to be undamaged?
 */
#ifndef HF__ENGINE_SEAL_H
#define HF__ENGINE_SEAL_H

#include <stdbool.h>
#include <stdint.h>

/* Stored in the sidecar; all zero: none. */
typedef struct hf__seal {
    uint64_t inode;
    uint64_t size;
    int64_t changed_s;  /* the file's time, whose nanoseconds */
    int64_t changed_ns; /* were drawn at random */
    uint64_t transaction;
    uint64_t reserved;
} hf__seal;

/* Seal a file that is not being written to. false: impossible. */
bool hf__seal_make(int data_fd, hf__seal *seal);
bool hf__seal_fits(int data_fd, const hf__seal *seal);

#endif
