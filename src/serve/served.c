/* SPDX-License-Identifier: Apache-2.0 */
/* served.c - see served.h. */
#include "serve/served.h"

#include <pthread.h>

#include "store/embedded/keys/argument.h"
#include "util/hash.h"

static const hf__served *const tables[] = {hf__served_hello, hf__served_multi,
                                           NULL};

/* A power of two, at least four times the number of commands. */
#define INDEX_SIZE 256u
#define NAME_MAX_SIZE 24u

static const hf__served *index_table[INDEX_SIZE];
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static size_t index_start(hf_bytes lower)
{
    return (size_t)hf__hash(lower, 0) % INDEX_SIZE;
}

static void build_index(void)
{
    for (size_t i = 0; tables[i] != NULL; i++) {
        for (const hf__served *row = tables[i]; row->name != NULL; row++) {
            size_t at = index_start(hf_str(row->name));

            while (index_table[at] != NULL)
                at = (at + 1) % INDEX_SIZE;
            index_table[at] = row;
        }
    }
}

const hf__served *hf__served_find(hf_bytes name)
{
    char text[NAME_MAX_SIZE];

    (void)pthread_once(&index_once, build_index);
    if (name.size == 0 || name.size >= sizeof(text))
        return NULL;
    for (size_t i = 0; i < name.size; i++)
        text[i] = hf__lower(((const char *)name.data)[i]);
    for (size_t at = index_start(hf_view(text, name.size));
         index_table[at] != NULL; at = (at + 1) % INDEX_SIZE) {
        if (hf__arg_is(name, index_table[at]->name))
            return index_table[at];
    }
    return NULL;
}
