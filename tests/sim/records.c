/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - with --records: a store of records in memory, which the clients
 * reach by the driver of such stores (src/records/). Its reads and commits are
 * the packets: they are delayed, lost before and after they were done, refused,
 * and late; its clock may be set.
 */
#include <stdio.h>
#include <stdlib.h>

#include "records/record_work.h"
#include "sim.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"

#define RECORDS 32
#define KEY_SIZE 128
#define LISTED 32
/* The backend removes what has ended for so long: less than a step. */
#define KEEP_MS 5000

/* A read or a commit on its way. */
struct fake_call {
    hf__request request;    /* what the packet carries */
    hf__backend_call *call; /* the driver's; NULL: it is over */
    bool commits;
    hf__backend_record records[LISTED];
    size_t record_count;
    hf__backend_write writes[LISTED];
    size_t write_count;
    hf__scratch_message messages[LISTED];
    size_t message_count;
    hf_bytes required[LISTED];
    size_t required_count;
    int64_t now_us;
    int64_t late_us;
    uint64_t version;
    hf__backend_outcome outcome;
    size_t absent;
    int64_t store_us;
    hf__arena arena;
};

typedef struct fake_backend {
    hf__backend base;
    client *of;
} fake_backend;

typedef struct stored {
    char key[KEY_SIZE];
    size_t key_size;
    hf__backend_record record; /* version 0: there is none */
} stored;

bool sim_records;
int64_t sim_step_us;
static stored store[RECORDS];
static hf__scratch *scratch;
static unsigned members; /* of groups, that have run */

/* ------------------------------------------------------------------ records */

static int64_t clock_us(void)
{
    bool before = sim_at_store;
    int64_t now_us;

    sim_at_store = true;
    now_us = hf__clock_unix_us() + sim_step_us;
    sim_at_store = before;
    return now_us;
}

/* Made if there is none. */
static stored *stored_of(hf_bytes key)
{
    size_t i = 0;

    while (i < RECORDS && store[i].key_size != 0 &&
           (store[i].key_size != key.size ||
            memcmp(store[i].key, key.data, key.size) != 0))
        i++;
    if (i == RECORDS || key.size > KEY_SIZE || key.size == 0) {
        check_fail("more than %d keys", RECORDS);
        abort();
    }
    if (store[i].key_size == 0) {
        memcpy(store[i].key, key.data, key.size);
        store[i].key_size = key.size;
        store[i].record.key = hf_view(store[i].key, key.size);
    }
    return &store[i];
}

static void clear(stored *one)
{
    free((void *)(uintptr_t)one->record.payload.data);
    one->record = (hf__backend_record){.key = hf_view(one->key, one->key_size)};
}

static void put(stored *one, hf_bytes payload, int64_t expire_ms, int64_t at_us,
                uint64_t version)
{
    char *copy = malloc(payload.size + 1);

    clear(one);
    if (payload.size == 0) {
        free(copy);
        return;
    }
    if (copy == NULL)
        abort();
    memcpy(copy, payload.data, payload.size);
    one->record.payload = hf_view(copy, payload.size);
    one->record.expire_ms = expire_ms;
    one->record.at_us = at_us;
    one->record.version = version;
}

void records_clear(void)
{
    for (size_t i = 0; i < RECORDS; i++) {
        clear(&store[i]);
        store[i].key_size = 0;
    }
    sim_step_us = 0;
    members = 0;
}

/* ------------------------------------------------- what the checks look at */

static bool is_listening(void *user, hf_bytes channel)
{
    (void)user;
    return net_listens(channel);
}

/* The linker puts these in place of the engine's own (--wrap). Of a group,
 * every second request deletes its keys and fails, which must be undone; but
 * not with
 * --cheat spoilt. With --cheat parted the commit has only what the first has
 * changed. */
void __wrap_hf__scratch_next(hf__scratch *self, hf__request *request,
                             hf__scratch_call *call);
void __real_hf__scratch_next(hf__scratch *self, hf__request *request,
                             hf__scratch_call *call);
hf_status __wrap_hf__scratch_end(hf__scratch *self, hf__scratch_call *call,
                                 hf_error *err);
