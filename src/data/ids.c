/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.c - numbers that only grow, taken in blocks.
 *
 * A handle has the rest of one block. A call that finds too few left takes the
 * first ids of a new one and leaves the rest, unless another call has left a
 * later block meanwhile: then its rest is not used, so that ids grow. Blocking
 * calls take turns at that; started ones do not wait for each other.
 */
#include <stdatomic.h>

#include "core/client.h"
#include "core/form.h"
#include "holdfast/ids.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

#define BLOCK_DEFAULT 100

struct hf_ids {
    hf_client *client;
    hf_bytes name;
    int64_t block;
    bool dense;
    atomic_uint references; /* the caller's, and of calls under way */

    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t fetched;
    int64_t given; /* the latest of the block ... */
    int64_t last;  /* ... and its end; equal: none are left */
    bool fetching;
    unsigned fetches;
    hf_status status; /* of the latest of them ... */
    hf_error detail;
    char bytes[];
};

/* ------------------------------------------------------------------ handle */

hf_status hf_ids_new(hf_client *client, hf_bytes name,
                     const hf_ids_options *opts, hf_ids **ids, hf_error *err)
{
    hf_ids_options o;
    hf_ids *made;
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = hf__check_out(ids, "ids", err);
    if (status == HF_OK)
        status = hf__check_key(client, name, "name", err);
    if (status == HF_OK)
        status = hf__options_load(&o, sizeof(o), sizeof(o), opts,
                                  "hf_ids_options", err);
    if (status == HF_OK)
        status =
            hf__check_flags(o.flags, HF_IDS_DENSE, o.reserved0 | o.reserved1,
                            "hf_ids_options", err);
    if (status == HF_OK && o.block > HF_IDS_BLOCK_MAX)
        status =
            hf__fail(err, HF_INVALID, "a block of %u ids; it must be 1..%u",
                     o.block, HF_IDS_BLOCK_MAX);
    if (status != HF_OK)
        return status;
    made = hf__calloc(1, sizeof(*made) + name.size);
    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a handle for ids");
    made->client = client;
    memcpy(made->bytes, name.data, name.size);
    made->name = hf_view(made->bytes, name.size);
    made->block = o.block == 0 ? BLOCK_DEFAULT : o.block;
    made->dense = (o.flags & HF_IDS_DENSE) != 0;
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->mutex, NULL);
    hf__cond_init(&made->fetched);
    hf__client_ref(client);
    *ids = made;
    return HF_OK;
}

static void unref_ids(hf_ids *ids)
{
    hf_client *client = ids->client;

    if (atomic_fetch_sub(&ids->references, 1) != 1)
        return;
    if (!hf__client_forked(client)) {
        pthread_cond_destroy(&ids->fetched);
        pthread_mutex_destroy(&ids->mutex);
    }
    hf__free(ids);
    hf__client_unref(client);
}

void hf_ids_free(hf_ids *ids)
{
    if (ids != NULL)
        unref_ids(ids);
}

static bool take_locked(hf_ids *ids, int64_t *id)
{
    if (ids->given == ids->last)
        return false;
    *id = ++ids->given;
    return true;
}

/* All of them or none. */
static bool take_rest(hf_ids *ids, int64_t *values, int64_t count)
{
    bool enough;

    pthread_mutex_lock(&ids->mutex);
    enough = ids->last - ids->given >= count;
    for (int64_t i = 0; enough && i < count; i++)
        (void)take_locked(ids, &values[i]);
    pthread_mutex_unlock(&ids->mutex);
    return enough;
}

static void leave_rest(hf_ids *ids, int64_t given, int64_t last)
{
    pthread_mutex_lock(&ids->mutex);
    if (last > ids->last) {
        ids->given = given;
        ids->last = last;
    }
    pthread_mutex_unlock(&ids->mutex);
}

/* ------------------------------------------------------------------- fetch */

static bool wrote_block(const hf__request *request)
{
    return request->reply.kind == HF_REPLY_STRING;
}

/* Digits, as the shape says; false: beyond 2^63. */
static bool read_last(hf_bytes text, int64_t *last)
{
    const char *digits = text.data;

    *last = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = digits[i] - '0';

        if (*last > (INT64_MAX - digit) / 10)
            return false;
        *last = *last * 10 + digit;
    }
    return true;
}

/* At least as many ids as are wanted. */
static int64_t block_for(const hf_ids *ids, int64_t wanted)
{
    return hf__at_least(wanted, ids->block);
}

static hf_status finish_fetch(hf_call *call, hf_error *err)
{
    const hf__request *request = &call->request;
    int64_t count = block_for(call->context, call->note), last, *values;

    if (!wrote_block(request))
        return count == 1 ? hf__fail(err, HF_CONFLICT, "no ids are left")
                          : hf__fail(err, HF_CONFLICT,
                                     "fewer than %lld ids are left below 2^63",
                                     (long long)count);
    if (!read_last(hf_reply_bytes(&request->reply), &last) || last < count)
        return hf__bad_reply("ids_take", err);
    values = call->out;
    for (int64_t i = 0; i < call->note; i++)
        values[i] = last - count + 1 + i;
    leave_rest(call->context, last - count + call->note, last);
    return HF_OK;
}

