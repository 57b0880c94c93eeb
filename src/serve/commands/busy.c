/* SPDX-License-Identifier: Apache-2.0 */
/* busy.c - see busy.h. */
#include "serve/commands/busy.h"

#include <poll.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/conn/listener.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/mem.h"

/* How often the connections are looked at while a script is busy, ms. */
#define LOOK_MS 10

#define ERROR_BUSY                                                             \
    "BUSY Redis is busy running a script. You can only call %s KILL or "       \
    "SHUTDOWN NOSAVE."
#define ERROR_UNKILLABLE                                                       \
    "UNKILLABLE Sorry the script already executed write commands against the " \
    "dataset. You can either wait the script termination or kill the server "  \
    "in a hard way using the SHUTDOWN NOSAVE command."

void hf__busy_begin(hf_server *server, const hf_bytes *words, size_t count)
{
    hf__busy *busy = &server->busy;

    busy->words = words;
    busy->count = count;
    busy->began_ms = hf__clock_boot_ms();
    busy->next_ms = busy->threshold_ms == 0
                        ? INT64_MAX
                        : busy->began_ms + busy->threshold_ms;
    busy->killed = false;
}

void hf__busy_end(hf_server *server)
{
    server->busy.on = false;
}

/* ------------------------------------------------------------------ looking */

/* Those with units in the round wait for its commit. */
static bool is_free(const hf__conn *conn)
{
    return conn->units == 0 && !conn->held && conn->waiter == NULL;
}

static struct pollfd watch_for(int fd, bool reads, bool writes)
{
    return (struct pollfd){
        .fd = fd,
        .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
}

static size_t collect_conns(hf_server *server, struct pollfd *fds,
                            hf__conn **conns)
{
    size_t count = 0;

    for (hf__conn *conn = server->conns; conn != NULL; conn = conn->next) {
        if (!is_free(conn))
            continue;
        fds[count] = watch_for(conn->poll.fd, conn->listening, conn->writing);
        conns[count++] = conn;
    }
    return count;
}

static void call_ready(const struct pollfd *at, hf__poll *poll)
{
    int events = 0;

    if ((at->revents & (POLLIN | POLLERR | POLLHUP)) != 0)
        events |= HF__POLL_IN;
    if ((at->revents & POLLOUT) != 0)
        events |= HF__POLL_OUT;
    if (events != 0)
        poll->ready(poll, events);
}

/* One that is closed stays in memory until the turn ends. */
static void look_at_conns(hf_server *server, struct pollfd *fds,
                          hf__conn **conns)
{
    size_t count = collect_conns(server, fds, conns);

    (void)poll(fds, count, 0);
    for (size_t i = 0; i < count; i++) {
        if (!conns[i]->dead)
            call_ready(&fds[i], &conns[i]->poll);
        if (!conns[i]->dead && conns[i]->ready)
            server->busy.answer(conns[i]);
    }
}

/* They are seen at the next look. */
static void accept_more(hf_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        hf__listener *listener = &server->listeners[i];

        if (listener->open && listener->poll.added)
            listener->poll.ready(&listener->poll, HF__POLL_IN);
    }
}

/* The request that runs has the words of the server: others have their own.
 * Without memory nothing is answered. */
static void look_around(hf_server *server)
{
    struct pollfd *fds = hf__calloc(server->conn_count, sizeof(*fds));
    hf__conn **conns = hf__calloc(server->conn_count, sizeof(hf__conn *));
    hf_bytes *words = server->words;
    size_t capacity = server->word_capacity;

    server->words = NULL;
    server->word_capacity = 0;
    if (fds != NULL && conns != NULL)
        look_at_conns(server, fds, conns);
    hf__free(server->words);
    server->words = words;
    server->word_capacity = capacity;
    hf__free(fds);
    hf__free(conns);
    accept_more(server);
}

bool hf__busy_attend(hf__tx *tx, bool wrote, int64_t *spent_us)
{
    hf_server *server = tx->made_user;
    hf__busy *busy = &server->busy;

    if (hf__clock_boot_ms() < busy->next_ms)
        return true;
    busy->on = true;
    busy->wrote = wrote;
    *spent_us = -hf__clock_thread_us();
    look_around(server);
    *spent_us += hf__clock_thread_us();
    busy->next_ms = hf__clock_boot_ms() + LOOK_MS;
    return !busy->killed;
}

/* ---------------------------------------------------------------- answering */

bool hf__busy_allows(const hf__served *served)
{
    static const char *const names[] = {"auth",  "hello",   "quit",
                                        "multi", "discard", "shutdown"};

    for (size_t i = 0; served != NULL && i < sizeof(names) / sizeof(names[0]);
         i++) {
        if (strcmp(served->name, names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_command(const hf_bytes *words, size_t count, const char *name,
                       const char *subcommand)
{
    return count == 2 && hf__arg_is(words[0], name) &&
           hf__arg_is(words[1], subcommand);
}

/* FUNCTION STATS: of the function that runs. */
static void answer_stats(hf__conn *conn)
{
    const hf__busy *busy = &conn->server->busy;
    hf__answer *answer = &conn->answer;
    hf__command_round *round = &conn->server->round;

    hf__command_round_functions(round);
    hf__answer_map(answer, 2);
    hf__answer_text(answer, "running_script");
    hf__answer_map(answer, 3);
    hf__answer_text(answer, "name");
    hf__answer_bytes(answer, busy->words[1]);
    hf__answer_text(answer, "command");
    hf__answer_array(answer, busy->count);
    for (size_t i = 0; i < busy->count; i++)
        hf__answer_bytes(answer, busy->words[i]);
    hf__answer_text(answer, "duration_ms");
    hf__answer_integer(answer, hf__clock_boot_ms() - busy->began_ms);
    hf__answer_text(answer, "engines");
    hf__answer_map(answer, 1);
    hf__answer_text(answer, "LUA");
    hf__answer_map(answer, 2);
    hf__answer_text(answer, "libraries_count");
    hf__answer_integer(answer, (int64_t)round->library_count);
    hf__answer_text(answer, "functions_count");
    hf__answer_integer(answer, (int64_t)round->function_count);
}

void hf__busy_refuse(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__busy *busy = &conn->server->busy;
    bool function = hf__arg_is(busy->words[0], "function") ||
                    hf__arg_is(busy->words[0], "fcall") ||
                    hf__arg_is(busy->words[0], "fcall_ro");
    const char *name = function ? "function" : "script";

    if (function && is_command(words, count, "function", "stats")) {
        answer_stats(conn);
    } else if (!is_command(words, count, name, "kill")) {
        hf__answer_error(&conn->answer, ERROR_BUSY,
                         function ? "FUNCTION" : "SCRIPT");
    } else if (busy->wrote) {
        hf__answer_error(&conn->answer, ERROR_UNKILLABLE);
    } else {
        busy->killed = true;
        hf__answer_line(&conn->answer, "OK");
    }
}
