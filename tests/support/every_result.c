/* SPDX-License-Identifier: Apache-2.0 */
/* every_result.c - what calls write, and what they must leave alone. */
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/limiter.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/rank.h"
#include "holdfast/script.h"
#include "holdfast/semaphore.h"
#include "holdfast/set.h"
#include "holdfast/timeline.h"
#include "support/every_call.h"

#define TOKEN_MAX (UINT64_C(1) << 53)
#define UNTOUCHED 0x5a5a5a5a

static char untouched[1];

void every_result_begin(every_result *result)
{
    memset(result, 0, sizeof(*result));
    result->buffer = (hf_buffer){untouched, UNTOUCHED};
    result->version = (hf_buffer){untouched, UNTOUCHED};
    result->fields = (hf_fields){(hf_field *)(void *)untouched, UNTOUCHED};
    result->items.items = (hf_timeline_item *)(void *)untouched;
    result->items.count = UNTOUCHED;
    result->trimmed = (hf_timeline_trimmed){UNTOUCHED, false};
    result->members.items = (hf_set_member *)(void *)untouched;
    result->members.count = UNTOUCHED;
    result->member_ttl_ms = UNTOUCHED;
    result->ranked.items = (hf_rank_member *)(void *)untouched;
    result->ranked.count = UNTOUCHED;
    result->changed.items = (hf_value_change *)(void *)untouched;
    result->changed.count = UNTOUCHED;
    result->place = (hf_rank_place){0, UNTOUCHED, UNTOUCHED};
    result->rank_trimmed = (hf_rank_trimmed){UNTOUCHED, false};
    result->limiter = (hf_limiter_state){UNTOUCHED, UNTOUCHED, UNTOUCHED};
    result->pass = (hf_barrier_pass){UNTOUCHED, false};
    result->removed = UNTOUCHED;
    result->count = UNTOUCHED;
    result->ttl_ms = UNTOUCHED;
    result->number = UNTOUCHED;
    result->token = UNTOUCHED;
    result->script = (hf_script *)(void *)untouched;
    result->reply = (hf_reply *)(void *)untouched;
    result->info = (hf_lock_info)HF_LOCK_INFO_INIT;
    result->permits = (hf_semaphore_info)HF_SEMAPHORE_INFO_INIT;
    result->queue = (hf_queue_info)HF_QUEUE_INFO_INIT;
    result->jobs = (hf_queue_jobs)HF_QUEUE_JOBS_INIT;
    result->holder = (hf_holder)HF_HOLDER_INIT;
    result->leader = (hf_leader)HF_LEADER_INIT;
    result->once = (hf_once_info)HF_ONCE_INFO_INIT;
    result->info.remaining_ms = UNTOUCHED;
    result->status = (hf_status)UNTOUCHED;
}

/* Read all bytes, so that a sanitizer sees those that are not there. */
static bool is_readable(hf_bytes bytes)
{
    const volatile unsigned char *at = bytes.data;

    for (size_t i = 0; i < bytes.size; i++)
        (void)at[i];
    return bytes.size == 0 || bytes.data != NULL;
}

static bool reply_is_readable(const hf_reply *reply)
{
    for (size_t i = 0; i < hf_reply_count(reply); i++) {
        if (!reply_is_readable(hf_reply_at(reply, i)))
            return false;
    }
    return hf_reply_type(reply) >= HF_REPLY_NIL &&
           hf_reply_type(reply) <= HF_REPLY_NIL_ARRAY &&
           is_readable(hf_reply_bytes(reply));
}

static bool check_buffer(hf_buffer *buffer)
{
    bool good = true;

    if (buffer->data != untouched) {
        good = is_readable(hf_view(buffer->data, buffer->size));
        hf_buffer_free(buffer);
    }
    return good;
}

