/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_commit.c - see record_commit.h.
 *
 * A group commit: requests of this client on one key would each cost a commit,
 * one after the other. So who is about to commit first runs those that wait
 * behind it, in the order in which they came, in one scratch transaction: each
 * on the records as the one before has left them. A record is read and written
 * once, however many change it.
 *
 *  1. When the first begins a try, it takes the keys of those that may join.
 *     One may not if it has to wait for another as well; then the group ends,
 *     as no request overtakes another. What keeps a lease does not wait for a
 *     read of what others need, and takes no more keys.
 *  2. The group also ends before one that would leave or believe a mark, or
 *     whose kind sees leases otherwise than the first, and with one that fails
 *     or needs another key. That one runs later, on its own.
 *  3. Had that one written, or is the whole transaction undone by it, the
 *     others run again, in a new one.
 *  4. TIME, the records that are checked and the inboxes that must listen are
 *     those of all. What becomes of the commit is the same for all: refused,
 *     they wait as before; unanswered, who finds out tells the others
 *     (record_work.c).
 */
#include "records/record_commit.h"

#include "util/bytes.h"
#include "util/clock.h"
#include "util/order.h"

/* Of a group: requests; bytes of their words, and bytes that those behind the
 * first have added; ms for each that is a script of a user. */
#define GROUP_MAX 256
#define GROUP_BYTES ((size_t)1 << 20)
#define GROUP_BUDGET_MS 20

/* ------------------------------------------------------------------ records */

void hf__commit_clear(hf__work *work)
{
    hf__arena_free(&work->try_arena);
    for (size_t i = 0; i < work->key_count; i++)
        work->changes[i] = (hf__change){.made = false};
    work->given_count = 0;
    work->call.message_count = 0;
}

static void give_record(hf__work *work, size_t at, bool reads, int64_t now_us)
{
    const hf__backend_record *record = &work->records[at];
    hf__change *change = &work->changes[at];
    hf__scratch_record *given = &work->given[work->given_count];
    bool guarded = false;

    *given = (hf__scratch_record){.key = record->key};
    if (record->version != 0) {
        given->payload = record->payload;
        given->expire_ms = hf__backend_end(record->expire_ms);
        if (record->expire_ms < 0 && !reads)
            given->expire_ms =
                hf__guard_end(work->store->guard, record, now_us / 1000,
                              work->bound_us, &guarded);
    }
    change->given_at = ++work->given_count;
    change->guarded_end_ms = guarded ? given->expire_ms : 0;
}

size_t hf__commit_give(hf__work *work, const hf__work *one, int64_t now_us)
{
    size_t guarded_at = work->key_count;

    for (size_t i = 0; i < one->key_count; i++) {
        size_t at = one == work ? i : hf__work_index(work, one->records[i].key);

        if (!one->mine[i])
            continue;
        if (work->changes[at].given_at == 0)
            give_record(work, at, one->reads, now_us);
        if (work->changes[at].guarded_end_ms != 0 &&
            guarded_at == work->key_count)
            guarded_at = at;
    }
    return guarded_at;
}

bool hf__commit_marks(const hf__script *script)
{
    return script != NULL && script->leases != HF__LEASES_NONE &&
           script->lane == HF__LANE_USER;
}

/* ------------------------------------------------------------------ running */

static bool is_among(const hf_bytes *list, size_t count, hf_bytes one)
{
    for (size_t i = 0; i < count; i++) {
        if (hf__bytes_same(list[i], one))
            return true;
    }
    return false;
}

/* Until a commit says otherwise, a client listens. */
static bool is_listening(void *user, hf_bytes channel)
{
    hf__work *work = user;
    const char *copy;

    if (is_among(work->absent, work->absent_count, channel))
        return false;
    if (is_among(work->required, work->required_count, channel))
        return true;
    copy = hf__arena_copy(&work->try_arena, channel.data, channel.size);
    if (work->required_count == HF__WORK_ABSENT_MAX || copy == NULL)
        return false;
    work->required[work->required_count++] = hf_view(copy, channel.size);
    return true;
}

static void run_one(hf__work *work, hf__work *one, hf__scratch_call *run)
{
    hf__request *request = one->request;

    hf__request_done(request);
    run->record_count = work->given_count;
    hf__scratch_next(work->store->scratch, request, run);
    request->sends = one->doubtful ? 2 : 1;
    request->began_ms = work->began_ms;
    one->wrote = run->wrote;
}

static void drop_group(hf__work *work)
{
    while (work->group != NULL) {
        hf__work *one = work->group;

        work->group = one->line_next;
        one->leader = NULL;
        one->line_place = NULL;
        hf__request_done(one->request);
    }
}

