/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - what holds for a key of any type: its expiry, its type, its name. */
#include "core/form.h"
#include "core/own_key.h"
#include "util/error.h"

/* The keys that belong to a key: of a cache entry, of a timeline. */
static const char *const roles[] = {HF__ROLE_CACHE, HF__ROLE_ITEMS,
                                    HF__ROLE_LABELS, HF__ROLE_DUE,
                                    HF__ROLE_ORDER};
#define ROLES (sizeof(roles) / sizeof(roles[0]))

/* Some names cannot have any. `call` has failed: it is no name. */
static bool has_belongings(const hf_call *call, hf_bytes key)
{
    return call->prepared == HF_OK &&
           hf__check_own_key(key, "key", NULL) == HF_OK;
}

/* With what belongs to it. */
static void add_object(hf_call *call, hf_bytes key)
{
    hf__reserve(call, ROLES + 2);
    hf__add_key(call, key);
    for (size_t i = 0; i < ROLES && has_belongings(call, key); i++)
        hf__add_own_key(call, roles[i], key);
}

static hf_status finish_ttl(hf_call *call, hf_error *err)
{
    int64_t ttl_ms = call->request.reply.integer;

    if (ttl_ms == -2)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    *(int64_t *)call->out = ttl_ms;
    return HF_OK;
}

static const hf__operation ttl = {
    .command = "PTTL",
    .repeatable = true,
    .answer = HF__SHAPE_INTEGER(-2, INT64_MAX),
    .finish = finish_ttl,
};

static hf_status run_ttl(hf__form form, hf_client *client, hf_bytes key,
                         int64_t *ttl_ms)
{
    hf_call here, *call = hf__begin(&here, form, &ttl, client);

    hf__add_key(call, key);
    hf__set_out(call, ttl_ms, "ttl_ms");
    return hf__end(call);
}

hf_status hf_key_ttl(hf_client *client, hf_bytes key, int64_t *ttl_ms,
                     hf_error *err)
{
    return run_ttl(hf__blocking(err), client, key, ttl_ms);
}

hf_status hf_key_ttl_start(hf_client *client, hf_bytes key, int64_t *ttl_ms,
                           const hf_async *async, hf_error *err)
{
    return run_ttl(hf__started(async, err), client, key, ttl_ms);
}

static const hf__operation expire = {
    .script = HF__SCRIPT(KEY_EXPIRE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
};

static const hf__operation persist = {
    .script = HF__SCRIPT(KEY_PERSIST),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
};

static hf_status run_expire(hf__form form, hf_client *client, hf_bytes key,
                            int64_t ttl_ms)
{
    bool stays = ttl_ms == -1;
    hf_call here,
        *call = hf__begin(&here, form, stays ? &persist : &expire, client);

    add_object(call, key);
    if (!stays &&
        HF__TRY(call, hf__check_ttl(ttl_ms, "ttl_ms", call->form.err)))
        hf__add_number(call, ttl_ms);
    return hf__end(call);
}

hf_status hf_key_expire(hf_client *client, hf_bytes key, int64_t ttl_ms,
                        hf_error *err)
{
    return run_expire(hf__blocking(err), client, key, ttl_ms);
}

hf_status hf_key_expire_start(hf_client *client, hf_bytes key, int64_t ttl_ms,
                              const hf_async *async, hf_error *err)
{
    return run_expire(hf__started(async, err), client, key, ttl_ms);
}

/* -------------------------------------------------------------------- type */

static hf_status finish_type(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;

    if (strcmp(reply->bytes.data, "none") == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return hf__buffer_set(call->out, reply, err);
}

static const hf__operation type = {
    .command = "TYPE",
    .repeatable = true,
    .answer = HF__SHAPE_KIND(HF__IS_STATUS),
    .finish = finish_type,
};

static hf_status run_type(hf__form form, hf_client *client, hf_bytes key,
                          hf_buffer *name)
{
    hf_call here, *call = hf__begin(&here, form, &type, client);

    hf__add_key(call, key);
    hf__set_out(call, name, "type");
    return hf__end(call);
}

hf_status hf_key_type(hf_client *client, hf_bytes key, hf_buffer *name,
                      hf_error *err)
{
    return run_type(hf__blocking(err), client, key, name);
}

hf_status hf_key_type_start(hf_client *client, hf_bytes key, hf_buffer *name,
                            const hf_async *async, hf_error *err)
{
    return run_type(hf__started(async, err), client, key, name);
}

/* ------------------------------------------------------------------ rename */

static hf_status finish_rename(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == -1)
        return hf__fail(err, HF_CONFLICT, "a key has the new name");
    if (call->request.reply.integer == -2)
        return hf__fail(err, HF_UNSUPPORTED,
                        "a lock that is held cannot be renamed");
    return hf__finish_found(call, err);
}

static bool renamed(const hf__request *request)
{
    return request->reply.integer == 1;
}

static const hf__operation rename_key = {
    .script = HF__SCRIPT(KEY_RENAME),
    .wrote = renamed,
    .finish = finish_rename,
};

static void add_both(hf_call *call, hf_bytes key, hf_bytes new_key)
{
    bool whole;

    hf__reserve(call, 2 * ROLES + 5);
    hf__add_key(call, key);
    hf__add_key(call, new_key);
    whole = has_belongings(call, key) && has_belongings(call, new_key);
    for (size_t i = 0; i <= ROLES && whole; i++) {
        const char *role = i == 0 ? HF__ROLE_FENCE : roles[i - 1];

        hf__add_own_key(call, role, key);
        hf__add_own_key(call, role, new_key);
    }
}

static hf_status run_rename(hf__form form, hf_client *client, hf_bytes key,
                            hf_bytes new_key, uint32_t flags)
{
    hf_call here, *call = hf__begin(&here, form, &rename_key, client);

    add_both(call, key, new_key);
    (void)HF__TRY(call, hf__check_flags(flags, HF_RENAME_NX, 0, "hf_key_rename",
                                        call->form.err));
    hf__add_number(call, (flags & HF_RENAME_NX) != 0);
    return hf__end(call);
}

hf_status hf_key_rename(hf_client *client, hf_bytes key, hf_bytes new_key,
                        uint32_t flags, hf_error *err)
{
    return run_rename(hf__blocking(err), client, key, new_key, flags);
}

hf_status hf_key_rename_start(hf_client *client, hf_bytes key, hf_bytes new_key,
                              uint32_t flags, const hf_async *async,
                              hf_error *err)
{
    return run_rename(hf__started(async, err), client, key, new_key, flags);
}
