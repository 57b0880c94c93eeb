/* SPDX-License-Identifier: Apache-2.0 */
/* rank_trim.c - removing the members of a rank that are due, and the lowest. */
#include "core/form.h"
#include "data/rank_words.h"
#include "holdfast/rank.h"

static hf_status finish_trim(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_rank_trimmed *trimmed = call->out;

    (void)err;
    trimmed->removed = (size_t)items[0].integer;
    trimmed->more = items[1].integer != 0;
    return HF_OK;
}

static bool trimmed_some(const hf__request *request)
{
    return request->reply.array.items[0].integer > 0;
}

static const hf__operation trim = {
    .script = HF__SCRIPT(RANK_TRIM),
    .wrote = trimmed_some,
    .finish = finish_trim,
};

static hf_status run_trim(hf__form form, hf_client *client, hf_bytes key,
                          int64_t keep, hf_rank_trimmed *trimmed)
{
    hf_call here, *call = hf__begin(&here, form, &trim, client);

    hf__add_rank_keys(call, key, 1);
    hf__set_out(call, trimmed, "trimmed");
    if (HF__TRY(call, hf__check_range(keep, -1, INT64_C(1) << 52, "keep",
                                      call->form.err)))
        hf__add_number(call, keep);
    return hf__end(call);
}

HF__FORMS(hf_rank_trim, run_trim(form, client, key, keep, trimmed),
          hf_client *client, hf_bytes key, int64_t keep,
          hf_rank_trimmed *trimmed);
