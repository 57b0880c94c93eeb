/* SPDX-License-Identifier: Apache-2.0 */
/* help.h - what `holdfast help` prints. */
#ifndef HOLDFAST_CLI_HELP_H
#define HOLDFAST_CLI_HELP_H

#include <stdio.h>

#include "commands.h"

/* `holdfast help` with these words; an exit code. */
int help(int count, char **words);

/* The commands by task. */
void help_overview(FILE *file);

void help_noun(const struct noun *noun);
void help_command(const struct command *command);

/* All of it as one JSON object, which tools/manual.py reads. */
void help_json(void);

#endif
