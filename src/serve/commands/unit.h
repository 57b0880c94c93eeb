/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - running commands of the store in the round.
 *
 * A unit is what a round runs without interruption: a command, or those of an
 * EXEC. It is atomic, and fails alone.
 */
#ifndef HF__SERVE_UNIT_H
#define HF__SERVE_UNIT_H

#include "engine/engine.h"
#include "serve/conn/conn.h"

/*
 * Have a transaction for a unit, which `writes` or only reads; false: replied
 * with an error, or the round is to be undone. It counts the unit, except
 * within an EXEC.
 */
bool hf__unit_begin(hf__conn *conn, bool writes);

/* The same for a unit that is not a connection's, without counting it. */
bool hf__unit_enter(struct hf_server *server, bool writes);

/* May the command change keys, or send a message? Of a script, its flag says
 * so; of one that is named by its hash, that is not looked up. */
bool hf__unit_changes(const hf__command *command, const hf_bytes *words,
                      size_t count);

/* Reply with a failure of the store. */
void hf__unit_fail(hf__conn *conn, const hf_error *failure);

/* Run a command of a unit that was begun; conn->answer takes the reply. The
 * number of words is checked here. */
void hf__unit_run(hf__conn *conn, const hf__command *command,
                  const hf_bytes *words, size_t count);

/* server->words, with room for so many; NULL: no memory. */
hf_bytes *hf__unit_words(struct hf_server *server, size_t count);

#endif
