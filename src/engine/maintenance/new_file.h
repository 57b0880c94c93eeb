/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_file.h - a data file that is written record by record, in order.
 */
#ifndef HF__ENGINE_NEW_FILE_H
#define HF__ENGINE_NEW_FILE_H

#include <lmdb.h>

#include "engine/files/files.h"

/* Space allocated beyond the file's pages, so that the first writes need not
 * extend it. */
#define HF__NEW_FILE_TAIL (UINT64_C(1) << 19)

typedef struct hf__new_file {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    uint64_t part_size; /* in the open transaction */
    int fd;
} hf__new_file;

/* Begin to write to the empty file `fd`, for the records of a file of
 * `old_size` bytes; `room_size` bytes are allocated. End it by _end() or
 * _drop(). HF_FULL: no space. */
hf_status hf__new_file_begin(hf__new_file *self, int fd, uint64_t old_size,
                             uint64_t room_size, hf_error *err);
/* Append a record, whose name is behind all others. The caller fills *room,
 * `size` bytes, before the next call. An error of LMDB. */
int hf__new_file_put(hf__new_file *self, MDB_val *key, size_t size,
                     void **room);
/* Close and sync it. Its transactions continue after `transaction`, on which
 * key ids depend. *size: of the file. */
hf_status hf__new_file_end(hf__new_file *self, uint64_t transaction,
                           uint64_t *size, hf_error *err);
void hf__new_file_drop(hf__new_file *self);

#endif
