/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_memory.h - a store of records in memory, whose calls fail, are lost
 * and are late as a test says.
 */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include "embedded_store.h"

#include "records/record_store.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/mem.h"

#define RECORDS 256
/* What the store does with the next commit. */
typedef enum fate {
    ANSWERED,
    UNANSWERED,
    LOST,
    REFUSED_LATER, /* lost, and the next call finds the store full */
    TOO_MUCH,
    SILENT
} fate;

typedef struct memory {
    hf__backend base;
    hf__loop *loop;
    hf__backend_record records[RECORDS]; /* of version 0: there is none */
    int64_t trip_ms;                     /* a call takes so long to get there */
    int64_t back_ms;    /* and its answer so long to come back */
    int64_t ahead_us;   /* by how much its clock was set forward */
    int64_t patient_us; /* TIME may be older by so much than it may be */
    size_t refusals;    /* so many calls fail ... */
    hf_status refusal;  /* ... with this */
    size_t bad_read;    /* the read that fails, by its number; 0: none */
    fate next;
    size_t reads;
    size_t commits;
    hf__backend_call *silent; /* it will not be answered */
    bool holds;               /* reads are kept here, for now */
    hf__backend_call *held[2];
    size_t held_count;
    char first_key[8]; /* of the last commit */
    bool grants;       /* the same */
} memory;

typedef struct setting {
    hf__loop *loop;
    memory *store;
    hf__record_store records;
} setting;

/* ------------------------------------------------------- the store in memory
 */

static hf_bytes copy_of(hf_bytes bytes)
{
    char *copy = malloc(bytes.size + 1);

    assert_non_null(copy);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return hf_view(copy, bytes.size);
}

static hf__backend_record *stored_of(memory *self, hf_bytes key)
{
    size_t i = 0;

    while (self->records[i].key.data != NULL &&
           !hf__bytes_same(self->records[i].key, key))
        i++;
    assert_true(i < RECORDS);
    if (self->records[i].key.data == NULL)
        self->records[i].key = copy_of(key);
    return &self->records[i];
}

static void read_all(memory *self, hf__backend_call *call)
{
    long fail_after = hf__alloc_fail_after(-1); /* not the store's */

    for (size_t i = 0; i < call->record_count; i++) {
        hf__backend_record *to = &call->records[i];
        hf_bytes key = to->key;

        *to = *stored_of(self, key);
        to->key = key;
        to->payload.data =
            hf__arena_copy(&call->arena, to->payload.data, to->payload.size);
        assert_non_null(to->payload.data);
    }
    (void)hf__alloc_fail_after(fail_after);
}

static int64_t clock_us(const memory *self)
{
    return hf__clock_unix_us() + self->ahead_us;
}

static bool is_mistimed(memory *self, const hf__backend_call *call)
{
    int64_t latest_us = clock_us(self);

    for (size_t i = 0; i < call->record_count; i++) {
        const hf__backend_record *one = stored_of(self, call->records[i].key);

        if (one->version != 0 && one->at_us > latest_us)
            latest_us = one->at_us;
    }
    return call->now_us > latest_us ||
           call->now_us < clock_us(self) - call->late_us - self->patient_us;
}

static bool has_conflict(memory *self, const hf__backend_call *call)
{
    for (size_t i = 0; i < call->record_count; i++) {
        if (stored_of(self, call->records[i].key)->version !=
            call->records[i].version)
            return true;
    }
    return false;
}

/* What a backend may remove, by its clock. */
static void purge(memory *self)
{
    for (size_t i = 0; i < RECORDS; i++) {
        if (self->records[i].expire_ms > 0 &&
            self->records[i].expire_ms < clock_us(self) / 1000 - 3600000)
            self->records[i].version = 0;
    }
}

static void write_all(memory *self, const hf__backend_call *call)
{
    purge(self);
    for (size_t i = 0; i < call->write_count; i++) {
        const hf__backend_write *write = &call->writes[i];
        hf__backend_record *to = stored_of(self, call->records[write->at].key);

        free((void *)(uintptr_t)to->payload.data);
        *to = (hf__backend_record){.key = to->key};
        if (write->payload.size == 0)
            continue;
        to->payload = copy_of(write->payload);
        to->expire_ms = write->expire_ms;
        to->at_us = call->now_us;
        to->version = call->version;
    }
}

typedef struct answer {
    hf__task task;
    memory *self;
    hf__backend_call *call;
    bool commits;
} answer;

