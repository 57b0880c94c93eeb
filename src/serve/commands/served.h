/* SPDX-License-Identifier: Apache-2.0 */
/*
 * served.h - the commands that the server answers itself, because they are
 * about a connection or the server; the store has the others.
 */
#ifndef HF__SERVE_SERVED_H
#define HF__SERVE_SERVED_H

#include "serve/conn/conn.h"

enum {
    /* Runs within a round, and what it changes of the connection is undone with
     * it; any other runs when all units of its connection are committed. */
    HF__SERVED_UNIT = 1u << 0,
    /* Before the client has logged in, too. */
    HF__SERVED_STRANGER = 1u << 1,
    /* After MULTI: runs at once; is queued, for EXEC to run. Any other is
     * refused, since what it changes could not be undone. */
    HF__SERVED_AT_ONCE = 1u << 2,
    HF__SERVED_IN_EXEC = 1u << 3,
    /* Runs while no transaction is open. */
    HF__SERVED_EARLY = 1u << 4,
    /* Has a password, or may have one: guesses.h. */
    HF__SERVED_LOGIN = 1u << 5
};

typedef struct hf__served {
    const char *name;
    int arity; /* as in known_commands.h */
    unsigned flags;
    /* Replies once, by hf__conn_answer(); the caller ends the reply. */
    void (*run)(hf__conn *conn, const hf_bytes *words, size_t count);
} hf__served;

/* As a file has it: what known_commands.h does not say. */
typedef struct hf__served_entry {
    const char *name; /* lower case; NULL ends a table */
    unsigned flags;
    void (*run)(hf__conn *conn, const hf_bytes *words, size_t count);
} hf__served_entry;

/* There are these tables, which end with NULL, one for each file that has
 * commands: parts.h. The rows of a command's subcommands follow its own, as in
 * the tables of the store (command_row.h). Any thread, always with the same. */
void hf__served_use(const hf__served_entry *const *tables);

/* All of them; the last one has no name. */
const hf__served *hf__served_all(void);

/* Ignores case; NULL: no such command. */
const hf__served *hf__served_find(hf_bytes name);

/* Are there as many words as the command and its subcommand take? False with an
 * error: no, or there is no such subcommand. */
bool hf__served_fits(hf__conn *conn, const hf__served *row,
                     const hf_bytes *words, size_t count);
bool hf__served_arity(hf__conn *conn, const char *name, int arity,
                      size_t count);

/* Run the subcommand words[1] of the command words[0]. */
void hf__served_subcommand(hf__conn *conn, const hf_bytes *words, size_t count);
/* Reply to the subcommand HELP of a command. `lines` end with NULL. */
void hf__served_help(hf__conn *conn, const char *name,
                     const char *const *lines);

#endif
