/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - one key, one value: SET with its options, and compare-and-set.
 *
 * None of the writes here is sent twice: a second run could undo what another
 * client did between the two.
 */
#include "core/async.h"
#include "core/cas.h"
#include "core/client.h"
#include "core/many.h"
#include "util/error.h"
#include "util/options.h"

#define SET_FLAGS (HF_SET_NX | HF_SET_XX | HF_SET_KEEPTTL | HF_SET_GET)

/* 9999-12-31T23:59:59.999Z */
#define UNIX_MS_MAX INT64_C(253402300799999)

static hf_status check_set_expiry(const hf_value_set_options *o, hf_error *err)
{
    int given = (o->ttl_ms != 0) + (o->expires_unix_ms != 0) +
                ((o->flags & HF_SET_KEEPTTL) != 0);

    if (given > 1)
        return hf__fail(err, HF_INVALID,
                        "ttl_ms, expires_unix_ms and HF_SET_KEEPTTL exclude "
                        "each other");
    if (o->expires_unix_ms < 0 || o->expires_unix_ms > UNIX_MS_MAX)
        return hf__fail(err, HF_INVALID,
                        "expires_unix_ms is %lld; it must be 1..%lld",
                        (long long)o->expires_unix_ms, (long long)UNIX_MS_MAX);
    if (o->ttl_ms != 0)
        return hf__check_ttl(o->ttl_ms, "ttl_ms", err);
    return HF_OK;
}

