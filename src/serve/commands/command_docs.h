/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_docs.h - COMMAND DOCS: what commands are for, and their arguments.
 */
#ifndef HF__SERVE_COMMAND_DOCS_H
#define HF__SERVE_COMMAND_DOCS_H

#include "serve/conn/conn.h"

/* A row is "@GROUP", or "NAME SINCE[ ARGUMENTS]: SUMMARY", where a subcommand
 * is "command|subcommand" and SINCE the version of Redis that brought it.
 * Arguments are those of its pages:
 *
 *     key           a word that the caller chooses; its name says what it is
 *     REPLACE       a word as it is; one before an argument belongs to it
 *     [...]         may be left out
 *     (...)         belongs together
 *     A|B           one of them; in brackets only
 *     key...        one or more of it, also of what is in brackets
 *
 * The last row is NULL. */
extern const char *const hf__docs_table[];

void hf__command_docs(hf__conn *conn, const hf_bytes *words, size_t count);

#endif
