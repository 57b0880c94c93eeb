/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_records.c - checks that the records of a store fit together.
 *
 * Each record is checked by itself. Related records are not adjacent: the
 * elements of a large collection come before its key, the order of a sorted set
 * after it. So a table has one entry per key id, with counts and, for the two
 * indexes of a sorted set, the sums of their members' hashes, which do not
 * depend on the order. In the end each entry must have one key of a matching
 * type, or be a pending delete.
 */
#include <string.h>

#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/files/name.h"
#include "engine/files/sum.h"
#include "engine/fsck/fsck.h"
#include "engine/fsck/fsck_groups.h"
#include "engine/keys/score.h"
#include "engine/keys/type_set.h"
#include "engine/streams/stream_group.h"
#include "store/limits.h"
#include "util/hash_bytes.h"

#define PREFIX_SIZE 9u /* kind, keyid */
#define ORDER_SIZE 17u /* and the score */
#define LIST_SIZE 17u  /* and the number */
#define COUNT_SIZE 10u /* or the level */

void hf__fsck_drop_keys(hf__fsck *fsck)
{
    if (fsck->groups != NULL)
        hf__fsck_unmap(fsck->groups, fsck->groups->map_size);
    fsck->groups = NULL;
    hf__fsck_counts_drop(fsck);
}

/* ---------------------------------------------------------------- numbers */

static const unsigned char *name_of(const hf__item *item)
{
    return item->key.data;
}

static void tell_record(hf__fsck *fsck, hf__finding_code code,
                        const hf__item *item)
{
    hf__fsck_report(fsck, code, item->page, item->key, 0, 0);
}

/* ------------------------------------------------------------------- names */

/* A record's whole name after its first `head` bytes; a folded one is in the
 * value. false: damaged. */
static bool whole_name(const hf__item *item, size_t head, hf_bytes *name,
                       size_t *used)
{
    unsigned char folded[HF__LMDB_KEY_MAX];
    size_t room = HF__LMDB_KEY_MAX - head;
    uint32_t size;

    *name = hf_view(name_of(item) + head, item->key.size - head);
    *used = 0;
    if (item->key.size < HF__LMDB_KEY_MAX)
        return true;
    if (item->value_size < sizeof(size))
        return false;
    memcpy(&size, item->value, sizeof(size));
    if (size < room || size > item->value_size - sizeof(size))
        return false;
    *used = sizeof(size) + size;
    if (*used > item->value_held) /* longer than the API allows */
        return true;
    *name = hf_view(item->value + sizeof(size), size);
    return hf__name_fold(folded, room, *name) == room &&
           memcmp(folded, name_of(item) + head, room) == 0;
}

/* ---------------------------------------------------------------- elements */

static uint64_t member_sum(hf_bytes member, double score)
{
    return hf__hash(member, hf__order_of(score));
}

static void take_element(hf__fsck *fsck, const hf__item *item)
{
    hf_bytes name;
    size_t used;
    double score;
    hf__fsck_group *at;

    if (item->key.size < PREFIX_SIZE ||
        !whole_name(item, PREFIX_SIZE, &name, &used)) {
        tell_record(fsck, HF__FOUND_ELEMENT, item);
        return;
    }
    at = hf__fsck_group_of(fsck, hf__get_be64(name_of(item) + 1));
    if (at == NULL)
        return;
    at->element_count++;
    if (item->value_held == item->value_size)
        hf__fsck_stream_group(
            name, hf_view(item->value + used, item->value_size - used),
            &at->stream);
    if (item->value_size - used != sizeof(score)) {
        at->odd = true;
        return;
    }
    memcpy(&score, item->value + used, sizeof(score));
    at->odd = at->odd || !hf__is_score(score);
    at->element_sum += member_sum(name, score);
}

static void take_order(hf__fsck *fsck, const hf__item *item)
{
    hf_bytes name;
    size_t used;
    double score;
    hf__fsck_group *at;

    if (item->key.size < ORDER_SIZE ||
        !whole_name(item, ORDER_SIZE, &name, &used) ||
        used != item->value_size) {
        tell_record(fsck, HF__FOUND_ELEMENT, item);
        return;
    }
    at = hf__fsck_group_of(fsck, hf__get_be64(name_of(item) + 1));
    if (at == NULL)
        return;
    score = hf__score_of(hf__get_be64(name_of(item) + PREFIX_SIZE));
    at->order_count++;
    at->order_sum += member_sum(name, score);
    hf__fsck_counts_order(
        fsck, at->keyid,
        hf_view(name_of(item) + PREFIX_SIZE, item->key.size - PREFIX_SIZE));
    if (at->type == HF__TYPE_SET &&
        hf__order_of(score) != hf__order_of(hf__set_position(name)))
        at->wrong = true;
}

