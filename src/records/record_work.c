/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_work.c - one request on a store of records.
 *
 * A try of it:
 *
 *  1. Take the records of its keys from what is kept, or read them all.
 *  2. Run it on them in memory, with a lower bound of the store's clock as
 *     TIME, and with the inboxes as listening that are not known to be absent.
 *  3. Commit what it changed and published, if the records that mattered have
 *     the same versions, the inboxes listen, and TIME was right. If it has
 *     changed nothing, this is still checked, unless 1 was one read. Requests
 *     that wait for the same keys are run on top, and are in the same commit
 *     (record_commit.c).
 *
 * A try begins when the backend can take a call, so that TIME is not older than
 * the trip, and continues to its commit without waiting again.
 *
 * If that was refused, try again on the records that came with the refusal. If
 * the commit is not answered, read: a record with its version says that it was
 * done. Otherwise it may be done yet, until its TIME is too old; a repeatable
 * request is tried again nevertheless, as it may be sent again to a server.
 *
 * A lease counts as expired only if someone on this machine has seen the same
 * version of its record for as long as the lease was: the store's clock may
 * have been set forward (docs/adr/0121). Who acquires a lock whose lease looks
 * over leaves a mark, and believes one, of a process that may be gone: else who
 * does not wait would begin to watch each time, and never be granted it.
 */
#include "records/record_commit.h"

#include <string.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/order.h"
#include "util/rand.h"

/* The records come with the conflict: the sooner they are used, the less likely
 * is another. So the first tries do not wait; the later ones wait for so many
 * ms at most, doubled up to it. */
#define EAGER_TRIES 4
#define PAUSE_MAX_MS 16
/* After the connection broke, or could not be made, ms: doubled up to the
 * second of these. */
#define BROKEN_MS 20
#define BROKEN_MAX_MS 500
/* How long what gives back a lease or a place is tried after its request has
 * completed. */
#define DETACHED_MS 5000
/* How long a mark is of use after its lease, ms. */
#define MARK_MS INT64_C(3600000)

static void run_try(hf__work *work);

/* -------------------------------------------------------------------- line */

/* For a call, or the group whose commit it waits for. */
static void leave_line(hf__work *work)
{
    hf__record_store *store = work->store;
    hf__work **place = work->line_place;

    if (place == NULL)
        return;
    *place = work->line_next;
    for (size_t i = 0; i < 2; i++) {
        if (store->line_end[i] == &work->line_next)
            store->line_end[i] = place;
    }
    if (work->line_next != NULL)
        work->line_next->line_place = place;
    work->line_place = NULL;
    work->leader = NULL;
}

static bool has_room(const hf__record_store *store)
{
    size_t max = store->backend->calls_max;

    return max == 0 || store->calls < max;
}

/* Run a try, or later, when a call can begin. */
static void try_in_turn(hf__work *work)
{
    hf__record_store *store = work->store;
    size_t lane = work->request->lane != HF__LANE_LEASE;

    if (has_room(store)) {
        run_try(work);
        return;
    }
    work->line_next = NULL;
    work->line_place = store->line_end[lane];
    *work->line_place = work;
    store->line_end[lane] = &work->line_next;
}

/* A call has ended. */
static void serve_line(hf__record_store *store)
{
    while (has_room(store)) {
        hf__work *work = store->line[store->line[0] == NULL];

        if (work == NULL)
            return;
        leave_line(work);
        run_try(work);
    }
}

/* A call that is under way keeps its keys: what undoes it must come after. */
static void complete_work(hf__work *work)
{
    hf__request *request = work->request;

    leave_line(work);
    work->request = NULL;
    work->done(work, request);
    if (!work->calling)
        work->store->ended(work);
}

static void fail_work(hf__work *work, hf_status status, const char *why)
{
    if (work->doubtful)
        status = HF_INDETERMINATE;
    hf__request_done(work->request);
    hf__request_fail(work->request, status, "%s", why);
    complete_work(work);
}

static void drop_request(hf__work *work, hf__request *request)
{
    (void)work;
    hf__request_done(request);
}

