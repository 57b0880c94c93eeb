/* SPDX-License-Identifier: Apache-2.0 */
/* cache_steps.c - see cache_steps.h. */
#include "data/cache_steps.h"

#include <math.h>

#include "core/client.h"
#include "core/own_key.h"
#include "core/wrong_type.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

#define FLAGS                                                                  \
    (HF_CACHE_STALE | HF_CACHE_NO_WAIT | HF_CACHE_NO_RENEW | HF_CACHE_RETRY)

/* Waiters poll so often, and when the lease ends; spread a little. */
#define POLL_MS 5000
#define SPREAD_MS 20

/* While an old value is returned after a failed fill. */
#define PAUSE_MS 1000

/* An entry that changes under each look is being written all the time. */
#define LOOKS_MAX 100

/* The value, meta, fill; then the tags. */
enum { VALUE, META, FILL, TAGS };

static const hf__shape looked_items[] = {
    HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL)};
static const hf__operation look = {.command = "MGET",
                                   .repeatable = true,
                                   .answer = HF__SHAPE_LIST(looked_items)};

/* -------------------------------------------------------------------- keys */

static const char *const roles[] = {NULL, HF__ROLE_CACHE, HF__ROLE_FILL,
                                    HF__ROLE_WAIT};

static size_t room_for_tag(const hf_client *client, hf_bytes name)
{
    return hf__own_key_size(client, HF__ROLE_TAG, name) + name.size;
}

/* Copy a tag's name and make its key. */
static char *put_tag(hf__cache_steps *steps, size_t at, hf_bytes name,
                     char *text)
{
    memcpy(text, name.data, name.size);
    steps->names[at] = hf_view(text, name.size);
    text += name.size;
    steps->keys[at] = hf__own_key_put(steps->client, HF__ROLE_TAG, name, text);
    return text + steps->keys[at].size;
}

static void put_keys(hf__cache_steps *steps, hf_bytes key,
                     const hf_cache_options *opts, char *text)
{
    const hf_client *client = steps->client;

    steps->keys[0] = hf__key_put(client, key, text);
    text += steps->keys[0].size;
    for (size_t i = 1; i < 4; i++) {
        steps->keys[i] = hf__own_key_put(client, roles[i], key, text);
        text += steps->keys[i].size;
    }
    for (size_t i = 0; i < steps->tag_count; i++)
        text = put_tag(steps, 4 + i, opts->tags[i], text);
}

static hf_status check_name(const hf_client *client, hf_bytes name,
                            const char *what, hf_error *err)
{
    hf_status status = hf__check_key(client, name, what, err);

    return status == HF_OK ? hf__check_own_key(name, what, err) : status;
}

static hf_status make_keys(hf__cache_steps *steps, hf_bytes key,
                           const hf_cache_options *opts, hf_error *err)
{
    const hf_client *client = steps->client;
    hf_status status = check_name(client, key, "key", err);
    size_t size = client->prefix_size + key.size;

    for (size_t i = 1; i < 4 && status == HF_OK; i++)
        size += hf__own_key_size(client, roles[i], key);
    for (size_t i = 0; i < steps->tag_count && status == HF_OK; i++) {
        status = check_name(client, opts->tags[i], "tag", err);
        size += room_for_tag(client, opts->tags[i]);
    }
    if (status != HF_OK)
        return status;
    if (size > sizeof(steps->room)) {
        steps->storage = hf__alloc(size);
        if (steps->storage == NULL)
            return hf__fail(err, HF_NO_MEMORY, "%zu bytes of keys", size);
    }
    put_keys(steps, key, opts,
             steps->storage != NULL ? steps->storage : steps->room);
    return HF_OK;
}

hf_status hf__cache_steps_init(hf__cache_steps *steps, hf_client *client,
                               const hf__procedure_kind *kind, hf_bytes key,
                               const hf_cache_options *opts, bool fills,
                               hf_error *err)
{
    int64_t now_ms = hf__clock_boot_ms();
    hf_status status;

    hf__procedure_init(&steps->procedure, client, kind, &steps->detail);
    steps->client = client;
    steps->fills = fills;
    steps->storage = steps->extra = steps->packed = NULL;
    steps->stage = HF__CACHE_LOOK;
    steps->looks = 0;
    steps->waited = false;
    steps->token[0] = '\0';
    steps->early = steps->stale = steps->from_fill = false;
    steps->fill_status = HF_OK;
    steps->detail = (hf_error)HF_ERROR_INIT;
    hf__request_init(&steps->look);
    hf__request_init(&steps->ask);
    status = hf__cache_options_load(&steps->options, opts, FLAGS, fills, err);
    if (status != HF_OK)
        return status;
    steps->tag_count = steps->options.tag_count;
    steps->look_count = 4 + steps->tag_count;
    steps->procedure.until_ms = hf__clock_after(now_ms, steps->options.wait_ms);
    steps->limit_ms =
        hf__clock_after(steps->procedure.until_ms, client->request_ms);
    return make_keys(steps, key, &steps->options, err);
}

