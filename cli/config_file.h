/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file.h - named stores: `NAME = URL` in the user's configuration,
 * $XDG_CONFIG_HOME/holdfast/config, and in /etc/holdfast.conf.
 *
 * Only the command reads them; the library never does.
 */
#ifndef HOLDFAST_CLI_CONFIG_FILE_H
#define HOLDFAST_CLI_CONFIG_FILE_H

#include "command_line.h"

/*
 * The store of a command line: if --store is a name, its URL takes its place;
 * without --store and HOLDFAST_STORE, that of the store "default", if there is
 * one. An exit code; an error was printed, a bad line with its file and number.
 */
int config_find_store(struct options *options, const char *what);

/* Report each name, those of the user first. */
void config_names(void (*report)(void *user, const char *name), void *user);

#endif
