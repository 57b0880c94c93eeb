/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semaphore.c - the kind of the permits of a semaphore; how many there are, and
 * who holds them.
 */
#include <stdio.h>

#include "core/form.h"
#include "holdfast/semaphore.h"
#include "lease/handle.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/order.h"

/* The form that kinds.h asks for. */
_Static_assert((int)HF__SEMAPHORE_ACQUIRE_PERMITS == HF__LOCK_ACQUIRE_WORDS,
               "");
_Static_assert((int)HF__SEMAPHORE_RELEASE_RANK == HF__LOCK_RELEASE_RANK, "");

static const hf__lease_kind permit = {
    .acquire = HF__SCRIPT_SEMAPHORE_ACQUIRE,
    .renew = HF__SCRIPT_SEMAPHORE_RENEW,
    .release = HF__SCRIPT_SEMAPHORE_RELEASE,
    .refused = "too few permits are free, or others wait for them",
    .held_as = "shared",
};

static hf_status check_permits(int64_t permits, int64_t weight, hf_error *err)
{
    hf_status status =
        hf__check_range(permits, 0, HF_SEMAPHORE_PERMITS_MAX, "permits", err);

    if (status == HF_OK)
        status =
            hf__check_range(weight, 1, HF_SEMAPHORE_PERMITS_MAX, "weight", err);
    if (status == HF_OK && permits > 0 && weight > permits)
        status = hf__fail(err, HF_INVALID, "weight is %lld of %lld permits",
                          (long long)weight, (long long)permits);
    return status;
}

hf_status hf_semaphore_new_weighted(hf_client *client, hf_bytes name,
                                    int64_t permits, int64_t weight,
                                    const hf_lock_options *opts, hf_lock **lock,
                                    hf_error *err)
{
    hf_lock *made = NULL;
    hf_status status = check_permits(permits, weight, err);

    if (status == HF_OK)
        status = hf__check_out(lock, "lock", err);
    if (status == HF_OK)
        status =
            hf__lock_make(client, &permit, name, permits, opts, &made, err);
    if (status != HF_OK)
        return status;
    snprintf(made->argument_text, sizeof(made->argument_text),
             weight > 1 ? "%lld/%lld" : "%lld", (long long)permits,
             (long long)weight);
    made->argument = hf_str(made->argument_text);
    *lock = made;
    return HF_OK;
}

hf_status hf_semaphore_new(hf_client *client, hf_bytes name, int64_t permits,
                           const hf_lock_options *opts, hf_lock **lock,
                           hf_error *err)
{
    return hf_semaphore_new_weighted(client, name, permits, 1, opts, lock, err);
}

/* The keys of the semaphore `name`, as the scripts take them. */
static void add_keys(hf_call *call, hf_bytes name, bool issues)
{
    hf__lock_keys keys;

    if (!HF__TRY(call, hf__layout_check_ours(&call->client->layout,
                                             "a semaphore", call->form.err)) ||
        !HF__TRY(call, hf__lock_keys_init(call->client, NULL, name, &keys,
                                          call->form.err)))
        return;
    call->owned = keys.storage;
    hf__add_whole_key(call, keys.main);
    if (issues)
        hf__add_whole_key(call, keys.token);
    hf__add_whole_key(call, keys.waiters);
}

static const hf__operation resize = {
    .script = HF__SCRIPT(SEMAPHORE_RESIZE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no number of permits is stored",
    .alone = true, /* a grant that it publishes cannot be undone */
};

static hf_status run_resize(hf__form form, hf_client *client, hf_bytes name,
                            int64_t permits)
{
    hf_call here, *call = hf__begin(&here, form, &resize, client);

    (void)HF__TRY(call, check_permits(permits, 1, call->form.err));
    add_keys(call, name, true);
    hf__add_number(call, permits);
    return hf__end(call);
}

HF__FORMS(hf_semaphore_resize, run_resize(form, client, name, permits),
          hf_client *client, hf_bytes name, int64_t permits);

static hf_status finish_inspect(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_semaphore_info *info = call->out;
    int64_t size = items[0].integer > 0 ? items[0].integer : call->note;

    (void)err;
    info->permits = size;
    info->stored = items[0].integer > 0;
    info->held = items[1].integer;
    info->available = hf__at_least(size - items[1].integer, 0);
    info->holders = items[2].integer;
    info->waiters = items[3].integer;
    return HF_OK;
}

static const hf__operation inspect = {
    .script = HF__SCRIPT(SEMAPHORE_INSPECT),
    .finish = finish_inspect,
};

static hf_status run_inspect(hf__form form, hf_client *client, hf_bytes name,
                             int64_t permits, hf_semaphore_info *info)
{
    hf_call here, *call = hf__begin(&here, form, &inspect, client);

    hf__set_out(call, info, "info");
    call->note = permits;
    if (HF__TRY(call, check_permits(permits, 1, call->form.err)) &&
        HF__TRY(call, hf__check_struct(
                          info->struct_size, sizeof(*info), "hf_semaphore_info",
                          "HF_SEMAPHORE_INFO_INIT", call->form.err)))
        add_keys(call, name, false);
    return hf__end(call);
}

HF__FORMS(hf_semaphore_inspect, run_inspect(form, client, name, permits, info),
          hf_client *client, hf_bytes name, int64_t permits,
          hf_semaphore_info *info);