void hf__cache_steps_done(hf__cache_steps *steps)
{
    hf__request_done(&steps->look);
    hf__request_done(&steps->ask);
    hf__free(steps->storage);
    hf__free(steps->extra);
    hf__free(steps->packed);
}

/* ---------------------------------------------------------------- requests */

static void ask_look(hf__cache_steps *steps)
{
    hf_bytes *words = steps->words;

    hf__request_done(&steps->look);
    for (size_t i = 0; i < 3; i++)
        words[1 + i] = steps->keys[i];
    for (size_t i = 4; i < steps->look_count; i++)
        words[i] = steps->keys[i];
    hf__operation_request(&steps->look, &look, words, steps->look_count);
}

static size_t put_script_keys(const hf__cache_steps *steps, hf_bytes *words)
{
    size_t count = 4 + steps->tag_count;

    memcpy(words, steps->keys, count * sizeof(*words));
    return count;
}

static int64_t lease_keep_ms(const hf__cache_steps *steps)
{
    const hf_cache_options *o = &steps->options;

    return o->lease_ms + hf__cache_keep_ms(o, o->ttl_ms);
}

static void ask_lease(hf__cache_steps *steps)
{
    hf__store *store = steps->client->store;
    hf_bytes *words = steps->words;
    size_t keys = put_script_keys(steps, words), count = keys;

    if (steps->stage != HF__CACHE_CLOCK && steps->token[0] == '\0')
        hf__rand_hex(steps->token, HF__CACHE_TOKEN_DIGITS / 2);
    hf__request_done(&steps->ask);
    words[count++] = hf_str(steps->token);
    words[count++] = steps->seen;
    words[count++] = hf__number(steps->numbers[0], steps->options.lease_ms);
    words[count++] = hf__number(steps->numbers[1], lease_keep_ms(steps));
    words[count++] =
        hf_str(steps->stage == HF__CACHE_JOIN ? store->ops->inbox(store) : "");
    words[count++] = hf_str(
        steps->waited && (steps->options.flags & HF_CACHE_RETRY) == 0 ? "1"
                                                                      : "");
    hf__request_script(&steps->ask, HF__SCRIPT(CACHE_LEASE), words, count,
                       keys);
}

/* However old the reading is: the lease brought one. */
static bool may_return_after_error(const hf__cache_steps *steps)
{
    int64_t now_ms;

    return steps->found != NULL &&
           hf__store_clock_get(&steps->client->store_clock, INT64_MAX,
                               &now_ms) &&
           now_ms < steps->meta.error_until_ms;
}

static void ask_fail(hf__cache_steps *steps)
{
    hf_bytes *words = steps->words;
    size_t keys = 0, count;

    words[keys++] = steps->keys[0];
    words[keys++] = steps->keys[2];
    words[keys++] = steps->keys[3];
    count = keys;
    words[count++] = hf_str(steps->token);
    words[count++] = hf__number(steps->numbers[0],
                                may_return_after_error(steps) ? PAUSE_MS : 0);
    words[count++] = steps->filled == HF_CANCELLED
                         ? hf_str("") /* given up, not failed */
                         : hf__number(steps->numbers[1], steps->filled);
    hf__request_script(&steps->ask, HF__SCRIPT(CACHE_FAIL), words, count, keys);
}

