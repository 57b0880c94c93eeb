/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.c - running what connections ask for, at the end of each turn of the
 * loop.
 *
 *  1. Requests that wait until no transaction is open run.
 *  2. Each connection with input runs its requests, one after the other, in one
 *     transaction of the store with those of all others: a round. It pauses
 *     before a request that changes its own state while it has units in the
 *     round, and when the round has taken long enough.
 *  3. The round is committed. The requests are dropped from the input, and the
 *     replies are written.
 *  4. If the transaction was undone, so are input and output. If space could be
 *     made for it, the same round runs once more. If a unit failed, such as a
 *     script that was stopped, those before it run once more, and it gets the
 *     error. Otherwise each unit of the round runs in a transaction of its own,
 *     so that only one that does not fit gets an error.
 *
 * A connection with requests left stays in the list for the next turn.
 */
#include "serve/commands/rounds.h"

#include <stdint.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/busy.h"
#include "serve/commands/multi.h"
#include "serve/commands/pause.h"
#include "serve/commands/served.h"
#include "serve/commands/unit.h"
#include "serve/conn/web.h"
#include "serve/log.h"
#include "serve/messages/push.h"
#include "serve/messages/sweep.h"
#include "serve/messages/tracking.h"
#include "serve/users/access.h"
#include "serve/users/guesses.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* A round begins no further unit after this, us. */
#define HOLD_US 5000
/* The clock is read after so many units. */
#define CLOCK_UNITS 16u

/* How long a round waits for the writer lock, ms. */
#define LOCK_MS 5000

/* Room for words that is kept. */
#define WORDS_KEEP 1024u

/* ------------------------------------------------------------- one request */

typedef enum step {
    STEP_RAN,  /* a request, there may be more */
    STEP_IDLE, /* none is complete */
    STEP_PAUSE /* the next one runs after the commit */
} step;

static void trim_words(hf_server *server)
{
    if (server->word_capacity <= WORDS_KEEP)
        return;
    hf__free(server->words);
    server->words = NULL;
    server->word_capacity = 0;
}

/* hf__served_fits() of a command of the store. */
static bool fits_command(hf__conn *conn, const hf__command *command,
                         const hf_bytes *words, size_t count)
{
    const hf__command *found;
    char text[HF__OUT_ERROR_SIZE];

    if (!hf__served_arity(conn, command->name, command->arity, count))
        return false;
    if (!(command->flags & HF__COMMAND_GROUP))
        return true;
    found = hf__subcommand_find(command, words[1]);
    if (found != NULL)
        return hf__served_arity(conn, found->name, found->arity, count);
    hf__unknown_subcommand_text(text, command->name, words[1]);
    hf__answer_error(&conn->answer, "%s", text);
    return false;
}

/* Is the command known, and allowed to the client? Either `served` or `command`
 * is not NULL, unless the command is unknown. */
static bool check_request(hf__conn *conn, const hf__served *served,
                          const hf__command *command, const hf_bytes *words,
                          size_t count)
{
    char text[HF__OUT_ERROR_SIZE];

    if (served != NULL)
        return hf__served_fits(conn, served, words, count) &&
               hf__access_allows(conn, words, count,
                                 (served->flags & HF__SERVED_STRANGER) != 0) &&
               !hf__subscribed_refuses(conn, served->name);
    if (command != NULL)
        return fits_command(conn, command, words, count) &&
               hf__access_allows(conn, words, count, false) &&
               !hf__subscribed_refuses(conn, command->name);
    hf__unknown_text(text, words, count);
    hf__answer_error(&conn->answer, "%s", text);
    return false;
}

/* After MULTI. */
static void queue_request(hf__conn *conn, const hf__served *served,
                          const hf__command *command, const hf_bytes *words,
                          size_t count)
{
    if (served != NULL &&
        !(served->flags & (HF__SERVED_UNIT | HF__SERVED_IN_EXEC))) {
        hf__answer_error(&conn->answer,
                         "ERR Command not allowed inside a transaction");
        hf__multi_abort(conn);
    } else {
        hf__multi_put(conn, served, command, words, count);
    }
}

/* HELLO has one only with AUTH. */
static bool has_password(const hf__served *served, size_t count)
{
    return strcmp(served->name, "hello") != 0 || count >= 5;
}

