/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elements.c - the records of large hashes and sorted sets, and walking them.
 *
 * An element's record is found by its key's id and its name, in byte order; ids
 * are big-endian so that a key's elements are adjacent. The value of a folded
 * name begins with the whole name: u32 size, name, value.
 */
#include "engine/keys/elements.h"

#include <assert.h>
#include <string.h>

#include "engine/files/name.h"
#include "engine/keys/score.h"
#include "util/error.h"
#include "util/mem.h"

#define PREFIX_SIZE 9u /* kind, keyid */
#define SCORE_SIZE 8u
#define FIELD_ROOM (HF__LMDB_KEY_MAX - PREFIX_SIZE)
#define MEMBER_ROOM (FIELD_ROOM - SCORE_SIZE)
_Static_assert(HF__ORDER_KEPT == MEMBER_ROOM - HF__NAME_DIGITS,
               "what a folded member keeps");

static void fail_damaged(hf__tx *tx)
{
    hf__tx_fail(tx, MDB_CORRUPTED);
}

bool hf__keyid_new(hf__tx *tx, uint64_t *keyid)
{
    if (tx->keyid_next >> HF__KEYID_BITS != 0) {
        hf__tx_fail(tx, MDB_TXN_FULL);
        return false;
    }
    *keyid = (uint64_t)mdb_txn_id(tx->txn) << HF__KEYID_BITS | tx->keyid_next++;
    return true;
}

bool hf__elements_begin(hf__tx *tx, hf__record *record)
{
    if (!hf__keyid_new(tx, &record->keyid))
        return false;
    record->form = HF__FORM_ELEMENTS;
    record->dirty = true;
    return true;
}

/* ------------------------------------------------------------- elements */

typedef struct element_name {
    unsigned char bytes[HF__LMDB_KEY_MAX];
    MDB_val key;
    bool folded;
} element_name;

static void name_key(element_name *name, uint64_t keyid)
{
    name->bytes[0] = HF__RECORD_ELEMENT;
    hf__put_be64(name->bytes + 1, keyid);
    name->key.mv_data = name->bytes;
}

static void name_field(element_name *name, hf_bytes field)
{
    size_t size = hf__name_fold(name->bytes + PREFIX_SIZE, FIELD_ROOM, field);

    name->folded = size == FIELD_ROOM;
    name->key.mv_size = PREFIX_SIZE + size;
}

static void name_element(element_name *name, uint64_t keyid, hf_bytes field)
{
    name_key(name, keyid);
    name_field(name, field);
}

/* Split a folded record's value. false: damaged. */
static bool unfold_record(const MDB_val *value, hf_bytes *name, hf_bytes *rest)
{
    const unsigned char *at = value->mv_data;
    uint32_t size;

    if (value->mv_size < sizeof(size))
        return false;
    memcpy(&size, at, sizeof(size));
    if (value->mv_size - sizeof(size) < size)
        return false;
    *name = hf_view(at + sizeof(size), size);
    *rest =
        hf_view(at + sizeof(size) + size, value->mv_size - sizeof(size) - size);
    return true;
}

/* The record that was found; if its name was folded, it must be that of
 * `field`. */
static bool read_found(hf__tx *tx, const element_name *name, hf_bytes field,
                       const MDB_val *found, hf_bytes *value)
{
    hf_bytes whole;

    *value = hf_view(found->mv_data, found->mv_size);
    if (!name->folded)
        return true;
    if (!unfold_record(found, &whole, value) || whole.size != field.size ||
        memcmp(whole.data, field.data, field.size) != 0) {
        fail_damaged(tx);
        return false;
    }
    return true;
}

/* Read a record, by the cursor unless that is NULL. */
static bool get_named(hf__tx *tx, MDB_cursor *cursor, element_name *name,
                      hf_bytes field, hf_bytes *value)
{
    MDB_val found;
    int rc;

    if (!hf__tx_spend(tx, 500))
        return false;
    if (cursor != NULL)
        rc = mdb_cursor_get(cursor, &name->key, &found, MDB_SET);
    else
        rc = hf__tx_find(tx, &name->key, &found);
    if (rc == MDB_NOTFOUND)
        return false;
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return false;
    }
    return read_found(tx, name, field, &found, value);
}

bool hf__element_get(hf__tx *tx, uint64_t keyid, hf_bytes field,
                     hf_bytes *value)
{
    element_name name;

    name_element(&name, keyid, field);
    return get_named(tx, NULL, &name, field, value);
}

/* For fewer a cursor costs more than it saves. */
#define NEAR_MIN 3u
/* A cursor first looks at the page where it is. After so many in a row that
 * were elsewhere, the elements count as scattered. */
