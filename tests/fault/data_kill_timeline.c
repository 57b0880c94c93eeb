/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_kill_timeline.c - a timeline: odd operations add an item, even ones
 * remove the oldest or, as long as there are few, update the newest. Reading
 * it back compares what pages show with its keys (scripts/README.md): no id
 * without a payload, no payload, deadline, attribute or position without an id.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_kill.h"
#include "holdfast/script.h"
#include "holdfast/timeline.h"

/* Items after an even operation, once there are so many. */
#define LENGTH 3u
#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})

/* After operation n there are the items from removed(n) + 1 to added(n). The
 * payload of an item is the number of the operation that wrote it. */
static uint32_t added(uint32_t n)
{
    return (n + 1) / 2;
}

static uint32_t removed(uint32_t n)
{
    return n / 2 > LENGTH ? n / 2 - LENGTH : 0;
}

typedef struct digits {
    char text[16];
} digits;

static hf_bytes bytes_of(digits *at, uint32_t number)
{
    snprintf(at->text, sizeof(at->text), "%u", (unsigned)number);
    return hf_str(at->text);
}

static uint32_t number_of(hf_bytes bytes)
{
    digits copy = {""};

    memcpy(copy.text, bytes.data,
           bytes.size < sizeof(copy.text) ? bytes.size : sizeof(copy.text) - 1);
    return (uint32_t)strtoul(copy.text, NULL, 10);
}

hf_status act_timeline(worker *self, uint32_t n)
{
    digits id, payload;
    const hf_attribute attributes[] = {
        hf_attribute_number(hf_str("number"), n),
        hf_attribute_text(hf_str("text"), bytes_of(&payload, n))};

    const hf_bytes written = bytes_of(&payload, n);

    if (n % 2 == 0 && removed(n) == 0)
        return hf_timeline_update(
            self->client, self->key, bytes_of(&id, added(n)),
            WITH(hf_timeline_update_options, .payload = &written,
                 .ttl_ms = TTL_MS, .attributes = attributes,
                 .attribute_count = 2),
            &self->err);
    if (n % 2 == 0)
        return hf_timeline_remove(self->client, self->key,
                                  bytes_of(&id, removed(n)), &self->err);
    return hf_timeline_add(self->client, self->key, bytes_of(&id, added(n)),
                           bytes_of(&payload, n), TTL_MS,
                           WITH(hf_timeline_add_options, .at_ms = added(n),
                                .attributes = attributes, .attribute_count = 2),
                           &self->err);
}

/* Sizes of the five keys; each item has three positions. */
static bool keys_agree(worker *self, size_t count, char say[TEXT_SIZE])
{
    static const char source[] =
        "local c, k = redis.call, KEYS "
        "return {c('zcard', k[1]), c('hlen', k[2]), c('hlen', k[3]), "
        "c('zcard', k[4]), c('zcard', k[5])}";
    static const char *const roles[] = {
        "", "hf:items::", "hf:labels::", "hf:due::", "hf:order::"};
    char names[5][128];
    hf_bytes keys[5];
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    hf_status status =
        hf_script_load(self->client, hf_str(source), &script, &self->err);
    bool agree = status == HF_OK;

    for (size_t i = 0; i < 5; i++) {
        snprintf(names[i], sizeof(names[i]), "%s%s", roles[i], self->name);
        keys[i] = hf_str(names[i]);
    }
    if (agree)
        agree = hf_script_run(script, keys, 5, NULL, 0, &reply, &self->err) ==
                HF_OK;
    for (size_t i = 0; i < 5 && agree; i++) {
        int64_t size = hf_reply_integer(hf_reply_at(reply, i));

        if (size != (int64_t)(i == 4 ? 3 * count : count)) {
            agree = false;
            snprintf(say, TEXT_SIZE,
                     "%s has %lld elements, not those of %zu "
                     "items",
                     names[i], (long long)size, count);
        }
    }
    hf_reply_free(reply);
    hf_script_free(script);
    return agree;
}

static bool is_whole(const hf_timeline_item *item, uint32_t id)
{
    uint32_t n = number_of(item->payload);

    return number_of(item->id) == id && added(n) == id &&
           item->attribute_count == 2 && item->at_ms == id;
}

/* The operation after which these are the items. */
static uint32_t state_of(const hf_timeline_items *page, const char *name,
                         char say[TEXT_SIZE])
{
    uint32_t first, n;

    if (page->count == 0)
        return 0;
    first = number_of(page->items[0].id);
    for (uint32_t i = 0; i < page->count; i++) {
        if (!is_whole(&page->items[i], first + i))
            return broken(say, "half an item: %u of %s", (unsigned)(first + i),
                          name);
    }
    n = number_of(page->items[page->count - 1].payload);
    if (first == removed(n) + 1)
        return n;
    return first == removed(n + 1) + 1
               ? n + 1
               : broken(say, "%s begins with item %u after operation %u", name,
                        (unsigned)first, (unsigned)n);
}

/* As a page and its keys say; false: not the same. */
static bool read_once(worker *self, char say[TEXT_SIZE], uint32_t *n)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    bool agree;

    if (hf_timeline_page(
            self->client, self->key,
            WITH(hf_timeline_page_options, .flags = HF_TIMELINE_ASCENDING),
            &page, &self->err) != HF_OK) {
        *n = broken(say, "%s: %s", self->name, self->err.message);
        return true;
    }
    agree = keys_agree(self, page.count, say);
    *n = agree ? state_of(&page, self->name, say) : STATE_BROKEN;
    hf_timeline_items_free(&page);
    return agree;
}

/* The one operation that the dead had begun may be applied between the two
 * requests. On an embedded store, too: a commit that was written but not
 * announced is seen by the next writer first, and the keys are counted by one.
 */
uint32_t read_timeline(worker *self, char say[TEXT_SIZE])
{
    uint32_t n;

    if (!read_once(self, say, &n))
        (void)read_once(self, say, &n);
    return n;
}
