/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx.h - the context of one transaction.
 *
 * Key records touched by the transaction are kept in memory and written once,
 * at its end. A failure of LMDB is recorded in `fatal`: the transaction will be
 * undone, whatever commands do afterwards.
 */
#ifndef HF__ENGINE_TX_H
#define HF__ENGINE_TX_H

#include "engine/commit/env.h"
#include "engine/commit/redo.h"
#include "util/arena.h"
#include "util/buf.h"

typedef struct hf__event {
    uint32_t inbox;
    uint32_t bucket;
} hf__event;

/* What an event says; of the first so many of a transaction. */
#define HF__SAYING_MAX 16u
typedef struct hf__saying {
    uint32_t bucket;
    uint32_t size;
    char text[HF__EVENT_TEXT_MAX];
} hf__saying;

/* What a transaction notes in one ring; see wake/ring_write.h. */
typedef struct hf__noted {
    hf__buf notes;
    bool lost;        /* some are missing: a gap */
    bool flushed;     /* only those of keys that a FLUSHALL has removed */
    uint64_t readers; /* a bit for each slot, which is to be woken */
    uint64_t from;    /* where they are in the ring, after hf__ring_fill() */
} hf__noted;

/* Key records kept in memory; when there are more they are written out. */
#define HF__RECORD_MAX 512u
/* How many of them one command may hold at once. */
#define HF__RECORD_HEADROOM 16u
/* Content kept in memory before it is written out. */
#define HF__DIRTY_MAX (size_t)(8u << 20)
#define HF__CHAIN_COUNT 256u

/* Work between two checks of a script's limits, ns by estimate. */
#define HF__TX_CHECK_NS 200000u

struct hf__command;
struct hf__out;
struct hf__record_cache;
struct hf__record;
struct hf__tx;

/* What a blocking command waits for, which found nothing to take. */
typedef struct hf__block {
    bool blocked;
    bool counted;    /* the argument before the keys is their number */
    uint8_t type;    /* hf__type of the key that it waits for */
    size_t first;    /* argument that is a key */
    size_t count;    /* of keys */
    int64_t wait_ms; /* 0: no limit */
    /* NULL, or in tx->arena, for each key the word that follows the keys. */
    const hf_bytes *ids;
    /* NULL, or the error that ends the wait when a key has not the type. */
    const char *gone;
    /* NULL, or it says without a write whether there is something for a waiter
     * in a key of the type. `words` are its request. */
    bool (*ready)(struct hf__tx *tx, struct hf__record *record, hf_bytes id,
                  const struct hf__block *block, const hf_bytes *words);
    size_t group; /* argument that is one; 0: none */
    bool asks;    /* the request, of one key, is only to call ready() */
} hf__block;

/* Of a scratch transaction: who receives its messages. */
typedef struct hf__outside {
    /* The number of receivers; -1: no memory. */
    int64_t (*publish)(struct hf__outside *outside, hf_bytes channel,
                       hf_bytes text);
    bool (*listens)(struct hf__outside *outside, hf_bytes channel);
} hf__outside;

typedef struct hf__tx {
    hf__env *env;
    MDB_txn *txn;
    bool writable;
    bool changed; /* there is something to commit */
    hf_status fatal;
    hf_error error; /* of `fatal` */

    uint8_t database; /* the current one, as by SELECT */
    int64_t now_ms;   /* store's clock, fixed for the transaction */
    int64_t unix_us;  /* 0: not read yet */
    int64_t ahead_ms; /* hf__sidecar_unix_ahead_ms() */
    uint32_t epoch;   /* incremented when views into LMDB's map become stale */
    uint32_t keyid_next;
    uint64_t wanted_size;    /* of all records put so far */
    uint32_t put_count;      /* how many those are */
    int64_t script_us;       /* processor time of users' scripts */
    bool no_pending_deletes; /* this transaction removes the last one */
    bool grows;              /* a command that needs space has run */
    bool reads;              /* a command runs that only reads */
    uint64_t hits, misses;   /* keys that such commands found, or did not */

    struct hf__out *out;
    const struct hf__command *command; /* being run */
    hf__block block; /* of a command of the kind HF__COMMAND_BLOCKS */

    /* Set for a script with limits: checks them, and may set `fatal`. `claimed`
     * is what its command has in scratch and arenas. */
    void (*check)(struct hf__tx *tx, size_t claimed);
    void *check_user;
    size_t spent_ns;
    size_t claimed_size; /* of `arena` */
    size_t gathered_size;
    size_t largest_size; /* of the values read */

    /* Where a record of LMDB was found or put last, as long as `epoch` is that:
     * nothing else was written since. NULL: nowhere. */
    MDB_cursor *place;
    uint32_t place_epoch;
    struct hf__record *placed; /* the key record that was read there, or NULL */

    struct hf__record_cache *cache; /* NULL: a reader's */
    struct hf__native *native;      /* after its first script */
    struct hf__record *records[HF__RECORD_MAX];
    uint32_t record_count;
    size_t dirty_size;
    uint64_t stamp; /* chains with other stamps are empty; never wraps */
    struct {
        uint64_t stamp;
        struct hf__record *first;
    } chains[HF__CHAIN_COUNT];

    /* A running command's memory. It must not own any other, because
     * hf__reply_...() may longjmp() when Lua is out of memory. */
    unsigned char *scratch;
    size_t scratch_size;
    hf__arena arena;
    hf__arena gathered; /* values that were put together; to hf__tx_trim() */

    /* If not NULL, called when a key is made, also in place of another; its
     * content comes later; and when a stream goes. A key without data: any
     * may have gone or come. Set after hf__tx_start(). */
    void (*made)(struct hf__tx *tx, hf_bytes key);
    void *made_user;
    /* If not NULL, called now and then while a user's script runs, with whether
     * it has run a command that writes; false: the script is to be stopped.
     * Neither this nor the store may be used. *spent_us, 0 before: the thread's
     * processor time that it took, which is not the script's. Set as `made`,
     * whose user it has. */
    bool (*attend)(struct hf__tx *tx, bool wrote, int64_t *spent_us);

    hf__outside *outside; /* NULL: it is no scratch transaction */
    bool sealed;          /* it has all the records that it may use */
    char *missing_key;    /* sealed: owned; of another that it tried to use */
    size_t missing_size;

    hf__event *events; /* delivered after the commit */
    size_t event_count;
    size_t event_capacity;
    /* Of a store with a log: the names of what was changed, each after its
     * head (redo_state.h); all was deleted before that. */
    hf__buf changes;
    bool log_full; /* HF_FULL is of the log */
    bool dropped;

    hf__saying sayings[HF__SAYING_MAX];
    size_t saying_count;

    /* Of a reader, to the end of its transaction: a search by one finds what is
     * in the page where it is without beginning at the root. NULL: none yet. */
    MDB_cursor *spare;      /* hf__tx_cursor_close() */
    MDB_cursor *key_cursor; /* of key records */

    uint32_t watched; /* the rings that someone reads, and classes of events */
    hf__noted noted[HF__RING_COUNT];
} hf__tx;

