/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_row.h - what a command is.
 *
 * A command is a row of store/known_table.c and a function in the file of its
 * type, which reads the arguments, sends exactly one reply or error, and
 * returns. Replies and error texts are Redis 7.0's.
 */
#ifndef HF__ENGINE_COMMAND_ROW_H
#define HF__ENGINE_COMMAND_ROW_H

#include "engine/keys/argument.h"
#include "engine/keys/command_reply.h"
#include "engine/keys/keyspace.h"
#include "engine/keys/records.h"
#include "util/private_api.h"

enum {
    HF__COMMAND_WRITES = 1u << 0,
    HF__COMMAND_GROWS = 1u << 1,     /* refused when the store is full */
    HF__COMMAND_NO_SCRIPT = 1u << 2, /* as in known_commands.h */
    HF__COMMAND_MACHINE = 1u << 3,   /* needs the Lua machine */
    HF__COMMAND_EVAL = 1u << 4,      /* is a script; see eval.h */
    HF__COMMAND_GROUP = 1u << 5,     /* has subcommands */
    /* Of the category "blocking": takes an element and waits for one: sets
     * tx->block if there is none, and replies nil, which is the reply within a
     * transaction. */
    HF__COMMAND_BLOCKS = 1u << 6
};
/* Which of the commands that share a function, as a flag of its row. */
#define HF__VARIANT(number) ((unsigned)(number) << 16)

typedef struct hf__command {
    const char *name;
    int arity; /* as in known_commands.h */
    unsigned flags;
    /* NULL for HF__COMMAND_EVAL. */
    void (*run)(hf__tx *tx, const hf_bytes *args, size_t count);
} hf__command;

/* Finds a script's commands, ignoring case; NULL: no such command. */
typedef const hf__command *hf__command_finder(hf_bytes name);

static inline unsigned hf__variant(const hf__tx *tx)
{
    return tx->command->flags >> 16;
}

/* As a file has it: what known_commands.h does not say. */
typedef struct hf__command_entry {
    const char *name; /* lower case; NULL ends a table */
    unsigned flags;   /* but NO_SCRIPT and BLOCKS */
    void (*run)(hf__tx *tx, const hf_bytes *args, size_t count);
} hf__command_entry;

/* One table per file. The rows of a command's subcommands follow its own, whose
 * flags count: {"script", ..., hf__subcommand_run}, {"script|load", ...} */
extern const hf__command_entry hf__commands_string[];
extern const hf__command_entry hf__commands_string_part[];
extern const hf__command_entry hf__commands_getex[];
extern const hf__command_entry hf__commands_bit[];
extern const hf__command_entry hf__commands_bitfield[];
extern const hf__command_entry hf__commands_lcs[];
extern const hf__command_entry hf__commands_hyperloglog[];
extern const hf__command_entry hf__commands_geo[];
extern const hf__command_entry hf__commands_key[];
extern const hf__command_entry hf__commands_copy[];
extern const hf__command_entry hf__commands_database[];
extern const hf__command_entry hf__commands_keyspace_scan[];
extern const hf__command_entry hf__commands_expire[];
extern const hf__command_entry hf__commands_hash[];
extern const hf__command_entry hf__commands_hash_scan[];
extern const hf__command_entry hf__commands_hash_expire[];
extern const hf__command_entry hf__commands_incrbyfloat[];
extern const hf__command_entry hf__commands_zset[];
extern const hf__command_entry hf__commands_zrange[];
extern const hf__command_entry hf__commands_zset_scan[];
extern const hf__command_entry hf__commands_zset_remove[];
extern const hf__command_entry hf__commands_zset_algebra[];
extern const hf__command_entry hf__commands_list[];
extern const hf__command_entry hf__commands_list_move[];
extern const hf__command_entry hf__commands_set[];
extern const hf__command_entry hf__commands_set_algebra[];
extern const hf__command_entry hf__commands_set_scan[];
extern const hf__command_entry hf__commands_sort[];
extern const hf__command_entry hf__commands_stream[];
extern const hf__command_entry hf__commands_stream_read[];
extern const hf__command_entry hf__commands_stream_group[];
extern const hf__command_entry hf__commands_stream_claim[];
extern const hf__command_entry hf__commands_stream_info[];
extern const hf__command_entry hf__commands_server[];
extern const hf__command_entry hf__commands_publish[];
extern const hf__command_entry hf__commands_script[];
extern const hf__command_entry hf__commands_function[];
extern const hf__command_entry hf__commands_object[];
extern const hf__command_entry hf__commands_memory[];
extern const hf__command_entry hf__commands_dump[];

HF__PRIVATE_API bool hf__command_arity_fits(const hf__command *command,
                                            size_t count);
/* Run it; the arity has been checked. */
void hf__command_run(hf__tx *tx, const hf__command *command,
                     const hf_bytes *args, size_t count);
/* The row of a subcommand; NULL: unknown. */
HF__PRIVATE_API const hf__command *
hf__subcommand_find(const hf__command *command, hf_bytes name);
/* Run the subcommand args[1] of tx->command. */
void hf__subcommand_run(hf__tx *tx, const hf_bytes *args, size_t count);
/* The first line of the reply to HELP. */
HF__PRIVATE_API void hf__help_heading(char text[HF__OUT_ERROR_SIZE],
                                      const char *name);
/* Reply to the subcommand HELP. `lines` end with NULL. */
void hf__reply_help(hf__tx *tx, const char *const *lines);
/* Redis's text for an unknown command. */
HF__PRIVATE_API void hf__unknown_text(char text[HF__OUT_ERROR_SIZE],
                                      const hf_bytes *args, size_t count);
HF__PRIVATE_API void hf__unknown_subcommand_text(char text[HF__OUT_ERROR_SIZE],
                                                 const char *command,
                                                 hf_bytes word);

/* Set `err` to what the line of a failed command or script says. HF_FULL also
 * names the store. */
void hf__command_fail(const hf__env *env, const char *text, bool script,
                      hf_error *err);

#endif
