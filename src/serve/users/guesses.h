/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guesses.h - wrong passwords, and how long their senders wait.
 *
 * An address may send 10 wrong passwords, and one more every 500 ms. With more,
 * its requests to log in wait for their turn, in the order in which they came,
 * on whichever connections they are; nothing else waits. What is right cannot
 * be replied at once: a guesser would take the delay for "wrong", and leave. An
 * address is one of IPv4, a network of 2^64 addresses of IPv6, or a user of
 * this machine by a unix socket.
 */
#ifndef HF__SERVE_GUESSES_H
#define HF__SERVE_GUESSES_H

#include "serve/conn/peer.h"

/* Wrong passwords of an address before it waits, and of a connection before it
 * is closed. */
#define HF__GUESSES_FREE 10
/* After so long one no longer counts, ms. */
#define HF__GUESSES_STEP_MS 500

/* Addresses that are remembered; those beyond count as one. */
#define HF__GUESSERS_MAX 1024

typedef struct hf__guesser {
    hf__peer_key key;
    int64_t until_ms; /* then none counts; hf__clock_boot_ms() */
} hf__guesser;

typedef struct hf__guesses {
    hf__guesser guessers[HF__GUESSERS_MAX];
    size_t count;
    int64_t others_until_ms; /* of those beyond */
    /* Connections that wait, in order. */
    hf__conn *first, *last;
    hf__tick tick;
    int64_t tick_ms; /* when it rings */
} hf__guesses;

/* When may the next one of this address come? The past: now. */
int64_t hf__guesses_at(hf__guesses *guesses, const hf__peer_key *key);
/* It was wrong. */
void hf__guesses_count(hf__guesses *guesses, const hf__peer_key *key,
                       int64_t now_ms);

/* Does a request to log in have to wait? Then it runs later. */
bool hf__guesses_hold(hf__conn *conn);
/* Its password was wrong, or right. May mark the connection as closing. */
void hf__guesses_judge(hf__conn *conn, bool right);

#endif