/* Copy the request with its words. false: no memory. */
static bool own_request(hf__work *work)
{
    const hf__request *from = work->request;
    hf_bytes *words = hf__arena_alloc(&work->work_arena,
                                      (from->word_count + 1) * sizeof(*words));

    for (size_t i = 0; words != NULL && i < from->word_count; i++) {
        char *copy = hf__arena_copy(&work->work_arena, from->words[i].data,
                                    from->words[i].size);

        if (copy == NULL)
            return false;
        words[i] = hf_view(copy, from->words[i].size);
    }
    if (words == NULL)
        return false;
    hf__request_init(&work->own);
    hf__request_set_script(&work->own, from->script, words, from->word_count,
                           from->key_count);
    work->own.deadline_ms = hf__clock_boot_ms() + DETACHED_MS;
    return true;
}

bool hf__work_cancel(hf__work *work)
{
    hf__request *request = work->request;

    if (request == NULL)
        return false;
    if (request == &work->own || request->lane != HF__LANE_LEASE ||
        !request->repeatable || request->script == NULL || !own_request(work)) {
        hf__work_expire(work);
        return false;
    }
    hf__request_done(request);
    hf__request_fail(request, HF_INDETERMINATE,
                     "no answer by the deadline; it may be done later");
    work->request = &work->own;
    work->done(work, request);
    work->done = drop_request;
    work->store->wake_at(work, work->pause_until_ms > 0 ? work->pause_until_ms
                                                        : INT64_MAX);
    return true;
}

/* The commit may have been done, or may be yet. */
static void doubt_call(hf__work *work)
{
    if (work->leader != NULL
            ? work->wrote
            : work->call.write_count > 0 || work->call.message_count > 0)
        work->doubtful = true;
}

void hf__work_fail(hf__work *work, hf_status status, const char *why)
{
    if (work->request == NULL)
        return;
    if (work->leader != NULL || (work->calling && work->call.version != 0))
        doubt_call(work);
    fail_work(work, status, why);
}

void hf__work_expire(hf__work *work)
{
    hf__work_fail(work, HF_UNAVAILABLE,
                  work->breaks > 0 ? work->broken.message
                                   : "no answer by the deadline");
}

/* ------------------------------------------------------------------ trying */

static void try_again(hf__work *work, int64_t pause_ms)
{
    if (pause_ms <= 0) {
        try_in_turn(work);
        return;
    }
    work->pause_until_ms = hf__clock_boot_ms() + pause_ms;
    work->store->wake_at(work, work->pause_until_ms);
}

void hf__work_begin(hf__work *work)
{
    hf_error error = HF_ERROR_INIT;

    work->store->wake_at(work, INT64_MAX);
    if (work->too_many)
        fail_work(work,
                  hf__fail(&error, HF_INVALID,
                           "more than %u keys in one request",
                           HF__SCRATCH_KEYS),
                  error.message);
    else
        try_in_turn(work);
}

void hf__work_tick(hf__work *work)
{
    if (work->request == NULL)
        return;
    if (hf__clock_boot_ms() >= work->request->deadline_ms) {
        (void)hf__work_cancel(work);
        return;
    }
    work->store->wake_at(work, INT64_MAX);
    if (work->pause_until_ms == 0)
        return;
    work->pause_until_ms = 0;
    try_in_turn(work);
}

static void fail_unanswered(hf__work *work)
{
    fail_work(work, HF_INDETERMINATE,
              "the commit was not answered, and may have been done");
}

/* Does a record show that the last commit was done? */
static bool shows_commit(const hf__work *work)
{
    for (size_t i = 0; work->doubt != 0 && i < work->call.record_count; i++) {
        if (work->call.records[i].version == work->doubt)
            return true;
    }
    return false;
}

/* What became of the commit of a group is known, from the records of one of
 * them: the same for the others, whose keys it has. */
static void decide_group(hf__work *work, uint64_t doubt, bool done)
{
    hf__work *one = work->store->first;

    while (one != NULL) {
        if (one == work || one->doubt != doubt || one->request == NULL ||
            !(done || hf__work_has_keys(work, one))) {
            one = one->next;
            continue;
        }
        one->doubt = 0;
        one->rereads = false;
        if (done)
            complete_work(one);
        else if (!one->request->repeatable)
            fail_unanswered(one);
        one = work->store->first; /* any may be gone */
    }
}

/* The same for this one, first. false: the work is over. */
static bool decide_doubt(hf__work *work)
{
    uint64_t doubt = work->doubt;
    bool done = shows_commit(work);

    if (doubt != 0) {
        work->calling = true; /* so that no one frees it */
        decide_group(work, doubt, done);
        work->calling = false;
        if (work->request == NULL) {
            work->store->ended(work);
            return false;
        }
    }
    work->doubt = 0;
    if (done)
        complete_work(work);
    else if (work->doubtful && !work->request->repeatable)
        fail_unanswered(work);
    else
        return true;
    return false;
}

