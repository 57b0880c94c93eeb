/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.h - every option of every command, and how a command line is
 * read.
 *
 * An option means the same in every command that accepts it. Options may come
 * before, between and after operands; `--` ends them.
 */
#ifndef HOLDFAST_CLI_COMMAND_LINE_H
#define HOLDFAST_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "holdfast/serve.h"

enum option_id {
    OPT_STORE,
    OPT_PREFIX,
    OPT_JSON,
    OPT_HELP,
    OPT_VERSION,
    OPT_NONBLOCK,
    OPT_WAIT,
    OPT_CONFLICT_CODE,
    OPT_SHELL,
    OPT_LEASE,
    OPT_MAX_HOLD,
    OPT_PERMITS,
    OPT_ALL,
    OPT_PRIORITY,
    OPT_MIN_HOLD,
    OPT_DELAY,
    OPT_ON_LOST,
    OPT_VERBOSE,
    OPT_QUIET,
    OPT_DRY_RUN,
    OPT_EXCLUSIVE,
    OPT_SHARED,
    OPT_REDISSON,
    OPT_REDISSON_COUNT,
    OPT_CLOSE,
    OPT_NX,
    OPT_XX,
    OPT_GET,
    OPT_KEEPTTL,
    OPT_MEMBER_KEEPTTL,
    OPT_GT,
    OPT_LT,
    OPT_EX,
    OPT_PX,
    OPT_EXAT,
    OPT_PXAT,
    OPT_TTL,
    OPT_PERSIST,
    OPT_FIELD_TTL,
    OPT_STDIN,
    OPT_RAW,
    OPT_NO_RAW,
    OPT_IF,
    OPT_ABSENT,
    OPT_REPLACE,
    OPT_SKIP,
    OPT_DROP_FIELD_TTL,
    OPT_CONTINUE,
    OPT_OUTPUT,
    OPT_MATCH,
    OPT_REQUESTS,
    OPT_REPLICAS,
    OPT_REPLICAS_MS,
    OPT_BUDGET,
    OPT_BY,
    OPT_OWNER,
    OPT_MIN,
    OPT_MAX,
    OPT_AT,
    OPT_ORDER_BY,
    OPT_WHERE,
    OPT_FROM,
    OPT_TO,
    OPT_OFFSET,
    OPT_LIMIT,
    OPT_CURSOR,
    OPT_OLDEST,
    OPT_PAYLOAD,
    OPT_KEEP,
    OPT_VERSIONED,
    OPT_REVISION,
    OPT_COUNT_MAX,
    OPT_TOKEN,
    OPT_HELD_TOKEN,
    OPT_EARLY,
    OPT_STALE,
    OPT_STALE_ERROR,
    OPT_ALLOW_STALE,
    OPT_TAGS,
    OPT_JITTER,
    OPT_FILL_LEASE,
    OPT_RATE,
    OPT_BURST,
    OPT_COST,
    OPT_DENSE,
    OPT_TEXT,
    OPT_ONCE,
    OPT_FINGERPRINT,
    OPT_FINGERPRINT_FILE,
    OPT_ONCE_KEEP,
    OPT_RETRY_DOUBT,
    OPT_ON_FAILURE,
    OPT_PERIOD,
    OPT_ONCE_EARLY,
    OPT_SHOW,
    OPT_DELETE,
    OPT_KEEP_PID,
    OPT_SIGNAL,
    OPT_LISTEN,
    OPT_CLIENTS_MAX,
    OPT_USERS,
    OPT_PASSWORD_FILE,
    OPT_TLS_CERT,
    OPT_TLS_KEY,
    OPT_TLS_CA,
    OPT_READ_ONLY,
    OPT_IDLE,
    OPT_REQUEST_TIME,
    OPT_BUFFERS_MAX,
    OPT_MAX_SIZE,
    OPT_HTTP,
    OPT_HTTP_TOKEN_FILE,
    OPT_ALLOW_BREAK,
    OPT_ALLOW_EDIT,
    OPT_ONE_SAMPLE,
    OPT_INTERVAL,
    OPT_SORT,
    OPT_JOB_ID,
    OPT_JOB_DELAY,
    OPT_JOB_PRIORITY,
    OPT_ATTEMPTS,
    OPT_REMEMBER,
    OPT_GROUP,
    OPT_STATE,
    OPT_SLOTS,
    OPT_BACKOFF,
    OPT_BACKOFF_MAX,
    OPT_JOBS,
    OPT_COUNT
};

