/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.c - see command_table.h.
 */
#include "engine/run/command_table.h"

#include <pthread.h>
#include <string.h>

#include "store/known_commands.h"
#include "util/names.h"

static const hf__command_entry *const tables[] = {
    hf__commands_string,
    hf__commands_string_part,
    hf__commands_getex,
    hf__commands_bit,
    hf__commands_key,
    hf__commands_copy,
    hf__commands_keyspace_scan,
    hf__commands_expire,
    hf__commands_hash,
    hf__commands_hash_scan,
    hf__commands_hash_expire,
    hf__commands_incrbyfloat,
    hf__commands_zset,
    hf__commands_zrange,
    hf__commands_zset_scan,
    hf__commands_zset_remove,
    hf__commands_zset_algebra,
    hf__commands_list,
    hf__commands_list_move,
    hf__commands_set,
    hf__commands_set_algebra,
    hf__commands_set_scan,
    hf__commands_sort,
    hf__commands_bitfield,
    hf__commands_lcs,
    hf__commands_server,
    hf__commands_publish,
    hf__commands_object,
    hf__commands_memory,
    hf__commands_dump,
    hf__commands_script,
    hf__commands_hyperloglog,
    hf__commands_geo,
    hf__commands_database,
    hf__commands_stream,
    hf__commands_stream_read,
    hf__commands_stream_group,
    hf__commands_stream_claim,
    hf__commands_stream_info,
    hf__commands_function,
    NULL,
};

#define COMMANDS_MAX 256

/* The last one has no name. */
static hf__command commands[COMMANDS_MAX + 1];
static hf__names names;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

/* Without a row in the table of known commands no number of words fits. */
static void add_command(hf__command *command, const hf__command_entry *entry)
{
    const hf__known_command *known = hf__known_find_row(hf_str(entry->name));

    *command = (hf__command){.name = entry->name,
                             .arity = known != NULL ? known->arity : 0,
                             .flags = entry->flags,
                             .run = entry->run};
    if (known != NULL && (known->flags & HF__KNOWN_NOSCRIPT) != 0)
        command->flags |= HF__COMMAND_NO_SCRIPT;
    if (known != NULL && (known->categories & HF__CATEGORY_BLOCKING) != 0)
        command->flags |= HF__COMMAND_BLOCKS;
    if (strchr(command->name, '|') == NULL)
        hf__names_add(&names, hf_str(command->name), command);
}

static void add_all(void)
{
    size_t count = 0;

    for (size_t i = 0; tables[i] != NULL; i++) {
        for (const hf__command_entry *entry = tables[i];
             entry->name != NULL && count < COMMANDS_MAX; entry++)
            add_command(&commands[count++], entry);
    }
}

const hf__command *hf__command_all(void)
{
    (void)pthread_once(&names_once, add_all);
    return commands;
}

const hf__command *hf__command_find(hf_bytes name)
{
    (void)pthread_once(&names_once, add_all);
    return hf__names_find(&names, name);
}