/* What has come with a read or a refusal. false: the work is over. */
static bool take_records(hf__work *work)
{
    hf__record_store *store = work->store;

    for (size_t i = 0; i < work->call.record_count; i++)
        hf__record_store_keep(store, &work->call.records[i]);
    if (work->request == NULL) {
        store->ended(work);
        return false;
    }
    return decide_doubt(work);
}

/* The store is away, as while it restarts, and nothing was done: as on a
 * server, the request waits for it. */
static void retry_broken(hf__work *work)
{
    int64_t pause_ms = (int64_t)BROKEN_MS << hf__at_most(work->breaks, 5);

    if (work->call.status != HF_UNAVAILABLE) {
        fail_work(work, work->call.status, work->call.error.message);
        return;
    }
    work->breaks++;
    hf__fail_copy(&work->broken, &work->call.error);
    try_again(work, hf__at_most(pause_ms, BROKEN_MAX_MS) -
                        hf__rand_between(0, BROKEN_MS / 2));
}

/* Begin a call; its fields are set. */
static void begin_call(hf__work *work,
                       void (*start)(hf__backend *, hf__backend_call *),
                       void (*done)(hf__backend_call *call))
{
    hf__backend_call *call = &work->call;

    hf__arena_free(&call->arena);
    call->deadline_ms = work->request->deadline_ms;
    for (const hf__work *one = work->group; one != NULL; one = one->line_next)
        call->deadline_ms =
            hf__at_least(call->deadline_ms, one->request->deadline_ms);
    call->doubtful = work->doubtful;
    call->done = done;
    call->status = HF_OK;
    call->error = (hf_error)HF_ERROR_INIT;
    call->store_us = 0;
    work->calling = true;
    work->store->calls++;
    work->call_began_us = hf__clock_boot_us();
    start(work->store->backend, call);
}

/* Its call has ended: `take` what came of it. */
static void end_call(hf__work *work, void (*take)(hf__work *work))
{
    hf__record_store *store = work->store;

    work->calling = false;
    store->calls--;
    if (work->call.store_us != 0)
        hf__instant_take(&store->instant, work->call.store_us,
                         work->call_began_us, hf__clock_boot_us());
    take(work);
    serve_line(store);
}

/* ----------------------------------------------------------------- reading */

static void take_read(hf__work *work)
{
    const hf__backend_call *call = &work->call;

    if (call->outcome == HF__BACKEND_DONE) {
        work->rereads = false;
        if (!take_records(work))
            return;
        work->fresh = true;
        run_try(work);
    } else if (work->request == NULL) {
        work->store->ended(work);
    } else if (call->outcome == HF__BACKEND_FAILED) {
        retry_broken(work);
    } else {
        try_again(work, BROKEN_MS);
    }
}

static void read_done(hf__backend_call *call)
{
    end_call(call->user, take_read);
}

/* All of them, so that they are of one instant. */
static void read_records(hf__work *work)
{
    hf__backend_call *call = &work->call;

    work->fresh = false; /* what it has goes, even if this fails */
    call->records = work->records;
    call->record_count = work->key_count + work->marked;
    call->version = 0;
    begin_call(work, work->store->backend->ops->read, read_done);
}

/* false: some are not known. */
static bool take_kept(hf__work *work)
{
    for (size_t i = 0; i < work->key_count + work->marked; i++) {
        const hf__kept *one =
            hf__kept_find(&work->store->kept, work->records[i].key);
        hf_bytes key = work->records[i].key;

        if (one == NULL)
            return false;
        work->records[i] = one->record;
        work->records[i].key = key;
    }
    return true;
}

/* --------------------------------------------------------------- committing */

static void drop_records(hf__work *work)
{
    for (size_t i = 0; i < work->call.record_count; i++)
        hf__kept_drop(&work->store->kept, work->call.records[i].key);
}

/* What was seen of a lease that is written again holds for it. Before it is
 * kept, which is to see it only from then on. */
static void watch_again(hf__work *work)
{
    for (size_t i = 0; i < work->key_count; i++) {
        if (work->changes[i].again)
            (void)hf__guard_since(work->store->guard, work->call.version,
                                  work->call_began_us);
    }
}

