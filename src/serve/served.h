/* SPDX-License-Identifier: Apache-2.0 */
/*
 * served.h - the commands that the server answers itself, because they are
 * about a connection or the server; the store has the others.
 */
#ifndef HF__SERVE_SERVED_H
#define HF__SERVE_SERVED_H

#include "serve/conn.h"

enum {
    /* Runs within a round, as a unit of it; any other runs when all units of
     * its connection are committed. */
    HF__SERVED_UNIT = 1u << 0,
    /* Before the client has logged in, too. */
    HF__SERVED_STRANGER = 1u << 1
};

typedef struct hf__served {
    const char *name; /* lower case; NULL ends a table */
    int arity;        /* as of hf__command */
    unsigned flags;
    /* Replies once, by hf__conn_answer(); the caller ends the reply. */
    void (*run)(hf__conn *conn, const hf_bytes *words, size_t count);
} hf__served;

/* One table per file. */
extern const hf__served hf__served_hello[];

/* Ignores case; NULL: no such command. */
const hf__served *hf__served_find(hf_bytes name);

#endif
