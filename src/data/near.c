/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.c - the near cache: shards of a table, and the stamps that say whether
 * an entry is still what the store has.
 *
 *  1. A read that misses notes the stamp of its key, then asks the store, and
 *     keeps the answer with that stamp, unless it was odd.
 *  2. A change makes the stamp odd, and then another even number. On an
 *     embedded store the writer does so, in memory shared with it, before and
 *     after its commit. On servers the feed does so, to stamps of our own, when
 *     a change is reported.
 *  3. An entry is used only if the stamp is the noted one. So neither what was
 *     read before the change nor what was on its way meanwhile is returned.
 *
 * While a feed is broken all stamps are odd. Keys that share a stamp invalidate
 * one another, which costs a read.
 *
 * Locks: `mutex` of a shard guards its table, and the use of the store's stamps
 * under it, so that closing the client can withdraw them.
 */
#include "holdfast/near.h"
#include "core/batch.h"
#include "core/feeds.h"
#include "core/wrong_type.h"
#include "data/near_table.h"
#include "holdfast/watch.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/order.h"

#define BYTES_DEFAULT (INT64_C(64) << 20)
#define BYTES_MIN (INT64_C(1) << 20)
#define BYTES_MAX (INT64_C(1) << 40)

/* Of the table; several times the threads that read at once. */
#define SHARDS 16u

typedef struct shard {
    pthread_mutex_t mutex;
    const uint32_t *stamps; /* NULL: the client was closed */
    hf__near_table table;
    uint64_t hits;
    uint64_t misses;
    uint64_t stale;
    char apart[64];
} shard;

struct hf_near {
    hf__client_feed feed;
    hf_client *client;
    uint32_t database;    /* the store's */
    uint32_t *own_stamps; /* NULL: the store's are used */
    hf_bytes prefix;      /* of the keys that are kept */
    int64_t max_age_ms;
    shard shards[SHARDS];
    char text[];
};

/* A key with the client's prefix, and where it belongs. */
typedef struct near_place {
    hf_bytes key; /* in `text`, or the caller's */
    char text[HF__PREFIX_MAX + HF_NAME_MAX];
    uint64_t hash;
    shard *shard;
    uint32_t bucket; /* of the stamps */
} near_place;

/* ------------------------------------------------------------------ stamps */

static uint32_t read_stamp(const uint32_t *stamps, uint32_t bucket)
{
    return __atomic_load_n(&stamps[bucket], __ATOMIC_SEQ_CST);
}

static void bump_version(hf_near *near, uint32_t bucket)
{
    __atomic_fetch_add(&near->own_stamps[bucket], 2, __ATOMIC_SEQ_CST);
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf_near *near = hf__container_of(feed, hf_near, feed.feed);

    if (kind != HF_CHANGE_GAP) {
        bump_version(near, hf__stamp_of(near->database, key));
        return;
    }
    for (uint32_t i = 0; i < HF__STAMPS; i++) {
        uint32_t stamp = read_stamp(near->own_stamps, i);

        __atomic_store_n(&near->own_stamps[i], (stamp | 1) + 1,
                         __ATOMIC_SEQ_CST);
    }
}

static void on_broken(hf__feed *feed)
{
    hf_near *near = hf__container_of(feed, hf_near, feed.feed);

    for (uint32_t i = 0; i < HF__STAMPS; i++)
        __atomic_fetch_or(&near->own_stamps[i], 1, __ATOMIC_SEQ_CST);
}

static void set_stamps(hf_near *near, const uint32_t *stamps)
{
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&near->shards[i].mutex);
        near->shards[i].stamps = stamps;
        pthread_mutex_unlock(&near->shards[i].mutex);
    }
}

static void on_ending(hf__client_feed *feed)
{
    set_stamps(hf__container_of(feed, hf_near, feed), NULL);
}

/* -------------------------------------------------------------------- open */

static void free_near(hf_near *near)
{
    for (size_t i = 0; i < SHARDS; i++) {
        hf__near_table_done(&near->shards[i].table);
        pthread_mutex_destroy(&near->shards[i].mutex);
    }
    hf__free(near->own_stamps);
    hf__free(near);
}

