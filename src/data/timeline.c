/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.c - adding, reading, removing and counting the items of a timeline.
 *
 * As in value.c no write is sent twice.
 */
#include "holdfast/timeline.h"
#include "core/form.h"
#include "data/timeline_items.h"
#include "data/timeline_labels.h"
#include "util/error.h"

/* --------------------------------------------------------------------- add */

static hf_status finish_add(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer != 0)
        return HF_OK;
    return hf__fail(err, HF_CONFLICT, "the item exists");
}

static const hf__operation add = {
    .script = HF__SCRIPT(TIMELINE_ADD),
    .wrote = hf__wrote_number,
    .finish = finish_add,
};

static hf_status run_add(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes id, hf_bytes payload, int64_t ttl_ms,
                         const hf_timeline_add_options *opts)
{
    hf_call here, *call = hf__begin(&here, form, &add, client);
    hf_error *err = call->form.err;
    hf_timeline_add_options options;

    hf__add_timeline(call, key, 6);
    hf__add_id(call, id);
    hf__add_value(call, payload);
    if (HF__LOAD(call, &options, opts, hf_timeline_add_options,
                 HF_TIMELINE_NX) &&
        HF__TRY(call, hf__check_time(options.at_ms, "at_ms", err)) &&
        HF__TRY(call, hf__check_ttl(ttl_ms, "ttl_ms", err))) {
        hf__add_number(call, options.at_ms * HF__US_PER_MS);
        hf__add_number(call, ttl_ms);
        hf__add_labels(call, options.attributes, options.attribute_count);
        hf__add(call,
                hf_str((options.flags & HF_TIMELINE_NX) != 0 ? "nx" : ""));
    }
    return hf__end(call);
}

HF__FORMS(hf_timeline_add,
          run_add(form, client, key, id, payload, ttl_ms, opts),
          hf_client *client, hf_bytes key, hf_bytes id, hf_bytes payload,
          int64_t ttl_ms, const hf_timeline_add_options *opts);

static hf_status add_item(hf__form form, hf_client *client, hf_bytes key,
                          const hf_timeline_add_item *item, uint32_t flags)
{
    hf_timeline_add_options options = HF_TIMELINE_ADD_OPTIONS_INIT;

    options.flags = flags;
    options.at_ms = item->at_ms;
    options.attributes = item->attributes;
    options.attribute_count = item->attribute_count;
    return run_add(form, client, key, item->id, item->payload, item->ttl_ms,
                   &options);
}

HF__MANY(hf_timeline_add_many, items,
         add_item(form, client, key, &items[i], flags), hf_client *client,
         hf_bytes key, const hf_timeline_add_item *items, size_t count,
         uint32_t flags);

/* --------------------------------------------------------------------- get */

static hf_status finish_get(hf_call *call, hf_error *err)
{
    if (call->request.reply.array.count == HF__ITEMS_FIRST)
        return hf__fail(err, HF_NOT_FOUND, "no such item");
    return hf__finish_items(call, err);
}

static const hf__operation get = {
    .script = HF__SCRIPT(TIMELINE_GET),
    .finish = finish_get,
};

static hf_status run_get(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes id, hf_timeline_items *found)
{
    hf_call here, *call = hf__begin(&here, form, &get, client);

    hf__add_timeline(call, key, 1);
    hf__add_id(call, id);
    hf__set_out(call, found, "found");
    return hf__end(call);
}

HF__FORMS(hf_timeline_get, run_get(form, client, key, id, found),
          hf_client *client, hf_bytes key, hf_bytes id,
          hf_timeline_items *found);

/* ------------------------------------------------------------------ remove */

static const hf__operation remove = {
    .script = HF__SCRIPT(TIMELINE_REMOVE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no such item",
};

static hf_status run_remove(hf__form form, hf_client *client, hf_bytes key,
                            hf_bytes id)
{
    hf_call here, *call = hf__begin(&here, form, &remove, client);

    hf__add_timeline(call, key, 1);
    hf__add_id(call, id);
    return hf__end(call);
}

HF__FORMS(hf_timeline_remove, run_remove(form, client, key, id),
          hf_client *client, hf_bytes key, hf_bytes id);

HF__MANY(hf_timeline_remove_many, ids, run_remove(form, client, key, ids[i]),
         hf_client *client, hf_bytes key, const hf_bytes *ids, size_t count);

/* ------------------------------------------------------------------- count */

static hf_status finish_count(hf_call *call, hf_error *err)
{
    (void)err;
    *(size_t *)call->out = (size_t)call->request.reply.integer;
    return HF_OK;
}

static const hf__operation count_items = {
    .script = HF__SCRIPT(TIMELINE_COUNT),
    .finish = finish_count,
};

static hf_status run_count(hf__form form, hf_client *client, hf_bytes key,
                           size_t *count)
{
    hf_call here, *call = hf__begin(&here, form, &count_items, client);

    hf__add_key(call, key);
    hf__add_own_key(call, HF__ROLE_DUE, key);
    hf__set_out(call, count, "count");
    return hf__end(call);
}

HF__FORMS(hf_timeline_count, run_count(form, client, key, count),
          hf_client *client, hf_bytes key, size_t *count);
