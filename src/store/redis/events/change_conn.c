/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_conn.c - CLIENT TRACKING ON BCAST: the server pushes the names of all
 * keys with the prefix that were written, deleted, expired or evicted, by
 * whichever connection, and nil if all keys were removed.
 *
 * It does not say what happened. If that matters, EXISTS is sent for each name
 * on the same connection, so that what is known is not older than the change.
 * Requests are answered in their order; `asked` has an entry for each.
 *
 * A connection may be cut without a sign, so it is probed: it is dropped
 * SILENCE_MS + ANSWER_MS after the last byte.
 */
#include "store/redis/events/change_conn.h"

#include <string.h>

#include "store/redis/events/message.h"
#include "store/redis/server/conn_log.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/order.h"

#define SILENCE_MS 5000
#define ANSWER_MS 5000

/* With more names than these, changes are reported without asking. */
#define OUT_LIMIT ((size_t)1 << 20)
#define ASKED_LIMIT ((size_t)1 << 20)

static const hf__conn_purpose for_changes = {"changes of keys",
                                             ", so that watches have a gap"};

enum { ASKED_TRACK, ASKED_PING, ASKED_EXISTS };

typedef struct asked_entry {
    uint32_t what;
    uint32_t key_size; /* of the key that follows */
} asked_entry;

static hf__change_conn *conn_of(hf__async_conn *conn)
{
    return hf__container_of(conn, hf__change_conn, conn);
}

/* Send a command and note it. false: no room. */
static bool ask_server(hf__change_conn *self, uint32_t what,
                       const hf_bytes *words, size_t count, hf_bytes key)
{
    asked_entry entry = {what, (uint32_t)key.size};
    unsigned char *at = hf__buf_reserve(&self->asked, sizeof(entry) + key.size);
    hf__request request;

    if (at == NULL)
        return false;
    hf__request_command(&request, words, count, true);
    if (!hf__resp_put_request(&self->conn.out.text, &request, false))
        return false;
    memcpy(at, &entry, sizeof(entry));
    if (key.size > 0)
        memcpy(at + sizeof(entry), key.data, key.size);
    hf__buf_added(&self->asked, sizeof(entry) + key.size);
    return true;
}

static void drop_no_memory(hf__change_conn *self)
{
    hf__fail(&self->conn.error, HF_NO_MEMORY, "out of memory");
    hf__async_conn_drop(&self->conn);
}

static void on_up(hf__async_conn *conn)
{
    hf__change_conn *self = conn_of(conn);
    hf_bytes words[] = {hf_str("CLIENT"), hf_str("TRACKING"), hf_str("ON"),
                        hf_str("BCAST"),  hf_str("PREFIX"),   self->prefix};

    self->probes = false;
    hf__buf_clear(&self->asked);
    hf__arena_free(&self->arena);
    hf__resp_begin(&conn->resp, &self->arena, &self->message);
    if (!conn->login.traits.resp3) {
        hf__fail(&conn->error, HF_UNSUPPORTED,
                 "%s does not report changes of keys: it refuses HELLO 3",
                 conn->peer);
        hf__async_conn_drop(conn);
    } else if (ask_server(self, ASKED_TRACK, words,
                          self->prefix.size > 0 ? 6 : 4, hf_view(NULL, 0))) {
        hf__async_conn_flush(conn);
    } else {
        drop_no_memory(self);
    }
}

/* ------------------------------------------------------------------- input */

static hf_change_kind kind_of(const hf_reply *reply)
{
    bool is_gone = reply->kind == HF_REPLY_INTEGER && reply->integer == 0;

    return is_gone ? HF_CHANGE_DELETED : HF_CHANGE_WRITTEN;
}

/* false: it answers nothing. */
static bool take_answer(hf__change_conn *self)
{
    const unsigned char *at = hf__buf_front(&self->asked);
    asked_entry entry;

    if (hf__buf_size(&self->asked) == 0)
        return false;
    memcpy(&entry, at, sizeof(entry));
    switch (entry.what) {
    case ASKED_TRACK:
        if (self->message.kind != HF_REPLY_STATUS)
            return false;
        self->listens = true;
        hf__conn_log_up(&self->conn);
        self->ops->listening(self);
        break;
    case ASKED_PING:
        self->probes = false;
        break;
    default:
        self->ops->changed(self, kind_of(&self->message),
                           hf_view(at + sizeof(entry), entry.key_size));
        break;
    }
    hf__buf_consume(&self->asked, sizeof(entry) + entry.key_size);
    return true;
}

static void take_change(hf__change_conn *self, hf_bytes key)
{
    hf_bytes words[] = {hf_str("EXISTS"), key};

    if (key.size < self->prefix.size ||
        memcmp(key.data, self->prefix.data, self->prefix.size) != 0)
        return;
    if (!self->kinds || !ask_server(self, ASKED_EXISTS, words, 2, key))
        self->ops->changed(self, HF_CHANGE_WRITTEN, key);
}

