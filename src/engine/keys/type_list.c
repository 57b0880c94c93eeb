/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_list.c - storing lists.
 *
 * A small list is its elements in a row (packed.h). Beyond HF__INLINE_MAX it
 * gets one record per element, for good. These are numbered without gaps, so
 * that any element is found at once; the content of the key record is the
 * number of the first. Numbers begin in the middle of 64 bits, which no list
 * can exhaust, and grow at both ends. A change in between renumbers the shorter
 * side.
 */
#include "engine/keys/type_list.h"

#include <string.h>

#include "engine/keys/elements.h"

#define NUMBER_START (UINT64_C(1) << 63)
#define NAME_SIZE 17u /* kind, keyid, number */

bool hf__list_open(hf__tx *tx, hf_bytes key, hf__record **record)
{
    return hf__key_of_type(tx, key, HF__TYPE_LIST, record);
}

hf__record *hf__list_make(hf__tx *tx, hf_bytes key)
{
    hf__record *record;

    if (!hf__list_open(tx, key, &record))
        return NULL;
    return record != NULL ? record : hf__key_make(tx, key, HF__TYPE_LIST);
}

/* ---------------------------------------------------------------- records */

static void name_element(unsigned char name[NAME_SIZE], uint64_t keyid,
                         uint64_t number)
{
    name[0] = HF__RECORD_LIST;
    hf__put_be64(name + 1, keyid);
    hf__put_be64(name + 9, number);
}

static bool get_element(hf__tx *tx, uint64_t keyid, uint64_t number,
                        hf_bytes *value)
{
    unsigned char name[NAME_SIZE];
    MDB_val key = {sizeof(name), name};
    MDB_val found;
    int rc;

    if (tx->fatal != HF_OK)
        return false;
    name_element(name, keyid, number);
    rc = hf__tx_find(tx, &key, &found);
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc);
        return false;
    }
    *value = hf_view(found.mv_data, found.mv_size);
    return true;
}

static void put_element(hf__tx *tx, uint64_t keyid, uint64_t number,
                        hf_bytes value)
{
    unsigned char name[NAME_SIZE];
    MDB_val key = {sizeof(name), name};
    MDB_val room = {value.size, NULL};

    name_element(name, keyid, number);
    if (hf__tx_put(tx, &key, &room) && value.size > 0)
        memcpy(room.mv_data, value.data, value.size);
}

static void delete_elements(hf__tx *tx, uint64_t keyid, uint64_t number,
                            uint64_t count)
{
    unsigned char name[NAME_SIZE];
    MDB_val key = {sizeof(name), name};

    for (; count > 0 && tx->fatal == HF_OK; count--) {
        name_element(name, keyid, number++);
        hf__tx_delete(tx, &key);
    }
}

/* Put an element that is in LMDB's map, by way of scratch. */
static void put_again(hf__tx *tx, uint64_t keyid, uint64_t number,
                      hf_bytes value)
{
    unsigned char *copy = hf__tx_scratch(tx, value.size + 1);

    if (copy == NULL)
        return;
    if (value.size > 0)
        memcpy(copy, value.data, value.size);
    put_element(tx, keyid, number, hf_view(copy, value.size));
}

/* The number of a large list's first element. false: fatal. */
static bool first_number(hf__tx *tx, hf__record *record, uint64_t *number)
{
    return hf__content_copy(tx, record, number, sizeof(*number));
}

static void set_first_number(hf__tx *tx, hf__record *record, uint64_t number)
{
    (void)hf__content_set(tx, record, &number, sizeof(number));
}

/* From entries to records. false: fatal. */
static bool spread_values(hf__tx *tx, hf__record *record)
{
    size_t size = record->content_size;
    const unsigned char *content = hf__content_edit(tx, record, size);
    uint64_t number = NUMBER_START;
    hf__packed at = {0};

    if (content == NULL || !hf__elements_begin(tx, record))
        return false;
    while (hf__packed_next(content, size, &at))
        put_element(tx, record->keyid, number++, at.text);
    set_first_number(tx, record, NUMBER_START);
    return tx->fatal == HF_OK;
}

/* ------------------------------------------------------------------- any */

static bool find_entry(hf__tx *tx, hf__record *record, uint64_t index,
                       hf__packed *at)
{
    const unsigned char *content = hf__content(tx, record);

    memset(at, 0, sizeof(*at));
    if (content == NULL)
        return false;
    do {
        if (!hf__packed_next(content, record->content_size, at)) {
            hf__tx_fail(tx, MDB_CORRUPTED);
            return false;
        }
    } while (index-- > 0);
    return true;
}

bool hf__list_get(hf__tx *tx, hf__record *record, uint64_t index,
                  hf_bytes *value)
{
    hf__packed at;
    uint64_t first;

    if (record->form == HF__FORM_ELEMENTS)
        return first_number(tx, record, &first) &&
               get_element(tx, record->keyid, first + index, value);
    if (!find_entry(tx, record, index, &at))
        return false;
    *value = at.text;
    return true;
}