/* Has it to wait, for the end of the round or longer? */
static bool has_to_wait(hf__conn *conn, const hf__served *served,
                        const hf__command *command, size_t count)
{
    if (served != NULL && (served->flags & HF__SERVED_LOGIN) != 0 &&
        has_password(served, count) && hf__guesses_hold(conn))
        return true;
    if (served == NULL)
        return command != NULL && (command->flags & HF__COMMAND_BLOCKS) != 0 &&
               !hf__blocking_may_run(conn->server);
    if (conn->server->round.tx != NULL && (served->flags & HF__SERVED_EARLY))
        conn->early = true;
    return conn->early ||
           (conn->units > 0 && !(served->flags & HF__SERVED_UNIT));
}

static void run_request(hf__conn *conn, const hf__served *served,
                        const hf__command *command, const hf_bytes *words,
                        size_t count)
{
    hf_server *server = conn->server;
    hf_bytes name = words[0];
    bool shown = server->monitors.count > 0;
    bool exec = shown && served != NULL && strcmp(served->name, "exec") == 0;
    int64_t began_ns, took_ns;

    if (shown && !exec)
        hf__monitor_put(conn, false, words, count);
    if (served != NULL) {
        conn->last = served->name;
        began_ns = hf__usage_begin(&server->usage);
        served->run(conn, words, count);
        took_ns = hf__usage_end(&server->usage, conn->last,
                                conn->answer.out.failed, began_ns);
        if (hf__slowlog_wants(&server->slowlog, took_ns))
            hf__slowlog_add(conn, words, count, took_ns);
    } else if (hf__unit_begin(conn,
                              (command->flags & HF__COMMAND_WRITES) != 0)) {
        hf__unit_run(conn, command, words, count);
        if ((command->flags & HF__COMMAND_BLOCKS) != 0)
            hf__blocking_begin(conn, command, words, count);
    }
    /* After what it ran, whose words are where its own were. */
    if (exec)
        hf__monitor_put(conn, false, &name, 1);
    hf__blocking_serve(conn->server, &conn->server->blocking);
}

/* While a script is busy: without the store. */
static void run_meanwhile(hf__conn *conn, const hf__served *served, bool queues,
                          const hf_bytes *words, size_t count)
{
    if (!hf__busy_allows(served)) {
        hf__busy_refuse(conn, words, count);
        if (hf__multi_is_open(conn) && conn->answer.out.failed)
            hf__multi_refused(conn, served);
    } else if (queues) {
        queue_request(conn, served, NULL, words, count);
    } else {
        conn->last = served->name;
        served->run(conn, words, count);
    }
}

/* false: it has to wait. */
static bool run_words(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__served *served = hf__served_find(words[0]);
    const hf__command *command =
        served == NULL ? hf__command_find(words[0]) : NULL;
    bool busy = conn->server->busy.on;
    bool queues = hf__multi_is_open(conn) &&
                  (served == NULL || !(served->flags & HF__SERVED_AT_ONCE));

    if (!queues && !(busy && !hf__busy_allows(served)) &&
        has_to_wait(conn, served, command, count))
        return false;
    (void)hf__conn_answer(conn);
    if (!check_request(conn, served, command, words, count)) {
        if (hf__multi_is_open(conn))
            hf__multi_refused(conn, served);
    } else if (busy) {
        run_meanwhile(conn, served, queues, words, count);
    } else if (conn->server->pause.until_ms != 0 &&
               hf__pause_holds(conn, served, command, words, count)) {
        return false;
    } else if (queues) {
        queue_request(conn, served, command, words, count);
    } else {
        run_request(conn, served, command, words, count);
    }
    if (conn->tracker != NULL)
        hf__tracking_requested(conn, served);
    hf__conn_answered(conn);
    return true;
}

/* Close the connection; the rest of its input does not run. */
static step end_conn(hf__conn *conn)
{
    conn->used = hf__buf_size(&conn->in);
    conn->closing = true;
    return STEP_IDLE;
}

static step refuse_input(hf__conn *conn)
{
    hf__answer_error(hf__conn_answer(conn), "ERR %s", conn->parser.error);
    hf__conn_answered(conn);
    return end_conn(conn);
}

/* Run the next request. */
static step take_step(hf__conn *conn)
{
    hf_server *server = conn->server;
    const hf__parser_limits limits = {conn->user == NULL,
                                      (size_t)server->options.request_max};
    const unsigned char *bytes = hf__buf_front(&conn->in) + conn->used;
    hf__parser *parser = &conn->parser;

    switch (hf__parser_go(parser, bytes, hf__buf_size(&conn->in) - conn->used,
                          &limits)) {
    case HF__PARSE_MORE:
        return STEP_IDLE;
    case HF__PARSE_BROKEN:
        return refuse_input(conn);
    case HF__PARSE_DONE:
        break;
    }
    if (hf__unit_words(server, parser->count) == NULL && parser->count > 0) {
        hf__conn_close(conn);
        return STEP_IDLE;
    }
    hf__parser_words(parser, bytes, server->words);
    if (parser->count > 0 &&
        hf__web_sent(server->words, parser->count, parser->is_line)) {
        hf__log_web(conn);
        return end_conn(conn);
    }
    if (parser->count > 0 && !run_words(conn, server->words, parser->count)) {
        hf__parser_next(parser);
        return STEP_PAUSE;
    }
    conn->used += parser->at;
    hf__parser_next(parser);
    if (conn->units == 0)
        hf__conn_mark(conn);
    if (server->unit_count == 0)
        hf__monitor_mark(&server->monitors);
    return STEP_RAN;
}

