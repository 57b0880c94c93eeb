/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c - run the library's scripts on PostgreSQL and on the embedded
 * store, and compare.
 *
 *     differential_postgres --seed N --steps N [--mutate FAULT]
 *
 * Each step runs one script with random words on PostgreSQL; then the embedded
 * store, with the rows as they were before, runs it with the same TIME. Reply,
 * error and all keys with their deadlines must be the same: those of PostgreSQL
 * are its rows. With --mutate one of them is spoilt: the exit status is 0 if
 * that is found.
 *
 * A lease is over later on PostgreSQL, until it was seen for as long as it was
 * (record_guard.h): such a step is not compared. One that is written again,
 * with its end as it was, may end a little later there.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "records/postgres/pg_words.h"
#include "records/record_store.h"
#include "state.h"
#include "support/postgres_server.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/loop.h"
#include "util/order.h"
#include "words.h"

/* Columns of a row. */
enum { KEY, PAYLOAD, EXPIRE, AT };

typedef struct trial {
    embedded store;
    hf__record_store records;
    PGconn *sql; /* listens on the inbox of `store` */
    world world;
    word_list words;
    const char *fault;
    int64_t late_us; /* the most that a commit was known after its TIME */
    unsigned long compared, failed;
} trial;

/* ----------------------------------------------------------------- backend */

static PGresult *ask_sql(const trial *self, const char *sql)
{
    PGresult *result =
        PQexecParams(self->sql, sql, 0, NULL, NULL, NULL, NULL, 1);

    require(PQresultStatus(result) == PGRES_TUPLES_OK ||
                PQresultStatus(result) == PGRES_COMMAND_OK,
            PQerrorMessage(self->sql));
    return result;
}

extern const hf__backend_module hf__backend_found;

static hf__backend_ops ops;
static const hf__backend_ops *pg_ops;
static int64_t commit_us; /* TIME of the last; the loop thread's until then */

static void note_commit(hf__backend *backend, hf__backend_call *call)
{
    commit_us = call->now_us;
    pg_ops->commit(backend, call);
}

static void open_records(trial *self, const char *url_text, hf__loop *loop)
{
    hf__url url;
    hf__store_config store = {
        .url = &url, .username = "postgres", .connect_ms = 10000};
    hf__backend_config config = {.store = &store,
                                 .inbox = self->world.inbox,
                                 .loop = loop,
                                 .post = hf__loop_post};
    hf__backend *backend;
    char sql[64];

    require(hf__url_parse(url_text, &url, NULL) == HF_OK &&
                hf__loop_start(loop, NULL) == HF_OK,
            url_text);
    config.poller = hf__loop_poller(loop);
    require(hf__backend_found.open(&config, &backend, NULL) == HF_OK, url_text);
    hf__url_done(&url);
    pg_ops = backend->ops;
    ops = *pg_ops;
    ops.commit = note_commit;
    backend->ops = &ops;
    require(hf__record_store_open(&self->records, loop, backend, 60000, NULL) ==
                HF_OK,
            url_text);
    self->sql = PQconnectdb(url_text);
    (void)snprintf(sql, sizeof(sql), "SELECT pg_advisory_lock(%lld)",
                   (long long)hf__pg_presence(hf_str(self->world.inbox)));
    PQclear(ask_sql(self, sql));
}

/* -------------------------------------------------------------------- rows */

static PGresult *read_rows(const trial *self)
{
    return ask_sql(self, "SELECT key, payload, expire_ms, at_us FROM "
                         "holdfast.records ORDER BY key");
}

static hf_bytes bytes_at(const PGresult *rows, int row, int column)
{
    return hf_view(PQgetvalue(rows, row, column),
                   (size_t)PQgetlength(rows, row, column));
}

static int64_t number_at(const PGresult *rows, int row, int column)
{
    return hf__pg_get_int8(PQgetvalue(rows, row, column));
}

/* How much later than its end a lease may be over: see record_guard.c. */
static int64_t guard_ms(const trial *self, const PGresult *rows, int row)
{
    int64_t length_ms =
        -number_at(rows, row, EXPIRE) - number_at(rows, row, AT) / 1000;

    return length_ms / 100 + 2 + self->late_us / 1000;
}

