/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - a data file's records in a new file without holes.
 */
#ifndef HF__ENGINE_REWRITE_H
#define HF__ENGINE_REWRITE_H

#include "engine/files/files.h"

/*
 * Write and sync HF__FILE_REWRITE in the store's directory and open it; the
 * caller closes *fd. The data file is intact, `old_size` bytes long, and not
 * open in any other process; it is not changed. The new file continues its
 * numbers of transactions, on which key ids depend. `*size` is the new size.
 * HF_FULL: no space. After a failure there is no new file.
 */
hf_status hf__rewrite(int dir_fd, uint64_t old_size, int *fd, uint64_t *size,
                      hf_error *err);

#endif
