/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_zset.c - storing sorted sets.
 *
 * A small set is one string of sorted entries: f64 score, u32 size, member.
 * Beyond HF__INLINE_MAX it gets two records per member, for good: by member and
 * by order. The latter are sorted up to HF__ORDER_KEPT bytes of the members: a
 * walk collects those that are equal so far and sorts them. Above the order are
 * counts (counts.c), by which a rank is found.
 */
#include "engine/keys/type_zset.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engine/keys/command_reply.h"
#include "engine/keys/counts.h"
#include "engine/keys/packed.h"
#include "engine/keys/score.h"

#define ENTRY_HEAD 12u
#define SCORE_SIZE 8u /* of a position */

typedef struct zset_entry {
    size_t offset;
    size_t size;
    double score;
    hf_bytes member;
} zset_entry;

/* As next_entry() of type_hash.c. */
static bool next_entry(const unsigned char *content, size_t size,
                       zset_entry *at)
{
    size_t offset = at->offset + at->size;
    uint32_t member_size;

    if (size - offset < ENTRY_HEAD)
        return false;
    memcpy(&at->score, content + offset, 8);
    memcpy(&member_size, content + offset + 8, 4);
    if (member_size > size - offset - ENTRY_HEAD)
        return false;
    at->offset = offset;
    at->size = ENTRY_HEAD + member_size;
    at->member = hf_view(content + offset + ENTRY_HEAD, member_size);
    return true;
}

/* Does (score, member) come before the entry? */
static bool comes_before(double score, hf_bytes member, const zset_entry *at)
{
    if (score < at->score || score > at->score)
        return score < at->score;
    return hf__bytes_compare(member, at->member) < 0;
}

static bool is_at_or_before(double score, hf_bytes member, const zset_entry *at)
{
    return comes_before(score, member, at) ||
           (score <= at->score && hf__bytes_same(member, at->member));
}

bool hf__zset_open(hf__tx *tx, hf_bytes key, hf__record **record)
{
    return hf__key_of_type(tx, key, HF__TYPE_ZSET, record);
}

static bool find_entry(hf__tx *tx, hf__record *record, hf_bytes member,
                       zset_entry *at)
{
    const unsigned char *content = hf__content(tx, record);

    memset(at, 0, sizeof(*at));
    if (content == NULL)
        return false;
    while (next_entry(content, record->content_size, at)) {
        if (hf__bytes_same(at->member, member))
            return true;
    }
    return false;
}

/* Of an element. false: damaged. */
static bool read_score(hf__tx *tx, hf_bytes value, double *score)
{
    if (value.size != sizeof(*score)) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(score, value.data, sizeof(*score));
    return true;
}

bool hf__zset_score(hf__tx *tx, hf__record *record, hf_bytes member,
                    double *score)
{
    hf_bytes value;
    zset_entry at;

    if (record->form == HF__FORM_ELEMENTS)
        return hf__element_get(tx, record->keyid, member, &value) &&
               read_score(tx, value, score);
    if (!find_entry(tx, record, member, &at))
        return false;
    *score = at.score;
    return true;
}

void hf__zset_scores(hf__tx *tx, hf__record *record, const hf_bytes *members,
                     size_t count, double *scores)
{
    hf_bytes values[HF__ELEMENTS_FEW];
    bool large = record->form == HF__FORM_ELEMENTS;

    assert(count <= HF__ELEMENTS_FEW);
    if (large)
        hf__elements_get(tx, record->keyid, members, count, values);
    for (size_t i = 0; i < count; i++) {
        bool found = large ? values[i].data != NULL &&
                                 read_score(tx, values[i], &scores[i])
                           : hf__zset_score(tx, record, members[i], &scores[i]);

        if (!found)
            scores[i] = NAN;
    }
}

/* Unless an earlier version's program shares the store. false: fatal. */
static bool have_counts(hf__tx *tx, hf__record *record)
{
    return hf__counts_exist(record) || hf__counts_begin(tx, record);
}

/* All but the element. */
static void put_order(hf__tx *tx, hf__record *record, hf_bytes member,
                      double score)
{
    hf__position position;

    hf__position_of(&position, score, member);
    hf__order_put(tx, record->keyid, score, member);
    record->count++;
    hf__counts_change(tx, record, &position, 1);
}

static void put_records(hf__tx *tx, hf__record *record, hf_bytes member,
                        double score)
{
    hf__element_put(tx, record->keyid, member, hf_view(&score, sizeof(score)));
    put_order(tx, record, member, score);
}

