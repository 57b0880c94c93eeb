/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx.h - one transaction as the commands see it: keys with a type, an expiry
 * and a content, whatever their form on disk.
 *
 * Records in LMDB, by first byte (the rest of a name is cut and hashed when it
 * is too long for LMDB, and the whole name then stands in the value):
 *
 *   h                       the header of the store
 *   m key                   a key: head (type, expiry, ...), then its content
 *                           or, for a large hash or (sorted) set, nothing
 *   e keyid field           an element of such a key: value, or score
 *   z keyid score member    the order of such a sorted set; members of one
 *                           score by their first HF__ORDER_KEPT bytes only, so
 *                           that those alike must be sorted when read; or a
 *                           member of a large set, its hash being the score
 *   l keyid index           an element of a large list
 *   o keyid                 elements to be removed: their key is gone
 *
 * Key records touched by the transaction are kept in memory and written once,
 * at its end. A failure of the engine is remembered in `fatal`: whatever the
 * commands do afterwards, the transaction is undone.
 */
#ifndef HF__EMBEDDED_TX_H
#define HF__EMBEDDED_TX_H

#include "store/embedded/commit/env.h"
#include "store/embedded/keys/out.h"
#include "util/arena.h"

enum {
    HF__RECORD_HEADER = 'h',
    HF__RECORD_KEY = 'm',
    HF__RECORD_ELEMENT = 'e',
    HF__RECORD_ORDER = 'z',
    HF__RECORD_ORPHAN = 'o',
    HF__RECORD_LIST = 'l'
};

/* Stored: never renumber. */
typedef enum hf__type {
    HF__TYPE_STRING = 1,
    HF__TYPE_HASH = 2,
    HF__TYPE_ZSET = 3,
    HF__TYPE_LIST = 4,
    HF__TYPE_SET = 5
} hf__type;

/* Stored: where the content is. */
enum { HF__FORM_INLINE = 0, HF__FORM_ELEMENTS = 1 };

/* Content larger than this moves to records of its own: a quarter page, so
 * that a key record never needs an overflow page. */
#define HF__INLINE_MAX 1000u

/* A keyid is the number of a transaction, then these bits: ids made by one
 * transaction, each of which moved at least HF__INLINE_MAX bytes. */
#define HF__KEYID_BITS 16

/* LMDB's limit on a key, as built. */
#define HF__LMDB_KEY_MAX 511u

/* By so many bytes of its member, kind, id, score and the digits of a folded
 * name taken away, the record of an order finds its place. */
#define HF__ORDER_KEPT (HF__LMDB_KEY_MAX - 17u - 40u)

typedef struct hf__record {
    struct hf__record *next; /* in its chain */
    uint32_t hash;
    bool stored;       /* LMDB has it */
    bool live;         /* it exists for commands */
    bool dirty;        /* LMDB's is older */
    bool owned;        /* content is in `memory`, not in LMDB's map */
    uint8_t type;      /* hf__type */
    uint8_t form;      /* HF__FORM_... */
    uint32_t epoch;    /* of `content` if it is in LMDB's map */
    int64_t expire_ms; /* store's clock; 0: never */
    uint64_t keyid;    /* of its elements; 0: none */
    uint64_t count;    /* elements */
    const unsigned char *content;
    size_t content_size;
    unsigned char *memory;
    size_t memory_size;
    size_t key_size;         /* of the whole key */
    size_t name_size;        /* of `name` */
    unsigned char *long_key; /* the whole key, if `name` does not hold it */
    unsigned char name[HF__LMDB_KEY_MAX + 1]; /* key of the record in LMDB */
} hf__record;

typedef struct hf__event {
    uint32_t inbox;
    uint32_t bucket;
} hf__event;

/* Key records kept in memory; when there are more they are written out. */
#define HF__RECORD_MAX 512u
/* How many of them one command may hold at once. */
#define HF__RECORD_HEADROOM 16u
/* Content kept in memory before it is written out. */
#define HF__DIRTY_MAX (size_t)(8u << 20)
#define HF__CHAIN_COUNT 256u

/* How much work goes by before a script's clock is read, ns by estimate. */
#define HF__TX_LOOK_NS 200000u

struct hf__command;
typedef struct hf__recall hf__recall; /* record_cache.h */

