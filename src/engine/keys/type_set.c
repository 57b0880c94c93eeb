/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_set.c - storing sets.
 *
 * A small set is its members in a row (packed.h), in the order of creation.
 * Beyond HF__INLINE_MAX it gets one record per member, for good, like the order
 * of a sorted set whose scores are the members' hashes: so a random position is
 * found without a walk.
 */
#include "engine/keys/type_set.h"

#include <math.h>
#include <string.h>

#include "util/hash_bytes.h"
#include "util/rand.h"

/* Stored: never change the hash. So many bits fit a double and are 14 digits as
 * SSCAN's cursor, which Lua's numbers keep. */
#define HASH_SEED UINT64_C(0x686f6c6466617374)
#define HASH_FACTOR UINT64_C(0xff51afd7ed558ccd)
#define HASH_BITS 46

/* A member is drawn from so many neighbours: otherwise its probability would be
 * the gap before it, which varies as much as its mean. */
#define NEIGHBOURS 64u

double hf__set_position(hf_bytes member)
{
    uint64_t hash = hf__hash(member, HASH_SEED);

    hash = (hash ^ hash >> 33) * HASH_FACTOR;
    return (double)(hash >> (64 - HASH_BITS));
}

bool hf__set_open(hf__tx *tx, hf_bytes key, hf__record **record)
{
    return hf__key_of_type(tx, key, HF__TYPE_SET, record);
}

hf__record *hf__set_make(hf__tx *tx, hf_bytes key)
{
    hf__record *record;

    if (!hf__set_open(tx, key, &record))
        return NULL;
    return record != NULL ? record : hf__key_make(tx, key, HF__TYPE_SET);
}

static bool find_entry(hf__tx *tx, hf__record *record, hf_bytes member,
                       hf__packed *at)
{
    const unsigned char *content = hf__content(tx, record);

    memset(at, 0, sizeof(*at));
    if (content == NULL)
        return false;
    while (hf__packed_next(content, record->content_size, at)) {
        if (hf__bytes_same(at->text, member))
            return true;
    }
    return false;
}

bool hf__set_has(hf__tx *tx, hf__record *record, hf_bytes member)
{
    hf__packed at;

    if (record->form == HF__FORM_ELEMENTS)
        return hf__order_has(tx, record->keyid, hf__set_position(member),
                             member);
    return find_entry(tx, record, member, &at);
}

/* From entries to records. false: fatal. */
static bool spread_members(hf__tx *tx, hf__record *record)
{
    size_t size = record->content_size;
    const unsigned char *content = hf__content_edit(tx, record, size);
    hf__packed at = {0};

    if (content == NULL || !hf__elements_begin(tx, record))
        return false;
    while (hf__packed_next(content, size, &at))
        hf__order_put(tx, record->keyid, hf__set_position(at.text), at.text);
    return hf__content_set(tx, record, "", 0);
}

bool hf__set_add(hf__tx *tx, hf__record *record, hf_bytes member)
{
    if (hf__set_has(tx, record, member) || tx->fatal != HF_OK)
        return false;
    if (record->form == HF__FORM_INLINE &&
        !hf__packed_fits(record, 0, member.size) && !spread_members(tx, record))
        return false;
    if (record->form == HF__FORM_ELEMENTS)
        hf__order_put(tx, record->keyid, hf__set_position(member), member);
    else if (!hf__packed_put(tx, record, record->content_size, 0, member))
        return false;
    record->count++;
    hf__key_touch(tx, record);
    return true;
}

bool hf__set_remove(hf__tx *tx, hf__record *record, hf_bytes member)
{
    hf__packed at;

    if (record->form == HF__FORM_ELEMENTS) {
        double hash = hf__set_position(member);

        if (!hf__order_has(tx, record->keyid, hash, member))
            return false;
        hf__order_delete(tx, record->keyid, hash, member);
    } else {
        if (!find_entry(tx, record, member, &at))
            return false;
        hf__packed_cut(tx, record, at.offset, at.size);
    }
    record->count--;
    hf__key_touch(tx, record);
    return true;
}

/* ----------------------------------------------------------------- chance */

