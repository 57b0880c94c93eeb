/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_hold.c - one hold of a lock of some kind, see lock_chaos.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "lock_chaos.h"

#define PERMITS 3
#define MANY 1000 /* readers */

typedef struct hold {
    hf_lock *lock;
    subject of;
    int64_t id, weight, token;
    record *end; /* its beginning is when the lock was last found held */
} hold;

static const struct {
    const char *model;
    int64_t capacity;
} subjects[SUBJECTS] = {
    [LOCKS] = {"mutex", 1},
    {"mutex", 1},
    {"mutex", 1},
    [RWLOCK] = {"rwlock", MANY},
    [SEMAPHORE] = {"semaphore", PERMITS},
    [ELECTION] = {"election", 1},
};

void name_of(char name[32], unsigned round, subject of)
{
    (void)snprintf(name, 32, "%s:%u:%d", subjects[of].model, round, (int)of);
}

/* ------------------------------------------------------------------ handles */

bool handles_new(worker_thread *self)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_client *client = self->lease.client;
    hf_status status = HF_OK;
    char name[32];

    opts.ttl_ms = TTL_MS;
    opts.flags = prng_chance(&self->lease.random, 25) ? HF_LOCK_NO_RENEW : 0;
    self->weight = 1 + (int64_t)prng_below(&self->lease.random, 2);
    for (int i = LOCKS; i < LOCKS + LOCK_NAMES && status == HF_OK; i++) {
        name_of(name, self->round, (subject)i);
        status =
            hf_lock_new(client, hf_str(name), &opts, &self->locks[i], NULL);
    }
    if (self->locks_only || status != HF_OK)
        return status == HF_OK;
    name_of(name, self->round, RWLOCK);
    status = hf_rwlock_new(client, hf_str(name), 0, &opts, &self->read,
                           &self->locks[RWLOCK], NULL);
    name_of(name, self->round, SEMAPHORE);
    if (status == HF_OK)
        status = hf_semaphore_new_weighted(client, hf_str(name), PERMITS,
                                           self->weight, &opts,
                                           &self->locks[SEMAPHORE], NULL);
    name_of(name, self->round, ELECTION);
    return status == HF_OK &&
           hf_election_new(client, hf_str(name), hf_str("chaos"), &opts,
                           &self->locks[ELECTION], NULL) == HF_OK;
}

void handles_free(worker_thread *self)
{
    for (size_t i = 0; i < SUBJECTS; i++)
        hf_lock_free(self->locks[i]);
    hf_lock_free(self->read);
}

/* ---------------------------------------------------------------- recording */

static void publish(record *r, int64_t ended_ns)
{
    r->ended_ns = ended_ns;
    __atomic_store_n(&r->ended, 1, __ATOMIC_RELEASE);
}

/* What happened to a hold from an instant on; not begun yet. */
static record *new_event(const worker_thread *self, const hold *of,
                         const char *call, int64_t from_ns)
{
    record *r = record_new();

    if (r == NULL)
        return NULL;
    r->model = subjects[of->of].model;
    r->key = (uint32_t)of->of;
    r->client = self->lease.number;
    r->call = call;
    r->in[0] = of->id;
    r->in[1] = of->weight;
    r->in[2] = subjects[of->of].capacity;
    r->in_count = 3;
    r->began_ns = from_ns;
    return r;
}

static int64_t token_of(worker_thread *self, const hf_lock *lock)
{
    int64_t token = (int64_t)hf_lock_token(lock);

    return strcmp(options.cheat, "token") != 0
               ? token
               : token - (int64_t)prng_below(&self->lease.random, 1000000);
}

/* Granted at some time since `from_ns`. */
static bool begin_hold(worker_thread *self, hold *it, int64_t from_ns)
{
    record *grant;

    it->id = atomic_fetch_add(&shared->holds, 1) + 1;
    it->token = token_of(self, it->lock);
    grant = new_event(self, it, "acquire", from_ns);
    it->end = new_event(self, it, "end", from_ns);
    if (grant == NULL || it->end == NULL)
        return false;
    grant->out[0] = it->token;
    grant->out_count = 1;
    publish(grant, history_now_ns());
    grant->begun = it->end->begun = 1;
    return true;
}

