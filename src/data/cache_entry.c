/* SPDX-License-Identifier: Apache-2.0 */
/* cache_entry.c - see cache_entry.h. */
#include "data/cache_entry.h"

#include <stdio.h>

#include "util/error.h"
#include "util/options.h"
#include "util/order.h"
#include "util/rand.h"

#define EARLY_PERCENT_MAX 10000

/* -------------------------------------------------------------------- meta */

/* What is left of the text. */
typedef struct entry_rest {
    const char *at;
    size_t size;
} entry_rest;

/* Up to `end`, which is skipped; false: it is not there. */
static bool take_item(entry_rest *left, char end, hf_bytes *part)
{
    const char *found = memchr(left->at, end, left->size);

    if (found == NULL)
        return false;
    *part = hf_view(left->at, (size_t)(found - left->at));
    left->size -= part->size + 1;
    left->at = found + 1;
    return true;
}

static bool is_text(hf_bytes part, const char *text)
{
    return part.size == strlen(text) && memcmp(part.data, text, part.size) == 0;
}

static bool read_number(hf_bytes part, int64_t *number)
{
    const char *digits = part.data;

    *number = 0;
    if (part.size == 0 || part.size > 18)
        return false;
    for (size_t i = 0; i < part.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        *number = *number * 10 + (digits[i] - '0');
    }
    return true;
}

static bool take_number(entry_rest *left, char end, int64_t *number)
{
    hf_bytes part;

    return take_item(left, end, &part) && read_number(part, number);
}

/* "took v1 v2\n": a blank before each version. */
static bool take_versions(entry_rest *left, hf__cache_meta *meta)
{
    hf_bytes line, part;
    entry_rest inner;

    if (!take_item(left, '\n', &line))
        return false;
    inner = (entry_rest){line.data, line.size};
    meta->tag_count = 0;
    if (memchr(line.data, ' ', line.size) == NULL)
        return read_number(line, &meta->took_ms);
    if (!take_number(&inner, ' ', &meta->took_ms))
        return false;
    for (;;) {
        if (meta->tag_count == HF_CACHE_TAGS_MAX)
            return false;
        if (!take_item(&inner, ' ', &part))
            break;
        meta->tags[meta->tag_count++].version = part;
    }
    meta->tags[meta->tag_count++].version = hf_view(inner.at, inner.size);
    return true;
}

static bool take_names(entry_rest *left, hf__cache_meta *meta)
{
    int64_t size;

    for (size_t i = 0; i < meta->tag_count; i++) {
        if (!take_number(left, ':', &size) || size > (int64_t)left->size)
            return false;
        meta->tags[i].name = hf_view(left->at, (size_t)size);
        left->at += size;
        left->size -= (size_t)size;
    }
    return left->size == 0;
}

bool hf__cache_meta_read(hf__cache_meta *meta, hf_bytes text)
{
    entry_rest left = {text.data, text.size};
    hf_bytes format, token, kind;

    if (!take_item(&left, ' ', &format) || !is_text(format, "1") ||
        !take_item(&left, ' ', &token) || !take_item(&left, ' ', &kind))
        return false;
    meta->absent = is_text(kind, "absent");
    return (meta->absent || is_text(kind, "value")) &&
           take_number(&left, ' ', &meta->fresh_until_ms) &&
           take_number(&left, ' ', &meta->stale_until_ms) &&
           take_number(&left, ' ', &meta->error_until_ms) &&
           take_versions(&left, meta) && take_names(&left, meta);
}

size_t hf__cache_names_size(const hf_bytes *tags, size_t count)
{
    size_t size = 1;

    for (size_t i = 0; i < count; i++)
        size += HF__NUMBER_SIZE + tags[i].size;
    return size;
}

hf_bytes hf__cache_names_put(const hf_bytes *tags, size_t count, char *at)
{
    char *start = at;

    for (size_t i = 0; i < count; i++) {
        at += snprintf(at, HF__NUMBER_SIZE, "%zu:", tags[i].size);
        memcpy(at, tags[i].data, tags[i].size);
        at += tags[i].size;
    }
    return hf_view(start, (size_t)(at - start));
}

/* ----------------------------------------------------------------- options */

static hf_status check_times(const hf_cache_options *o, bool ttl, hf_error *err)
{
    hf_status status = HF_OK;

    if (ttl)
        status = hf__check_ttl(o->ttl_ms, "ttl_ms", err);
    if (status == HF_OK)
        status =
            hf__check_range(o->stale_ms, 0, HF_TTL_MAX_MS, "stale_ms", err);
    if (status == HF_OK)
        status =
            hf__check_range(o->error_ms, 0, HF_TTL_MAX_MS, "error_ms", err);
    if (status == HF_OK)
        status =
            hf__check_range(o->absent_ms, -1, HF_TTL_MAX_MS, "absent_ms", err);
    if (status == HF_OK)
        status =
            hf__check_range(o->lease_ms, 1, HF_TTL_MAX_MS, "lease_ms", err);
    if (status == HF_OK)
        status = hf__check_range(o->wait_ms, 1, HF_FOREVER, "wait_ms", err);
    return status;
}

static hf_status check_numbers(const hf_cache_options *o, hf_error *err)
{
    hf_status status =
        hf__check_range(o->jitter_percent, 0, 100, "jitter_percent", err);

    if (status == HF_OK)
        status = hf__check_range(o->early_percent, -1, EARLY_PERCENT_MAX,
                                 "early_percent", err);
    if (status == HF_OK)
        status =
            hf__check_range((int64_t)hf__at_most((int64_t)o->tag_count, 1000),
                            0, HF_CACHE_TAGS_MAX, "tag_count", err);
    if (status == HF_OK && o->tag_count > 0)
        status = hf__check_out(o->tags, "tags", err);
    return status;
}

#define LEASE_MS 10000
#define WAIT_MS 10000
#define ABSENT_MS 1000
#define EARLY_PERCENT 100

hf_status hf__cache_options_load(hf_cache_options *options,
                                 const hf_cache_options *opts, uint32_t known,
                                 bool ttl, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), opts,
                         "hf_cache_options", err);

    if (status == HF_OK)
        status = hf__check_flags(options->flags, known, options->reserved0,
                                 "hf_cache_options", err);
    if (status != HF_OK)
        return status;
    if (options->lease_ms == 0)
        options->lease_ms = LEASE_MS;
    if (options->wait_ms == 0)
        options->wait_ms = WAIT_MS;
    if (options->absent_ms == 0)
        options->absent_ms = hf__at_most(options->ttl_ms, ABSENT_MS);
    if (options->early_percent == 0)
        options->early_percent = EARLY_PERCENT;
    status = check_times(options, ttl, err);
    return status == HF_OK ? check_numbers(options, err) : status;
}

int64_t hf__cache_keep_ms(const hf_cache_options *options, int64_t ttl_ms)
{
    return ttl_ms + hf__at_least(options->stale_ms, options->error_ms);
}

int64_t hf__cache_jitter(const hf_cache_options *options, int64_t ttl_ms)
{
    int64_t part = ttl_ms / 100 * options->jitter_percent +
                   ttl_ms % 100 * options->jitter_percent / 100;

    return part == 0 ? ttl_ms
                     : hf__at_least(ttl_ms - hf__rand_between(0, part), 1);
}
