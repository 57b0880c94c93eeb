/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.c - see command_table.h.
 */
#include "store/embedded/run/command_table.h"

#include <pthread.h>
#include <string.h>

#include "util/hash.h"

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

/* A power of two, at least four times the number of commands. */
#define INDEX_SIZE 1024u
#define NAME_MAX_SIZE 24u

static const hf__command *index_table[INDEX_SIZE];
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static size_t index_start(const char *lower, size_t size)
{
    return (size_t)hf__hash(hf_view(lower, size), 0) % INDEX_SIZE;
}

static void build_index(void)
{
    for (size_t i = 0; hf__command_tables[i] != NULL; i++) {
        for (const hf__command *command = hf__command_tables[i];
             command->name != NULL; command++) {
            size_t at = index_start(command->name, strlen(command->name));

            if (strchr(command->name, '|') != NULL)
                continue;
            while (index_table[at] != NULL)
                at = (at + 1) % INDEX_SIZE;
            index_table[at] = command;
        }
    }
}

const hf__command *hf__command_find(hf_bytes name)
{
    char text[NAME_MAX_SIZE];

    (void)pthread_once(&index_once, build_index);
    if (name.size == 0 || name.size >= sizeof(text))
        return NULL;
    for (size_t i = 0; i < name.size; i++)
        text[i] = hf__lower(((const char *)name.data)[i]);
    text[name.size] = '\0';
    for (size_t at = index_start(text, name.size); index_table[at] != NULL;
         at = (at + 1) % INDEX_SIZE) {
        if (strcmp(index_table[at]->name, text) == 0)
            return index_table[at];
    }
    return NULL;
}
