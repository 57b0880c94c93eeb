/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words of a line, with quotes and escapes.
 *
 * Blanks separate words. '...' is taken literally. In "..." and outside quotes
 * a backslash begins an escape: \n, \r, \t, \xHH for any byte, otherwise the
 * character after it. `#` at the beginning of a word begins a comment.
 */
#ifndef HOLDFAST_CLI_CMD_WORDS_H
#define HOLDFAST_CLI_CMD_WORDS_H

#include "holdfast/base.h"

struct words {
    hf_bytes *items;
    size_t count;
    size_t room;
};

/*
 * Split a line, which is overwritten and must outlive the words. NULL: done;
 * else what is wrong with it.
 */
const char *words_split(struct words *words, char *line, size_t size);

void words_free(struct words *words);

#endif