uint64_t hf__random_below(uint64_t bound)
{
    uint64_t number;

    hf__rand_bytes(&number, sizeof(number));
    return number % bound;
}

/* The next member of a large set, cyclically. */
static bool next_round(hf__walk *walk, hf__tx *tx, uint64_t keyid,
                       hf_bytes *member)
{
    if (hf__walk_next(walk, member, NULL, NULL))
        return true;
    hf__walk_end(walk);
    if (tx->fatal == HF_OK)
        (void)hf__walk_begin(walk, tx, HF__RECORD_ORDER, keyid);
    return hf__walk_next(walk, member, NULL, NULL);
}

static bool any_record(hf__tx *tx, const hf__record *record, hf_bytes *member)
{
    uint64_t steps = hf__random_below(record->count < NEIGHBOURS ? record->count
                                                                 : NEIGHBOURS);
    /* In a set of few members all are equally likely. */
    uint64_t start = record->count <= NEIGHBOURS
                         ? 0
                         : hf__random_below(UINT64_C(1) << HASH_BITS);
    hf__walk walk;
    bool found;

    (void)hf__walk_begin_at(&walk, tx, record->keyid, (double)start, false);
    do
        found = next_round(&walk, tx, record->keyid, member);
    while (found && steps-- > 0);
    hf__walk_end(&walk);
    return found;
}

static bool any_entry(hf__tx *tx, hf__record *record, hf_bytes *member)
{
    uint64_t steps = hf__random_below(record->count);
    const unsigned char *content = hf__content(tx, record);
    hf__packed at = {0};
    bool found;

    if (content == NULL)
        return false;
    do
        found = hf__packed_next(content, record->content_size, &at);
    while (found && steps-- > 0);
    *member = at.text;
    return found;
}

bool hf__set_any(hf__tx *tx, hf__record *record, hf_bytes *member)
{
    bool found = record->form == HF__FORM_ELEMENTS
                     ? any_record(tx, record, member)
                     : any_entry(tx, record, member);

    if (!found)
        hf__tx_fail(tx, MDB_CORRUPTED);
    return found;
}

bool hf__set_prefers_sampling(const hf__record *record, uint64_t count)
{
    return record->form == HF__FORM_ELEMENTS &&
           count <= record->count / NEIGHBOURS;
}

/* ------------------------------------------------------------------ walks */

void hf__set_walk_begin(hf__set_walk *walk, hf__tx *tx, hf__record *record)
{
    hf__set_walk_begin_at(walk, tx, record, 0);
}

void hf__set_walk_begin_at(hf__set_walk *walk, hf__tx *tx, hf__record *record,
                           uint64_t place)
{
    walk->small = record->form == HF__FORM_INLINE;
    walk->place = 0;
    memset(&walk->at, 0, sizeof(walk->at));
    if (!walk->small) {
        (void)hf__walk_begin_at(&walk->walk, tx, record->keyid, (double)place,
                                false);
        return;
    }
    walk->content = hf__content(tx, record);
    walk->content_size = walk->content == NULL ? 0 : record->content_size;
}

bool hf__set_walk_next(hf__set_walk *walk, hf_bytes *member)
{
    double hash;

    if (!walk->small) {
        if (!hf__walk_next(&walk->walk, member, NULL, &hash))
            return false;
        walk->place = (uint64_t)hash;
        return true;
    }
    if (!hf__packed_next(walk->content, walk->content_size, &walk->at))
        return false;
    *member = walk->at.text;
    return true;
}

void hf__set_walk_end(hf__set_walk *walk)
{
    if (!walk->small)
        hf__walk_end(&walk->walk);
}

bool hf__set_gather(hf__record *record, hf__packed_buf *buf)
{
    hf__set_walk walk;
    uint64_t left = record->count;
    hf_bytes member;

    hf__set_walk_begin(&walk, buf->tx, record);
    while (hf__set_walk_next(&walk, &member) && hf__packed_buf_add(buf, member))
        left--;
    hf__set_walk_end(&walk);
    if (left != 0)
        hf__tx_fail(buf->tx, MDB_CORRUPTED);
    return buf->tx->fatal == HF_OK;
}