/* Keep what was written. */
static void keep_writes(hf__work *work)
{
    const hf__backend_call *call = &work->call;

    for (size_t i = 0; i < call->write_count; i++) {
        const hf__backend_write *write = &call->writes[i];
        hf__backend_record record = {.key = call->records[write->at].key};

        if (write->payload.size > 0) {
            record.payload = write->payload;
            record.expire_ms = write->expire_ms;
            record.at_us = call->now_us;
            record.version = call->version;
        }
        hf__record_store_keep(work->store, &record);
    }
}

static void add_absent(hf__work *work, hf_bytes channel)
{
    char *copy = hf__arena_copy(&work->work_arena, channel.data, channel.size);

    if (copy != NULL && work->absent_count < HF__WORK_ABSENT_MAX)
        work->absent[work->absent_count++] = hf_view(copy, channel.size);
}

/* The requests that were in its commit, once it was done: the first of them
 * first. */
static void complete_group(hf__work *work)
{
    hf__work *group = work->group;

    work->group = NULL;
    if (group != NULL)
        group->line_place = &group;
    for (hf__work *one = group; one != NULL; one = one->line_next) {
        one->doubtful |= one->wrote; /* if it is cancelled meanwhile */
        one->leader = NULL;
    }
    if (work->request != NULL)
        complete_work(work);
    else
        work->store->ended(work);
    while (group != NULL) {
        hf__work *one = group;

        leave_line(one);
        complete_work(one);
    }
}

/* ... if it was not, or that is not known: they wait as before. */
static void release_group(hf__work *work)
{
    const hf__backend_call *call = &work->call;

    while (work->group != NULL) {
        hf__work *one = work->group;

        leave_line(one);
        if (call->outcome != HF__BACKEND_UNKNOWN || !one->wrote)
            continue;
        one->doubtful = true;
        one->rereads = true;
        one->doubt = call->write_count > 0 ? call->version : 0;
    }
}

/* The commit of a request that has completed. */
static void end_late(hf__work *work)
{
    if (work->call.outcome == HF__BACKEND_UNKNOWN ||
        work->call.outcome == HF__BACKEND_DONE)
        drop_records(work);
    if (work->call.outcome == HF__BACKEND_DONE) {
        complete_group(work);
    } else {
        release_group(work);
        work->store->ended(work);
    }
}

/* After `eager` refusals, longer each time. */
static void try_later(hf__work *work, unsigned eager, int64_t max_ms)
{
    unsigned late = work->tries < eager ? 0 : work->tries - eager + 1;
    int64_t most_ms = hf__at_most(INT64_C(1) << hf__at_most(late, 9), max_ms);

    work->tries++;
    try_again(work, late == 0 ? 0 : hf__rand_between(0, most_ms));
}

static void doubt_commit(hf__work *work)
{
    work->doubt = work->call.write_count > 0 ? work->call.version : 0;
    doubt_call(work);
    work->rereads = true;
    drop_records(work);
    try_again(work, BROKEN_MS);
}

static void take_outcome(hf__work *work)
{
    const hf__backend_call *call = &work->call;
    bool alone = work->group == NULL;

    if (work->request == NULL) {
        end_late(work);
        return;
    }
    if (call->outcome == HF__BACKEND_DONE) {
        watch_again(work);
        keep_writes(work);
        complete_group(work);
        return;
    }
    release_group(work);
    switch (call->outcome) {
    case HF__BACKEND_DONE:
        break;
    case HF__BACKEND_CONFLICT:
        if (take_records(work))
            try_later(work, EAGER_TRIES, PAUSE_MAX_MS);
        break;
    case HF__BACKEND_ABSENT:
        add_absent(work, call->required[call->absent]);
        run_try(work);
        break;
    case HF__BACKEND_TIMING:
        try_later(work, 1, BROKEN_MAX_MS);
        break;
    case HF__BACKEND_FAILED:
        if (alone || call->status == HF_UNAVAILABLE) {
            retry_broken(work);
            break;
        }
        work->alone = true; /* what the others wrote may be why */
        try_in_turn(work);
        break;
    case HF__BACKEND_UNKNOWN:
        doubt_commit(work);
    }
}

static void commit_done(hf__backend_call *call)
{
    end_call(call->user, take_outcome);
}

