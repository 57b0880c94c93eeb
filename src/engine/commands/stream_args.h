/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_args.h - arguments and replies that commands of streams share.
 */
#ifndef HF__ENGINE_STREAM_ARGS_H
#define HF__ENGINE_STREAM_ARGS_H

#include "engine/commands/command_row.h"
#include "engine/streams/stream_group.h"

/* An id, with `seq` if it has none of its own; `open` as in
 * hf__stream_id_read(). false: replied with an error. */
bool hf__arg_stream_id(hf__tx *tx, hf_bytes arg, uint64_t seq, bool *open,
                       hf__stream_id *id);
/* An id, `-`, `+`, or one after `(`, which is not in the range. */
bool hf__arg_stream_bound(hf__tx *tx, hf_bytes arg, bool end,
                          hf__stream_id *id);
/* An id, or `$`, the last one; the record may be NULL. */
bool hf__arg_stream_start(hf__tx *tx, hf__record *record, hf_bytes arg,
                          hf__stream_id *id);
/* `count` of them, in tx->arena. NULL: replied with an error, or fatal. */
hf__stream_id *hf__arg_stream_ids(hf__tx *tx, const hf_bytes *args,
                                  size_t count);

/* The stream and its group. false: replied: another type, or there are none,
 * for which `more` is the end of the text; or fatal. */
bool hf__arg_stream_group(hf__tx *tx, const hf_bytes *args, hf_bytes name,
                          const char *more, hf__record **record,
                          hf__group *group);

/* The group args[3] of the stream args[2]. false: replied with an error, or
 * fatal. */
bool hf__need_group(hf__tx *tx, const hf__record *record, const hf_bytes *args,
                    hf__group *group);
/* Store it, as a change of the key. */
void hf__group_change(hf__tx *tx, hf__record *record, hf_bytes name,
                      const hf__group *group);

/* Unix time, ms, the same all through the transaction. */
int64_t hf__stream_now(hf__tx *tx);
/* How long ago that was, ms; at least 0. */
int64_t hf__stream_idle(hf__tx *tx, int64_t since_ms);

/* The number of a consumer, which was seen now, and is made if it is new.
 * false: fatal. */
bool hf__need_consumer(hf__tx *tx, hf__record *record, const hf__group *group,
                       hf_bytes name, uint32_t *number);

void hf__reply_stream_id(hf__tx *tx, hf__stream_id id);
/* Its id, and an array of its fields. */
void hf__reply_stream_entry(hf__tx *tx, hf__entry *entry);
/* Of those of a range, at most `most`. Returns how many. */
size_t hf__reply_stream_range(hf__tx *tx, const hf__record *record,
                              hf__stream_id from, hf__stream_id to,
                              bool backward, uint64_t most);

#endif