hf_status __real_hf__scratch_end(hf__scratch *self, hf__scratch_call *call,
                                 hf_error *err);

/* A command on one key, at once. */
void records_run(hf__request *request)
{
    static uint64_t version = UINT64_C(1) << 63;
    stored *one = stored_of(request->words[1]);
    hf__scratch_record given = {.key = one->record.key,
                                .payload = one->record.payload,
                                .expire_ms =
                                    hf__backend_end(one->record.expire_ms)};
    hf__arena arena;
    hf__scratch_call run = {.records = &given,
                            .record_count = 1,
                            .arena = &arena,
                            .now_us = clock_us(),
                            .budget_ms = 1000,
                            .listens = is_listening};

    if (scratch == NULL && hf__scratch_open(&scratch, NULL) != HF_OK)
        abort();
    request->deadline_ms = INT64_MAX;
    hf__arena_init(&arena);
    hf__scratch_begin(scratch, &run);
    __real_hf__scratch_next(scratch, request, &run);
    if (__real_hf__scratch_end(scratch, &run, NULL) != HF_OK)
        abort();
    for (size_t i = 0; i < run.changed_count; i++)
        put(one, run.changed[i].payload, run.changed[i].expire_ms, run.now_us,
            version++);
    hf__arena_free(&arena);
}

void records_close(void)
{
    records_clear();
    if (scratch != NULL)
        hf__scratch_close(scratch);
    scratch = NULL;
    scratches_close();
}

/* ------------------------------------------------------------- at the store */

static void copy_bytes(hf__arena *arena, hf_bytes *bytes)
{
    bytes->data = hf__arena_copy(arena, bytes->data, bytes->size);
    if (bytes->data == NULL)
        abort();
}

static void read_all(fake_call *self)
{
    for (size_t i = 0; i < self->record_count; i++) {
        hf__backend_record *to = &self->records[i];
        hf_bytes key = to->key;

        *to = stored_of(key)->record;
        to->key = key;
        copy_bytes(&self->arena, &to->payload);
        /* With --cheat unguarded: a lease that is over was short. */
        if (sim_cheats("unguarded") &&
            hf__backend_end(to->expire_ms) * 1000 < self->store_us)
            to->at_us = hf__backend_end(to->expire_ms) * 1000;
    }
}

/* The instants of all clients' commits must be below this. */
static int64_t latest_us(const fake_call *self)
{
    int64_t latest = self->store_us;

    for (size_t i = 0; i < self->record_count; i++) {
        const hf__backend_record *one =
            &stored_of(self->records[i].key)->record;

        if (one->version != 0 && one->at_us > latest)
            latest = one->at_us;
    }
    return latest;
}

static bool has_conflict(const fake_call *self)
{
    if (sim_cheats("stale"))
        return false;
    for (size_t i = 0; i < self->record_count; i++) {
        if (stored_of(self->records[i].key)->record.version !=
            self->records[i].version)
            return true;
    }
    return false;
}

static bool is_absent(fake_call *self)
{
    for (size_t i = 0; i < self->required_count; i++) {
        if (!net_listens(self->required[i])) {
            self->absent = i;
            return true;
        }
    }
    return false;
}

static bool is_mistimed(const fake_call *self)
{
    return self->now_us > latest_us(self) ||
           self->now_us < self->store_us - self->late_us;
}

struct learned {
    hf__backend_record records[LISTED];
    size_t count;
    hf__arena arena;
};

static learned *make_learned(const fake_call *self)
{
    learned *all = calloc(1, sizeof(*all));

    if (all == NULL)
        abort();
    hf__arena_init(&all->arena);
    for (size_t i = 0; i < self->write_count; i++) {
        hf__backend_record *to = &all->records[all->count++];

        *to = stored_of(self->records[self->writes[i].at].key)->record;
        copy_bytes(&all->arena, &to->key);
        copy_bytes(&all->arena, &to->payload);
    }
    return all;
}

void records_learn(learned *all, hf__record_store *of)
{
    for (size_t i = 0; i < all->count; i++)
        hf__record_store_learn(of, &all->records[i]);
}

