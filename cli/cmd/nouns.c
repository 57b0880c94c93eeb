/* SPDX-License-Identifier: Apache-2.0 */
/* nouns.c - the table of all commands. */
#include "commands.h"

/* clang-format off */
const struct noun nouns[] = {
    {"run", run_commands},
    {"lead", lead_commands},
    {"once", once_commands},
    {"queue", queue_commands},
    {"election", election_commands},
    {"lock", lock_commands},
    {"semaphore", semaphore_commands},
    {"latch", latch_commands},
    {"barrier", barrier_commands},
    {"limit", limit_commands},
    {"value", value_commands},
    {"hash", hash_commands},
    {"key", key_commands},
    {"timeline", timeline_commands},
    {"set", set_commands},
    {"rank", rank_commands},
    {"cache", cache_commands},
    {"id", id_commands},
    {"txn", txn_commands},
    {"script", script_commands},
    {"command", command_commands},
    {"watch", watch_commands},
    {"serve", serve_commands},
    {"top", top_commands},
    {"store", store_commands},
};
/* clang-format on */

const size_t noun_count = sizeof(nouns) / sizeof(nouns[0]);
