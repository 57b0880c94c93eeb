/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c - the counts of a large sorted set's order: a tree above it.
 *
 * Level 0 is the order, a record for each member. A count, a record of level 1
 * or above, is of all records of the level below from its own position up to
 * the next count's of its level: how many they are (`children`) and how many
 * members they have. The first count of a level has the empty position. Nothing
 * names the parent of a record: it is the last one of the level above that is
 * not behind it. The root is the content of the key's record, its members are
 * record->count.
 *
 *  - A count with more than CHILDREN_MAX children is split: half as many as it
 *    may have remain, the rest get a count of their own at the position of the
 *    first of them. If the root has too many, there is one more level.
 *  - One with fewer than CHILDREN_LEAST is joined to the one before it, which
 *    may have another parent. A root with one child takes its children.
 *
 * A set of an earlier version begins with a root that has all its members as
 * children. Splitting it takes a part off the front and leaves the rest too
 * large: it is `behind`, and each change takes a few more parts off.
 */
#include "engine/keys/counts.h"

#include <string.h>

#include "engine/files/header.h"
#include "engine/files/keyhead.h"

#define PREFIX_SIZE 9u /* kind, keyid */
#define HEAD_SIZE 10u  /* and the level */
/* Of a count: one byte less than of an order, the last digit of a folded
 * name. */
#define POSITION_MAX (HF__LMDB_KEY_MAX - HEAD_SIZE)

/* A query walks about as many records, 20 ns each; a change writes one record
 * for each level, which is one up to some 150 000 members */
#define CHILDREN_MAX 512u
#define CHILDREN_LEAST (CHILDREN_MAX / 4)

/* Parts taken off an earlier version's set with each change: some 50 us. */
#define PARTS_EACH 8u

/* Levels can only be more if the record is damaged. */
#define LEVEL_MAX 32u

typedef struct tree {
    hf__tx *tx;
    hf__record *record;
    hf__counts_root root;
    MDB_cursor *cursor;
    MDB_val key; /* where the cursor is */
    MDB_val value;
} tree;

static void fail_damaged(tree *at)
{
    hf__tx_fail(at->tx, MDB_CORRUPTED);
}

bool hf__counts_exist(const hf__record *record)
{
    return record->type == HF__TYPE_ZSET && record->form == HF__FORM_ELEMENTS &&
           record->content_size == sizeof(hf__counts_root);
}

static bool open_tree(tree *at, hf__tx *tx, hf__record *record)
{
    const unsigned char *content = hf__content(tx, record);
    int rc;

    memset(at, 0, sizeof(*at));
    at->tx = tx;
    at->record = record;
    if (content == NULL || tx->fatal != HF_OK)
        return false;
    memcpy(&at->root, content, sizeof(at->root));
    if (at->root.levels > LEVEL_MAX) {
        fail_damaged(at);
        return false;
    }
    rc = mdb_cursor_open(tx->txn, tx->env->dbi, &at->cursor);
    if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    return rc == MDB_SUCCESS;
}

static void close_tree(tree *at)
{
    mdb_cursor_close(at->cursor);
}

/* ---------------------------------------------------------------- records */

static size_t head_size(uint32_t level)
{
    return level == 0 ? PREFIX_SIZE : HEAD_SIZE;
}

/* The name of a record of this level; returns its size. */
static size_t name_record(const tree *at, uint32_t level,
                          const hf__position *position,
                          unsigned char name[HF__LMDB_KEY_MAX])
{
    size_t head = head_size(level);
    size_t size = position->size;

    if (size > HF__LMDB_KEY_MAX - head)
        size = HF__LMDB_KEY_MAX - head;
    name[0] = level == 0 ? HF__RECORD_ORDER : HF__RECORD_COUNT;
    hf__put_be64(name + 1, at->record->keyid);
    if (level > 0)
        name[PREFIX_SIZE] = (unsigned char)level;
    memcpy(name + head, position->bytes, size);
    return head + size;
}

/* Is the cursor at a record of the level of `name`? */
static bool is_level(const tree *at, uint32_t level, const unsigned char *name)
{
    return at->key.mv_size >= head_size(level) &&
           memcmp(at->key.mv_data, name, head_size(level)) == 0;
}

/* false: the end of the data, or fatal. */
static bool move_cursor(tree *at, MDB_cursor_op op)
{
    int rc;

    if (!hf__tx_spend(at->tx, 20))
        return false;
    rc = mdb_cursor_get(at->cursor, &at->key, &at->value, op);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(at->tx, rc);
    return rc == MDB_SUCCESS;
}

/* Move to the first record of the level at the position or behind it. false:
 * none, or fatal. */
static bool seek_from(tree *at, uint32_t level, const hf__position *position)
{
    unsigned char name[HF__LMDB_KEY_MAX];

    at->key.mv_size = name_record(at, level, position, name);
    at->key.mv_data = name;
    return move_cursor(at, MDB_SET_RANGE) && is_level(at, level, name);
}

