/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass_on.c - hf_lock_export(), hf_lock_adopt().
 */

#include "core/form.h"
#include "holdfast/adopt.h"
#include "holdfast/semaphore.h"
#include "lease/export_text.h"
#include "lease/lease.h"
#include "lease/release.h"
#include "lease/renewal.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

typedef hf_status (*make_fn)(hf_client *client, hf_bytes name, int64_t argument,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err);

/* A kind of which a lease can be passed on. */
typedef struct passable {
    const char *name;
    uint32_t acquire; /* its script, by which the kind is known */
    uint32_t adopt;
    make_fn make;
} passable;

static hf_status make_lock(hf_client *client, hf_bytes name, int64_t argument,
                           const hf_lock_options *opts, hf_lock **lock,
                           hf_error *err)
{
    (void)argument;
    return hf_lock_new(client, name, opts, lock, err);
}

static hf_status make_permit(hf_client *client, hf_bytes name, int64_t argument,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err)
{
    return hf_semaphore_new(client, name, (uint32_t)argument, opts, lock, err);
}

_Static_assert((int)HF__SEMAPHORE_ADOPT_OWNER == HF__LOCK_ADOPT_OWNER, "");

static const passable kinds[] = {
    {"lock", HF__SCRIPT_LOCK_ACQUIRE, HF__SCRIPT_LOCK_ADOPT, make_lock},
    {"semaphore", HF__SCRIPT_SEMAPHORE_ACQUIRE, HF__SCRIPT_SEMAPHORE_ADOPT,
     make_permit},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ------------------------------------------------------------------ export */

static const passable *kind_of(const hf_lock *lock)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].acquire == lock->kind->acquire)
            return &kinds[i];
    }
    return NULL;
}

static hf_status check_exportable_locked(hf_lock *lock, hf_error *err)
{
    hf_status status = hf__lease_held_locked(lock, err);

    if (status != HF_OK)
        return status;
    if (lock->holds > 1)
        return hf__fail(err, HF_INVALID,
                        "this handle was acquired %u times; release it until "
                        "one is left",
                        (unsigned)lock->holds);
    if (lock->argument.size > 0 &&
        memchr(lock->argument.data, '/', lock->argument.size) != NULL)
        return hf__fail(err, HF_UNSUPPORTED,
                        "a handle for several permits cannot be passed on");
    return HF_OK;
}

/* A lease that a release has given is short until its first renewal, and the
 * text would be good for that long only. */
static hf_status make_long(hf_lock *lock, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool is_short;

    pthread_mutex_lock(&watchdog->mutex);
    hf__lease_check_locked(watchdog, lock);
    is_short =
        lock->state == HF__LOCK_HELD && lock->granted_ms < lock->lease_ms;
    pthread_mutex_unlock(&watchdog->mutex);
    return is_short ? hf_lock_renew(lock, err) : HF_OK;
}

/* `text` has room for it. A reply to a renewal in flight is ignored. */
static hf_status export_held(hf_lock *lock, const passable *kind,
                             hf_buffer *text, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_status status;

    pthread_mutex_lock(&watchdog->mutex);
    status = check_exportable_locked(lock, err);
    if (status == HF_OK) {
        text->size = hf__export_put(text->data, lock, kind->name);
        hf__lease_unwatch_locked(watchdog, lock);
        lock->state = HF__LOCK_FREE;
        pthread_cond_broadcast(&lock->changed);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return status;
}

static hf_status export_lock(hf_lock *lock, hf_buffer *text, hf_error *err)
{
    const passable *kind = kind_of(lock);
    hf_buffer made = HF_BUFFER_INIT;
    hf_status status;

    if (kind == NULL)
        return hf__fail(err, HF_UNSUPPORTED,
                        "this kind of lease cannot be passed on");
    made.data = hf__alloc(HF__EXPORT_SIZE(hf_lock_name(lock).size));
    if (made.data == NULL)
        return hf__fail(err, HF_NO_MEMORY, "the text of a lock");
    status = export_held(lock, kind, &made, err);
    if (status == HF_OK)
        *text = made;
    else
        hf__free(made.data);
    return status;
}

hf_status hf_lock_export(hf_lock *lock, hf_buffer *text, hf_error *err)
{
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK)
        status = hf__check_out(text, "text", err);
    if (status == HF_OK)
        status = hf__client_enter(lock->client, err);
    if (status != HF_OK)
        return status;
    status = make_long(lock, err);
    if (status == HF_OK)
        status = export_lock(lock, text, err);
    hf__life_leave(&lock->client->life);
    return status;
}

/* ------------------------------------------------------------------- adopt */

static hf_status find_kind(const char *name, const passable **kind,
                           hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *kind = &kinds[i];
            return HF_OK;
        }
    }
    return hf__fail(err, HF_UNSUPPORTED,
                    "the text is of a kind of lease that this version cannot "
                    "adopt: %s",
                    hf__quoted(quoted, hf_str(name)));
}

/* What is to become held. */
typedef struct heir {
    hf_lock *lock; /* NULL: the caller has it */
    char from[HF_OWNER_SIZE];
    hf__grant grant;
} heir;

static void release_heir(hf_call *call)
{
    heir *self = call->owned;

    hf_lock_free(self->lock);
    hf__free(self);
}