#define STRAYS_MAX 3u
/* After so many in a row that were not neighbours, tried in each
 * direction in turn, they count as unordered. */
#define APART_MAX 3u

/* Elements that are read one after another. */
typedef struct series {
    hf__tx *tx;
    MDB_cursor *cursor;
    uintptr_t page; /* of the last one */
    unsigned strays;
    unsigned apart;
    MDB_cursor_op step; /* to where the next one is expected */
} series;

/* Is it next to the last one? */
static bool is_neighbour(series *self, const element_name *name, MDB_val *found)
{
    MDB_val key;
    int rc = mdb_cursor_get(self->cursor, &key, found, self->step);

    if (rc != MDB_SUCCESS) {
        if (rc != MDB_NOTFOUND)
            hf__tx_fail(self->tx, rc);
        return false;
    }
    return key.mv_size == name->key.mv_size &&
           memcmp(key.mv_data, name->key.mv_data, key.mv_size) == 0;
}

static uintptr_t page_of(const series *self, hf_bytes value)
{
    return (uintptr_t)value.data / self->tx->env->page_size;
}

static bool get_near(series *self, element_name *name, hf_bytes field,
                     hf_bytes *value)
{
    MDB_cursor *cursor = self->strays < STRAYS_MAX ? self->cursor : NULL;
    uintptr_t page;
    MDB_val found;

    if (cursor != NULL && self->page != 0 && self->apart < APART_MAX) {
        if (is_neighbour(self, name, &found)) {
            self->apart = 0;
            self->strays = 0;
            self->page = page_of(self, hf_view(found.mv_data, found.mv_size));
            return hf__tx_spend(self->tx, 100) &&
                   read_found(self->tx, name, field, &found, value);
        }
        if (self->tx->fatal != HF_OK)
            return false;
        self->apart++;
        self->step = self->step == MDB_NEXT ? MDB_PREV : MDB_NEXT;
    }
    if (!get_named(self->tx, cursor, name, field, value))
        return false;
    page = page_of(self, *value);
    self->strays = page == self->page ? 0 : self->strays + 1;
    self->page = page;
    return true;
}

void hf__elements_get(hf__tx *tx, uint64_t keyid, const hf_bytes *fields,
                      size_t count, hf_bytes *values)
{
    series self = {.tx = tx,
                   .strays = count < NEAR_MIN ? STRAYS_MAX : 0,
                   .step = MDB_NEXT};
    element_name name;
    int rc;

    if (self.strays == 0 && tx->fatal == HF_OK) {
        rc = hf__tx_cursor_open(tx, &self.cursor);
        if (rc != MDB_SUCCESS)
            hf__tx_fail(tx, rc);
    }
    name_key(&name, keyid);
    for (size_t i = 0; i < count; i++) {
        name_field(&name, fields[i]);
        if (tx->fatal != HF_OK ||
            !get_near(&self, &name, fields[i], &values[i]))
            values[i] = hf_view(NULL, 0);
    }
    if (self.cursor != NULL)
        hf__tx_cursor_close(tx, self.cursor);
}

/* Put `value`, preceded by the whole name if that was folded. `value` must not
 * be in LMDB's map. */
static void put_folded(hf__tx *tx, MDB_val *key, bool folded, hf_bytes whole,
                       hf_bytes value)
{
    uint32_t size = (uint32_t)whole.size;
    size_t head = folded ? sizeof(size) + whole.size : 0;
    MDB_val room = {head + value.size,
                    folded ? NULL : (void *)(uintptr_t)value.data};
    unsigned char *at;

    if (!hf__tx_put(tx, key, &room) || !folded)
        return;
    at = room.mv_data;
    memcpy(at, &size, sizeof(size));
    memcpy(at + sizeof(size), whole.data, whole.size);
    if (value.size > 0)
        memcpy(at + head, value.data, value.size);
}

void hf__element_put(hf__tx *tx, uint64_t keyid, hf_bytes field, hf_bytes value)
{
    element_name name;

    name_element(&name, keyid, field);
    put_folded(tx, &name.key, name.folded, field, value);
}

bool hf__element_add(hf__tx *tx, uint64_t keyid, hf_bytes field, hf_bytes value,
                     hf_bytes *old)
{
    element_name name;
    MDB_val data = {value.size, (void *)(uintptr_t)value.data};

    name_element(&name, keyid, field);
    if (name.folded) {
        if (get_named(tx, NULL, &name, field, old) || tx->fatal != HF_OK)
            return false;
        put_folded(tx, &name.key, true, field, value);
        return tx->fatal == HF_OK;
    }
    if (hf__tx_add(tx, &name.key, &data))
        return true;
    *old = hf_view(data.mv_data, data.mv_size);
    return false;
}