static void ask_put(hf__cache_steps *steps)
{
    hf_cache_options *o = &steps->options;
    bool absent = steps->filled == HF_NOT_FOUND;
    int64_t ttl_ms = hf__cache_jitter(o, absent ? o->absent_ms : o->ttl_ms);
    size_t keys = put_script_keys(steps, steps->words), count = keys;
    hf_bytes *words = steps->words;

    if (absent)
        o->stale_ms = o->error_ms = 0;
    words[count++] = hf_str(steps->token);
    words[count++] = steps->value;
    words[count++] = hf_str(absent ? "absent" : "value");
    words[count++] =
        hf__number(steps->numbers[0], hf__cache_keep_ms(o, ttl_ms));
    words[count++] = hf__number(steps->numbers[1], ttl_ms);
    words[count++] = hf__number(steps->numbers[2], o->stale_ms);
    words[count++] = hf__number(steps->numbers[3], o->error_ms);
    words[count++] = hf__number(steps->numbers[4], steps->took_ms);
    words[count++] =
        hf__cache_names_put(steps->names + 4, steps->tag_count, steps->packed);
    words[count++] = hf_str(steps->versions);
    hf__request_script(&steps->ask, HF__SCRIPT(CACHE_PUT), words, count, keys);
    hf__request_replicate(&steps->ask, &steps->client->replicas,
                          hf__wrote_number);
}

/* false: there is to be no entry. */
static bool is_put(const hf__cache_steps *steps)
{
    return steps->filled == HF_OK ||
           (steps->filled == HF_NOT_FOUND && steps->options.absent_ms != -1);
}

static hf__cache_steps *steps_of(hf__procedure *procedure)
{
    return hf__container_of(procedure, hf__cache_steps, procedure);
}

hf__request *hf__cache_request(hf__procedure *procedure)
{
    hf__cache_steps *steps = steps_of(procedure);

    switch (steps->stage) {
    case HF__CACHE_LOOK:
        ask_look(steps);
        return &steps->look;
    case HF__CACHE_CLOCK:
    case HF__CACHE_LEASE:
    case HF__CACHE_JOIN:
        ask_lease(steps);
        break;
    case HF__CACHE_STORE:
        hf__request_done(&steps->ask);
        if (is_put(steps))
            ask_put(steps);
        else
            ask_fail(steps);
        break;
    }
    return &steps->ask;
}

void hf__cache_steps_renew(const hf__cache_steps *steps, hf__request *request,
                           hf_bytes words[HF__CACHE_RENEW_WORDS],
                           char numbers[2][HF__NUMBER_SIZE])
{
    size_t keys = 1 + steps->tag_count, count = keys;

    words[0] = steps->keys[2];
    memcpy(words + 1, steps->keys + 4, steps->tag_count * sizeof(*words));
    words[count++] = hf_str(steps->token);
    words[count++] = hf__number(numbers[0], steps->options.lease_ms);
    words[count++] = hf__number(numbers[1], lease_keep_ms(steps));
    hf__request_script(request, HF__SCRIPT(CACHE_RENEW), words, count, keys);
}

/* --------------------------------------------------------------------- end */

static hf__next end_steps(hf__cache_steps *steps, hf_status status)
{
    steps->status = status;
    return HF__END;
}

static hf__next fail_steps(hf__cache_steps *steps, hf_status status,
                           const char *why)
{
    return end_steps(steps, hf__fail(&steps->detail, status, "%s", why));
}

static hf__next end_found(hf__cache_steps *steps, hf_cache_source source)
{
    steps->source = source;
    if (steps->found != NULL)
        return end_steps(steps, HF_OK);
    return fail_steps(steps, HF_NOT_FOUND,
                      steps->meta.absent ? "known to be absent"
                                         : "no such cache entry");
}

static hf__next bad_reply(hf__cache_steps *steps, const char *what)
{
    return end_steps(steps, hf__bad_reply(what, &steps->detail));
}

/* A fill that has ended has time of its own to be stored. */
static hf__next ask_store(hf__cache_steps *steps, hf__cache_stage stage)
{
    steps->stage = stage;
    steps->procedure.ask_by_ms =
        stage == HF__CACHE_STORE ? INT64_MAX : steps->limit_ms;
    if (stage == HF__CACHE_JOIN)
        hf__procedure_use(&steps->procedure, steps->keys[0]);
    return HF__ASK;
}

/* -------------------------------------------------------------------- LOOK */

static const hf_reply *look_item(const hf__cache_steps *steps, size_t at)
{
    const hf_reply *item = &steps->look.reply.array.items[at];

    return item->kind == HF_REPLY_NIL ? NULL : item;
}

static hf_bytes bytes_of(const hf_reply *reply)
{
    return reply == NULL ? hf_str("")
                         : hf_view(reply->bytes.data, reply->bytes.size);
}

