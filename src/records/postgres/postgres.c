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

/* ---------------------------------------------------------------- describe */

static const struct {
    const char *name;
    const char *query;
} facts[] = {
    {"server_version", "SHOW server_version"},
    {"database", "SELECT current_database()"},
    {"user", "SELECT current_user"},
    {"role", "SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' "
             "ELSE 'primary' END"},
    {"fsync", "SHOW fsync"},
    {"synchronous_commit", "SHOW synchronous_commit"},
    {"synchronous_standby_names", "SHOW synchronous_standby_names"},
};

static void pg_describe(hf__backend *backend, hf__describe_fn line, void *user)
{
    hf__pg_backend *self = backend_of(backend);
    int64_t deadline_ms = hf__pg_deadline(account_of(self));
    hf_error error = HF_ERROR_INIT;
    PGconn *pg;
    char text[256];

    line(user, "store", "records in PostgreSQL");
    line(user, "schema", account_of(self)->schema);
    if (hf__pg_connect(account_of(self), false, deadline_ms, &pg, &error) !=
        HF_OK) {
        line(user, "error", error.message);
        return;
    }
    if (PQhost(pg) != NULL)
        line(user, "address", PQhost(pg));
    line(user, "tls", PQsslInUse(pg) ? "yes" : "no");
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (hf__pg_ask(pg, facts[i].query, deadline_ms, text, sizeof(text),
                       &error) == HF_OK)
            line(user, facts[i].name, text);
    }
    PQfinish(pg);
}

/* ---------------------------------------------------------------- diagnose */

