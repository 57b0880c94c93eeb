/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.c - see subscriptions.h.
 *
 * Channels are hashed; each subscription is in the chain of its hash. A process
 * changes only its own subscriptions, and each step leaves the chains whole, so
 * that one that is killed takes nothing with it; what it leaves is dropped when
 * its slot is taken again. Only prune() takes the chains apart, and says so in
 * `relinking`.
 *
 * Patterns are listed in whole, to count those that match.
 */
#include "engine/wake/subscriptions.h"

#include <string.h>

#include "engine/wake/ring_write.h"
#include "util/glob.h"
#include "util/hash_bytes.h"

static hf__messages *file_of(const hf__env *env)
{
    return hf__messages_of(&env->rings[HF__RING_MESSAGES]);
}

static uint32_t *chain_of(hf__messages *file, uint64_t hash)
{
    return &file->chains[hash % HF__SUBSCRIPTION_CHAINS];
}

/* The subscription with a number from 1 on; NULL: the end of a chain. */
static hf__channel_count *subscription_at(hf__messages *file, uint32_t number)
{
    if (number == 0 || number > HF__SUBSCRIPTION_MAX)
        return NULL;
    return &file->subscriptions[number - 1];
}

static void link_one(hf__messages *file, uint32_t number)
{
    hf__channel_count *one = subscription_at(file, number);
    uint32_t *chain = chain_of(file, one->hash);

    one->next = *chain;
    __atomic_store_n(chain, number, __ATOMIC_RELEASE);
}

static bool is_stale(const hf__messages *file, uint32_t reader)
{
    return reader >= HF__RING_READERS || !file->head.slots[reader].used;
}

static void prune_channels(hf__messages *file)
{
    memset(file->chains, 0, sizeof(file->chains));
    for (uint32_t i = 0; i < HF__SUBSCRIPTION_MAX; i++) {
        hf__channel_count *one = &file->subscriptions[i];

        one->used = one->used && !is_stale(file, one->reader);
        if (one->used)
            link_one(file, i + 1);
    }
}

static void prune_patterns(hf__messages *file)
{
    file->pattern_end = 0;
    for (uint32_t i = 0; i < HF__PATTERN_MAX; i++) {
        hf__pattern_count *one = &file->patterns[i];

        if (is_stale(file, one->reader) || one->size > HF__PATTERN_SIZE)
            one->count = 0;
        if (one->count > 0)
            file->pattern_end = i + 1;
    }
}

void hf__subscriptions_prune(hf__env *env)
{
    hf__messages *file = file_of(env);

    __atomic_store_n(&file->relinking, 1, __ATOMIC_SEQ_CST);
    prune_channels(file);
    prune_patterns(file);
    for (uint32_t i = 0; i < HF__RING_READERS; i++) {
        if (is_stale(file, i))
            file->unlisted[i] = 0;
    }
    __atomic_store_n(&file->relinking, 0, __ATOMIC_SEQ_CST);
}

/* The file, with its chains whole. */
static hf__messages *whole_file_of(hf__env *env)
{
    if (file_of(env)->relinking)
        hf__subscriptions_prune(env);
    return file_of(env);
}

/* --------------------------------------------------------------- channels */

/* A seed would be no good: those of similar names cancel it out. */
static uint64_t hash_of(hf__channel_kind kind, hf_bytes name)
{
    return hf__hash(name, 0) ^ kind * UINT64_C(0xd6e8feb86659fd93);
}

/* What links to the reader's subscription; NULL: there is none. */
static uint32_t *find_link(hf__messages *file, uint64_t hash, uint32_t reader)
{
    uint32_t *link = chain_of(file, hash);
    hf__channel_count *one;

    /* No chain is longer, unless it was damaged. */
    for (uint32_t i = 0; i < HF__SUBSCRIPTION_MAX; i++) {
        one = subscription_at(file, *link);
        if (one == NULL)
            return NULL;
        if (one->hash == hash && one->reader == reader)
            return link;
        link = &one->next;
    }
    return NULL;
}

/* The number of a free one; 0: there is none. */
static uint32_t take_free(hf__messages *file)
{
    for (uint32_t i = 0; i < HF__SUBSCRIPTION_MAX; i++) {
        uint32_t at = (file->free_from + i) % HF__SUBSCRIPTION_MAX;

        if (!file->subscriptions[at].used) {
            file->free_from = at + 1;
            return at + 1;
        }
    }
    return 0;
}

static bool add_channel(hf__messages *file, uint32_t reader, uint64_t hash)
{
    const uint32_t *link = find_link(file, hash, reader);
    uint32_t number = link != NULL ? *link : take_free(file);
    hf__channel_count *one = subscription_at(file, number);

    if (one == NULL)
        return false;
    if (link != NULL) {
        one->count++;
        return true;
    }
    one->hash = hash;
    one->reader = reader;
    one->count = 1;
    one->used = 1;
    link_one(file, number);
    return true;
}

static void remove_channel(hf__messages *file, uint32_t reader, uint64_t hash)
{
    uint32_t *link = find_link(file, hash, reader);
    hf__channel_count *one = link != NULL ? subscription_at(file, *link) : NULL;

    if (one == NULL || --one->count > 0)
        return;
    __atomic_store_n(link, one->next, __ATOMIC_SEQ_CST);
    one->used = 0;
}

/* --------------------------------------------------------------- patterns */

