/* SPDX-License-Identifier: Apache-2.0 */
/* tracking.c - CLIENT TRACKING and the like: see tracking.h. */
#include "serve/messages/tracking.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/commands/multi.h"
#include "serve/state.h"

/* ----------------------------------------------------------------- TRACKING */

typedef struct tracking_options {
    unsigned flags;
    int64_t redirect;
    size_t prefixes; /* how many */
} tracking_options;

static bool has_conn(const hf_server *server, int64_t id)
{
    const hf__conn *conn = server->conns;

    while (conn != NULL && (int64_t)conn->id != id)
        conn = conn->next;
    return conn != NULL;
}

static bool read_redirect(hf__conn *conn, hf_bytes word, tracking_options *read)
{
    if (read->redirect != 0)
        hf__answer_error(&conn->answer,
                         "ERR A client can only redirect to a single other "
                         "client");
    else if (!hf__number_integer(word, &read->redirect))
        hf__answer_error(&conn->answer,
                         "ERR value is not an integer or out of range");
    else if (!has_conn(conn->server, read->redirect))
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
            read->prefixes++;
            i++;
        } else {
            hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
            return false;
        }
    }
    return true;
}

/* The next word after PREFIX, from *at on; NULL: no more. */
static const hf_bytes *next_prefix(const hf_bytes *words, size_t count,
                                   size_t *at)
{
    while (*at + 1 < count) {
        const hf_bytes *word = &words[*at];
        bool takes = hf__arg_is(*word, "prefix");

        *at += takes || hf__arg_is(*word, "redirect") ? 2 : 1;
        if (takes)
            return word + 1;
    }
    return NULL;
}

/* Does one of them begin with the other? */
static bool check_overlap(hf__conn *conn, hf_bytes one, hf_bytes other,
                          const char *what)
{
    size_t size = one.size < other.size ? one.size : other.size;

    if (size > 0 && memcmp(one.data, other.data, size) != 0)
        return true;
    hf__answer_error(&conn->answer,
                     "ERR Prefix '%.*s' overlaps with %s prefix '%.*s'. "
                     "Prefixes for a single client must not overlap.",
                     (int)one.size, (const char *)one.data, what,
                     (int)other.size, (const char *)other.data);
    return false;
}

static bool check_prefixes(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__follower *old =
        conn->tracker == NULL ? NULL : conn->tracker->followed;
    const hf_bytes *one, *other;
    size_t at = 3;
    size_t later;

    while ((one = next_prefix(words, count, &at)) != NULL) {
        for (const hf__follower *had = old; had != NULL; had = had->conn_next) {
            if (!check_overlap(conn, *one, hf__channel_name(had->channel),
                               "an existing"))
                return false;
        }
        later = at;
        while ((other = next_prefix(words, count, &later)) != NULL) {
            if (!check_overlap(conn, *one, *other, "another provided"))
                return false;
        }
    }
    return true;
}

#define EITHER (HF__TRACK_OPTIN | HF__TRACK_OPTOUT)
#define DISABLE_FIRST                                                          \
    "before disabling tracking for this client, and then re-enabling it with " \
    "a different mode."

static bool check_options(hf__conn *conn, const hf_bytes *words, size_t count,
                          const tracking_options *read)
{
    const hf__tracker *now = conn->tracker;
    unsigned flags = read->flags;
    const char *error = NULL;

    if (read->prefixes > 0 && !(flags & HF__TRACK_BCAST))
        error = "ERR PREFIX option requires BCAST mode to be enabled";
    else if (now != NULL && ((now->flags ^ flags) & HF__TRACK_BCAST) != 0)
        error = "ERR You can't switch BCAST mode on/off " DISABLE_FIRST;
    else if ((flags & HF__TRACK_BCAST) && (flags & EITHER))
        error = "ERR OPTIN and OPTOUT are not compatible with BCAST";
    else if ((flags & EITHER) == EITHER)
        error = "ERR You can't specify both OPTIN mode and OPTOUT mode";
    else if (now != NULL && ((now->flags | flags) & EITHER) == EITHER)
        error = "ERR You can't switch OPTIN/OPTOUT mode " DISABLE_FIRST;
    if (error != NULL)
        hf__answer_error(&conn->answer, "%s", error);
    return error == NULL && check_prefixes(conn, words, count);
}

