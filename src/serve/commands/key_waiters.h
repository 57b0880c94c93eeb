/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_waiters.h - which connections wait for which keys, in their order.
 */
#ifndef HF__SERVE_KEY_WAITERS_H
#define HF__SERVE_KEY_WAITERS_H

#include "engine/engine.h"
#include "serve/conn/conn.h"
#include "util/heap.h"

/* Lists of keys to look at. */
typedef enum hf__wait_list {
    HF__WAIT_MADE,    /* in the transaction, since the last unit */
    HF__WAIT_CHANGED, /* by other processes */
    HF__WAIT_LISTS
} hf__wait_list;

/* A key that connections wait for. */
typedef struct hf__wait_key {
    struct hf__wait_key *next; /* in its chain */
    uint64_t hash;
    struct hf__wait_link *first, *last; /* its waiters, oldest first */
    struct hf__wait_key *next_in[HF__WAIT_LISTS];
    bool in[HF__WAIT_LISTS]; /* then it is not freed */
    uint8_t database;
    size_t size;
    unsigned char bytes[];
} hf__wait_key;

typedef struct hf__wait_link {
    struct hf__waiter *waiter;
    hf__wait_key *key;
    struct hf__wait_link *previous, *next; /* of the key */
} hf__wait_link;

/* A connection that waits, and its request. */
typedef struct hf__waiter {
    hf__conn *conn;
    const hf__command *command;
    hf__block block;
    hf__heap_node node; /* its deadline */
    bool began;         /* in this round */
    bool served;        /* in this round */
    bool no_room;       /* for the reply */
    bool touched;       /* one of these, and in the list of such */
    struct hf__waiter *next_touched;
    size_t mark_out; /* of conn->out, before the reply */
    size_t link_count;
    hf__wait_link *links;
    size_t count;
    hf_bytes words[];
} hf__waiter;

typedef struct hf__wait_table {
    hf__wait_key **chains;
    size_t chain_count; /* 0, or a power of two */
    size_t key_count;
    hf__wait_key *first[HF__WAIT_LISTS], *last[HF__WAIT_LISTS];
} hf__wait_table;

/* NULL: no memory. Copies the words; waits for no key yet. */
hf__waiter *hf__waiter_new(hf__conn *conn, const hf__command *command,
                           const hf__block *block, const hf_bytes *words,
                           size_t count);
/* It waits for none any more. */
void hf__waiter_free(hf__waiter *waiter);

/* Wait for its keys, after those that already do. false: no memory. */
bool hf__wait_add(hf__wait_table *table, hf__waiter *waiter);
void hf__wait_remove(hf__wait_table *table, hf__waiter *waiter);

/* NULL: no one waits for it. */
hf__wait_key *hf__wait_find(const hf__wait_table *table, uint32_t database,
                            hf_bytes key);

/* At the end of a list, if it is not in it. */
void hf__wait_put(hf__wait_table *table, hf__wait_list list, hf__wait_key *key);
void hf__wait_put_all(hf__wait_table *table, hf__wait_list list);
/* Remove the first one; it may be freed. */
void hf__wait_take(hf__wait_table *table, hf__wait_list list);
void hf__wait_clear(hf__wait_table *table, hf__wait_list list);

/* No one waits. */
void hf__wait_done(hf__wait_table *table);

#endif
