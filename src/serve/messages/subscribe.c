/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscribe.c - SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE and their opposites, PUBSUB,
 * PING of a subscriber, and the messages.
 *
 * While any client has subscribed to anything, the server reads the store's
 * ring of messages. A message published before a client subscribed may be read
 * afterwards; its number says so.
 */
#include "serve/messages/subscribe.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/commands/unit.h"
#include "serve/messages/notify.h"
#include "serve/messages/push.h"
#include "serve/messages/sweep.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/glob.h"

/* How long connections that are closed wait for the writer lock, ms; and when
 * they try again. */
#define LEAVE_MS 5
#define LEAVE_AGAIN_MS 100

/* ----------------------------------------------------------------- messages */

static void deliver_message(const hf__followed *channel,
                            const hf__message *message, const char *word)
{
    bool pattern = channel->kind == HF__CHANNEL_PATTERN;
    hf__answer *answer;

    for (const hf__follower *one = channel->followers; one != NULL;
         one = one->next) {
        if (message->number <= one->subscribed.since || one->conn->dead)
            continue;
        answer = hf__push_begin(one->conn, pattern ? 4 : 3);
        hf__answer_text(answer, word);
        if (pattern)
            hf__answer_bytes(answer, hf__channel_name(channel));
        hf__answer_bytes(answer, message->channel);
        hf__answer_bytes(answer, message->text);
        hf__push_end(one->conn);
    }
}

static void deliver_to_all(const hf__channel_table *channels,
                           const hf__message *message)
{
    const hf__followed *channel =
        hf__channel_table_find(channels, message->kind, message->channel);

    if (channel != NULL)
        deliver_message(channel, message,
                        message->kind == HF__CHANNEL_SHARD ? "smessage"
                                                           : "message");
    if (message->kind != HF__CHANNEL)
        return;
    for (channel = channels->patterns; channel != NULL;
         channel = channel->pattern_next) {
        if (hf__glob_fits(hf__channel_name(channel), message->channel))
            deliver_message(channel, message, "pmessage");
    }
}

/* The event as a message on a channel, whose name ends with the topic. */
__attribute__((format(printf, 3, 0))) static void
notify_event(hf__pubsub *pubsub, const hf__message *event, const char *prefix,
             hf_bytes topic, hf_bytes text)
{
    hf__message message = {
        .kind = HF__CHANNEL, .number = event->number, .text = text};
    hf__buf *name = &pubsub->event_name;

    hf__buf_clear(name);
    if (!hf__buf_print(name, prefix,
                       event->event_class >> HF__EVENT_DATABASE_AT) ||
        !hf__buf_append(name, topic.data, topic.size)) {
        pubsub->reader.lost(&pubsub->reader);
        return;
    }
    message.channel = hf_view(hf__buf_front(name), hf__buf_size(name));
    deliver_to_all(&pubsub->channels, &message);
}

static void on_message(hf__message_reader *reader, const hf__message *message)
{
    hf__pubsub *pubsub = hf__container_of(reader, hf__pubsub, reader);

    if (message->kind != 0) {
        deliver_to_all(&pubsub->channels, message);
        return;
    }
    if ((pubsub->wanted & message->event_class) == 0)
        return;
    if ((pubsub->notify & HF__NOTIFY_BY_KEY) != 0)
        notify_event(pubsub, message, HF__NOTIFY_KEY_CHANNEL, message->text,
                     message->channel);
    if ((pubsub->notify & HF__NOTIFY_BY_EVENT) != 0)
        notify_event(pubsub, message, HF__NOTIFY_EVENT_CHANNEL,
                     message->channel, message->text);
}

/* As Redis does with slow ones. */
static void on_lost(hf__message_reader *reader)
{
    hf_server *server = hf__container_of(reader, hf__pubsub, reader)->server;
    hf__conn *next;

    for (hf__conn *conn = server->conns; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->followed != NULL)
            hf__conn_close(conn);
    }
}

void hf__pubsub_pause(hf_server *server)
{
    if (server->pubsub.reading)
        hf__ring_reader_pause(&server->pubsub.reader.ring);
}

