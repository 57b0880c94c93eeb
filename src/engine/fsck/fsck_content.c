/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_content.c - checks the content of a small collection, and the record of
 * libraries of functions.
 *
 * Entries must fill the content exactly, be as many as the record says, be
 * distinct, and in a sorted set be in order.
 */
#include <math.h>
#include <string.h>

#include "engine/files/format.h"
#include "engine/fsck/fsck.h"
#include "engine/keys/function_record.h"
#include "store/limits.h"
#include "util/hash_bytes.h"

/* More than twice the most entries: each has a head of at least 4 bytes. */
#define SLOTS 512u

typedef struct content_entry {
    hf_bytes name;
    double score;
    size_t size; /* with its head */
} content_entry;

static uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

/* The entry at `at`, within `left` bytes. false: damaged. */
static bool read_entry(uint8_t type, const unsigned char *at, size_t left,
                       content_entry *result)
{
    size_t head = type == HF__TYPE_HASH ? 8 : type == HF__TYPE_ZSET ? 12 : 4;
    size_t name_size, more = 0;

    if (left < head)
        return false;
    result->score = 0;
    if (type == HF__TYPE_HASH)
        more = read_u32(at + 4);
    if (type == HF__TYPE_ZSET)
        memcpy(&result->score, at, sizeof(result->score));
    name_size = read_u32(type == HF__TYPE_ZSET ? at + 8 : at);
    if (name_size > left - head || more > left - head - name_size)
        return false;
    result->name = hf_view(at + head, name_size);
    result->size = head + name_size + more;
    return true;
}

/* Names seen so far, by their hash. */
typedef struct seen {
    hf_bytes names[SLOTS];
    uint32_t count;
} seen;

/* false: seen before. */
static bool note_name(seen *all, hf_bytes name)
{
    size_t at = hf__hash(name, 0) % SLOTS;

    for (; all->names[at].data != NULL; at = (at + 1) % SLOTS) {
        if (hf__pages_compare(all->names[at], name) == 0)
            return false;
    }
    all->names[at] = name;
    all->count++;
    return true;
}

static bool is_behind(const content_entry *at, const content_entry *before)
{
    if (!hf__is_score(at->score))
        return false;
    if (at->score > before->score || at->score < before->score)
        return at->score > before->score;
    return hf__pages_compare(at->name, before->name) > 0;
}

bool hf__fsck_content(hf__fsck *fsck, hf_bytes key, uint8_t type,
                      const unsigned char *content, size_t size, uint64_t count)
{
    hf__finding_code code = HF__FOUND_NONE;
    content_entry at, before = {.score = -INFINITY};
    uint64_t found = 0;
    size_t offset = 0;
    seen names;

    memset(&names, 0, sizeof(names));
    if (size > HF__INLINE_MAX)
        code = HF__FOUND_KEY_CONTENT;
    while (code == HF__FOUND_NONE && offset < size) {
        if (!read_entry(type, content + offset, size - offset, &at)) {
            code = HF__FOUND_KEY_CONTENT;
            break;
        }
        if ((type == HF__TYPE_ZSET && found > 0 && !is_behind(&at, &before)) ||
            !hf__is_score(at.score))
            code = HF__FOUND_KEY_ORDER;
        else if (type != HF__TYPE_LIST && !note_name(&names, at.name))
            code = HF__FOUND_KEY_CONTENT;
        before = at;
        offset += at.size;
        found++;
    }
    if (code == HF__FOUND_NONE && found == 0 && count == 0)
        code = HF__FOUND_KEY_EMPTY;
    else if (code == HF__FOUND_NONE && (found != count || found == 0))
        code = HF__FOUND_KEY_COUNT;
    if (code == HF__FOUND_NONE)
        return true;
    hf__fsck_report(fsck, code, 0, key, found, count);
    return false;
}

/* All of it is needed for its checksum. */
bool hf__fsck_functions(hf__fsck *fsck, const hf__item *item)
{
    size_t size = item->value_size;
    unsigned char *whole;
    bool intact;

    if (item->key.size != 1 || size > HF__FUNCTIONS_SIZE_MAX + sizeof(uint64_t))
        return false;
    if (item->value_held == size)
        return hf__functions_is_intact(item->value, size);
    whole = hf__fsck_map(fsck, size);
    if (whole == NULL)
        return true;
    intact = hf__fsck_value(fsck, item, 0, whole, size) &&
             hf__functions_is_intact(whole, size);
    hf__fsck_unmap(whole, size);
    return intact;
}