typedef struct hf__tx {
    hf__env *env;
    MDB_txn *txn;
    bool writable;
    bool changed; /* something is to be committed */
    hf_status fatal;
    hf_error error; /* of `fatal` */

    int64_t now_ms;   /* store's clock, which stands still */
    int64_t unix_us;  /* 0: not yet asked */
    int64_t ahead_ms; /* Unix time's lead over the store's clock */
    bool ahead_known;
    uint32_t epoch; /* moves when views into LMDB's map become stale */
    uint32_t keyid_next;
    uint64_t wanted_size; /* of everything put so far */
    bool orphans_gone;    /* the last orphan goes with this transaction */

    hf__out *out;
    const struct hf__command *command; /* the one that runs */

    /* Of a script that is bounded: reads its clock, and may make it fatal.
     * `claimed` are bytes its command has in scratch and arena. */
    void (*look)(struct hf__tx *tx, size_t claimed);
    void *look_user;
    size_t spent_ns;
    size_t claimed_size; /* of `arena` */
    size_t largest_size; /* of the contents read */

    hf__recall *recall; /* NULL: a reader's */
    hf__record *records[HF__RECORD_MAX];
    uint32_t record_count;
    size_t dirty_size;
    uint64_t stamp; /* chains of other stamps are empty; never wraps */
    struct {
        uint64_t stamp;
        hf__record *first;
    } chains[HF__CHAIN_COUNT];

    /* A command's, while it runs. It may end by a jump out of hf__say_...(),
     * when Lua has no memory: so it must own no memory itself. */
    unsigned char *scratch;
    size_t scratch_size;
    hf__arena arena;

    hf__event *events; /* to be told after the commit */
    size_t event_count;
    size_t event_capacity;
} hf__tx;

/* -------------------------------------------------------- life (tx.c) */

hf__tx *hf__tx_new(hf__env *env, bool writable); /* NULL: no memory */
void hf__tx_free(hf__tx *tx);
/* The environment's contexts and its machine, before it is closed. */
void hf__tx_free_all(hf__env *env);

/* Begin anew; the LMDB transaction `tx->txn` is open. `boot_ms` is now. */
void hf__tx_start(hf__tx *tx, int64_t boot_ms);
/* Between two requests that share the transaction, after hf__tx_flush(): the
 * next has a time of its own, and finds what the one before it wrote. */
void hf__tx_next(hf__tx *tx, int64_t boot_ms);
/*
 * Write everything out and commit, or undo if `fatal` is set or nothing
 * changed. The LMDB transaction is over afterwards. Returns `fatal`.
 */
hf_status hf__tx_finish(hf__tx *tx);
/* Write the records out without committing; false: fatal. */
bool hf__tx_flush(hf__tx *tx);
/* Forget all records in memory: LMDB's may be others from here on. */
void hf__tx_forget(hf__tx *tx);
/*
 * Write out and forget if there are many. Between commands, and between the
 * keys of a command that takes any number: no record may be in use.
 */
void hf__tx_trim(hf__tx *tx);

/* Remember a failure of the engine; the first one stays. */
void hf__tx_fail(hf__tx *tx, int rc);
void hf__tx_no_memory(hf__tx *tx);
/* false: it has failed; a reader's, where nothing can be written, fails here.
 */
bool hf__tx_may_write(hf__tx *tx);

/* Put and delete a record of LMDB, `fatal` taken care of. With `value->mv_data`
 * NULL the caller fills the room that it then points at. */
bool hf__tx_put(hf__tx *tx, MDB_val *key, MDB_val *value);
void hf__tx_delete(hf__tx *tx, MDB_val *key);

/* Report work, about to be done or just done. What walks reports each step;
 * what goes over the bytes of a value does so in pieces. false: fatal. */
static inline bool hf__tx_spend(hf__tx *tx, size_t ns)
{
    tx->spent_ns += ns;
    if (tx->spent_ns >= HF__TX_LOOK_NS && tx->look != NULL)
        tx->look(tx, 0);
    return tx->fatal == HF_OK;
}
/* memcpy() and memset() in pieces; `from` NULL: zeros. false: fatal. */
#define HF__TX_PIECE (size_t)(256u << 10)
bool hf__tx_copy(hf__tx *tx, void *to, const void *from, size_t size);

/* tx->scratch with room for `size` bytes, the old ones kept. NULL: fatal. */
unsigned char *hf__tx_scratch(hf__tx *tx, size_t size);

/* Memory from tx->arena. NULL: fatal. */
void *hf__tx_alloc(hf__tx *tx, size_t size);

/* Unix time, us, the same all through the transaction. */
int64_t hf__tx_unix_us(hf__tx *tx);
/* A Unix instant on the store's clock and back, ms. */
int64_t hf__tx_from_unix(hf__tx *tx, int64_t unix_ms);
int64_t hf__tx_to_unix(hf__tx *tx, int64_t store_ms);

/* ------------------------------------------------- keys (keyspace.c) */