/* ------------------------------------------------------------------ events */

/* Have the store report what is wanted. The writer lock is held. */
static void want_locked(hf_server *server)
{
    hf__pubsub *pubsub = &server->pubsub;
    uint32_t wanted = hf__notify_classes(pubsub->notify);

    if (wanted == pubsub->wanted)
        return;
    hf__message_want(&pubsub->reader, wanted);
    pubsub->wanted = wanted;
    hf__sweep_set(server);
}

/* Read, and take the writer lock. */
static hf_status lock_reader(hf_server *server, hf_error *err)
{
    hf__pubsub *pubsub = &server->pubsub;
    int64_t deadline_ms = server->deadline_ms;
    hf_status status = HF_OK;

    if (!pubsub->reading)
        status = hf__message_reader_start(&pubsub->reader, deadline_ms, err);
    pubsub->reading = status == HF_OK;
    if (status == HF_OK)
        status = hf__message_reader_lock(&pubsub->reader, deadline_ms, err);
    if (status == HF_OK)
        want_locked(server);
    else
        server->hasty = status == HF_UNAVAILABLE;
    return status;
}

/* In a transaction it is done at its end. */
static void want_events(hf_server *server)
{
    hf__pubsub *pubsub = &server->pubsub;

    if (!pubsub->reading || server->round.tx != NULL ||
        hf__notify_classes(pubsub->notify) == pubsub->wanted ||
        lock_reader(server, NULL) != HF_OK)
        return;
    hf__message_reader_unlock(&pubsub->reader);
}

void hf__pubsub_notify(hf_server *server, uint32_t flags)
{
    server->pubsub.notify = flags;
    want_events(server);
}

void hf__pubsub_look(hf_server *server)
{
    want_events(server);
    if (server->pubsub.reading)
        hf__ring_reader_look(&server->pubsub.reader.ring);
}

static void on_leave(hf__tick *tick)
{
    hf__conn_free_dead(tick->user);
}

void hf__pubsub_init(hf_server *server)
{
    hf__pubsub *pubsub = &server->pubsub;

    pubsub->server = server;
    hf__message_reader_init(&pubsub->reader, hf__embedded_inbox(server->store));
    pubsub->reader.got = on_message;
    pubsub->reader.lost = on_lost;
    hf__buf_init(&pubsub->event_name, SIZE_MAX);
    pubsub->leave.ring = on_leave;
    pubsub->leave.user = server;
}

void hf__pubsub_done(hf_server *server)
{
    hf__channel_table_done(&server->pubsub.channels);
    hf__buf_done(&server->pubsub.event_name);
    hf__message_reader_done(&server->pubsub.reader);
}

/* ------------------------------------------------------------ subscriptions */

static bool has_channels(const hf__channel_table *channels)
{
    return channels->counts[HF__CHANNEL] + channels->counts[HF__CHANNEL_SHARD] +
               channels->counts[HF__CHANNEL_PATTERN] >
           0;
}

static void stop_if_idle(hf_server *server)
{
    hf__pubsub *pubsub = &server->pubsub;

    if (!pubsub->reading || has_channels(&pubsub->channels))
        return;
    hf__message_reader_stop(&pubsub->reader);
    pubsub->reading = false;
    pubsub->wanted = 0;
    hf__sweep_set(server);
}

/* false: no memory. The writer lock is held. */
static bool follow_channel(hf__conn *conn, hf__channel_kind kind, hf_bytes name)
{
    hf__pubsub *pubsub = &conn->server->pubsub;
    hf__followed *channel =
        hf__channel_table_find(&pubsub->channels, kind, name);
    hf__follower *one;

    if (channel != NULL &&
        hf__follower_find(channel, conn->followed, conn) != NULL)
        return true;
    if (channel == NULL)
        channel = hf__channel_table_make(&pubsub->channels, kind, name);
    if (channel == NULL)
        return false;
    one = hf__follower_new(channel, conn, &conn->followed);
    if (one != NULL) {
        one->subscribed = hf__message_subscribe(&pubsub->reader, kind, name);
        conn->follows[kind]++;
    } else if (channel->followers == NULL) {
        hf__channel_table_drop(&pubsub->channels, channel);
    }
    return one != NULL;
}