static void commit_call(memory *self, hf__backend_call *call)
{
    fate what = self->next;

    self->commits++;
    self->grants = call->grants;
    (void)snprintf(self->first_key, sizeof(self->first_key), "%.*s",
                   (int)call->first_key.size,
                   (const char *)call->first_key.data);
    self->next = ANSWERED;
    if (has_conflict(self, call)) {
        call->outcome = HF__BACKEND_CONFLICT;
        read_all(self, call);
        return;
    }
    if (is_mistimed(self, call)) {
        call->outcome = HF__BACKEND_TIMING;
        return;
    }
    if (what == TOO_MUCH) {
        call->outcome = HF__BACKEND_FAILED;
        call->status = hf__fail(&call->error, HF_FULL, "it is too much");
        return;
    }
    if (what == REFUSED_LATER) {
        self->refusals = 1;
        self->refusal = HF_FULL;
    }
    if (what != LOST && what != REFUSED_LATER)
        write_all(self, call);
    if (what != ANSWERED)
        call->outcome = HF__BACKEND_UNKNOWN;
}

static void run_answer(hf__task *task)
{
    answer of = *(answer *)task;
    hf__backend_call *call = of.call;

    free(task);
    if (of.commits && of.self->next == SILENT) {
        of.self->silent = call;
        return;
    }
    if (!of.commits && of.self->holds) {
        assert_true(of.self->held_count < 2);
        of.self->held[of.self->held_count++] = call;
        return;
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + of.self->trip_ms);
    call->outcome = HF__BACKEND_DONE;
    call->store_us = clock_us(of.self);
    if (!of.commits)
        of.self->reads++;
    if (!of.commits && of.self->reads == of.self->bad_read) {
        of.self->refusals++;
        of.self->refusal = HF_UNAVAILABLE;
    }
    if (of.self->refusals > 0) {
        of.self->refusals--;
        call->outcome = HF__BACKEND_FAILED;
        call->status = hf__fail(&call->error, of.self->refusal, "it is away");
    } else if (of.commits) {
        commit_call(of.self, call);
    } else {
        read_all(of.self, call);
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + of.self->back_ms);
    call->done(call);
}

static void post_answer(hf__backend *backend, hf__backend_call *call,
                        bool commits)
{
    memory *self = (memory *)(void *)backend;
    answer *of = malloc(sizeof(*of));

    assert_non_null(of);
    *of = (answer){{run_answer, NULL}, self, call, commits};
    hf__loop_post(self->loop, &of->task);
}

static void memory_read(hf__backend *backend, hf__backend_call *call)
{
    post_answer(backend, call, false);
}

static void memory_commit(hf__backend *backend, hf__backend_call *call)
{
    post_answer(backend, call, true);
}

static void memory_close(hf__backend *backend)
{
    memory *self = (memory *)(void *)backend;

    if (self->silent != NULL) {
        self->silent->outcome = HF__BACKEND_UNKNOWN;
        self->silent->done(self->silent);
    }
    for (size_t i = 0; i < RECORDS; i++) {
        free((void *)(uintptr_t)self->records[i].key.data);
        free((void *)(uintptr_t)self->records[i].payload.data);
    }
    free(self);
}

/* --------------------------------------------------------------- a setting */

static int set_up(void **state)
{
    static const hf__backend_ops ops = {
        .read = memory_read, .commit = memory_commit, .close = memory_close};
    setting *self = calloc(1, sizeof(*self));

    assert_non_null(self);
    self->store = calloc(1, sizeof(*self->store));
    assert_non_null(self->store);
    self->loop = self->store->loop = hf__loop_new();
    self->store->base.ops = &ops;
    assert_int_equal(hf__record_store_open(&self->records, self->loop,
                                           &self->store->base, 5000, NULL),
                     HF_OK);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    setting *self = *state;

    hf__record_store_close(&self->records);
    hf__loop_free(self->loop);
    free(self);
    return 0;
}

static hf_status finish(setting *self, hf__request *request, int64_t within_ms,
                        char text[TEXT_SIZE])
{
    hf_status status;

    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = request->began_ms + within_ms;
    hf__record_store_perform(&self->records, request);
    text[0] = '\0';
    if (request->status == HF_OK)
        show(text, &request->reply);
    else
        (void)snprintf(text, TEXT_SIZE, "%s", request->error.message);
    status = request->status;
    hf__request_done(request);
    return status;
}

static hf_status line(setting *self, const char *words, bool repeatable,
                      char text[TEXT_SIZE])
{
    hf_bytes list[WORD_MAX];
    hf__request request;

    hf__request_command(&request, list, split(words, list), repeatable);
    return finish(self, &request, 20000 * SLOWER, text);
}

static void want_calls(const setting *self, size_t reads, size_t commits)
{
    assert_int_equal(self->store->reads, reads);
    assert_int_equal(self->store->commits, commits);
    self->store->reads = self->store->commits = 0;
}

#endif