/* Run its own request first, which was given the first `own_count` records. */
static void begin_run(hf__work *work, hf__scratch_call *run, size_t own_count)
{
    drop_group(work);
    for (size_t i = 0; i < work->key_count; i++) {
        if (work->changes[i].given_at > own_count)
            work->changes[i].given_at = 0;
    }
    work->given_count = own_count;
    work->required_count = 0;
    run->budget_ms = work->store->budget_ms;
    run->records = work->given;
    run->record_count = own_count;
    run->arena = &work->try_arena;
    run->listens = is_listening;
    run->user = work;
    hf__scratch_begin(work->store->scratch, run);
    run_one(work, work, run);
}

/* A lease; it may have been written for another reason than its end. */
static void change_lease(hf__work *work, size_t at, int64_t now_us)
{
    const hf__backend_record *before = &work->records[at];
    hf__change *change = &work->changes[at];

    change->again = before->version != 0 && before->expire_ms < 0 &&
                    change->expire_ms == hf__backend_end(before->expire_ms);
    if (change->again)
        change->expire_ms =
            hf__guard_end_again(work->store->guard, before, now_us / 1000);
    change->expire_ms = -change->expire_ms;
}

static void take_changes(hf__work *work, const hf__scratch_call *run)
{
    for (size_t i = 0; i < run->changed_count; i++) {
        const hf__scratch_record *changed = &run->changed[i];
        size_t at = hf__work_index(work, changed->key);
        hf__change *change = &work->changes[at];

        change->made = true;
        change->payload = changed->payload;
        change->expire_ms = changed->expire_ms;
        if (hf__work_writes_lease(changed->by, changed))
            change_lease(work, at, run->now_us);
    }
    work->call.messages = run->messages;
    work->call.message_count = run->message_count;
}

/* -------------------------------------------------------------------- group */

/* It waits for this work: for no other as well, but those that may join? */
static bool waits_alone(const hf__work *work, const hf__work *one)
{
    const hf__work *other = work->store->first;

    for (; other != one; other = other->next) {
        if (other != work && hf__work_overlaps(one, other) &&
            !(other->waits && hf__work_has_keys(work, other)))
            return false;
    }
    return true;
}

static bool may_join(const hf__work *work, const hf__work *one)
{
    return one->waits && one->leader == NULL && !one->too_many && !one->alone &&
           one->doubt == 0 && (work->doubtful || !one->doubtful) &&
           one->request->deadline_ms > hf__clock_boot_ms();
}

void hf__commit_widen(hf__work *work)
{
    hf__work *one = work->next;

    if (work->alone || work->request->lane == HF__LANE_LEASE ||
        work->store->waiting == 0)
        return;
    for (size_t count = 1; one != NULL && count < GROUP_MAX; one = one->next) {
        if (!hf__work_overlaps(work, one))
            continue;
        if (!may_join(work, one) || !waits_alone(work, one) ||
            (!hf__work_has_keys(work, one) && !hf__work_add_keys(work, one)))
            return;
        count++;
    }
}

/* What only reads sees leases otherwise: give_record(). */
static bool sees_alike(const hf__work *work, const hf__work *one)
{
    for (size_t i = 0; one->reads != work->reads && i < one->key_count; i++) {
        const hf__backend_record *record =
            &work->records[hf__work_index(work, one->records[i].key)];

        if (record->version != 0 && record->expire_ms < 0)
            return false;
    }
    return true;
}

static size_t size_of(const hf__request *request)
{
    size_t size = 0;

    for (size_t i = 0; i < request->word_count; i++)
        size += request->words[i].size;
    return size;
}

/* May it run behind the others? If so it is given its records. */
static bool admit_one(hf__work *work, const hf__work *one, int64_t now_us)
{
    return may_join(work, one) && waits_alone(work, one) &&
           hf__work_has_keys(work, one) && sees_alike(work, one) &&
           work->required_count < HF__WORK_ABSENT_MAX / 2 &&
           (hf__commit_give(work, one, now_us) == work->key_count ||
            !hf__commit_marks(one->request->script));
}

/* Run up to `max` requests, the first of which has run. Returns how many there
 * are if another has spoilt what they did; else 0. */