bool hf__element_take(hf__tx *tx, uint64_t keyid, hf_bytes field, void *value,
                      size_t size)
{
    element_name name;
    hf_bytes found;

    name_element(&name, keyid, field);
    if (!name.folded)
        return hf__tx_take(tx, &name.key, value, size);
    if (!get_named(tx, NULL, &name, field, &found))
        return false;
    if (found.size != size) {
        fail_damaged(tx);
        return false;
    }
    memcpy(value, found.data, size);
    hf__tx_delete(tx, &name.key);
    return tx->fatal == HF_OK;
}

void hf__element_delete(hf__tx *tx, uint64_t keyid, hf_bytes field)
{
    element_name name;

    name_element(&name, keyid, field);
    hf__tx_delete(tx, &name.key);
}

/* ----------------------------------------------------------------- order */

/* The part of the name after the prefix; returns its size. */
static size_t put_position(unsigned char *at, double score, hf_bytes member)
{
    hf__put_be64(at, hf__order_of(score));
    return SCORE_SIZE + hf__name_fold(at + SCORE_SIZE, MEMBER_ROOM, member);
}

void hf__position_of(hf__position *position, double score, hf_bytes member)
{
    position->size = put_position(position->bytes, score, member);
}

static void name_order(element_name *name, uint64_t keyid, double score,
                       hf_bytes member)
{
    size_t size;

    name->bytes[0] = HF__RECORD_ORDER;
    hf__put_be64(name->bytes + 1, keyid);
    size = put_position(name->bytes + PREFIX_SIZE, score, member);
    name->folded = size == FIELD_ROOM;
    name->key.mv_data = name->bytes;
    name->key.mv_size = PREFIX_SIZE + size;
}

void hf__order_put(hf__tx *tx, uint64_t keyid, double score, hf_bytes member)
{
    element_name name;

    name_order(&name, keyid, score, member);
    put_folded(tx, &name.key, name.folded, member, hf_view(NULL, 0));
}

void hf__order_delete(hf__tx *tx, uint64_t keyid, double score, hf_bytes member)
{
    element_name name;

    name_order(&name, keyid, score, member);
    hf__tx_delete(tx, &name.key);
}

bool hf__order_has(hf__tx *tx, uint64_t keyid, double score, hf_bytes member)
{
    element_name name;
    hf_bytes value;

    name_order(&name, keyid, score, member);
    return get_named(tx, NULL, &name, member, &value);
}

void hf__member_delete(hf__tx *tx, uint64_t keyid, double score,
                       hf_bytes member)
{
    element_name element, order;

    /* Both names before the first write: `member` may be in LMDB's map. */
    name_element(&element, keyid, member);
    name_order(&order, keyid, score, member);
    hf__tx_delete(tx, &element.key);
    hf__tx_delete(tx, &order.key);
}

/* ----------------------------------------------------------------- walks */

