/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_command.c - CLIENT: names of connections, listing and closing them.
 */
#include "serve/commands/client_command.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/client_line.h"
#include "serve/commands/multi.h"
#include "serve/commands/pause.h"
#include "serve/conn/peer.h"
#include "serve/messages/tracking.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/mem.h"

/* All of CLIENT LIST: a million connections. */
#define LIST_MAX (512u * 1024 * 1024)

static void reply_ok(hf__conn *conn)
{
    hf__answer_line(&conn->answer, "OK");
}

static void refuse_syntax(hf__conn *conn)
{
    hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
}

/* ------------------------------------------------------------------- names */

static bool is_printable(hf_bytes text)
{
    const char *at = text.data;

    for (size_t i = 0; i < text.size; i++) {
        if (at[i] < '!' || at[i] > '~')
            return false;
    }
    return true;
}

/* Keep a copy of a text; `what` names it in an error. */
static bool set_text(hf__conn *conn, char **text, hf_bytes value,
                     const char *what)
{
    char *copy = NULL;

    if (!is_printable(value)) {
        hf__answer_error(&conn->answer,
                         "ERR %s cannot contain spaces, newlines or special "
                         "characters.",
                         what);
        return false;
    }
    if (value.size > 0) {
        copy = hf__alloc(value.size + 1);
        if (copy == NULL) {
            hf__answer_error(&conn->answer, "OOM out of memory");
            return false;
        }
        memcpy(copy, value.data, value.size);
        copy[value.size] = '\0';
    }
    hf__free(*text);
    *text = copy;
    return true;
}

bool hf__client_set_name(hf__conn *conn, hf_bytes name)
{
    return set_text(conn, &conn->name, name, "Client names");
}

static void client_setname(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)count;
    if (hf__client_set_name(conn, words[2]))
        reply_ok(conn);
}

static void client_getname(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    if (conn->name != NULL)
        hf__answer_text(&conn->answer, conn->name);
    else
        hf__answer_nil(&conn->answer);
}

/* As in Redis 7.2. */
static void client_setinfo(hf__conn *conn, const hf_bytes *words, size_t count)
{
    bool version = hf__arg_is(words[2], "lib-ver");

    (void)count;
    if (!version && !hf__arg_is(words[2], "lib-name"))
        hf__answer_error(&conn->answer, "ERR Unrecognized option '%.*s'",
                         words[2].size > 128 ? 128 : (int)words[2].size,
                         (const char *)words[2].data);
    else if (set_text(conn, version ? &conn->library_version : &conn->library,
                      words[3], version ? "lib-ver" : "lib-name"))
        reply_ok(conn);
}

static void client_id(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer, (int64_t)conn->id);
}

/* ---------------------------------------------------------------- switches */

/* false: neither ON nor OFF, replied. */
static bool read_switch(hf__conn *conn, hf_bytes word, bool *on)
{
    *on = hf__arg_is(word, "on");
    if (*on || hf__arg_is(word, "off"))
        return true;
    refuse_syntax(conn);
    return false;
}

/* Nothing is evicted, and no times of access are kept: these are noted only. */
static void client_no_evict(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)count;
    if (read_switch(conn, words[2], &conn->no_evict))
        reply_ok(conn);
}

static void client_no_touch(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)count;
    if (read_switch(conn, words[2], &conn->no_touch))
        reply_ok(conn);
}

static void client_reply(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)count;
    if (hf__arg_is(words[2], "on")) {
        conn->mute = HF__MUTE_NONE;
        reply_ok(conn);
    } else if (hf__arg_is(words[2], "off")) {
        conn->mute = HF__MUTE_ALL;
    } else if (!hf__arg_is(words[2], "skip")) {
        refuse_syntax(conn);
    } else if (conn->mute == HF__MUTE_NONE) {
        conn->mute = HF__MUTE_SOON;
    }
}

/* ------------------------------------------------------------- descriptions */

static void client_info(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__buf text;

    (void)words;
    (void)count;
    hf__buf_init(&text, LIST_MAX);
    hf__client_describe(conn, &text);
    hf__answer_verbatim(&conn->answer, hf__buf_front(&text),
                        hf__buf_size(&text));
    hf__buf_done(&text);
}

/* --------------------------------------------------------- LIST and KILL */

/* What is set must be so. */
typedef struct client_filter {
    const hf_bytes *ids; /* of LIST */
    size_t id_count;
    int64_t id; /* of KILL; 0: any */
    hf_bytes address, own;
    const hf__user *user; /* NULL: any */
    enum { ANY_TYPE, NORMAL, PUBSUB, NO_TYPE } type;
    bool skip_me;
} client_filter;

static bool has_id(const client_filter *which, uint64_t id)
{
    int64_t wanted;

    for (size_t i = 0; i < which->id_count; i++) {
        if (hf__number_integer(which->ids[i], &wanted) &&
            (uint64_t)wanted == id)
            return true;
    }
    return which->id_count == 0;
}

