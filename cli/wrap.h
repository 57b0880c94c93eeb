/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h - text in lines of at most WRAP_COLUMNS characters. */
#ifndef HOLDFAST_CLI_WRAP_H
#define HOLDFAST_CLI_WRAP_H

#include <stdio.h>

#define WRAP_COLUMNS 80

/*
 * Print the words of `text` from `column`, where the cursor is, on; further
 * lines begin at `indent`. Ends with a newline. A word that does not fit has a
 * line of its own.
 */
void wrap_text(FILE *file, const char *text, int column, int indent);

/* Print each line of `text` after `indent` blanks. */
void wrap_lines(FILE *file, const char *text, int indent);

#endif
