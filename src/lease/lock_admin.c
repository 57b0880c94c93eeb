/* SPDX-License-Identifier: Apache-2.0 */
/* lock_admin.c - hf_lock_inspect(), hf_lock_break(), hf_lock_break_owner(). */
#include <stdlib.h>

#include "core/form.h"
#include "core/waiting.h"
#include "holdfast/lock.h"
#include "lease/handle.h"
#include "lease/redisson.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/order.h"

static hf_status check_info(const hf_lock_info *info, hf_error *err)
{
    hf_status status = hf__check_out(info, "info", err);

    if (status != HF_OK)
        return status;
    return hf__check_struct(info->struct_size, sizeof(*info), "hf_lock_info",
                            "HF_LOCK_INFO_INIT", err);
}

static void fill_owner(hf_lock_info *info, const hf_reply *owner)
{
    size_t shown = owner->bytes.size;

    if (shown > HF_LOCK_INFO_OWNER_MAX)
        shown = HF_LOCK_INFO_OWNER_MAX;
    memcpy(info->owner, owner->bytes.data, shown);
    info->owner[shown] = '\0';
    info->owner_size = owner->bytes.size;
}

uint64_t hf__token_read(const hf_reply *reply)
{
    unsigned long long token;
    char *end;

    if (reply->kind != HF_REPLY_STRING)
        return 0;
    token = strtoull(reply->bytes.data, &end, 10);
    return end == reply->bytes.data + reply->bytes.size &&
                   token < (uint64_t)HF__TOKEN_MAX
               ? token
               : 0;
}

static hf_status finish_inspect(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_lock_info *info = call->out;

    info->last_token = hf__token_read(&items[2]);
    info->waiters = items[3].integer;
    info->held_ms = -1;
    if (items[0].kind != HF_REPLY_STRING)
        return hf__fail(err, HF_NOT_FOUND, "the lock is not held");
    info->remaining_ms = hf__at_least(items[1].integer, -1);
    if (call->request.reply.array.count > 4 && items[4].integer >= 0)
        info->held_ms = items[4].integer / 1000;
    info->holders = 1;
    if (call->request.reply.array.count > 6) {
        info->holders = items[5].integer;
        info->mode = (hf_lock_mode)items[6].integer;
    }
    info->token =
        call->request.reply.array.count > 7 ? hf__token_read(&items[7]) : 0;
    fill_owner(info, &items[0]);
    return HF_OK;
}

static hf_status find_keys(hf_call *call, hf_bytes name, hf__lock_keys *keys)
{
    hf_status status = hf__lock_keys_init(
        call->client, call->client->layout.redisson ? &hf__redisson_any : NULL,
        name, keys, call->form.err);

    if (status == HF_OK)
        call->owned = keys->storage;
    return status;
}

static const hf__operation inspect = {
    .script = HF__SCRIPT(LOCK_INSPECT),
    .finish = finish_inspect,
};

static hf_status run_inspect(hf__form form, hf_client *client, hf_bytes name,
                             hf_lock_info *info)
{
    hf_call here, *call = hf__begin(&here, form, &inspect, client);
    hf__lock_keys keys;

    hf__set_out(call, info, NULL);
    if (HF__TRY(call, find_keys(call, name, &keys)) &&
        HF__TRY(call, check_info(info, call->form.err))) {
        hf__add_whole_key(call, keys.main);
        hf__add_whole_key(call, keys.token);
        hf__add_whole_key(call, keys.waiters);
        hf__add(call, hf__layout_flag(client));
    }
    return hf__end(call);
}

HF__FORMS(hf_lock_inspect, run_inspect(form, client, name, info),
          hf_client *client, hf_bytes name, hf_lock_info *info);

static const hf__operation break_lock = {
    .script = HF__SCRIPT(LOCK_BREAK),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "the lock is not held",
    .alone = true, /* a grant that it publishes cannot be undone */
};

static hf_status run_break(hf__form form, hf_client *client, hf_bytes name)
{
    hf_call here, *call = hf__begin(&here, form, &break_lock, client);
    hf__lock_keys keys;

    if (HF__TRY(call, find_keys(call, name, &keys))) {
        hf__add_whole_key(call, keys.main);
        hf__add_whole_key(call, keys.token);
        hf__add_whole_key(call, keys.waiters);
        hf__add(call, hf_str(client->layout.verb));
        hf__add(call, hf__layout_flag(client));
    }
    return hf__end(call);
}

