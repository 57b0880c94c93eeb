/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - RENAME, MOVE and COPY, of keys of any type.
 *
 * The elements of a large key belong to its id: a renamed key keeps the id, a
 * copy gets its own id and copies of all records.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/files/keyhead.h"
#include "engine/keys/elements.h"
#include "engine/keys/packed.h"

#define PREFIX_SIZE 9u /* of an element's record: kind, keyid */

/* Copied at a time: enough to make the lookups in between cheap. */
#define BATCH_SIZE (size_t)(64u << 10)

/* ---------------------------------------------------------------- elements */

/* Progress of copying one kind of records. */
typedef struct copy_batch {
    unsigned char after[HF__LMDB_KEY_MAX]; /* the last record, or a prefix */
    size_t after_size;
    size_t used; /* of tx->scratch */
    bool begun;
    bool more;
} copy_batch;

static void put_prefix(unsigned char *at, unsigned char kind, uint64_t keyid)
{
    at[0] = kind;
    hf__put_be64(at + 1, keyid);
}

/* Keep a record as u32 size of its name, u32 of its value, name, value. */
static bool keep_record(hf__tx *tx, copy_batch *at, const MDB_val *key,
                        const MDB_val *value)
{
    uint32_t sizes[2] = {(uint32_t)key->mv_size, (uint32_t)value->mv_size};
    size_t size = sizeof(sizes) + key->mv_size + value->mv_size;
    unsigned char *room = hf__tx_scratch(tx, at->used + size);

    if (room == NULL)
        return false;
    room += at->used;
    memcpy(room, sizes, sizeof(sizes));
    memcpy(room + sizeof(sizes), key->mv_data, key->mv_size);
    if (value->mv_size > 0)
        memcpy(room + sizeof(sizes) + key->mv_size, value->mv_data,
               value->mv_size);
    at->used += size;
    memcpy(at->after, key->mv_data, key->mv_size);
    at->after_size = key->mv_size;
    at->begun = true;
    return true;
}

static bool is_after(const copy_batch *at, const MDB_val *key)
{
    /* The record name of an empty field is just the prefix. */
    return !at->begun || key->mv_size != at->after_size ||
           memcmp(key->mv_data, at->after, at->after_size) != 0;
}

/* Read the key's records after `at->after`. */
static void fetch_batch(hf__tx *tx, copy_batch *at)
{
    MDB_val key = {at->after_size, at->after};
    unsigned char prefix[PREFIX_SIZE];
    MDB_val value;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    memcpy(prefix, at->after, sizeof(prefix));
    at->used = 0;
    at->more = false;
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return;
    }
    rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (rc == MDB_SUCCESS && key.mv_size >= sizeof(prefix) &&
           memcmp(key.mv_data, prefix, sizeof(prefix)) == 0) {
        at->more = at->used >= BATCH_SIZE;
        if (at->more ||
            (is_after(at, &key) && !keep_record(tx, at, &key, &value)))
            break;
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
}

static void put_batch(hf__tx *tx, const copy_batch *at, uint64_t keyid)
{
    unsigned char *record = tx->scratch;

    for (size_t done = 0; done < at->used && tx->fatal == HF_OK;) {
        uint32_t sizes[2];
        unsigned char *name = record + done + sizeof(sizes);
        MDB_val key, value;

        memcpy(sizes, record + done, sizeof(sizes));
        put_prefix(name, name[0], keyid);
        key = (MDB_val){sizes[0], name};
        value = (MDB_val){sizes[1], name + sizes[0]};
        (void)hf__tx_put(tx, &key, &value);
        done += sizeof(sizes) + sizes[0] + sizes[1];
    }
}

static void copy_elements(hf__tx *tx, uint64_t from, uint64_t to)
{
    static const unsigned char kinds[] = {HF__RECORDS_OF_ID};

    for (size_t i = 0; i < sizeof(kinds); i++) {
        copy_batch at;

        put_prefix(at.after, kinds[i], from);
        at.after_size = PREFIX_SIZE;
        at.begun = false;
        do {
            fetch_batch(tx, &at);
            put_batch(tx, &at, to);
        } while (at.more && tx->fatal == HF_OK);
    }
}

/* -------------------------------------------------------------------- keys */

/* A key like `record` except for its elements. NULL: fatal. */
static hf__record *make_like(hf__tx *tx, hf_bytes key, hf__record *record)
{
    hf__record *made = hf__key_record(tx, key);
    const unsigned char *content = hf__content(tx, record);

    if (made == NULL || content == NULL)
        return NULL;
    /* For Redis the old key is not replaced, but deleted first. */
    if (made->live)
        hf__key_drop(tx, made);
    if (!hf__record_make(tx, made, (hf__type)record->type) ||
        !hf__content_set(tx, made, content, record->content_size))
        return NULL;
    made->expire_ms = record->expire_ms;
    made->count = record->count;
    return made;
}

