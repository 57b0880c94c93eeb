/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.c - see monitor.h.
 *
 * Lines are collected while a round runs, and sent to the monitors at the end
 * of the turn; those of a round that was undone are dropped, as it runs again,
 * but not those of requests before its first unit.
 * As in Redis, administrative commands are not shown, nor are passwords.
 */
#include "serve/messages/monitor.h"

#include <inttypes.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/conn/peer.h"
#include "serve/messages/push.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "store/known_commands.h"
#include "util/clock.h"

/* All lines of a turn: a monitor may leave no more unread (push.c). */
#define LINES_MAX (size_t)(32u << 20)

/* Of a word; the rest is counted. */
#define WORD_SHOWN (size_t)(64u << 10)

#define REDACTED "\"(redacted)\""

static bool put_byte(hf__buf *text, unsigned char byte)
{
    static const char plain[] = "\n\r\t\a\b\\\"";
    static const char letters[] = "nrtab\\\"";
    const char *found = byte == '\0' ? NULL : strchr(plain, byte);

    if (found != NULL)
        return hf__buf_print(text, "\\%c", letters[found - plain]);
    if (byte < ' ' || byte > '~')
        return hf__buf_print(text, "\\x%02x", byte);
    return hf__buf_append(text, &byte, 1);
}

static bool put_word(hf__buf *text, hf_bytes word)
{
    const unsigned char *bytes = word.data;
    size_t shown = word.size > WORD_SHOWN ? WORD_SHOWN : word.size;
    bool fits = hf__buf_append(text, "\"", 1);

    for (size_t i = 0; i < shown && fits; i++)
        fits = put_byte(text, bytes[i]);
    if (fits && shown < word.size)
        fits = hf__buf_print(text, "... (%zu more bytes)", word.size - shown);
    return fits && hf__buf_append(text, "\"", 1);
}

size_t hf__monitor_secrets(const hf_bytes *words, size_t count)
{
    if (hf__arg_is(words[0], "auth"))
        return 1;
    if (hf__arg_is(words[0], "acl") && count > 2 &&
        hf__arg_is(words[1], "setuser"))
        return 2;
    for (size_t i = 2; i < count && hf__arg_is(words[0], "config"); i++) {
        if (hf__arg_is(words[i], "requirepass"))
            return i + 1;
    }
    for (size_t i = 1; i < count && hf__arg_is(words[0], "hello"); i++) {
        if (hf__arg_is(words[i], "auth"))
            return i + 1;
    }
    return count;
}

static bool put_words(hf__buf *text, const hf_bytes *words, size_t count)
{
    size_t secrets = hf__monitor_secrets(words, count);
    bool fits = true;

    for (size_t i = 0; i < count && fits; i++) {
        fits = hf__buf_append(text, " ", 1);
        if (fits && i >= secrets)
            fits = hf__buf_append(text, REDACTED, strlen(REDACTED));
        else if (fits)
            fits = put_word(text, words[i]);
    }
    return fits && hf__buf_append(text, "\r\n", 2);
}

static bool put_source(hf__buf *text, const hf__conn *conn, bool script)
{
    const hf__tx *tx = conn->server->round.tx;
    unsigned database = script && tx != NULL ? tx->database : conn->database;
    int64_t now_us = hf__clock_unix_us();
    char peer[HF__PEER_SIZE] = "lua";
    bool is_unix;

    if (!script)
        (void)hf__peer_address(conn, false, peer);
    is_unix = peer[0] == '/';
    if (is_unix) /* "PATH:0" */
        *strrchr(peer, ':') = '\0';
    return hf__buf_print(text, "+%" PRId64 ".%06" PRId64 " [%u %s%s]",
                         now_us / 1000000, now_us % 1000000, database,
                         is_unix ? "unix:" : "", peer);
}

static bool is_shown(const hf_bytes *words, size_t count)
{
    const hf__known_command *known = hf__known_find_words(words, count);

    return known == NULL || !(known->categories & HF__CATEGORY_ADMIN);
}

void hf__monitor_put(const hf__conn *conn, bool script, const hf_bytes *words,
                     size_t count)
{
    hf__monitors *monitors = &conn->server->monitors;
    size_t before = hf__buf_size(&monitors->lines);

    if (conn->dead || !is_shown(words, count) ||
        (put_source(&monitors->lines, conn, script) &&
         put_words(&monitors->lines, words, count)))
        return;
    hf__buf_truncate(&monitors->lines, before);
    monitors->lost = true;
}

/* To which the lines are still to be shown. NULL: none. */
static hf__conn *next_monitor(const hf_server *server)
{
    hf__conn *conn = server->conns;

    while (conn != NULL && (!conn->monitors || conn->shown))
        conn = conn->next;
    return conn;
}

/* To show them to one may close others. */
void hf__monitor_look(hf_server *server)
{
    hf__monitors *monitors = &server->monitors;
    hf_bytes lines = hf_view(hf__buf_front(&monitors->lines),
                             hf__buf_size(&monitors->lines));
    hf__conn *conn;

    if (lines.size == 0 && !monitors->lost)
        return;
    while ((conn = next_monitor(server)) != NULL) {
        conn->shown = true;
        if (monitors->lost)
            hf__conn_close(conn);
        else
            hf__push_lines(conn, lines);
    }
    for (conn = server->conns; conn != NULL; conn = conn->next)
        conn->shown = false;
    hf__buf_clear(&monitors->lines);
    monitors->mark = 0;
    monitors->lost = false;
}

/* -------------------------------------------------------------------- life */

static void run_monitor(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    conn->server->monitors.count += !conn->monitors;
    conn->monitors = true;
    hf__answer_line(&conn->answer, "OK");
}

void hf__monitor_leave(hf__conn *conn)
{
    hf__monitors *monitors = &conn->server->monitors;

    monitors->count -= conn->monitors;
    conn->monitors = false;
    if (monitors->count > 0)
        return;
    hf__buf_clear(&monitors->lines);
    monitors->mark = 0;
    monitors->lost = false;
}

const hf__part hf__monitor_part = {.closed = hf__monitor_leave};

const hf__served_entry hf__served_monitor[] = {{"monitor", 0, run_monitor},
                                               {NULL, 0, NULL}};

void hf__monitor_open_server(hf_server *server)
{
    hf__buf_init(&server->monitors.lines, LINES_MAX);
}

void hf__monitor_close_server(hf_server *server)
{
    hf__buf_done(&server->monitors.lines);
}