/* --------------------------------------------------------------- one round */

static bool is_over(const hf_server *server, int64_t began_us)
{
    if (server->broken.status != HF_OK ||
        server->unit_count >= server->unit_limit)
        return true;
    /* The units of a round that was undone run once more, all of them. */
    if (server->unit_limit != SIZE_MAX)
        return false;
    return server->unit_count % CLOCK_UNITS == CLOCK_UNITS - 1 &&
           hf__clock_boot_us() - began_us >= HOLD_US;
}

static void run_conn(hf__conn *conn, int64_t began_us)
{
    const hf_server *server = conn->server;
    bool is_first = server->unit_limit == SIZE_MAX;
    step last = STEP_RAN;

    conn->units = 0;
    hf__conn_mark(conn);
    if (is_first)
        conn->share = 0;
    if (server->failure.status != HF_OK && server->unit_conn != conn)
        return;
    /* A further try runs no units but those of the first. */
    while (last == STEP_RAN && (is_first || conn->units < conn->share) &&
           hf__conn_may_run(conn) && !is_over(server, began_us))
        last = take_step(conn);
    if (conn->ended && (last == STEP_IDLE || conn->waiter != NULL))
        conn->closing = true;
    conn->again = last != STEP_IDLE && hf__conn_may_run(conn);
}

/* Of a connection without units in the round: see busy.h. */
static void answer_busy(hf__conn *conn)
{
    step last = STEP_RAN;

    conn->units = 0;
    hf__conn_mark(conn);
    while (last == STEP_RAN && hf__conn_may_run(conn))
        last = take_step(conn);
    if (conn->ended && last == STEP_IDLE)
        conn->closing = true;
    conn->again = false;
    hf__conn_commit(conn);
    if (last == STEP_PAUSE && hf__conn_may_run(conn))
        hf__conn_wake(conn);
}

static void count_round(hf_server *server, bool undone)
{
    hf_server_stats *stats = &server->stats;
    size_t units = server->unit_count;
    size_t size =
        units < 2 ? 0 : 64 - (size_t)__builtin_clzll((uint64_t)units - 1);

    stats->rounds++;
    stats->units += units;
    stats->undone += undone;
    stats->round_sizes[size < HF_SERVER_SIZES ? size : HF_SERVER_SIZES - 1]++;
}

/*
 * Run the connections of `list` in one round of at most `limit` units. Not
 * HF_OK: it was undone; the next try runs the same units in the same order.
 */
static hf_status try_round(hf_server *server, hf__conn *list, size_t limit,
                           hf_error *err)
{
    int64_t began_us = hf__clock_boot_us();
    hf_status status;

    server->unit_count = 0;
    if (server->failure.status == HF_OK)
        server->unit_conn = NULL;
    server->unit_limit = limit;
    server->broken.status = HF_OK;
    if (server->trackers.first != NULL)
        hf__tracked_begin(server);
    hf__monitor_mark(&server->monitors);
    hf__blocking_look(server);
    for (hf__conn *conn = list; conn != NULL; conn = conn->ready_next)
        run_conn(conn, began_us);
    status = hf__command_round_end(&server->round, server->deadline_ms, err);
    if (status == HF_OK)
        status = hf__fail_copy(err, &server->broken);
    for (hf__conn *conn = list; conn != NULL; conn = conn->ready_next) {
        if (status == HF_OK)
            hf__conn_commit(conn);
        else
            hf__conn_rewind(conn);
    }
    if (status == HF_OK) {
        hf__blocking_commit(server);
        if (server->trackers.first != NULL)
            hf__tracked_commit(server);
    } else {
        hf__blocking_rewind(server);
        hf__monitor_rewind(&server->monitors);
    }
    count_round(server, status != HF_OK);
    return status;
}

/* The next unit, in a transaction of its own, whatever becomes of it. */
static void run_alone(hf_server *server, hf__conn *list)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = HF_FULL;

    server->round.made_room = true;
    for (int i = 0; i < HF__WRITE_RETRY_MAX && status == HF_FULL &&
                    server->round.made_room;
         i++)
        status = try_round(server, list, 1, &error);
    if (status == HF_OK)
        return;
    server->failure = error;
    (void)try_round(server, list, 1, &error);
    server->failure.status = HF_OK;
}