static const char *check_bytes(every_result *result)
{
    hf_fields *fields = &result->fields;
    bool good = check_buffer(&result->buffer);

    good = check_buffer(&result->leader.text) && good;
    good = check_buffer(&result->once.result) && good;
    result->leader = (hf_leader)HF_LEADER_INIT;
    result->once = (hf_once_info)HF_ONCE_INFO_INIT;
    if (!check_buffer(&result->version) || !good)
        return "the buffer cannot be read";
    if (fields->items == (hf_field *)(void *)untouched)
        return NULL;
    for (size_t i = 0; i < fields->count; i++)
        good = good && is_readable(fields->items[i].name) &&
               is_readable(fields->items[i].value);
    hf_fields_free(fields);
    return good ? NULL : "the fields cannot be read";
}

static bool item_is_readable(const hf_timeline_item *item)
{
    bool good = is_readable(item->id) && is_readable(item->payload) &&
                item->id.size > 0 && item->at_ms >= 0 && item->ttl_ms > 0;

    for (size_t i = 0; i < item->attribute_count; i++)
        good = good && is_readable(item->attributes[i].name) &&
               is_readable(item->attributes[i].text);
    return good;
}

static const char *check_items(hf_timeline_items *items)
{
    bool good = true;

    if (items->items == (hf_timeline_item *)(void *)untouched)
        return NULL;
    for (size_t i = 0; i < items->count; i++)
        good = good && item_is_readable(&items->items[i]);
    good = good && is_readable(items->next);
    hf_timeline_items_free(items);
    return good ? NULL : "the items cannot be read";
}

static const char *check_members(hf_set_members *members)
{
    bool good = true;

    if (members->items == (hf_set_member *)(void *)untouched)
        return NULL;
    for (size_t i = 0; i < members->count; i++)
        good = good && is_readable(members->items[i].member) &&
               members->items[i].ttl_ms >= -1;
    good = good && is_readable(members->next);
    hf_set_members_free(members);
    return good ? NULL : "the members cannot be read";
}

static const char *check_ranked(hf_rank_members *ranked)
{
    bool good = true;

    if (ranked->items == (hf_rank_member *)(void *)untouched)
        return NULL;
    for (size_t i = 0; i < ranked->count; i++)
        good = good && is_readable(ranked->items[i].member) &&
               ranked->items[i].ttl_ms >= -1;
    hf_rank_members_free(ranked);
    return good ? NULL : "the ranked members cannot be read";
}

static const char *check_changed(hf_value_changes *changes)
{
    bool good = true;

    if (changes->items == (hf_value_change *)(void *)untouched)
        return NULL;
    for (size_t i = 0; i < changes->count; i++)
        good = good && is_readable(changes->items[i].key);
    hf_value_changes_free(changes);
    return good ? NULL : "the changes cannot be read";
}

static const char *check_jobs(hf_queue_jobs *jobs)
{
    bool good = true;

    for (size_t i = 0; i < jobs->count; i++)
        good = good && is_readable(jobs->jobs[i].id) &&
               is_readable(jobs->jobs[i].payload) &&
               is_readable(jobs->jobs[i].group);
    hf_queue_jobs_free(jobs);
    return good ? NULL : "the jobs cannot be read";
}

static const char *check_handles(every_result *result)
{
    const char *wrong = NULL;

    if (result->script != (hf_script *)(void *)untouched)
        hf_script_free(result->script);
    if (result->reply != (hf_reply *)(void *)untouched) {
        if (!reply_is_readable(result->reply))
            wrong = "the reply cannot be read";
        hf_reply_free(result->reply);
    }
    return wrong;
}

