/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_revised.c - values that have a revision.
 *
 * A revision is a number of the counter that also issues fencing tokens, so it
 * never comes again. It is kept in a key of ours with the value's SHA-1, by
 * which the scripts notice writes that give no revision.
 */
#include <string.h>

#include "core/client.h"
#include "core/expiry.h"
#include "core/form.h"
#include "core/own_key.h"
#include "data/revised.h"
#include "holdfast/value.h"
#include "util/error.h"

#define LARGEST (HF__TOKEN_MAX - 1)

/* A key of the slot of another: the prefix, then a role, of which that of what
 * expires is the longest. */
static hf_bytes make_shard_key(hf_call *call, const char *role, hf_bytes near,
                               size_t prefix_size)
{
    const hf_client *client = call->client;
    const hf__store *store = client->store;
    char *text = hf__call_alloc(
        call, prefix_size + HF__SHARD_KEY_SIZE(HF__ROLE_EXPIRING));

    if (text == NULL)
        return hf_view(NULL, 0);
    if (prefix_size > 0)
        memcpy(text, client->prefix, prefix_size);
    return hf_view(
        text,
        (size_t)(hf__own_shard_key(store, role, store->ops->shard(store, near),
                                   text + prefix_size) -
                 text));
}

static void add_shard_key(hf_call *call, const char *role, hf_bytes near)
{
    hf_bytes key;

    if (call->prepared != HF_OK)
        return;
    key = make_shard_key(call, role, near, call->client->prefix_size);
    if (call->prepared == HF_OK)
        hf__add_whole_key(call, key);
}

void hf__add_last_token(hf_call *call, hf_bytes near)
{
    add_shard_key(call, HF__ROLE_TOKEN, near);
}

void hf__add_changes(hf_call *call, hf_bytes near)
{
    hf_bytes name;

    add_shard_key(call, HF__ROLE_CHANGES, near);
    add_shard_key(call, HF__ROLE_EXPIRING, near);
    if (call->prepared != HF_OK)
        return;
    name = make_shard_key(call, HF__ROLE_CHANGES, near, 0);
    hf__add_own_key(call, HF__ROLE_WAIT, name);
}

static void add_revised(hf_call *call, hf_bytes key)
{
    hf__add_key(call, key);
    hf__add_own_key(call, HF__ROLE_REVISION, key);
    hf__add_last_token(call, call->key);
    hf__add_changes(call, call->key);
}

static void add_expected(hf_call *call, uint64_t expected)
{
    if (expected != HF_REVISION_ANY && expected > LARGEST)
        (void)HF__TRY(
            call, hf__fail(call->form.err, HF_INVALID,
                           "revision is %llu; it must be at most %lld, or "
                           "HF_REVISION_ANY",
                           (unsigned long long)expected, (long long)LARGEST));
    hf__add_number(call, expected == HF_REVISION_ANY ? -1 : (int64_t)expected);
}

static int64_t item_at(const hf__request *request, size_t i)
{
    return hf_reply_integer(hf_reply_at(&request->reply, i));
}

static bool wrote_revised(const hf__request *request)
{
    return item_at(request, 0) == 1;
}

static hf_status finish_revised(hf_call *call, hf_error *err)
{
    int64_t revision = item_at(&call->request, 1);

    if (revision == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    if (call->out != NULL)
        *(uint64_t *)call->out = (uint64_t)revision;
    if (wrote_revised(&call->request))
        return HF_OK;
    return hf__fail(err, HF_CONFLICT, "the value has revision %lld",
                    (long long)revision);
}

/* --------------------------------------------------------------------- put */

static const hf__operation put_revised = {
    .script = HF__SCRIPT(VALUE_PUT_REVISED),
    .wrote = wrote_revised,
    .finish = finish_revised,
};

static hf_status check_put(const hf_value_set_options *o, hf_error *err)
{
    return hf__check_expiry(o->ttl_ms, o->expires_unix_ms,
                            (o->flags & HF_SET_KEEPTTL) != 0, "HF_SET_KEEPTTL",
                            err);
}

static hf_status run_put_revised(hf__form form, hf_client *client, hf_bytes key,
                                 hf_bytes value, uint64_t expected,
                                 const hf_value_set_options *opts,
                                 uint64_t *revision)
{
    hf_call here, *call = hf__begin(&here, form, &put_revised, client);
    hf_value_set_options options;

    add_revised(call, key);
    add_expected(call, expected);
    hf__add_value(call, value);
    hf__set_out(call, revision, NULL);
    if (HF__LOAD(call, &options, opts, hf_value_set_options, HF_SET_KEEPTTL) &&
        HF__TRY(call, check_put(&options, call->form.err))) {
        if ((options.flags & HF_SET_KEEPTTL) != 0)
            hf__add(call, hf_str("KEEPTTL"));
        hf__add_expiry(call, options.ttl_ms, options.expires_unix_ms);
    }
    return hf__end(call);
}

HF__FORMS(hf_value_put_revised,
          run_put_revised(form, client, key, value, expected, opts, revision),
          hf_client *client, hf_bytes key, hf_bytes value, uint64_t expected,
          const hf_value_set_options *opts, uint64_t *revision);

/* --------------------------------------------------------------------- get */

static hf_status finish_get_revised(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_status status;

    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    status = hf__buffer_set(call->out, hf_reply_at(reply, 1), err);
    if (status == HF_OK)
        *(uint64_t *)call->context = (uint64_t)item_at(&call->request, 0);
    return status;
}

static const hf__operation get_revised = {
    .script = HF__SCRIPT(VALUE_GET_REVISED),
    .finish = finish_get_revised,
};

static hf_status run_get_revised(hf__form form, hf_client *client, hf_bytes key,
                                 hf_buffer *value, uint64_t *revision)
{
    hf_call here, *call = hf__begin(&here, form, &get_revised, client);

    add_revised(call, key);
    hf__set_out(call, value, "value");
    (void)HF__TRY(call, hf__check_out(revision, "revision", call->form.err));
    call->context = revision;
    return hf__end(call);
}

HF__FORMS(hf_value_get_revised,
          run_get_revised(form, client, key, value, revision),
          hf_client *client, hf_bytes key, hf_buffer *value,
          uint64_t *revision);

/* ------------------------------------------------------------------ delete */

static const hf__operation delete_revised = {
    .script = HF__SCRIPT(VALUE_DELETE_REVISED),
    .wrote = wrote_revised,
    .finish = finish_revised,
};

static hf_status run_delete_revised(hf__form form, hf_client *client,
                                    hf_bytes key, uint64_t expected,
                                    uint64_t *revision)
{
    hf_call here, *call = hf__begin(&here, form, &delete_revised, client);

    add_revised(call, key);
    if (expected == HF_REVISION_NONE)
        (void)HF__TRY(call, hf__fail(call->form.err, HF_INVALID,
                                     "revision is 0; there would be nothing "
                                     "to delete"));
    add_expected(call, expected);
    hf__set_out(call, revision, NULL);
    return hf__end(call);
}

HF__FORMS(hf_value_delete_revised,
          run_delete_revised(form, client, key, expected, revision),
          hf_client *client, hf_bytes key, uint64_t expected,
          uint64_t *revision);
