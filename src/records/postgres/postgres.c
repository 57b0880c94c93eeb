/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c - the backend for PostgreSQL, as a module: opens and closes it,
 * and describes the database. See setup.sql for what is in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records/postgres/pg_backend.h"
#include "records/postgres/pg_setup.h"
#include "util/error.h"
#include "util/mem.h"

static hf__pg_backend *backend_of(hf__backend *backend)
{
    return (hf__pg_backend *)backend;
}

static const hf__pg_account *account_of(const hf__pg_backend *self)
{
    return hf__pg_connector_account(self->connector);
}

/* Before a query, in its transaction: of a name that is not qualified, one that
 * someone has put in a schema of this role's search_path could be taken, and
 * run with its rights. */
#define OF_SERVER "SET LOCAL search_path = pg_catalog, pg_temp; "

/* ---------------------------------------------------------------- describe */

/* By the names of its columns. */
static const char facts[] = OF_SERVER
    "SELECT current_setting('server_version') AS server_version,"
    "current_database() AS database, current_user AS \"user\","
    "CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END AS role,"
    "current_setting('fsync') AS fsync,"
    "current_setting('synchronous_commit') AS synchronous_commit,"
    "current_setting('synchronous_standby_names') AS synchronous_standby_names";

static void pg_describe(hf__backend *backend, hf__describe_fn line, void *user)
{
    const hf__pg_account *account = account_of(backend_of(backend));
    int64_t deadline_ms = hf__pg_deadline(account);
    hf_error error = HF_ERROR_INIT;
    PGresult *row = NULL;
    PGconn *pg;

    line(user, "store", "records in PostgreSQL");
    line(user, "schema", account->schema);
    if (hf__pg_connect(account, false, deadline_ms, &pg, &error) != HF_OK) {
        line(user, "error", error.message);
        return;
    }
    if (PQhost(pg) != NULL)
        line(user, "address", PQhost(pg));
    line(user, "tls", PQsslInUse(pg) ? "yes" : "no");
    if (hf__pg_row(pg, facts, 7, deadline_ms, &row, &error) != HF_OK)
        line(user, "error", error.message);
    for (int i = 0; i < PQnfields(row); i++)
        line(user, PQfname(row, i), PQgetvalue(row, 0, i));
    PQclear(row);
    PQfinish(pg);
}

/* ---------------------------------------------------------------- diagnose */

/* Rows of a level, a name, a value, and a remedy for what is not OK; one
 * without a value is not reported. %s: the schema; %d: the session's number, as
 * the login said it.
 *
 * Rights: what a call needs and is not granted, of the schema and its routines
 * to who is logged in, of the tables to the owner of the routines. Of
 * synchronous_commit `off` and `local`, each commit makes `on`. */
