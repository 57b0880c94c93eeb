/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowlog.h - the last commands that took long.
 */
#ifndef HF__SERVE_SLOWLOG_H
#define HF__SERVE_SLOWLOG_H

#include "serve/conn/conn.h"

struct hf__slow_entry;

typedef struct hf__slowlog {
    int64_t least_us; /* what takes so long is kept; negative: nothing */
    int64_t most;     /* entries */
    uint64_t next_id;
    size_t count;
    struct hf__slow_entry *newest;
} hf__slowlog;

void hf__slowlog_init(hf__slowlog *log);
void hf__slowlog_clear(hf__slowlog *log);

/* A command of the connection took so long, ns. */
void hf__slowlog_add(hf__conn *conn, const hf_bytes *words, size_t count,
                     int64_t took_ns);
static inline bool hf__slowlog_wants(const hf__slowlog *log, int64_t took_ns)
{
    return log->least_us >= 0 && took_ns / 1000 >= log->least_us;
}

#endif
