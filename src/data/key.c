/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - what holds for a key of any type: its expiry, its type, its name. A
 * key and what belongs to it are one object; one that is held is left alone.
 */
#include <string.h>

#include "core/form.h"
#include "core/own_key.h"
#include "holdfast/key.h"
#include "util/bytes.h"
#include "util/error.h"

/* The keys about a key that each script takes. */
#define BELONGINGS                                                             \
    HF__ROLE_CACHE, HF__ROLE_ITEMS, HF__ROLE_LABELS, HF__ROLE_DUE,             \
        HF__ROLE_ORDER, HF__ROLE_REVISION, NULL
static const char *const of_type[] = {HF__ROLE_BARRIER, HF__ROLE_CACHE,
                                      HF__ROLE_ITEMS, HF__ROLE_DUE, NULL};
static const char *const of_expiry[] = {HF__ROLE_BARRIER, BELONGINGS};
static const char *const of_name[] = {HF__ROLE_BARRIER, HF__ROLE_FENCE,
                                      BELONGINGS};
static const char *const of_delete[] = {HF__ROLE_BARRIER, HF__ROLE_FILL,
                                        HF__ROLE_WAIT, BELONGINGS};
#define ROLES_MAX 9

/* Some names cannot have any. `call` has failed: it is no name. */
static bool has_belongings(const hf_call *call, hf_bytes key)
{
    return call->prepared == HF_OK &&
           hf__check_own_key(key, "key", NULL) == HF_OK;
}

static void add_object(hf_call *call, hf_bytes key, const char *const *roles)
{
    hf__reserve(call, ROLES_MAX + 2);
    hf__add_key(call, key);
    for (; *roles != NULL && has_belongings(call, key); roles++)
        hf__add_own_key(call, *roles, key);
}

static hf_status fail_held(int64_t reply, hf_error *err)
{
    static const char *const what[] = {
        "a lock that is held", "a semaphore whose permits are held",
        "an election that has a leader", "a barrier at which parties wait",
        "a claim that is held"};

    return hf__fail(err, HF_HELD, "%s is %s",
                    reply < -5 ? "the key of the new name" : "the key",
                    what[(-1 - reply) % 5]);
}

static hf_status finish_object(hf_call *call, hf_error *err)
{
    int64_t reply = call->request.reply.integer;

    if (reply == -11)
        return hf__fail(err, HF_CONFLICT, "a key has the new name");
    return reply < 0 ? fail_held(reply, err) : hf__finish_found(call, err);
}

static bool is_done(const hf__request *request)
{
    return request->reply.integer == 1;
}

#define OBJECT(name)                                                           \
    {                                                                          \
        .script = HF__SCRIPT(name), .wrote = is_done, .finish = finish_object  \
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

HF__FORMS(hf_key_ttl, run_ttl(form, client, key, ttl_ms), hf_client *client,
          hf_bytes key, int64_t *ttl_ms);

static const hf__operation expire = OBJECT(KEY_EXPIRE);
static const hf__operation persist = OBJECT(KEY_PERSIST);

static hf_status run_expire(hf__form form, hf_client *client, hf_bytes key,
                            int64_t ttl_ms)
{
    bool stays = ttl_ms == -1;
    hf_call here,
        *call = hf__begin(&here, form, stays ? &persist : &expire, client);

    add_object(call, key, of_expiry);
    if (!stays &&
        HF__TRY(call, hf__check_ttl(ttl_ms, "ttl_ms", call->form.err)))
        hf__add_number(call, ttl_ms);
    return hf__end(call);
}

HF__FORMS(hf_key_expire, run_expire(form, client, key, ttl_ms),
          hf_client *client, hf_bytes key, int64_t ttl_ms);

/* -------------------------------------------------------------------- type */

static hf_status finish_type(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;

    if (strcmp(reply->bytes.data, "none") == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return hf__buffer_set(call->out, reply, err);
}

static const hf__operation type = {
    .script = HF__SCRIPT(KEY_TYPE),
    .finish = finish_type,
};

static hf_status run_type(hf__form form, hf_client *client, hf_bytes key,
                          hf_buffer *name)
{
    hf_call here, *call = hf__begin(&here, form, &type, client);

    add_object(call, key, of_type);
    hf__set_out(call, name, "type");
    return hf__end(call);
}

HF__FORMS(hf_key_type, run_type(form, client, key, name), hf_client *client,
          hf_bytes key, hf_buffer *name);

/* ------------------------------------------------------------ rename, copy */

static const hf__operation rename_key = OBJECT(KEY_RENAME);
static const hf__operation copy_key = OBJECT(KEY_COPY);

static void add_both(hf_call *call, hf_bytes key, hf_bytes new_key)
{
    bool whole;

    hf__reserve(call, 2 * ROLES_MAX + 3);
    hf__add_key(call, key);
    hf__add_key(call, new_key);
    whole = has_belongings(call, key) && has_belongings(call, new_key);
    for (size_t i = 0; of_name[i] != NULL && whole; i++) {
        hf__add_own_key(call, of_name[i], key);
        hf__add_own_key(call, of_name[i], new_key);
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

HF__FORMS(hf_key_rename, run_rename(form, client, key, new_key, flags),
          hf_client *client, hf_bytes key, hf_bytes new_key, uint32_t flags);

/* What the script calls `absent`. */
static int copy_mode(hf_bytes key, hf_bytes new_key, uint32_t flags)
{
    if ((flags & HF_COPY_REPLACE) == 0)
        return 1;
    return hf__bytes_same(key, new_key) ? 2 : 0;
}

static hf_status run_copy(hf__form form, hf_client *client, hf_bytes key,
                          hf_bytes new_key, uint32_t flags)
{
    hf_call here, *call = hf__begin(&here, form, &copy_key, client);

    add_both(call, key, new_key);
    if (HF__TRY(call, hf__check_flags(flags, HF_COPY_REPLACE, 0, "hf_key_copy",
                                      call->form.err)))
        hf__add_number(call, copy_mode(key, new_key, flags));
    return hf__end(call);
}

HF__FORMS(hf_key_copy, run_copy(form, client, key, new_key, flags),
          hf_client *client, hf_bytes key, hf_bytes new_key, uint32_t flags);

/* ------------------------------------------------------------------ delete */

static const hf__operation delete_key = OBJECT(KEY_DELETE);

static hf_status run_delete(hf__form form, hf_client *client, hf_bytes key)
{
    hf_call here, *call = hf__begin(&here, form, &delete_key, client);

    add_object(call, key, of_delete);
    return hf__end(call);
}

HF__FORMS(hf_key_delete, run_delete(form, client, key), hf_client *client,
          hf_bytes key);
