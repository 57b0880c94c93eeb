/* SPDX-License-Identifier: Apache-2.0 */
/* dump_content.c - see dump_content.h. */
#include "support/dump_content.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* ---------------------------------------------------------------- reading */

/* `count` items, one more of which is to be added. NULL: no memory. */
static void *grown_array(hf__arena *arena, void *items, size_t count,
                         size_t size)
{
    void *more = items;

    if (count > 0 && (count & (count - 1)) != 0)
        return more;
    more = hf__arena_alloc(arena, (count > 0 ? 2 * count : 1) * size);
    if (more != NULL && count > 0)
        memcpy(more, items, count * size);
    return more;
}

static bool add_key(dump_content *content, const hf__dump_reader *reader)
{
    dump_key *keys = grown_array(&content->arena, content->keys, content->count,
                                 sizeof(*keys));
    char *name =
        hf__arena_copy(&content->arena, reader->key.data, reader->key.size);

    if (keys == NULL || name == NULL)
        return false;
    content->keys = keys;
    keys[content->count++] =
        (dump_key){.name = hf_view(name, reader->key.size),
                   .type = reader->type,
                   .expires_unix_ms = reader->expires_unix_ms};
    return true;
}

/* A piece of the element `number` of the last key. */
static bool add_piece(dump_content *content, const hf__dump_reader *reader,
                      size_t number)
{
    dump_key *key = &content->keys[content->count - 1];
    size_t each = hf__dump_group(key->type);
    char *room;

    if (reader->offset > 0) {
        hf_bytes *part = &key->groups[number / each].part[number % each];

        memcpy((char *)(uintptr_t)part->data + reader->offset,
               reader->piece.data, reader->piece.size);
        return true;
    }
    if (number % each == 0) {
        key->groups = grown_array(&content->arena, key->groups, key->count,
                                  sizeof(*key->groups));
        if (key->groups == NULL)
            return false;
        memset(&key->groups[key->count++], 0, sizeof(*key->groups));
    }
    room = hf__arena_alloc(&content->arena, reader->total + 1);
    if (room == NULL)
        return false;
    if (reader->piece.size > 0)
        memcpy(room, reader->piece.data, reader->piece.size);
    key->groups[number / each].part[number % each] =
        hf_view(room, reader->total);
    return true;
}

static bool take_event(dump_content *content, const hf__dump_reader *reader,
                       hf__dump_event event, size_t *number)
{
    switch (event) {
    case HF__DUMP_AT_KEY:
        *number = 0;
        return add_key(content, reader);
    case HF__DUMP_AT_PIECE:
        if (!add_piece(content, reader, *number))
            return false;
        *number += reader->offset + reader->piece.size == reader->total;
        return true;
    case HF__DUMP_AT_DROP:
        content->count--;
        return true;
    default:
        return true;
    }
}

static hf_status read_events(dump_content *content, hf__dump_reader *reader,
                             hf_error *err)
{
    hf__dump_event event = HF__DUMP_AT_KEY;
    hf_status status = hf__dump_reader_begin(reader, err);
    size_t number = 0;

    while (status == HF_OK && event != HF__DUMP_AT_END) {
        status = hf__dump_reader_next(reader, &event, err);
        if (status == HF_OK && !take_event(content, reader, event, &number))
            status = hf__fail(err, HF_NO_MEMORY, "out of memory");
    }
    return status;
}

/* ---------------------------------------------------------------- sorting */

static int compare_bytes(hf_bytes a, hf_bytes b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_groups(const void *a, const void *b)
{
    const dump_group *one = a;
    const dump_group *other = b;

    return compare_bytes(one->part[0], other->part[0]);
}

static int compare_keys(const void *a, const void *b)
{
    const dump_key *one = a;
    const dump_key *other = b;

    return compare_bytes(one->name, other->name);
}

static void sort_all(dump_content *content)
{
    if (content->count > 0)
        qsort(content->keys, content->count, sizeof(*content->keys),
              compare_keys);
    for (size_t i = 0; i < content->count; i++) {
        dump_key *key = &content->keys[i];

        if (key->type != HF__DUMP_LIST && key->count > 0)
            qsort(key->groups, key->count, sizeof(*key->groups),
                  compare_groups);
    }
}

hf_status dump_content_read(dump_content *content, dump_tape *tape,
                            hf_error *err)
{
    hf__dump_reader reader = {.read = dump_tape_take, .user = tape};
    hf_status status;

    memset(content, 0, sizeof(*content));
    hf__arena_init(&content->arena);
    status = read_events(content, &reader, err);
    hf__dump_reader_done(&reader);
    if (status == HF_OK)
        sort_all(content);
    return status;
}

void dump_content_done(dump_content *content)
{
    hf__arena_free(&content->arena);
}

/* -------------------------------------------------------------- comparing */

static bool report_difference(const dump_key *key, const char *what,
                              hf_error *why)
{
    char quoted[HF__QUOTED_SIZE];

    (void)hf__fail(why, HF_CONFLICT, "key %s: %s",
                   hf__quoted(quoted, key->name), what);
    return false;
}

static bool same_groups(const dump_key *a, const dump_key *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < hf__dump_group(a->type); k++) {
            if (compare_bytes(a->groups[i].part[k], b->groups[i].part[k]) != 0)
                return false;
        }
    }
    return true;
}

static bool same_key(const dump_key *a, const dump_key *b, hf_error *why)
{
    if (compare_keys(a, b) != 0)
        return report_difference(a, "it is in one store only", why);
    if (a->type != b->type)
        return report_difference(a, "another type", why);
    if (a->expires_unix_ms != b->expires_unix_ms)
        return report_difference(a, "another expiry", why);
    if (a->count != b->count)
        return report_difference(a, "another count of elements", why);
    return same_groups(a, b) || report_difference(a, "another content", why);
}

bool dump_content_equal(const dump_content *a, const dump_content *b,
                        hf_error *why)
{
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        if (i >= a->count || i >= b->count)
            return report_difference(i < a->count ? &a->keys[i] : &b->keys[i],
                                     "it is in one store only", why);
        if (!same_key(&a->keys[i], &b->keys[i], why))
            return false;
    }
    return true;
}
