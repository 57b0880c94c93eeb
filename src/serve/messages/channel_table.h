/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_table.h - the channels and patterns that a server's clients have
 * subscribed to.
 */
#ifndef HF__SERVE_CHANNEL_TABLE_H
#define HF__SERVE_CHANNEL_TABLE_H

#include "engine/engine.h"

struct hf__conn;

/* A client's subscription, in the lists of its channel and its connection. */
typedef struct hf__follower {
    struct hf__followed *channel;
    struct hf__conn *conn;
    hf__subscribed subscribed;
    struct hf__follower *next, **link;           /* of the channel */
    struct hf__follower *conn_next, **conn_link; /* of the connection */
} hf__follower;

typedef struct hf__followed {
    struct hf__followed *next; /* in its chain */
    struct hf__followed *pattern_next, **pattern_link;
    uint64_t hash;
    hf__channel_kind kind;
    hf__follower *followers; /* in the order in which they came */
    hf__follower **end;
    size_t name_size;
    char name[];
} hf__followed;

#define HF__CHANNEL_KINDS (HF__CHANNEL_PATTERN + 1)

typedef struct hf__channel_table {
    hf__followed **chains;
    size_t chain_count; /* a power of two, or 0 */
    size_t counts[HF__CHANNEL_KINDS];
    hf__followed *patterns;
} hf__channel_table;

static inline hf_bytes hf__channel_name(const hf__followed *channel)
{
    return hf_view(channel->name, channel->name_size);
}

/* NULL: there is none. */
hf__followed *hf__channel_table_find(const hf__channel_table *channels,
                                     hf__channel_kind kind, hf_bytes name);
/* One that does not exist. NULL: no memory. */
hf__followed *hf__channel_table_make(hf__channel_table *channels,
                                     hf__channel_kind kind, hf_bytes name);
/* Without followers. */
void hf__channel_table_drop(hf__channel_table *channels, hf__followed *channel);
/* There are no channels. */
void hf__channel_table_done(hf__channel_table *channels);

/* Append to the channel's list, and put before the others of the connection,
 * `first`. NULL: no memory. */
hf__follower *hf__follower_new(hf__followed *channel, struct hf__conn *conn,
                               hf__follower **first);
void hf__follower_free(hf__follower *follower);
/* Turn the list of a connection round. */
void hf__follower_turn(hf__follower **first);
/* That of a connection in a channel; NULL: none. */
hf__follower *hf__follower_find(const hf__followed *channel,
                                hf__follower *first,
                                const struct hf__conn *conn);

#endif
