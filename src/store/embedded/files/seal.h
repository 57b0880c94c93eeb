/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - is a data file the same as when it was last known to be whole?
 */
#ifndef HF__EMBEDDED_SEAL_H
#define HF__EMBEDDED_SEAL_H

#include <stdbool.h>
#include <stdint.h>

/* In the sidecar; all zero: none. */
typedef struct hf__seal {
    uint64_t inode;
    uint64_t size;
    int64_t changed_s;  /* the file's time, of which the seal's maker chose */
    int64_t changed_ns; /* the nanoseconds by chance */
    uint64_t transaction;
    uint64_t reserved;
} hf__seal;

/* Put a seal on a file that nobody writes to. false: it cannot have one. */
bool hf__seal_make(int data_fd, hf__seal *seal);
bool hf__seal_fits(int data_fd, const hf__seal *seal);

#endif