/* Record a failure of LMDB; the first one counts. */
void hf__tx_fail(hf__tx *tx, int rc);
void hf__tx_no_memory(hf__tx *tx);
/* false: the transaction has failed, or is read-only and fails now. */
bool hf__tx_may_write(hf__tx *tx);

/* Look up a record of LMDB, as mdb_get() does. A put or deletion of it that is
 * the next thing to be written does not search for it again. */
int hf__tx_find(hf__tx *tx, MDB_val *key, MDB_val *value);
static inline bool hf__tx_is_placed(const hf__tx *tx)
{
    return tx->place != NULL && tx->place_epoch == tx->epoch;
}
/* Before the transaction ends. */
void hf__tx_leave_place(hf__tx *tx);

/* A record of LMDB is about to be changed: note it for the log, if the store
 * has one. false: out of memory. */
static inline bool hf__tx_note_change(hf__tx *tx, const MDB_val *key)
{
    return tx->env->redo == NULL || hf__redo_note(tx, key);
}

/* Put and delete a record of LMDB; failures set `fatal`. If `value->mv_data` is
 * NULL, it is set to space that the caller fills. */
bool hf__tx_put(hf__tx *tx, MDB_val *key, MDB_val *value);
void hf__tx_delete(hf__tx *tx, MDB_val *key);
/* Delete a record whose value has this size, and copy the value. false: there
 * is none, or fatal. */
bool hf__tx_take(hf__tx *tx, MDB_val *key, void *value, size_t size);
/* Put a new record. false: there is one, whose value is set, or fatal. */
bool hf__tx_add(hf__tx *tx, MDB_val *key, MDB_val *value);
/* Put a value of the same size in place of that at the cursor, whose key this
 * is. */
bool hf__tx_replace(hf__tx *tx, MDB_cursor *cursor, MDB_val *key,
                    MDB_val *value);

/* Returns LMDB's error. A reader gets the cursor that it last closed, which is
 * where it was. */
int hf__tx_cursor_open(hf__tx *tx, MDB_cursor **cursor);
void hf__tx_cursor_close(hf__tx *tx, MDB_cursor *cursor);
/* Before a reader's transaction ends. */
void hf__tx_cursors_drop(hf__tx *tx);

/* Let no library open the store that does not know this format (header.h). */
bool hf__tx_raise_format(hf__tx *tx, uint32_t version);

/* Account for work, before or after doing it: each step of a walk, each piece
 * of a long value. false: fatal. */
static inline bool hf__tx_spend(hf__tx *tx, size_t ns)
{
    tx->spent_ns += ns;
    if (tx->spent_ns >= HF__TX_CHECK_NS && tx->check != NULL)
        tx->check(tx, 0);
    return tx->fatal == HF_OK;
}
/* memcpy() and memset() in pieces; `from` NULL: zeros. false: fatal. */
#define HF__TX_PIECE (size_t)(256u << 10)
bool hf__tx_copy(hf__tx *tx, void *to, const void *from, size_t size);

/* Grow tx->scratch to `size` bytes, content kept. NULL: fatal. */
unsigned char *hf__tx_scratch(hf__tx *tx, size_t size);

/* Memory from tx->arena. NULL: fatal. */
void *hf__tx_alloc(hf__tx *tx, size_t size);
/* The same from tx->gathered. */
void *hf__tx_alloc_gathered(hf__tx *tx, size_t size);
void hf__tx_drop_gathered(hf__tx *tx);

/* Unix time, us, the same all through the transaction. */
int64_t hf__tx_unix_us(hf__tx *tx);
/* A Unix instant on the store's clock and back, ms. */
int64_t hf__tx_from_unix(hf__tx *tx, int64_t unix_ms);
int64_t hf__tx_to_unix(hf__tx *tx, int64_t store_ms);

#endif
