/* SPDX-License-Identifier: Apache-2.0 */
/* channels.c - see channels.h. */
#include "store/redis/events/channels.h"

#include <string.h>

#include "store/redis/wire/resp.h"
#include "util/mem.h"

/* How often all are searched for those that are not wanted any more. */
#define TIDY_MS 5000

struct hf__heard {
    hf__heard *next;
    int64_t until_ms;
    uint32_t bucket;
    bool sharded;
    bool sent;
    size_t size;
    char name[];
};

static hf_bytes name_of(const hf__heard *heard)
{
    return hf_view(heard->name, heard->size);
}

/* Where it is, or where it would be appended. */
static hf__heard **place_of(hf__channels *channels, hf_bytes name)
{
    hf__heard **place = &channels->lists[hf__events_bucket(name)];

    while (*place != NULL &&
           ((*place)->size != name.size ||
            memcmp((*place)->name, name.data, name.size) != 0))
        place = &(*place)->next;
    return place;
}

static void drop_channel(hf__channels *channels, hf__heard **place)
{
    hf__heard *heard = *place;

    *place = heard->next;
    channels->count--;
    channels->unsent -= !heard->sent;
    hf__free(heard);
}

void hf__channels_want(hf__channels *channels, hf_bytes name, uint32_t bucket,
                       bool sharded, int64_t until_ms)
{
    hf__heard **place = place_of(channels, name);

    if (*place == NULL && channels->count == HF__CHANNELS_MAX)
        return;
    if (*place == NULL) {
        *place = hf__alloc(sizeof(**place) + name.size);
        if (*place == NULL)
            return;
        **place = (hf__heard){
            .bucket = bucket, .sharded = sharded, .size = name.size};
        memcpy((*place)->name, name.data, name.size);
        channels->count++;
        channels->unsent++;
    }
    (*place)->until_ms = until_ms;
}

static bool put_command(hf__buf *out, const char *verb, const hf__heard *heard)
{
    hf_bytes words[] = {hf_str(verb), name_of(heard)};
    hf__request request;

    hf__request_command(&request, words, 2, true);
    return hf__resp_put_request(out, &request, false);
}

/* false: no room. `*some`: a request was written. */
static bool put_unsubscribe(hf__channels *channels, hf__heard **place,
                            hf__buf *out, bool *some)
{
    const hf__heard *heard = *place;

    if (heard->sent &&
        !put_command(out, heard->sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE",
                     heard))
        return false;
    *some = *some || heard->sent;
    channels->leaving += heard->sent;
    drop_channel(channels, place);
    return true;
}

/* Without room it stays until it is tidied up. */
bool hf__channels_remove(hf__channels *channels, hf_bytes name, hf__buf *out)
{
    hf__heard **place = place_of(channels, name);
    bool some = false;

    if (*place != NULL && !put_unsubscribe(channels, place, out, &some))
        (*place)->until_ms = 0;
    return some;
}

void hf__channels_reset(hf__channels *channels)
{
    for (size_t at = 0; at < HF__EVENTS_COUNT; at++) {
        for (hf__heard *heard = channels->lists[at]; heard != NULL;
             heard = heard->next)
            heard->sent = false;
    }
    channels->unsent = channels->count;
    channels->leaving = 0;
}

void hf__channels_done(hf__channels *channels)
{
    for (size_t at = 0; at < HF__EVENTS_COUNT; at++) {
        while (channels->lists[at] != NULL)
            drop_channel(channels, &channels->lists[at]);
    }
}

static bool put_subscribe(hf__heard *heard, uint32_t list,
                          hf__key_tracking *tracking, hf__buf *out)
{
    if (!hf__key_tracking_has_room(tracking) ||
        !put_command(out, heard->sharded ? "SSUBSCRIBE" : "SUBSCRIBE", heard))
        return false;
    hf__key_tracking_channel(tracking, list);
    heard->sent = true;
    return true;
}

bool hf__channels_subscribe(hf__channels *channels, hf__key_tracking *tracking,
                            hf__buf *out)
{
    bool some = false;

    for (uint32_t at = 0; at < HF__EVENTS_COUNT && channels->unsent > 0; at++) {
        for (hf__heard *heard = channels->lists[at]; heard != NULL;
             heard = heard->next) {
            if (heard->sent)
                continue;
            if (!put_subscribe(heard, at, tracking, out))
                return some;
            channels->unsent--;
            some = true;
        }
    }
    return some;
}

bool hf__channels_tidy(hf__channels *channels, int64_t now_ms, hf__buf *out)
{
    bool some = false;

    if (channels->count == 0 || now_ms < channels->tidied_ms + TIDY_MS)
        return false;
    channels->tidied_ms = now_ms;
    for (size_t at = 0; at < HF__EVENTS_COUNT; at++) {
        hf__heard **place = &channels->lists[at];

        while (*place != NULL) {
            if ((*place)->until_ms > now_ms)
                place = &(*place)->next;
            else if (!put_unsubscribe(channels, place, out, &some))
                return some; /* next time */
        }
    }
    return some;
}

bool hf__channels_find(const hf__channels *channels, hf_bytes name,
                       uint32_t *bucket)
{
    const hf__heard *heard = channels->lists[hf__events_bucket(name)];

    while (heard != NULL && (heard->size != name.size ||
                             memcmp(heard->name, name.data, name.size) != 0))
        heard = heard->next;
    if (heard != NULL)
        *bucket = heard->bucket;
    return heard != NULL;
}

bool hf__channels_end(hf__channels *channels, hf_bytes name, uint32_t *bucket)
{
    hf__heard **place = place_of(channels, name);

    if (channels->leaving > 0) { /* it may be wanted again by now */
        channels->leaving--;
        return false;
    }
    if (*place == NULL || !(*place)->sent)
        return false;
    *bucket = (*place)->bucket;
    drop_channel(channels, place);
    return true;
}

void hf__channels_refuse(hf__channels *channels, uint32_t list)
{
    hf__heard **place = &channels->lists[list % HF__EVENTS_COUNT];

    while (*place != NULL && !(*place)->sent)
        place = &(*place)->next;
    if (*place != NULL)
        drop_channel(channels, place);
}
