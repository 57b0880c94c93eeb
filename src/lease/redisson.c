/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redisson.c - locks in the layout of Redisson (scripts/redisson_*.lua).
 *
 * Their waiters are in no queue of ours: a release publishes a message on a
 * channel, to which the client listens while some call waits for the lock, and
 * a while after that.
 */
#include "lease/redisson.h"

#include <string.h>

#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/order.h"

/* How long to listen after a call has waited, and how often that is asked for:
 * often enough to follow a slot that has moved to another server. */
#define KEEP_MS 5000
#define ASK_MS 1000

/* What Redisson needs to wake a thread and to ask, and some more. */
#define YIELD_MS 2

_Static_assert((int)HF__REDISSON_ACQUIRE_TTL == HF__LOCK_ACQUIRE_TTL, "");
_Static_assert((int)HF__REDISSON_ACQUIRE_KIND == HF__LOCK_ACQUIRE_WORDS, "");

hf_bytes hf__redisson_put(const char *role, hf_bytes main, char *at)
{
    bool tagged = memchr(main.data, '{', main.size) != NULL;
    bool behind = role[0] == ':';
    size_t size = strlen(role);
    char *start = at;

    if (!behind) {
        memcpy(at, role, size);
        at += size;
        *at++ = ':';
    }
    if (!tagged)
        *at++ = '{';
    memcpy(at, main.data, main.size);
    at += main.size;
    if (!tagged)
        *at++ = '}';
    if (behind) {
        memcpy(at, role, size);
        at += size;
    }
    return hf_view(start, (size_t)(at - start));
}

hf_status hf__redisson_check_name(hf_bytes name, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (memchr(name.data, '{', name.size) == NULL || hf__has_hash_tag(name))
        return HF_OK;
    return hf__fail(err, HF_INVALID,
                    "lock name %s has a '{' but no hash tag, with which "
                    "Redisson fails in a cluster",
                    hf__quoted(quoted, name));
}

/* `keep_ms` 0: not any more. */
static void listen_as(const hf_lock *lock, const char owner[HF_OWNER_SIZE],
                      int64_t keep_ms)
{
    hf__store *store = lock->client->store;
    hf_bytes channel = lock->keys.channel;
    bool sharded = lock->client->layout.verb[0] == 's';
    size_t size = channel.size + HF_OWNER_SIZE;
    char *text;

    if (!lock->kind->redisson->by_owner) {
        store->ops->event_channel(store, lock->keys.topic, channel, sharded,
                                  keep_ms);
        return;
    }
    text = hf__alloc(size + 1);
    if (text == NULL)
        return; /* it polls */
    memcpy(text, channel.data, channel.size);
    text[channel.size] = ':';
    memcpy(text + channel.size + 1, owner, HF_OWNER_SIZE);
    store->ops->event_channel(store, lock->keys.topic, hf_view(text, size),
                              sharded, keep_ms);
    hf__free(text);
}

void hf__redisson_listen(hf_lock *lock, const char owner[HF_OWNER_SIZE])
{
    int64_t now_ms = hf__clock_boot_ms();

    if (now_ms < lock->listen_ms)
        return;
    lock->listen_ms = now_ms + ASK_MS;
    listen_as(lock, owner, KEEP_MS);
}

void hf__redisson_unlisten(hf_lock *lock, const char owner[HF_OWNER_SIZE])
{
    if (!lock->kind->redisson->by_owner || lock->listen_ms == 0)
        return;
    lock->listen_ms = 0;
    listen_as(lock, owner, 0);
}

hf__yield *hf__yield_of(const hf_client *client, hf_bytes main)
{
    return &client->leases->yields[hf__hash(main, 0) % HF__YIELDS];
}

void hf__yield_begin(hf__yield *yield)
{
    atomic_store(&yield->until_ms, hf__clock_boot_ms() + YIELD_MS);
}

int64_t hf__yield_left(const hf__yield *yield)
{
    return hf__at_least(atomic_load(&yield->until_ms) - hf__clock_boot_ms(), 0);
}

/* The reply counts this client if it listens, too. */
void hf__redisson_released(hf_lock *lock, int64_t reply)
{
    if (reply > 1 + (lock->listen_ms > 0))
        hf__yield_begin(hf__yield_of(lock->client, lock->keys.main));
}
