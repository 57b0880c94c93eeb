/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracking.c - see tracking.h.
 *
 * A feed of the store's changes is open while any client tracks. In
 * broadcasting mode each key with one of the client's prefixes is reported;
 * otherwise every key. That is more than Redis reports, which remembers what a
 * client has read, but as valid, and needs no memory here. For the same reason
 * OPTIN, OPTOUT, CACHING and NOLOOP are accepted and change nothing.
 */
#include "serve/messages/tracking.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/messages/push.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/container.h"
#include "util/mem.h"

#define CHANNEL "__redis__:invalidate"

typedef struct prefix {
    struct prefix *next;
    size_t size;
    char text[];
} prefix;

enum { BCAST = 1u << 0, OPTIN = 1u << 1, OPTOUT = 1u << 2, NOLOOP = 1u << 3 };

typedef struct hf__tracker {
    struct hf__tracker *next, **link; /* of the server */
    hf__conn *conn;
    unsigned flags;
    int64_t redirect; /* id of another connection; 0: none */
    bool broken;      /* that has gone */
    prefix *prefixes;
    char caching; /* 'y' or 'n' of CACHING; 0: not given */
} hf__tracker;

/* ---------------------------------------------------------------- reporting */

static hf__conn *find_conn(const hf_server *server, int64_t id)
{
    hf__conn *conn = server->conns;

    while (conn != NULL && (int64_t)conn->id != id)
        conn = conn->next;
    return conn;
}

/* Where its notices go; NULL: nowhere. */
static hf__conn *target_of(hf__tracker *tracker)
{
    hf__conn *conn = tracker->conn;
    hf__answer *answer;

    if (tracker->redirect == 0)
        return conn->resp3 ? conn : NULL;
    conn = find_conn(conn->server, tracker->redirect);
    if (conn != NULL)
        return conn->resp3 || conn->follows[HF__CHANNEL] > 0 ? conn : NULL;
    if (!tracker->broken && tracker->conn->resp3) {
        answer = hf__push_begin(tracker->conn, 2);
        hf__answer_text(answer, "tracking-redir-broken");
        hf__answer_integer(answer, tracker->redirect);
        hf__push_end(tracker->conn);
    }
    tracker->broken = true;
    return NULL;
}

/* NULL: all keys. */
static void send_invalidation(hf__tracker *tracker, const hf_bytes *key)
{
    hf__conn *conn = target_of(tracker);
    hf__answer *answer;

    if (conn == NULL || conn->dead)
        return;
    answer = hf__push_begin(conn, conn->resp3 ? 2 : 3);
    if (conn->resp3) {
        hf__answer_text(answer, "invalidate");
    } else {
        hf__answer_text(answer, "message");
        hf__answer_text(answer, CHANNEL);
    }
    if (key == NULL) {
        hf__answer_nil(answer);
    } else {
        hf__answer_array(answer, 1);
        hf__answer_bytes(answer, *key);
    }
    hf__push_end(conn);
}

static bool tracks_key(const hf__tracker *tracker, hf_bytes key)
{
    const prefix *one = tracker->prefixes;

    while (one != NULL && (key.size < one->size ||
                           memcmp(key.data, one->text, one->size) != 0))
        one = one->next;
    return one != NULL || tracker->prefixes == NULL;
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf__trackers *trackers = hf__container_of(feed, hf__trackers, feed);

    for (hf__tracker *one = trackers->first; one != NULL; one = one->next) {
        if (kind == HF_CHANGE_GAP)
            send_invalidation(one, NULL);
        else if (tracks_key(one, key))
            send_invalidation(one, &key);
    }
}

void hf__tracking_open_server(hf_server *server)
{
    server->trackers.feed.prefix = hf_str("");
    server->trackers.feed.all_databases = true; /* as in Redis */
    server->trackers.feed.changed = on_changed;
}

void hf__tracking_prepare(hf_server *server)
{
    hf__trackers *trackers = &server->trackers;
    hf__store *store = server->store;

    if (trackers->open && trackers->first == NULL) {
        trackers->open = false;
        store->ops->feed_close(store, &trackers->feed);
    }
    if (trackers->open || trackers->first == NULL)
        return;
    trackers->open = store->ops->feed_open(store, &trackers->feed,
                                           server->deadline_ms, NULL) == HF_OK;
    /* They must not believe that changes would be reported. */
    for (hf__tracker *one = trackers->first; one != NULL && !trackers->open;
         one = one->next)
        hf__conn_close(one->conn);
}

/* ---------------------------------------------------------------- beginning */

static void free_prefixes(prefix *first)
{
    while (first != NULL) {
        prefix *next = first->next;

        hf__free(first);
        first = next;
    }
}

void hf__tracking_leave(hf__conn *conn)
{
    hf__tracker *tracker = conn->tracker;

    if (tracker == NULL)
        return;
    conn->tracker = NULL;
    *tracker->link = tracker->next;
    if (tracker->next != NULL)
        tracker->next->link = tracker->link;
    free_prefixes(tracker->prefixes);
    hf__free(tracker);
}