/* Where the tag is among the keys; 0: it is not. */
static size_t tag_at(const hf__cache_steps *steps, hf_bytes name)
{
    for (size_t i = 4; i < steps->look_count; i++) {
        if (hf__bytes_same(steps->names[i], name))
            return i;
    }
    return 0;
}

/* Have the entry's own tags read too. false: no memory. */
static bool add_tags(hf__cache_steps *steps)
{
    const hf__cache_meta *meta = &steps->meta;
    size_t size = 0, at = 4 + steps->tag_count;
    char *text, *old = steps->extra;

    for (size_t i = 0; i < meta->tag_count; i++)
        size += room_for_tag(steps->client, meta->tags[i].name);
    text = steps->extra = hf__alloc(size);
    steps->look_count = at;
    if (text != NULL) {
        for (size_t i = 0; i < meta->tag_count; i++) {
            if (tag_at(steps, meta->tags[i].name) == 0) {
                text = put_tag(steps, at, meta->tags[i].name, text);
                steps->look_count = ++at;
            }
        }
    }
    hf__free(old);
    return text != NULL;
}

typedef enum validity { VALID, INVALID, UNKNOWN } validity;

static validity check_tags(const hf__cache_steps *steps)
{
    validity found = VALID;

    for (size_t i = 0; i < steps->meta.tag_count; i++) {
        const hf__cache_tag *tag = &steps->meta.tags[i];
        size_t at = tag_at(steps, tag->name);

        if (at == 0)
            found = UNKNOWN;
        else if (!hf__bytes_same(bytes_of(look_item(steps, TAGS + at - 4)),
                                 tag->version))
            return INVALID;
    }
    return found;
}

/* XFetch: now - delta * beta * ln(random) >= expiry. */
static bool draw_early(const hf__cache_steps *steps, int64_t now_ms)
{
    const hf__cache_meta *meta = &steps->meta;
    double random = (double)hf__rand_between(1, 1 << 30) / (1 << 30);
    double early_ms = (double)meta->took_ms * steps->options.early_percent /
                      100 * -log(random);

    return (double)now_ms + early_ms >= (double)meta->fresh_until_ms;
}

static bool may_be_early(const hf__cache_steps *steps)
{
    return steps->fills && steps->options.early_percent > 0 &&
           steps->meta.took_ms > 0 && look_item(steps, FILL) == NULL;
}

static bool has_failed(const hf_reply *holder)
{
    return holder->bytes.size > 0 && holder->bytes.data[0] == '!';
}

static hf__next judge_stale(hf__cache_steps *steps, int64_t now_ms)
{
    const hf_reply *holder = look_item(steps, FILL);

    steps->stale = true;
    if (!steps->fills) {
        if ((steps->options.flags & HF_CACHE_STALE) == 0)
            steps->found = NULL;
        return end_found(steps, HF_CACHE_OLD);
    }
    if (holder == NULL)
        return ask_store(steps, HF__CACHE_LEASE);
    if (has_failed(holder) && now_ms < steps->meta.error_until_ms)
        return end_found(steps, HF_CACHE_OLD_ERROR);
    if (now_ms < steps->meta.stale_until_ms)
        return end_found(steps, HF_CACHE_OLD);
    return ask_store(steps, HF__CACHE_LEASE);
}

/* The entry is there and valid. */
static hf__next judge_age(hf__cache_steps *steps)
{
    const hf__cache_meta *meta = &steps->meta;
    bool windows = meta->stale_until_ms > meta->fresh_until_ms ||
                   meta->error_until_ms > meta->fresh_until_ms;
    bool early = may_be_early(steps);
    int64_t now_ms;

    if (!windows && !early)
        return end_found(steps, HF_CACHE_HIT);
    if (!hf__store_clock_get(&steps->client->store_clock,
                             HF__STORE_CLOCK_LIFE_MS, &now_ms))
        return ask_store(steps, HF__CACHE_CLOCK);
    if (windows && now_ms >= meta->fresh_until_ms)
        return judge_stale(steps, now_ms);
    steps->early = early && draw_early(steps, now_ms);
    return steps->early ? ask_store(steps, HF__CACHE_LEASE)
                        : end_found(steps, HF_CACHE_HIT);
}

/* There is no entry. A read asks once more, as MGET does not say that the key
 * holds something else. */
static hf__next judge_none(hf__cache_steps *steps)
{
    steps->found = NULL;
    steps->meta.absent = false;
    return ask_store(steps, steps->fills ? HF__CACHE_LEASE : HF__CACHE_CLOCK);
}