static void diagnose_pooler(PGconn *pg, int64_t deadline_ms,
                            hf__backend_report_fn report, void *user)
{
    bool is_pooled;

    if (hf__pg_is_pooled(pg, deadline_ms, &is_pooled, NULL) != HF_OK)
        return;
    report(user, is_pooled ? HF_LEVEL_NOTE : HF_LEVEL_OK, "pooler",
           is_pooled ? "in use" : "not in use",
           is_pooled ? "wake-ups need listen=HOST:PORT in the URL, the server "
                       "itself"
                     : "");
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

/* Those that are connected now, and are not waited for. */
static void diagnose_standbys(PGconn *pg, int64_t deadline_ms,
                              hf__backend_report_fn report, void *user)
{
    char text[32];

    if (hf__pg_ask(pg,
                   "SELECT count(*) FROM pg_catalog.pg_stat_replication "
                   "WHERE sync_state IS DISTINCT FROM 'sync' "
                   "AND sync_state IS DISTINCT FROM 'quorum'",
                   deadline_ms, text, sizeof(text), NULL) != HF_OK ||
        strcmp(text, "0") == 0)
        return;
    report(user, HF_LEVEL_NOTE, "asynchronous standbys", text,
           "one that is promoted may lack the last commits, with the locks in "
           "them: name it in synchronous_standby_names");
}

static void diagnose_isolation(PGconn *pg, int64_t deadline_ms,
                               hf__backend_report_fn report, void *user)
{
    char text[32];

    if (hf__pg_ask(pg, "SHOW default_transaction_isolation", deadline_ms, text,
                   sizeof(text), NULL) != HF_OK)
        return;
    if (strcmp(text, "read committed") == 0)
        report(user, HF_LEVEL_OK, "isolation", text, "");
    else
        report(user, HF_LEVEL_ERROR, "isolation", text,
               "set default_transaction_isolation to 'read committed' for "
               "this role or database");
}

/* Of `off` and `local`, each commit makes `on`. */
static void diagnose_commit(PGconn *pg, int64_t deadline_ms,
                            hf__backend_report_fn report, void *user)
{
    char text[32];

    if (hf__pg_ask(pg, "SHOW synchronous_commit", deadline_ms, text,
                   sizeof(text), NULL) != HF_OK)
        return;
    if (strcmp(text, "remote_write") == 0)
        report(
            user, HF_LEVEL_WARNING, "synchronous commit", text,
            "a standby whose machine crashes may lack the last commits, with "
            "the locks in them: set synchronous_commit to 'on' for this "
            "role or database");
    else if (strcmp(text, "off") == 0 || strcmp(text, "local") == 0)
        report(user, HF_LEVEL_NOTE, "synchronous commit", text,
               "each commit of this store sets it to 'on'");
    else
        report(user, HF_LEVEL_OK, "synchronous commit", text, "");
}

static void diagnose_durability(PGconn *pg, int64_t deadline_ms,
                                hf__backend_report_fn report, void *user)
{
    char text[256];
    bool is_on;

    if (hf__pg_ask(pg, "SHOW fsync", deadline_ms, text, sizeof(text), NULL) !=
        HF_OK)
        return;
    is_on = strcmp(text, "on") == 0;
    report(user, is_on ? HF_LEVEL_OK : HF_LEVEL_WARNING, "fsync", text,
           is_on ? "" : "set fsync = on: a power cut may lose locks and data");
    if (hf__pg_ask(pg, "SHOW synchronous_standby_names", deadline_ms, text,
                   sizeof(text), NULL) != HF_OK)
        return;
    if (text[0] != '\0')
        report(user, HF_LEVEL_OK, "synchronous standbys", text, "");
    else
        report(user, HF_LEVEL_NOTE, "synchronous standbys", "none",
               "a failover to another server may lose the last commits, with "
               "the locks in them: set synchronous_standby_names");
    diagnose_standbys(pg, deadline_ms, report, user);
}

/* It looks at the whole table. */
static void diagnose_ahead(const hf__pg_account *account, PGconn *pg,
                           int64_t deadline_ms, hf__backend_report_fn report,
                           void *user)
{
    hf_error error = HF_ERROR_INIT;
    char query[256];
    char text[64];

    (void)snprintf(query, sizeof(query), "SELECT %s.records_ahead()",
                   account->schema);
    if (hf__pg_ask(pg, query, deadline_ms, text, sizeof(text), &error) != HF_OK)
        report(user, HF_LEVEL_NOTE, "records ahead of the clock", error.message,
               "");
    else if (text[0] == '\0')
        report(user, HF_LEVEL_OK, "records ahead of the clock", "none", "");
    else
        report(user, HF_LEVEL_WARNING, "records ahead of the clock", text,
               "the server's clock was set back: permits, readers, jobs, "
               "claims and what else expires in them wait until it has caught "
               "up; remove those keys, or wait");
}

/* What a call needs and is not granted: of the schema and its routines to who
 * is logged in, of the tables to the owner of the routines. */
#define LACKING                                                                \
    "SELECT coalesce(string_agg(n.what || ' on ' || n.name, ', '), '') "       \
    "FROM (SELECT to_regnamespace(%s)) s(space), (VALUES "                     \
    "('USAGE', 'the schema'), ('EXECUTE', 'protocol'), "                       \
    "('EXECUTE', 'read_records'), ('EXECUTE', 'commit_records'), "             \
    "('EXECUTE', 'commit_early'), ('EXECUTE', 'await_standbys'), "             \
    "('SELECT', 'records'), ('INSERT', 'records'), ('UPDATE', 'records'), "    \
    "('DELETE', 'records'), ('SELECT', 'turns'), ('INSERT', 'turns'), "        \
    "('UPDATE', 'turns'), ('DELETE', 'turns')) n(what, name) "                 \
    "WHERE NOT CASE n.what "                                                   \
    "WHEN 'USAGE' THEN has_schema_privilege(s.space, n.what) "                 \
    "WHEN 'EXECUTE' THEN EXISTS (SELECT FROM pg_proc p "                       \
    "WHERE p.pronamespace = s.space AND p.proname = n.name "                   \
    "AND has_function_privilege(p.oid, n.what)) "                              \
    "ELSE EXISTS (SELECT FROM pg_class c JOIN pg_proc p "                      \
    "ON p.pronamespace = c.relnamespace AND p.proname = 'commit_records' "     \
    "WHERE c.relnamespace = s.space AND c.relname = n.name "                   \
    "AND has_table_privilege(p.proowner, c.oid, n.what)) END"

static void diagnose_rights(const hf__pg_account *account, PGconn *pg,
                            int64_t deadline_ms, hf__backend_report_fn report,
                            void *user)
{
    hf_error error = HF_ERROR_INIT;
    char *schema =
        PQescapeLiteral(pg, account->schema, strlen(account->schema));
    char query[sizeof(LACKING) + 2 * HF__PG_SCHEMA_SIZE];
    char text[512];

    if (schema == NULL)
        return;
    (void)snprintf(query, sizeof(query), LACKING, schema);
    PQfreemem(schema);
    if (hf__pg_ask(pg, query, deadline_ms, text, sizeof(text), &error) != HF_OK)
        report(user, HF_LEVEL_NOTE, "rights", error.message, "");
    else if (text[0] == '\0')
        report(user, HF_LEVEL_OK, "rights", "granted", "");
    else
        report(user, HF_LEVEL_ERROR, "rights", text,
               "not granted: the schema and its routines are needed by this "
               "role, the tables by the owner of the routines");
}

static void pg_diagnose(hf__backend *backend, hf__backend_report_fn report,
                        void *user)
{
    hf__pg_backend *self = backend_of(backend);
    int64_t deadline_ms = hf__pg_deadline(account_of(self));
    hf_error error = HF_ERROR_INIT;
    PGconn *pg;
    char text[256];

    if (hf__pg_connect(account_of(self), false, deadline_ms, &pg, &error) !=
        HF_OK) {
        report(user, HF_LEVEL_ERROR, "reachable", error.message, "");
        return;
    }
    report(user, HF_LEVEL_OK, "reachable", "yes", "");
    if (hf__pg_ask(pg, "SHOW server_version", deadline_ms, text, sizeof(text),
                   NULL) == HF_OK)
        report(user, HF_LEVEL_OK, "server version", text, "");
    report(user, PQsslInUse(pg) ? HF_LEVEL_OK : HF_LEVEL_NOTE, "TLS",
           PQsslInUse(pg) ? "in use" : "not in use",
           PQsslInUse(pg) ? "" : "sslmode=verify-full in the URL demands it");
    diagnose_pooler(pg, deadline_ms, report, user);
    diagnose_rights(account_of(self), pg, deadline_ms, report, user);
    diagnose_isolation(pg, deadline_ms, report, user);
    diagnose_durability(pg, deadline_ms, report, user);
    diagnose_commit(pg, deadline_ms, report, user);
    diagnose_listen(account_of(self), deadline_ms, report, user);
    diagnose_ahead(account_of(self), pg, deadline_ms, report, user);
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
        if (self->conns[i].pg != NULL)
            close(PQsocket(self->conns[i].pg));
    }
    if (self->listener.pg != NULL)
        close(PQsocket(self->listener.pg));
    if (self->opened != NULL)
        close(PQsocket(self->opened));
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
