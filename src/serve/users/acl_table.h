/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acl_table.h - commands and subcommands as access lists name them: by number,
 * for sets of them, and by category.
 */
#ifndef HF__SERVE_ACL_TABLE_H
#define HF__SERVE_ACL_TABLE_H

#include "store/known_commands.h"

#define HF__ACL_CATEGORIES 21
/* Names of commands, for a set of them. */
#define HF__ACL_COMMANDS_MAX 512

/* What is done with a key. */
enum { HF__ACL_READ = 1u << 0, HF__ACL_WRITE = 1u << 1 };

/* Number of `name`, or of its subcommand `sub`, ignoring case; -1: unknown. */
int hf__acl_find(hf_bytes name, hf_bytes sub);
/* The same of the words of a request. */
int hf__acl_find_words(const hf_bytes *words, size_t count);
int hf__acl_count(void);

/* Is `sub` a subcommand of `command`? */
bool hf__acl_is_sub(int sub, int command);

/* Number of a category, ignoring case; -1: unknown. */
int hf__acl_category(hf_bytes name);
const char *hf__acl_category_name(int number);

/* HF__ACL_READ and _WRITE of the first key, or of one after it. */
unsigned hf__acl_key_access(const hf__known_command *command, bool first);

#endif