/* They come level by level, in order; the first has the empty position. */
static void take_count(hf__fsck *fsck, const hf__item *item)
{
    hf__count count;
    uint8_t level;
    hf__fsck_group *at;

    if (item->key.size < COUNT_SIZE || item->value_size != sizeof(count)) {
        tell_record(fsck, HF__FOUND_ELEMENT, item);
        return;
    }
    at = hf__fsck_group_of(fsck, hf__get_be64(name_of(item) + 1));
    if (at == NULL)
        return;
    level = name_of(item)[PREFIX_SIZE];
    if (level != at->level) {
        at->wrong_counts = at->wrong_counts || level != at->level + 1 ||
                           item->key.size != COUNT_SIZE;
        at->level = level;
        at->level_records = 0;
    }
    at->level_records++;
    memcpy(&count, item->value, sizeof(count));
    hf__fsck_counts_add(fsck, hf_view(name_of(item) + 1, item->key.size - 1),
                        count);
}

static void note_wrong_counts(hf__fsck *fsck, uint64_t keyid)
{
    hf__fsck_group *at = hf__fsck_group_of(fsck, keyid);

    if (at != NULL)
        at->wrong_counts = true;
}

/* Do the root and the counts of a sorted set fit together? */
static bool counts_fit(const hf__fsck_group *at)
{
    uint64_t top = at->level == 0 ? at->count : at->level_records;

    if (!at->has_counts)
        return at->level == 0;
    return !at->wrong_counts && at->root.levels == at->level &&
           at->root.children == top;
}

static bool is_chunk(const hf__item *item, uint64_t number)
{
    size_t size = item->value_size - HF__CHUNK_SUM;
    uint32_t sum;

    if (item->value_size <= HF__CHUNK_SUM || size > HF__STRING_CHUNK ||
        item->value_held < item->value_size)
        return false;
    memcpy(&sum, item->value, sizeof(sum));
    return sum == hf__sum_chunk(number, item->value + HF__CHUNK_SUM, size);
}

static void take_list(hf__fsck *fsck, const hf__item *item)
{
    uint64_t number;
    hf__fsck_group *at;

    if (item->key.size != LIST_SIZE) {
        tell_record(fsck, HF__FOUND_ELEMENT, item);
        return;
    }
    at = hf__fsck_group_of(fsck, hf__get_be64(name_of(item) + 1));
    if (at == NULL)
        return;
    number = hf__get_be64(name_of(item) + PREFIX_SIZE);
    if (at->list_count == 0)
        at->list_first = number;
    at->gap = at->gap || number != at->list_first + at->list_count;
    at->list_count++;
    at->list_last = number;
    at->no_chunks = at->no_chunks || !is_chunk(item, number);
    at->list_end = number * HF__STRING_CHUNK + item->value_size - HF__CHUNK_SUM;
}

static void take_stream(hf__fsck *fsck, const hf__item *item)
{
    hf__fsck_group *at;

    if (!hf__fsck_stream_is_named(item)) {
        tell_record(fsck, HF__FOUND_ELEMENT, item);
        return;
    }
    at = hf__fsck_group_of(fsck, hf__get_be64(name_of(item) + 1));
    if (at != NULL)
        hf__fsck_stream_add(item, &at->stream);
}

static void take_pending_delete(hf__fsck *fsck, const hf__item *item)
{
    uint64_t keyid;
    hf__fsck_group *at;

    if (item->key.size != PREFIX_SIZE || item->value_size != 0) {
        tell_record(fsck, HF__FOUND_RECORD_NAME, item);
        return;
    }
    memcpy(&keyid, name_of(item) + 1, sizeof(keyid));
    at = hf__fsck_group_of(fsck, keyid);
    if (at != NULL)
        at->pending_delete = true;
}

