/* SPDX-License-Identifier: Apache-2.0 */
/* store_facts.c - see store_facts.h. */
#include "store_facts.h"

#include <string.h>

#include "read_number.h"

static void on_fact(void *user, const char *name, const char *value)
{
    struct store_facts *facts = user;

    if (strcmp(name, "keys") == 0)
        (void)!number_integer(value, &facts->keys);
    else if (strcmp(name, "bytes in use") == 0)
        (void)!number_integer(value, &facts->size);
    else if (strcmp(name, "bytes at most") == 0)
        (void)!number_integer(value, &facts->size_max);
}

hf_status store_facts_read(struct store_facts *facts, hf_client *client)
{
    facts->keys = facts->size = facts->size_max = -1;
    return hf_store_info(client, on_fact, facts, NULL);
}