static bool is_address(const hf__conn *conn, bool own, hf_bytes wanted)
{
    char text[HF__PEER_SIZE];

    return wanted.data == NULL ||
           (strlen(hf__peer_address(conn, own, text)) == wanted.size &&
            memcmp(text, wanted.data, wanted.size) == 0);
}

static bool is_wanted(const hf__conn *conn, const client_filter *which)
{
    bool fits = which->type == ANY_TYPE ||
                which->type == (conn->followed != NULL ? PUBSUB : NORMAL);

    return fits && has_id(which, conn->id) &&
           (which->id == 0 || (uint64_t)which->id == conn->id) &&
           (which->user == NULL || which->user == conn->user) &&
           is_address(conn, false, which->address) &&
           is_address(conn, true, which->own);
}

/* There are no replicas and no masters. */
static bool read_type(hf__conn *conn, hf_bytes word, client_filter *which)
{
    if (hf__arg_is(word, "normal"))
        which->type = NORMAL;
    else if (hf__arg_is(word, "pubsub"))
        which->type = PUBSUB;
    else if (hf__arg_is(word, "replica") || hf__arg_is(word, "slave") ||
             hf__arg_is(word, "master"))
        which->type = NO_TYPE;
    if (which->type != ANY_TYPE)
        return true;
    hf__answer_error(&conn->answer, "ERR Unknown client type '%.*s'",
                     word.size > 128 ? 128 : (int)word.size,
                     (const char *)word.data);
    return false;
}

static bool read_ids(hf__conn *conn, const hf_bytes *words, size_t count,
                     client_filter *which)
{
    int64_t id;

    which->ids = words;
    which->id_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!hf__number_integer(words[i], &id)) {
            hf__answer_error(&conn->answer, "ERR Invalid client ID");
            return false;
        }
    }
    return true;
}

static bool read_list(hf__conn *conn, const hf_bytes *words, size_t count,
                      client_filter *which)
{
    if (count == 2)
        return true;
    if (count == 4 && hf__arg_is(words[2], "type"))
        return read_type(conn, words[3], which);
    if (count > 3 && hf__arg_is(words[2], "id"))
        return read_ids(conn, words + 3, count - 3, which);
    refuse_syntax(conn);
    return false;
}

static hf__conn *oldest_conn(const hf_server *server)
{
    hf__conn *conn = server->conns;

    while (conn != NULL && conn->next != NULL)
        conn = conn->next;
    return conn;
}

static void client_list(hf__conn *conn, const hf_bytes *words, size_t count)
{
    client_filter which = {0};
    hf__buf text;

    if (!read_list(conn, words, count, &which))
        return;
    hf__buf_init(&text, LIST_MAX);
    for (hf__conn *one = oldest_conn(conn->server); one != NULL;
         one = one->previous) {
        if (is_wanted(one, &which))
            hf__client_describe(one, &text);
    }
    hf__answer_verbatim(&conn->answer, hf__buf_front(&text),
                        hf__buf_size(&text));
    hf__buf_done(&text);
}

static bool read_user(hf__conn *conn, hf_bytes name, client_filter *which)
{
    which->user = hf__users_find(&conn->server->users, name);
    if (which->user != NULL)
        return true;
    hf__answer_error(&conn->answer, "ERR No such user '%.*s'",
                     name.size > 128 ? 128 : (int)name.size,
                     (const char *)name.data);
    return false;
}

static bool read_kill(hf__conn *conn, hf_bytes name, hf_bytes value,
                      client_filter *which)
{
    if (hf__arg_is(name, "id")) {
        if (hf__number_integer(value, &which->id) && which->id > 0)
            return true;
        hf__answer_error(&conn->answer,
                         "ERR client-id should be greater than 0");
        return false;
    }
    if (hf__arg_is(name, "type"))
        return read_type(conn, value, which);
    if (hf__arg_is(name, "user"))
        return read_user(conn, value, which);
    if (hf__arg_is(name, "addr")) {
        which->address = value;
    } else if (hf__arg_is(name, "laddr")) {
        which->own = value;
    } else if (hf__arg_is(name, "skipme") &&
               (hf__arg_is(value, "yes") || hf__arg_is(value, "no"))) {
        which->skip_me = hf__arg_is(value, "yes");
    } else {
        refuse_syntax(conn);
        return false;
    }
    return true;
}

static int64_t kill_wanted(hf__conn *conn, const client_filter *which)
{
    int64_t killed = 0;
    hf__conn *next;

    for (hf__conn *one = conn->server->conns; one != NULL; one = next) {
        next = one->next;
        if (!is_wanted(one, which) || (one == conn && which->skip_me))
            continue;
        killed++;
        if (one == conn)
            conn->closing = true;
        else
            hf__conn_close(one);
    }
    return killed;
}

