/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_queues_sqlite.c - a table of jobs in SQLite, in the manner of pg-boss: a
 * worker claims a job by an UPDATE that returns it, under a lease, and polls
 * while there is none. A connection for each worker.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "peers/peer_queues.h"

#define BUSY_MS 30000
#define POLL_US 10000

#define SCHEMA                                                                 \
    "CREATE TABLE IF NOT EXISTS job(id INTEGER PRIMARY KEY, queue TEXT, "      \
    "until INTEGER, payload BLOB);"                                            \
    "CREATE INDEX IF NOT EXISTS next ON job(queue, until, id)"
#define PUT "INSERT INTO job(queue, until, payload) VALUES(?, 0, ?)"
/* Ready jobs have 0 in `until`. The rest are by the end of their lease. */
#define TAKE                                                                   \
    "UPDATE job SET until = ?1 + ?2 WHERE id = (SELECT id FROM job WHERE "     \
    "queue = ?3 AND until < ?1 ORDER BY until, id LIMIT 1) "                   \
    "RETURNING id, payload"
#define DONE "DELETE FROM job WHERE id = ? AND until = ?"
#define LEFT "SELECT count(*) FROM job WHERE queue = ?"

typedef struct connection {
    sqlite3 *db;
    sqlite3_stmt *put, *take, *done, *left;
    peer_place place;
    const char *modes;
    const char *queue; /* of a worker */
    int64_t lease_ms;
    int64_t id; /* of the job that it has taken */
    int64_t until_ms;
} connection;

static bool prepare(connection *self, const char *text,
                    sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(self->db, text, -1, statement, NULL) == SQLITE_OK;
}

static void *open_table(const peer_place *place, const char *modes)
{
    connection *self = calloc(1, sizeof(*self));
    char path[BENCH_PATH_SIZE];

    if (self == NULL)
        return NULL;
    self->place = *place;
    self->modes = modes;
    snprintf(path, sizeof(path), "%s/jobs", place->directory);
    if (sqlite3_open(path, &self->db) == SQLITE_OK &&
        sqlite3_busy_timeout(self->db, BUSY_MS) == SQLITE_OK &&
        sqlite3_exec(self->db, modes, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(self->db, SCHEMA, NULL, NULL, NULL) == SQLITE_OK &&
        prepare(self, PUT, &self->put) && prepare(self, TAKE, &self->take) &&
        prepare(self, DONE, &self->done) && prepare(self, LEFT, &self->left))
        return self;
    bench_fail("sqlite: %s", sqlite3_errmsg(self->db));
    return NULL;
}

static void *open_unflushed(const peer_place *place)
{
    return open_table(place,
                      "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;");
}

static void *open_durable(const peer_place *place)
{
    return open_table(place,
                      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
}

static bool end_statement(sqlite3_stmt *statement, bool ok)
{
    return (sqlite3_reset(statement) == SQLITE_OK && ok) ||
           bench_fail("sqlite: %s",
                      sqlite3_errmsg(sqlite3_db_handle(statement)));
}

static bool put_job(void *store, const char *queue, const char *payload)
{
    sqlite3_stmt *put = ((connection *)store)->put;

    return end_statement(
        put, sqlite3_bind_text(put, 1, queue, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_bind_blob(put, 2, payload, PEER_JOB_SIZE,
                                   SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_step(put) == SQLITE_DONE);
}

static long count_left(void *store, const char *queue)
{
    sqlite3_stmt *left = ((connection *)store)->left;
    long count = -1;

    if (sqlite3_bind_text(left, 1, queue, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(left) == SQLITE_ROW)
        count = (long)sqlite3_column_int64(left, 0);
    return end_statement(left, count >= 0) ? count : -1;
}

static void *new_worker(void *store, const char *queue, int lease_ms)
{
    const connection *first = store;
    connection *self = open_table(&first->place, first->modes);

    if (self != NULL) {
        self->queue = queue;
        self->lease_ms = lease_ms;
    }
    return self;
}

static int64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One claim. `found`: it got a job. */
static bool claim_job(connection *self, char *payload, bool *found)
{
    int64_t now_ms = clock_ms();
    int result;

    sqlite3_bind_int64(self->take, 1, now_ms);
    sqlite3_bind_int64(self->take, 2, self->lease_ms);
    sqlite3_bind_text(self->take, 3, self->queue, -1, SQLITE_STATIC);
    result = sqlite3_step(self->take);
    *found = result == SQLITE_ROW;
    if (*found) {
        self->id = sqlite3_column_int64(self->take, 0);
        self->until_ms = now_ms + self->lease_ms;
        memcpy(payload, sqlite3_column_blob(self->take, 1), PEER_JOB_SIZE);
        result = sqlite3_step(self->take);
    }
    return end_statement(self->take, result == SQLITE_DONE);
}

static bool take_job(void *worker, char *payload)
{
    bool found;

    for (;;) {
        if (!claim_job(worker, payload, &found))
            return false;
        if (found)
            return true;
        usleep(POLL_US);
    }
}

static bool end_job(void *worker)
{
    connection *self = worker;
    bool ok = sqlite3_bind_int64(self->done, 1, self->id) == SQLITE_OK &&
              sqlite3_bind_int64(self->done, 2, self->until_ms) == SQLITE_OK &&
              sqlite3_step(self->done) == SQLITE_DONE;

    return end_statement(self->done, ok) && sqlite3_changes(self->db) == 1;
}

const peer_queue peer_queue_sqlite = {open_unflushed, put_job,  count_left,
                                      new_worker,     take_job, end_job};
const peer_queue peer_queue_sqlite_durable = {
    open_durable, put_job, count_left, new_worker, take_job, end_job};
