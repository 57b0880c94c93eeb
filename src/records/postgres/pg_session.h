/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_session.h - a session from its login to its first call, and what is asked
 * in it. All of it blocks, until a deadline of hf__clock_boot_ms() at the
 * latest; any thread but the loop's. A name is looked up for as long as the
 * system's resolver takes.
 */
#ifndef HF__RECORDS_PG_SESSION_H
#define HF__RECORDS_PG_SESSION_H

#include "records/postgres/pg_account.h"

/* The deadline of a session that begins now. */
int64_t hf__pg_deadline(const hf__pg_account *account);

/* Connect to one of the hosts, and log in; `listens`: to the server itself. The
 * connection does not block. HF_DENIED, HF_UNAVAILABLE; HF_INVALID: there is no
 * such database. */
hf_status hf__pg_connect(const hf__pg_account *account, bool listens,
                         int64_t deadline_ms, PGconn **conn, hf_error *err);

/* Is a result one that a statement of ours has, or its failure? Of another, as
 * one that copies, there is no end. */
bool hf__pg_is_result(const PGresult *result);

/* A descriptor of its socket to be watched, which the caller closes; -1: there
 * is none. libpq closes its own when the connection breaks: a child of fork()
 * that has the socket would keep it in epoll, from which it could not be
 * removed any more, and the loop would be woken without end. */
int hf__pg_dup_socket(const PGconn *conn);

/* The bytes that have come by it; always 0 by a unix socket, whose other end is
 * of this machine. */
uint64_t hf__pg_received(PGconn *conn);

/* The result of the last of some statements. HF_UNAVAILABLE: not by the
 * deadline; HF_CORRUPT: of another kind, or too long. After either the
 * connection can only be closed. */
hf_status hf__pg_query(PGconn *conn, const char *query, int64_t deadline_ms,
                       PGresult **result, hf_error *err);
/* The same of its only row, with so many columns. */
hf_status hf__pg_row(PGconn *conn, const char *query, int columns,
                     int64_t deadline_ms, PGresult **row, hf_error *err);

/* Is the schema one that this release can use, and does the server write to its
 * disk? */
hf_status hf__pg_check(const hf__pg_account *account, PGconn *conn,
                       int64_t deadline_ms, bool *durable, hf_error *err);

/* Something between answers for the server, and may give each transaction to
 * another of its sessions: nothing of a session may be relied on. */
hf_status hf__pg_is_pooled(PGconn *conn, int64_t deadline_ms, bool *is_pooled,
                           hf_error *err);

#endif
