/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - looking up the patterns of SORT. As in Redis, '*' and "->" are
 * searched only before a pattern's first NUL.
 */
#include "engine/keys/pattern.h"

#include <string.h>

#include "engine/keys/type_hash.h"
#include "engine/keys/type_string.h"
#include "util/mem.h"

typedef struct parts {
    hf_bytes head;
    hf_bytes tail;
    hf_bytes field;
    bool has_field;
} parts;

static size_t marked_size(hf_bytes pattern)
{
    return pattern.size == 0 ? 0 : strnlen(pattern.data, pattern.size);
}

static const char *find_star(hf_bytes pattern)
{
    size_t size = marked_size(pattern);

    return size == 0 ? NULL : memchr(pattern.data, '*', size);
}

bool hf__pattern_is_constant(hf_bytes pattern)
{
    return find_star(pattern) == NULL;
}

/* false: no '*'. */
static bool take_apart(hf_bytes pattern, parts *made)
{
    const char *start = pattern.data;
    const char *star = find_star(pattern);
    const char *end, *tail_end, *arrow;

    if (star == NULL)
        return false;
    end = start + marked_size(pattern);
    tail_end = start + pattern.size;
    arrow = memmem(star + 1, (size_t)(end - star - 1), "->", 2);
    made->has_field = arrow != NULL && arrow + 2 < end;
    if (made->has_field) {
        made->field = hf_view(arrow + 2, (size_t)(tail_end - arrow - 2));
        tail_end = arrow;
    }
    made->head = hf_view(start, (size_t)(star - start));
    made->tail = hf_view(star + 1, (size_t)(tail_end - star - 1));
    return true;
}

static char *put_text(char *at, hf_bytes text)
{
    if (text.size > 0)
        memcpy(at, text.data, text.size);
    return at + text.size;
}

/* The named key. NULL: not found, or fatal. */
static hf__record *find_key(hf__tx *tx, const parts *of, hf_bytes member)
{
    size_t size = of->head.size + member.size + of->tail.size;
    char *name = hf__alloc(size);
    hf__record *record;

    if (name == NULL) {
        hf__tx_no_memory(tx);
        return NULL;
    }
    put_text(put_text(put_text(name, of->head), member), of->tail);
    record = hf__key_find(tx, hf_view(name, size));
    hf__free(name);
    return record;
}

bool hf__pattern_value(hf__tx *tx, hf_bytes pattern, hf_bytes member,
                       size_t most, hf_bytes *value)
{
    hf__record *record;
    parts of;

    if (marked_size(pattern) == 1 && *(const char *)pattern.data == '#') {
        *value = member;
        return true;
    }
    if (!take_apart(pattern, &of))
        return false;
    record = find_key(tx, &of, member);
    if (record == NULL)
        return false;
    if (of.has_field)
        return record->type == HF__TYPE_HASH &&
               hf__hash_get(tx, record, of.field, value);
    if (record->type != HF__TYPE_STRING)
        return false;
    *value = hf__string_start(tx, record, most);
    return value->data != NULL;
}