/* With `locked`, in the table of the store, too. */
static void unfollow_channel(hf__follower *one, bool locked)
{
    hf__pubsub *pubsub = &one->conn->server->pubsub;
    hf__followed *channel = one->channel;

    if (locked)
        hf__message_unsubscribe(&pubsub->reader, channel->kind,
                                hf__channel_name(channel), one->subscribed);
    one->conn->follows[channel->kind]--;
    hf__follower_free(one);
    if (channel->followers == NULL)
        hf__channel_table_drop(&pubsub->channels, channel);
}

bool hf__subscribed_leave(hf__conn *conn, int64_t deadline_ms)
{
    hf__pubsub *pubsub = &conn->server->pubsub;

    if (conn->followed == NULL)
        return true;
    if (hf__message_reader_lock(&pubsub->reader, deadline_ms, NULL) != HF_OK)
        return false;
    while (conn->followed != NULL)
        unfollow_channel(conn->followed, true);
    hf__message_reader_unlock(&pubsub->reader);
    stop_if_idle(conn->server);
    return true;
}

static bool may_free_conn(hf__conn *conn)
{
    hf_server *server = conn->server;
    hf__tick *tick = &server->pubsub.leave;

    /* Another one has tried. */
    if (conn->followed != NULL && tick->link != NULL)
        return false;
    if (hf__subscribed_leave(conn, hf__clock_boot_ms() + LEAVE_MS))
        return true;
    hf__tick_set(hf__loop_poller(server->loop), tick,
                 hf__clock_boot_ms() + LEAVE_AGAIN_MS);
    return false;
}

const hf__part hf__subscribe_part = {.may_free = may_free_conn};

/* Stopping drops them from the table of the store. */
void hf__pubsub_leave_all(hf_server *server)
{
    for (hf__conn *conn = server->dead; conn != NULL; conn = conn->next) {
        while (conn->followed != NULL)
            unfollow_channel(conn->followed, false);
    }
    hf__tick_stop(&server->pubsub.leave);
    stop_if_idle(server);
}

/* ----------------------------------------------------------------- commands */

/* What a command does, and what it is called. */
typedef struct verb {
    hf__channel_kind kind;
    const char *word;
} verb;

static void confirm_channel(hf__conn *conn, const verb *what,
                            const hf_bytes *name)
{
    const size_t *follows = conn->follows;
    size_t count = what->kind == HF__CHANNEL_SHARD
                       ? follows[HF__CHANNEL_SHARD]
                       : follows[HF__CHANNEL] + follows[HF__CHANNEL_PATTERN];

    hf__answer_push(&conn->answer, 3);
    hf__answer_text(&conn->answer, what->word);
    if (name != NULL)
        hf__answer_bytes(&conn->answer, *name);
    else
        hf__answer_nil(&conn->answer);
    hf__answer_integer(&conn->answer, (int64_t)count);
}

static bool lock_or_reply(hf__conn *conn)
{
    hf_error error = HF_ERROR_INIT;

    if (conn->server->round.tx != NULL)
        hf__answer_error(&conn->answer,
                         "ERR subscriptions are not allowed in transactions");
    else if (lock_reader(conn->server, &error) != HF_OK)
        hf__answer_error(&conn->answer, "ERR %s", error.message);
    return !conn->answer.out.failed;
}

static void subscribe_to(hf__conn *conn, const verb *what,
                         const hf_bytes *words, size_t count)
{
    bool done = true;

    if (!lock_or_reply(conn))
        return;
    for (size_t i = 1; i < count && done; i++) {
        done = follow_channel(conn, what->kind, words[i]);
        if (done)
            confirm_channel(conn, what, &words[i]);
    }
    hf__message_reader_unlock(&conn->server->pubsub.reader);
    if (!done)
        hf__conn_close(conn);
}