/* -------------------------------------------------------------------- keys */

/* The checksum of a key's record, as of hf__keyhead_sum(). false: I/O error. */
static bool sum_record(hf__fsck *fsck, hf__item *item, uint16_t *result)
{
    unsigned char *part = fsck->scratch;
    size_t done = item->value_held;
    uint64_t sum = hf__keyhead_sum(item->key, item->value, done);

    /* value_held is a multiple of HF__SUM_PART or the whole size. */
    while (done < item->value_size) {
        size_t size = item->value_size - done;

        if (size > HF__SUM_PART)
            size = HF__SUM_PART;
        if (!hf__fsck_value(fsck, item, done, part, size))
            return false;
        sum = hf__sum(sum, part, size);
        done += size;
    }
    *result = hf__sum_fold(sum);
    return true;
}

/* Does the record's name match its key? */
static bool is_named(const hf__item *item, const hf__keyhead *head)
{
    unsigned char folded[HF__LMDB_KEY_MAX];
    size_t room = HF__LMDB_KEY_MAX - 1;

    if (item->key.size < HF__LMDB_KEY_MAX)
        return head->key_size == 0;
    if (head->key_size < room ||
        head->key_size > item->value_size - HF__KEYHEAD_SIZE)
        return false;
    if (HF__KEYHEAD_SIZE + head->key_size > item->value_held)
        return true; /* longer than the API allows */
    return hf__name_fold(folded, room,
                         hf_view(item->value + HF__KEYHEAD_SIZE,
                                 head->key_size)) == room &&
           memcmp(folded, name_of(item) + 1, room) == 0;
}

/* NULL in *at: no memory. false: it belongs to another key. The second walk
 * finds what the first one has claimed. */
static bool claim_group(hf__fsck *fsck, const hf__item *item, uint64_t keyid,
                        uint8_t type, uint64_t count, hf__fsck_group **at)
{
    *at = hf__fsck_group_of(fsck, keyid);
    if (*at == NULL)
        return true;
    if ((*at)->type != 0)
        return fsck->again && (*at)->page == item->page &&
               (*at)->index == item->index;
    (*at)->type = type;
    (*at)->count = count;
    (*at)->page = item->page;
    (*at)->index = item->index;
    return true;
}

/* An entry of a key that has another one; what damages one damages both. */
static void join_keys(hf__fsck *fsck, uint64_t keyid, uint64_t other,
                      uint8_t code)
{
    hf__fsck_group *at = hf__fsck_group_of(fsck, keyid);

    if (at == NULL)
        return;
    at->other = other;
    if (code != HF__FOUND_NONE)
        at->code = code;
}

/* A hash with deadlines of fields, which are indexed like a sorted set. Earlier
 * versions wrote 0 for the first and last one if RESTORE had given them one
 * beyond 2^53; the next write of a field replaces it. */
static hf__finding_code take_deadlines(hf__fsck *fsck, const hf__item *item,
                                       const hf__keyhead *head,
                                       const unsigned char *content,
                                       size_t size)
{
    hf__deadlines fields;
    hf__fsck_group *at;

    if (head->type != HF__TYPE_HASH || size != sizeof(fields))
        return HF__FOUND_KEY_HEAD;
    memcpy(&fields, content, sizeof(fields));
    if (head->keyid >> HF__KEYID_BITS > fsck->meta.transaction ||
        fields.id >> HF__KEYID_BITS > fsck->meta.transaction ||
        fields.count > head->count || fields.first_ms < 0 ||
        fields.last_ms < 0 ||
        (fields.last_ms != 0 && fields.count != head->count))
        return HF__FOUND_KEY_HEAD;
    if (!claim_group(fsck, item, head->keyid, HF__TYPE_HASH, head->count, &at))
        return HF__FOUND_KEY_SHARED;
    if (!claim_group(fsck, item, fields.id, HF__TYPE_ZSET, fields.count, &at)) {
        join_keys(fsck, head->keyid, 0, HF__FOUND_KEY_SHARED);
        return HF__FOUND_KEY_SHARED;
    }
    join_keys(fsck, head->keyid, fields.id, HF__FOUND_NONE);
    join_keys(fsck, fields.id, head->keyid, HF__FOUND_NONE);
    return HF__FOUND_NONE;
}