HF__FORMS(hf_lock_break, run_break(form, client, name), hf_client *client,
          hf_bytes name);

/* ------------------------------------------------------ break of one owner */

/* By its mode, that of its inspection. */
static const uint32_t releases[] = {
    [HF_LOCK_EXCLUSIVE] = HF__SCRIPT_LOCK_RELEASE,
    [HF_LOCK_SHARED] = HF__SCRIPT_RWLOCK_RELEASE,
    [HF_LOCK_PERMITS] = HF__SCRIPT_SEMAPHORE_RELEASE,
};

enum { INSPECTS, RELEASES }; /* what the call does: its note */

static hf_status finish_break_owner(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;

    if (reply->kind == HF_REPLY_INTEGER && reply->integer <= 0)
        return hf__fail(err, HF_NOT_FOUND, "that owner does not hold the lock");
    return HF_OK;
}

/* The release is the owner's own: an owner that has acquired it since is not
 * hit. */
static hf__next read_break(hf__wait *wait)
{
    hf_call *call = wait->call;
    const hf_reply *reply = &call->request.reply, *items = reply->array.items;
    int64_t mode = HF_LOCK_EXCLUSIVE; /* a quorum has no others */
    bool redisson = reply->array.count > 8;

    if (call->note == RELEASES)
        return HF__END;
    if (items[0].kind == HF_REPLY_NIL)
        return hf__wait_fail(wait, HF_NOT_FOUND, "the lock is not held");
    if (!redisson && call->client->layout.redisson)
        return hf__wait_fail(wait, HF_WRONG_TYPE,
                             "the key holds no lock of Redisson");
    if (reply->array.count > 6)
        mode = items[6].integer;
    call->note = RELEASES;
    call->script =
        &hf__scripts[redisson ? HF__SCRIPT_REDISSON_BREAK : releases[mode]];
    call->count =
        redisson ? HF__REDISSON_BREAK_WORDS : HF__LOCK_RELEASE_OWNER + 1;
    return HF__ASK;
}

static const hf__wait_kind breaking = {
    .read = read_break, .closed = HF_INDETERMINATE, .what = "a reply"};

static const hf__operation break_owner = {
    .script = HF__SCRIPT(LOCK_INSPECT),
    .finish = finish_break_owner,
    .alone = true,
};

static hf_status check_break(hf_bytes owner, hf_error *err)
{
    if (owner.data == NULL || owner.size == 0 ||
        owner.size > HF_LOCK_INFO_OWNER_MAX)
        return hf__fail(err, HF_INVALID,
                        "owner has %zu bytes; it must have 1..%d", owner.size,
                        HF_LOCK_INFO_OWNER_MAX);
    return HF_OK;
}

/* In memory of the call. */
static hf_bytes keep_copy(hf_call *call, hf_bytes from)
{
    char *at = hf__call_alloc(call, from.size);

    if (at == NULL)
        return hf_str("");
    memcpy(at, from.data, from.size);
    return hf_view(at, from.size);
}

static hf_status run_break_owner(hf__form form, hf_client *client,
                                 hf_bytes name, hf_bytes owner)
{
    hf_call here, *call = hf__begin(&here, form, &break_owner, client);
    hf__lock_keys keys;

    if (HF__TRY(call, check_break(owner, call->form.err)) &&
        HF__TRY(call, hf__lock_keys_init(client, NULL, name, &keys,
                                         call->form.err))) {
        hf__add_whole_key(call, keep_copy(call, keys.main));
        hf__add_whole_key(call, keep_copy(call, keys.token));
        hf__add_whole_key(call, keep_copy(call, keys.waiters));
        hf__add(call, keep_copy(call, owner));
        hf__add(call, hf_str(client->layout.verb));
        call->count = HF__LOCK_INSPECT_REDISSON; /* at first, without that */
        hf__lock_keys_done(&keys);
    }
    call->note = INSPECTS;
    return hf__end_waiting(call, &breaking, 0, 0);
}

HF__FORMS(hf_lock_break_owner, run_break_owner(form, client, name, owner),
          hf_client *client, hf_bytes name, hf_bytes owner);
