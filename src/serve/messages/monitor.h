/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.h - MONITOR: showing to clients each command that runs. */
#ifndef HF__SERVE_MONITOR_H
#define HF__SERVE_MONITOR_H

#include "serve/conn/conn.h"

/* Of a server. */
typedef struct hf__monitors {
    size_t count;  /* clients */
    hf__buf lines; /* since the turn began */
    size_t mark;   /* its size when the first unit of the round began */
    bool lost;     /* there was no room for all */
} hf__monitors;

void hf__monitor_open_server(struct hf_server *server);
void hf__monitor_close_server(struct hf_server *server);

/* There are monitors, and the command runs; `script`: it is called by one. */
void hf__monitor_put(const hf__conn *conn, bool script, const hf_bytes *words,
                     size_t count);

/* From which word of a command on they may be passwords; `count`: none. A name
 * that HELLO sets may be "auth". */
size_t hf__monitor_secrets(const hf_bytes *words, size_t count);

/* The round begins, or has no units yet; it was undone. */
static inline void hf__monitor_mark(hf__monitors *monitors)
{
    monitors->mark = hf__buf_size(&monitors->lines);
}
static inline void hf__monitor_rewind(hf__monitors *monitors)
{
    hf__buf_truncate(&monitors->lines, monitors->mark);
}
/* A turn ends, and there are monitors: show the lines. */
void hf__monitor_look(struct hf_server *server);

/* It is a monitor no more. */
void hf__monitor_leave(hf__conn *conn);

#endif
