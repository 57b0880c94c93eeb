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

/* What setup.sql has. */
#define PROTOCOL 1

static hf__pg_backend *backend_of(hf__backend *backend)
{
    return (hf__pg_backend *)backend;
}

static const hf__pg_account *account_of(const hf__pg_backend *self)
{
    return hf__pg_connector_account(self->connector);
}

/* The only value of a query's only row, in `text`. */
static hf_status ask_value(PGconn *pg, const char *query, char *text,
                           size_t size, hf_error *err)
{
    PGresult *result = PQexec(pg, query);
    hf_status status = HF_OK;

    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        status = hf__pg_failed(pg, result, err);
    else
        (void)snprintf(text, size, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return status;
}

/* -------------------------------------------------------------------- open */

static hf_status check_setup(hf__pg_backend *self, PGconn *pg, hf_error *err)
{
    const char *schema = account_of(self)->schema;
    char query[HF__PG_STATEMENT_SIZE];
    char text[64];
    hf_status status;

    (void)snprintf(query, sizeof(query), "SELECT %s.protocol()", schema);
    status = ask_value(pg, query, text, sizeof(text), err);
    if (status == HF_OK && strtol(text, NULL, 10) != PROTOCOL)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "the schema %s is of protocol %s, and this is "
                          "%d: run `holdfast store setup`",
                          schema, text, PROTOCOL);
    if (status == HF_OK)
        status = ask_value(pg, "SHOW fsync", text, sizeof(text), err);
    if (status == HF_OK)
        self->base.durable = strcmp(text, "on") == 0;
    return status;
}

static hf_status open_first(hf__pg_backend *self, hf_error *err)
{
    PGconn *pg = NULL;
    hf_status status = hf__pg_connect(account_of(self), false, &pg, err);

    if (status != HF_OK)
        return status;
    status = check_setup(self, pg, err);
    if (status == HF_OK && PQsetnonblocking(pg, 1) != 0)
        status = hf__fail(err, HF_SYSTEM, "%s", PQerrorMessage(pg));
    if (status == HF_OK)
        self->opened = pg;
    else
        PQfinish(pg);
    return status;
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
    hf_error error = HF_ERROR_INIT;
    PGconn *pg;
    char text[256];

    line(user, "store", "records in PostgreSQL");
    line(user, "schema", account_of(self)->schema);
    if (hf__pg_connect(account_of(self), false, &pg, &error) != HF_OK) {
        line(user, "error", error.message);
        return;
    }
    if (PQhost(pg) != NULL)
        line(user, "address", PQhost(pg));
    line(user, "tls", PQsslInUse(pg) ? "yes" : "no");
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (ask_value(pg, facts[i].query, text, sizeof(text), &error) == HF_OK)
            line(user, facts[i].name, text);
    }
    PQfinish(pg);
}

/* ---------------------------------------------------------------- diagnose */

static void diagnose_durability(PGconn *pg, hf__backend_report_fn report,
                                void *user)
{
    char text[256];
    bool is_on;

    if (ask_value(pg, "SHOW fsync", text, sizeof(text), NULL) != HF_OK)
        return;
    is_on = strcmp(text, "on") == 0;
    report(user, is_on ? HF_LEVEL_OK : HF_LEVEL_WARNING, "fsync", text,
           is_on ? "" : "set fsync = on: a power cut may lose locks and data");
    if (ask_value(pg, "SHOW synchronous_standby_names", text, sizeof(text),
                  NULL) != HF_OK)
        return;
    if (text[0] != '\0')
        report(user, HF_LEVEL_OK, "synchronous standbys", text, "");
    else
        report(user, HF_LEVEL_NOTE, "synchronous standbys", "none",
               "a failover to another server may lose the last commits, with "
               "the locks in them: set synchronous_standby_names");
}

static void pg_diagnose(hf__backend *backend, hf__backend_report_fn report,
                        void *user)
{
    hf__pg_backend *self = backend_of(backend);
    hf_error error = HF_ERROR_INIT;
    PGconn *pg;
    char text[256];

    if (hf__pg_connect(account_of(self), false, &pg, &error) != HF_OK) {
        report(user, HF_LEVEL_ERROR, "reachable", error.message, "");
        return;
    }
    report(user, HF_LEVEL_OK, "reachable", "yes", "");
    if (ask_value(pg, "SHOW server_version", text, sizeof(text), NULL) == HF_OK)
        report(user, HF_LEVEL_OK, "server version", text, "");
    report(user, PQsslInUse(pg) ? HF_LEVEL_OK : HF_LEVEL_NOTE, "TLS",
           PQsslInUse(pg) ? "in use" : "not in use",
           PQsslInUse(pg) ? "" : "sslmode=verify-full in the URL demands it");
    diagnose_durability(pg, report, user);
    PQfinish(pg);
}

/* -------------------------------------------------------------------- life */

static void pg_close(hf__backend *backend)
{
    hf__pg_backend *self = backend_of(backend);

    hf__pg_connector_close(self->connector);
    hf__pg_listener_close(self);
    hf__pg_pool_close(self);
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
        status = open_first(self, err);
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