static void take_changes(hf__change_conn *self)
{
    size_t count = 0;
    const hf_reply *keys = hf__message_keys(&self->message, &count);

    if (keys == NULL)
        self->ops->changed(self, HF_CHANGE_GAP, hf_view(NULL, 0));
    for (size_t i = 0; i < count; i++) {
        if (keys[i].kind == HF_REPLY_STRING)
            take_change(self, hf_view(keys[i].bytes.data, keys[i].bytes.size));
    }
}

static bool take_message(hf__change_conn *self)
{
    hf_bytes channel, topic;

    switch (hf__message_read(&self->message, &channel, &topic)) {
    case HF__MESSAGE_ANSWER:
        return take_answer(self);
    case HF__MESSAGE_CHANGED:
        take_changes(self);
        return true;
    default:
        return false;
    }
}

static void on_input(hf__async_conn *conn)
{
    hf__change_conn *self = conn_of(conn);
    hf__resp_result parsed;

    while (conn->state == HF__ASYNC_UP && hf__buf_size(&conn->in) > 0) {
        parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_MORE)
            break;
        if (parsed != HF__RESP_DONE)
            hf__reply_set_nil(&self->message);
        if (parsed == HF__RESP_NO_MEMORY)
            drop_no_memory(self);
        else if (parsed != HF__RESP_DONE || !take_message(self))
            hf__message_refuse(&self->message, conn);
        hf__arena_free(&self->arena);
        hf__resp_begin(&conn->resp, &self->arena, &self->message);
    }
    if (conn->state == HF__ASYNC_UP)
        hf__async_conn_flush(conn);
}

static void on_down(hf__async_conn *conn, bool was_up)
{
    hf__change_conn *self = conn_of(conn);
    bool listened = self->listens;

    (void)was_up;
    self->listens = false;
    self->ops->down(self, listened);
}

/* ----------------------------------------------------------------- silence */

static void probe_server(hf__change_conn *self, int64_t now_ms)
{
    hf_bytes word = hf_str("PING");

    if (!ask_server(self, ASKED_PING, &word, 1, hf_view(NULL, 0)))
        return; /* requests without an answer so far will do */
    hf__async_conn_flush(&self->conn);
    self->probed_ms = now_ms;
    self->probes = true;
}

static int64_t watch_silence(hf__change_conn *self, int64_t now_ms)
{
    hf__async_conn *conn = &self->conn;

    if (conn->state != HF__ASYNC_UP)
        return INT64_MAX;
    if (!self->probes && now_ms >= conn->alive_ms + SILENCE_MS)
        probe_server(self, now_ms);
    if (conn->state != HF__ASYNC_UP)
        return INT64_MAX;
    if (!self->probes)
        return hf__at_least(conn->alive_ms + SILENCE_MS, now_ms + 1000);
    if (now_ms < self->probed_ms + ANSWER_MS)
        return self->probed_ms + ANSWER_MS;
    hf__fail(&conn->error, HF_UNAVAILABLE, "%s did not reply to PING",
             conn->peer);
    hf__async_conn_drop(conn);
    return INT64_MAX;
}

static int64_t on_tick(hf__async_conn *conn, int64_t now_ms)
{
    hf__change_conn *self = conn_of(conn);
    int64_t next_ms = watch_silence(self, now_ms);

    return hf__at_most(next_ms, self->ops->tick(self, now_ms));
}

static const hf__async_conn_ops conn_ops = {
    .up = on_up,
    .input = on_input,
    .down = on_down,
    .tick = on_tick,
};

/* -------------------------------------------------------------------- life */

void hf__change_conn_init(hf__change_conn *self, const hf__change_conn_ops *ops,
                          hf__redis_node *node, hf_bytes prefix, bool kinds)
{
    memset(self, 0, sizeof(*self));
    hf__async_conn_init(&self->conn, &conn_ops, node, OUT_LIMIT);
    self->conn.resp3 = true;
    self->conn.purpose = &for_changes;
    self->ops = ops;
    self->prefix = prefix;
    self->kinds = kinds;
    hf__buf_init(&self->asked, ASKED_LIMIT);
    hf__arena_init(&self->arena);
}

static void on_closed(hf__async_conn *conn)
{
    hf__change_conn *self = conn_of(conn);

    self->ops->closed(self);
}

void hf__change_conn_close(hf__change_conn *self)
{
    hf__async_conn_close(&self->conn, on_closed);
}

void hf__change_conn_done(hf__change_conn *self)
{
    hf__arena_free(&self->arena);
    hf__buf_done(&self->asked);
    hf__async_conn_done(&self->conn);
}