static void delete_records(hf__tx *tx, hf__record *record, hf_bytes member,
                           double score)
{
    hf__position position;

    /* Before the first write: `member` may be in LMDB's map. */
    hf__position_of(&position, score, member);
    hf__member_delete(tx, record->keyid, score, member);
    record->count--;
    hf__counts_change(tx, record, &position, -1);
}

/* From entries to records. false: fatal. */
static bool spread_members(hf__tx *tx, hf__record *record)
{
    size_t size = record->content_size;
    const unsigned char *content = hf__content(tx, record);
    unsigned char *copy = hf__tx_alloc(tx, size);
    zset_entry at = {0};

    if (content == NULL || copy == NULL || !hf__elements_begin(tx, record))
        return false;
    memcpy(copy, content, size);
    record->count = 0;
    if (!hf__counts_begin(tx, record))
        return false;
    while (tx->fatal == HF_OK && next_entry(copy, size, &at))
        put_records(tx, record, at.member, at.score);
    return tx->fatal == HF_OK;
}

/* Insert the entry in order. */
static void insert_entry(hf__tx *tx, hf__record *record, hf_bytes member,
                         double score)
{
    size_t old = record->content_size;
    size_t size = ENTRY_HEAD + member.size;
    uint32_t member_size = (uint32_t)member.size;
    unsigned char *content = hf__content_edit(tx, record, old + size);
    zset_entry at = {0};
    size_t offset;

    if (content == NULL)
        return;
    while (next_entry(content, old, &at) && !comes_before(score, member, &at))
        continue;
    /* At the end, unless the loop stopped at a larger one. */
    offset = at.offset + at.size;
    if (at.size > 0 && comes_before(score, member, &at))
        offset = at.offset;
    memmove(content + offset + size, content + offset, old - offset);
    memcpy(content + offset, &score, 8);
    memcpy(content + offset + 8, &member_size, 4);
    if (member.size > 0)
        memcpy(content + offset + ENTRY_HEAD, member.data, member.size);
}

void hf__zset_add(hf__tx *tx, hf__record *record, hf_bytes member, double score)
{
    size_t size = ENTRY_HEAD + member.size;

    score += 0.0; /* -0 becomes 0, to sort as equal */
    if (record->form == HF__FORM_INLINE &&
        record->content_size + size > HF__INLINE_MAX &&
        !spread_members(tx, record))
        return;
    if (record->form == HF__FORM_INLINE) {
        insert_entry(tx, record, member, score);
        record->count++;
    } else if (have_counts(tx, record)) {
        put_records(tx, record, member, score);
    }
    hf__key_touch(tx, record);
}

/* One with counts, of which LMDB is asked once. */
static bool add_element(hf__tx *tx, hf__record *record, hf_bytes member,
                        double score, double *old)
{
    hf_bytes value;

    score += 0.0; /* as above */
    if (!hf__element_add(tx, record->keyid, member,
                         hf_view(&score, sizeof(score)), &value)) {
        if (tx->fatal == HF_OK)
            (void)read_score(tx, value, old);
        return false;
    }
    put_order(tx, record, member, score);
    hf__key_touch(tx, record);
    return tx->fatal == HF_OK;
}

bool hf__zset_add_new(hf__tx *tx, hf__record *record, hf_bytes member,
                      double score, double *old)
{
    if (hf__counts_exist(record))
        return add_element(tx, record, member, score, old);
    if (hf__zset_score(tx, record, member, old) || tx->fatal != HF_OK)
        return false;
    hf__zset_add(tx, record, member, score);
    return tx->fatal == HF_OK;
}

void hf__zset_remove(hf__tx *tx, hf__record *record, hf_bytes member,
                     double score)
{
    zset_entry at;

    if (record->form == HF__FORM_ELEMENTS) {
        if (have_counts(tx, record))
            delete_records(tx, record, member, score);
    } else if (find_entry(tx, record, member, &at) &&
               hf__content_splice(tx, record, at.offset, at.size, 0) != NULL) {
        record->count--;
    }
    hf__key_touch(tx, record);
}

bool hf__zset_take(hf__tx *tx, hf__record *record, hf_bytes member)
{
    hf__position position;
    double score;

    if (record->form == HF__FORM_INLINE) {
        if (!hf__zset_score(tx, record, member, &score))
            return false;
        hf__zset_remove(tx, record, member, score);
        return true;
    }
    if (!hf__element_take(tx, record->keyid, member, &score, sizeof(score)) ||
        !have_counts(tx, record))
        return false;
    hf__position_of(&position, score, member);
    hf__order_delete(tx, record->keyid, score, member);
    record->count--;
    hf__counts_change(tx, record, &position, -1);
    hf__key_touch(tx, record);
    return true;
}

