/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - one key, one value: SET with its options, get, delete.
 *
 * None of the writes here is sent twice: a second run could undo what another
 * client did between the two.
 */
#include "holdfast/value.h"
#include "core/expiry.h"
#include "core/fence.h"
#include "core/form.h"
#include "core/own_key.h"
#include "util/container.h"
#include "util/error.h"
#include "util/sha1.h"

#define SET_FLAGS (HF_SET_NX | HF_SET_XX | HF_SET_KEEPTTL | HF_SET_GET)

static hf_status check_set(const hf_value_set_options *o, hf_error *err)
{
    if ((o->flags & HF_SET_NX) != 0 && (o->flags & HF_SET_XX) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_SET_NX and HF_SET_XX exclude each other");
    return hf__check_expiry(o->ttl_ms, o->expires_unix_ms,
                            (o->flags & HF_SET_KEEPTTL) != 0, "HF_SET_KEEPTTL",
                            err);
}

/* The words after the value. */
static void add_set(hf_call *call, const hf_value_set_options *o)
{
    if ((o->flags & HF_SET_NX) != 0)
        hf__add(call, hf_str("NX"));
    if ((o->flags & HF_SET_XX) != 0)
        hf__add(call, hf_str("XX"));
    if ((o->flags & HF_SET_GET) != 0)
        hf__add(call, hf_str("GET"));
    if ((o->flags & HF_SET_KEEPTTL) != 0)
        hf__add(call, hf_str("KEEPTTL"));
    hf__add_expiry(call, o->ttl_ms, o->expires_unix_ms);
}

/*
 * Without GET, nil means refused. With GET the reply is the previous value:
 * its absence is then a refusal under XX, its presence one under NX.
 */
static hf_status set_outcome(uint32_t flags, const hf_reply *reply,
                             hf_error *err)
{
    bool nil = reply->kind == HF_REPLY_NIL;

    if ((flags & HF_SET_NX) != 0 && nil == ((flags & HF_SET_GET) == 0))
        return hf__fail(err, HF_CONFLICT, "the key exists");
    if ((flags & HF_SET_XX) != 0 && nil)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return HF_OK;
}

/* --------------------------------------------------------------------- set */

static hf_status finish_set(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_status status = HF_OK;

    if ((call->note & HF_SET_GET) != 0 && call->out != NULL)
        status = hf__buffer_take(call->out, reply, &call->request.arena, err);
    if (status != HF_OK)
        return status;
    return set_outcome((uint32_t)call->note, reply, err);
}

static bool set_wrote(const hf__request *request)
{
    const hf_call *call = hf__container_of(request, const hf_call, request);

    return set_outcome((uint32_t)call->note, &request->reply, NULL) == HF_OK;
}

/* A plain SET, one with NX or XX, one with GET. */
#define SET(...)                                                               \
    {                                                                          \
        .command = "SET", .answer = HF__SHAPE_KIND(__VA_ARGS__),               \
        .wrote = set_wrote, .finish = finish_set                               \
    }
static const hf__operation set = SET(HF__IS_STATUS);
static const hf__operation set_if = SET(HF__IS_STATUS | HF__IS_NIL);
static const hf__operation set_get = SET(HF__IS_STRING | HF__IS_NIL);

static const hf__operation *set_operation(uint32_t flags)
{
    if ((flags & HF_SET_GET) != 0)
        return &set_get;
    return (flags & (HF_SET_NX | HF_SET_XX)) != 0 ? &set_if : &set;
}

static hf_status run_set(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes value, const hf_value_set_options *opts,
                         hf_buffer *previous)
{
    hf_call here, *call = hf__begin(&here, form, &set, client);
    hf_value_set_options options;

    hf__add_key(call, key);
    hf__add_value(call, value);
    hf__set_out(call, previous, NULL);
    if (HF__LOAD(call, &options, opts, hf_value_set_options, SET_FLAGS) &&
        HF__TRY(call, check_set(&options, call->form.err))) {
        call->operation = set_operation(options.flags);
        call->note = options.flags;
        add_set(call, &options);
    }
    return hf__end(call);
}

HF__FORMS(hf_value_set, run_set(form, client, key, value, opts, previous),
          hf_client *client, hf_bytes key, hf_bytes value,
          const hf_value_set_options *opts, hf_buffer *previous);

HF__MANY(hf_value_set_many, items,
         run_set(form, client, items[i].key, items[i].value, opts, NULL),
         hf_client *client, const hf_value_set_item *items, size_t count,
         const hf_value_set_options *opts);

/* ------------------------------------------------------------------ append */

static hf_status finish_append(hf_call *call, hf_error *err)
{
    (void)err;
    if (call->out != NULL)
        *(size_t *)call->out = (size_t)call->request.reply.integer;
    return HF_OK;
}

static bool wrote_append(const hf__request *request)
{
    (void)request;
    return true;
}

/* A second run would append twice. */
static const hf__operation append = {
    .command = "APPEND",
    .answer = HF__SHAPE_INTEGER(0, INT64_MAX),
    .wrote = wrote_append,
    .finish = finish_append,
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

/* -------------------------------------------------------------- put, fenced */

static const hf__operation put_fenced = {
    .script = HF__SCRIPT(VALUE_PUT_FENCED),
    .wrote = hf__wrote_fenced,
    .finish = hf__finish_fenced,
};

static hf_status run_put_fenced(hf__form form, hf_client *client, hf_bytes key,
                                hf_bytes value, uint64_t token,
                                const hf_value_set_options *opts,
                                uint64_t *highest)
{
    hf_call here, *call = hf__begin(&here, form, &put_fenced, client);
    hf_value_set_options options;

    hf__add_fenced(call, key, token);
    hf__add_value(call, value);
    hf__set_out(call, highest, NULL);
    if (HF__LOAD(call, &options, opts, hf_value_set_options, HF_SET_KEEPTTL) &&
        HF__TRY(call, check_set(&options, call->form.err)))
        add_set(call, &options);
    return hf__end(call);
}

HF__FORMS(hf_value_put_fenced,
          run_put_fenced(form, client, key, value, token, opts, highest),
          hf_client *client, hf_bytes key, hf_bytes value, uint64_t token,
          const hf_value_set_options *opts, uint64_t *highest);

/* --------------------------------------------------------------------- get */

static const hf__operation get = {
    .command = "GET",
    .repeatable = true,
    .answer = HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),
    .finish = hf__finish_value,
};

static hf_status run_get(hf__form form, hf_client *client, hf_bytes key,
                         hf_buffer *value)
{
    hf_call here, *call = hf__begin(&here, form, &get, client);

    hf__add_key(call, key);
    hf__set_out(call, value, "value");
    return hf__end(call);
}

HF__FORMS(hf_value_get, run_get(form, client, key, value), hf_client *client,
          hf_bytes key, hf_buffer *value);

HF__MANY_OF(hf_value_get_many, client, (HF__NEEDS(keys), HF__NEEDS(values)),
            run_get(form, client, keys[i], &values[i]), hf_client *client,
            const hf_bytes *keys, size_t count, hf_buffer *values);

/* ------------------------------------------------------------ get, versioned
 */

static hf_status finish_get_versioned(hf_call *call, hf_error *err)
{
    hf_buffer *value = call->out;
    char text[HF__SHA1_HEX_SIZE];
    hf_reply version = {.kind = HF_REPLY_STRING,
                        .bytes = {text, sizeof(text) - 1}};
    hf_status status = hf__finish_value(call, err);

    if (status != HF_OK)
        return status;
    hf__sha1_hex(value->data, value->size, text);
    status = hf__buffer_set(call->context, &version, err);
    if (status != HF_OK)
        hf_buffer_free(value);
    return status;
}

static const hf__operation get_versioned = {
    .command = "GET",
    .repeatable = true,
    .answer = HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),
    .finish = finish_get_versioned,
};

