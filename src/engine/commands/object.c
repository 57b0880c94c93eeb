/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c - OBJECT. The encoding is what Redis 7.0 would choose for the value
 * by its default settings; this store has others.
 */
#include <math.h>

#include "engine/commands/command_row.h"
#include "engine/keys/number_text.h"
#include "engine/keys/type_hash.h"
#include "engine/keys/type_set.h"
#include "engine/keys/type_string.h"
#include "engine/keys/type_zset.h"

/* Redis's defaults: most elements, and most bytes of one. */
#define LISTPACK_COUNT 128
#define LISTPACK_SIZE 64
#define INTSET_COUNT 512
#define EMBSTR_SIZE 44
#define INTEGER_SIZE 20

/* The key, or NULL and a reply of nil. */
static hf__record *find_key(hf__tx *tx, hf_bytes key)
{
    hf__record *record = hf__key_find(tx, key);

    if (record == NULL)
        hf__reply_nil(tx);
    return record;
}

static const char *string_encoding(hf__tx *tx, hf__record *record)
{
    size_t size = hf__string_size(record);
    int64_t number;
    hf_bytes text;

    if (size <= INTEGER_SIZE) {
        text = hf__string_bytes(tx, record);
        if (text.data != NULL && hf__number_integer(text, &number))
            return "int";
    }
    return size <= EMBSTR_SIZE ? "embstr" : "raw";
}

static const char *hash_encoding(hf__tx *tx, hf__record *record)
{
    bool fits = record->count <= LISTPACK_COUNT ||
                hf__hash_count(tx, record) <= LISTPACK_COUNT;
    hf__hash_walk walk;
    hf_bytes field, value;

    if (!fits)
        return "hashtable";
    hf__hash_walk_begin(&walk, tx, record);
    while (fits && hf__hash_walk_next(&walk, &field, &value))
        fits = field.size <= LISTPACK_SIZE && value.size <= LISTPACK_SIZE;
    hf__hash_walk_end(&walk);
    return fits ? "listpack" : "hashtable";
}

static const char *set_encoding(hf__tx *tx, hf__record *record)
{
    bool fits = record->count <= INTSET_COUNT;
    hf__set_walk walk;
    hf_bytes member;
    int64_t number;

    if (!fits)
        return "hashtable";
    hf__set_walk_begin(&walk, tx, record);
    while (fits && hf__set_walk_next(&walk, &member))
        fits = hf__number_integer(member, &number);
    hf__set_walk_end(&walk);
    return fits ? "intset" : "hashtable";
}

static const char *zset_encoding(hf__tx *tx, hf__record *record)
{
    bool fits = record->count <= LISTPACK_COUNT;
    hf__zset_walk walk;
    hf_bytes member;
    double score;

    if (!fits)
        return "skiplist";
    hf__zset_walk_begin(&walk, tx, record, -INFINITY, false);
    while (fits && hf__zset_walk_next(&walk, &member, &score))
        fits = member.size <= LISTPACK_SIZE;
    hf__zset_walk_end(&walk);
    return fits ? "listpack" : "skiplist";
}

static const char *encoding_of(hf__tx *tx, hf__record *record)
{
    switch ((hf__type)record->type) {
    case HF__TYPE_STRING:
        return string_encoding(tx, record);
    case HF__TYPE_HASH:
        return hash_encoding(tx, record);
    case HF__TYPE_ZSET:
        return zset_encoding(tx, record);
    case HF__TYPE_SET:
        return set_encoding(tx, record);
    case HF__TYPE_STREAM:
        return "stream";
    case HF__TYPE_LIST:
        break;
    }
    return "quicklist";
}

static void object_encoding(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = find_key(tx, args[2]);
    const char *name;

    (void)count;
    if (record == NULL)
        return;
    name = encoding_of(tx, record);
    hf__reply_word(tx, name);
}

static void object_refcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    if (find_key(tx, args[2]) != NULL)
        hf__reply_integer(tx, 1);
}

static void object_freq(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    if (find_key(tx, args[2]) != NULL)
        hf__reply_error(tx,
                        "ERR An LFU maxmemory policy is not selected, access "
                        "frequency not tracked. Please note that when "
                        "switching between policies at runtime LRU and LFU "
                        "data will take some time to adjust.");
}

/* A read would have to write. */
static void object_idletime(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    if (find_key(tx, args[2]) != NULL)
        hf__reply_error(tx, "ERR idle time not tracked by this store");
}

static void object_help(hf__tx *tx, const hf_bytes *args, size_t count)
{
    static const char *const lines[] = {
        "ENCODING <key>",
        "    Return the kind of internal representation used in order to store "
        "the value",
        "    associated with a <key>.",
        "FREQ <key>",
        "    Return the access frequency index of the <key>. The returned "
        "integer is",
        "    proportional to the logarithm of the recent access frequency of "
        "the key.",
        "IDLETIME <key>",
        "    Return the idle time of the <key>, that is the approximated "
        "number of",
        "    seconds elapsed since the last access to the key.",
        "REFCOUNT <key>",
        "    Return the number of references of the value associated with the "
        "specified",
        "    <key>.",
        NULL};

    (void)args;
    (void)count;
    hf__reply_help(tx, lines);
}

const hf__command_entry hf__commands_object[] = {
    {"object", HF__COMMAND_GROUP, hf__subcommand_run},
    {"object|encoding", 0, object_encoding},
    {"object|freq", 0, object_freq},
    {"object|idletime", 0, object_idletime},
    {"object|refcount", 0, object_refcount},
    {"object|help", 0, object_help},
    {NULL, 0, NULL}};
