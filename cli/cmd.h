/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - one command: its grammar and its function.
 *
 * Each file of cmd/ exports a table of commands; cmd/nouns.c joins the tables.
 * The words of their help are in manual/.
 */
#ifndef HOLDFAST_CLI_CMD_H
#define HOLDFAST_CLI_CMD_H

#include "command_line.h"
#include "holdfast/reply.h"
#include "json_line.h"

struct command;

/* One command line being executed. */
struct call {
    const struct command *command;
    const struct options *options;
    hf_client *client; /* NULL if the command opens the store by itself */
    bool json;         /* --json */
    /* See hf_client_options; NULL: none. */
    const char *description;
    bool says_outages;  /* that the store is away, though not --verbose */
    char *const *words; /* all of the command line as typed, then NULL */
};

struct command {
    struct grammar grammar;        /* its name is "noun verb" or "verb" */
    bool opens_store;              /* the command opens the store by itself */
    int (*run)(struct call *call); /* returns the exit code */
};

extern const struct command run_commands[];
extern const struct command lead_commands[];
extern const struct command once_commands[];
extern const struct command queue_commands[];
extern const struct command election_commands[];
extern const struct command value_commands[];
extern const struct command hash_commands[];
extern const struct command key_commands[];
extern const struct command lock_commands[];
extern const struct command top_commands[];
extern const struct command barrier_commands[];
extern const struct command latch_commands[];
extern const struct command limit_commands[];
extern const struct command id_commands[];
extern const struct command semaphore_commands[];
extern const struct command script_commands[];
extern const struct command timeline_commands[];
extern const struct command set_commands[];
extern const struct command rank_commands[];
extern const struct command cache_commands[];
extern const struct command command_commands[];
extern const struct command txn_commands[];
extern const struct command serve_commands[];
extern const struct command store_commands[];
extern const struct command watch_commands[];

/* Ends each of these tables. */
/* clang-format off */
#define COMMAND_END { .run = NULL }
/* clang-format on */

/* Operand `index` as bytes. */
hf_bytes call_operand(const struct call *call, int index);

/* The operands from `first` on, of which there is at least one; the caller
 * frees the list. NULL: no memory. */
hf_bytes *call_operands(const struct call *call, int first, size_t *count);

/* Report an invalid command line that the grammar cannot express. */
int call_usage(const struct call *call, const char *message);

/* Operand `index`, called `what`, as a number in low..high; false: an error was
 * printed. */
bool call_count(const struct call *call, int index, const char *what,
                int64_t low, int64_t high, int64_t *count);
/* After setting a latch or semaphore of Redisson; its exit code. */
int call_redisson_set(const struct call *call, hf_status status,
                      const hf_error *err);
/* Print {"name":...,WHAT:done} with --json, else nothing. */
void call_print_done(const struct call *call, const char *what, bool done);

/* Report `status`; its exit code. */
int call_failed(const struct call *call, hf_status status, const hf_error *err);

/* The same, within an object that is printed on stdout with --json: it gets the
 * member "error", and ends. HF_OK: it only ends. */
int call_end_json(const struct call *call, struct json *json, hf_status status,
                  const hf_error *err);

/* The time to live that --ttl, --ex or --px gives, ms; 0: none. */
int64_t call_ttl_ms(const struct call *call);

/* Print that a fenced write was made, or by which token it was refused; its
 * exit code. `member` is the name of `ok` in JSON. */
int call_fenced(const struct call *call, hf_status status, uint64_t highest,
                const char *member, const hf_error *err);

/* The options of an incr command, and what it adds. */
hf_add_options call_add_options(const struct call *call, int64_t *delta);

/* Does it say for whom it waits? */
bool call_says_waits(const struct call *call);

/* Open the store that the options name. */
hf_status call_open(const struct call *call, hf_client **client, hf_error *err);

/* Block the signals that ask us to end; a descriptor that receives them. -1: an
 * error was printed. */
int call_end_signals(const struct call *call);

/* A reply in the form that the options ask for. */
void call_print_reply(const struct call *call, const hf_reply *reply);

/* Read standard input to its end, at most `limit` bytes, into a buffer that
 * the caller frees with free(data). Returns an exit code. */
int call_read_stdin(const struct call *call, size_t limit, hf_buffer *buffer);
/* The same for a file, which becomes standard input; "-" already is. */
int call_read_file(const struct call *call, const char *path, size_t limit,
                   hf_buffer *buffer);

#endif