static const hf__operation fetch = {
    .script = HF__SCRIPT(IDS_TAKE),
    .wrote = wrote_block,
    .finish = finish_fetch,
    .alone = true,
};

static void release_call(hf_call *call)
{
    unref_ids(call->owned);
}

/* Of what is left, or the first of a new block. */
static hf_status run_next(hf__form form, hf_ids *ids, int64_t *values,
                          int64_t count, const char *out_name)
{
    hf_call here, *call = hf__begin(&here, form, &fetch, ids->client);

    call->note = count;
    hf__add_key(call, ids->name);
    hf__add_number(call, block_for(ids, count));
    hf__add_number(call, INT64_MAX - block_for(ids, count));
    hf__add_number(call, ids->dense);
    hf__set_out(call, values, out_name);
    call->context = call->owned = ids;
    call->release = release_call;
    atomic_fetch_add(&ids->references, 1);
    call->skips_store =
        call->prepared == HF_OK && take_rest(ids, values, count);
    return hf__end(call);
}

/* With blocks of 1 there is no rest to wait for. */
static bool is_fetching_locked(const hf_ids *ids)
{
    return ids->fetching && ids->block > 1;
}

/* Until another thread's request has ended; its status. */
static hf_status await_fetch_locked(hf_ids *ids, hf_error *err)
{
    unsigned fetches = ids->fetches;

    while (ids->fetches == fetches)
        hf__cond_wait_until(&ids->fetched, &ids->mutex, INT64_MAX);
    return ids->status == HF_OK ? HF_OK : hf__fail_copy(err, &ids->detail);
}

static hf_status fetch_locked(hf_ids *ids, int64_t *values, size_t count,
                              hf_error *err)
{
    hf_error detail = HF_ERROR_INIT;
    hf_status status;

    ids->fetching = true;
    pthread_mutex_unlock(&ids->mutex);
    status =
        run_next(hf__blocking(&detail), ids, values, (int64_t)count, "values");
    pthread_mutex_lock(&ids->mutex);
    ids->status = status;
    ids->detail = detail;
    ids->fetching = false;
    ids->fetches++;
    pthread_cond_broadcast(&ids->fetched);
    return status == HF_OK ? HF_OK : hf__fail_copy(err, &detail);
}

/* ------------------------------------------------------------------- calls */

static hf_status check_ids(const hf_ids *ids, const void *out, const char *name,
                           hf_error *err)
{
    hf_status status = hf__check_out(ids, "ids", err);

    if (status == HF_OK)
        status = hf__check_out(out, name, err);
    return status == HF_OK ? hf__client_may_block(ids->client, err) : status;
}

static hf_status check_count(size_t count, hf_error *err)
{
    return count <= HF_IDS_BLOCK_MAX
               ? HF_OK
               : hf__fail(err, HF_INVALID, "%zu ids; it must be 0..%u", count,
                          HF_IDS_BLOCK_MAX);
}

hf_status hf_ids_next_many(hf_ids *ids, int64_t *values, size_t count,
                           hf_error *err)
{
    hf_status status = check_ids(ids, values, "values", err);
    size_t at = 0;

    if (status == HF_OK)
        status = check_count(count, err);
    if (status != HF_OK)
        return status;
    pthread_mutex_lock(&ids->mutex);
    while (at < count && status == HF_OK) {
        if (take_locked(ids, &values[at])) {
            at++;
        } else if (is_fetching_locked(ids)) {
            status = await_fetch_locked(ids, err);
        } else {
            status = fetch_locked(ids, &values[at], count - at, err);
            at = count;
        }
    }
    pthread_mutex_unlock(&ids->mutex);
    return status;
}

hf_status hf_ids_next(hf_ids *ids, int64_t *id, hf_error *err)
{
    hf_status status = hf__check_out(id, "id", err);

    return status == HF_OK ? hf_ids_next_many(ids, id, 1, err) : status;
}

hf_status hf_ids_next_start(hf_ids *ids, int64_t *id, const hf_async *async,
                            hf_error *err)
{
    hf_status status = hf__check_out(ids, "ids", err);

    if (status != HF_OK)
        return status;
    return run_next(hf__started(async, err), ids, id, 1, "id");
}

hf_status hf_ids_next_many_start(hf_ids *ids, int64_t *values, size_t count,
                                 const hf_async *async, hf_error *err)
{
    hf_status status = hf__check_out(ids, "ids", err);

    if (status == HF_OK)
        status = check_count(count, err);
    if (status != HF_OK)
        return status;
    return run_next(hf__started(async, err), ids, values, (int64_t)count,
                    "values");
}