const hf__part hf__tracking_part = {.freed = hf__tracking_leave};

/* NULL: no memory. */
static hf__tracker *new_tracker(hf__conn *conn)
{
    hf__trackers *all = &conn->server->trackers;
    hf__tracker *tracker = hf__calloc(1, sizeof(*tracker));

    if (tracker == NULL)
        return NULL;
    tracker->conn = conn;
    tracker->next = all->first;
    tracker->link = &all->first;
    if (tracker->next != NULL)
        tracker->next->link = &tracker->next;
    all->first = tracker;
    conn->tracker = tracker;
    return tracker;
}

static bool add_prefix(prefix **list, hf_bytes text)
{
    prefix *one = hf__alloc(sizeof(*one) + text.size);

    if (one == NULL)
        return false;
    one->size = text.size;
    if (text.size > 0)
        memcpy(one->text, text.data, text.size);
    one->next = *list;
    *list = one;
    return true;
}

/* ----------------------------------------------------------------- TRACKING */

typedef struct tracking_options {
    unsigned flags;
    int64_t redirect;
    prefix *prefixes;
} tracking_options;

static bool read_redirect(hf__conn *conn, hf_bytes word, tracking_options *read)
{
    if (read->redirect != 0)
        hf__answer_error(&conn->answer,
                         "ERR A client can only redirect to a single other "
                         "client");
    else if (!hf__number_integer(word, &read->redirect))
        hf__answer_error(&conn->answer,
                         "ERR value is not an integer or out of range");
    else if (find_conn(conn->server, read->redirect) == NULL)
        hf__answer_error(&conn->answer,
                         "ERR The client ID you want redirect to does not "
                         "exist");
    return !conn->answer.out.failed;
}

static unsigned flag_of(hf_bytes word)
{
    static const char *const names[] = {"bcast", "optin", "optout", "noloop"};

    for (unsigned i = 0; i < 4; i++) {
        if (hf__arg_is(word, names[i]))
            return 1u << i;
    }
    return 0;
}

static bool read_options(hf__conn *conn, const hf_bytes *words, size_t count,
                         tracking_options *read)
{
    for (size_t i = 3; i < count; i++) {
        unsigned flag = flag_of(words[i]);

        read->flags |= flag;
        if (flag != 0)
            continue;
        if (i + 1 < count && hf__arg_is(words[i], "redirect")) {
            if (!read_redirect(conn, words[++i], read))
                return false;
        } else if (i + 1 < count && hf__arg_is(words[i], "prefix")) {
            if (!add_prefix(&read->prefixes, words[++i])) {
                hf__conn_close(conn);
                return false;
            }
        } else {
            hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
            return false;
        }
    }
    return true;
}

static bool is_over(const prefix *one, const prefix *other)
{
    size_t size = one->size < other->size ? one->size : other->size;

    return memcmp(one->text, other->text, size) == 0;
}

/* No prefix may begin with another. */
static bool check_prefixes(hf__conn *conn, const tracking_options *read)
{
    const prefix *old = conn->tracker == NULL ? NULL : conn->tracker->prefixes;

    for (const prefix *one = read->prefixes; one != NULL; one = one->next) {
        for (const prefix *other = old; other != NULL; other = other->next) {
            if (is_over(one, other))
                hf__answer_error(
                    &conn->answer,
                    "ERR Prefix '%.*s' overlaps with an existing prefix "
                    "'%.*s'. Prefixes for a single client must not overlap.",
                    (int)one->size, one->text, (int)other->size, other->text);
        }
        for (const prefix *other = one->next; other != NULL;
             other = other->next) {
            if (is_over(one, other))
                hf__answer_error(
                    &conn->answer,
                    "ERR Prefix '%.*s' overlaps with another provided prefix "
                    "'%.*s'. Prefixes for a single client must not overlap.",
                    (int)other->size, other->text, (int)one->size, one->text);
        }
    }
    return !conn->answer.out.failed;
}

#define DISABLE_FIRST                                                          \
    "before disabling tracking for this client, and then re-enabling it with " \
    "a different mode."

static bool check_options(hf__conn *conn, const tracking_options *read)
{
    const hf__tracker *now = conn->tracker;
    unsigned flags = read->flags;
    const char *error = NULL;

    if (read->prefixes != NULL && !(flags & BCAST))
        error = "ERR PREFIX option requires BCAST mode to be enabled";
    else if (now != NULL && ((now->flags ^ flags) & BCAST) != 0)
        error = "ERR You can't switch BCAST mode on/off " DISABLE_FIRST;
    else if ((flags & BCAST) && (flags & (OPTIN | OPTOUT)))
        error = "ERR OPTIN and OPTOUT are not compatible with BCAST";
    else if ((flags & OPTIN) && (flags & OPTOUT))
        error = "ERR You can't specify both OPTIN mode and OPTOUT mode";
    else if (now != NULL && (((flags & OPTIN) && (now->flags & OPTOUT)) ||
                             ((flags & OPTOUT) && (now->flags & OPTIN))))
        error = "ERR You can't switch OPTIN/OPTOUT mode " DISABLE_FIRST;
    if (error != NULL)
        hf__answer_error(&conn->answer, "%s", error);
    return error == NULL && check_prefixes(conn, read);
}

