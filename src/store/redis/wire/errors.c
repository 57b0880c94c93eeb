/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c - the one place that translates a server's error replies.
 *
 * A row matches the first word of the line and, if given, the text after it;
 * the first match counts. Errors that a command raised inside a script have the
 * same first word, followed by the place in the script: " script: <sha1>, on
 * @user_script:<line>.". Without a match it is HF_SCRIPT for a script, which
 * may return any error, and HF_INVALID for a command.
 */
#include "store/redis/wire/errors.h"

#include <string.h>

#include "store/error_line.h"

typedef struct error_row {
    const char *word;
    const char *rest; /* what must follow; NULL: anything */
    hf__verdict verdict;
    hf_status status;
    const char *hint; /* appended to the server's text; may be NULL */
} error_row;

static const error_row rows[] = {
    {"NOSCRIPT", NULL, HF__VERDICT_LOAD, HF_UNAVAILABLE, NULL},
    {"WRONGTYPE", NULL, HF__VERDICT_ANSWER, HF_WRONG_TYPE, NULL},
    {"HFTOKEN", NULL, HF__VERDICT_ANSWER, HF_CORRUPT, NULL},   /* ours */
    {"HFINVALID", NULL, HF__VERDICT_ANSWER, HF_INVALID, NULL}, /* ours */
    {"HFHELD", NULL, HF__VERDICT_ANSWER, HF_HELD, NULL},       /* ours */
    {"HFLATE", HF__LATE_TEXT, HF__VERDICT_ANSWER, HF_UNAVAILABLE,
     NULL}, /* ours */

    {"LOADING", NULL, HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"BUSY", NULL, HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"TRYAGAIN", NULL, HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"MASTERDOWN", NULL, HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"CLUSTERDOWN", NULL, HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},

    {"READONLY", NULL, HF__VERDICT_DROP, HF_UNAVAILABLE,
     "the server is a replica"},
    {"UNBLOCKED", NULL, HF__VERDICT_DROP, HF_UNAVAILABLE, NULL},
    {"NOREPLICAS", NULL, HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"ERR", "max number of clients reached", HF__VERDICT_DROP, HF_UNAVAILABLE,
     NULL},

    {"OOM", NULL, HF__VERDICT_ANSWER, HF_FULL, NULL},
    {"MISCONF", NULL, HF__VERDICT_ANSWER, HF_FULL, NULL},

    {"NOAUTH", NULL, HF__VERDICT_DROP, HF_DENIED, NULL},
    {"WRONGPASS", NULL, HF__VERDICT_DROP, HF_DENIED, NULL},
    {"NOPERM", NULL, HF__VERDICT_ANSWER, HF_DENIED, NULL},
    {"DENIED", NULL, HF__VERDICT_DROP, HF_DENIED, NULL},
    {"ERR", "The user executing the script", HF__VERDICT_ANSWER, HF_DENIED,
     NULL}, /* Redis 7.0 */
    {"ERR", "ACL failure in script", HF__VERDICT_ANSWER, HF_DENIED,
     NULL}, /* Redis 7.2, Valkey */

    {"MOVED", NULL, HF__VERDICT_ANSWER, HF_UNSUPPORTED,
     "the server is one node of a cluster"},
    {"ASK", NULL, HF__VERDICT_ANSWER, HF_UNSUPPORTED,
     "the server is one node of a cluster"},
    {"CROSSSLOT", NULL, HF__VERDICT_ANSWER, HF_INVALID, NULL},
    {"ERR", "Script attempted to access a non local key", HF__VERDICT_ANSWER,
     HF_INDETERMINATE, "the script may have run in part"},
    {"ERR", "Script attempted to access keys that do not hash to the same slot",
     HF__VERDICT_ANSWER, HF_INDETERMINATE, "the script may have run in part"},
    {"ERR", "undeclared keys", HF__VERDICT_ANSWER, HF_INDETERMINATE,
     "the script may have run in part"},

    {"ERR", "Error compiling script", HF__VERDICT_ANSWER, HF_SCRIPT, NULL},
    {"NOPROTO", NULL, HF__VERDICT_ANSWER, HF_UNSUPPORTED, NULL},
    {"ERR", "unknown command", HF__VERDICT_ANSWER, HF_UNSUPPORTED, NULL},
    {"ERR", "unknown subcommand", HF__VERDICT_ANSWER, HF_UNSUPPORTED, NULL},
    {"ERR", "Protocol error", HF__VERDICT_DROP, HF_INVALID, NULL},
    {"EXECABORT", NULL, HF__VERDICT_ANSWER, HF_INVALID, NULL},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static size_t word_size(hf_bytes line)
{
    const char *space =
        line.size == 0 ? NULL : memchr(line.data, ' ', line.size);

    return space == NULL ? line.size
                         : (size_t)(space - (const char *)line.data);
}

static bool matches_row(const error_row *row, hf_bytes line)
{
    size_t size = word_size(line);

    if (size != strlen(row->word) || memcmp(line.data, row->word, size) != 0)
        return false;
    return row->rest == NULL ||
           (line.size > size &&
            hf__text_begins(hf__text_skip(line, size + 1), row->rest));
}

static const error_row *find_row(hf_bytes line)
{
    size_t at;

    for (at = 0; at < ROW_COUNT; at++) {
        if (matches_row(&rows[at], line))
            return &rows[at];
    }
    return NULL;
}

hf__verdict hf__redis_error(hf_bytes line, bool is_script, hf_error *err)
{
    const error_row *row = find_row(line);

    if (row == NULL) {
        (void)hf__error_line(err, is_script ? HF_SCRIPT : HF_INVALID, line,
                             NULL);
        return HF__VERDICT_ANSWER;
    }
    (void)hf__error_line(err, row->status, line, row->hint);
    return row->verdict;
}