static hf__next judge_entry(hf__cache_steps *steps)
{
    const hf_reply *value;

    if (steps->look.reply.array.count != steps->look_count - 1)
        return bad_reply(steps, "mget");
    value = look_item(steps, VALUE);
    steps->seen = bytes_of(look_item(steps, META));
    steps->found = value;
    steps->stale = steps->early = false;
    if (!hf__cache_meta_read(&steps->meta, steps->seen) ||
        (steps->meta.absent && value != NULL)) {
        steps->meta = (hf__cache_meta){.absent = false};
        return value != NULL ? end_found(steps, HF_CACHE_HIT)
                             : judge_none(steps);
    }
    switch (check_tags(steps)) {
    case UNKNOWN:
        if (++steps->looks > LOOKS_MAX)
            return judge_none(steps);
        if (!add_tags(steps))
            return fail_steps(steps, HF_NO_MEMORY, "tags");
        return ask_store(steps, HF__CACHE_LOOK);
    case INVALID:
        return judge_none(steps);
    case VALID:
        break;
    }
    if (value == NULL && !steps->meta.absent)
        return judge_none(steps);
    return judge_age(steps);
}

/* ----------------------------------------------------------- LEASE and JOIN */

static hf__next look_again(hf__cache_steps *steps)
{
    if (++steps->looks > LOOKS_MAX)
        return fail_steps(steps, HF_TIMEOUT, "the cache entry keeps changing");
    return ask_store(steps, HF__CACHE_LOOK);
}

static hf__next take_lease(hf__cache_steps *steps, int64_t now_ms)
{
    const hf_reply *reply = &steps->ask.reply;
    char *text = steps->versions;

    if (reply->array.count != 2 + steps->tag_count)
        return bad_reply(steps, "cache_lease");
    for (size_t i = 0; i < steps->tag_count; i++) {
        hf_bytes version = bytes_of(&reply->array.items[2 + i]);

        if (version.size != HF__CACHE_TOKEN_DIGITS)
            return fail_steps(steps, HF_CORRUPT,
                              "the key of a tag holds something else");
        *text++ = ' ';
        memcpy(text, version.data, version.size);
        text += version.size;
    }
    *text = '\0';
    steps->leased_us = hf__clock_boot_us();
    steps->answers =
        steps->found != NULL &&
        (steps->early || (steps->stale && now_ms < steps->meta.stale_until_ms));
    steps->packed =
        hf__alloc(hf__cache_names_size(steps->names + 4, steps->tag_count));
    if (steps->packed == NULL)
        return fail_steps(steps, HF_NO_MEMORY, "tags");
    steps->procedure.wake_ms = INT64_MAX;
    return HF__AWAY;
}

/* There is a fill under way, or one has `failed`. */
static hf__next lease_held(hf__cache_steps *steps, bool failed, int64_t now_ms,
                           int64_t pttl_ms)
{
    int64_t local_ms = hf__clock_boot_ms();

    if (steps->early)
        return end_found(steps, HF_CACHE_HIT);
    if (steps->stale && failed && now_ms < steps->meta.error_until_ms)
        return end_found(steps, HF_CACHE_OLD_ERROR);
    if (steps->stale && now_ms < steps->meta.stale_until_ms)
        return end_found(steps, HF_CACHE_OLD);
    if ((steps->options.flags & HF_CACHE_NO_WAIT) != 0)
        return fail_steps(steps, HF_TIMEOUT, "another client is filling it");
    if (steps->stage != HF__CACHE_JOIN)
        return ask_store(steps, HF__CACHE_JOIN);
    steps->procedure.wake_ms = hf__at_most(
        hf__clock_after(local_ms, hf__at_most(POLL_MS, pttl_ms + 1) +
                                      hf__rand_between(0, SPREAD_MS)),
        steps->procedure.until_ms);
    return HF__SLEEP;
}

/* Of the fill that this call has waited for. */
static hf__next share_failure(hf__cache_steps *steps, hf_status failure)
{
    steps->fill_status = failure;
    return end_steps(steps, hf__fail(&steps->detail, failure,
                                     "the fill of another client failed: %s",
                                     hf_status_text(failure)));
}

