/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_commit.c - see record_commit.h.
 *
 * A group commit: requests of this client on one key would each cost a commit,
 * one after the other. So who is about to commit first runs those that wait
 * behind it, in the order in which they came, each on the records as the one
 * before has left them:
 *
 *  1. When the first begins a try, it takes the keys of those that may join.
 *     One may not if it has to wait for another as well; then the group ends,
 *     as no request overtakes another. What keeps a lease does not wait for a
 *     read of what others need, and takes no more keys.
 *  2. One that fails, needs another key, would leave or believe a mark, or
 *     makes the commit too large is not in the group, and what it did is
 *     dropped. It runs alone later.
 *  3. TIME, the records that are checked and the inboxes that must listen are
 *     those of all. What becomes of the commit is the same for all: refused,
 *     they wait as before; unanswered, who finds out tells the others
 *     (record_work.c).
 */
#include "records/record_commit.h"

#include <string.h>

#include "util/clock.h"
#include "util/order.h"

/* Of a group: requests; bytes that their runs have changed and published, which
 * are more than its commit has; us for which they run, while no other request
 * does, and TIME grows old; ms for each that is a script of a user. After each
 * conflict half the time: the records that came with it grow old as well. */
#define GROUP_MAX 256
#define GROUP_BYTES ((size_t)1 << 20)
#define GROUP_US INT64_C(20000)
#define GROUP_BUDGET_MS 20

/* ------------------------------------------------------------------ records */

void hf__commit_clear(hf__work *work)
{
    hf__arena_free(&work->try_arena);
    for (size_t i = 0; i < work->key_count; i++) {
        work->changes[i] = (hf__change){.made = false};
        work->used[i] = false;
    }
    work->bytes = 0;
    work->messages = NULL;
    work->message_room = 0;
    work->call.message_count = 0;
    work->required_count = 0;
}

static size_t index_of(const hf__work *work, hf_bytes key)
{
    size_t i = 0;

    while (work->records[i].key.size != key.size ||
           (key.size > 0 &&
            memcmp(work->records[i].key.data, key.data, key.size) != 0))
        i++;
    return i;
}

/* true: it looks over, and is not for this process. */
static bool give_record(hf__work *work, size_t at, bool reads, int64_t now_us)
{
    const hf__backend_record *record = &work->records[at];
    const hf__change *change = &work->changes[at];
    hf__scratch_record *given = &work->given[work->given_count];
    bool guarded = false;

    work->given_of[work->given_count++] = at;
    *given = (hf__scratch_record){.key = record->key};
    if (change->made) {
        given->payload = change->payload;
        given->expire_ms = hf__backend_end(change->expire_ms);
    } else if (record->version != 0) {
        given->payload = record->payload;
        given->expire_ms = hf__backend_end(record->expire_ms);
        if (record->expire_ms < 0 && !reads)
            given->expire_ms =
                hf__guard_end(work->store->guard, record, now_us / 1000,
                              work->bound_us, &guarded);
    }
    return guarded;
}

size_t hf__commit_give(hf__work *work, const hf__work *one, int64_t now_us)
{
    size_t guarded_at = work->key_count;

    work->given_count = 0;
    for (size_t i = 0; i < one->key_count; i++) {
        size_t at = one == work ? i : index_of(work, one->records[i].key);

        if (one->mine[i] && give_record(work, at, one->reads, now_us) &&
            guarded_at == work->key_count) {
            guarded_at = at;
            work->guarded_end_ms = work->given[work->given_count - 1].expire_ms;
        }
    }
    return guarded_at;
}

bool hf__commit_marks(const hf__script *script)
{
    return script != NULL && script->leases != HF__LEASES_NONE &&
           script->lane == HF__LANE_USER;
}

/* ------------------------------------------------------------------ running */

static bool copy_bytes(hf__work *work, hf_bytes *bytes)
{
    bytes->data = hf__arena_copy(&work->try_arena, bytes->data, bytes->size);
    return bytes->data != NULL;
}

static bool is_among(const hf_bytes *list, size_t count, hf_bytes one)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].size == one.size &&
            memcmp(list[i].data, one.data, one.size) == 0)
            return true;
    }
    return false;
}

/* Until a commit says otherwise, a client listens. */
static bool is_listening(void *user, hf_bytes channel)
{
    hf__work *work = user;
    hf_bytes copy = channel;

    if (is_among(work->absent, work->absent_count, channel))
        return false;
    if (is_among(work->required, work->required_count, channel))
        return true;
    if (work->required_count == HF__WORK_ABSENT_MAX || !copy_bytes(work, &copy))
        return false;
    work->required[work->required_count++] = copy;
    return true;
}

void hf__commit_run(hf__work *work, hf__work *one, hf__scratch_call *run)
{
    hf__request *request = one->request;

    hf__request_done(request);
    run->records = work->given;
    run->record_count = work->given_count;
    run->used = work->ran_on;
    run->listens = is_listening;
    run->user = work;
    hf__scratch_run(work->store->scratch, request, run);
    request->sends = one->doubtful ? 2 : 1;
    request->began_ms = work->began_ms;
}

/* Room for so many messages more. */
static bool reserve_messages(hf__work *work, size_t count)
{
    size_t had = work->call.message_count;
    size_t room = 2 * (had + count);
    hf__scratch_message *more;

    if (had + count <= work->message_room)
        return true;
    more = hf__arena_alloc(&work->try_arena, room * sizeof(*more));
    if (more == NULL)
        return false;
    if (had > 0)
        memcpy(more, work->messages, had * sizeof(*more));
    work->messages = more;
    work->message_room = room;
    return true;
}

/* Behind those that there are, which are still the only ones. Copies, as others
 * run in the same memory. */
