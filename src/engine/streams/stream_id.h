/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_id.h - the ids of a stream's entries: Unix time, ms, and a number that
 * tells those of one millisecond apart.
 */
#ifndef HF__ENGINE_STREAM_ID_H
#define HF__ENGINE_STREAM_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/base.h"

typedef struct hf__stream_id {
    uint64_t ms, seq;
} hf__stream_id;

#define HF__STREAM_ID_FIRST ((hf__stream_id){0, 0})
#define HF__STREAM_ID_LAST ((hf__stream_id){UINT64_MAX, UINT64_MAX})

/* Two numbers of 20 digits. */
#define HF__STREAM_ID_TEXT_SIZE 48

/* Below 0, 0, or above. */
static inline int hf__stream_id_compare(hf__stream_id a, hf__stream_id b)
{
    if (a.ms != b.ms)
        return a.ms < b.ms ? -1 : 1;
    return a.seq < b.seq ? -1 : a.seq > b.seq;
}
static inline bool hf__stream_id_is_zero(hf__stream_id id)
{
    return id.ms == 0 && id.seq == 0;
}

/* The next one and the one before. false: there is none; *id is kept. */
bool hf__stream_id_next(hf__stream_id *id);
bool hf__stream_id_previous(hf__stream_id *id);

/*
 * Read "ms-seq", or "ms" with `seq` for the rest, as Redis does. If `open` is
 * not NULL, "ms-*" is an id too, whose seq is 0, and *open says that it is
 * this. false: not an id.
 */
bool hf__stream_id_read(hf_bytes text, uint64_t seq, bool *open,
                        hf__stream_id *id);
/* Returns the size without the NUL. */
size_t hf__stream_id_put(char text[HF__STREAM_ID_TEXT_SIZE], hf__stream_id id);

#endif
