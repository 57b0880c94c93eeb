/* SPDX-License-Identifier: Apache-2.0 */
/* channel_table.c - see channel_table.h. */
#include "serve/messages/channel_table.h"

#include <string.h>

#include "util/hash_bytes.h"
#include "util/mem.h"

#define CHAINS_MIN 64u

static uint64_t hash_of(hf__channel_kind kind, hf_bytes name)
{
    return hf__hash(name, kind);
}

static size_t count_of(const hf__channel_table *channels)
{
    size_t count = 0;

    for (size_t i = 0; i < HF__CHANNEL_KINDS; i++)
        count += channels->counts[i];
    return count;
}

static hf__followed **chain_of(const hf__channel_table *channels, uint64_t hash)
{
    return &channels->chains[hash & (channels->chain_count - 1)];
}

hf__followed *hf__channel_table_find(const hf__channel_table *channels,
                                     hf__channel_kind kind, hf_bytes name)
{
    uint64_t hash = hash_of(kind, name);
    hf__followed *one;

    if (channels->chain_count == 0)
        return NULL;
    for (one = *chain_of(channels, hash); one != NULL; one = one->next) {
        if (one->hash == hash && one->kind == kind &&
            one->name_size == name.size &&
            memcmp(one->name, name.data, name.size) == 0)
            return one;
    }
    return NULL;
}

/* Have a chain for each channel. false: no memory. */
static bool grow_chains(hf__channel_table *channels)
{
    hf__channel_table larger = *channels;

    if (count_of(channels) < channels->chain_count)
        return true;
    larger.chain_count =
        channels->chain_count == 0 ? CHAINS_MIN : 2 * channels->chain_count;
    larger.chains = hf__calloc(larger.chain_count, sizeof(*larger.chains));
    if (larger.chains == NULL)
        return false;
    for (size_t i = 0; i < channels->chain_count; i++) {
        while (channels->chains[i] != NULL) {
            hf__followed *one = channels->chains[i];
            hf__followed **chain = chain_of(&larger, one->hash);

            channels->chains[i] = one->next;
            one->next = *chain;
            *chain = one;
        }
    }
    hf__free(channels->chains);
    *channels = larger;
    return true;
}

static void link_pattern(hf__channel_table *channels, hf__followed *one)
{
    one->pattern_next = channels->patterns;
    one->pattern_link = &channels->patterns;
    if (one->pattern_next != NULL)
        one->pattern_next->pattern_link = &one->pattern_next;
    channels->patterns = one;
}

static void unlink_pattern(hf__followed *one)
{
    *one->pattern_link = one->pattern_next;
    if (one->pattern_next != NULL)
        one->pattern_next->pattern_link = one->pattern_link;
}

hf__followed *hf__channel_table_make(hf__channel_table *channels,
                                     hf__channel_kind kind, hf_bytes name)
{
    hf__followed **chain;
    hf__followed *one;

    if (!grow_chains(channels))
        return NULL;
    one = hf__alloc(sizeof(*one) + name.size);
    if (one == NULL)
        return NULL;
    *one = (hf__followed){
        .hash = hash_of(kind, name), .kind = kind, .name_size = name.size};
    if (name.size > 0)
        memcpy(one->name, name.data, name.size);
    one->end = &one->followers;
    chain = chain_of(channels, one->hash);
    one->next = *chain;
    *chain = one;
    channels->counts[kind]++;
    if (kind == HF__CHANNEL_PATTERN)
        link_pattern(channels, one);
    return one;
}

void hf__channel_table_drop(hf__channel_table *channels, hf__followed *channel)
{
    hf__followed **at = chain_of(channels, channel->hash);

    while (*at != channel)
        at = &(*at)->next;
    *at = channel->next;
    channels->counts[channel->kind]--;
    if (channel->kind == HF__CHANNEL_PATTERN)
        unlink_pattern(channel);
    hf__free(channel);
}

void hf__channel_table_done(hf__channel_table *channels)
{
    hf__free(channels->chains);
}

/* In front of those of its connection. */
static void put_first(hf__follower *one, hf__follower **first)
{
    one->conn_next = *first;
    one->conn_link = first;
    if (one->conn_next != NULL)
        one->conn_next->conn_link = &one->conn_next;
    *first = one;
}

hf__follower *hf__follower_new(hf__followed *channel, struct hf__conn *conn,
                               hf__follower **first)
{
    hf__follower *one = hf__calloc(1, sizeof(*one));

    if (one == NULL)
        return NULL;
    one->channel = channel;
    one->conn = conn;
    one->link = channel->end;
    *channel->end = one;
    channel->end = &one->next;
    put_first(one, first);
    return one;
}

void hf__follower_turn(hf__follower **first)
{
    hf__follower *one = *first, *next;

    for (*first = NULL; one != NULL; one = next) {
        next = one->conn_next;
        put_first(one, first);
    }
}

void hf__follower_free(hf__follower *follower)
{
    *follower->link = follower->next;
    if (follower->next != NULL)
        follower->next->link = follower->link;
    else
        follower->channel->end = follower->link;
    *follower->conn_link = follower->conn_next;
    if (follower->conn_next != NULL)
        follower->conn_next->conn_link = follower->conn_link;
    hf__free(follower);
}

/* Seeks in both lists at once: one of them may be long. */
hf__follower *hf__follower_find(const hf__followed *channel,
                                hf__follower *first,
                                const struct hf__conn *conn)
{
    hf__follower *there = channel->followers;

    while (there != NULL && first != NULL) {
        if (there->conn == conn)
            return there;
        if (first->channel == channel)
            return first;
        there = there->next;
        first = first->conn_next;
    }
    return NULL;
}
