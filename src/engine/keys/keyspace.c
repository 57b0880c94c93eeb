/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyspace.c - key records: finding, creating, editing.
 *
 * A record is read once and written once per transaction, however many commands
 * use it; a few small ones stay for the next transaction (records.c). Its
 * content is a view into LMDB's map until it is edited; any write makes such
 * views stale (tx->epoch), and hf__content() reads a stale one again.
 *
 * On disk a key record is a head (keyhead.h), the whole key if its name was
 * folded, then the content.
 */
#include "engine/keys/keyspace.h"

#include <assert.h>
#include <string.h>

#include "engine/files/keyhead.h"
#include "engine/files/name.h"
#include "engine/keys/command_reply.h"
#include "engine/keys/elements.h"
#include "engine/keys/record_cache.h"
#include "util/error.h"
#include "util/hash_bytes.h"
#include "util/mem.h"

#define NAME_ROOM (HF__LMDB_KEY_MAX - 1)

/* Content grows by doubling up to this, then by this: appending to a large
 * string must neither copy it each time nor double its memory. */
#define GROW_MAX (size_t)(1u << 20)

static void fail_damaged(hf__tx *tx)
{
    if (tx->fatal == HF_OK)
        tx->fatal = hf__fail(&tx->error, HF_CORRUPT,
                             "a record of the store is damaged");
}

hf_bytes hf__record_key(const hf__record *record)
{
    if (record->long_key != NULL)
        return hf_view(record->long_key, record->key_size);
    return hf_view(record->name + 1, record->key_size);
}

/* Decode the head. false: damaged. */
static bool decode_head(hf__tx *tx, hf__record *record, const MDB_val *value)
{
    const unsigned char *at = value->mv_data;
    hf__keyhead head;
    size_t key_size;

    if (value->mv_size < HF__KEYHEAD_SIZE) {
        fail_damaged(tx);
        return false;
    }
    hf__keyhead_read(&head, at);
    record->type = head.type;
    record->form = head.form;
    record->expire_ms = head.expire_ms;
    record->keyid = head.keyid;
    record->count = head.count;
    key_size = head.key_size;
    if (key_size != (record->long_key != NULL ? record->key_size : 0) ||
        value->mv_size - HF__KEYHEAD_SIZE < key_size) {
        fail_damaged(tx);
        return false;
    }
    if (key_size > 0 &&
        memcmp(at + HF__KEYHEAD_SIZE, record->long_key, key_size) != 0) {
        fail_damaged(tx); /* two long keys with one SHA-1 */
        return false;
    }
    record->content = at + HF__KEYHEAD_SIZE + key_size;
    record->content_size = value->mv_size - HF__KEYHEAD_SIZE - key_size;
    record->epoch = tx->epoch;
    record->owned = false;
    return true;
}

void hf__record_clear(hf__record *record)
{
    record->live = false;
    record->expired = false;
    record->owned = false;
    record->form = HF__FORM_INLINE;
    record->expire_ms = 0;
    record->keyid = 0;
    record->count = 0;
    record->content = NULL;
    record->content_size = 0;
}

void hf__key_touch(hf__tx *tx, hf__record *record)
{
    assert(tx->writable);
    (void)tx;
    record->dirty = true;
}

void hf__key_touch_watched(hf__tx *tx, hf__record *record)
{
    if (tx->watched != 0)
        hf__key_touch(tx, record);
}

/* Of a hash of the form DEADLINES, whose content is short and thus owned where
 * anything is written. */
static bool read_deadlines(hf__tx *tx, const hf__record *record,
                           hf__deadlines *fields)
{
    if (record->content_size != sizeof(*fields)) {
        fail_damaged(tx);
        return false;
    }
    memcpy(fields, record->content, sizeof(*fields));
    return true;
}

static __attribute__((noinline)) bool is_emptied(hf__tx *tx,
                                                 const hf__record *record)
{
    hf__deadlines fields;

    return read_deadlines(tx, record, &fields) && fields.last_ms != 0 &&
           fields.last_ms <= tx->now_ms;
}

