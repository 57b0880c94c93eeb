/* SPDX-License-Identifier: Apache-2.0 */
/* peer_stores_sqlite.c - SQLite, with a connection for each thread; see
 * peer_stores.h. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peers/peer_stores.h"

#define WAIT_MS 30000

typedef struct sqlite_connection {
    sqlite3 *db;
    sqlite3_stmt *set;
    sqlite3_stmt *get;
} sqlite_connection;

typedef struct sqlite_values {
    sqlite_connection connections[WRITERS_MAX];
} sqlite_values;

static bool prepare(sqlite_connection *self, const char *text,
                    sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(self->db, text, -1, statement, NULL) == SQLITE_OK;
}

static bool open_connection(sqlite_connection *self, const char *path,
                            const char *modes)
{
    bool ok = sqlite3_open(path, &self->db) == SQLITE_OK &&
              sqlite3_busy_timeout(self->db, WAIT_MS) == SQLITE_OK &&
              sqlite3_exec(self->db, modes, NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_exec(self->db,
                           "CREATE TABLE IF NOT EXISTS kv(name TEXT PRIMARY "
                           "KEY, value BLOB) WITHOUT ROWID",
                           NULL, NULL, NULL) == SQLITE_OK &&
              prepare(self, "REPLACE INTO kv VALUES(?, ?)", &self->set) &&
              prepare(self, "SELECT value FROM kv WHERE name = ?", &self->get);

    return ok || bench_fail("sqlite: %s", sqlite3_errmsg(self->db));
}

static void *open_values(const peer_place *place, const char *modes)
{
    sqlite_values *self = calloc(1, sizeof(*self));
    char path[BENCH_PATH_SIZE];

    snprintf(path, sizeof(path), "%s/values", place->directory);
    for (int i = 0; self != NULL && i < WRITERS_MAX; i++) {
        if (!open_connection(&self->connections[i], path, modes))
            return NULL;
    }
    return self;
}

static void *open_unflushed(const peer_place *place)
{
    return open_values(place,
                       "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;");
}

static void *open_wal(const peer_place *place)
{
    return open_values(place,
                       "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
}

static void *open_rollback(const peer_place *place)
{
    return open_values(place,
                       "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;");
}

/* What a statement returned, and its end. */
static bool end_statement(sqlite3_stmt *statement, bool ok)
{
    return (sqlite3_reset(statement) == SQLITE_OK && ok) ||
           bench_fail("sqlite: %s",
                      sqlite3_errmsg(sqlite3_db_handle(statement)));
}

static bool set_value(void *store, int thread, const char *name,
                      const char *value)
{
    sqlite3_stmt *set = ((sqlite_values *)store)->connections[thread].set;

    return end_statement(
        set, sqlite3_bind_text(set, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_bind_blob(set, 2, value, WRITERS_VALUE_SIZE,
                                   SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_step(set) == SQLITE_DONE);
}

static bool get_value(void *store, const char *name)
{
    sqlite3_stmt *get = ((sqlite_values *)store)->connections[0].get;
    char *copy = malloc(WRITERS_VALUE_SIZE);
    bool ok = copy != NULL &&
              sqlite3_bind_text(get, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_step(get) == SQLITE_ROW &&
              sqlite3_column_bytes(get, 0) == WRITERS_VALUE_SIZE;

    if (ok)
        memcpy(copy, sqlite3_column_blob(get, 0), WRITERS_VALUE_SIZE);
    free(copy);
    return end_statement(get, ok);
}

const peer_store peer_values_sqlite = {open_unflushed, set_value, get_value};
const peer_store peer_durable_sqlite_wal = {open_wal, set_value, NULL};
const peer_store peer_durable_sqlite_rollback = {open_rollback, set_value,
                                                 NULL};