static void hold_adopted(hf_call *call)
{
    heir *self = call->owned;
    hf_lock *lock = self->lock;
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool watched;

    self->grant.sent_ms = call->request.began_ms;
    self->grant.acked =
        call->request.replicas != NULL ? call->request.acked : -1;
    pthread_mutex_lock(&watchdog->mutex);
    hf__lock_hold_locked(lock, &self->grant);
    watched = lock->watched;
    pthread_mutex_unlock(&watchdog->mutex);
    if (watched)
        hf__registry_note(&lock->client->leases->registry);
}

/* What became of it, as far as the reply says. */
static hf_status read_reply(const hf_call *call)
{
    const hf__request *request = &call->request;
    const heir *self = call->owned;
    hf__renewal_answer answer;

    if (request->status != HF_OK)
        return request->status;
    if (!hf__renewal_read(&request->reply, 1, &answer))
        return HF_CORRUPT;
    if (answer == HF__TAKEN)
        return HF_LOST;
    if (answer == HF__GONE)
        return HF_EXPIRED;
    /* A reply that took longer than the lease does not count. */
    return answer == HF__RENEWED &&
                   hf__clock_boot_ms() < hf__lock_validity(self->lock,
                                                           request->began_ms,
                                                           self->grant.lease_ms)
               ? HF_OK
               : HF_INDETERMINATE;
}

static void adopt_answered(hf_call *call)
{
    const heir *self = call->owned;

    call->note = read_reply(call);
    if (call->note == HF_OK)
        hold_adopted(call);
    else if (call->note == HF_INDETERMINATE)
        hf__lock_undo(self->lock, self->grant.owner);
}

static hf_status finish_adopt(hf_call *call, hf_error *err)
{
    heir *self = call->owned;

    switch (call->note) {
    case HF_OK:
        *(hf_lock **)call->out = self->lock;
        self->lock = NULL;
        return HF_OK;
    case HF_LOST:
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    case HF_EXPIRED:
        return hf__fail(err, HF_EXPIRED,
                        "the lease had ended, or the lock was released");
    case HF_INDETERMINATE:
        return hf__fail(err, HF_INDETERMINATE,
                        "the reply took longer than the lease, or no majority "
                        "of the quorum decided");
    default:
        return hf__bad_reply(call->request.script->name, err);
    }
}

static const hf__operation adopt = {
    .finish = finish_adopt,
};

static hf_status begin_adopt(hf_lock *lock, hf_error *err)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    hf_status status;
    bool busy;

    pthread_mutex_lock(&watchdog->mutex);
    status = hf__lock_begin_locked(lock, 0, &busy, err);
    pthread_mutex_unlock(&watchdog->mutex);
    if (status == HF_OK && lock->watched)
        status = hf__watchdog_start(watchdog, err);
    return status;
}

/* `from` is of the size of an owner id. */
static hf_status make_heir(hf_call *call, const hf__exported *from,
                           const passable *kind, const hf_lock_options *opts)
{
    hf_lock_options options;
    hf_error *err = call->form.err;
    heir *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a lock");
    call->owned = self;
    call->release = release_heir;
    memcpy(self->from, from->owner, HF_OWNER_SIZE);
    self->grant.token = (uint64_t)from->token;
    hf__owner_draw(&call->client->leases->owners, hf__clock_boot_ms(),
                   self->grant.owner);
    status = hf__options_load(&options, sizeof(options), sizeof(options), opts,
                              "hf_lock_options", err);
    options.struct_size = sizeof(options);
    if (options.ttl_ms == 0)
        options.ttl_ms = from->ttl_ms;
    if (status == HF_OK)
        status = kind->make(call->client, from->name, from->argument, &options,
                            &self->lock, err);
    if (status == HF_OK)
        status = begin_adopt(self->lock, err);
    if (status == HF_OK)
        self->grant.lease_ms = self->lock->lease_ms;
    return status;
}

static hf_status fill_adopt(hf_call *call, hf_bytes text,
                            const hf_lock_options *opts)
{
    hf__exported from;
    const passable *kind = NULL;
    hf_status status = hf__export_split(&from, text, call->form.err);
    const heir *self;

    if (status == HF_OK)
        status = find_kind(from.kind, &kind, call->form.err);
    if (status == HF_OK)
        status = hf__export_read(&from, call->form.err);
    if (status == HF_OK)
        status = make_heir(call, &from, kind, opts);
    hf__free(from.storage);
    if (status != HF_OK)
        return status;
    self = call->owned;
    call->words_stay = true;
    call->answered = adopt_answered;
    call->script = &hf__scripts[kind->adopt];
    hf__add_whole_key(call, self->lock->keys.main);
    hf__add(call, hf_str(self->from));
    hf__add(call, hf_str(self->grant.owner));
    hf__add_number(call, self->lock->lease_ms + self->lock->options.delay_ms);
    return HF_OK;
}

static hf_status run_adopt(hf__form form, hf_client *client, hf_bytes text,
                           const hf_lock_options *opts, hf_lock **lock)
{
    hf_call here, *call = hf__begin(&here, form, &adopt, client);
    const heir *self;

    hf__set_out(call, lock, "lock");
    if (HF__TRY(call, fill_adopt(call, text, opts))) {
        self = call->owned;
        hf__fill(call);
        hf__request_replicate(&call->request, &self->lock->renewal_replicas,
                              NULL);
    }
    return hf__end(call);
}

HF__FORMS(hf_lock_adopt, run_adopt(form, client, text, opts, lock),
          hf_client *client, hf_bytes text, const hf_lock_options *opts,
          hf_lock **lock);