static bool copy_messages(hf__work *work, const hf__scratch_call *run)
{
    if (!reserve_messages(work, run->message_count))
        return false;
    for (size_t i = 0; i < run->message_count; i++) {
        hf__scratch_message *copy =
            &work->messages[work->call.message_count + i];

        *copy = run->messages[i];
        if (!copy_bytes(work, &copy->channel) || !copy_bytes(work, &copy->text))
            return false;
    }
    return true;
}

static void change_record(hf__work *work, const hf__request *request,
                          const hf__scratch_record *changed, hf_bytes payload)
{
    hf__change *change = &work->changes[index_of(work, changed->key)];

    change->made = true;
    change->payload = payload;
    change->expire_ms = changed->expire_ms;
    if (hf__work_writes_lease(request, changed))
        change->expire_ms = -change->expire_ms;
}

bool hf__commit_take(hf__work *work, hf__work *one, const hf__scratch_call *run)
{
    hf_bytes *payloads = hf__arena_alloc(
        &work->try_arena, (run->changed_count + 1) * sizeof(*payloads));

    for (size_t i = 0; payloads != NULL && i < run->changed_count; i++) {
        payloads[i] = run->changed[i].payload;
        if (payloads[i].size > 0 && !copy_bytes(work, &payloads[i]))
            return false;
    }
    if (payloads == NULL || !copy_messages(work, run))
        return false;
    for (size_t i = 0; i < run->changed_count; i++)
        change_record(work, one->request, &run->changed[i], payloads[i]);
    for (size_t i = 0; i < work->given_count; i++)
        work->used[work->given_of[i]] |= work->ran_on[i];
    work->call.message_count += run->message_count;
    one->wrote = run->changed_count > 0 || run->message_count > 0;
    return true;
}

/* -------------------------------------------------------------------- group */

/* Is there room for what it has changed and published? */
static bool add_size(hf__work *work, const hf__scratch_call *run)
{
    size_t bytes = 0;

    for (size_t i = 0; i < run->changed_count; i++)
        bytes += run->changed[i].payload.size;
    for (size_t i = 0; i < run->message_count; i++)
        bytes += run->messages[i].channel.size + run->messages[i].text.size;
    work->bytes += bytes;
    return work->bytes <= GROUP_BYTES;
}

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
    return one->waits && one->leader == NULL && !one->too_many &&
           one->doubt == 0 && (work->doubtful || !one->doubtful) &&
           one->request->deadline_ms > hf__clock_boot_ms();
}

void hf__commit_widen(hf__work *work)
{
    hf__work *one = work->next;

    if (work->alone || work->request->lane == HF__LANE_LEASE)
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

static bool join_group(hf__work *work, hf__work *one, hf__scratch_call run)
{
    size_t required_count = work->required_count;
    size_t guarded_at = hf__commit_give(work, one, run.now_us);

    if (guarded_at < work->key_count && hf__commit_marks(one->request->script))
        return false;
    run.budget_ms = hf__at_most(run.budget_ms, GROUP_BUDGET_MS);
    hf__commit_run(work, one, &run);
    if (one->request->status == HF_OK && run.missing.data == NULL &&
        required_count < HF__WORK_ABSENT_MAX / 2 && add_size(work, &run) &&
        hf__commit_take(work, one, &run))
        return true;
    hf__request_done(one->request);
    work->required_count = required_count;
    return false;
}

void hf__commit_gather(hf__work *work, const hf__scratch_call *run)
{
    hf__work **end = &work->group;
    int64_t until_us = hf__clock_boot_us() +
                       (GROUP_US >> hf__at_most((int64_t)work->tries, 15));
    size_t count = 1;

    for (hf__work *one = work->next; one != NULL && count < GROUP_MAX;
         one = one->next) {
        if (!hf__work_overlaps(work, one))
            continue;
        if (!may_join(work, one) || !waits_alone(work, one) ||
            !hf__work_has_keys(work, one) || hf__clock_boot_us() >= until_us ||
            !join_group(work, one, *run))
            return;
        one->leader = work;
        one->line_next = NULL;
        one->line_place = end;
        *end = one;
        end = &one->line_next;
        count++;
    }
}

/* ------------------------------------------------------------------ listing */

/* TIME is ahead of the store's clock, which was set back, because of it. */
static bool raises_time(const hf__work *work, const hf__backend_record *record)
{
    return record->version != 0 && record->at_us > work->bound_us;
}

/* The records on which the replies, the changes or TIME depend. */
static void list_checks(hf__work *work)
{
    hf__backend_call *call = &work->call;

    call->records = work->checks;
    call->record_count = 0;
    for (size_t i = 0; i < work->key_count + work->marks; i++) {
        if (i < work->key_count && !work->used[i] &&
            !raises_time(work, &work->records[i]))
            continue;
        work->check_of[i] = call->record_count;
        work->checks[call->record_count++] = work->records[i];
    }
}

static void list_writes(hf__work *work)
{
    hf__backend_call *call = &work->call;

    call->writes = work->writes;
    call->write_count = 0;
    for (size_t i = 0; i < work->key_count; i++) {
        const hf__change *change = &work->changes[i];

        /* Of one that expired there may be a record. */
        if (!change->made ||
            (change->payload.size == 0 && work->records[i].version == 0))
            continue;
        work->writes[call->write_count++] =
            (hf__backend_write){.at = work->check_of[i],
                                .payload = change->payload,
                                .expire_ms = change->expire_ms};
    }
    if (work->marks)
        work->writes[call->write_count++] = (hf__backend_write){
            .at = work->check_of[work->key_count],
            .payload = hf_view(work->mark, sizeof(work->mark)),
            .expire_ms = work->mark_until_ms};
}

void hf__commit_list(hf__work *work)
{
    list_checks(work);
    list_writes(work);
    work->call.messages = work->messages;
}