/* Is there a lease that looks over, and may not be for the client? */
static bool is_guarded(const trial *self, const PGresult *rows, int64_t now_ms)
{
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t end_ms = -number_at(rows, i, EXPIRE);

        if (end_ms > 0 && end_ms <= now_ms &&
            now_ms <= end_ms + guard_ms(self, rows, i))
            return true;
    }
    return false;
}

/* Those that have not ended. `ends`: of the embedded store, which a lease whose
 * end was to stay has as well; NULL: as they are. */
static void load_rows(hf__tx *tx, const PGresult *rows, const int64_t *ends)
{
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t expire_ms = number_at(rows, i, EXPIRE);
        int64_t end_ms = expire_ms < 0 ? -expire_ms : expire_ms;
        char text[24];
        hf_bytes words[] = {hf_str("restore"), bytes_at(rows, i, KEY),
                            hf_str(text),      bytes_at(rows, i, PAYLOAD),
                            hf_str("absttl"),  hf_str("replace")};
        hf__request request;

        if (end_ms != 0 && end_ms <= tx->now_ms)
            continue;
        if (ends != NULL && ends[i] > 0)
            end_ms = ends[i];
        (void)snprintf(text, sizeof(text), "%lld", (long long)end_ms);
        words[2] = hf_str(text);
        require(state_ask(tx, &request, words, 6)->kind == HF_REPLY_STATUS,
                "a row cannot be restored");
        hf__request_done(&request);
    }
}

/* The ends of leases that were written again with the end that they had, and
 * which is a little later now; 0: of others. */
static void take_ends(const trial *self, hf__tx *tx, const PGresult *before,
                      const PGresult *after, int64_t *ends)
{
    for (int i = 0; i < PQntuples(after); i++) {
        hf_bytes words[] = {hf_str("pexpiretime"), bytes_at(after, i, KEY)};
        hf__request request;
        int64_t end_ms = state_ask(tx, &request, words, 2)->integer;
        int64_t later_ms = -number_at(after, i, EXPIRE) - end_ms;

        for (int j = 0; j < PQntuples(before); j++) {
            if (number_at(before, j, EXPIRE) == -end_ms && later_ms > 0 &&
                later_ms <= guard_ms(self, before, j) &&
                hf__bytes_same(bytes_at(before, j, KEY), words[1]))
                ends[i] = end_ms;
        }
        hf__request_done(&request);
    }
}

/* ----------------------------------------------------------------- running */

static void begin_request(trial *self, hf__request *request,
                          const hf__script *script)
{
    hf__request_script(request, script, self->words.words, self->words.count,
                       self->words.key_count);
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = request->began_ms + 60000;
}

/* What only reads, and was read for that, is not committed, and has a TIME that
 * no one sees; what it has read is kept then. */
static int64_t run_postgres(trial *self, const hf__script *script, hf__buf *to)
{
    hf__request request;

    commit_us = 0;
    for (int i = 0; i < 2 && commit_us == 0; i++) {
        begin_request(self, &request, script);
        hf__record_store_perform(&self->records, &request);
        if (self->fault != NULL && strcmp(self->fault, "reply") == 0 &&
            request.reply.kind == HF_REPLY_INTEGER)
            request.reply.integer++;
        hf__buf_clear(to);
        result_print(to, &request);
        self->failed += request.status != HF_OK && i == 0;
        hf__request_done(&request);
    }
    return commit_us;
}

static hf__tx *begin_tx(trial *self, const hf__job *job, int64_t now_us)
{
    hf__tx *tx = embedded_begin(&self->store, job, hf__clock_boot_ms());

    tx->now_ms = now_us / 1000;
    tx->unix_us = now_us;
    return tx;
}