/* A set of options; 64 bits are too few. */
__extension__ typedef unsigned __int128 option_set;
_Static_assert(OPT_COUNT <= 128, "");
#define OPTION(name) ((option_set)1 << OPT_##name)
#define OPTIONS_COMMON                                                         \
    (OPTION(STORE) | OPTION(PREFIX) | OPTION(JSON) | OPTION(HELP))
/* Of commands that write. */
#define OPTIONS_WRITE (OPTIONS_COMMON | OPTION(REPLICAS) | OPTION(REPLICAS_MS))
/* They mean the same everywhere: last in the help. */
#define OPTIONS_SHARED (OPTIONS_WRITE | OPTION(VERSION))
/* Of incr commands. */
#define OPTIONS_ADD (OPTION(BY) | OPTION(MIN) | OPTION(MAX))

/* A slot of `queue work` is a process. */
#define WORK_SLOTS_MAX 256

/* Values of --on-lost, in the order of its list of words. */
enum on_lost { ON_LOST_TERM, ON_LOST_KILL, ON_LOST_WARN };

/* What may follow the operands of a command. */
enum tail {
    TAIL_NONE,     /* nothing; words after `--` are operands */
    TAIL_COMMAND,  /* a command: the first word that is no operand, or `--` */
    TAIL_ARGUMENTS /* any words, but only after `--` */
};

/* How to read one command line. */
struct grammar {
    const char *name;     /* for messages; NULL: the command itself */
    const char *operands; /* as the usage line shows them; NULL: none */
    option_set accepts;   /* OPTION() bits */
    int operands_min;     /* operands */
    int operands_max;     /* operands; -1: any number */
    enum tail tail;       /* what follows them */
    const char *nonblock; /* help of OPT_NONBLOCK; NULL: the usual one */
    const char *wait;     /* the same of OPT_WAIT */
    const char *all;      /* the same of OPT_ALL */
};

/* A command line that was read. */
struct options {
    bool given[OPT_COUNT];
    /* As typed; NULL for flags. OPT_STORE is a copy (see command_line.c). */
    const char *text[OPT_COUNT];
    /* Seconds as ms, integers, the index of a choice; 0 for the others. */
    int64_t number[OPT_COUNT];
    const char *listen[HF_SERVER_LISTEN_MAX]; /* each OPT_LISTEN */
    size_t listen_count;
    char **operands; /* owned by us, the words are not */
    int operand_count;
    char **tail; /* within argv */
    int tail_count;
    char *store; /* owned: OPT_STORE's copy */
};

/*
 * Read `argc` words into `options`, which starts zeroed and may hold what an
 * earlier call read. Returns an exit code; on EXIT_USAGE an error was
 * printed. The count of operands is checked unless --help was given.
 */
int options_read(struct options *options, const struct grammar *grammar,
                 int argc, char **argv);

void options_free(struct options *options);

/* The option of a grammar that has this name, of `size` bytes, or this letter,
 * not NUL; OPT_COUNT: there is none. */
int options_by_name(const struct grammar *grammar, const char *name,
                    size_t size);
int options_by_letter(const struct grammar *grammar, char letter);

/* What an option does in this command. */
const char *options_help(const struct grammar *grammar, int id);

/* The options of a grammar in the order of the help: its own, then those that
 * all share. Start with -1; the next one is the result modulo OPT_COUNT; -1:
 * there is none. */
int options_next(const struct grammar *grammar, int id);

/* The help of each, in this order. */
void options_print(FILE *file, const struct grammar *grammar);

#endif
