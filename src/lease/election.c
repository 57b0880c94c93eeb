/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.c - the kind of a candidate, whose text is stored with its lease.
 *
 * The text is a field of the key that the lease is on: it is written by the
 * request that grants the lease and ends with it, so that no leader has the
 * text of another one. It has no blank and no comma there: these, `%` and
 * control characters are %XX. In a request a `%` precedes it, so that the entry
 * of a candidate is none of another kind, whatever the text.
 */
#include "lease/election.h"

#include <stdlib.h>

#include "lease/handle.h"
#include "lease/lease.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/percent.h"

/* The form that kinds.h asks for. */
_Static_assert((int)HF__ELECTION_ACQUIRE_BEGAN == HF__LOCK_ACQUIRE_BEGAN, "");
_Static_assert((int)HF__ELECTION_ACQUIRE_TEXT == HF__LOCK_ACQUIRE_WORDS, "");
_Static_assert((int)HF__ELECTION_RELEASE_OWNER == HF__LOCK_RELEASE_OWNER, "");

static const hf__lease_kind candidate = {
    .acquire = HF__SCRIPT_ELECTION_ACQUIRE,
    .renew = HF__SCRIPT_ELECTION_RENEW,
    .release = HF__SCRIPT_ELECTION_RELEASE,
    .refused = "another owner leads",
    .held_as = "held",
};

/* -------------------------------------------------------------------- text */

static hf_status check_text(hf_bytes text, hf_error *err)
{
    if (text.data == NULL && text.size > 0)
        return hf__fail(err, HF_INVALID, "text is NULL");
    if (text.size > HF_ELECTION_TEXT_MAX)
        return hf__fail(err, HF_INVALID,
                        "text has %zu bytes; allowed are up to %d", text.size,
                        HF_ELECTION_TEXT_MAX);
    return HF_OK;
}

static bool is_plain(unsigned char byte)
{
    return byte > ' ' && byte != ',' && byte != '%';
}

static hf_bytes escape_text(hf_bytes text, char *at)
{
    return hf_view(at, hf__percent_put(at, text, is_plain));
}

hf_status hf_election_new(hf_client *client, hf_bytes name, hf_bytes text,
                          const hf_lock_options *opts, hf_lock **lock,
                          hf_error *err)
{
    hf_lock *made = NULL;
    char *room;
    hf_status status = check_text(text, err);

    if (status == HF_OK)
        status = hf__check_out(lock, "lock", err);
    if (status != HF_OK)
        return status;
    room = hf__alloc(1 + 3 * text.size + 1);
    if (room == NULL)
        return hf__fail(err, HF_NO_MEMORY, "the text of a candidate");
    status = hf__lock_make(client, &candidate, name, 0, opts, &made, err);
    if (status != HF_OK) {
        hf__free(room);
        return status;
    }
    room[0] = '%';
    made->text = room;
    made->argument = hf_view(room, 1 + escape_text(text, room + 1).size);
    *lock = made;
    return HF_OK;
}

/* ---------------------------------------------------------------- proclaim */

static hf_status finish_proclaim(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_EXPIRED, "the lease has expired");
    if (call->request.reply.integer < 0)
        return hf__fail(err, HF_LOST, "another owner leads");
    return HF_OK;
}

static const hf__operation proclaim = {
    .script = HF__SCRIPT(ELECTION_PROCLAIM),
    .wrote = hf__wrote_number,
    .finish = finish_proclaim,
};

static hf_status check_leads(hf_lock *lock, char owner[HF_OWNER_SIZE],
                             hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf__lock_state state;

    if (lock->kind != &candidate)
        return hf__fail(err, HF_INVALID, "the handle is not of an election");
    pthread_mutex_lock(&watchdog->mutex);
    hf__lease_check_locked(watchdog, lock);
    state = lock->state;
    memcpy(owner, lock->owner, HF_OWNER_SIZE);
    pthread_mutex_unlock(&watchdog->mutex);
    if (state == HF__LOCK_LOST)
        return hf__fail(err, HF_LOST, "this handle has lost the lead");
    return state == HF__LOCK_HELD
               ? HF_OK
               : hf__fail(err, HF_INVALID, "this handle does not lead");
}

