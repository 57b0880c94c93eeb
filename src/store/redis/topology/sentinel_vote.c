/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_vote.c - how the sentinels' replies decide for a master.
 *
 * 1. A sentinel with two addresses (the same run ID) counts once.
 * 2. An address needs a majority: of all known sentinels while replies may
 *    still come, of those that named one afterwards.
 * 3. A sentinel outside the majority may know a later failover: the others
 *    learn of it within moments, so for a while (sentinel_round.c) nothing is
 *    decided. Not longer: it may belong to another deployment.
 * 4. An earlier failover than the known one is not accepted: a sentinel that
 *    was cut off may report it. Unless all known sentinels agree on it: then
 *    they have been set up again.
 */
#include "store/redis/topology/sentinel_vote.h"

#include <string.h>

static bool is_same(const hf__sentinel_answer *a, const hf__sentinel_answer *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Has the sentinel of answer number `at` been counted before? */
static bool is_repeated(const hf__sentinel_ballot *ballot, size_t at)
{
    const char *id = ballot->answers[at]->id;
    size_t before;

    for (before = 0; id[0] != '\0' && before < at; before++) {
        if (strcmp(ballot->answers[before]->id, id) == 0)
            return true;
    }
    return false;
}

/* Votes for the address that `candidate` names, and their newest epoch. */
static size_t count_for(const hf__sentinel_ballot *ballot,
                        const hf__sentinel_answer *candidate, uint64_t *epoch)
{
    size_t votes = 0;
    size_t at;

    *epoch = 0;
    for (at = 0; at < ballot->count; at++) {
        if (is_repeated(ballot, at) || !is_same(ballot->answers[at], candidate))
            continue;
        votes++;
        if (ballot->answers[at]->epoch > *epoch)
            *epoch = ballot->answers[at]->epoch;
    }
    return votes;
}

/* Sentinels that name a master; `newest`: the greatest epoch of theirs. */
static size_t count_named(const hf__sentinel_ballot *ballot, uint64_t *newest)
{
    size_t named = 0;
    size_t at;

    *newest = 0;
    for (at = 0; at < ballot->count; at++) {
        if (is_repeated(ballot, at) || ballot->answers[at]->port == 0)
            continue;
        named++;
        if (ballot->answers[at]->epoch > *newest)
            *newest = ballot->answers[at]->epoch;
    }
    return named;
}

/* The address with the most votes. */
static size_t find_best(const hf__sentinel_ballot *ballot,
                        hf__sentinel_answer *best)
{
    size_t most = 0;
    uint64_t epoch;
    size_t votes;
    size_t at;

    for (at = 0; at < ballot->count; at++) {
        if (ballot->answers[at]->port == 0)
            continue;
        votes = count_for(ballot, ballot->answers[at], &epoch);
        if (votes <= most)
            continue;
        most = votes;
        *best = *ballot->answers[at];
        best->epoch = epoch;
    }
    return most;
}

static hf__sentinel_vote without_majority(const hf__sentinel_ballot *ballot,
                                          size_t named)
{
    if (!ballot->is_final)
        return HF__BALLOT_OPEN;
    if (named > 0)
        return HF__BALLOT_SPLIT;
    return ballot->count > 0 ? HF__BALLOT_NAMELESS : HF__BALLOT_SILENT;
}

hf__sentinel_vote hf__sentinel_count(const hf__sentinel_ballot *ballot,
                                     hf__sentinel_answer *winner, bool *newer)
{
    hf__sentinel_answer best;
    uint64_t newest;
    size_t named = count_named(ballot, &newest);
    size_t votes = find_best(ballot, &best);

    *newer = false;
    if (2 * votes <= (ballot->is_final ? named : ballot->known))
        return without_majority(ballot, named);
    *newer = newest > best.epoch;
    if (ballot->master != NULL && best.epoch < ballot->master->epoch &&
        votes < ballot->known)
        return HF__BALLOT_STALE;
    *winner = best;
    return HF__BALLOT_DECIDED;
}