void hf__zset_move(hf__tx *tx, hf__record *record, hf_bytes member, double old,
                   double score)
{
    hf__position from;

    if (record->form == HF__FORM_INLINE) {
        hf__zset_remove(tx, record, member, old);
        hf__zset_add(tx, record, member, score);
        return;
    }
    if (!have_counts(tx, record))
        return;
    hf__position_of(&from, old, member);
    hf__order_delete(tx, record->keyid, old, member);
    record->count--;
    hf__counts_change(tx, record, &from, -1);
    put_records(tx, record, member, score + 0.0);
    hf__key_touch(tx, record);
}

/* ------------------------------------------------------------------ walks */

static bool in_reach(double score, double from, bool backward)
{
    return backward ? score <= from : score >= from;
}

static void list_entries(hf__zset_walk *walk, size_t size, double from)
{
    zset_entry at = {0};

    while (walk->count < HF__SORTED_INLINE_MAX &&
           next_entry(walk->content, size, &at)) {
        if (in_reach(at.score, from, walk->backward))
            walk->offsets[walk->count++] = (uint16_t)at.offset;
    }
}

static void begin_walk(hf__zset_walk *walk, hf__tx *tx,
                       const hf__record *record, bool backward)
{
    walk->small = record->form == HF__FORM_INLINE;
    walk->backward = backward;
    walk->count = 0;
    walk->next = 0;
    hf__members_init(&walk->run, tx);
    walk->run_next = 0;
    walk->has_ahead = false;
}

void hf__zset_walk_begin(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                         double from, bool backward)
{
    begin_walk(walk, tx, record, backward);
    if (!walk->small) {
        (void)hf__walk_begin_at(&walk->walk, tx, record->keyid, from, backward);
        return;
    }
    walk->content = hf__content(tx, record);
    if (walk->content != NULL)
        list_entries(walk, record->content_size, from);
}

void hf__zset_walk_begin_at(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                            double score, hf_bytes member, bool backward)
{
    if (record->form == HF__FORM_INLINE) {
        hf__zset_walk_begin(walk, tx, record, score, backward);
        return;
    }
    begin_walk(walk, tx, record, backward);
    (void)hf__walk_begin_member(&walk->walk, tx, record->keyid, score, member,
                                backward);
}

static bool next_small(hf__zset_walk *walk, hf_bytes *member, double *score)
{
    uint32_t size;
    const unsigned char *at;

    if (walk->next == walk->count)
        return false;
    at = walk->content;
    at += walk->offsets[walk->backward ? walk->count - 1 - walk->next
                                       : walk->next];
    walk->next++;
    memcpy(score, at, 8);
    memcpy(&size, at + 8, 4);
    *member = hf_view(at + ENTRY_HEAD, size);
    return true;
}

static bool is_alike(const hf__zset_walk *walk, hf_bytes member, double score)
{
    return walk->ahead.size >= HF__ORDER_KEPT &&
           memcmp(walk->ahead.data, member.data, HF__ORDER_KEPT) == 0 &&
           walk->ahead_score <= score && walk->ahead_score >= score;
}

static bool next_of_run(hf__zset_walk *walk, hf_bytes *member, double *score)
{
    const hf__members *run = &walk->run;
    size_t at;

    if (walk->run_next == run->count)
        return false;
    at = walk->backward ? run->count - 1 - walk->run_next : walk->run_next;
    walk->run_next++;
    *member = run->items[at].name;
    *score = run->items[at].score;
    return true;
}

/* Read those equal to this one so far, mostly none, and the one after them. */
static bool gather_run(hf__zset_walk *walk, hf_bytes *member, double *score)
{
    walk->run.count = 0;
    walk->run_next = 0;
    while ((walk->has_ahead = hf__walk_next(&walk->walk, &walk->ahead, NULL,
                                            &walk->ahead_score)) &&
           is_alike(walk, *member, *score)) {
        if (walk->run.count == 0 &&
            !hf__members_refer(&walk->run, *member, *score))
            return false;
        if (!hf__members_refer(&walk->run, walk->ahead, walk->ahead_score))
            return false;
    }
    if (walk->run.count == 0)
        return true;
    hf__members_sort_names(&walk->run);
    return next_of_run(walk, member, score);
}

