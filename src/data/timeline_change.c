/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_change.c - changing an item of a timeline; removing the oldest, or
 * all.
 */
#include <string.h>

#include "core/form.h"
#include "data/timeline_items.h"
#include "data/timeline_labels.h"
#include "holdfast/timeline.h"
#include "util/error.h"

/* ------------------------------------------------------------------ update */

static bool wrote_update(const hf__request *request)
{
    return request->reply.integer == 1;
}

static const hf__operation update = {
    .script = HF__SCRIPT(TIMELINE_UPDATE),
    .wrote = wrote_update,
    .finish = hf__finish_found,
    .absent = "no such item",
};

static void add_update(hf_call *call, const hf_timeline_update_options *o)
{
    bool replace = (o->flags & HF_TIMELINE_REPLACE) != 0;

    hf__add(call, hf_str(o->payload != NULL ? "1" : "0"));
    hf__add_value(call, o->payload != NULL ? *o->payload : hf_str(""));
    hf__add_number(call, o->at_ms * HF__US_PER_MS);
    hf__add_number(call, o->ttl_ms);
    hf__add_labels(call, o->attributes, o->attribute_count);
    hf__add(call, hf_str(replace ? "1" : "0"));
    hf__add_number(call, HF_ATTRIBUTE_COUNT_MAX);
}

static hf_status run_update(hf__form form, hf_client *client, hf_bytes key,
                            hf_bytes id, const hf_timeline_update_options *opts)
{
    hf_call here, *call = hf__begin(&here, form, &update, client);
    hf_error *err = call->form.err;
    hf_timeline_update_options options;

    hf__add_timeline(call, key, 8);
    hf__add_id(call, id);
    if (HF__LOAD(call, &options, opts, hf_timeline_update_options,
                 HF_TIMELINE_REPLACE) &&
        HF__TRY(call, hf__check_time(options.at_ms, "at_ms", err)) &&
        (options.ttl_ms == 0 ||
         HF__TRY(call, hf__check_ttl(options.ttl_ms, "ttl_ms", err))))
        add_update(call, &options);
    return hf__end(call);
}

HF__FORMS(hf_timeline_update, run_update(form, client, key, id, opts),
          hf_client *client, hf_bytes key, hf_bytes id,
          const hf_timeline_update_options *opts);

/* ------------------------------------------------------------------ delete */

static const hf__operation delete_all = {
    .script = HF__SCRIPT(TIMELINE_DELETE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no such timeline",
};

static hf_status run_delete(hf__form form, hf_client *client, hf_bytes key)
{
    hf_call here, *call = hf__begin(&here, form, &delete_all, client);

    hf__add_timeline(call, key, 0);
    return hf__end(call);
}

HF__FORMS(hf_timeline_delete, run_delete(form, client, key), hf_client *client,
          hf_bytes key);

/* -------------------------------------------------------------------- trim */

static hf_status finish_trim(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_timeline_trimmed *trimmed = call->out;

    (void)err;
    trimmed->removed = (size_t)reply->array.items[0].integer;
    trimmed->more = reply->array.items[1].integer != 0;
    return HF_OK;
}

static bool trimmed_some(const hf__request *request)
{
    return request->reply.array.items[0].integer > 0;
}

static const hf__operation trim = {
    .script = HF__SCRIPT(TIMELINE_TRIM),
    .wrote = trimmed_some,
    .finish = finish_trim,
};

static hf_status check_keep(int64_t keep, hf_error *err)
{
    if (keep >= -1)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "keep is %lld; it must be -1 or more",
                    (long long)keep);
}

/* Positions by time begin with two NULs. */
static void add_end(hf_call *call, int64_t to_ms)
{
    char *end = hf__call_alloc(call, 3 + HF__LABEL_DIGITS);

    if (end == NULL)
        return;
    memcpy(end, "(\0\0", 3);
    (void)hf__label_put_time(end + 3, to_ms + 1);
    hf__add(call, hf_view(end, to_ms == 0 ? 0 : 3 + HF__LABEL_DIGITS));
}

static hf_status run_trim(hf__form form, hf_client *client, hf_bytes key,
                          int64_t to_ms, int64_t keep, hf_timeline_trimmed *out)
{
    hf_call here, *call = hf__begin(&here, form, &trim, client);

    hf__add_timeline(call, key, 2);
    hf__set_out(call, out, "trimmed");
    if (HF__TRY(call, hf__check_time(to_ms, "to_ms", call->form.err)) &&
        HF__TRY(call, check_keep(keep, call->form.err))) {
        add_end(call, to_ms);
        hf__add_number(call, keep);
    }
    return hf__end(call);
}

HF__FORMS(hf_timeline_trim, run_trim(form, client, key, to_ms, keep, trimmed),
          hf_client *client, hf_bytes key, int64_t to_ms, int64_t keep,
          hf_timeline_trimmed *trimmed);
