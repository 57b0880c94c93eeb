/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.c - see command_table.h.
 */
#include "store/embedded/run/command_table.h"

#include <pthread.h>
#include <string.h>

#include "util/names.h"

const hf__command *const hf__command_tables[] = {
    hf__commands_string,        hf__commands_string_part,
    hf__commands_getex,         hf__commands_bit,
    hf__commands_key,           hf__commands_copy,
    hf__commands_keyspace_scan, hf__commands_expire,
    hf__commands_hash,          hf__commands_hash_scan,
    hf__commands_hash_expire,   hf__commands_incrbyfloat,
    hf__commands_zset,          hf__commands_zrange,
    hf__commands_zset_scan,     hf__commands_zset_remove,
    hf__commands_zset_algebra,  hf__commands_list,
    hf__commands_list_move,     hf__commands_set,
    hf__commands_set_algebra,   hf__commands_set_scan,
    hf__commands_sort,          hf__commands_bitfield,
    hf__commands_lcs,           hf__commands_server,
    hf__commands_publish,       hf__commands_object,
    hf__commands_memory,        hf__commands_dump,
    hf__commands_script,        NULL};

/* ---------------------------------------------------------------- finding */

static hf__names names;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void add_all(void)
{
    for (size_t i = 0; hf__command_tables[i] != NULL; i++) {
        for (const hf__command *command = hf__command_tables[i];
             command->name != NULL; command++) {
            if (strchr(command->name, '|') == NULL)
                hf__names_add(&names, hf_str(command->name), command);
        }
    }
}

const hf__command *hf__command_find(hf_bytes name)
{
    (void)pthread_once(&names_once, add_all);
    return hf__names_find(&names, name);
}