/* Takes the prefixes. */
static void start_tracking(hf__conn *conn, tracking_options *read)
{
    hf__tracker *tracker = conn->tracker;
    prefix **end = &read->prefixes;

    if (tracker == NULL)
        tracker = new_tracker(conn);
    if (tracker == NULL) {
        hf__conn_close(conn);
        return;
    }
    tracker->flags = read->flags;
    tracker->redirect = read->redirect;
    tracker->broken = false;
    while (*end != NULL)
        end = &(*end)->next;
    *end = tracker->prefixes;
    tracker->prefixes = read->prefixes;
    read->prefixes = NULL;
    /* Before it reads a key. Within an EXEC that is too early. */
    if (conn->server->round.tx == NULL)
        hf__tracking_prepare(conn->server);
    hf__answer_line(&conn->answer, "OK");
}

void hf__client_tracking(hf__conn *conn, const hf_bytes *words, size_t count)
{
    tracking_options read = {0, 0, NULL};

    if (!read_options(conn, words, count, &read)) {
        /* Replied. */
    } else if (hf__arg_is(words[2], "on")) {
        if (check_options(conn, &read))
            start_tracking(conn, &read);
    } else if (hf__arg_is(words[2], "off")) {
        hf__tracking_leave(conn);
        hf__answer_line(&conn->answer, "OK");
    } else {
        hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
    }
    free_prefixes(read.prefixes);
}

/* ------------------------------------------------------------------- others */

void hf__client_getredir(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer,
                       conn->tracker == NULL ? -1 : conn->tracker->redirect);
}

void hf__client_caching(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__tracker *tracker = conn->tracker;
    hf__answer *answer = &conn->answer;
    bool yes = hf__arg_is(words[2], "yes");

    (void)count;
    if (tracker == NULL || !(tracker->flags & (OPTIN | OPTOUT)))
        hf__answer_error(answer,
                         "ERR CLIENT CACHING can be called only when the "
                         "client is in tracking mode with OPTIN or OPTOUT mode "
                         "enabled");
    else if (!yes && !hf__arg_is(words[2], "no"))
        hf__answer_error(answer, HF__ERROR_SYNTAX);
    else if (!(tracker->flags & (yes ? OPTIN : OPTOUT)))
        hf__answer_error(answer,
                         "ERR CLIENT CACHING %s is only valid when tracking is "
                         "enabled in %s mode.",
                         yes ? "YES" : "NO", yes ? "OPTIN" : "OPTOUT");
    else
        hf__answer_line(answer, "OK");
    if (!answer->out.failed)
        tracker->caching = yes ? 'y' : 'n';
}

static size_t flag_names(const hf__tracker *tracker, const char *names[8])
{
    static const char *const all[] = {"bcast", "optin", "optout", "noloop"};
    size_t count = 0;

    names[count++] = tracker == NULL ? "off" : "on";
    if (tracker == NULL)
        return count;
    for (unsigned i = 0; i < 4; i++) {
        if ((tracker->flags & 1u << i) != 0)
            names[count++] = all[i];
    }
    if (tracker->caching != 0)
        names[count++] = tracker->caching == 'y' ? "caching-yes" : "caching-no";
    if (tracker->broken)
        names[count++] = "broken_redirect";
    return count;
}

static void reply_set(hf__answer *answer, size_t count)
{
    if (answer->out.resp3)
        answer->out.ops->set(&answer->out, count);
    else
        hf__answer_array(answer, count);
}

void hf__client_trackinginfo(hf__conn *conn, const hf_bytes *words,
                             size_t count)
{
    const hf__tracker *tracker = conn->tracker;
    hf__answer *answer = &conn->answer;
    const char *names[8];
    size_t prefixes = 0;

    (void)words;
    count = flag_names(tracker, names);
    hf__answer_map(answer, 3);
    hf__answer_text(answer, "flags");
    reply_set(answer, count);
    for (size_t i = 0; i < count; i++)
        hf__answer_text(answer, names[i]);
    hf__answer_text(answer, "redirect");
    hf__answer_integer(answer, tracker == NULL ? -1 : tracker->redirect);
    hf__answer_text(answer, "prefixes");
    for (const prefix *one = tracker == NULL ? NULL : tracker->prefixes;
         one != NULL; one = one->next)
        prefixes++;
    hf__answer_array(answer, prefixes);
    for (const prefix *one = tracker == NULL ? NULL : tracker->prefixes;
         one != NULL; one = one->next)
        hf__answer_bytes(answer, hf_view(one->text, one->size));
}