static size_t content_size_of(uint8_t type)
{
    if (type == HF__TYPE_STREAM)
        return sizeof(hf__stream_head);
    if (type == HF__TYPE_STRING)
        return sizeof(hf__chunks);
    return type == HF__TYPE_LIST ? sizeof(uint64_t) : 0;
}

/* A key whose elements have records of their own. */
static hf__finding_code take_large_key(hf__fsck *fsck, const hf__item *item,
                                       const hf__keyhead *head,
                                       const unsigned char *content,
                                       size_t size)
{
    bool has_counts =
        head->type == HF__TYPE_ZSET && size == sizeof(hf__counts_root);
    hf__stream_head stream;
    hf__chunks chunks;
    hf__fsck_group *at;

    if (head->form == HF__FORM_DEADLINES)
        return take_deadlines(fsck, item, head, content, size);
    if ((head->type == HF__TYPE_STRING && !hf__is_value_size(head->count)) ||
        (!has_counts && size != content_size_of(head->type)) ||
        head->keyid >> HF__KEYID_BITS > fsck->meta.transaction)
        return HF__FOUND_KEY_HEAD;
    if (!claim_group(fsck, item, head->keyid, head->type, head->count, &at))
        return HF__FOUND_KEY_SHARED;
    if (at != NULL && head->type == HF__TYPE_LIST)
        memcpy(&at->first, content, sizeof(at->first));
    if (at != NULL && head->type == HF__TYPE_STRING) {
        memcpy(&chunks, content, sizeof(chunks));
        at->count = chunks.count;
        at->first = head->count;
    }
    if (at != NULL && head->type == HF__TYPE_STREAM) {
        memcpy(&stream, content, sizeof(stream));
        at->first = stream.packs;
    }
    if (at != NULL && has_counts) {
        memcpy(&at->root, content, sizeof(at->root));
        at->has_counts = true;
    }
    return HF__FOUND_NONE;
}

static hf__finding_code judge_key(hf__fsck *fsck, hf__item *item, hf_bytes key)
{
    hf__keyhead head;
    size_t used;
    uint16_t sum;

    if (item->value_size < HF__KEYHEAD_SIZE)
        return HF__FOUND_KEY_HEAD;
    hf__keyhead_read(&head, item->value);
    if (!sum_record(fsck, item, &sum))
        return HF__FOUND_NONE;
    if (sum != head.sum)
        return HF__FOUND_KEY_SUM;
    if (!is_named(item, &head))
        return HF__FOUND_KEY_LONG;
    used = HF__KEYHEAD_SIZE + head.key_size;
    if (head.type < HF__TYPE_STRING || head.type > HF__TYPE_STREAM ||
        head.form > HF__FORM_DEADLINES) {
        hf__fsck_report(fsck, HF__FOUND_KEY_TYPE, item->page, key, head.type,
                        head.form);
        return HF__FOUND_NONE;
    }
    if (head.form != HF__FORM_INLINE)
        return take_large_key(fsck, item, &head, item->value + used,
                              item->value_size - used);
    if (head.keyid != 0 || head.type == HF__TYPE_STREAM)
        return HF__FOUND_KEY_HEAD;
    if (head.type == HF__TYPE_STRING)
        return head.count == 0 ? HF__FOUND_NONE : HF__FOUND_KEY_HEAD;
    if (item->value_size > item->value_held)
        return HF__FOUND_KEY_CONTENT; /* too large for a small one */
    (void)hf__fsck_content(fsck, key, head.type, item->value + used,
                           item->value_size - used, head.count);
    return HF__FOUND_NONE;
}

static void take_key(hf__fsck *fsck, hf__item *item)
{
    hf_bytes key = hf_view(name_of(item) + 1, item->key.size - 1);
    hf__finding_code code = judge_key(fsck, item, key);

    if (code != HF__FOUND_NONE)
        hf__fsck_report(fsck, code, item->page, key, 0, 0);
}