#define DIAGNOSTICS                                                            \
    "WITH s AS (SELECT to_regnamespace(%s) AS space,"                          \
    "pg_backend_pid() <> %d AS pooled,"                                        \
    "current_setting('default_transaction_isolation') AS isolation,"           \
    "current_setting('fsync') AS fsync,"                                       \
    "current_setting('synchronous_commit') AS waits,"                          \
    "current_setting('synchronous_standby_names') AS standbys),"               \
    "needed(what, name) AS (VALUES"                                            \
    "('USAGE', 'the schema'), ('EXECUTE', 'protocol'),"                        \
    "('EXECUTE', 'read_records'), ('EXECUTE', 'commit_records'),"              \
    "('EXECUTE', 'commit_early'), ('EXECUTE', 'await_standbys'),"              \
    "('SELECT', 'records'), ('INSERT', 'records'), ('UPDATE', 'records'),"     \
    "('DELETE', 'records'), ('SELECT', 'turns'), ('INSERT', 'turns'),"         \
    "('UPDATE', 'turns'), ('DELETE', 'turns')),"                               \
    "lacking(list) AS ("                                                       \
    "SELECT string_agg(n.what || ' on ' || n.name, ', ') FROM needed n, s "    \
    "WHERE NOT CASE n.what "                                                   \
    "WHEN 'USAGE' THEN has_schema_privilege(s.space, n.what) "                 \
    "WHEN 'EXECUTE' THEN EXISTS (SELECT FROM pg_proc p "                       \
    "WHERE p.pronamespace = s.space AND p.proname = n.name "                   \
    "AND has_function_privilege(p.oid, n.what)) "                              \
    "ELSE EXISTS (SELECT FROM pg_class c JOIN pg_proc p "                      \
    "ON p.pronamespace = c.relnamespace AND p.proname = 'commit_records' "     \
    "WHERE c.relnamespace = s.space AND c.relname = n.name "                   \
    "AND has_table_privilege(p.proowner, c.oid, n.what)) END) "                \
    "SELECT v.* FROM s, lacking, LATERAL (VALUES "                             \
    "(0, 'server version', current_setting('server_version'), ''),"            \
    "(pooled::int, 'pooler',"                                                  \
    "CASE WHEN pooled THEN 'in use' ELSE 'not in use' END,"                    \
    "'wake-ups need listen=HOST:PORT in the URL, the server itself'),"         \
    "(CASE WHEN list IS NULL THEN 0 ELSE 3 END, 'rights',"                     \
    "coalesce(list, 'granted'), 'not granted: the schema and its routines "    \
    "are needed by this role, the tables by the owner of the routines'),"      \
    "(CASE isolation WHEN 'read committed' THEN 0 ELSE 3 END, 'isolation',"    \
    "isolation, 'set default_transaction_isolation to ''read committed'' for " \
    "this role or database'),"                                                 \
    "(CASE fsync WHEN 'on' THEN 0 ELSE 2 END, 'fsync', fsync,"                 \
    "'set fsync = on: a power cut may lose locks and data'),"                  \
    "(CASE standbys WHEN '' THEN 1 ELSE 0 END, 'synchronous standbys',"        \
    "coalesce(nullif(standbys, ''), 'none'),"                                  \
    "'a failover to another server may lose the last commits, with the locks " \
    "in them: set synchronous_standby_names'),"                                \
    "(1, 'asynchronous standbys', (SELECT nullif(count(*), 0)::text "          \
    "FROM pg_stat_replication WHERE sync_state IS DISTINCT FROM 'sync' "       \
    "AND sync_state IS DISTINCT FROM 'quorum'),"                               \
    "'one that is promoted may lack the last commits, with the locks in "      \
    "them: name it in synchronous_standby_names'),"                            \
    "(CASE waits WHEN 'remote_write' THEN 2 WHEN 'off' THEN 1 "                \
    "WHEN 'local' THEN 1 ELSE 0 END, 'synchronous commit', waits,"             \
    "CASE waits WHEN 'remote_write' THEN 'a standby whose machine crashes "    \
    "may lack the last commits, with the locks in them: set "                  \
    "synchronous_commit to ''on'' for this role or database' "                 \
    "ELSE 'each commit of this store sets it to ''on''' END)) "                \
    "v(level, name, value, remedy) WHERE v.value IS NOT NULL"

/* It looks at the whole table. */
#define AHEAD                                                                  \
    "SELECT CASE ahead WHEN '' THEN 0 ELSE 2 END,"                             \
    "'records ahead of the clock', coalesce(nullif(ahead, ''), 'none'),"       \
    "'the server''s clock was set back: permits, readers, jobs, claims and "   \
    "what else expires in them wait until it has caught up; remove those "     \
    "keys, or wait' FROM %s.records_ahead() ahead"

/* If they cannot be asked for, `name` is reported. */
static void report_rows(PGconn *pg, const char *query, const char *name,
                        int64_t deadline_ms, hf__backend_report_fn report,
                        void *user)
{
    hf_error error = HF_ERROR_INIT;
    PGresult *rows = NULL;

    if (hf__pg_query(pg, query, deadline_ms, &rows, &error) != HF_OK)
        report(user, HF_LEVEL_NOTE, name, error.message, "");
    else if (PQnfields(rows) != 4)
        report(user, HF_LEVEL_NOTE, name, "PostgreSQL sent a malformed reply",
               "");
    for (int i = 0; PQnfields(rows) == 4 && i < PQntuples(rows); i++) {
        long level = strtol(PQgetvalue(rows, i, 0), NULL, 10);

        if (level < HF_LEVEL_OK || level > HF_LEVEL_ERROR)
            level = HF_LEVEL_NOTE;
        report(user, (hf_level)level, PQgetvalue(rows, i, 1),
               PQgetvalue(rows, i, 2),
               level == HF_LEVEL_OK ? "" : PQgetvalue(rows, i, 3));
    }
    PQclear(rows);
}

