/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.h - all commands, by name.
 */
#ifndef HF__ENGINE_COMMAND_TABLE_H
#define HF__ENGINE_COMMAND_TABLE_H

#include "engine/commands/command_row.h"
#include "util/private_api.h"

/* All of them; the last one has no name. */
HF__PRIVATE_API const hf__command *hf__command_all(void);

/* Ignores case; NULL: no such command. */
HF__PRIVATE_API const hf__command *hf__command_find(hf_bytes name);

#endif