void records_forget(const client *of)
{
    hf__record_store *records = of->records;

    if (!sim_records)
        return; /* a server, of which a client knows nothing */
    hf__kept_done(&records->kept);
    memset(records->guard->watched, 0, sizeof(records->guard->watched));
}

void records_unlearn(learned *all)
{
    if (all == NULL)
        return;
    hf__arena_free(&all->arena);
    free(all);
}

/* Of what may be removed. With --cheat purged: also leases. */
static void purge(int64_t now_us)
{
    for (size_t i = 0; i < RECORDS; i++) {
        int64_t end_ms = store[i].record.expire_ms;

        if (sim_cheats("purged"))
            end_ms = hf__backend_end(end_ms);
        if (end_ms > 0 && end_ms < now_us / 1000 - KEEP_MS)
            clear(&store[i]);
    }
}

/* With --cheat hasty: a mark says that a lease was always seen. */
static void make_hasty(const fake_call *self, stored *one)
{
    const char *mark = one->record.payload.data;
    uint64_t version = self->records[0].version;
    hf__guard *guard;

    if (!sim_cheats("hasty") || one->key_size < 10 ||
        memcmp(one->key, "hf:watched", 10) != 0)
        return;
    guard = hf__guard_new();
    if (guard == NULL)
        abort();
    (void)hf__guard_since(guard, version, 0);
    hf__guard_write_mark(guard, version, 0, (char *)(uintptr_t)mark);
    hf__guard_free(guard);
}

static void write_all(const fake_call *self)
{
    purge(self->store_us);
    for (size_t i = 0; i < self->write_count; i++) {
        const hf__backend_write *write = &self->writes[i];

        put(stored_of(self->records[write->at].key), write->payload,
            write->expire_ms, self->now_us, self->version);
        make_hasty(self, stored_of(self->records[write->at].key));
    }
    for (size_t i = 0; i < self->message_count; i++) {
        hf_bytes text, topic;

        hf__store_message(self->messages[i].text, &text, &topic);
        if (net_publish(self->messages[i].channel, text, topic) > 0)
            net_attach(make_learned(self));
    }
}

void records_at_store(fake_call *self)
{
    long fail_after = hf__alloc_fail_after(-1);

    self->store_us = clock_us();
    self->outcome = HF__BACKEND_DONE;
    if (!self->commits) {
        read_all(self);
    } else if (has_conflict(self)) {
        self->outcome = HF__BACKEND_CONFLICT;
        read_all(self);
    } else if (is_absent(self)) {
        self->outcome = HF__BACKEND_ABSENT;
    } else if (is_mistimed(self)) {
        self->outcome = HF__BACKEND_TIMING;
    } else {
        write_all(self);
    }
    (void)hf__alloc_fail_after(fail_after);
}

static bool leads(const hf__scratch_call *call, const hf__request *request)
{
    const hf__work *work = call->user;

    return work->request == request;
}

static void spoil(hf__scratch *self, hf__request *request,
                  hf__scratch_call *call)
{
    static hf__request deletes; /* changes are by it */
    hf_bytes words[LISTED] = {hf_str("del")};

    for (size_t i = 0; i < request->key_count; i++)
        words[1 + i] = request->words[i];
    hf__request_command(&deletes, words, 1 + request->key_count, true);
    __real_hf__scratch_next(self, &deletes, call);
    hf__request_done(&deletes);
    hf__request_fail(request, HF_NO_MEMORY, "it deletes, and fails");
    if (sim_cheats("spoilt"))
        call->wrote = false;
}

void __wrap_hf__scratch_next(hf__scratch *self, hf__request *request,
                             hf__scratch_call *call)
{
    if (!leads(call, request) && ++members % 2 == 0)
        spoil(self, request, call);
    else
        __real_hf__scratch_next(self, request, call);
}

hf_status __wrap_hf__scratch_end(hf__scratch *self, hf__scratch_call *call,
                                 hf_error *err)
{
    hf_status status = __real_hf__scratch_end(self, call, err);
    hf__scratch_record *changed = (void *)(uintptr_t)call->changed;
    size_t count = 0;

    if (!sim_cheats("parted"))
        return status;
    for (size_t i = 0; i < call->changed_count; i++) {
        if (leads(call, changed[i].by))
            changed[count++] = changed[i];
    }
    call->changed_count = count;
    return status;
}

