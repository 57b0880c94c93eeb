/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - cursors of scans and the positions that they mean.
 *
 * The positions belong to the environment and are guarded by its readers_lock.
 * They only save time: if they are lost, or there is no memory for them, more
 * may be returned twice.
 */
#include "engine/keys/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/keys/argument.h"
#include "engine/keys/command_reply.h"
#include "engine/keys/elements.h"
#include "engine/keys/number_text.h"
#include "util/glob.h"
#include "util/hash_bytes.h"
#include "util/mem.h"

/* ---------------------------------------------------------------- reading */

/* As Redis, with strtoul(): accepts signs, an empty text, and anything after a
 * NUL. */
bool hf__scan_cursor(hf__scan *scan, hf__tx *tx, hf_bytes arg)
{
    char text[64]; /* longer ones only have redundant digits */
    char *end;

    memset(scan, 0, sizeof(*scan));
    scan->tx = tx;
    scan->count = 10;
    if (arg.size < sizeof(text)) {
        if (arg.size > 0)
            memcpy(text, arg.data, arg.size);
        text[arg.size] = '\0';
        errno = 0;
        scan->cursor = strtoul(text, &end, 10);
        if (strchr(" \t\n\v\f\r", text[0]) == NULL || text[0] == '\0') {
            if (*end == '\0' && errno == 0)
                return true;
        }
    }
    return hf__reply_error(tx, "ERR invalid cursor");
}

static bool read_count(hf__scan *scan, hf_bytes arg)
{
    int64_t count;

    if (!hf__arg_integer(scan->tx, arg, &count))
        return false;
    if (count < 1)
        return hf__reply_error(scan->tx, HF__ERROR_SYNTAX);
    scan->count = (uint64_t)count;
    return true;
}

bool hf__scan_pattern(hf__tx *tx, hf_bytes pattern)
{
    if (pattern.size <= HF__GLOB_MAX)
        return true;
    return hf__reply_error(tx, HF__ERROR_PATTERN, pattern.size, HF__GLOB_MAX);
}

static bool read_pattern(hf__scan *scan, hf_bytes arg)
{
    if (!hf__scan_pattern(scan->tx, arg))
        return false;
    scan->pattern = arg;
    /* A star alone matches everything, the empty name too. */
    scan->filter = arg.size != 1 || *(const char *)arg.data != '*';
    return true;
}

bool hf__scan_options(hf__scan *scan, const hf_bytes *args, size_t count,
                      bool types)
{
    for (size_t i = 0; i < count; i += 2) {
        if (i + 1 < count && hf__arg_is(args[i], "count")) {
            if (!read_count(scan, args[i + 1]))
                return false;
        } else if (i + 1 < count && hf__arg_is(args[i], "match")) {
            if (!read_pattern(scan, args[i + 1]))
                return false;
        } else if (types && i + 1 < count && hf__arg_is(args[i], "type")) {
            scan->type = args[i + 1];
            scan->by_type = true;
        } else {
            return hf__reply_error(scan->tx, HF__ERROR_SYNTAX);
        }
    }
    return true;
}

bool hf__scan_open(hf__scan *scan, hf__tx *tx, const hf_bytes *args,
                   size_t count,
                   bool (*open)(hf__tx *tx, hf_bytes key, hf__record **record),
                   hf__record **record)
{
    if (!hf__scan_cursor(scan, tx, args[2]) || !open(tx, args[1], record))
        return false;
    if (*record != NULL)
        return hf__scan_options(scan, args + 3, count - 3, false);
    hf__scan_reply_cursor(tx, 0);
    hf__reply_array(tx, 0);
    return false;
}

bool hf__scan_fits(const hf__scan *scan, hf_bytes name)
{
    return scan == NULL || !scan->filter || hf__glob_fits(scan->pattern, name);
}

/* ----------------------------------------------------------------- places */

static uint64_t cursor_of(hf_bytes name)
{
    uint64_t cursor = hf__hash(name, 0) >> (64 - HF__SCAN_BITS);

    return cursor != 0 ? cursor : 1; /* 0 means the beginning and the end */
}

static hf__scan_position *find_position(hf__env *env, uint64_t cursor)
{
    for (size_t i = 0; env->scan_positions != NULL && i < HF__SCAN_POSITIONS;
         i++) {
        if (env->scan_positions[i].cursor == cursor)
            return &env->scan_positions[i];
    }
    return NULL;
}