static hf__pattern_count *find_pattern(hf__messages *file, uint32_t reader,
                                       hf_bytes pattern)
{
    for (uint32_t i = 0; i < file->pattern_end && i < HF__PATTERN_MAX; i++) {
        hf__pattern_count *one = &file->patterns[i];

        if (one->count > 0 && one->reader == reader &&
            one->size == pattern.size &&
            memcmp(one->text, pattern.data, pattern.size) == 0)
            return one;
    }
    return NULL;
}

static hf__pattern_count *take_pattern(hf__messages *file, uint32_t reader,
                                       hf_bytes pattern)
{
    uint32_t i = 0;

    while (i < HF__PATTERN_MAX && file->patterns[i].count > 0)
        i++;
    if (i == HF__PATTERN_MAX)
        return NULL;
    file->patterns[i].reader = (uint16_t)reader;
    file->patterns[i].size = (uint16_t)pattern.size;
    if (pattern.size > 0)
        memcpy(file->patterns[i].text, pattern.data, pattern.size);
    if (file->pattern_end <= i)
        file->pattern_end = i + 1;
    return &file->patterns[i];
}

static bool add_pattern(hf__messages *file, uint32_t reader, hf_bytes pattern)
{
    hf__pattern_count *one;

    if (pattern.size > HF__PATTERN_SIZE)
        return false;
    one = find_pattern(file, reader, pattern);
    if (one == NULL)
        one = take_pattern(file, reader, pattern);
    if (one != NULL)
        __atomic_add_fetch(&one->count, 1, __ATOMIC_SEQ_CST);
    return one != NULL;
}

static void remove_pattern(hf__messages *file, uint32_t reader,
                           hf_bytes pattern)
{
    hf__pattern_count *one = find_pattern(file, reader, pattern);
    uint32_t end = __atomic_load_n(&file->pattern_end, __ATOMIC_RELAXED);

    if (one != NULL)
        one->count--;
    if (end > HF__PATTERN_MAX)
        end = HF__PATTERN_MAX;
    while (end > 0 && file->patterns[end - 1].count == 0)
        end--;
    file->pattern_end = end;
}

/* ------------------------------------------------------------------- both */

bool hf__subscription_add(hf__env *env, uint32_t reader, hf__channel_kind kind,
                          hf_bytes name)
{
    hf__messages *file = whole_file_of(env);
    bool listed = kind == HF__CHANNEL_PATTERN
                      ? add_pattern(file, reader, name)
                      : add_channel(file, reader, hash_of(kind, name));

    if (!listed)
        file->unlisted[reader]++;
    return listed;
}

void hf__subscription_remove(hf__env *env, uint32_t reader,
                             hf__channel_kind kind, hf_bytes name, bool listed)
{
    hf__messages *file = whole_file_of(env);

    if (!listed)
        file->unlisted[reader]--;
    else if (kind == HF__CHANNEL_PATTERN)
        remove_pattern(file, reader, name);
    else
        remove_channel(file, reader, hash_of(kind, name));
}

/* --------------------------------------------------------------- counting */

typedef struct census {
    hf__env *env;
    uint64_t asked; /* bits of the slots of which it is known */
    uint64_t alive; /* that their process lives */
    uint64_t readers;
    int64_t count;
} census;

static bool is_alive(census *of, uint32_t reader)
{
    uint64_t bit = UINT64_C(1) << reader;

    if (!(of->asked & bit)) {
        of->asked |= bit;
        if (hf__ring_slot_alive(&of->env->sidecar,
                                &file_of(of->env)->head.slots[reader]))
            of->alive |= bit;
    }
    return (of->alive & bit) != 0;
}

static void count_some(census *of, uint32_t reader, uint32_t count)
{
    if (reader >= HF__RING_READERS || !is_alive(of, reader))
        return;
    of->readers |= UINT64_C(1) << reader;
    of->count += count;
}

static void count_channel(census *of, hf__messages *file, uint64_t hash)
{
    uint32_t number = *chain_of(file, hash);
    const hf__channel_count *one = subscription_at(file, number);

    for (uint32_t i = 0; one != NULL && i < HF__SUBSCRIPTION_MAX; i++) {
        if (one->hash == hash)
            count_some(of, one->reader, one->count);
        one = subscription_at(file, one->next);
    }
}

static void count_patterns(census *of, const hf__messages *file,
                           hf_bytes channel)
{
    for (uint32_t i = 0; i < file->pattern_end && i < HF__PATTERN_MAX; i++) {
        const hf__pattern_count *one = &file->patterns[i];
        uint16_t size = __atomic_load_n(&one->size, __ATOMIC_RELAXED);

        if (one->count > 0 && size <= HF__PATTERN_SIZE &&
            hf__glob_fits(hf_view(one->text, size), channel))
            count_some(of, one->reader, one->count);
    }
}

int64_t hf__subscription_count(hf__env *env, hf__channel_kind kind,
                               hf_bytes name, bool patterns, uint64_t *readers)
{
    hf__messages *file = whole_file_of(env);
    census of = {.env = env};

    count_channel(&of, file, hash_of(kind, name));
    if (patterns)
        count_patterns(&of, file, name);
    for (uint32_t i = 0; i < HF__RING_READERS; i++) {
        if (file->unlisted[i] > 0)
            count_some(&of, i, 0);
    }
    *readers = of.readers;
    return of.count;
}
