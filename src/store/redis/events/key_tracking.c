/* SPDX-License-Identifier: Apache-2.0 */
/* key_tracking.c - see key_tracking.h. */
#include "store/redis/events/key_tracking.h"

#include <string.h>

#include "store/redis/wire/resp.h"

void hf__lookout_reset(hf__lookout *lookout)
{
    memset(lookout, 0, sizeof(*lookout));
}

static void note(hf__lookout *lookout, hf__lookout_kind kind, uint32_t bucket)
{
    uint32_t at = (lookout->first + lookout->count++) % HF__LOOKOUT_MAX;

    lookout->asked[at] = (hf__lookout_question){kind, bucket};
}

bool hf__lookout_ping(hf__lookout *lookout, hf__buf *out)
{
    static const char *const words[] = {"PING"};

    if (lookout->count == HF__LOOKOUT_MAX || !hf__resp_put_words(out, words, 1))
        return false;
    note(lookout, HF__LOOKOUT_PING, 0);
    return true;
}

static bool track(hf__lookout *lookout, hf__buf *out)
{
    static const char *const words[] = {"CLIENT", "TRACKING", "ON"};

    if (lookout->tracks)
        return true;
    if (!hf__resp_put_words(out, words, 3))
        return false;
    note(lookout, HF__LOOKOUT_TRACK, 0);
    lookout->tracks = true;
    return true;
}

/* There is always room left for a PING. */
bool hf__lookout_key(hf__lookout *lookout, hf_bytes key, uint32_t bucket,
                     hf__buf *out)
{
    hf_bytes words[] = {hf_str("GET"), key};
    hf__request get;

    if (lookout->refused || lookout->count > HF__LOOKOUT_MAX - 3 ||
        !track(lookout, out))
        return false;
    hf__request_command(&get, words, 2, true);
    if (!hf__resp_put_request(out, &get, false))
        return false;
    note(lookout, HF__LOOKOUT_KEY, bucket);
    return true;
}

hf__lookout_kind hf__lookout_answer(hf__lookout *lookout, const hf_reply *reply,
                                    uint32_t *bucket, bool *gone)
{
    hf__lookout_question asked;

    if (lookout->count == 0)
        return HF__LOOKOUT_NONE;
    asked = lookout->asked[lookout->first];
    lookout->first = (lookout->first + 1) % HF__LOOKOUT_MAX;
    lookout->count--;
    if (asked.kind == HF__LOOKOUT_TRACK && reply->kind == HF_REPLY_ERROR)
        lookout->refused = true;
    *bucket = asked.bucket;
    *gone = asked.kind == HF__LOOKOUT_KEY && reply->kind == HF_REPLY_NIL;
    return asked.kind;
}
