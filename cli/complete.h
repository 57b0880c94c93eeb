/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - `holdfast complete`, which the shells' completions call. */
#ifndef HOLDFAST_CLI_COMPLETE_H
#define HOLDFAST_CLI_COMPLETE_H

/*
 * Print what the last of these words may become, a line each: the word, a tab
 * and what it is. Lines that begin with a colon leave it to the shell:
 * `:files`,
 * `:folders`, `:command N`, where N is the index of the command's first word.
 * Nothing is said of errors. An exit code.
 */
int complete(int count, char **words);

#endif