/* Is it small, and will it be with `size` bytes instead of `old`? */
static bool stays_small(hf__tx *tx, hf__record *record, size_t old, size_t size)
{
    if (record->form == HF__FORM_ELEMENTS)
        return false;
    return hf__packed_fits(record, old, size) || !spread_values(tx, record);
}

void hf__list_set(hf__tx *tx, hf__record *record, uint64_t index,
                  hf_bytes value)
{
    hf__packed at = {0};
    uint64_t first;

    if (record->form == HF__FORM_INLINE && !find_entry(tx, record, index, &at))
        return;
    if (stays_small(tx, record, at.size, value.size))
        (void)hf__packed_put(tx, record, at.offset, at.size, value);
    else if (first_number(tx, record, &first))
        put_element(tx, record->keyid, first + index, value);
    hf__key_touch_watched(tx, record);
}

/* Renumber `count` elements from `number` on, up or down by one. */
static void move_elements(hf__tx *tx, uint64_t keyid, uint64_t number,
                          uint64_t count, bool up)
{
    hf_bytes value;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t from = up ? number + count - 1 - i : number + i;

        if (!get_element(tx, keyid, from, &value))
            return;
        put_again(tx, keyid, up ? from + 1 : from - 1, value);
    }
}

static void insert_element(hf__tx *tx, hf__record *record, uint64_t index,
                           hf_bytes value)
{
    uint64_t first;

    if (!first_number(tx, record, &first))
        return;
    if (index < record->count - index) {
        move_elements(tx, record->keyid, first, index, false);
        first--;
    } else {
        move_elements(tx, record->keyid, first + index, record->count - index,
                      true);
    }
    put_element(tx, record->keyid, first + index, value);
    set_first_number(tx, record, first);
}

void hf__list_insert(hf__tx *tx, hf__record *record, uint64_t index,
                     hf_bytes value)
{
    size_t offset = record->content_size;
    hf__packed at;

    if (stays_small(tx, record, 0, value.size)) {
        if (index < record->count) {
            if (!find_entry(tx, record, index, &at))
                return;
            offset = at.offset;
        }
        if (!hf__packed_put(tx, record, offset, 0, value))
            return;
    } else {
        insert_element(tx, record, index, value);
    }
    record->count++;
    hf__key_touch(tx, record);
}

void hf__list_push(hf__tx *tx, hf__record *record, hf_bytes value, bool front)
{
    hf__list_insert(tx, record, front ? 0 : record->count, value);
}

/* ---------------------------------------------------------------- removing */

/* The elements to remove: those equal to a value in a range of indexes. */
typedef struct span {
    hf_bytes value;
    uint64_t first;
    uint64_t last;
    uint64_t count;
} span;

static void find_span(hf__tx *tx, hf__record *record, bool last, uint64_t most,
                      span *found)
{
    hf__list_walk walk;
    hf_bytes value;
    uint64_t index = last ? record->count - 1 : 0;

    found->count = 0;
    hf__list_walk_begin(&walk, tx, record, index, last);
    while (found->count < most && hf__list_walk_next(&walk, &value)) {
        if (hf__bytes_same(value, found->value)) {
            if (last || found->count == 0)
                found->first = index;
            if (!last || found->count == 0)
                found->last = index;
            found->count++;
        }
        index += last ? UINT64_MAX : 1; /* one less */
    }
    hf__list_walk_end(&walk);
}

static void cut_entries(hf__tx *tx, hf__record *record, const span *gone)
{
    hf__packed at;

    /* From the end, so that earlier indexes stay valid. */
    for (uint64_t i = gone->last + 1; i-- > gone->first;) {
        if (!find_entry(tx, record, i, &at))
            return;
        if (hf__bytes_same(at.text, gone->value))
            hf__packed_cut(tx, record, at.offset, at.size);
    }
}

/* Renumber an element. false: it is to be removed. */
static bool keep_element(hf__tx *tx, const hf__record *record, const span *gone,
                         uint64_t first, uint64_t index, uint64_t to)
{
    hf_bytes value;

    if (!get_element(tx, record->keyid, first + index, &value))
        return false;
    if (index >= gone->first && index <= gone->last &&
        hf__bytes_same(value, gone->value))
        return false;
    put_again(tx, record->keyid, first + to, value);
    return true;
}

static void close_up(hf__tx *tx, hf__record *record, const span *gone)
{
    uint64_t first, to;

    if (!first_number(tx, record, &first))
        return;
    if (record->count - gone->first <= gone->last + 1) {
        to = gone->first;
        for (uint64_t i = to; i < record->count && tx->fatal == HF_OK; i++)
            to += keep_element(tx, record, gone, first, i, to) ? 1 : 0;
        delete_elements(tx, record->keyid, first + to, gone->count);
        return;
    }
    to = gone->last;
    for (uint64_t i = to + 1; i-- > 0 && tx->fatal == HF_OK;)
        to -= keep_element(tx, record, gone, first, i, to) ? 1 : 0;
    delete_elements(tx, record->keyid, first, gone->count);
    set_first_number(tx, record, first + gone->count);
}