/* The last of `count` units could not run: the others once more, then its
 * error. It does not run again, whatever becomes of the others. */
static void run_others(hf_server *server, hf__conn *list, size_t count,
                       const hf_error *error)
{
    hf_error again = HF_ERROR_INIT;
    hf__conn *failed = server->unit_conn;

    server->hasty = error->status == HF_UNAVAILABLE;
    if (!server->hasty) /* it may have run for long */
        server->deadline_ms = hf__clock_boot_ms() + LOCK_MS;
    if (failed != NULL && failed->share > 0)
        failed->share--; /* even if another leaves its place free */
    if (count > 1 && try_round(server, list, count - 1, &again) != HF_OK) {
        for (size_t i = 1; i < count; i++)
            run_alone(server, list);
    }
    if (failed != NULL)
        failed->share++;
    server->failure = *error;
    server->unit_conn = failed;
    (void)try_round(server, list, 1, &again);
    server->failure.status = HF_OK;
}

static void run_early(hf__conn *list)
{
    for (hf__conn *conn = list; conn != NULL; conn = conn->ready_next) {
        if (!conn->early)
            continue;
        conn->early = false;
        if (hf__conn_may_run(conn))
            (void)take_step(conn);
    }
}

static void run_list(hf_server *server, hf__conn *list)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status;
    size_t count;

    hf__blocking_prepare(server);
    run_early(list);
    status = try_round(server, list, SIZE_MAX, &error);
    if (status == HF_FULL && server->round.made_room)
        status = try_round(server, list, SIZE_MAX, &error);
    if (status == HF_OK)
        return;
    count = server->unit_count;
    if (server->broken.status != HF_OK && status != HF_FULL) {
        run_others(server, list, count, &error);
        return;
    }
    for (size_t i = 0; i < count; i++)
        run_alone(server, list);
}

/* -------------------------------------------------------------------- turns */

/* Without those that wait for an element. */
static hf__conn *take_ready(hf_server *server)
{
    hf__conn *list = server->ready;
    hf__conn **at = &list;

    server->ready = NULL;
    server->ready_end = &server->ready;
    while (*at != NULL) {
        if ((*at)->waiter != NULL) {
            (*at)->ready = false;
            *at = (*at)->ready_next;
        } else {
            at = &(*at)->ready_next;
        }
    }
    return list;
}

/* Those with requests left are ready again. */
static void give_back(hf__conn *list)
{
    while (list != NULL) {
        hf__conn *conn = list;

        list = conn->ready_next;
        conn->ready = false;
        if (conn->again)
            hf__conn_wake(conn);
    }
}

static void run_turn(hf__tick *tick)
{
    hf_server *server = tick->user;
    hf__conn *list = take_ready(server);

    server->deadline_ms = hf__clock_boot_ms() + (server->hasty ? 0 : LOCK_MS);
    server->hasty = false;
    server->usage.untimed = 0;
    hf__pubsub_pause(server);
    hf__ring_reader_pause(hf__embedded_changes(server->store));
    if (list != NULL || server->blocking.table.first[HF__WAIT_CHANGED] != NULL)
        run_list(server, list);
    hf__pubsub_look(server);
    hf__tracked_prepare(server);
    hf__ring_reader_look(hf__embedded_changes(server->store));
    if (server->trackers.first != NULL)
        hf__tracked_look(server);
    if (server->monitors.count > 0)
        hf__monitor_look(server);
    hf__push_flush(server);
    give_back(list);
    hf__conn_free_dead(server);
    trim_words(server);
}

void hf__rounds_init(hf_server *server)
{
    server->tick.ring = run_turn;
    server->tick.user = server;
    server->ready_end = &server->ready;
    hf__multi_open_server(server);
    hf__blocking_open_server(server);
    hf__command_round_init(&server->round, hf__embedded_env(server->store),
                           hf__embedded_budget_ms(server->store));
    hf__sweep_open_server(server);
    server->busy.threshold_ms = HF__BUSY_MS_DEFAULT;
    server->busy.answer = answer_busy;
    hf__pubsub_init(server);
    hf__tracked_open_server(server);
    hf__monitor_open_server(server);
}

void hf__rounds_done(hf_server *server)
{
    hf__command_round_done(&server->round);
    hf__pubsub_done(server);
    hf__tracked_close_server(server);
    hf__monitor_close_server(server);
    hf__free(server->words);
}
