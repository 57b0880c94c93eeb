/* SPDX-License-Identifier: Apache-2.0 */
/* guesses.c - see guesses.h. */
#include "serve/users/guesses.h"

#include <string.h>

#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"

/* Those who wait are looked at in steps of this, ms. */
#define LOOK_MS 50

/* ---------------------------------------------------------------- counting */

/* The guesser's `until_ms`; NULL: nothing is known of it. */
static int64_t *find_guesser(hf__guesses *guesses, const hf__peer_key *key)
{
    for (size_t i = 0; i < guesses->count; i++) {
        if (memcmp(&guesses->guessers[i].key, key, sizeof(*key)) == 0)
            return &guesses->guessers[i].until_ms;
    }
    return guesses->count == HF__GUESSERS_MAX ? &guesses->others_until_ms
                                              : NULL;
}

static void drop_expired(hf__guesses *guesses, int64_t now_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < guesses->count; i++) {
        if (guesses->guessers[i].until_ms > now_ms)
            guesses->guessers[kept++] = guesses->guessers[i];
    }
    guesses->count = kept;
}

int64_t hf__guesses_at(hf__guesses *guesses, const hf__peer_key *key)
{
    const int64_t *until_ms = find_guesser(guesses, key);

    return until_ms == NULL ? 0
                            : *until_ms - (int64_t)(HF__GUESSES_FREE - 1) *
                                              HF__GUESSES_STEP_MS;
}

void hf__guesses_count(hf__guesses *guesses, const hf__peer_key *key,
                       int64_t now_ms)
{
    int64_t *until_ms;

    drop_expired(guesses, now_ms);
    until_ms = find_guesser(guesses, key);
    if (until_ms == NULL) {
        hf__guesser *guesser = &guesses->guessers[guesses->count++];

        *guesser = (hf__guesser){*key, now_ms};
        until_ms = &guesser->until_ms;
    }
    if (*until_ms < now_ms)
        *until_ms = now_ms;
    *until_ms += HF__GUESSES_STEP_MS;
}

/* ----------------------------------------------------------------- waiting */

static void leave_held(hf__conn *conn)
{
    hf__guesses *guesses = &conn->server->guesses;

    if (conn->guess_ms == 0)
        return;
    conn->guess_ms = 0;
    if (conn->guess_previous != NULL)
        conn->guess_previous->guess_next = conn->guess_next;
    else
        guesses->first = conn->guess_next;
    if (conn->guess_next != NULL)
        conn->guess_next->guess_previous = conn->guess_previous;
    else
        guesses->last = conn->guess_previous;
}

static void wake_held(hf__tick *tick);

static void arm_tick(hf_server *server, int64_t at_ms)
{
    hf__guesses *guesses = &server->guesses;

    if (guesses->tick.link != NULL && guesses->tick_ms <= at_ms)
        return;
    guesses->tick_ms = at_ms;
    guesses->tick.ring = wake_held;
    guesses->tick.user = server;
    hf__tick_set(hf__loop_poller(server->loop), &guesses->tick, at_ms);
}

/* All whose turn may have come try; those for whom it has not wait again, in
 * the same order. */
static void wake_held(hf__tick *tick)
{
    hf_server *server = tick->user;
    int64_t now_ms = hf__clock_boot_ms(), next_ms = INT64_MAX;
    hf__conn *next;

    for (hf__conn *conn = server->guesses.first; conn != NULL; conn = next) {
        next = conn->guess_next;
        if (conn->guess_ms > now_ms) {
            next_ms = conn->guess_ms < next_ms ? conn->guess_ms : next_ms;
            continue;
        }
        leave_held(conn);
        conn->held = false;
        hf__conn_wake(conn);
    }
    if (next_ms != INT64_MAX)
        arm_tick(server, next_ms);
}

static void join_held(hf__conn *conn, int64_t at_ms)
{
    hf__guesses *guesses = &conn->server->guesses;

    conn->guess_ms = (at_ms / LOOK_MS + 1) * LOOK_MS;
    conn->guess_next = NULL;
    conn->guess_previous = guesses->last;
    if (guesses->last != NULL)
        guesses->last->guess_next = conn;
    else
        guesses->first = conn;
    guesses->last = conn;
    arm_tick(conn->server, conn->guess_ms);
}

bool hf__guesses_hold(hf__conn *conn)
{
    hf__guesses *guesses = &conn->server->guesses;
    hf__peer_key key;
    int64_t at_ms;

    if (guesses->count == 0)
        return false;
    hf__peer_key_of(conn, &key);
    at_ms = hf__guesses_at(guesses, &key);
    if (at_ms <= hf__clock_boot_ms())
        return false;
    if (conn->guess_ms == 0)
        join_held(conn, at_ms);
    conn->held = true;
    return true;
}

void hf__guesses_judge(hf__conn *conn, bool right)
{
    hf__peer_key key;

    conn->wrong = right ? 0 : conn->wrong + 1;
    if (right)
        return;
    hf__peer_key_of(conn, &key);
    hf__guesses_count(&conn->server->guesses, &key, hf__clock_boot_ms());
    if (conn->wrong == HF__GUESSES_FREE)
        conn->closing = true;
}

const hf__part hf__guesses_part = {.closed = leave_held};