/* The scan's position, or an unused one, or the oldest. NULL: no memory. */
static hf__scan_position *choose_position(hf__env *env, uint64_t cursor)
{
    hf__scan_position *position;

    if (env->scan_positions == NULL)
        env->scan_positions = hf__calloc(HF__SCAN_POSITIONS, sizeof(*position));
    if (env->scan_positions == NULL)
        return NULL;
    position = cursor != 0 ? find_position(env, cursor) : NULL;
    if (position != NULL)
        return position;
    position = &env->scan_positions[0];
    for (size_t i = 1; i < HF__SCAN_POSITIONS; i++) {
        if (env->scan_positions[i].stamp < position->stamp)
            position = &env->scan_positions[i];
    }
    return position;
}

size_t hf__scan_position_name(const hf__scan *scan, hf_bytes prefix,
                              unsigned char name[HF__LMDB_KEY_MAX])
{
    hf__env *env = scan->tx->env;
    const hf__scan_position *position;
    size_t size = 0;

    pthread_mutex_lock(&env->readers_lock);
    position = find_position(env, scan->cursor);
    if (position != NULL && position->size >= prefix.size &&
        memcmp(position->name, prefix.data, prefix.size) == 0) {
        size = position->size;
        memcpy(name, position->name, size);
    }
    pthread_mutex_unlock(&env->readers_lock);
    return size;
}

bool hf__scan_is_at(const hf__scan *scan, const MDB_val *name)
{
    return cursor_of(hf_view(name->mv_data, name->mv_size)) == scan->cursor;
}

uint64_t hf__scan_next(const hf__scan *scan, const MDB_val *name)
{
    hf__env *env = scan->tx->env;
    hf__scan_position *position;
    uint64_t cursor = 0;

    if (name != NULL)
        cursor = cursor_of(hf_view(name->mv_data, name->mv_size));
    pthread_mutex_lock(&env->readers_lock);
    if (name != NULL) {
        position = choose_position(env, scan->cursor);
        if (position != NULL) {
            position->cursor = cursor;
            position->stamp = ++env->scan_stamp;
            position->size = name->mv_size;
            memcpy(position->name, name->mv_data, name->mv_size);
        }
    } else if (scan->cursor != 0) {
        position = find_position(env, scan->cursor);
        if (position != NULL)
            memset(position, 0, sizeof(*position));
    }
    pthread_mutex_unlock(&env->readers_lock);
    return cursor;
}

/* --------------------------------------------------------------- elements */

/* Search all of them for the one to continue at. false: not found. */
static bool search_element(const hf__scan *scan, hf__walk *walk, uint64_t keyid)
{
    unsigned char copy[HF__LMDB_KEY_MAX];
    bool found = false;
    size_t size = 0;
    hf_bytes name;

    (void)hf__walk_begin(walk, scan->tx, HF__RECORD_ELEMENT, keyid);
    while (!found && hf__walk_next(walk, &name, NULL, NULL))
        found = hf__scan_is_at(scan, &walk->key);
    if (found) {
        size = walk->key.mv_size;
        memcpy(copy, walk->key.mv_data, size);
    }
    hf__walk_end(walk);
    return found && hf__walk_begin_record(walk, scan->tx, HF__RECORD_ELEMENT,
                                          keyid, hf_view(copy, size));
}

static void begin_elements(const hf__scan *scan, hf__walk *walk, uint64_t keyid)
{
    unsigned char name[HF__LMDB_KEY_MAX];
    unsigned char prefix[9] = {HF__RECORD_ELEMENT};
    size_t size = 0;

    hf__put_be64(prefix + 1, keyid);
    if (scan->cursor != 0)
        size =
            hf__scan_position_name(scan, hf_view(prefix, sizeof(prefix)), name);
    if (size > 0)
        (void)hf__walk_begin_record(walk, scan->tx, HF__RECORD_ELEMENT, keyid,
                                    hf_view(name, size));
    else if (scan->cursor == 0 || !search_element(scan, walk, keyid))
        (void)hf__walk_begin(walk, scan->tx, HF__RECORD_ELEMENT, keyid);
}

uint64_t hf__scan_elements(const hf__scan *scan, const hf__record *record,
                           hf__scan_visit *visit, hf__members *list)
{
    uint64_t left = scan->count;
    uint64_t cursor = 0;
    hf_bytes name, value;
    hf__walk walk;
    bool more;

    begin_elements(scan, &walk, record->keyid);
    while ((more = hf__walk_next(&walk, &name, &value, NULL)) && left > 0) {
        left--;
        if (hf__scan_fits(scan, name) && !visit(list, name, value))
            break;
    }
    cursor = hf__scan_next(scan, more ? &walk.key : NULL);
    hf__walk_end(&walk);
    return cursor;
}

/* ---------------------------------------------------------------- answers */

void hf__scan_reply_cursor(hf__tx *tx, uint64_t cursor)
{
    char text[HF__NUMBER_TEXT_SIZE];

    hf__reply_array(tx, 2);
    hf__reply_bytes(tx, text, hf__number_put_integer(text, (int64_t)cursor));
}