/* `made` has the content of the original. */
static void copy_deadlines(hf__tx *tx, hf__record *made)
{
    hf__deadlines fields;
    uint64_t from;

    memcpy(&fields, made->content, sizeof(fields));
    from = fields.id;
    if (!hf__keyid_new(tx, &fields.id))
        return;
    copy_elements(tx, from, fields.id);
    made->form = HF__FORM_DEADLINES;
    (void)hf__content_set(tx, made, &fields, sizeof(fields));
}

static void copy_content(hf__tx *tx, hf__record *record, hf_bytes key)
{
    hf__record *made = make_like(tx, key, record);

    if (made == NULL || record->form == HF__FORM_INLINE ||
        !hf__elements_begin(tx, made))
        return;
    copy_elements(tx, record->keyid, made->keyid);
    if (record->form == HF__FORM_DEADLINES)
        copy_deadlines(tx, made);
}

static bool move_to(hf__tx *tx, hf__record *record, hf_bytes key)
{
    hf__record *made = make_like(tx, key, record);

    if (made == NULL)
        return false;
    made->form = record->form;
    made->keyid = record->keyid;
    /* Its elements now belong to the new key: do not delete them. */
    record->form = HF__FORM_INLINE;
    hf__key_drop(tx, record);
    return true;
}

static void rename_to(hf__tx *tx, hf__record *record, hf_bytes key)
{
    if (!move_to(tx, record, key))
        return;
    hf__record_event(tx, HF__EVENT_GENERIC, "rename_from", record);
    hf__key_event(tx, HF__EVENT_GENERIC, "rename_to", key);
}

/* ---------------------------------------------------------------- commands */

/* Returns the reply of RENAMENX; -1: replied with an error. */
static int rename_key(hf__tx *tx, const hf_bytes *args, bool replace)
{
    hf__record *record = hf__key_find(tx, args[1]);

    if (record == NULL) {
        hf__reply_error(tx, "ERR no such key");
        return -1;
    }
    if (hf__bytes_same(args[1], args[2]))
        return 0;
    if (!hf__arg_key(tx, args[2]))
        return -1;
    if (!replace && hf__key_find(tx, args[2]) != NULL)
        return 0;
    rename_to(tx, record, args[2]);
    return 1;
}

static void run_rename(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    if (rename_key(tx, args, true) >= 0)
        hf__reply_line(tx, "OK");
}

static void run_renamenx(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int renamed = rename_key(tx, args, false);

    (void)count;
    if (renamed >= 0)
        hf__reply_integer(tx, renamed);
}

typedef struct copy_options {
    bool replace;
    uint8_t database; /* of the copy */
} copy_options;

static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         copy_options *options)
{
    *options = (copy_options){false, tx->database};
    for (size_t i = 3; i < count; i++) {
        if (hf__arg_is(args[i], "replace")) {
            options->replace = true;
        } else if (hf__arg_is(args[i], "db") && i + 1 < count) {
            i++;
            if (!hf__arg_database(tx, args[i], &options->database))
                return false;
        } else {
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        }
    }
    return true;
}

#define SAME_KEY "ERR source and destination objects are the same"

/* Copy a key, or rename it, into a database. false: there is none, or one that
 * is not to be replaced. */
static bool put_into(hf__tx *tx, const copy_options *options,
                     const hf_bytes *names, bool renames)
{
    hf__record *record = hf__key_find(tx, names[0]);
    uint8_t from = tx->database;
    bool fits;

    if (record == NULL)
        return false;
    tx->database = options->database;
    fits = options->replace || hf__key_find(tx, names[1]) == NULL;
    if (fits && renames)
        (void)move_to(tx, record, names[1]);
    else if (fits)
        copy_content(tx, record, names[1]);
    if (fits)
        hf__key_event(tx, HF__EVENT_GENERIC, renames ? "move_to" : "copy_to",
                      names[1]);
    tx->database = from;
    if (fits && renames)
        hf__key_event(tx, HF__EVENT_GENERIC, "move_from", names[0]);
    return fits;
}

static void run_copy(hf__tx *tx, const hf_bytes *args, size_t count)
{
    copy_options options;

    if (!read_options(tx, args, count, &options))
        return;
    if (options.database == tx->database && hf__bytes_same(args[1], args[2]))
        hf__reply_error(tx, SAME_KEY);
    else
        hf__reply_integer(tx, put_into(tx, &options, args + 1, false));
}

static void run_move(hf__tx *tx, const hf_bytes *args, size_t count)
{
    const hf_bytes names[] = {args[1], args[1]};
    copy_options options = {.replace = false};

    (void)count;
    if (!hf__arg_database(tx, args[2], &options.database))
        return;
    if (options.database == tx->database)
        hf__reply_error(tx, SAME_KEY);
    else
        hf__reply_integer(tx, put_into(tx, &options, names, true));
}

#define WRITES HF__COMMAND_WRITES

const hf__command_entry hf__commands_copy[] = {
    {"rename", WRITES, run_rename},
    {"renamenx", WRITES, run_renamenx},
    {"copy", WRITES | HF__COMMAND_GROWS, run_copy},
    {"move", WRITES, run_move},
    {NULL, 0, NULL}};
