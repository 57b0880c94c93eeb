/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_string.h - strings of either form: bytes.
 *
 * A string is whole, as the content of its record, until a part of it is
 * written and it then has more than HF__STRING_WHOLE_MAX bytes: then it is in
 * chunks, one record each, and stays so until it is replaced. Commands see no
 * difference if they use what is below, and not hf__content(), on strings.
 */
#ifndef HF__ENGINE_TYPE_STRING_H
#define HF__ENGINE_TYPE_STRING_H

#include "engine/files/keyhead.h"
#include "engine/keys/keyspace.h"

/* A write into a larger one costs less in chunks. More than any HyperLogLog. */
#define HF__STRING_WHOLE_MAX 65536u

static inline size_t hf__string_size(const hf__record *record)
{
    return record->form == HF__FORM_INLINE ? record->content_size
                                           : (size_t)record->count;
}

/*
 * Bytes of a string. `data` NULL: fatal. They are valid until the next write
 * or hf__tx_trim(), and at most until the end of the command.
 *
 * A piece: those from `at` on, which is less than the size, that are together
 * in memory; at least one. A part: those of a range within the string.
 */
hf_bytes hf__string_piece(hf__tx *tx, hf__record *record, size_t at);
hf_bytes hf__string_part(hf__tx *tx, hf__record *record, size_t at,
                         size_t size);
static inline hf_bytes hf__string_bytes(hf__tx *tx, hf__record *record)
{
    return hf__string_part(tx, record, 0, hf__string_size(record));
}
/* The first bytes, at most `most`. */
static inline hf_bytes hf__string_start(hf__tx *tx, hf__record *record,
                                        size_t most)
{
    size_t size = hf__string_size(record);

    return hf__string_part(tx, record, 0, size < most ? size : most);
}
/* Copy `size` bytes from `at` on; beyond the end they are zeros. false: fatal.
 */
bool hf__string_read(hf__tx *tx, hf__record *record, size_t at, void *to,
                     size_t size);

/* Replace the string, and keep its expiry. false: fatal. */
bool hf__string_set(hf__tx *tx, hf__record *record, const void *data,
                    size_t size);
/* Write at `at`; zeros fill what is between the end and there. `data` is not
 * empty, and neither in the string nor in LMDB's map. false: fatal. */
bool hf__string_write(hf__tx *tx, hf__record *record, size_t at, hf_bytes data);

#endif