static const char *check_numbers(const every_place *place,
                                 const every_call *call)
{
    const every_result *result = &place->result;
    const hf_lock_info *info = &result->info;

    if (result->removed != UNTOUCHED && result->removed > HF_HASH_FIELDS_MAX)
        return "the count of fields is out of range";
    if ((result->trimmed.removed != UNTOUCHED &&
         result->trimmed.removed > HF_TIMELINE_TRIM_MAX) ||
        (result->rank_trimmed.removed != UNTOUCHED &&
         result->rank_trimmed.removed > HF_RANK_TRIM_MAX))
        return "what was trimmed is out of range";
    if (result->limiter.remaining < 0 || result->limiter.retry_ms < 0 ||
        result->limiter.full_ms < 0)
        return "the state of the limiter is out of range";
    if (result->pass.generation < 0)
        return "how the barrier was passed is out of range";
    if (result->ttl_ms < -1 || result->member_ttl_ms < -2)
        return "the time to live is out of range";
    if (info->remaining_ms < -1 || info->last_token > TOKEN_MAX ||
        info->token > TOKEN_MAX || info->waiters < 0)
        return "the lock's facts are out of range";
    if (info->mode > HF_LOCK_PERMITS || info->holders < 0 ||
        result->permits.permits > HF_SEMAPHORE_PERMITS_MAX ||
        result->permits.permits < 0 || result->permits.held < 0)
        return "how the lock is held is out of range";
    if (result->queue.ready < 0 || result->queue.taken < 0 ||
        result->queue.dead < 0 || result->queue.waiters < 0)
        return "the counts of the queue are out of range";
    if (strlen(info->owner) > HF_LOCK_INFO_OWNER_MAX)
        return "the owner is too long";
    if (result->holder.asked_ms < 0 || strlen(result->holder.description) >=
                                           sizeof(result->holder.description))
        return "the holder's facts are out of range";
    if (call->takes_lock && (hf_lock_token(place->lock) == 0 ||
                             hf_lock_token(place->lock) > TOKEN_MAX))
        return "the fencing token is out of range";
    return NULL;
}

/* Without a reply there is NULL, and an error reply may be there. */
static bool is_no_reply(const hf_reply *reply)
{
    return reply == (hf_reply *)(void *)untouched || reply == NULL ||
           hf_reply_type(reply) == HF_REPLY_ERROR;
}

/* A refusal may come with the current value only. */
static bool is_untouched(const every_result *result, bool refused)
{
    return (refused || result->buffer.data == untouched) &&
           result->version.data == untouched &&
           result->fields.count == UNTOUCHED && result->removed == UNTOUCHED &&
           result->items.count == UNTOUCHED &&
           result->members.count == UNTOUCHED &&
           result->ranked.count == UNTOUCHED &&
           result->place.count == UNTOUCHED &&
           result->rank_trimmed.removed == UNTOUCHED &&
           result->member_ttl_ms == UNTOUCHED &&
           result->trimmed.removed == UNTOUCHED && result->count == UNTOUCHED &&
           result->ttl_ms == UNTOUCHED &&
           result->pass.generation == UNTOUCHED &&
           (refused || result->number == UNTOUCHED) &&
           (refused || result->token == UNTOUCHED) &&
           (refused || result->limiter.remaining == UNTOUCHED) &&
           result->script == (hf_script *)(void *)untouched &&
           is_no_reply(result->reply) && result->info.owner_size == 0;
}

const char *every_result_end(every_place *place, const every_call *call,
                             hf_status status)
{
    every_result *result = &place->result;
    const char *wrong = NULL;
    const char *unread;

    if (status != HF_OK &&
        !is_untouched(result, status == HF_CONFLICT || status == HF_TIMEOUT))
        wrong = "a result was written though the call failed";
    if (status == HF_OK)
        wrong = check_numbers(place, call);
    unread = check_bytes(result);
    if (wrong == NULL)
        wrong = unread;
    unread = check_items(&result->items);
    if (wrong == NULL)
        wrong = unread;
    unread = check_members(&result->members);
    if (wrong == NULL)
        wrong = unread;
    unread = check_ranked(&result->ranked);
    if (wrong == NULL)
        wrong = unread;
    unread = check_changed(&result->changed);
    if (wrong == NULL)
        wrong = unread;
    unread = check_jobs(&result->jobs);
    if (wrong == NULL)
        wrong = unread;
    unread = check_handles(result);
    every_result_begin(result);
    return wrong != NULL ? wrong : unread;
}