void hf__fsck_record(hf__fsck *fsck, hf__item *item)
{
    unsigned char kind = name_of(item)[0];

    if (hf__kind_is_key(kind)) {
        take_key(fsck, item);
        return;
    }
    switch (kind) {
    case HF__RECORD_HEADER: /* was checked first */
        if (item->key.size != 1)
            tell_record(fsck, HF__FOUND_RECORD_NAME, item);
        break;
    case HF__RECORD_FUNCTIONS:
        if (!hf__fsck_functions(fsck, item))
            tell_record(fsck, HF__FOUND_FUNCTIONS, item);
        break;
    case HF__RECORD_ELEMENT:
        take_element(fsck, item);
        break;
    case HF__RECORD_ORDER:
        take_order(fsck, item);
        break;
    case HF__RECORD_COUNT:
        take_count(fsck, item);
        break;
    case HF__RECORD_LIST:
        take_list(fsck, item);
        break;
    case HF__RECORD_STREAM:
        take_stream(fsck, item);
        break;
    case HF__RECORD_PENDING_DELETE:
        take_pending_delete(fsck, item);
        break;
    default:
        tell_record(fsck, HF__FOUND_RECORD_KIND, item);
    }
}

/* -------------------------------------------------------------- all of them */

/* The number of elements in the type's own index; there must be no others. */
static uint64_t count_of(const hf__fsck_group *at, bool *others)
{
    if (at->type == HF__TYPE_STREAM) { /* its groups are elements */
        *others = at->order_count + at->list_count > 0;
        return at->stream.entries;
    }
    if (at->stream.records > 0) {
        *others = true;
        return at->count;
    }
    switch (at->type) {
    case HF__TYPE_HASH:
        *others = at->order_count + at->list_count > 0;
        return at->element_count;
    case HF__TYPE_LIST:
    case HF__TYPE_STRING:
        *others = at->element_count + at->order_count > 0;
        return at->list_count;
    case HF__TYPE_SET:
        *others = at->element_count + at->list_count > 0;
        return at->order_count;
    default: /* a sorted set */
        *others = at->list_count > 0;
        return at->order_count;
    }
}

static void tell_group(hf__fsck *fsck, hf__fsck_group *at,
                       hf__finding_code code, uint64_t a, uint64_t b)
{
    unsigned char name[HF__FINDING_KEY_MAX + 1];
    size_t size =
        hf__fsck_key_at(fsck, at->page, at->index, name, sizeof(name));

    at->code = (uint8_t)code;
    at->a = a;
    at->b = b;
    hf__fsck_report(fsck, code, at->page,
                    hf_view(name + 1, size > 0 ? size - 1 : 0), a, b);
}

/* Are the chunks undamaged, and within the string? */
static bool chunks_fit(const hf__fsck_group *at)
{
    return at->type != HF__TYPE_STRING ||
           (!at->no_chunks &&
            at->list_last < at->first / HF__STRING_CHUNK + 1 &&
            at->list_end <= at->first);
}

/* It may be empty. */
static void judge_stream(hf__fsck *fsck, hf__fsck_group *at)
{
    if (at->stream.bent || !hf__fsck_stream_agrees(&at->stream))
        tell_group(fsck, at, HF__FOUND_KEY_INDEX, 0, 0);
    else if (at->stream.entries != at->count || at->stream.packs != at->first)
        tell_group(fsck, at, HF__FOUND_KEY_COUNT, at->stream.entries,
                   at->count);
}

static void judge_group(hf__fsck *fsck, hf__fsck_group *at)
{
    uint64_t elements = at->element_count + at->order_count + at->list_count +
                        at->level_records + at->stream.records;
    bool others = false;
    uint64_t count = count_of(at, &others);

    if (at->type == 0) {
        if (!at->pending_delete && elements > 0)
            hf__fsck_report(fsck, HF__FOUND_NO_KEY, 0, hf_view(NULL, 0),
                            elements, at->keyid);
        return;
    }
    if (at->pending_delete)
        tell_group(fsck, at, HF__FOUND_KEY_DELETED, 0, 0);
    if (others)
        tell_group(fsck, at, HF__FOUND_KEY_ELEMENT, 0, 0);
    if (at->type == HF__TYPE_STREAM)
        judge_stream(fsck, at);
    else if (count == 0 && at->count == 0)
        tell_group(fsck, at, HF__FOUND_KEY_EMPTY, 0, 0);
    else if (count != at->count || count == 0)
        tell_group(fsck, at, HF__FOUND_KEY_COUNT, count, at->count);
    else if (at->type == HF__TYPE_ZSET &&
             (at->odd || at->element_count != count ||
              at->element_sum != at->order_sum))
        tell_group(fsck, at, HF__FOUND_KEY_INDEX, 0, 0);
    else if (!counts_fit(at))
        tell_group(fsck, at, HF__FOUND_KEY_COUNTS, 0, 0);
    else if (at->type == HF__TYPE_LIST &&
             (at->gap || at->list_first != at->first))
        tell_group(fsck, at, HF__FOUND_LIST_GAP, 0, 0);
    else if (!chunks_fit(at))
        tell_group(fsck, at, HF__FOUND_KEY_CHUNKS, 0, 0);
    else if (at->wrong)
        tell_group(fsck, at, HF__FOUND_KEY_INDEX, 0, 0);
}