static hf_status load_set_options(hf_value_set_options *options,
                                  const hf_value_set_options *from,
                                  hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_value_set_options", err);

    if (status != HF_OK)
        return status;
    if ((options->flags & ~(uint32_t)SET_FLAGS) != 0 || options->reserved0 != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "hf_value_set_options: unknown flag 0x%x",
                        (unsigned)options->flags);
    if ((options->flags & HF_SET_NX) != 0 && (options->flags & HF_SET_XX) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_SET_NX and HF_SET_XX exclude each other");
    return check_set_expiry(options, err);
}

/* SET key value, a condition, GET, and an expiry of two words. */
#define SET_WORDS_MAX 7

/* Add the words of the options behind the first three; their count in all. */
static size_t set_words(hf_bytes words[SET_WORDS_MAX],
                        const hf_value_set_options *o,
                        char number[HF__NUMBER_SIZE])
{
    size_t count = 3;

    if ((o->flags & HF_SET_NX) != 0)
        words[count++] = hf_str("NX");
    if ((o->flags & HF_SET_XX) != 0)
        words[count++] = hf_str("XX");
    if ((o->flags & HF_SET_GET) != 0)
        words[count++] = hf_str("GET");
    if ((o->flags & HF_SET_KEEPTTL) != 0)
        words[count++] = hf_str("KEEPTTL");
    if (o->ttl_ms != 0) {
        words[count++] = hf_str("PX");
        words[count++] = hf__number(number, o->ttl_ms);
    }
    if (o->expires_unix_ms != 0) {
        words[count++] = hf_str("PXAT");
        words[count++] = hf__number(number, o->expires_unix_ms);
    }
    return count;
}

static const hf__operation *set_operation(uint32_t flags)
{
    if ((flags & HF_SET_GET) != 0)
        return &hf__op_set_get;
    return (flags & (HF_SET_NX | HF_SET_XX)) != 0 ? &hf__op_set_if
                                                  : &hf__op_set;
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

/* ----------------------------------------------------------------- set, get */

/* Hand out the previous value and say what became of the call. */
static hf_status finish_set(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_buffer copy = HF_BUFFER_INIT;
    hf_status status;

    if ((call->note & HF_SET_GET) != 0 && call->out != NULL) {
        status = hf__buffer_set(&copy, reply, err);
        if (status != HF_OK)
            return status;
        *(hf_buffer *)call->out = copy;
    }
    return set_outcome((uint32_t)call->note, reply, err);
}

static bool set_wrote(const hf__request *request)
{
    const hf_call *call =
        (const hf_call *)((const char *)request - offsetof(hf_call, request));

    return set_outcome((uint32_t)call->note, &request->reply, NULL) == HF_OK;
}

static hf_status prepare_set(hf_call *call, hf_client *client, hf_bytes key,
                             hf_bytes value, const hf_value_set_options *opts,
                             hf_buffer *previous, hf_error *err)
{
    hf_value_set_options options;
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = load_set_options(&options, opts, err);
    if (status == HF_OK)
        status = hf__check_value(value, err);
    if (status != HF_OK)
        return status;
    call->finish = finish_set;
    call->out = previous;
    call->note = options.flags;
    call->words[2] = value;
    hf__call_command(call, set_operation(options.flags),
                     set_words(call->words, &options, call->number));
    hf__call_replicate(call, set_wrote);
    return HF_OK;
}

hf_status hf_value_set(hf_client *client, hf_bytes key, hf_bytes value,
                       const hf_value_set_options *opts, hf_buffer *previous,
                       hf_error *err)
{
    hf_call call;

    return hf__call_run(
        &call, prepare_set(&call, client, key, value, opts, previous, err),
        err);
}

hf_status hf_value_set_start(hf_client *client, hf_bytes key, hf_bytes value,
                             const hf_value_set_options *opts,
                             hf_buffer *previous, const hf_async *async,
                             hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(
        call, prepare_set(call, client, key, value, opts, previous, err), async,
        err);
}

static hf_status finish_get(hf_call *call, hf_error *err)
{
    if (call->request.reply.kind == HF_REPLY_NIL)
        return hf__fail(err, HF_NOT_FOUND, "no such key");
    return hf__buffer_set(call->out, &call->request.reply, err);
}

static hf_status prepare_get(hf_call *call, hf_client *client, hf_bytes key,
                             hf_buffer *value, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status != HF_OK)
        return status;
    call->finish = finish_get;
    call->out = value;
    hf__call_command(call, &hf__op_get, 2);
    return HF_OK;
}

hf_status hf_value_get(hf_client *client, hf_bytes key, hf_buffer *value,
                       hf_error *err)
{
    hf_call call;

    return hf__call_run(&call, prepare_get(&call, client, key, value, err),
                        err);
}

hf_status hf_value_get_start(hf_client *client, hf_bytes key, hf_buffer *value,
                             const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(call, prepare_get(call, client, key, value, err),
                          async, err);
}

/* ------------------------------------------------------------------ delete */

hf_status hf_value_delete(hf_client *client, hf_bytes key, hf_error *err)
{
    return hf__delete(client, key, HF__SCRIPT_VALUE_DELETE, err);
}

hf_status hf_value_delete_start(hf_client *client, hf_bytes key,
                                const hf_async *async, hf_error *err)
{
    return hf__delete_start(client, key, HF__SCRIPT_VALUE_DELETE, async, err);
}

/* --------------------------------------------------------- compare and ... */

static hf_status prepare_cas(hf_call *call, hf_client *client, hf_bytes key,
                             const hf_bytes *expected, hf_bytes value,
                             const hf_cas_options *opts, hf_buffer *current,
                             hf_error *err)
{
    hf_cas_options options;
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__cas_check(&options, opts, expected, value, err);
    if (status != HF_OK)
        return status;
    call->finish = hf__finish_cas;
    call->out = current;
    hf__cas_words(call->words + 1, expected, value,
                  hf__number(call->number, options.ttl_ms));
    return hf__cas_request(call, options.flags, HF__SCRIPT_VALUE_CAS,
                           HF__SCRIPT_VALUE_CAS_ONCE, 5, err);
}

hf_status hf_value_cas(hf_client *client, hf_bytes key,
                       const hf_bytes *expected, hf_bytes value,
                       const hf_cas_options *opts, hf_buffer *current,
                       hf_error *err)
{
    hf_call call;

    return hf__call_run(
        &call,
        prepare_cas(&call, client, key, expected, value, opts, current, err),
        err);
}

hf_status hf_value_cas_start(hf_client *client, hf_bytes key,
                             const hf_bytes *expected, hf_bytes value,
                             const hf_cas_options *opts, hf_buffer *current,
                             const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(
        call,
        prepare_cas(call, client, key, expected, value, opts, current, err),
        async, err);
}

static hf_status prepare_delete_if(hf_call *call, hf_client *client,
                                   hf_bytes key, hf_bytes expected,
                                   hf_buffer *current, hf_error *err)
{
    hf_status status = hf__call_begin(call, client, key, err);

    if (status == HF_OK)
        status = hf__check_value(expected, err);
    if (status != HF_OK)
        return status;
    call->finish = hf__finish_cas;
    call->out = current;
    call->words[1] = expected;
    return hf__cas_request(call, 0, HF__SCRIPT_VALUE_DELETE_IF,
                           HF__SCRIPT_VALUE_DELETE_IF_ONCE, 2, err);
}

hf_status hf_value_delete_if(hf_client *client, hf_bytes key, hf_bytes expected,
                             hf_buffer *current, hf_error *err)
{
    hf_call call;

    return hf__call_run(
        &call, prepare_delete_if(&call, client, key, expected, current, err),
        err);
}

hf_status hf_value_delete_if_start(hf_client *client, hf_bytes key,
                                   hf_bytes expected, hf_buffer *current,
                                   const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    return hf__call_start(
        call, prepare_delete_if(call, client, key, expected, current, err),
        async, err);
}

/* -------------------------------------------------------------------- many */

typedef struct many_get {
    const hf_bytes *keys;
    hf_buffer *values;
} many_get;

static hf_status prepare_many_get(hf_call *call, hf_client *client,
                                  const void *user, size_t index, hf_error *err)
{
    const many_get *many = user;

    return prepare_get(call, client, many->keys[index], &many->values[index],
                       err);
}

hf_status hf_value_get_many(hf_client *client, const hf_bytes *keys,
                            size_t count, hf_buffer *values,
                            hf_status *statuses, hf_error *err)
{
    many_get many = {keys, values};

    if (count > 0 && (keys == NULL || values == NULL))
        return hf__fail(err, HF_INVALID, "keys or values is NULL");
    return hf__many_run(client, count, statuses, prepare_many_get, &many, err);
}

typedef struct many_set {
    const hf_value_set_item *items;
    const hf_value_set_options *opts;
} many_set;

static hf_status prepare_many_set(hf_call *call, hf_client *client,
                                  const void *user, size_t index, hf_error *err)
{
    const many_set *many = user;
    const hf_value_set_item *item = &many->items[index];

    return prepare_set(call, client, item->key, item->value, many->opts, NULL,
                       err);
}

hf_status hf_value_set_many(hf_client *client, const hf_value_set_item *items,
                            size_t count, const hf_value_set_options *opts,
                            hf_status *statuses, hf_error *err)
{
    many_set many = {items, opts};

    if (count > 0 && items == NULL)
        return hf__fail(err, HF_INVALID, "items is NULL");
    return hf__many_run(client, count, statuses, prepare_many_set, &many, err);
}

typedef struct many_cas {
    const hf_value_cas_item *items;
    const hf_cas_options *opts;
} many_cas;

static hf_status prepare_many_cas(hf_call *call, hf_client *client,
                                  const void *user, size_t index, hf_error *err)
{
    const many_cas *many = user;
    const hf_value_cas_item *item = &many->items[index];

    return prepare_cas(call, client, item->key, item->expected, item->value,
                       many->opts, item->current, err);
}

hf_status hf_value_cas_many(hf_client *client, const hf_value_cas_item *items,
                            size_t count, const hf_cas_options *opts,
                            hf_status *statuses, hf_error *err)
{
    many_cas many = {items, opts};

    if (count > 0 && items == NULL)
        return hf__fail(err, HF_INVALID, "items is NULL");
    return hf__many_run(client, count, statuses, prepare_many_cas, &many, err);
}
