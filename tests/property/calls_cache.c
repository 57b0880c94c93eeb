/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_cache.c - the calls of cache.h: entries, one of which may be the
 * knowledge that there is no value, and a tag that some of them have.
 */
#include "holdfast/cache.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[ENTRIES] = {"{c}1", "{c}2"};

static size_t entry_at(const step *s)
{
    return s->n[0] % ENTRIES;
}

static hf_bytes name_of(const step *s)
{
    return hf_str(names[entry_at(s)]);
}

static hf_bytes tag(void)
{
    return hf_str("{c}tag");
}

/* Not one that expires at once: reading does not show when it is gone. */
static bool is_absent(const step *s)
{
    return s->n[3] % 4 == 1 && item_ttl_at(s, 2) != TTL_BRIEF;
}

static bool is_tagged(const step *s)
{
    return s->n[4] % 2 == 1;
}

/* Its time to live is an item's: there must be one. */
static hf_cache_options options_of(const step *s, hf_bytes *tags)
{
    hf_cache_options opts = HF_CACHE_OPTIONS_INIT;

    *tags = tag();
    opts.ttl_ms = ttl_ms(item_ttl_at(s, 2));
    opts.early_percent = -1;
    opts.tags = tags;
    opts.tag_count = is_tagged(s) ? 1 : 0;
    return opts;
}

static void store_entry(model *m, const step *s, bool absent)
{
    m->entries[entry_at(s)] =
        (model_entry){.there = true,
                      .ttl = item_ttl_at(s, 2),
                      .tagged = is_tagged(s),
                      .value = absent ? (blob){0} : blob_of(value_at(s, 1))};
}

static void run_put(place *at, const step *s, text *out)
{
    hf_bytes tags;
    hf_cache_options opts = options_of(s, &tags);

    opts.early_percent = 0;
    opts.flags = is_absent(s) ? HF_CACHE_ABSENT : 0;
    text_status(out, CALL(at, hf_cache_put, at->client, name_of(s),
                          value_at(s, 1), &opts));
}

static void expect_put(model *m, const step *s, text *out)
{
    store_entry(m, s, is_absent(s));
    text_status(out, HF_OK);
}

static void fill(void *user, hf_cache_fill *started)
{
    (void)!hf_cache_fill_done(started, HF_OK, value_at(user, 1), NULL);
}

static void run_fill(place *at, const step *s, text *out)
{
    step filled = *s;
    hf_bytes tags;
    hf_cache_options opts = options_of(s, &tags);
    hf_buffer value = HF_BUFFER_INIT;

    text_status(out, hf_cache_get_or_fill(at->client, name_of(s), fill, &filled,
                                          &opts, &value, NULL, NULL));
    text_buffer(out, &value);
}

static void expect_fill(model *m, const step *s, text *out)
{
    const model_entry *entry = &m->entries[entry_at(s)];

    if (!entry->there)
        store_entry(m, s, false);
    text_status(out, entry->value.there ? HF_OK : HF_NOT_FOUND);
    text_add(out, " ");
    text_blob(out, &entry->value);
}

static void run_get(place *at, const step *s, text *out)
{
    hf_buffer value = HF_BUFFER_INIT;

    text_status(out, hf_cache_get(at->client, name_of(s), NULL, &value, NULL));
    text_buffer(out, &value);
}

static void expect_get(model *m, const step *s, text *out)
{
    const model_entry *entry = &m->entries[entry_at(s)];

    text_status(out, entry->there && entry->value.there ? HF_OK : HF_NOT_FOUND);
    text_add(out, " ");
    text_blob(out, &entry->value);
}

/* Whether something was left of an entry or a tag is not modelled. */
static void show_done(hf_status status, text *out)
{
    text_status(out, status == HF_NOT_FOUND ? HF_OK : status);
}

static void run_delete(place *at, const step *s, text *out)
{
    show_done(CALL(at, hf_cache_delete, at->client, name_of(s)), out);
}

static void expect_delete(model *m, const step *s, text *out)
{
    m->entries[entry_at(s)] = (model_entry){0};
    text_status(out, HF_OK);
}

static void run_invalidate(place *at, const step *s, text *out)
{
    (void)s;
    show_done(CALL(at, hf_cache_invalidate, at->client, tag()), out);
}

static void expect_invalidate(model *m, const step *s, text *out)
{
    (void)s;
    for (size_t i = 0; i < ENTRIES; i++) {
        if (m->entries[i].tagged && !model_cheats(m, "tag"))
            m->entries[i] = (model_entry){0};
    }
    text_status(out, HF_OK);
}

const call cache_calls[] = {
    {"cache put", "nvlnn", run_put, expect_put},
    {"cache put", "nvlnn", run_put, expect_put},
    {"cache get or fill", "nvlnn", run_fill, expect_fill},
    {"cache get", "n", run_get, expect_get},
    {"cache delete", "n", run_delete, expect_delete},
    {"cache invalidate", "", run_invalidate, expect_invalidate},
};
const size_t cache_call_count = COUNT(cache_calls);

/* ---------------------------------------------------------------------- all */

void cache_read_store(hf_client *client, text *out)
{
    place at = {.client = client};

    for (uint8_t i = 0; i < ENTRIES; i++)
        run_get(&at, &(step){.n = {i}}, out);
}

void cache_read_model(model *m, text *out)
{
    for (uint8_t i = 0; i < ENTRIES; i++)
        expect_get(m, &(step){.n = {i}}, out);
}

void cache_empty(hf_client *client)
{
    for (size_t i = 0; i < ENTRIES; i++)
        (void)!hf_cache_delete(client, hf_str(names[i]), NULL);
}