/* Move to the first record >= `from`, or backward to the last one < `from`. */
static bool seek_record(hf__walk *walk, const unsigned char *from, size_t size)
{
    MDB_val value;
    int rc;

    walk->key.mv_data = (void *)(uintptr_t)from;
    walk->key.mv_size = size;
    rc = hf__tx_cursor_open(walk->tx, &walk->cursor);
    if (rc != MDB_SUCCESS) {
        walk->cursor = NULL;
        hf__tx_fail(walk->tx, rc);
        return false;
    }
    rc = mdb_cursor_get(walk->cursor, &walk->key, &value, MDB_SET_RANGE);
    if (walk->backward)
        rc = mdb_cursor_get(walk->cursor, &walk->key, &value,
                            rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
    walk->at_start = rc == MDB_SUCCESS;
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(walk->tx, rc);
    return rc == MDB_SUCCESS;
}

static void begin_walk(hf__walk *walk, hf__tx *tx, unsigned char kind,
                       uint64_t keyid, bool backward)
{
    memset(walk, 0, sizeof(*walk));
    walk->tx = tx;
    walk->kind = kind;
    walk->keyid = keyid;
    walk->backward = backward;
}

bool hf__walk_begin(hf__walk *walk, hf__tx *tx, unsigned char kind,
                    uint64_t keyid)
{
    unsigned char from[PREFIX_SIZE];

    begin_walk(walk, tx, kind, keyid, false);
    if (tx->fatal != HF_OK)
        return false;
    from[0] = kind;
    hf__put_be64(from + 1, keyid);
    return seek_record(walk, from, sizeof(from));
}

bool hf__walk_begin_at(hf__walk *walk, hf__tx *tx, uint64_t keyid, double score,
                       bool backward)
{
    unsigned char from[PREFIX_SIZE + SCORE_SIZE];
    /* Infinity is far below UINT64_MAX, so adding 1 never wraps. */
    uint64_t order = hf__order_of(score) + (backward ? 1 : 0);

    begin_walk(walk, tx, HF__RECORD_ORDER, keyid, backward);
    if (tx->fatal != HF_OK)
        return false;
    from[0] = HF__RECORD_ORDER;
    hf__put_be64(from + 1, keyid);
    hf__put_be64(from + PREFIX_SIZE, order);
    return seek_record(walk, from, sizeof(from));
}

bool hf__walk_begin_member(hf__walk *walk, hf__tx *tx, uint64_t keyid,
                           double score, hf_bytes member, bool backward)
{
    unsigned char from[HF__LMDB_KEY_MAX];
    size_t head = PREFIX_SIZE + SCORE_SIZE;
    size_t kept = member.size < HF__ORDER_KEPT ? member.size : HF__ORDER_KEPT;
    size_t size = head + kept;

    begin_walk(walk, tx, HF__RECORD_ORDER, keyid, backward);
    if (tx->fatal != HF_OK)
        return false;
    from[0] = HF__RECORD_ORDER;
    hf__put_be64(from + 1, keyid);
    hf__put_be64(from + PREFIX_SIZE, hf__order_of(score));
    if (kept > 0)
        memcpy(from + head, member.data, kept);
    if (backward && kept < HF__ORDER_KEPT) {
        from[size++] = 0; /* the next name */
    } else if (backward) {
        memset(from + size, 0xff, sizeof(from) - size);
        size = sizeof(from);
    }
    return seek_record(walk, from, size);
}

bool hf__walk_begin_record(hf__walk *walk, hf__tx *tx, unsigned char kind,
                           uint64_t keyid, hf_bytes name)
{
    begin_walk(walk, tx, kind, keyid, false);
    return tx->fatal == HF_OK && seek_record(walk, name.data, name.size);
}

/* Split a record; false: another key's, or damaged. */
static bool read_record(hf__walk *walk, const MDB_val *data, hf_bytes *name,
                        hf_bytes *value, double *score)
{
    bool order = walk->kind == HF__RECORD_ORDER;
    size_t head = PREFIX_SIZE + (order ? SCORE_SIZE : 0);
    const unsigned char *at = walk->key.mv_data;

    if (walk->key.mv_size < head || at[0] != walk->kind ||
        hf__get_be64(at + 1) != walk->keyid)
        return false;
    if (order)
        *score = hf__score_of(hf__get_be64(at + PREFIX_SIZE));
    *name = hf_view(at + head, walk->key.mv_size - head);
    *value = hf_view(data->mv_data, data->mv_size);
    if (walk->key.mv_size == HF__LMDB_KEY_MAX &&
        !unfold_record(data, name, value)) {
        fail_damaged(walk->tx);
        return false;
    }
    return true;
}

bool hf__walk_next(hf__walk *walk, hf_bytes *name, hf_bytes *value,
                   double *score)
{
    MDB_val data;
    double no_score;
    hf_bytes no_value;
    MDB_cursor_op op = walk->backward ? MDB_PREV : MDB_NEXT;
    int rc;

    if (walk->cursor == NULL || !hf__tx_spend(walk->tx, 100))
        return false;
    if (walk->at_start)
        op = MDB_GET_CURRENT;
    walk->at_start = false;
    rc = mdb_cursor_get(walk->cursor, &walk->key, &data, op);
    if (rc == MDB_SUCCESS)
        return read_record(walk, &data, name, value != NULL ? value : &no_value,
                           score != NULL ? score : &no_score);
    if (rc != MDB_NOTFOUND)
        hf__tx_fail(walk->tx, rc);
    return false;
}

void hf__walk_end(hf__walk *walk)
{
    if (walk->cursor != NULL)
        hf__tx_cursor_close(walk->tx, walk->cursor);
    walk->cursor = NULL;
}

void hf__pending_delete_put(hf__tx *tx, uint64_t keyid)
{
    unsigned char bytes[9] = {HF__RECORD_PENDING_DELETE};
    MDB_val key = {sizeof(bytes), bytes};
    MDB_val value = {0, bytes};

    memcpy(bytes + 1, &keyid, sizeof(keyid));
    tx->env->sidecar.map->pending_deletes = 1;
    tx->no_pending_deletes = false;
    (void)hf__tx_put(tx, &key, &value);
}