uint64_t hf__list_remove(hf__tx *tx, hf__record *record, hf_bytes value,
                         bool last, uint64_t most)
{
    span gone = {.value = value};

    find_span(tx, record, last, most, &gone);
    if (gone.count == 0 || tx->fatal != HF_OK)
        return 0;
    if (record->form == HF__FORM_ELEMENTS)
        close_up(tx, record, &gone);
    else
        cut_entries(tx, record, &gone);
    record->count -= gone.count;
    hf__key_touch(tx, record);
    return gone.count;
}

static void keep_entries(hf__tx *tx, hf__record *record, uint64_t first,
                         uint64_t count)
{
    hf__packed at;
    size_t start;

    if (!find_entry(tx, record, first, &at))
        return;
    start = at.offset;
    if (!find_entry(tx, record, first + count - 1, &at))
        return;
    at.offset += at.size;
    hf__packed_cut(tx, record, at.offset, record->content_size - at.offset);
    hf__packed_cut(tx, record, 0, start);
}

void hf__list_keep(hf__tx *tx, hf__record *record, uint64_t first,
                   uint64_t count)
{
    uint64_t number, end;

    if (record->form == HF__FORM_ELEMENTS) {
        if (!first_number(tx, record, &number))
            return;
        end = number + record->count;
        delete_elements(tx, record->keyid, number, first);
        number += first;
        delete_elements(tx, record->keyid, number + count,
                        end - number - count);
        set_first_number(tx, record, number);
    } else if (count == 0) {
        hf__packed_cut(tx, record, 0, record->content_size);
    } else {
        keep_entries(tx, record, first, count);
    }
    record->count = count;
    hf__key_touch(tx, record);
}

/* ------------------------------------------------------------------ walks */

static void list_entries(hf__list_walk *walk, hf__record *record)
{
    hf__packed at = {0};
    uint64_t count = 0;

    walk->content = hf__content(walk->tx, record);
    walk->content_size = walk->content == NULL ? 0 : record->content_size;
    while (count < record->count && count < HF__PACKED_INLINE_MAX &&
           hf__packed_next(walk->content, walk->content_size, &at))
        walk->offsets[count++] = (uint16_t)at.offset;
    if (count < record->count) {
        hf__tx_fail(walk->tx, MDB_CORRUPTED); /* the first failure counts */
        walk->left = 0;
    }
}

static void open_cursor(hf__list_walk *walk, hf__record *record)
{
    uint64_t first;
    int rc;

    if (!first_number(walk->tx, record, &first))
        return;
    walk->keyid = record->keyid;
    walk->at = first + walk->index;
    rc = mdb_cursor_open(walk->tx->txn, walk->tx->env->dbi, &walk->cursor);
    if (rc != MDB_SUCCESS) {
        walk->cursor = NULL;
        hf__tx_fail(walk->tx, rc);
    }
}

void hf__list_walk_begin(hf__list_walk *walk, hf__tx *tx, hf__record *record,
                         uint64_t index, bool backward)
{
    walk->tx = tx;
    walk->small = record->form == HF__FORM_INLINE;
    walk->backward = backward;
    walk->index = index;
    walk->cursor = NULL;
    walk->op = MDB_SET_KEY;
    walk->left = 0;
    if (index >= record->count || tx->fatal != HF_OK)
        return;
    walk->left = backward ? index + 1 : record->count - index;
    if (walk->small)
        list_entries(walk, record);
    else
        open_cursor(walk, record);
}

/* The record of number walk->at; the cursor is next to it, or unset. */
static bool read_element(hf__list_walk *walk, MDB_cursor_op op, hf_bytes *value)
{
    unsigned char name[NAME_SIZE];
    MDB_val key = {sizeof(name), name};
    MDB_val data;
    int rc;

    if (walk->cursor == NULL || !hf__tx_spend(walk->tx, 200))
        return false;
    name_element(name, walk->keyid, walk->at);
    rc = mdb_cursor_get(walk->cursor, &key, &data, op);
    if (rc == MDB_SUCCESS && (key.mv_size != sizeof(name) ||
                              memcmp(key.mv_data, name, sizeof(name)) != 0))
        rc = MDB_CORRUPTED;
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(walk->tx, rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc);
        return false;
    }
    *value = hf_view(data.mv_data, data.mv_size);
    return true;
}

bool hf__list_walk_next(hf__list_walk *walk, hf_bytes *value)
{
    hf__packed at = {0};

    if (walk->left == 0)
        return false;
    if (walk->small) {
        at.offset = walk->offsets[walk->index];
        (void)hf__packed_next(walk->content, walk->content_size, &at);
        *value = at.text;
    } else if (!read_element(walk, walk->op, value)) {
        return false;
    }
    walk->op = walk->backward ? MDB_PREV : MDB_NEXT;
    walk->left--;
    walk->index += walk->backward ? UINT64_MAX : 1;
    walk->at += walk->backward ? UINT64_MAX : 1;
    return true;
}

void hf__list_walk_end(hf__list_walk *walk)
{
    if (walk->cursor != NULL)
        mdb_cursor_close(walk->cursor);
    walk->cursor = NULL;
}