/* Move to the count that this position belongs to. false: fatal. */
static bool seek_count(tree *at, uint32_t level, const hf__position *position)
{
    unsigned char name[HF__LMDB_KEY_MAX];
    size_t size = name_record(at, level, position, name);
    bool found;

    at->key.mv_size = size;
    at->key.mv_data = name;
    found = move_cursor(at, MDB_SET_RANGE);
    if (!found || at->key.mv_size != size ||
        memcmp(at->key.mv_data, name, size) != 0)
        found = move_cursor(at, found ? MDB_PREV : MDB_LAST);
    if (found && is_level(at, level, name) &&
        at->value.mv_size == sizeof(hf__count))
        return true;
    fail_damaged(at);
    return false;
}

/* Where the cursor is. */
static void read_position(const tree *at, uint32_t level,
                          hf__position *position)
{
    size_t head = head_size(level);

    position->size = at->key.mv_size - head;
    memcpy(position->bytes, (unsigned char *)at->key.mv_data + head,
           position->size);
}

static hf__count read_count(tree *at, uint32_t level)
{
    hf__count count = {1, 1};

    if (level == 0)
        return count;
    if (at->value.mv_size == sizeof(count))
        memcpy(&count, at->value.mv_data, sizeof(count));
    else
        fail_damaged(at);
    return count;
}

static void put_count(tree *at, uint32_t level, const hf__position *position,
                      hf__count count)
{
    unsigned char name[HF__LMDB_KEY_MAX];
    MDB_val key = {name_record(at, level, position, name), name};
    MDB_val value = {sizeof(count), &count};

    (void)hf__tx_put(at->tx, &key, &value);
}

/* That at the cursor. */
static void replace_count(tree *at, hf__count count)
{
    MDB_val value = {sizeof(count), &count};

    (void)hf__tx_replace(at->tx, at->cursor, &at->key, &value);
}

static void delete_count(tree *at, uint32_t level, const hf__position *position)
{
    unsigned char name[HF__LMDB_KEY_MAX];
    MDB_val key = {name_record(at, level, position, name), name};

    hf__tx_delete(at->tx, &key);
}

/* ---------------------------------------------------------------- changes */

static const hf__position start; /* the empty one */

static void change_count(tree *at, uint32_t level, const hf__position *position,
                         int64_t members, int64_t children);

/* Move over the children that a count keeps, those that begin at `position`;
 * returns their members. *rest: the position of the next. */
static uint64_t keep_children(tree *at, uint32_t level,
                              const hf__position *position, hf__position *rest)
{
    bool more = seek_from(at, level - 1, position);
    uint64_t members = 0;

    for (uint32_t i = 0; more && i < CHILDREN_MAX / 2; i++) {
        members += read_count(at, level - 1).members;
        more = move_cursor(at, MDB_NEXT);
    }
    if (!more || at->key.mv_size < head_size(level - 1))
        fail_damaged(at); /* it has fewer than it says */
    if (at->tx->fatal == HF_OK)
        read_position(at, level - 1, rest);
    return members;
}

static void split_count(tree *at, uint32_t level, const hf__position *position,
                        hf__count whole)
{
    hf__count kept = {0, CHILDREN_MAX / 2};
    hf__count rest;
    hf__position next;

    kept.members = keep_children(at, level, position, &next);
    if (at->tx->fatal != HF_OK)
        return;
    rest.members = whole.members - kept.members;
    rest.children = whole.children - kept.children;
    put_count(at, level, position, kept);
    put_count(at, level, &next, rest);
    if (level > at->root.levels) {
        at->root.levels = level;
        at->root.children = 2;
        return;
    }
    /* They may have different parents. */
    change_count(at, level + 1, position, -(int64_t)rest.members, 0);
    change_count(at, level + 1, &next, (int64_t)rest.members, 1);
}

static void join_counts(tree *at, uint32_t level, const hf__position *position,
                        hf__count count, int64_t members)
{
    delete_count(at, level, position);
    change_count(at, level + 1, position, members - (int64_t)count.members, -1);
    change_count(at, level, position, (int64_t)count.members,
                 (int64_t)count.children);
}

/* The root has one child, the first count of its level. */
static void drop_level(tree *at)
{
    uint32_t level = at->root.levels;

    if (!seek_count(at, level, &start))
        return;
    at->root.children = read_count(at, level).children;
    at->root.levels--;
    delete_count(at, level, &start);
}

static void change_root(tree *at, int64_t children)
{
    hf__count whole;

    at->root.children += (uint64_t)children;
    if (at->root.levels > 0 && at->root.children == 1)
        drop_level(at);
    if (at->root.children <= CHILDREN_MAX)
        return;
    whole.members = at->record->count;
    whole.children = at->root.children;
    split_count(at, at->root.levels + 1, &start, whole);
}