/* Append the reply and all keys, and to the other text the rows. */
static void run_embedded(trial *self, const hf__script *script, int64_t now_us,
                         const PGresult *before, const PGresult *after,
                         hf__buf *to, hf__buf *rows)
{
    int64_t *ends = calloc((size_t)PQntuples(after) + 1, sizeof(*ends));
    hf__request request;
    hf__job job = {&request, NULL, 60000, 0, NULL};
    hf__tx *tx;

    require(ends != NULL, "no memory");
    begin_request(self, &request, script);
    tx = begin_tx(self, &job, now_us);
    load_rows(tx, before, NULL);
    hf__execute(tx, &job);
    result_print(to, &request);
    keys_print(to, tx);
    take_ends(self, tx, before, after, ends);
    embedded_end(&self->store, tx, true);
    tx = begin_tx(self, &job, now_us);
    load_rows(tx, after, ends);
    keys_print(rows, tx);
    embedded_end(&self->store, tx, true);
    hf__request_done(&request);
    free(ends);
}

static void spoil(const trial *self)
{
    const char *sql = "";

    if (self->fault != NULL && strcmp(self->fault, "write") == 0)
        sql = "DELETE FROM holdfast.records WHERE at_us = "
              "(SELECT max(at_us) FROM holdfast.records)";
    else if (self->fault != NULL && strcmp(self->fault, "deadline") == 0)
        sql = "UPDATE holdfast.records SET expire_ms = expire_ms + 1 "
              "WHERE expire_ms > 0";
    if (sql[0] != '\0')
        PQclear(ask_sql(self, sql));
}

/* false: they differ. */
static bool step(trial *self)
{
    const hf__script *script =
        &hf__scripts[prng_below(&self->world.chance, HF__SCRIPT_COUNT)];
    PGresult *before = read_rows(self);
    PGresult *after;
    hf__buf one, other;
    int64_t now_us;
    bool same = true;

    hf__buf_init(&one, SIZE_MAX);
    hf__buf_init(&other, SIZE_MAX);
    self->world.clock_us = hf__clock_unix_us();
    words_pick(&self->words, &self->world, script);
    now_us = run_postgres(self, script, &one);
    spoil(self);
    after = read_rows(self);
    if (now_us != 0 && !is_guarded(self, before, now_us / 1000)) {
        run_embedded(self, script, now_us, before, after, &other, &one);
        self->compared++;
        same =
            one.end == other.end && memcmp(one.data, other.data, one.end) == 0;
    }
    if (now_us != 0)
        self->late_us =
            hf__at_least(self->late_us, hf__clock_unix_us() - now_us);
    if (!same)
        printf("%s\nPostgreSQL:\n%.*s\nembedded:\n%.*s\n", script->name,
               (int)one.end, (const char *)one.data, (int)other.end,
               (const char *)other.data);
    hf__buf_done(&one);
    hf__buf_done(&other);
    PQclear(before);
    PQclear(after);
    return same;
}

int main(int argc, char **argv)
{
    static trial self;
    unsigned long steps = 1000, at = 0;
    hf__loop *loop = hf__loop_new();
    postgres_server *server = postgres_server_start(false);
    bool same = true, enough;

    for (int i = 1; i + 1 < argc; i += 2)
        require(option_read(argv[i], argv[i + 1], &self.world.chance.state,
                            &steps, &self.fault),
                argv[i]);
    require(loop != NULL && server != NULL, "no server");
    embedded_open(&self.store);
    self.world.inbox = embedded_inbox(&self.store);
    open_records(&self, postgres_server_url(server), loop);
    for (; at < steps && same; at++) {
        if (at % 200 == 199) {
            PQclear(ask_sql(&self, "DELETE FROM holdfast.records"));
            /* It has room for so many leases only, and may forget one. */
            memset(self.records.guard->watched, 0,
                   sizeof(self.records.guard->watched));
        }
        same = step(&self);
    }
    printf("%lu steps, %lu compared, %lu of them errors; %s\n", at,
           self.compared, self.failed, same ? "all the same" : "one differs");
    enough = !same || 2 * self.compared >= steps;
    PQfinish(self.sql);
    hf__record_store_close(&self.records);
    hf__loop_free(loop);
    embedded_close(&self.store);
    postgres_server_stop(server);
    return enough && same == (self.fault == NULL) ? 0 : 1;
}
