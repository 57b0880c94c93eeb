/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_hash.c - storing hashes.
 *
 * A small hash is one string of entries in the order of creation: u32 size of
 * the field, u32 size of the value, field, value. Beyond HF__INLINE_MAX it gets
 * one record per field, for good. So does a hash of which a field gets a
 * deadline (deadlines.h).
 */
#include "engine/keys/type_hash.h"

#include <string.h>

#include "engine/keys/command_reply.h"
#include "engine/keys/deadlines.h"
#include "engine/keys/packed.h"

#define ENTRY_HEAD 8u

/* ---------------------------------------------------------- small hashes */

/* The next entry, at entry->offset + entry->size; begin with zeros. false: at
 * the end, or damaged. */
static bool next_entry(const unsigned char *content, size_t size,
                       hf__hash_entry *at)
{
    size_t offset = at->offset + at->size;
    uint32_t field_size, value_size;

    if (size - offset < ENTRY_HEAD)
        return false;
    memcpy(&field_size, content + offset, 4);
    memcpy(&value_size, content + offset + 4, 4);
    if ((uint64_t)field_size + value_size > size - offset - ENTRY_HEAD)
        return false;
    at->offset = offset;
    at->size = ENTRY_HEAD + field_size + value_size;
    at->field = hf_view(content + offset + ENTRY_HEAD, field_size);
    at->value = hf_view(content + offset + ENTRY_HEAD + field_size, value_size);
    return true;
}

static bool find_entry(hf__tx *tx, hf__record *record, hf_bytes field,
                       hf__hash_entry *at)
{
    const unsigned char *content = hf__content(tx, record);

    memset(at, 0, sizeof(*at));
    if (content == NULL)
        return false;
    while (next_entry(content, record->content_size, at)) {
        if (hf__bytes_same(at->field, field))
            return true;
    }
    return false;
}

static void write_entry(unsigned char *at, hf_bytes field, hf_bytes value)
{
    uint32_t field_size = (uint32_t)field.size;
    uint32_t value_size = (uint32_t)value.size;

    memcpy(at, &field_size, 4);
    memcpy(at + 4, &value_size, 4);
    if (field.size > 0)
        memcpy(at + ENTRY_HEAD, field.data, field.size);
    if (value.size > 0)
        memcpy(at + ENTRY_HEAD + field.size, value.data, value.size);
}

/* From entries to records. false: fatal. */
static bool spread_fields(hf__tx *tx, hf__record *record)
{
    size_t size = record->content_size;
    const unsigned char *content = hf__content_edit(tx, record, size);
    hf__hash_entry at = {0};

    if (content == NULL || !hf__elements_begin(tx, record))
        return false;
    while (next_entry(content, size, &at))
        hf__element_put(tx, record->keyid, at.field, at.value);
    return hf__content_set(tx, record, "", 0);
}

/* ------------------------------------------------------------- any hash */

static __attribute__((noinline)) bool get_kept(hf__tx *tx, hf__record *record,
                                               hf_bytes field, hf_bytes *value)
{
    return hf__element_get(tx, record->keyid, field, value) &&
           !hf__deadline_passed(tx, record, field);
}

bool hf__hash_get(hf__tx *tx, hf__record *record, hf_bytes field,
                  hf_bytes *value)
{
    hf__hash_entry at;

    if (record->form == HF__FORM_ELEMENTS)
        return hf__element_get(tx, record->keyid, field, value);
    if (record->form == HF__FORM_DEADLINES)
        return get_kept(tx, record, field, value);
    if (!find_entry(tx, record, field, &at))
        return false;
    *value = at.value;
    return true;
}

void hf__hash_get_several(hf__tx *tx, hf__record *record,
                          const hf_bytes *fields, size_t count,
                          hf_bytes *values)
{
    if (record->form == HF__FORM_ELEMENTS) {
        hf__elements_get(tx, record->keyid, fields, count, values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!hf__hash_get(tx, record, fields[i], &values[i]))
            values[i] = hf_view(NULL, 0);
    }
}

/* true: the field is new. */
static bool put_element(hf__tx *tx, hf__record *record, hf_bytes field,
                        hf_bytes value)
{
    hf_bytes old;
    bool existed = hf__element_get(tx, record->keyid, field, &old);

    hf__element_put(tx, record->keyid, field, value);
    hf__key_touch_watched(tx, record);
    if (!existed) {
        record->count++;
        hf__key_touch(tx, record);
        hf__deadlines_refresh(tx, record);
    }
    return !existed;
}

/* The same in a hash with deadlines; keeps the field's. */
static bool update_element(hf__tx *tx, hf__record *record, hf_bytes field,
                           hf_bytes value)
{
    bool passed = hf__deadline_passed(tx, record, field);

    if (passed)
        (void)hf__deadline_clear(tx, record, field);
    return put_element(tx, record, field, value) || passed;
}