/* The connection on which wake-ups come, if the URL names it. */
static void diagnose_listen(const hf__pg_account *account, int64_t deadline_ms,
                            hf__backend_report_fn report, void *user)
{
    hf_error error = HF_ERROR_INIT;
    PGconn *pg;

    if (account->listen_host == NULL)
        return;
    if (hf__pg_connect(account, true, deadline_ms, &pg, &error) == HF_OK) {
        report(user, HF_LEVEL_OK, "listen", account->listen_host, "");
        PQfinish(pg);
    } else {
        report(user, HF_LEVEL_WARNING, "listen", error.message,
               "correct listen=HOST:PORT in the URL");
    }
}

static void pg_diagnose(hf__backend *backend, hf__backend_report_fn report,
                        void *user)
{
    const hf__pg_account *account = account_of(backend_of(backend));
    int64_t deadline_ms = hf__pg_deadline(account);
    hf_error error = HF_ERROR_INIT;
    PGconn *pg;
    char query[sizeof(OF_SERVER DIAGNOSTICS) + 2 * HF__PG_SCHEMA_SIZE];
    char *schema;

    if (hf__pg_connect(account, false, deadline_ms, &pg, &error) != HF_OK) {
        report(user, HF_LEVEL_ERROR, "reachable", error.message, "");
        return;
    }
    report(user, HF_LEVEL_OK, "reachable", "yes", "");
    report(user, PQsslInUse(pg) ? HF_LEVEL_OK : HF_LEVEL_NOTE, "TLS",
           PQsslInUse(pg) ? "in use" : "not in use",
           PQsslInUse(pg) ? "" : "sslmode=verify-full in the URL demands it");
    schema = PQescapeLiteral(pg, account->schema, strlen(account->schema));
    (void)snprintf(query, sizeof(query), OF_SERVER DIAGNOSTICS,
                   schema != NULL ? schema : "NULL", PQbackendPID(pg));
    PQfreemem(schema);
    report_rows(pg, query, "settings", deadline_ms, report, user);
    diagnose_listen(account, deadline_ms, report, user);
    (void)snprintf(query, sizeof(query), OF_SERVER AHEAD, account->schema);
    report_rows(pg, query, "records ahead of the clock", deadline_ms, report,
                user);
    PQfinish(pg);
}

/* -------------------------------------------------------------------- life */

static void pg_close(hf__backend *backend)
{
    hf__pg_backend *self = backend_of(backend);

    hf__pg_listener_close(self);
    hf__pg_pool_close(self);
    hf__pg_connector_close(self->connector);
    hf__free(self);
}

/* PQfinish() would end the parent's sessions. */
static void pg_close_forked(hf__backend *backend)
{
    hf__pg_backend *self = backend_of(backend);

    for (size_t i = 0; i < HF__PG_CONNS; i++) {
        if (self->conns[i].pg != NULL) {
            close(PQsocket(self->conns[i].pg));
            close(self->conns[i].poll.fd);
        }
    }
    if (self->listener.pg != NULL) {
        close(PQsocket(self->listener.pg));
        close(self->listener.poll.fd);
    }
    hf__free(self);
}

static const hf__backend_ops ops = {
    .read = hf__pg_pool_call,
    .commit = hf__pg_pool_call,
    .close = pg_close,
    .listen = hf__pg_listener_start,
    .describe = pg_describe,
    .diagnose = pg_diagnose,
    .close_forked = pg_close_forked,
};

static hf_status pg_open(const hf__backend_config *config,
                         hf__backend **backend, hf_error *err)
{
    hf__pg_backend *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->base.ops = &ops;
    self->base.calls_max = HF__PG_CONNS;
    self->config = *config;
    hf__pg_pool_init(self);
    status = hf__pg_connector_new(self, &self->connector, err);
    if (status != HF_OK) {
        hf__free(self);
        return status;
    }
    hf__pg_statements_init(&self->statements, account_of(self)->schema,
                           hf_str(config->inbox));
    if (!config->store->lazy)
        status = hf__pg_connector_open(self->connector, err);
    self->config.store = NULL;
    if (status == HF_OK) {
        *backend = &self->base;
        return HF_OK;
    }
    hf__pg_connector_close(self->connector);
    hf__free(self);
    return status;
}

HF__PRIVATE_API extern const hf__backend_module hf__backend_found;
const hf__backend_module hf__backend_found = {HF__BACKEND_VERSION, pg_open,
                                              hf__pg_setup};