static inline bool is_over(hf__tx *tx, const hf__record *record)
{
    if (record->expire_ms != 0 && record->expire_ms <= tx->now_ms)
        return true;
    return record->form == HF__FORM_DEADLINES && is_emptied(tx, record);
}

void hf__key_drop(hf__tx *tx, hf__record *record)
{
    bool made = record->live && !record->stored;
    hf__deadlines fields;

    if (record->live && record->type == HF__TYPE_STREAM && tx->made != NULL)
        tx->made(tx, hf__record_key(record));
    if (record->form == HF__FORM_DEADLINES &&
        read_deadlines(tx, record, &fields))
        hf__pending_delete_put(tx, fields.id);
    if (record->form != HF__FORM_INLINE)
        hf__pending_delete_put(tx, record->keyid);
    hf__record_clear(record);
    /* Another command of the transaction may have seen it. */
    record->dirty = record->stored || (made && tx->watched != 0);
}

void hf__key_delete(hf__tx *tx, hf__record *record)
{
    hf__key_drop(tx, record);
    hf__record_event(tx, HF__EVENT_GENERIC, "del", record);
}

static void expire_key(hf__tx *tx, hf__record *record)
{
    hf__key_drop(tx, record);
    record->expired = true;
    hf__env_note_expired(tx->env);
    hf__record_event(tx, HF__EVENT_EXPIRED, "expired", record);
}

static bool reserve_content(hf__tx *tx, hf__record *record, size_t size);

/* Copy short content, so that it never becomes stale and can be cached. false:
 * fatal. */
static bool own_short(hf__tx *tx, hf__record *record, const void *content)
{
    if (!reserve_content(tx, record, record->content_size))
        return false;
    memcpy(record->memory, content, record->content_size);
    record->content = record->memory;
    record->owned = true;
    return true;
}

/* Fill it from the cache. false: fatal. */
static bool restore_cached(hf__tx *tx, hf__record *record,
                           const hf__cached_record *from)
{
    hf__record_clear(record);
    record->dirty = record->uncached = false;
    record->stored = from->stored;
    if (!from->stored)
        return true;
    record->type = from->type;
    record->form = from->form;
    record->uncached = from->form != HF__FORM_INLINE; /* it may not stay */
    record->expire_ms = from->expire_ms;
    record->keyid = from->keyid;
    record->count = from->count;
    record->content_size = from->content_size;
    return own_short(tx, record, hf__cached_record_content(from));
}

/* The keys of an object are mostly neighbours. A command or script has few
 * keys, of which the first is found sooner without a cursor; where there are
 * many they are not looked for in this way. */
#define NEAR_FIRST 2u
#define NEAR_LAST 8u

static int get_stored(hf__tx *tx, MDB_val *name, MDB_val *value)
{
    int rc = MDB_SUCCESS;

    if (tx->writable || tx->record_count < NEAR_FIRST ||
        tx->record_count > NEAR_LAST)
        return hf__tx_find(tx, name, value);
    if (tx->key_cursor == NULL)
        rc = mdb_cursor_open(tx->txn, tx->env->dbi, &tx->key_cursor);
    return rc != MDB_SUCCESS
               ? rc
               : mdb_cursor_get(tx->key_cursor, name, value, MDB_SET);
}

/* Read it from LMDB. false: fatal. */
static bool read_stored(hf__tx *tx, hf__record *record)
{
    MDB_val name = {record->name_size, record->name};
    MDB_val value;
    int rc = get_stored(tx, &name, &value);

    tx->placed = record;
    hf__record_clear(record);
    record->stored = rc == MDB_SUCCESS;
    record->dirty = false;
    record->uncached = true;
    if (rc == MDB_NOTFOUND)
        return true;
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return false;
    }
    return decode_head(tx, record, &value) &&
           (!tx->writable ||
            record->content_size > HF__RECORD_CACHE_CONTENT_MAX ||
            own_short(tx, record, record->content));
}

