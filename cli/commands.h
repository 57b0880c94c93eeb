/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the table of the commands that this program has.
 *
 * Commands are one word (run) or a noun and a verb (value set). The name in
 * the grammar is matched, and begins messages.
 */
#ifndef HOLDFAST_CLI_COMMANDS_H
#define HOLDFAST_CLI_COMMANDS_H

#include "cmd.h"
#include "manual.h"

/* The commands that begin with one word. */
struct noun {
    const char *name;
    const struct command *commands; /* one without a verb, or several */
};

extern const struct noun nouns[];
extern const size_t noun_count;

/* The second word of a command's name; NULL if it has only one. */
const char *command_verb(const struct command *command);

/* NULL: there is none. */
const struct noun *commands_noun(const char *word);

/* NULL: there is none. */
const struct command *noun_command(const struct noun *noun, const char *verb);

/* The command that `words` begin with, and how many of them name it. NULL:
 * none; an error was printed. */
const struct command *commands_find(int count, char **words, int *used);

/* What the manual says of it. */
const struct manual_page *commands_page(const struct command *command);
const struct manual_noun *commands_manual(const struct noun *noun);

/* Can it end with this exit code? */
bool command_gives(const struct command *command, int code);

#endif
