/* SPDX-License-Identifier: Apache-2.0 */
/* pg_calls.h - reads and commits as queries of PostgreSQL. */
#ifndef HF__RECORDS_PG_CALLS_H
#define HF__RECORDS_PG_CALLS_H

#include "records/backend.h"
#include "records/postgres/pg_account.h"

/* The most that a commit writes, bytes. */
#define HF__PG_WRITE_MAX ((size_t)8 << 20)

/* The statements, with the schema in them. */
#define HF__PG_STATEMENT_SIZE 512
typedef struct hf__pg_statements {
    char read[HF__PG_STATEMENT_SIZE];
    char commit[HF__PG_STATEMENT_SIZE];
    char early[HF__PG_STATEMENT_SIZE];
    int64_t client; /* who takes turns with others */
} hf__pg_statements;
void hf__pg_statements_init(hf__pg_statements *statements, const char *schema,
                            hf_bytes inbox);

/* A commit, not a read? */
static inline bool hf__pg_commits(const hf__backend_call *call)
{
    return call->version != 0;
}

/* What it is without an answer. */
static inline hf__backend_outcome
hf__pg_unanswered(const hf__backend_call *call)
{
    return hf__pg_commits(call) ? HF__BACKEND_UNKNOWN : HF__BACKEND_FAILED;
}

/* Can it be sent? Otherwise its outcome is set. */
bool hf__pg_accepts(hf__backend_call *call);
/* Send it, with the outcome that no result at all has. false: it was not, and
 * the connection is good for nothing; with call->status HF_NO_MEMORY, that is
 * its outcome, otherwise the connection broke. */
bool hf__pg_send(PGconn *conn, const hf__pg_statements *statements,
                 hf__backend_call *call);
/* Set its outcome from one of its results, of which the last error counts. */
void hf__pg_take(PGconn *conn, const PGresult *result, hf__backend_call *call);

#endif