/* What has run is to be committed. */
static void commit_try(hf__work *work, int64_t now_us)
{
    hf__backend_call *call = &work->call;
    hf_error error = work->request->error;

    if (work->doubtful && work->request->status != HF_OK) {
        fail_work(work, HF_INDETERMINATE, error.message);
        return;
    }
    hf__commit_list(work);
    if (call->write_count == 0 && call->message_count == 0 && work->fresh &&
        work->required_count == 0 && work->group == NULL) {
        complete_work(work);
        return;
    }
    work->fresh = false;
    call->required = work->required;
    call->required_count = work->required_count;
    call->now_us = now_us;
    call->late_us = hf__instant_late_us(&work->store->instant);
    call->first_key =
        work->records[work->request->script != NULL &&
                      work->request->script->twin && work->key_count > 1]
            .key;
    do {
        hf__rand_bytes(&call->version, sizeof(call->version));
        call->version >>= 1; /* a positive integer of SQL */
    } while (call->version == 0);
    begin_call(work, work->store->backend->ops->commit, commit_done);
}

/* ------------------------------------------------------------------ running */

/* Know the record of this machine's mark on the guarded lease. false: a read
 * has begun, or there are no marks. */
static bool take_mark(hf__work *work)
{
    hf__backend_record *record = &work->records[work->key_count];
    const hf__kept *kept;
    hf_bytes key;

    if (work->marked && work->marked_at == work->guarded_at)
        return true;
    key = hf__guard_mark_key(work->store->guard,
                             work->records[work->guarded_at].key,
                             &work->work_arena);
    if (key.data == NULL)
        return false;
    work->marked = true;
    work->marked_at = work->guarded_at;
    kept = hf__kept_find(&work->store->kept, key);
    if (kept != NULL)
        *record = kept->record;
    record->key = key;
    if (kept == NULL)
        read_records(work);
    return kept != NULL;
}

/* A lease looks over: believe the mark, or leave one; if it was believed, the
 * same for the next lease. false: the work waits for a read. */
static bool use_mark(hf__work *work, int64_t now_us)
{
    hf__guard *guard = work->store->guard;
    int64_t local_us = hf__clock_boot_us();
    size_t next = 0;

    work->marks = false;
    while (hf__commit_marks(work->request->script) &&
           work->guarded_at >= next && work->guarded_at < work->key_count) {
        uint64_t version = work->records[work->guarded_at].version;

        if (!take_mark(work))
            return !work->calling;
        if (!hf__guard_read_mark(guard, work->records[work->key_count].payload,
                                 version, local_us)) {
            work->marks = true;
            work->mark_until_ms =
                work->changes[work->guarded_at].guarded_end_ms + MARK_MS;
            hf__guard_write_mark(guard, version, local_us, work->mark);
            break;
        }
        next = work->guarded_at + 1;
        hf__commit_clear(work);
        work->guarded_at = hf__commit_give(work, work, now_us);
    }
    return true;
}

/* Time never goes back for a key. */
static int64_t not_before(const hf__work *work, int64_t now_us)
{
    for (size_t i = 0; i < work->key_count; i++) {
        if (work->records[i].version != 0)
            now_us = hf__at_least(now_us, work->records[i].at_us);
    }
    return now_us;
}

/* Is there another key, of which the record must be read first? One that it has
 * is one of another database. */
static bool take_missing(hf__work *work, hf_bytes key)
{
    return key.data != NULL && !hf__work_owns(work, key) &&
           work->derived_count++ < HF__WORK_DERIVED_MAX &&
           hf__work_add_key(work, key, true);
}

static void run_try(hf__work *work)
{
    hf__scratch_call run = {.now_us = 0};
    hf__request *request = work->request;
    int64_t local_us = hf__clock_boot_us();
    int64_t skew_us;
    bool good;

    if (local_us / 1000 >= request->deadline_ms) {
        if (!hf__work_cancel(work))
            return;
        request = work->request;
    }
    good =
        hf__instant_now(&work->store->instant, local_us, &run.now_us, &skew_us);
    work->bound_us = run.now_us;
    if (!work->fresh)
        hf__commit_widen(work);
    if (!work->fresh && (!good || work->rereads || !take_kept(work))) {
        read_records(work);
        return;
    }
    run.now_us = not_before(work, run.now_us);
    hf__commit_clear(work);
    work->guarded_at = hf__commit_give(work, work, run.now_us);
    if (!use_mark(work, run.now_us))
        return;
    work->began_ms = (local_us - skew_us) / 1000;
    hf__commit_run(work, &run);
    if (take_missing(work, run.missing))
        read_records(work);
    else
        commit_try(work, run.now_us);
}