static void client_kill(hf__conn *conn, const hf_bytes *words, size_t count)
{
    client_filter which = {.skip_me = count > 3};

    if (count == 3) {
        which.address = words[2];
        if (kill_wanted(conn, &which) > 0)
            reply_ok(conn);
        else
            hf__answer_error(&conn->answer, "ERR No such client");
        return;
    }
    if (count % 2 != 0) {
        refuse_syntax(conn);
        return;
    }
    for (size_t i = 2; i < count; i += 2) {
        if (!read_kill(conn, words[i], words[i + 1], &which))
            return;
    }
    hf__answer_integer(&conn->answer, kill_wanted(conn, &which));
}

static void client_unblock(hf__conn *conn, const hf_bytes *words, size_t count)
{
    bool error = count == 4 && hf__arg_is(words[3], "error");
    hf__conn *one = conn->server->conns;
    bool ended;
    int64_t id;

    if (count == 4 && !error && !hf__arg_is(words[3], "timeout")) {
        hf__answer_error(&conn->answer, "ERR CLIENT UNBLOCK reason should be "
                                        "TIMEOUT or ERROR");
        return;
    }
    if (count > 4 || !hf__number_integer(words[2], &id)) {
        hf__answer_error(&conn->answer,
                         count > 4 ? HF__ERROR_SYNTAX : HF__ERROR_INTEGER);
        return;
    }
    while (one != NULL && one->id != (uint64_t)id)
        one = one->next;
    ended = one != NULL &&
            hf__blocking_end(one, error ? "UNBLOCKED client unblocked via "
                                          "CLIENT UNBLOCK"
                                        : NULL);
    hf__answer_integer(&conn->answer, ended);
}

/* ------------------------------------------------------------------- pauses */

static void client_pause(hf__conn *conn, const hf_bytes *words, size_t count)
{
    bool all = count == 3 || (count == 4 && hf__arg_is(words[3], "all"));
    int64_t wait_ms;

    if (!all && (count != 4 || !hf__arg_is(words[3], "write"))) {
        hf__answer_error(&conn->answer,
                         "ERR CLIENT PAUSE mode must be WRITE or ALL");
    } else if (!hf__number_integer(words[2], &wait_ms)) {
        hf__answer_error(&conn->answer,
                         "ERR timeout is not an integer or out of range");
    } else if (wait_ms < 0) {
        hf__answer_error(&conn->answer, "ERR timeout is negative");
    } else {
        /* The clock is cut to ms; a pause is not shorter than asked for. */
        hf__pause_begin(conn->server,
                        hf__clock_after(hf__clock_boot_ms() + 1, wait_ms), all);
        reply_ok(conn);
    }
}

static void client_unpause(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__pause_end(conn->server);
    reply_ok(conn);
}

/* ------------------------------------------------------------------- table */

static void client_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "GETNAME",
        "    Return the name of the current connection.",
        "ID",
        "    Return the ID of the current connection.",
        "INFO",
        "    Return information about the current client connection.",
        "KILL <ip:port>",
        "    Kill connection made from <ip:port>.",
        "KILL <option> <value> [<option> <value> [...]]",
        "    Kill connections. Options are ID, ADDR, LADDR, TYPE, USER,",
        "    SKIPME (default: yes).",
        "LIST [TYPE <type>|ID <id> [<id> ...]]",
        "    Return information about client connections.",
        "PAUSE <timeout> [WRITE|ALL]",
        "    Suspend all, or just write, clients for <timeout> milliseconds.",
        "UNPAUSE",
        "    Stop the current client pause, resuming traffic.",
        "REPLY (ON|OFF|SKIP)",
        "    Control the replies sent to the current connection.",
        "SETNAME <name>",
        "    Assign the name <name> to the current connection.",
        "SETINFO (LIB-NAME|LIB-VER) <value>",
        "    Set client meta attr.",
        "NO-EVICT (ON|OFF)",
        "    Protect current client connection from eviction.",
        "NO-TOUCH (ON|OFF)",
        "    Will not touch LRU/LFU stats when this mode is on.",
        "UNBLOCK <clientid> [TIMEOUT|ERROR]",
        "    Unblock the specified blocked client.",
        NULL};

    (void)words;
    (void)count;
    hf__served_help(conn, "client", lines);
}

const hf__served_entry hf__served_client[] = {
    {"client", HF__SERVED_IN_EXEC | HF__SERVED_EARLY, hf__served_subcommand},
    {"client|caching", 0, hf__client_caching},
    {"client|getname", 0, client_getname},
    {"client|getredir", 0, hf__client_getredir},
    {"client|help", 0, client_help},
    {"client|id", 0, client_id},
    {"client|info", 0, client_info},
    {"client|kill", 0, client_kill},
    {"client|list", 0, client_list},
    {"client|no-evict", 0, client_no_evict},
    {"client|no-touch", 0, client_no_touch},
    {"client|pause", 0, client_pause},
    {"client|reply", 0, client_reply},
    {"client|setinfo", 0, client_setinfo},
    {"client|setname", 0, client_setname},
    {"client|tracking", 0, hf__client_tracking},
    {"client|trackinginfo", 0, hf__client_trackinginfo},
    {"client|unblock", 0, client_unblock},
    {"client|unpause", 0, client_unpause},
    {NULL, 0, NULL}};