static hf_near *new_near(hf_client *client, const hf_near_options *options)
{
    hf_bytes prefix = hf_str(options->prefix);
    hf_near *near = hf__calloc(1, sizeof(*near) + prefix.size);
    bool whole = near != NULL;

    for (size_t i = 0; whole && i < SHARDS; i++)
        pthread_mutex_init(&near->shards[i].mutex, NULL);
    for (size_t i = 0; whole && i < SHARDS; i++)
        whole = hf__near_table_init(&near->shards[i].table,
                                    (size_t)options->max_bytes / SHARDS);
    if (!whole) {
        if (near != NULL)
            free_near(near);
        return NULL;
    }
    if (prefix.size > 0)
        memcpy(near->text, prefix.data, prefix.size);
    near->prefix = hf_view(near->text, prefix.size);
    near->client = client;
    near->database = client->store->database;
    near->max_age_ms =
        options->max_age_ms == 0 ? INT64_MAX : options->max_age_ms;
    near->feed.takes_stamps = true;
    near->feed.feed.changed = on_changed;
    near->feed.feed.broken = on_broken;
    near->feed.ending = on_ending;
    return near;
}

static hf_status load_options(const hf_near_options *opts,
                              hf_near_options *options, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), opts,
                         "hf_near_options", err);

    if (status == HF_OK)
        status = hf__check_flags(0, 0, options->reserved0 | options->reserved1,
                                 "hf_near_options", err);
    if (status != HF_OK)
        return status;
    if (options->max_bytes == 0)
        options->max_bytes = BYTES_DEFAULT;
    if (options->max_bytes < BYTES_MIN || options->max_bytes > BYTES_MAX)
        return hf__fail(err, HF_INVALID,
                        "max_bytes is %lld; allowed are %lld to %lld",
                        (long long)options->max_bytes, (long long)BYTES_MIN,
                        (long long)BYTES_MAX);
    if (options->prefix != NULL && strlen(options->prefix) > HF_NAME_MAX)
        return hf__fail(err, HF_INVALID, "prefix is longer than %d bytes",
                        HF_NAME_MAX);
    if (options->max_age_ms != 0)
        status = hf__check_ttl(options->max_age_ms, "max_age_ms", err);
    return status;
}

/* The stamps are our own unless the store has some. */
static hf_status open_near(hf_client *client, const hf_near_options *options,
                           hf_near **near, hf_error *err)
{
    hf_near *made = new_near(client, options);
    hf_status status = HF_OK;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a near cache");
    if (client->store->ops->stamps_open == NULL) {
        made->own_stamps = hf__calloc(HF__STAMPS, sizeof(uint32_t));
        if (made->own_stamps == NULL)
            status = hf__fail(err, HF_NO_MEMORY, "a near cache");
    }
    if (status == HF_OK)
        status = hf__client_feed_open(&made->feed, client, made->prefix, err);
    if (status != HF_OK) {
        free_near(made);
        return status;
    }
    set_stamps(made,
               made->own_stamps != NULL ? made->own_stamps : made->feed.stamps);
    *near = made;
    return HF_OK;
}