static hf_status run_proclaim(hf__form form, hf_lock *lock, hf_bytes text)
{
    hf_status status = hf__lock_check(lock, form.err);
    char owner[HF_OWNER_SIZE];
    hf_call here, *call;
    char *room;

    if (status != HF_OK)
        return status;
    call = hf__begin(&here, form, &proclaim, lock->client);
    if (HF__TRY(call, check_text(text, call->form.err)) &&
        HF__TRY(call, check_leads(lock, owner, call->form.err))) {
        room = hf__call_alloc(call, 3 * text.size + 1);
        hf__add_whole_key(call, lock->keys.main);
        hf__add(call, hf_str(owner));
        if (room != NULL)
            hf__add(call, escape_text(text, room));
    }
    return hf__end(call);
}

HF__FORMS(hf_election_proclaim, run_proclaim(form, lock, text), hf_lock *lock,
          hf_bytes text);

/* ------------------------------------------------------------------ leader */

void hf_leader_free(hf_leader *leader)
{
    if (leader != NULL)
        hf_buffer_free(&leader->text);
}

static void copy_owner(hf_leader *leader, const hf_reply *owner)
{
    size_t size = owner->bytes.size;

    if (size > HF_OWNER_SIZE - 1)
        size = HF_OWNER_SIZE - 1;
    memcpy(leader->owner, owner->bytes.data, size);
    leader->owner[size] = '\0';
}

hf_status hf__leader_read(const hf_reply *reply, hf_leader *leader,
                          hf_error *err)
{
    const hf_reply *items = reply->array.items;
    bool leads = reply->array.count == 5;
    uint64_t term = leads ? strtoull(items[3].bytes.data, NULL, 10) : 0;
    hf_buffer text = HF_BUFFER_INIT;
    hf_status status = HF_OK;

    if (leads && (term == 0 || term > HF__TOKEN_MAX))
        return hf__bad_reply("election_inspect", err);
    if (leads)
        status = hf__buffer_set(&text, &items[4], err);
    if (status != HF_OK)
        return status;
    if (leads)
        text.size = hf__percent_take(text.data, text.size);
    hf_buffer_free(&leader->text);
    leader->text = text;
    leader->term = term;
    leader->remaining_ms = leads ? items[0].integer : 0;
    leader->candidates = items[1].integer;
    leader->owner[0] = '\0';
    if (leads)
        copy_owner(leader, &items[2]);
    return HF_OK;
}

static hf_status finish_leader(hf_call *call, hf_error *err)
{
    hf_leader *leader = call->out;
    hf_status status = hf__leader_read(&call->request.reply, leader, err);

    if (status == HF_OK && leader->term == 0)
        return hf__fail(err, HF_NOT_FOUND, "no one leads");
    return status;
}

static const hf__operation leader_of = {
    .script = HF__SCRIPT(ELECTION_INSPECT),
    .finish = finish_leader,
};

static hf_status run_leader(hf__form form, hf_client *client, hf_bytes name,
                            hf_leader *leader)
{
    hf_call here, *call = hf__begin(&here, form, &leader_of, client);

    hf__set_out(call, leader, "leader");
    if (call->prepared == HF_OK &&
        HF__TRY(call, hf__check_struct(leader->struct_size, sizeof(*leader),
                                       "hf_leader", "HF_LEADER_INIT",
                                       call->form.err))) {
        hf__add_key(call, name);
        hf__add_own_key(call, HF__ROLE_WAIT, name);
    }
    return hf__end(call);
}

HF__FORMS(hf_election_inspect, run_leader(form, client, name, leader),
          hf_client *client, hf_bytes name, hf_leader *leader);
