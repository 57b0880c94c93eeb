/* SPDX-License-Identifier: Apache-2.0 */
/* acl_table.c - see acl_table.h. */
#include "serve/users/acl_table.h"

#include <pthread.h>
#include <strings.h>

#include "util/names.h"

static const char *const category_names[HF__ACL_CATEGORIES] = {
    "keyspace", "read",     "write",     "set",        "sortedset",
    "list",     "hash",     "string",    "bitmap",     "hyperloglog",
    "geo",      "stream",   "pubsub",    "admin",      "fast",
    "slow",     "blocking", "dangerous", "connection", "transaction",
    "scripting"};

_Static_assert(1u << (HF__ACL_CATEGORIES - 1) == HF__CATEGORY_SCRIPTING,
               "each has a name");
_Static_assert(2 * HF__ACL_COMMANDS_MAX >= HF__NAMES_SIZE,
               "a set has all that known_table.c may have");

static int number_of(const hf__known_command *found)
{
    return found != NULL && found->categories != 0
               ? (int)(found - hf__known_table)
               : -1;
}

int hf__acl_find(hf_bytes name, hf_bytes sub)
{
    return number_of(sub.size == 0 ? hf__known_find_row(name)
                                   : hf__known_find_sub(name, sub));
}

int hf__acl_find_words(const hf_bytes *words, size_t count)
{
    return number_of(hf__known_find_words(words, count));
}

static int command_count;
static pthread_once_t count_once = PTHREAD_ONCE_INIT;

static void count_all(void)
{
    while (hf__known_table[command_count].name != NULL)
        command_count++;
}

int hf__acl_count(void)
{
    (void)pthread_once(&count_once, count_all);
    return command_count;
}

bool hf__acl_is_sub(int sub, int command)
{
    const char *name = hf__known_table[command].name;
    size_t size = strlen(name);

    return strncmp(hf__known_table[sub].name, name, size) == 0 &&
           hf__known_table[sub].name[size] == '|';
}

int hf__acl_category(hf_bytes name)
{
    for (int i = 0; i < HF__ACL_CATEGORIES; i++) {
        if (strlen(category_names[i]) == name.size &&
            strncasecmp(category_names[i], name.data, name.size) == 0)
            return i;
    }
    return -1;
}

const char *hf__acl_category_name(int number)
{
    return category_names[number];
}

unsigned hf__acl_key_access(const hf__known_command *command, bool first)
{
    const char *others = strchr(command->access, ',');
    const char *at = first || others == NULL ? command->access : others + 1;
    unsigned access = 0;

    for (; *at == 'r' || *at == 'w'; at++)
        access |= *at == 'r' ? HF__ACL_READ : HF__ACL_WRITE;
    return access;
}
