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
/* An id, or `$`, the last one. */
bool hf__arg_stream_start(hf__open_stream *s, hf_bytes arg, hf__stream_id *id);
/* `count` of them, in tx->arena. NULL: replied with an error, or fatal. */
hf__stream_id *hf__arg_stream_ids(hf__tx *tx, const hf_bytes *args,
                                  size_t count);

/* The stream, or `error` is replied if there is none. false: replied with an
 * error, or fatal. */
bool hf__need_stream(hf__open_stream *s, hf__tx *tx, hf_bytes key,
                     const char *error);
/* The group args[3] of the stream args[2], which was opened. */
bool hf__need_group(hf__open_stream *s, const hf_bytes *args);
/* The stream args[1] and its group; without them `more` is the end of the text.
 */
bool hf__need_both(hf__open_stream *s, hf__tx *tx, const hf_bytes *args,
                   hf_bytes name, const char *more);
/* A consumer, which was seen now, and is made if it is new; it is the current
 * one. false: fatal. */
bool hf__need_consumer(hf__open_stream *s, hf_bytes name);
/* Store the group and the consumer, as a change of the key. */
void hf__group_change(hf__open_stream *s);

/* Unix time, ms, the same all through the transaction. */
int64_t hf__stream_now(hf__tx *tx);
/* How long ago that was, ms; at least 0. */
int64_t hf__stream_idle(hf__tx *tx, int64_t since_ms);

void hf__reply_stream_id(hf__tx *tx, hf__stream_id id);
/* Its id, and an array of its fields. */
void hf__reply_stream_entry(hf__tx *tx, hf__entry *entry);
/* `count` of those of a range, which has them. */
void hf__reply_stream_range(hf__open_stream *s, hf__stream_id from,
                            hf__stream_id to, bool backward, uint64_t count);

/* Entries that are not acknowledged. */
typedef struct hf__unacked_range {
    uint32_t consumer; /* 0: of all */
    hf__stream_id from, to;
    int64_t idle_ms; /* at least */
    int64_t most;
    bool info; /* as XINFO has them: instants, no consumer where it is given */
} hf__unacked_range;
void hf__reply_unacked(hf__open_stream *s, const hf__unacked_range *what);

#endif