static void unsubscribe_some(hf__conn *conn, const verb *what,
                             const hf_bytes *words, size_t count)
{
    const hf__channel_table *channels = &conn->server->pubsub.channels;

    for (size_t i = 1; i < count; i++) {
        hf__followed *channel =
            hf__channel_table_find(channels, what->kind, words[i]);
        hf__follower *one =
            channel == NULL ? NULL
                            : hf__follower_find(channel, conn->followed, conn);

        if (one != NULL)
            unfollow_channel(one, true);
        confirm_channel(conn, what, &words[i]);
    }
}

/* In the order of the subscriptions, as Redis 7.0 does for patterns. */
static void unsubscribe_all(hf__conn *conn, const verb *what)
{
    hf__follower *next;

    if (conn->follows[what->kind] == 0)
        confirm_channel(conn, what, NULL);
    hf__follower_turn(&conn->followed);
    for (hf__follower *one = conn->followed; one != NULL; one = next) {
        hf_bytes name = hf__channel_name(one->channel);

        next = one->conn_next;
        if (one->channel->kind != what->kind)
            continue;
        /* The count without it, while there is a name to be shown. */
        conn->follows[what->kind]--;
        confirm_channel(conn, what, &name);
        conn->follows[what->kind]++;
        unfollow_channel(one, true);
    }
    hf__follower_turn(&conn->followed);
}

static void unsubscribe_from(hf__conn *conn, const verb *what,
                             const hf_bytes *words, size_t count)
{
    if (!lock_or_reply(conn))
        return;
    if (count > 1)
        unsubscribe_some(conn, what, words, count);
    else
        unsubscribe_all(conn, what);
    hf__message_reader_unlock(&conn->server->pubsub.reader);
    stop_if_idle(conn->server);
}

static void run_subscribe(hf__conn *conn, const hf_bytes *words, size_t count)
{
    subscribe_to(conn, &(verb){HF__CHANNEL, "subscribe"}, words, count);
}

static void run_psubscribe(hf__conn *conn, const hf_bytes *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (!hf__answer_pattern(&conn->answer, words[i]))
            return;
    }
    subscribe_to(conn, &(verb){HF__CHANNEL_PATTERN, "psubscribe"}, words,
                 count);
}

static void run_ssubscribe(hf__conn *conn, const hf_bytes *words, size_t count)
{
    subscribe_to(conn, &(verb){HF__CHANNEL_SHARD, "ssubscribe"}, words, count);
}

static void run_unsubscribe(hf__conn *conn, const hf_bytes *words, size_t count)
{
    unsubscribe_from(conn, &(verb){HF__CHANNEL, "unsubscribe"}, words, count);
}

static void run_punsubscribe(hf__conn *conn, const hf_bytes *words,
                             size_t count)
{
    unsubscribe_from(conn, &(verb){HF__CHANNEL_PATTERN, "punsubscribe"}, words,
                     count);
}

static void run_sunsubscribe(hf__conn *conn, const hf_bytes *words,
                             size_t count)
{
    unsubscribe_from(conn, &(verb){HF__CHANNEL_SHARD, "sunsubscribe"}, words,
                     count);
}

/* ------------------------------------------------------- of a subscriber only
 */

static bool is_limited(const hf__conn *conn)
{
    return conn->followed != NULL && !conn->resp3;
}

bool hf__subscribed_refuses(hf__conn *conn, const char *name)
{
    static const char *const allowed[] = {
        "subscribe",    "unsubscribe", "psubscribe",
        "punsubscribe", "ssubscribe",  "sunsubscribe",
        "ping",         "quit",        "reset"};

    if (!is_limited(conn))
        return false;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        if (strcmp(name, allowed[i]) == 0)
            return false;
    }
    hf__answer_error(&conn->answer,
                     "ERR Can't execute '%s': only (P|S)SUBSCRIBE / "
                     "(P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                     "this context",
                     name);
    return true;
}