static bool next_large(hf__zset_walk *walk, hf_bytes *member, double *score)
{
    if (next_of_run(walk, member, score))
        return true;
    if (walk->has_ahead) {
        *member = walk->ahead;
        *score = walk->ahead_score;
        walk->has_ahead = false;
    } else if (!hf__walk_next(&walk->walk, member, NULL, score)) {
        return false;
    }
    if (member->size < HF__ORDER_KEPT)
        return true;
    return gather_run(walk, member, score);
}

bool hf__zset_walk_next(hf__zset_walk *walk, hf_bytes *member, double *score)
{
    return walk->small ? next_small(walk, member, score)
                       : next_large(walk, member, score);
}

void hf__zset_walk_end(hf__zset_walk *walk)
{
    if (!walk->small)
        hf__walk_end(&walk->walk);
}

/* ------------------------------------------------------------------ ranks */

/* Where all begin that have the beginning of the position's member, if that is
 * so long that their records are not sorted. */
static bool begin_of_run(const hf__position *position, hf__position *run)
{
    *run = *position;
    if (position->size < SCORE_SIZE + HF__ORDER_KEPT)
        return false;
    run->size = SCORE_SIZE + HF__ORDER_KEPT;
    return true;
}

uint64_t hf__zset_rank(hf__tx *tx, hf__record *record, double score,
                       hf_bytes member)
{
    zset_entry other = {0};
    hf__position position;
    hf__zset_walk walk;
    uint64_t rank = 0;

    if (hf__counts_exist(record)) {
        hf__position_of(&position, score, member);
        (void)begin_of_run(&position, &position);
        rank = hf__counts_before(tx, record, &position);
        if (member.size < HF__ORDER_KEPT)
            return rank;
        hf__zset_walk_begin_at(&walk, tx, record, score, member, false);
    } else {
        hf__zset_walk_begin(&walk, tx, record, -INFINITY, false);
    }
    while (hf__zset_walk_next(&walk, &other.member, &other.score) &&
           !is_at_or_before(score, member, &other))
        rank++;
    hf__zset_walk_end(&walk);
    return rank;
}

/* Begin at the member of this index, or in its run. Returns how many are to be
 * skipped. */
static uint64_t begin_index(hf__zset_walk *walk, hf__tx *tx, hf__record *record,
                            uint64_t index, bool backward)
{
    hf__position position, run;
    hf_bytes member;
    double score;
    uint64_t edge = index;

    if (!hf__counts_find(tx, record, index, &position) ||
        position.size < SCORE_SIZE)
        position.size = SCORE_SIZE; /* fatal */
    if (begin_of_run(&position, &run)) {
        if (backward) { /* its end */
            memset(run.bytes + run.size, 0xff, sizeof(run.bytes) - run.size);
            run.size = sizeof(run.bytes);
        }
        edge = hf__counts_before(tx, record, &run) - (backward ? 1 : 0);
    }
    score = hf__score_of(hf__get_be64(position.bytes));
    member = hf_view(position.bytes + SCORE_SIZE, position.size - SCORE_SIZE);
    hf__zset_walk_begin_at(walk, tx, record, score, member, backward);
    return backward ? edge - index : index - edge;
}

void hf__zset_walk_begin_rank(hf__zset_walk *walk, hf__tx *tx,
                              hf__record *record, uint64_t rank, bool backward)
{
    uint64_t skip = rank;
    hf_bytes member;
    double score;

    if (rank >= HF__ZSET_NEAR && rank < record->count &&
        hf__counts_exist(record))
        skip =
            begin_index(walk, tx, record,
                        backward ? record->count - 1 - rank : rank, backward);
    else
        hf__zset_walk_begin(walk, tx, record, backward ? INFINITY : -INFINITY,
                            backward);
    while (skip > 0 && hf__zset_walk_next(walk, &member, &score))
        skip--;
}

void hf__members_store(const hf__members *list, hf_bytes key)
{
    hf__tx *tx = list->tx;
    hf__record *record;

    if (list->count == 0) {
        record = hf__key_find(tx, key);
        if (record != NULL)
            hf__key_delete(tx, record);
    } else {
        record = hf__key_make(tx, key, HF__TYPE_ZSET);
        for (size_t i = 0;
             record != NULL && i < list->count && tx->fatal == HF_OK; i++)
            hf__zset_add(tx, record, list->items[i].name, list->items[i].score);
    }
    hf__reply_integer(tx, (int64_t)list->count);
}