/* The key if it exists, else NULL; NULL also when fatal. */
hf__record *hf__key_find(hf__tx *tx, hf_bytes key);
/* The record of a key that exists or not (record->live). NULL: fatal. */
hf__record *hf__key_record(hf__tx *tx, hf_bytes key);
/* The key's record to be filled anew: live, of `type`, empty, no expiry. What
 * it held is gone. NULL: fatal. */
hf__record *hf__key_make(hf__tx *tx, hf_bytes key, hf__type type);
bool hf__record_make(hf__tx *tx, hf__record *record, hf__type type);
void hf__key_delete(hf__tx *tx, hf__record *record);
void hf__key_touch(hf__tx *tx, hf__record *record); /* it is dirty now */

/* The content, current whatever was written since. NULL only when fatal. */
const unsigned char *hf__content(hf__tx *tx, hf__record *record);
/* Replace the content by a copy; false: fatal. `data` may be a part of it. */
bool hf__content_set(hf__tx *tx, hf__record *record, const void *data,
                     size_t size);
/*
 * Make `size` bytes of content writable, the old ones preserved as far as
 * they fit. NULL: fatal.
 */
unsigned char *hf__content_edit(hf__tx *tx, hf__record *record, size_t size);

/* ---------------------------------------------- elements (elements.c) */

/* Give the record a key id and the form ELEMENTS; the content stays until the
 * caller has put the elements. false: fatal. */
bool hf__elements_begin(hf__tx *tx, hf__record *record);

/* false: there is none, or fatal. The view holds until the next write. */
bool hf__element_get(hf__tx *tx, uint64_t keyid, hf_bytes field,
                     hf_bytes *value);
void hf__element_put(hf__tx *tx, uint64_t keyid, hf_bytes field,
                     hf_bytes value);
void hf__element_delete(hf__tx *tx, uint64_t keyid, hf_bytes field);
void hf__order_put(hf__tx *tx, uint64_t keyid, double score, hf_bytes member);
void hf__order_delete(hf__tx *tx, uint64_t keyid, double score,
                      hf_bytes member);
bool hf__order_has(hf__tx *tx, uint64_t keyid, double score, hf_bytes member);

/* A member out of both its records. */
void hf__member_delete(hf__tx *tx, uint64_t keyid, double score,
                       hf_bytes member);

/* Walks the elements of one key, or their order. Write nothing meanwhile. */
typedef struct hf__walk {
    hf__tx *tx;
    MDB_cursor *cursor;
    unsigned char kind; /* HF__RECORD_ELEMENT or _ORDER */
    uint64_t keyid;
    bool backward;
    bool at_start;
    MDB_val key; /* where it is */
} hf__walk;
bool hf__walk_begin(hf__walk *walk, hf__tx *tx, unsigned char kind,
                    uint64_t keyid);
/* Order only: start at the first member whose score is `score` or more
 * (backward: the last whose score is `score` or less). */
bool hf__walk_begin_at(hf__walk *walk, hf__tx *tx, uint64_t keyid, double score,
                       bool backward);
/* Order only: start at this member of this score, or where it would stand;
 * for one longer than HF__ORDER_KEPT, before all that begin like it. */
bool hf__walk_begin_member(hf__walk *walk, hf__tx *tx, uint64_t keyid,
                           double score, hf_bytes member, bool backward);
/* Start at a record by its name in LMDB, or where it would stand. */
bool hf__walk_begin_record(hf__walk *walk, hf__tx *tx, unsigned char kind,
                           uint64_t keyid, hf_bytes name);
/* false: at the end. `score` only for the order, `value` only for elements. */
bool hf__walk_next(hf__walk *walk, hf_bytes *name, hf_bytes *value,
                   double *score);
void hf__walk_end(hf__walk *walk);

/* -------------------------------------------------- old (reclaim.c) */

/* Have the elements of `keyid` removed by and by. */
void hf__orphan_put(hf__tx *tx, uint64_t keyid);
/* Remove some orphans and some expired keys; part of every commit. */
void hf__reclaim(hf__tx *tx);
/* Remove expired keys and orphans on purpose, some of them each time, until
 * `done`. Begin with zeros. Nothing else is in the transaction. */
#define HF__SWEEP_PLACE 512u
typedef struct hf__reclaimed {
    uint64_t keys;
    uint64_t elements;
    bool done;
    bool at_end; /* of the keys */
    uint32_t place_size;
    unsigned char place[HF__SWEEP_PLACE];
} hf__reclaimed;
void hf__reclaim_some(hf__tx *tx, hf__reclaimed *so_far);
/* Remove expired keys more eagerly, because the store is full. */
void hf__reclaim_hard(hf__tx *tx);
/* Is the store so full that a command that needs room must be refused? */
bool hf__tx_is_full(hf__tx *tx);

#endif