static hf_status run_get_versioned(hf__form form, hf_client *client,
                                   hf_bytes key, hf_buffer *value,
                                   hf_buffer *version)
{
    hf_call here, *call = hf__begin(&here, form, &get_versioned, client);

    hf__add_key(call, key);
    hf__set_out(call, value, "value");
    (void)HF__TRY(call, hf__check_out(version, "version", call->form.err));
    call->context = version;
    return hf__end(call);
}

HF__FORMS(hf_value_get_versioned,
          run_get_versioned(form, client, key, value, version),
          hf_client *client, hf_bytes key, hf_buffer *value,
          hf_buffer *version);

/* -------------------------------------------------------------- get, expire */

static bool wrote_expiry(const hf__request *request)
{
    return request->reply.kind != HF_REPLY_NIL;
}

/* A past instant deletes the key: the second run would not find it. */
#define GETEX(again)                                                           \
    {                                                                          \
        .command = "GETEX", .repeatable = (again),                             \
        .answer = HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),                  \
        .wrote = wrote_expiry, .finish = hf__finish_value                      \
    }
static const hf__operation get_expire = GETEX(true);
static const hf__operation get_expire_at = GETEX(false);

static hf_status run_get_expire(hf__form form, hf_client *client, hf_bytes key,
                                const hf_value_expire_options *opts,
                                hf_buffer *value)
{
    hf_call here, *call = hf__begin(&here, form, &get_expire, client);
    hf_value_expire_options options;

    hf__add_key(call, key);
    hf__set_out(call, value, "value");
    if (hf__load_expiry(call, &options, opts)) {
        if (options.expires_unix_ms != 0)
            call->operation = &get_expire_at;
        if ((options.flags & HF_EXPIRE_PERSIST) != 0)
            hf__add(call, hf_str("PERSIST"));
        hf__add_expiry(call, options.ttl_ms, options.expires_unix_ms);
    }
    return hf__end(call);
}

HF__FORMS(hf_value_get_expire, run_get_expire(form, client, key, opts, value),
          hf_client *client, hf_bytes key, const hf_value_expire_options *opts,
          hf_buffer *value);

/* ------------------------------------------------------------------ delete */

static hf_status finish_delete(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == -1)
        return hf__fail(err, HF_HELD, "the key is a lock that is held");
    return hf__finish_found(call, err);
}

static bool wrote_delete(const hf__request *request)
{
    return request->reply.integer == 1;
}

static const hf__operation delete = {
    .script = HF__SCRIPT(VALUE_DELETE),
    .wrote = wrote_delete,
    .finish = finish_delete,
};

static hf_status run_delete(hf__form form, hf_client *client, hf_bytes key)
{
    hf_call here, *call = hf__begin(&here, form, &delete, client);

    hf__add_key(call, key);
    if (call->prepared == HF_OK &&
        hf__check_own_key(key, "key", NULL) == HF_OK) {
        hf__add_own_key(call, HF__ROLE_CACHE, key);
        hf__add_own_key(call, HF__ROLE_REVISION, key);
    }
    return hf__end(call);
}

HF__FORMS(hf_value_delete, run_delete(form, client, key), hf_client *client,
          hf_bytes key);