static size_t run_group(hf__work *work, hf__scratch_call *run, size_t max)
{
    hf__work **end = &work->group;
    int64_t until_us =
        hf__clock_boot_us() +
        (work->store->group_us >> hf__at_most((int64_t)work->tries, 15));
    size_t most_bytes = run->changed_bytes + GROUP_BYTES;
    size_t bytes = size_of(work->request);
    size_t count = 1;

    run->budget_ms = hf__at_most(run->budget_ms, GROUP_BUDGET_MS);
    if (work->store->waiting == 0)
        return 0;
    for (hf__work *one = work->next; one != NULL; one = one->next) {
        if (!hf__work_overlaps(work, one))
            continue;
        bytes += size_of(one->request);
        if (count == max || bytes > GROUP_BYTES ||
            run->changed_bytes > most_bytes ||
            hf__clock_boot_us() >= until_us ||
            !admit_one(work, one, run->now_us))
            return 0;
        run_one(work, one, run);
        if (one->request->status != HF_OK ||
            work->required_count == HF__WORK_ABSENT_MAX) {
            hf__request_done(one->request);
            one->alone = run->undone || run->wrote;
            return one->alone ? count : 0;
        }
        one->leader = work;
        one->line_next = NULL;
        one->line_place = end;
        *end = one;
        end = &one->line_next;
        count++;
    }
    return 0;
}

/* Is there something to commit, with which others may go? */
static bool leads_group(const hf__work *work, const hf__scratch_call *run)
{
    return !work->alone && work->request->status == HF_OK &&
           (run->wrote || work->marks || !work->fresh ||
            work->required_count > 0);
}

void hf__commit_run(hf__work *work, hf__scratch_call *run)
{
    size_t own_count = work->given_count;
    size_t max = GROUP_MAX;
    hf_error error = HF_ERROR_INIT;
    hf_status status;

    for (;;) {
        size_t spoilt;

        begin_run(work, run, own_count);
        spoilt = leads_group(work, run) ? run_group(work, run, max) : 0;
        if (spoilt > 0) {
            max = spoilt;
            continue;
        }
        status = hf__scratch_end(work->store->scratch, run, &error);
        if (status == HF_OK || work->group == NULL)
            break;
        max = 1;
    }
    if (status != HF_OK) {
        hf__request_done(work->request);
        hf__request_fail(work->request, status, "%s", error.message);
    }
    take_changes(work, run);
}

/* ------------------------------------------------------------------ listing */

/* TIME is ahead of the store's clock, which was set back, because of it. */
static bool raises_time(const hf__work *work, const hf__backend_record *record)
{
    return record->version != 0 && record->at_us > work->bound_us;
}

static bool is_used(const hf__work *work, const hf__change *change)
{
    return change->given_at > 0 && work->given[change->given_at - 1].used;
}

/* The records on which the replies, the changes or TIME depend. */
static void list_checks(hf__work *work)
{
    hf__backend_call *call = &work->call;

    call->records = work->checks;
    call->record_count = 0;
    for (size_t i = 0; i < work->key_count + work->marks; i++) {
        if (i < work->key_count && !is_used(work, &work->changes[i]) &&
            !raises_time(work, &work->records[i]))
            continue;
        work->changes[i].check_at = call->record_count;
        work->checks[call->record_count++] = work->records[i];
    }
}

static void list_writes(hf__work *work)
{
    hf__backend_call *call = &work->call;

    call->writes = work->writes;
    call->write_count = 0;
    call->grants = false;
    for (size_t i = 0; i < work->key_count; i++) {
        const hf__change *change = &work->changes[i];

        /* Of one that expired there may be a record. */
        if (!change->made ||
            (change->payload.size == 0 && work->records[i].version == 0))
            continue;
        if (change->expire_ms < 0 && work->records[i].version == 0)
            call->grants = true;
        work->writes[call->write_count++] =
            (hf__backend_write){.at = change->check_at,
                                .payload = change->payload,
                                .expire_ms = change->expire_ms};
    }
    if (work->marks)
        work->writes[call->write_count++] = (hf__backend_write){
            .at = work->changes[work->key_count].check_at,
            .payload = hf_view(work->mark, sizeof(work->mark)),
            .expire_ms = work->mark_until_ms};
}

/* If a crash undoes that, the leases last until their end. */
static bool only_ends_leases(const hf__work *work)
{
    const hf__backend_call *call = &work->call;
    bool only = call->write_count > 0 && call->message_count == 0 &&
                work->required_count == 0 && !work->doubtful;

    for (size_t i = 0; only && i < call->write_count; i++)
        only = call->writes[i].payload.size == 0 &&
               call->records[call->writes[i].at].expire_ms < 0;
    return only;
}

void hf__commit_list(hf__work *work)
{
    list_checks(work);
    list_writes(work);
    work->call.early = only_ends_leases(work);
}