static bool follow_prefixes(hf__tracker *tracker, const hf_bytes *words,
                            size_t count)
{
    const hf_bytes *prefix;
    bool fits = true;
    size_t at = 3;

    while (fits && (prefix = next_prefix(words, count, &at)) != NULL)
        fits = hf__tracked_prefix(tracker, *prefix);
    return fits;
}

static void start_tracking(hf__conn *conn, const hf_bytes *words, size_t count,
                           const tracking_options *read)
{
    hf__tracker *tracker = conn->tracker;

    if (tracker == NULL)
        tracker = hf__tracked_join(conn);
    if (tracker == NULL ||
        ((read->flags & HF__TRACK_BCAST) != 0 && read->prefixes == 0 &&
         !hf__tracked_prefix(tracker, hf_str(""))) ||
        !follow_prefixes(tracker, words, count)) {
        hf__conn_close(conn);
        return;
    }
    tracker->flags = read->flags;
    tracker->redirect = read->redirect;
    tracker->broken = false;
    hf__tracked_prepare(conn->server); /* before it reads a key */
    hf__answer_line(&conn->answer, "OK");
}

void hf__client_tracking(hf__conn *conn, const hf_bytes *words, size_t count)
{
    tracking_options read = {0, 0, 0};

    /* A feed cannot be opened then, and the round may be undone. */
    if (conn->server->in_exec) {
        hf__answer_error(&conn->answer,
                         "ERR CLIENT TRACKING is not allowed inside a "
                         "transaction");
        return;
    }
    if (!read_options(conn, words, count, &read))
        return;
    if (hf__arg_is(words[2], "on")) {
        if (check_options(conn, words, count, &read))
            start_tracking(conn, words, count, &read);
    } else if (hf__arg_is(words[2], "off")) {
        hf__tracked_leave(conn);
        hf__answer_line(&conn->answer, "OK");
    } else {
        hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
    }
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
    if (tracker == NULL ||
        !(tracker->flags & (HF__TRACK_OPTIN | HF__TRACK_OPTOUT)))
        hf__answer_error(answer,
                         "ERR CLIENT CACHING can be called only when the "
                         "client is in tracking mode with OPTIN or OPTOUT mode "
                         "enabled");
    else if (!yes && !hf__arg_is(words[2], "no"))
        hf__answer_error(answer, HF__ERROR_SYNTAX);
    else if (!(tracker->flags & (yes ? HF__TRACK_OPTIN : HF__TRACK_OPTOUT)))
        hf__answer_error(answer,
                         "ERR CLIENT CACHING %s is only valid when tracking is "
                         "enabled in %s mode.",
                         yes ? "YES" : "NO", yes ? "OPTIN" : "OPTOUT");
    else
        hf__answer_line(answer, "OK");
    if (!answer->out.failed)
        tracker->caching = true;
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
    if (tracker->caching)
        names[count++] = (tracker->flags & HF__TRACK_OPTIN) != 0 ? "caching-yes"
                                                                 : "caching-no";
    if (tracker->broken)
        names[count++] = "broken_redirect";
    return count;
}

void hf__client_trackinginfo(hf__conn *conn, const hf_bytes *words,
                             size_t count)
{
    const hf__tracker *tracker = conn->tracker;
    hf__answer *answer = &conn->answer;
    const hf__follower *first = NULL;
    const char *names[8];
    size_t prefixes = 0;

    (void)words;
    count = flag_names(tracker, names);
    hf__answer_map(answer, 3);
    hf__answer_text(answer, "flags");
    hf__answer_set(answer, count);
    for (size_t i = 0; i < count; i++)
        hf__answer_text(answer, names[i]);
    hf__answer_text(answer, "redirect");
    hf__answer_integer(answer, tracker == NULL ? -1 : tracker->redirect);
    hf__answer_text(answer, "prefixes");
    if (tracker != NULL && (tracker->flags & HF__TRACK_BCAST))
        first = tracker->followed;
    for (const hf__follower *one = first; one != NULL; one = one->conn_next)
        prefixes++;
    hf__answer_array(answer, prefixes);
    for (const hf__follower *one = first; one != NULL; one = one->conn_next)
        hf__answer_bytes(answer, hf__channel_name(one->channel));
}

void hf__tracking_requested(hf__conn *conn, const hf__served *served)
{
    if (!hf__multi_is_open(conn) &&
        (served == NULL || served->run != hf__served_subcommand ||
         strcmp(served->name, "client") != 0))
        hf__tracked_spend(conn->tracker);
}
