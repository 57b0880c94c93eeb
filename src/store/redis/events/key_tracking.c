/* SPDX-License-Identifier: Apache-2.0 */
/* key_tracking.c - see key_tracking.h. */
#include "store/redis/events/key_tracking.h"

#include <string.h>

#include "store/redis/wire/resp.h"

void hf__key_tracking_reset(hf__key_tracking *tracking)
{
    memset(tracking, 0, sizeof(*tracking));
}

static void note_question(hf__key_tracking *tracking,
                          hf__key_tracking_kind kind, uint32_t bucket,
                          bool held)
{
    uint32_t at = (tracking->first + tracking->count++) % HF__TRACKING_MAX;

    tracking->asked[at] = (hf__key_tracking_question){kind, bucket, held};
}

bool hf__key_tracking_ping(hf__key_tracking *tracking, hf__buf *out)
{
    static const char *const words[] = {"PING"};

    if (tracking->count == HF__TRACKING_MAX ||
        !hf__resp_put_words(out, words, 1))
        return false;
    note_question(tracking, HF__TRACKING_PING, 0, false);
    return true;
}

static bool track_keys(hf__key_tracking *tracking, hf__buf *out)
{
    static const char *const words[] = {"CLIENT", "TRACKING", "ON"};

    if (tracking->tracks)
        return true;
    if (!hf__resp_put_words(out, words, 3))
        return false;
    note_question(tracking, HF__TRACKING_TRACK, 0, false);
    tracking->tracks = true;
    return true;
}

/* Room for a PING is always left. */
bool hf__key_tracking_key(hf__key_tracking *tracking, hf_bytes key,
                          uint32_t bucket, bool held, hf__buf *out)
{
    hf_bytes words[] = {hf_str("GET"), key};
    hf__request get;

    if (tracking->refused || tracking->count > HF__TRACKING_MAX - 3 ||
        !track_keys(tracking, out))
        return false;
    hf__request_command(&get, words, 2, true);
    if (!hf__resp_put_request(out, &get, false))
        return false;
    note_question(tracking, HF__TRACKING_KEY, bucket, held);
    return true;
}

/* Room for a key and a PING is always left. */
bool hf__key_tracking_has_room(const hf__key_tracking *tracking)
{
    return tracking->count <= HF__TRACKING_MAX - 4;
}

void hf__key_tracking_channel(hf__key_tracking *tracking, uint32_t list)
{
    note_question(tracking, HF__TRACKING_CHANNEL, list, false);
}

static hf__key_tracking_question take_first(hf__key_tracking *tracking)
{
    hf__key_tracking_question asked = tracking->asked[tracking->first];

    tracking->first = (tracking->first + 1) % HF__TRACKING_MAX;
    tracking->count--;
    return asked;
}

bool hf__key_tracking_subscribed(hf__key_tracking *tracking)
{
    return tracking->count > 0 &&
           take_first(tracking).kind == HF__TRACKING_CHANNEL;
}

hf__key_tracking_kind hf__key_tracking_answer(hf__key_tracking *tracking,
                                              const hf_reply *reply,
                                              uint32_t *bucket, bool *moved)
{
    hf__key_tracking_question asked;

    if (tracking->count == 0)
        return HF__TRACKING_NONE;
    asked = take_first(tracking);
    if (asked.kind == HF__TRACKING_TRACK && reply->kind == HF_REPLY_ERROR)
        tracking->refused = true;
    *bucket = asked.bucket;
    *moved = asked.kind == HF__TRACKING_KEY &&
             (reply->kind == HF_REPLY_NIL) == asked.held;
    return asked.kind;
}