void hf__fsck_compare(hf__fsck *fsck)
{
    struct hf__groups *groups;

    hf__fsck_counts_end(fsck, note_wrong_counts);
    groups = fsck->groups;
    for (uint64_t i = 0; groups != NULL && i < groups->capacity; i++) {
        if (groups->entries[i].taken)
            judge_group(fsck, &groups->entries[i]);
    }
}

/* ------------------------------------------------------------ what is intact
 */

/* What is wrong with the elements of this id? */
static void judge_elements(hf__fsck *fsck, uint64_t keyid, hf__finding *why)
{
    const hf__fsck_group *at = hf__fsck_group_of(fsck, keyid);
    const hf__fsck_group *other = at;

    if (at == NULL)
        return;
    if (at->code == HF__FOUND_NONE && at->other != 0)
        other = hf__fsck_group_of(fsck, at->other);
    if (other == NULL)
        return;
    why->code = other->type != 0 ? other->code : HF__FOUND_NO_KEY;
    why->a = other->a;
    why->b = other->b;
}

static void keep_key(hf__fsck *fsck, hf__item *item)
{
    hf_bytes key = hf_view(name_of(item) + 1, item->key.size - 1);
    hf__keyhead head;

    hf__finding_code code;

    fsck->last = (hf__finding){.code = HF__FOUND_NONE};
    code = judge_key(fsck, item, key);
    if (code != HF__FOUND_NONE)
        fsck->last.code = code;
    if (fsck->last.code == HF__FOUND_NONE) {
        hf__keyhead_read(&head, item->value);
        if (head.form != HF__FORM_INLINE)
            judge_elements(fsck, head.keyid, &fsck->last);
    }
    fsck->keep(fsck, item, &fsck->last);
}

static void keep_element(hf__fsck *fsck, hf__item *item, size_t head)
{
    unsigned char kind = name_of(item)[0];
    hf__finding why = {.code = HF__FOUND_NONE};
    hf_bytes name;
    size_t used;

    if (item->key.size < head ||
        (kind != HF__RECORD_LIST && kind != HF__RECORD_COUNT &&
         !whole_name(item, head, &name, &used)))
        return;
    judge_elements(fsck, hf__get_be64(name_of(item) + 1), &why);
    if (why.code == HF__FOUND_NONE)
        fsck->keep(fsck, item, &why);
}

void hf__fsck_keep(hf__fsck *fsck, hf__item *item)
{
    static const hf__finding nothing = {.code = HF__FOUND_NONE};
    unsigned char kind = name_of(item)[0];

    if (hf__kind_is_key(kind)) {
        keep_key(fsck, item);
        return;
    }
    switch (kind) {
    case HF__RECORD_HEADER:
        if (item->key.size == 1)
            fsck->keep(fsck, item, &nothing);
        break;
    case HF__RECORD_FUNCTIONS:
        if (hf__fsck_functions(fsck, item))
            fsck->keep(fsck, item, &nothing);
        break;
    case HF__RECORD_ELEMENT:
        keep_element(fsck, item, PREFIX_SIZE);
        break;
    case HF__RECORD_ORDER:
        keep_element(fsck, item, ORDER_SIZE);
        break;
    case HF__RECORD_COUNT:
        keep_element(fsck, item, COUNT_SIZE);
        break;
    case HF__RECORD_LIST:
        keep_element(fsck, item, LIST_SIZE);
        break;
    case HF__RECORD_STREAM:
        keep_element(fsck, item, HF__STREAM_PREFIX);
        break;
    default: /* what is being deleted */
        break;
    }
}
