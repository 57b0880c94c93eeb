/* SPDX-License-Identifier: Apache-2.0 */
/* value_append.c - appending to a value. */
#include "core/form.h"
#include "holdfast/value.h"

static hf_status finish(hf_call *call, hf_error *err)
{
    (void)err;
    if (call->out != NULL)
        *(size_t *)call->out = (size_t)call->request.reply.integer;
    return HF_OK;
}

static bool wrote(const hf__request *request)
{
    (void)request;
    return true;
}

/* A second run would append twice. */
static const hf__operation append = {
    .command = "APPEND",
    .answer = HF__SHAPE_INTEGER(0, INT64_MAX),
    .wrote = wrote,
    .finish = finish,
};

static hf_status run_append(hf__form form, hf_client *client, hf_bytes key,
                            hf_bytes value, size_t *size)
{
    hf_call here, *call = hf__begin(&here, form, &append, client);

    hf__add_key(call, key);
    hf__add_value(call, value);
    hf__set_out(call, size, NULL);
    return hf__end(call);
}

HF__FORMS(hf_value_append, run_append(form, client, key, value, size),
          hf_client *client, hf_bytes key, hf_bytes value, size_t *size);
