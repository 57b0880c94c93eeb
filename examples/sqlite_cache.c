/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_cache.c - a cache in front of SQLite: however many processes and
 * threads miss at the same time, one of them queries the database.
 *
 *     ./sqlite_cache STORE DATABASE ID...
 */
#include <sqlite3.h>
#include <string.h>

#include "example.h"

typedef struct source {
    sqlite3 *database;
    const char *id;
} source;

/* Called if the cache has no fresh value and no one else is computing it. */
static void query(void *user, hf_cache_fill *fill)
{
    source *self = user;
    hf_error err = HF_ERROR_INIT;
    sqlite3_stmt *statement = NULL;
    hf_status status = HF_SYSTEM;
    hf_bytes name = {NULL, 0};

    fprintf(stderr, "querying %s\n", self->id);
    if (sqlite3_prepare_v2(self->database,
                           "SELECT name FROM users WHERE id = ?", -1,
                           &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, self->id, -1, SQLITE_STATIC);
        switch (sqlite3_step(statement)) {
        case SQLITE_ROW:
            status = HF_OK;
            name = hf_view(sqlite3_column_text(statement, 0),
                           (size_t)sqlite3_column_bytes(statement, 0));
            break;
        case SQLITE_DONE: /* that there is none is cached, too */
            status = HF_NOT_FOUND;
            break;
        }
    }
    if (hf_cache_fill_done(fill, status, name, &err) != HF_OK)
        fprintf(stderr, "not stored: %s\n", err.message);
    sqlite3_finalize(statement);
}

static void show(hf_client *client, source *from)
{
    hf_cache_options opts = HF_CACHE_OPTIONS_INIT;
    hf_cache_info info = HF_CACHE_INFO_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    opts.ttl_ms = 60000;   /* fresh for a minute */
    opts.stale_ms = 10000; /* then old values are returned during a fill */
    opts.error_ms = 60000; /* and if the database fails */
    opts.absent_ms = 5000; /* that there is no such user */
    status = hf_cache_get_or_fill(client, HF_FORMAT("user:%s", from->id), query,
                                  from, &opts, &value, &info, &err);
    if (status == HF_NOT_FOUND) {
        printf("%s: no such user\n", from->id);
        return;
    }
    need(status, &err);
    printf("%s: %s (%s)\n", from->id, (const char *)value.data,
           info.source == HF_CACHE_HIT ? "cached" : "queried");
    hf_buffer_free(&value);
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    source from = {NULL, NULL};

    if (argc < 4 || sqlite3_open(argv[2], &from.database) != SQLITE_OK) {
        fprintf(stderr, "usage: sqlite_cache STORE DATABASE ID...\n");
        return 1;
    }
    for (int i = 3; i < argc; i++) {
        from.id = argv[i];
        show(client, &from);
    }
    sqlite3_close(from.database);
    hf_client_close(client);
}