bool hf__hash_update(hf__tx *tx, hf__record *record, hf_bytes field,
                     hf_bytes value)
{
    return record->form == HF__FORM_DEADLINES
               ? update_element(tx, record, field, value)
               : hf__hash_put(tx, record, field, value);
}

bool hf__hash_put(hf__tx *tx, hf__record *record, hf_bytes field,
                  hf_bytes value)
{
    size_t size = ENTRY_HEAD + field.size + value.size;
    unsigned char *room;
    hf__hash_entry at;
    bool existed;

    if (record->form == HF__FORM_ELEMENTS)
        return put_element(tx, record, field, value);
    if (record->form == HF__FORM_DEADLINES) {
        existed = !update_element(tx, record, field, value);
        (void)hf__deadline_clear(tx, record, field);
        return !existed;
    }
    existed = find_entry(tx, record, field, &at);
    if (!existed) {
        at.offset = record->content_size;
        at.size = 0;
    }
    if (record->content_size - at.size + size > HF__INLINE_MAX)
        return spread_fields(tx, record) &&
               put_element(tx, record, field, value);
    room = hf__content_splice(tx, record, at.offset, at.size, size);
    if (room == NULL)
        return false;
    write_entry(room, field, value);
    if (!existed)
        record->count++;
    return !existed;
}

static bool delete_element(hf__tx *tx, hf__record *record, hf_bytes field)
{
    hf_bytes old;

    /* One whose deadline has passed is left to hf__deadlines_reclaim(). */
    if (!hf__element_get(tx, record->keyid, field, &old) ||
        hf__deadline_passed(tx, record, field))
        return false;
    (void)hf__deadline_clear(tx, record, field);
    hf__element_delete(tx, record->keyid, field);
    hf__key_touch(tx, record);
    record->count--;
    hf__deadlines_refresh(tx, record);
    return true;
}

bool hf__hash_delete(hf__tx *tx, hf__record *record, hf_bytes field)
{
    hf__hash_entry at;

    if (record->form != HF__FORM_INLINE)
        return delete_element(tx, record, field);
    if (!find_entry(tx, record, field, &at) ||
        hf__content_splice(tx, record, at.offset, at.size, 0) == NULL)
        return false;
    record->count--;
    return true;
}

uint64_t hf__hash_count(hf__tx *tx, hf__record *record)
{
    return record->count - hf__deadlines_count_passed(tx, record);
}

bool hf__hash_is_empty(hf__tx *tx, hf__record *record)
{
    return record->count == 0 || hf__deadlines_all_passed(tx, record);
}

void hf__hash_expire(hf__tx *tx, hf__record *record, hf_bytes field,
                     int64_t expire_ms)
{
    if (record->form != HF__FORM_INLINE || spread_fields(tx, record))
        hf__deadline_set(tx, record, field, expire_ms);
}

static __attribute__((noinline)) bool open_kept(hf__tx *tx, hf__record *record)
{
    if (tx->writable)
        hf__deadlines_reclaim(tx, record);
    return tx->fatal == HF_OK;
}

bool hf__hash_open(hf__tx *tx, hf_bytes key, hf__record **record)
{
    *record = hf__key_find(tx, key);
    if (*record == NULL)
        return tx->fatal == HF_OK;
    if ((*record)->type != HF__TYPE_HASH)
        return hf__reply_wrong_type(tx);
    return (*record)->form != HF__FORM_DEADLINES || open_kept(tx, *record);
}

hf__record *hf__hash_make(hf__tx *tx, hf_bytes key)
{
    hf__record *record;

    if (!hf__hash_open(tx, key, &record))
        return NULL;
    return record != NULL ? record : hf__key_make(tx, key, HF__TYPE_HASH);
}

/* ------------------------------------------------------------------ walks */

void hf__hash_walk_begin(hf__hash_walk *walk, hf__tx *tx, hf__record *record)
{
    memset(walk, 0, sizeof(*walk));
    walk->small = record->form == HF__FORM_INLINE;
    if (!walk->small) {
        walk->record = hf__deadlines_passed(tx, record) ? record : NULL;
        (void)hf__walk_begin(&walk->walk, tx, HF__RECORD_ELEMENT,
                             record->keyid);
        return;
    }
    walk->content = hf__content(tx, record);
    walk->content_size = walk->content == NULL ? 0 : record->content_size;
}

bool hf__hash_walk_next(hf__hash_walk *walk, hf_bytes *field, hf_bytes *value)
{
    if (!walk->small) {
        while (hf__walk_next(&walk->walk, field, value, NULL)) {
            if (walk->record == NULL ||
                !hf__deadline_passed(walk->walk.tx, walk->record, *field))
                return true;
        }
        return false;
    }
    if (!next_entry(walk->content, walk->content_size, &walk->at))
        return false;
    *field = walk->at.field;
    *value = walk->at.value;
    return true;
}

void hf__hash_walk_end(hf__hash_walk *walk)
{
    if (!walk->small)
        hf__walk_end(&walk->walk);
}
