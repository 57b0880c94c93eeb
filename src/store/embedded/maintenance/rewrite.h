/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - a data file's records in a new file without holes.
 */
#ifndef HF__EMBEDDED_REWRITE_H
#define HF__EMBEDDED_REWRITE_H

#include "store/embedded/files/files.h"

/*
 * Write HF__FILE_REWRITE in the store's directory, synced, and open it: *fd is
 * the caller's to close. The data file is whole, `old_size` bytes long, and
 * nobody else has it open; it is not changed. The new file goes on where the
 * old one is in the numbers of transactions, on which the ids of elements
 * depend. `*size` is the new one's. HF_FULL: no room. On a failure there is no
 * new file.
 */
hf_status hf__rewrite(int dir_fd, uint64_t old_size, int *fd, uint64_t *size,
                      hf_error *err);

#endif
