/* SPDX-License-Identifier: Apache-2.0 */
/* grammar.h - from a row of commands.h to the words of one command. */
#ifndef TESTS_DIFFERENTIAL_GRAMMAR_H
#define TESTS_DIFFERENTIAL_GRAMMAR_H

#include "commands.h"
#include "op.h"
#include "words.h"

/* Exactly what the row says, with choices by `make`. */
op grammar_words(maker *make, const char *words);

/* The same, but now and then with errors: words left out, doubled, misplaced,
 * or of another kind. */
op grammar_command(maker *make, const command_row *row);

#endif