/* ------------------------------------------------------------ the backend */

static void fill_call(const fake_call *self, hf__backend_call *call)
{
    long fail_after = hf__alloc_fail_after(-1);

    call->outcome = self->outcome;
    call->absent = self->absent;
    call->store_us = self->store_us;
    if (!self->commits || self->outcome == HF__BACKEND_CONFLICT) {
        for (size_t i = 0; i < self->record_count; i++) {
            hf_bytes key = call->records[i].key;

            call->records[i] = self->records[i];
            call->records[i].key = key;
            copy_bytes(&call->arena, &call->records[i].payload);
        }
    }
    (void)hf__alloc_fail_after(fail_after);
}

/* On the loop thread. */
static void call_done(hf__request *request)
{
    fake_call *self = hf__container_of(request, fake_call, request);
    hf__backend_call *call = self->call;

    self->call = NULL;
    if (request->status == HF_OK) {
        fill_call(self, call);
    } else if (request->status == HF_UNAVAILABLE) {
        call->outcome = HF__BACKEND_FAILED;
        call->status = request->status;
        hf__fail_copy(&call->error, &request->error);
    } else {
        call->outcome = HF__BACKEND_UNKNOWN;
    }
    call->done(call);
}

void records_free(fake_call *self)
{
    hf__request_done(&self->request);
    hf__arena_free(&self->arena);
    free(self);
}

static void copy_records(fake_call *self, const hf__backend_call *call)
{
    self->record_count = call->record_count;
    for (size_t i = 0; i < call->record_count; i++) {
        self->records[i] = call->records[i];
        self->records[i].payload = hf_view("", 0);
        copy_bytes(&self->arena, &self->records[i].key);
    }
}

static void copy_commit(fake_call *self, const hf__backend_call *call)
{
    self->commits = true;
    self->write_count = call->write_count;
    self->message_count = call->message_count;
    self->required_count = call->required_count;
    self->now_us = call->now_us;
    self->late_us = call->late_us;
    self->version = call->version;
    for (size_t i = 0; i < call->write_count; i++) {
        self->writes[i] = call->writes[i];
        copy_bytes(&self->arena, &self->writes[i].payload);
    }
    for (size_t i = 0; i < call->message_count; i++) {
        self->messages[i] = call->messages[i];
        copy_bytes(&self->arena, &self->messages[i].channel);
        copy_bytes(&self->arena, &self->messages[i].text);
    }
    for (size_t i = 0; i < call->required_count; i++) {
        self->required[i] = call->required[i];
        copy_bytes(&self->arena, &self->required[i]);
    }
}

static void send_call(hf__backend *backend, hf__backend_call *call,
                      bool commits)
{
    static const hf_bytes nothing[1];
    long fail_after = hf__alloc_fail_after(-1);
    fake_call *self = calloc(1, sizeof(*self));

    if (self == NULL || call->record_count > LISTED ||
        call->write_count > LISTED || call->message_count > LISTED ||
        call->required_count > LISTED)
        abort();
    hf__arena_init(&self->arena);
    copy_records(self, call);
    if (commits)
        copy_commit(self, call);
    self->call = call;
    hf__request_command(&self->request, nothing, 0, false);
    self->request.deadline_ms = call->deadline_ms;
    self->request.on_done = call_done;
    net_send(((fake_backend *)(void *)backend)->of, &self->request, self);
    (void)hf__alloc_fail_after(fail_after);
}

static void fake_read(hf__backend *backend, hf__backend_call *call)
{
    send_call(backend, call, false);
}

static void fake_commit(hf__backend *backend, hf__backend_call *call)
{
    send_call(backend, call, true);
}

static void fake_close(hf__backend *backend)
{
    net_refuse_all(((fake_backend *)(void *)backend)->of);
    free(backend);
}

hf__backend *records_open(client *of)
{
    static const hf__backend_ops ops = {
        .read = fake_read, .commit = fake_commit, .close = fake_close};
    fake_backend *self = calloc(1, sizeof(*self));

    if (self == NULL)
        abort();
    self->base.ops = &ops;
    self->base.calls_max = 2;
    self->of = of;
    return &self->base;
}