static hf__next read_lease(hf__cache_steps *steps)
{
    const hf_reply *items = steps->ask.reply.array.items;
    int64_t now_ms = items[1].integer;

    hf__store_clock_set(&steps->client->store_clock, steps->ask.began_ms,
                        now_ms);
    if (steps->stage == HF__CACHE_CLOCK)
        return steps->found == NULL && !steps->meta.absent
                   ? end_found(steps, HF_CACHE_HIT)
                   : judge_age(steps);
    if (items[0].integer == 0)
        return look_again(steps);
    if (items[0].integer == 1)
        return take_lease(steps, now_ms);
    if (items[0].integer == 4 && items[2].integer > 0 &&
        items[2].integer < 1000)
        return share_failure(steps, (hf_status)items[2].integer);
    return lease_held(steps, items[0].integer == 3, now_ms, items[2].integer);
}

static hf__next look_after_sleep(hf__cache_steps *steps)
{
    steps->looks = 0;
    steps->waited = true;
    if (hf__clock_boot_ms() < steps->procedure.until_ms)
        return ask_store(steps, HF__CACHE_LOOK);
    if (may_return_after_error(steps))
        return end_found(steps, HF_CACHE_OLD_ERROR);
    return end_steps(steps,
                     hf__fail(&steps->detail, HF_TIMEOUT,
                              "timed out after %lld ms waiting for another "
                              "client to fill it",
                              (long long)steps->options.wait_ms));
}

/* ------------------------------------------------------------------- STORE */

static hf__next store_value(hf__cache_steps *steps)
{
    int64_t took_us = hf__clock_boot_us() - steps->leased_us;

    steps->took_ms = (took_us + 999) / 1000;
    if (steps->filled != HF_OK)
        steps->value = hf_str("");
    return ask_store(steps, HF__CACHE_STORE);
}

static hf__next read_store(hf__cache_steps *steps)
{
    hf_status stored = steps->ask.status;

    if (stored == HF_OK && is_put(steps) && hf__request_missed(&steps->ask))
        stored = HF_INDETERMINATE;
    if (steps->filled == HF_OK) {
        steps->from_fill = true;
        steps->fill_status = stored;
        steps->source = stored == HF_OK && steps->ask.reply.integer == 1
                            ? HF_CACHE_FILLED
                            : HF_CACHE_FILLED_ALONE;
        return end_steps(steps, HF_OK);
    }
    steps->fill_status = steps->filled;
    if (steps->filled == HF_NOT_FOUND)
        return fail_steps(steps, HF_NOT_FOUND, "the fill found no value");
    if (may_return_after_error(steps))
        return end_found(steps, HF_CACHE_OLD_ERROR);
    return end_steps(steps, hf__fail(&steps->detail, steps->filled,
                                     "the fill failed: %s",
                                     hf_status_text(steps->filled)));
}

hf__next hf__cache_steps_give_back(hf__cache_steps *steps)
{
    steps->options.error_ms = 0;
    steps->filled = HF_CANCELLED;
    return store_value(steps);
}

/* What has been leased or filled is still ended. */
static hf__next cancel_steps(hf__cache_steps *steps)
{
    if (steps->stage == HF__CACHE_STORE)
        return HF__ASK;
    if (steps->packed != NULL)
        return hf__cache_steps_give_back(steps);
    return fail_steps(steps, HF_CANCELLED, HF__INTERRUPTED);
}

static hf__next read_answer(hf__cache_steps *steps)
{
    hf__request *request =
        steps->stage == HF__CACHE_LOOK ? &steps->look : &steps->ask;

    if (steps->stage == HF__CACHE_STORE)
        return read_store(steps);
    if (request->status != HF_OK) {
        hf__fail_copy(&steps->detail, &request->error);
        if (request->status == HF_WRONG_TYPE)
            hf__wrong_type_name(request, &steps->detail);
        return end_steps(steps, request->status);
    }
    return steps->stage == HF__CACHE_LOOK ? judge_entry(steps)
                                          : read_lease(steps);
}

hf__next hf__cache_step(hf__procedure *procedure, hf__happened what)
{
    hf__cache_steps *steps = steps_of(procedure);

    switch (what) {
    case HF__ANSWERED:
        return read_answer(steps);
    case HF__RESUMED:
        return store_value(steps);
    case HF__CANCELLED:
        return cancel_steps(steps);
    case HF__CLOSED:
        return fail_steps(steps, HF_UNAVAILABLE, "the client is closed");
    case HF__FAILED:
        return end_steps(steps, steps->detail.status);
    case HF__EVENT:
    case HF__TIME:
    case HF__LISTENS:
    case HF__RETURNED:
        break;
    }
    return look_after_sleep(steps);
}
