/* SPDX-License-Identifier: Apache-2.0 */
/* cache_command.h - the command of `cache fill`. */
#ifndef HOLDFAST_CLI_CMD_CACHE_COMMAND_H
#define HOLDFAST_CLI_CMD_CACHE_COMMAND_H

#include "holdfast/cache.h"

struct cache_command {
    char **argv;
    int code;         /* its exit code; 0: it did not run, or succeeded */
    hf_buffer output; /* what it printed */
    size_t room;
};

/* A fill (hf_cache_fill_fn): run the command, and pass signals on to it. */
void cache_command_run(void *user, hf_cache_fill *fill);

void cache_command_end(struct cache_command *command);

#endif