/* Is it held? The clock first: this process may be stopped at any instant. */
static bool observe(const hold *it)
{
    int64_t now_ns = history_now_ns();

    if (it->end == NULL ||
        (!hf_lock_is_held(it->lock) && strcmp(options.cheat, "late") != 0))
        return false;
    __atomic_store_n(&it->end->began_ns, now_ns, __ATOMIC_RELAXED);
    return true;
}

/* -------------------------------------------------------------------- holds */

/* The statuses by which a try may end, in addition to HF_OK. */
static bool may_end(hf_status status)
{
    return status == HF_HELD || status == HF_TIMEOUT ||
           status == HF_CANCELLED || status == HF_SYSTEM ||
           hf_status_kind(status) == HF_KIND_RETRY ||
           hf_status_kind(status) == HF_KIND_UNKNOWN;
}

static void release(hold *it)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_lock_release(it->lock, &err);

    if (status != HF_OK && status != HF_LOST && status != HF_EXPIRED &&
        !may_end(status))
        note_odd("release", status, &err);
    if (it->end != NULL && status == HF_OK)
        publish(it->end, history_now_ns());
}

static hf_status acquire(worker_thread *self, hf_lock *const *locks,
                         size_t count)
{
    static const int64_t waits_ms[] = {0, 20, 300, 3 * TTL_MS};
    prng *random = &self->lease.random;
    int64_t wait_ms = waits_ms[prng_below(random, 4)];
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    if (count > 1)
        status = hf_lock_acquire_all(locks, count, wait_ms, &err);
    else if (prng_chance(random, 15))
        status = hf_lock_acquire_for(locks[0], wait_ms, TTL_MS / 2, &err);
    else
        status = hf_lock_acquire(locks[0], wait_ms, &err);
    if (status != HF_OK && !may_end(status) &&
        !(status == HF_LOST && count > 1)) /* while it waited for others */
        note_odd("acquire", status, &err);
    return status;
}

static void nap(worker_thread *self)
{
    prng *random = &self->lease.random;
    size_t most_us = prng_chance(random, 1) ? 1500 * TTL_MS : 8000;

    (void)usleep((useconds_t)prng_below(random, most_us));
}

/* ------------------------------------------------------------ fenced writes */

static void fenced_call(session *data, const char *name, const int64_t *in,
                        uint32_t count)
{
    data->model = "fenced";
    data->now = record_new();
    if (data->now != NULL)
        call_begin(data, name, count, in);
}

static hf_status put(session *data, int64_t token, const char *name,
                     int64_t number)
{
    char text[24];
    hf_field field;

    (void)snprintf(text, sizeof(text), "%lld", (long long)number);
    field.name = hf_str(name);
    field.value = hf_str(text);
    return hf_hash_put_fenced(data->client, hf_str(data->name[0]), &field, 1,
                              options.fence ? (uint64_t)token : 1, NULL, NULL,
                              NULL);
}

static hf_status end_call(session *data, hf_status status)
{
    if (data->now != NULL)
        call_end(data, status);
    return data->now != NULL ? status : HF_FULL;
}

static hf_status get(session *data, int64_t *number)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status;

    fenced_call(data, "get", NULL, 0);
    status = hf_hash_get(data->client, hf_str(data->name[0]), hf_str("value"),
                         &value, NULL);
    *number = status == HF_OK ? strtoll(value.data, NULL, 10) : 0;
    hf_buffer_free(&value);
    if (data->now != NULL)
        call_out(data, *number);
    status = end_call(data, status);
    return status == HF_NOT_FOUND ? HF_OK : status;
}

/* Raise the fence, read, write: of the key of this lock and epoch. */
static void write_fenced(worker_thread *self, const hold *it)
{
    session *data = &self->lease;
    int64_t in[] = {it->token, 0, unique(data)};

    data->key = atomic_load(&shared->epoch) * 100000u +
                (uint32_t)it->id / 40 * SUBJECTS + (uint32_t)it->of;
    (void)snprintf(data->name[0], sizeof(data->name[0]), "{f%u}:%u",
                   self->round, data->key);
    fenced_call(data, "claim", in, 1);
    if (end_call(data, put(data, it->token, "claim", 1)) != HF_OK ||
        get(data, &in[1]) != HF_OK)
        return;
    nap(self);
    fenced_call(data, "put", in, 3);
    (void)end_call(data, put(data, it->token, "value", in[2]));
}

