/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - storing, deleting and invalidating cache entries. Reading them is
 * cache_get.c and cache_start.c.
 */
#include "holdfast/cache.h"
#include "core/form.h"
#include "core/own_key.h"
#include "data/cache_entry.h"
#include "util/error.h"
#include "util/rand.h"

static void add_entry_keys(hf_call *call, hf_bytes key)
{
    hf__add_key(call, key);
    hf__add_own_key(call, HF__ROLE_CACHE, key);
    hf__add_own_key(call, HF__ROLE_FILL, key);
    hf__add_own_key(call, HF__ROLE_WAIT, key);
}

/* --------------------------------------------------------------------- put */

/* Only the end of a fill is refused. */
static hf_status finish_put(hf_call *call, hf_error *err)
{
    return call->request.reply.integer == 1 ? HF_OK
                                            : hf__bad_reply("cache_put", err);
}

static const hf__operation put = {
    .script = HF__SCRIPT(CACHE_PUT),
    .wrote = hf__wrote_number,
    .finish = finish_put,
    .alone = true, /* what it publishes cannot be undone */
};

static void add_token(hf_call *call)
{
    char *token = hf__call_alloc(call, HF__CACHE_TOKEN_DIGITS + 1);

    if (token == NULL)
        return;
    hf__rand_hex(token, HF__CACHE_TOKEN_DIGITS / 2);
    hf__add(call, hf_str(token));
}

/* `-`: nothing has to be known about the entry. */
static void add_names(hf_call *call, const hf_cache_options *o)
{
    bool plain = o->tag_count == 0 && (o->flags & HF_CACHE_ABSENT) == 0 &&
                 o->stale_ms == 0 && o->error_ms == 0;
    char *at =
        hf__call_alloc(call, hf__cache_names_size(o->tags, o->tag_count));

    if (at != NULL)
        hf__add(call, plain ? hf_str("-")
                            : hf__cache_names_put(o->tags, o->tag_count, at));
}

static void add_put(hf_call *call, hf_bytes value, hf_cache_options *o)
{
    bool absent = (o->flags & HF_CACHE_ABSENT) != 0;
    int64_t ttl_ms = hf__cache_jitter(o, o->ttl_ms);

    if (absent)
        o->stale_ms = o->error_ms = 0;
    for (size_t i = 0; i < o->tag_count; i++)
        hf__add_own_key(call, HF__ROLE_TAG, o->tags[i]);
    add_token(call);
    hf__add_value(call, absent ? hf_str("") : value);
    hf__add(call, hf_str(absent ? "absent" : "value"));
    hf__add_number(call, hf__cache_keep_ms(o, ttl_ms));
    hf__add_number(call, ttl_ms);
    hf__add_number(call, o->stale_ms);
    hf__add_number(call, o->error_ms);
    hf__add_number(call, 0);
    add_names(call, o);
    hf__add(call, hf_str("-"));
}

static hf_status run_put(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes value, const hf_cache_options *opts)
{
    hf_call here, *call = hf__begin(&here, form, &put, client);
    hf_cache_options options;

    hf__reserve(call, 4 + HF_CACHE_TAGS_MAX + 10);
    add_entry_keys(call, key);
    if (HF__TRY(call, hf__cache_options_load(&options, opts, HF_CACHE_ABSENT,
                                             true, call->form.err)))
        add_put(call, value, &options);
    return hf__end(call);
}

HF__FORMS(hf_cache_put, run_put(form, client, key, value, opts),
          hf_client *client, hf_bytes key, hf_bytes value,
          const hf_cache_options *opts);

HF__MANY(hf_cache_put_many, items,
         run_put(form, client, items[i].key, items[i].value, opts),
         hf_client *client, const hf_cache_put_item *items, size_t count,
         const hf_cache_options *opts);

/* ------------------------------------------------------------------ delete */

static const hf__operation delete = {
    .script = HF__SCRIPT(CACHE_DELETE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no such cache entry",
    .alone = true,
};

static hf_status run_delete(hf__form form, hf_client *client, hf_bytes key)
{
    hf_call here, *call = hf__begin(&here, form, &delete, client);

    add_entry_keys(call, key);
    return hf__end(call);
}

HF__FORMS(hf_cache_delete, run_delete(form, client, key), hf_client *client,
          hf_bytes key);

HF__MANY(hf_cache_delete_many, keys, run_delete(form, client, keys[i]),
         hf_client *client, const hf_bytes *keys, size_t count);

/* -------------------------------------------------------------- invalidate */

/* Entries whose tag has no version are not valid. A second run can only
 * invalidate more. */
static const hf__operation invalidate = {
    .command = "DEL",
    .repeatable = true,
    .answer = HF__SHAPE_INTEGER(0, 1),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no cache entry has this tag",
    .alone = true,
};

static hf_status run_invalidate(hf__form form, hf_client *client, hf_bytes tag)
{
    hf_call here, *call = hf__begin(&here, form, &invalidate, client);

    hf__add_own_key(call, HF__ROLE_TAG, tag);
    return hf__end(call);
}

HF__FORMS(hf_cache_invalidate, run_invalidate(form, client, tag),
          hf_client *client, hf_bytes tag);

HF__MANY(hf_cache_invalidate_many, tags, run_invalidate(form, client, tags[i]),
         hf_client *client, const hf_bytes *tags, size_t count);