static void run_ping(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__answer *answer = &conn->answer;

    if (count > 2) {
        hf__answer_arity(answer, "ping");
    } else if (is_limited(conn)) {
        hf__answer_array(answer, 2);
        hf__answer_text(answer, "pong");
        hf__answer_bytes(answer, count == 2 ? words[1] : hf_str(""));
    } else if (count == 2) {
        hf__answer_bytes(answer, words[1]);
    } else {
        hf__answer_line(answer, "PONG");
    }
}

/* ------------------------------------------------------------------- PUBSUB */

static bool is_listed(const hf__followed *channel, hf__channel_kind kind,
                      const hf_bytes *pattern)
{
    return channel->kind == kind &&
           (pattern == NULL ||
            hf__glob_fits(*pattern, hf__channel_name(channel)));
}

/* Those of this server. */
static void list_channels(hf__conn *conn, hf__channel_kind kind,
                          const hf_bytes *pattern)
{
    const hf__channel_table *channels = &conn->server->pubsub.channels;
    const hf__followed *one;
    size_t count = 0;

    if (pattern != NULL && !hf__answer_pattern(&conn->answer, *pattern))
        return;
    for (size_t i = 0; i < channels->chain_count; i++) {
        for (one = channels->chains[i]; one != NULL; one = one->next)
            count += is_listed(one, kind, pattern);
    }
    hf__answer_array(&conn->answer, count);
    for (size_t i = 0; i < channels->chain_count; i++) {
        for (one = channels->chains[i]; one != NULL; one = one->next) {
            if (is_listed(one, kind, pattern))
                hf__answer_bytes(&conn->answer, hf__channel_name(one));
        }
    }
}

static const char *const help[] = {
    "CHANNELS [<pattern>]",
    "    Return the currently active channels matching a <pattern> (default: "
    "'*').",
    "NUMPAT",
    "    Return number of subscriptions to patterns.",
    "NUMSUB [<channel> ...]",
    "    Return the number of subscribers for the specified channels, "
    "excluding",
    "    pattern subscriptions(default: no channels).",
    "SHARDCHANNELS [<pattern>]",
    "    Return the currently active shard level channels matching a <pattern> "
    "(default: '*').",
    "SHARDNUMSUB [<shardchannel> ...]",
    "    Return the number of subscribers for the specified shard level "
    "channel(s)",
    NULL};

static void pubsub_channels(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__channel_kind kind =
        hf__arg_is(words[1], "channels") ? HF__CHANNEL : HF__CHANNEL_SHARD;

    if (count > 3)
        hf__answer_arity(&conn->answer, "pubsub|channels");
    else
        list_channels(conn, kind, count == 3 ? &words[2] : NULL);
}

static void pubsub_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__served_help(conn, "pubsub", help);
}

static void pubsub_numpat(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(
        &conn->answer,
        (int64_t)conn->server->pubsub.channels.counts[HF__CHANNEL_PATTERN]);
}

/* The store counts those of all servers. */
static void pubsub_numsub(hf__conn *conn, const hf_bytes *words, size_t count)
{
    if (hf__unit_begin(conn, true))
        hf__unit_run(conn, hf__command_find(words[0]), words, count);
}

const hf__served_entry hf__served_subscribe[] = {
    {"subscribe", HF__SERVED_EARLY, run_subscribe},
    {"psubscribe", HF__SERVED_EARLY, run_psubscribe},
    {"ssubscribe", HF__SERVED_EARLY, run_ssubscribe},
    {"unsubscribe", HF__SERVED_EARLY, run_unsubscribe},
    {"punsubscribe", HF__SERVED_EARLY, run_punsubscribe},
    {"sunsubscribe", HF__SERVED_EARLY, run_sunsubscribe},
    {"ping", HF__SERVED_UNIT, run_ping},
    {"pubsub", HF__SERVED_UNIT, hf__served_subcommand},
    {"pubsub|channels", 0, pubsub_channels},
    {"pubsub|help", 0, pubsub_help},
    {"pubsub|numpat", 0, pubsub_numpat},
    {"pubsub|numsub", 0, pubsub_numsub},
    {"pubsub|shardchannels", 0, pubsub_channels},
    {"pubsub|shardnumsub", 0, pubsub_numsub},
    {NULL, 0, NULL}};