static bool fetch_record(hf__tx *tx, hf__record *record)
{
    const hf__cached_record *known = hf__record_cache_find(tx->cache, record);

    if (!(known != NULL ? restore_cached(tx, record, known)
                        : read_stored(tx, record)))
        return false;
    if (record->stored && hf__expiry_is_tombstone(record->expire_ms)) {
        hf__record_clear(record);
        record->stored = false;
    }
    record->live = record->stored;
    if (!record->stored || !is_over(tx, record))
        return tx->fatal == HF_OK;
    if (tx->writable)
        expire_key(tx, record);
    record->live = false;
    return tx->fatal == HF_OK;
}

/* --------------------------------------------------------- the records */

static bool set_key(hf__tx *tx, hf__record *record, hf_bytes key)
{
    record->name[0] = hf__key_kind(tx->database);
    record->name_size = 1 + hf__name_fold(record->name + 1, NAME_ROOM, key);
    record->key_size = key.size;
    if (key.size < NAME_ROOM)
        return true;
    record->long_key = hf__alloc(key.size);
    if (record->long_key == NULL) {
        hf__tx_no_memory(tx);
        return false;
    }
    memcpy(record->long_key, key.data, key.size);
    return true;
}

/* The next unused record, not yet in a chain. NULL: fatal. */
static hf__record *take_record(hf__tx *tx)
{
    hf__record **at = &tx->records[tx->record_count];

    assert(tx->record_count < HF__RECORD_MAX);
    if (*at == NULL)
        *at = hf__calloc(1, sizeof(**at));
    if (*at == NULL)
        hf__tx_no_memory(tx);
    return *at;
}

/* It is not among those that the caller has read and will check. */
static void refuse_key(hf__tx *tx, hf_bytes key)
{
    char quoted[HF__QUOTED_SIZE];

    if (tx->missing_key == NULL)
        tx->missing_key = hf__memdup(key.data, key.size);
    tx->missing_size = key.size;
    tx->fatal = hf__fail(&tx->error, HF_INVALID,
                         "a script of this store may use no key that is not "
                         "in KEYS, such as %s",
                         hf__quoted(quoted, key));
}

hf__record *hf__key_record(hf__tx *tx, hf_bytes key)
{
    uint32_t hash = hf__key_hash(tx->database, key);
    uint32_t chain = hash % HF__CHAIN_COUNT;
    hf__record *record;

    if (tx->fatal != HF_OK)
        return NULL;
    if (tx->chains[chain].stamp != tx->stamp) {
        tx->chains[chain].stamp = tx->stamp;
        tx->chains[chain].first = NULL;
    }
    for (record = tx->chains[chain].first; record != NULL;
         record = record->next) {
        if (record->hash == hash && record->key_size == key.size &&
            (key.size == 0 || /* then data may be NULL */
             memcmp(hf__record_key(record).data, key.data, key.size) == 0)) {
            record->used = true;
            return record;
        }
    }
    if (tx->sealed) {
        refuse_key(tx, key);
        return NULL;
    }
    record = take_record(tx);
    if (record == NULL || !set_key(tx, record, key))
        return NULL;
    record->hash = hash;
    record->looked_up = 0;
    tx->record_count++;
    record->next = tx->chains[chain].first;
    tx->chains[chain].first = record;
    return fetch_record(tx, record) ? record : NULL;
}

hf__record *hf__key_find(hf__tx *tx, hf_bytes key)
{
    hf__record *record = hf__key_record(tx, key);

    /* An earlier command may have set an expiry in the past. */
    if (record != NULL && record->live && is_over(tx, record))
        expire_key(tx, record);
    if (record == NULL || !record->live)
        record = NULL;
    if (tx->reads && record != NULL)
        tx->hits++;
    else if (tx->reads)
        tx->misses++;
    return record;
}

bool hf__key_of_type(hf__tx *tx, hf_bytes key, hf__type type,
                     hf__record **record)
{
    *record = hf__key_find(tx, key);
    if (tx->fatal != HF_OK)
        return false;
    if (*record == NULL || (*record)->type == type)
        return true;
    return hf__reply_wrong_type(tx);
}