hf_status hf_near_open(hf_client *client, const hf_near_options *opts,
                       hf_near **near, hf_error *err)
{
    hf_near_options options;
    hf_status status = load_options(opts, &options, err);

    if (status == HF_OK)
        status = hf__check_out(near, "near", err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(client, err);
    if (status != HF_OK)
        return status;
    status = open_near(client, &options, near, err);
    hf__life_leave(&client->life);
    return status;
}

void hf_near_close(hf_near *near)
{
    if (near == NULL)
        return;
    hf__client_feed_close(&near->feed);
    free_near(near);
}

/* --------------------------------------------------------------------- hit */

static hf_status find_place(hf_near *near, hf_bytes key, near_place *at,
                            hf_error *err)
{
    hf_status status = hf__check_key(near->client, key, "key", err);

    if (status != HF_OK)
        return status;
    at->key = near->client->prefix_size == 0
                  ? key
                  : hf__key_put(near->client, key, at->text);
    /* As hf__stamp_of(). */
    at->hash = hf__hash(at->key, near->database);
    at->bucket = (uint32_t)(at->hash % HF__STAMPS);
    at->shard = &near->shards[at->hash >> 32 & (SHARDS - 1)];
    hf__near_table_prefetch(&at->shard->table, at->hash);
    return HF_OK;
}

static hf_status copy_value(hf_bytes value, hf_buffer *copy, hf_error *err)
{
    char *data = hf__alloc(value.size + 1);

    if (data == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a value of %zu bytes", value.size);
    memcpy(data, value.data, value.size);
    data[value.size] = '\0';
    copy->data = data;
    copy->size = value.size;
    return HF_OK;
}

static bool is_current(const hf__near_entry *entry, uint32_t stamp)
{
    return entry->stamp == stamp && (entry->until_ms == INT64_MAX ||
                                     hf__clock_boot_ms() < entry->until_ms);
}

/* NULL: the store has to be asked; `*stamp` is the noted one. */
static const hf__near_entry *find_locked(const near_place *at, uint32_t *stamp)
{
    shard *self = at->shard;
    hf__near_entry *entry;

    /* Odd: not to be kept. */
    *stamp = self->stamps != NULL ? read_stamp(self->stamps, at->bucket) : 1;
    entry = hf__near_table_find(&self->table, at->hash, at->key);
    if (entry != NULL && is_current(entry, *stamp)) {
        hf__near_table_hit(entry);
        self->hits++;
        return entry;
    }
    if (entry != NULL)
        self->stale++;
    self->misses++;
    return NULL;
}

/* true: `*status` is the outcome. */
static bool look_up(const near_place *at, hf_buffer *value, uint32_t *stamp,
                    hf_status *status, hf_error *err)
{
    const hf__near_entry *entry;

    pthread_mutex_lock(&at->shard->mutex);
    entry = find_locked(at, stamp);
    if (entry == NULL)
        ;
    else if (entry->absent)
        *status = HF_NOT_FOUND;
    else
        *status = copy_value(hf__near_value(entry), value, err);
    pthread_mutex_unlock(&at->shard->mutex);
    if (entry != NULL && *status == HF_NOT_FOUND)
        hf__fail(err, HF_NOT_FOUND, "no such key");
    return entry != NULL;
}

/* -------------------------------------------------------------------- miss */

/* Asked for together; a change between the two changes the stamp. */
typedef struct answer {
    hf__request value;
    hf__request ttl;
    hf_bytes value_words[2];
    hf_bytes ttl_words[2];
    int64_t began_ms;
} answer;

static void ask_store(hf_client *client, hf_bytes key, answer *self)
{
    hf__request *both[] = {&self->ttl, &self->value};

    self->value_words[1] = self->ttl_words[1] = key;
    hf__operation_request(&self->value, &hf__op_get, self->value_words, 2);
    self->ttl_words[0] = hf_str("PTTL");
    hf__request_command(&self->ttl, self->ttl_words, 2, true);
    self->began_ms = hf__clock_boot_ms();
    hf__run_all(client, both, 2, 0);
}

/* INT64_MAX: never; 0: it is not known. */
static int64_t expiry_of(const answer *self, int64_t max_age_ms)
{
    const hf_reply *reply = &self->ttl.reply;
    int64_t age_ms = max_age_ms;

    if (self->ttl.status != HF_OK || reply->kind != HF_REPLY_INTEGER)
        return 0;
    /* -1: no expiry; -2: no key, which cannot expire. Both clocks were rounded
     * down. */
    if (reply->integer >= 0)
        age_ms = hf__at_most(reply->integer - 1, max_age_ms);
    return hf__clock_after(self->began_ms, age_ms);
}

static void keep_value(const near_place *at, const answer *self, uint32_t stamp,
                       int64_t max_age_ms)
{
    const hf_reply *reply = &self->value.reply;
    bool absent = reply->kind == HF_REPLY_NIL;
    hf_bytes value =
        absent ? hf_view("", 0) : hf_view(reply->bytes.data, reply->bytes.size);
    int64_t until_ms = expiry_of(self, max_age_ms);
    hf__near_entry *entry = NULL;

    if (!(stamp & 1) && until_ms > self->began_ms)
        entry = hf__near_entry_new(&at->shard->table, at->hash, at->key, value);
    if (entry == NULL)
        return;
    entry->stamp = stamp;
    entry->until_ms = until_ms;
    entry->absent = absent;
    pthread_mutex_lock(&at->shard->mutex);
    hf__near_table_put(&at->shard->table, entry);
    pthread_mutex_unlock(&at->shard->mutex);
}

static hf_status fetch_value(hf_near *near, const near_place *at,
                             uint32_t stamp, hf_buffer *value, hf_error *err)
{
    answer got;
    hf_status status;

    ask_store(near->client, at->key, &got);
    status = got.value.status;
    if (status != HF_OK) {
        (void)hf__fail_copy(err, &got.value.error);
        if (status == HF_WRONG_TYPE)
            hf__wrong_type_name(&got.value, err);
    } else {
        keep_value(at, &got, stamp, near->max_age_ms);
        status = got.value.reply.kind == HF_REPLY_NIL
                     ? hf__fail(err, HF_NOT_FOUND, "no such key")
                     : hf__buffer_take(value, &got.value.reply,
                                       &got.value.arena, err);
    }
    hf__request_done(&got.value);
    hf__request_done(&got.ttl);
    return status;
}

static bool is_kept(const hf_near *near, hf_bytes key)
{
    return key.size >= near->prefix.size &&
           memcmp(key.data, near->prefix.data, near->prefix.size) == 0;
}

static hf_status get_value(hf_near *near, const near_place *at, bool kept,
                           hf_buffer *value, hf_error *err)
{
    uint32_t stamp = 1;
    hf_status status = HF_OK;

    if (kept && look_up(at, value, &stamp, &status, err))
        return status;
    status = hf__client_enter_blocking(near->client, err);
    if (status != HF_OK)
        return status;
    status = fetch_value(near, at, stamp, value, err);
    hf__life_leave(&near->client->life);
    return status;
}

hf_status hf_near_get(hf_near *near, hf_bytes key, hf_buffer *value,
                      hf_error *err)
{
    near_place at;
    hf_status status = hf__check_out(near, "near", err);

    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status == HF_OK)
        status = hf__client_check(near->client, err);
    if (status == HF_OK)
        status = find_place(near, key, &at, err);
    if (status != HF_OK)
        return status;
    return get_value(near, &at, is_kept(near, key), value, err);
}

void hf_near_forget(hf_near *near, hf_bytes key)
{
    hf__near_entry *entry;
    near_place at;

    if (near == NULL || hf__client_check(near->client, NULL) != HF_OK ||
        find_place(near, key, &at, NULL) != HF_OK)
        return;
    /* What is on its way may be of before. */
    if (near->own_stamps != NULL)
        bump_version(near, at.bucket);
    pthread_mutex_lock(&at.shard->mutex);
    entry = hf__near_table_find(&at.shard->table, at.hash, at.key);
    if (entry != NULL)
        hf__near_table_remove(&at.shard->table, entry);
    pthread_mutex_unlock(&at.shard->mutex);
}

hf_status hf_near_read_stats(hf_near *near, hf_near_stats *stats, hf_error *err)
{
    hf_near_stats sum = HF_NEAR_STATS_INIT;
    hf_status status = hf__check_out(near, "near", err);

    if (status == HF_OK)
        status = hf__check_out(stats, "stats", err);
    if (status == HF_OK)
        status = hf__check_struct(stats->struct_size, sizeof(*stats),
                                  "hf_near_stats", "HF_NEAR_STATS_INIT", err);
    if (status == HF_OK)
        status = hf__client_check(near->client, err);
    if (status != HF_OK)
        return status;
    for (size_t i = 0; i < SHARDS; i++) {
        shard *one = &near->shards[i];

        pthread_mutex_lock(&one->mutex);
        sum.hits += one->hits;
        sum.misses += one->misses;
        sum.stale += one->stale;
        sum.evictions += one->table.evictions;
        sum.entries += one->table.count;
        sum.bytes += one->table.small.bytes + one->table.main.bytes;
        pthread_mutex_unlock(&one->mutex);
    }
    *stats = sum;
    return HF_OK;
}