/* Add to the count of the level that this position belongs to, and to those
 * above it. */
static void change_count(tree *at, uint32_t level, const hf__position *position,
                         int64_t members, int64_t children)
{
    hf__position own;
    hf__count count;

    if (at->tx->fatal != HF_OK)
        return;
    if (level > at->root.levels) {
        if (children != 0)
            change_root(at, children);
        return;
    }
    if (!seek_count(at, level, position))
        return;
    read_position(at, level, &own);
    count = read_count(at, level);
    count.members += (uint64_t)members;
    count.children += (uint64_t)children;
    if (children < 0 && count.children < CHILDREN_LEAST && own.size > 0) {
        join_counts(at, level, &own, count, members);
        return;
    }
    replace_count(at, count);
    if (members != 0)
        change_count(at, level + 1, &own, members, 0);
    if (children > 0 && count.children > CHILDREN_MAX)
        split_count(at, level, &own, count);
}

/* Take parts off the last count of level 1. */
static void catch_up(tree *at)
{
    hf__position last = {.size = sizeof(uint64_t)};
    hf__position own;
    hf__count count;

    memset(last.bytes, 0xff, last.size); /* behind each score */
    for (uint32_t i = 0; i < PARTS_EACH && at->tx->fatal == HF_OK; i++) {
        if (at->root.levels == 0 || !seek_count(at, 1, &last))
            return;
        count = read_count(at, 1);
        at->root.behind = count.children > CHILDREN_MAX;
        if (!at->root.behind)
            return;
        read_position(at, 1, &own);
        split_count(at, 1, &own, count);
    }
}

static void store_root(tree *at)
{
    const unsigned char *old = hf__content(at->tx, at->record);

    if (old != NULL && memcmp(old, &at->root, sizeof(at->root)) != 0)
        (void)hf__content_set(at->tx, at->record, &at->root, sizeof(at->root));
}

bool hf__counts_begin(hf__tx *tx, hf__record *record)
{
    hf__counts_root root = {.behind = record->count > CHILDREN_MAX,
                            .children = record->count};

    if (!hf__sidecar_knows_format_3(tx->env->sidecar.map))
        return hf__content_set(tx, record, "", 0);
    return hf__tx_raise_format(tx, HF__FORMAT_COUNTS) &&
           hf__content_set(tx, record, &root, sizeof(root));
}

void hf__counts_change(hf__tx *tx, hf__record *record,
                       const hf__position *position, int change)
{
    tree at;

    if (!hf__counts_exist(record) || !open_tree(&at, tx, record))
        return;
    change_count(&at, 1, position, change, change);
    if (at.root.behind)
        catch_up(&at);
    close_tree(&at);
    store_root(&at);
}

/* ---------------------------------------------------------------- queries */

/* The members of this level's records from `from` on, before `position`. */
static uint64_t sum_level(tree *at, uint32_t level, const hf__position *from,
                          const hf__position *position)
{
    unsigned char end[HF__LMDB_KEY_MAX];
    MDB_val stop = {name_record(at, level, position, end), end};
    bool more = seek_from(at, level, from);
    uint64_t members = 0;

    while (more &&
           mdb_cmp(at->tx->txn, at->tx->env->dbi, &at->key, &stop) < 0) {
        members += read_count(at, level).members;
        more = move_cursor(at, MDB_NEXT);
    }
    return members;
}

/* From the order up: at each level, what the parent has before it. */
uint64_t hf__counts_before(hf__tx *tx, hf__record *record,
                           const hf__position *position)
{
    hf__position here = *position;
    hf__position parent;
    uint64_t members = 0;
    tree at;

    if (!open_tree(&at, tx, record))
        return 0;
    for (uint32_t level = 0; level <= at.root.levels; level++) {
        parent = start;
        if (level < at.root.levels) {
            if (!seek_count(&at, level + 1, &here))
                break;
            read_position(&at, level + 1, &parent);
        }
        members += sum_level(&at, level, &parent, &here);
        here = parent;
    }
    close_tree(&at);
    return members;
}

bool hf__counts_find(hf__tx *tx, hf__record *record, uint64_t before,
                     hf__position *position)
{
    uint32_t level;
    uint64_t members;
    tree at;
    bool found = true;

    if (!open_tree(&at, tx, record))
        return false;
    *position = start;
    level = at.root.levels + 1;
    while (found && level-- > 0) {
        found = seek_from(&at, level, position);
        while (found && before >= (members = read_count(&at, level).members)) {
            before -= members;
            found = move_cursor(&at, MDB_NEXT);
        }
        if (found && at.key.mv_size >= head_size(level))
            read_position(&at, level, position);
    }
    close_tree(&at);
    if (!found)
        fail_damaged(&at);
    return found && tx->fatal == HF_OK;
}