/* --------------------------------------------------------------- what is held
 */

static void write_register(worker_thread *self, const hold *holds, size_t count)
{
    const hold *it = &holds[0];
    session *data = &self->lease;
    size_t turns = prng_below(&data->random, 4);
    int64_t value, next;

    data->key = (uint32_t)it->of;
    if (register_read(data, it->token, &value) != HF_OK)
        return;
    for (size_t i = 0; i < turns; i++, value = next) {
        for (size_t k = 0; k < count; k++) {
            if (!observe(&holds[k]))
                return;
        }
        nap(self);
        next = unique(data);
        if (register_write(data, it->token, value, next) != HF_OK)
            return;
    }
    if (!self->locks_only && observe(it) && prng_chance(&data->random, 40))
        write_fenced(self, it);
}

static void look_on(worker_thread *self, const hold *it)
{
    size_t turns = 1 + prng_below(&self->lease.random, 4);

    for (size_t i = 0; i < turns && observe(it); i++)
        nap(self);
}

static bool is_alone(const hold *it)
{
    return it->weight == subjects[it->of].capacity;
}

/* From writing to reading. */
static void downgrade(worker_thread *self, hold *it)
{
    int64_t from_ns = history_now_ns();
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_rwlock_downgrade(it->lock, &err);
    record *change;

    if (status != HF_OK) {
        if (status != HF_LOST && status != HF_EXPIRED && !may_end(status))
            note_odd("downgrade", status, &err);
        return;
    }
    it->lock = self->read;
    it->weight = 1;
    change = new_event(self, it, "weigh", from_ns);
    if (change == NULL)
        return;
    publish(change, history_now_ns());
    change->begun = 1;
    look_on(self, it);
}

static void use(worker_thread *self, hold *holds, size_t count)
{
    if (is_alone(&holds[0]))
        write_register(self, holds, count);
    else
        look_on(self, &holds[0]);
    if (holds[0].of == RWLOCK && is_alone(&holds[0]) &&
        prng_chance(&self->lease.random, 25) && observe(&holds[0]))
        downgrade(self, &holds[0]);
}

static void hold_them(worker_thread *self, hold *holds, size_t count)
{
    hf_lock *locks[LOCK_NAMES];
    int64_t from_ns = history_now_ns();
    bool recorded = true;

    for (size_t i = 0; i < count; i++)
        locks[i] = holds[i].lock;
    if (acquire(self, locks, count) != HF_OK)
        return;
    for (size_t i = 0; i < count; i++)
        recorded = begin_hold(self, &holds[i], from_ns) && recorded;
    if (recorded)
        use(self, holds, count);
    for (size_t i = 0; i < count; i++)
        (void)observe(&holds[i]);
    for (size_t i = 0; i < count; i++)
        release(&holds[i]);
}

static void hold_all(worker_thread *self)
{
    hold holds[LOCK_NAMES];

    for (int i = 0; i < LOCK_NAMES; i++)
        holds[i] =
            (hold){.lock = self->locks[i], .of = (subject)i, .weight = 1};
    hold_them(self, holds, LOCK_NAMES);
}

static subject choose(worker_thread *self)
{
    prng *random = &self->lease.random;

    if (self->locks_only || prng_chance(random, 45))
        return (subject)(LOCKS + prng_below(random, LOCK_NAMES));
    return (subject)(RWLOCK + prng_below(random, SUBJECTS - RWLOCK));
}

void hold_something(worker_thread *self)
{
    prng *random = &self->lease.random;
    subject of = choose(self);
    hold it = {.lock = self->locks[of], .of = of, .weight = 1};

    if (of < LOCKS + LOCK_NAMES && prng_chance(random, 25)) {
        hold_all(self);
        return;
    }
    if (of == RWLOCK && prng_chance(random, 50))
        it.lock = self->read;
    else if (of == RWLOCK)
        it.weight = MANY;
    if (of == SEMAPHORE)
        it.weight = self->weight;
    hold_them(self, &it, 1);
}
