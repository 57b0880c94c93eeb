/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_input.h - a command of the embedded store from a fuzzer's bytes: any
 * row of the tables, and arguments that are keys, numbers, options, texts,
 * payloads for RESTORE.
 */
#ifndef TESTS_FUZZ_COMMANDS_INPUT_H
#define TESTS_FUZZ_COMMANDS_INPUT_H

#include "input.h"

#define COMMAND_WORDS_MAX 20u

/* What the words of an input take, at most. */
#define COMMAND_ROOM 131072u

typedef struct command_words {
    hf_bytes words[COMMAND_WORDS_MAX];
    size_t count;
} command_words;

/* Memory of the words; `used` starts at 0. */
typedef struct command_room {
    unsigned char bytes[COMMAND_ROOM];
    size_t used;
} command_room;

/* false: there is no room for more. */
bool command_from_input(input *in, command_room *room, command_words *command);

#endif