bool hf__record_make(hf__tx *tx, hf__record *record, hf__type type)
{
    if (record->live)
        hf__key_drop(tx, record);
    else
        hf__record_event(tx, HF__EVENT_NEW, "new", record);
    if (tx->fatal != HF_OK)
        return false;
    record->live = true;
    record->dirty = true;
    record->type = (uint8_t)type;
    if (tx->made != NULL)
        tx->made(tx, hf__record_key(record));
    return true;
}

hf__record *hf__key_make(hf__tx *tx, hf_bytes key, hf__type type)
{
    hf__record *record = hf__key_record(tx, key);

    if (record == NULL || !hf__record_make(tx, record, type))
        return NULL;
    return record;
}

/* ------------------------------------------------------------ content */

const unsigned char *hf__content(hf__tx *tx, hf__record *record)
{
    MDB_val name = {record->name_size, record->name};
    MDB_val value;
    int rc;

    if (tx->fatal != HF_OK)
        return NULL;
    if (record->owned || record->epoch == tx->epoch || !record->live ||
        record->content_size == 0)
        return record->content != NULL ? record->content
                                       : (const unsigned char *)"";
    if (tx->largest_size < record->content_size)
        tx->largest_size = record->content_size;
    rc = hf__tx_find(tx, &name, &value);
    if (rc != MDB_SUCCESS || value.mv_size < record->content_size) {
        hf__tx_fail(tx, rc != MDB_SUCCESS ? rc : MDB_CORRUPTED);
        return NULL;
    }
    record->content = (const unsigned char *)value.mv_data + value.mv_size -
                      record->content_size;
    record->epoch = tx->epoch;
    return record->content;
}

bool hf__content_copy(hf__tx *tx, hf__record *record, void *to, size_t size)
{
    const unsigned char *content = hf__content(tx, record);

    if (content == NULL)
        return false;
    if (record->content_size != size) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(to, content, size);
    return true;
}

static bool reserve_content(hf__tx *tx, hf__record *record, size_t size)
{
    unsigned char *memory;
    size_t room;

    if (record->memory != NULL && size <= record->memory_size)
        return true;
    room = size < GROW_MAX ? 2 * size : size + GROW_MAX;
    if (room < 256)
        room = 256;
    memory = hf__realloc(record->memory, room);
    if (memory == NULL) {
        hf__tx_no_memory(tx);
        return false;
    }
    if (record->owned)
        record->content = memory;
    record->memory = memory;
    record->memory_size = room;
    return true;
}

unsigned char *hf__content_edit(hf__tx *tx, hf__record *record, size_t size)
{
    size_t kept = record->content_size < size ? record->content_size : size;
    const unsigned char *old;

    if (!reserve_content(tx, record, size))
        return NULL;
    if (!record->owned) {
        old = hf__content(tx, record);
        if (old == NULL)
            return NULL;
        if (!hf__tx_copy(tx, record->memory, old, kept))
            return NULL;
        record->owned = true;
    }
    record->content = record->memory;
    tx->dirty_size += size;
    record->content_size = size;
    record->dirty = true;
    return record->memory;
}

bool hf__content_set(hf__tx *tx, hf__record *record, const void *data,
                     size_t size)
{
    assert(size == 0 || data != record->memory);
    if (!reserve_content(tx, record, size))
        return false;
    if (!hf__tx_copy(tx, record->memory, data != NULL ? data : "", size))
        return false;
    record->owned = true;
    record->content = record->memory;
    record->content_size = size;
    record->dirty = true;
    tx->dirty_size += size;
    return true;
}

const char *hf__type_name(hf__type type)
{
    switch (type) {
    case HF__TYPE_STRING:
        return "string";
    case HF__TYPE_HASH:
        return "hash";
    case HF__TYPE_ZSET:
        return "zset";
    case HF__TYPE_LIST:
        return "list";
    case HF__TYPE_SET:
        return "set";
    case HF__TYPE_STREAM:
        return "stream";
    }
    return "none";
}
