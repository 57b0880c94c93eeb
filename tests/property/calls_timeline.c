/* SPDX-License-Identifier: Apache-2.0 */
/* calls_timeline.c - the calls of timeline.h, on one timeline. */
#include <stdlib.h>
#include <string.h>

#include "holdfast/timeline.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -------------------------------------------------------------------- items */

static const hf_attribute *named(const hf_attribute *list, size_t count,
                                 char name)
{
    for (size_t i = 0; i < count; i++) {
        if (*(const char *)list[i].name.data == name)
            return &list[i];
    }
    return NULL;
}

/* One that is read: what the list lacks, or has too many of, is shown. */
static void show(text *out, const hf_timeline_item *item)
{
    text_add(out, " ");
    text_bytes(out, item->id);
    text_add(out, "=");
    text_bytes(out, item->payload);
    text_add(out, " at=%lld", (long long)item->at_ms);
    text_ttl(out, item->ttl_ms);
    for (char name = 'a'; name <= 'b'; name++) {
        const hf_attribute *found =
            named(item->attributes, item->attribute_count, name);

        if (found != NULL && found->kind == HF_ATTRIBUTE_NUMBER)
            text_add(out, " %c=%g", name, found->number);
        else if (found != NULL)
            text_bytes(out, found->text);
    }
    text_add(out, " %zu;", item->attribute_count);
}

static void show_model(text *out, const model_item *item, size_t number)
{
    hf_timeline_item same = {
        .id = item_id(number),
        .payload = hf_view(item->payload.data, item->payload.size),
        .at_ms = item->at_ms,
        .ttl_ms = ttl_ms(item->ttl),
    };

    same.attributes = item->attributes;
    same.attribute_count = item->attribute_count;
    show(out, &same);
}

static void show_items(text *out, hf_timeline_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        show(out, &items->items[i]);
    hf_timeline_items_free(items);
}

/* ------------------------------------------------------------------- orders */

/* An order, and which items are in it. */
typedef struct order {
    const model *m;
    char by; /* attribute; 0: time */
    bool ascending;
    const hf_attribute *equals;
    int64_t from_ms, to_ms;
} order;

static const hf_attribute *attribute_of(const model *m, size_t item, char name)
{
    return named(m->items[item].attributes, m->items[item].attribute_count,
                 name);
}

static int compare_bytes(hf_bytes a, hf_bytes b)
{
    int sign = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);

    return sign != 0 ? sign : (a.size > b.size) - (a.size < b.size);
}

static int compare_attributes(const hf_attribute *a, const hf_attribute *b)
{
    if (a->kind != b->kind)
        return a->kind == HF_ATTRIBUTE_NUMBER ? -1 : 1;
    if (a->kind == HF_ATTRIBUTE_TEXT)
        return compare_bytes(a->text, b->text);
    return (a->number > b->number) - (a->number < b->number);
}

/* Ids are in the order of their numbers. */
static int compare_items(const order *by, size_t a, size_t b)
{
    const model_item *items = by->m->items;
    int sign = 0;

    if (by->by != 0)
        sign = compare_attributes(attribute_of(by->m, a, by->by),
                                  attribute_of(by->m, b, by->by));
    if (sign == 0)
        sign = (items[a].at_ms > items[b].at_ms) -
               (items[a].at_ms < items[b].at_ms);
    if (sign == 0)
        sign = (a < b) != model_cheats(by->m, "ties") ? -1 : 1;
    return by->ascending ? sign : -sign;
}

static bool is_in(const order *by, size_t item)
{
    const model_item *at = &by->m->items[item];
    const hf_attribute *has;

    if (!at->there || at->at_ms < by->from_ms ||
        (by->to_ms != 0 && at->at_ms > by->to_ms))
        return false;
    if (by->by != 0 && attribute_of(by->m, item, by->by) == NULL)
        return false;
    if (by->equals == NULL)
        return true;
    has = attribute_of(by->m, item, *(const char *)by->equals->name.data);
    return has != NULL && compare_attributes(has, by->equals) == 0;
}

/* By insertion. */
static size_t sort(const order *by, size_t found[ITEMS])
{
    size_t count = 0;

    for (size_t item = 0; item < ITEMS; item++) {
        size_t at = count;

        if (!is_in(by, item))
            continue;
        for (; at > 0 && compare_items(by, found[at - 1], item) > 0; at--)
            found[at] = found[at - 1];
        found[at] = item;
        count++;
    }
    return count;
}

static void show_order(text *out, const order *by, size_t offset, size_t limit)
{
    size_t found[ITEMS];
    size_t count = sort(by, found);

    for (size_t i = offset; i < count && i < offset + limit; i++)
        show_model(out, &by->m->items[found[i]], found[i]);
}

/* ------------------------------------------------------------- add, remove */

static void run_add(place *at, const step *s, text *out)
{
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;

    opts.at_ms = at_ms_at(s, 2);
    opts.attributes = attributes_of(attributes_at(s, 4), &opts.attribute_count);
    opts.flags = s->n[5] % 4 == 3 ? HF_TIMELINE_NX : 0;
    text_status(out, CALL(at, hf_timeline_add, at->client, timeline_name(),
                          item_id(item_at(s, 0)), value_at(s, 1),
                          ttl_ms(item_ttl_at(s, 3)), &opts));
}

/* Those of the step, and the others that are there. */
static void merge_attributes(model_item *item, const step *s, size_t i)
{
    size_t count;
    const hf_attribute *given = attributes_of(attributes_at(s, i), &count);

    for (size_t k = 0; k < count; k++) {
        size_t at = 0;

        while (at < item->attribute_count &&
               *(const char *)item->attributes[at].name.data !=
                   *(const char *)given[k].name.data)
            at++;
        item->attributes[at] = given[k];
        item->attribute_count += at == item->attribute_count;
    }
}

static void expect_add(model *m, const step *s, text *out)
{
    model_item *item = &m->items[item_at(s, 0)];

    if (s->n[5] % 4 == 3 && item->there) {
        text_status(out, HF_CONFLICT);
        return;
    }
    *item = (model_item){.there = true,
                         .at_ms = at_ms_at(s, 2),
                         .ttl = item_ttl_at(s, 3),
                         .payload = blob_of(value_at(s, 1))};
    merge_attributes(item, s, 4);
    text_status(out, HF_OK);
}

/* Bits of the last number: what is changed. */
static bool changes(const step *s, unsigned bit)
{
    return (s->n[5] >> bit & 1) != 0;
}

static void run_update(place *at, const step *s, text *out)
{
    hf_timeline_update_options opts = HF_TIMELINE_UPDATE_OPTIONS_INIT;
    hf_bytes payload = value_at(s, 1);

    opts.payload = changes(s, 0) ? &payload : NULL;
    opts.at_ms = changes(s, 1) ? at_ms_at(s, 2) : 0;
    opts.ttl_ms = changes(s, 2) ? ttl_ms(item_ttl_at(s, 3)) : 0;
    if (changes(s, 3))
        opts.attributes =
            attributes_of(attributes_at(s, 4), &opts.attribute_count);
    opts.flags = changes(s, 4) ? HF_TIMELINE_REPLACE : 0;
    text_status(out, CALL(at, hf_timeline_update, at->client, timeline_name(),
                          item_id(item_at(s, 0)), &opts));
}

static void expect_update(model *m, const step *s, text *out)
{
    model_item *item = &m->items[item_at(s, 0)];

    text_status(out, item->there ? HF_OK : HF_NOT_FOUND);
    if (!item->there)
        return;
    if (changes(s, 0))
        item->payload = blob_of(value_at(s, 1));
    if (changes(s, 1))
        item->at_ms = at_ms_at(s, 2);
    if (changes(s, 2))
        item->ttl = item_ttl_at(s, 3);
    if (changes(s, 4))
        item->attribute_count = 0;
    if (changes(s, 3))
        merge_attributes(item, s, 4);
}

static void run_remove(place *at, const step *s, text *out)
{
    text_status(out, CALL(at, hf_timeline_remove, at->client, timeline_name(),
                          item_id(item_at(s, 0))));
}

static void expect_remove(model *m, const step *s, text *out)
{
    model_item *item = &m->items[item_at(s, 0)];

    text_status(out, item->there ? HF_OK : HF_NOT_FOUND);
    item->there = false;
}

/* ------------------------------------------------------------------ reading */

static void run_get(place *at, const step *s, text *out)
{
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;

    text_status(out, CALL(at, hf_timeline_get, at->client, timeline_name(),
                          item_id(item_at(s, 0)), &found));
    show_items(out, &found);
}

static void expect_get(model *m, const step *s, text *out)
{
    const model_item *item = &m->items[item_at(s, 0)];

    text_status(out, item->there ? HF_OK : HF_NOT_FOUND);
    if (item->there)
        show_model(out, item, item_at(s, 0));
}

/* Numbers 0: order, by attribute b, a or time; 1: direction; 2: offset;
 * 3: limit; 4: the attributes of which the first filters. */
static order order_of(const model *m, const step *s)
{
    static const char names[] = {0, 'a', 'b', 0};
    order by = {.m = m, .by = names[s->n[0] % COUNT(names)]};
    size_t count;
    const hf_attribute *list = attributes_of(attributes_at(s, 4), &count);

    by.ascending = s->n[1] % 2 == 1;
    by.equals = count > 0 ? list : NULL;
    return by;
}

/* Where items on the way are left out there is none. */
static size_t offset_of(const order *by, const step *s)
{
    return by->by != 0 && by->equals != NULL ? 0 : s->n[2] % ITEMS;
}

static hf_timeline_page_options options_of(const order *by, const step *s)
{
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;

    opts.flags = by->ascending ? HF_TIMELINE_ASCENDING : 0;
    opts.limit = 1 + s->n[3] % ITEMS;
    opts.order_by = hf_view(&by->by, by->by == 0 ? 0 : 1);
    opts.equals = by->equals;
    return opts;
}

static void run_page(place *at, const step *s, text *out)
{
    order by = order_of(NULL, s);
    hf_timeline_page_options opts = options_of(&by, s);
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    opts.offset = offset_of(&by, s);
    text_status(out, CALL(at, hf_timeline_page, at->client, timeline_name(),
                          &opts, &page));
    show_items(out, &page);
}

static void expect_page(model *m, const step *s, text *out)
{
    order by = order_of(m, s);

    text_status(out, HF_OK);
    show_order(out, &by, offset_of(&by, s), 1 + s->n[3] % ITEMS);
}

/* All pages, each by the cursor of the one before. */
static void run_pages(place *at, const step *s, text *out)
{
    order by = order_of(NULL, s);
    hf_timeline_page_options opts = options_of(&by, s);
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    char cursor[4096];
    hf_status status;

    do {
        status = CALL(at, hf_timeline_page, at->client, timeline_name(), &opts,
                      &page);
        opts.cursor = hf_view(cursor, page.next.size);
        if (page.next.size > sizeof(cursor))
            abort();
        memcpy(cursor, page.next.size == 0 ? "" : page.next.data,
               page.next.size);
        show_items(out, &page);
    } while (status == HF_OK && opts.cursor.size > 0);
    text_status(out, status);
}

static void expect_pages(model *m, const step *s, text *out)
{
    order by = order_of(m, s);

    show_order(out, &by, 0, ITEMS);
    text_status(out, HF_OK);
}

static void run_range(place *at, const step *s, text *out)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    text_status(out,
                CALL(at, hf_timeline_range, at->client, timeline_name(),
                     at_ms_at(s, 0), at_ms_at(s, 1), 1 + s->n[2] % 8, &page));
    show_items(out, &page);
}

static void expect_range(model *m, const step *s, text *out)
{
    order by = {.m = m, .ascending = true};

    by.from_ms = at_ms_at(s, 0);
    by.to_ms = at_ms_at(s, 1);
    text_status(out, HF_OK);
    show_order(out, &by, 0, 1 + s->n[2] % 8);
}

/* By time if number 1 is even, else all but the newest few. */
static void run_trim(place *at, const step *s, text *out)
{
    bool by_time = s->n[1] % 2 == 0;
    hf_timeline_trimmed trimmed = {0, 0};

    text_status(out, CALL(at, hf_timeline_trim, at->client, timeline_name(),
                          by_time ? at_ms_at(s, 0) : 0,
                          by_time ? -1 : s->n[2] % ITEMS, &trimmed));
    text_add(out, " %zu %d", trimmed.removed, trimmed.more);
}

static void expect_trim(model *m, const step *s, text *out)
{
    order by = {.m = m, .ascending = true};
    bool by_time = s->n[1] % 2 == 0;
    size_t found[ITEMS], removed = 0;
    size_t count = sort(&by, found);

    for (size_t i = 0; i < count; i++) {
        model_item *item = &m->items[found[i]];

        if (by_time ? item->at_ms <= at_ms_at(s, 0)
                    : i + s->n[2] % ITEMS < count) {
            item->there = false;
            removed++;
        }
    }
    text_add(out, "%s %zu 0", hf_status_name(HF_OK), removed);
}

const call timeline_calls[] = {
    {"timeline add", "ivmlan", run_add, expect_add},
    {"timeline add", "ivmlan", run_add, expect_add},
    {"timeline add", "ivmlan", run_add, expect_add},
    {"timeline update", "ivmlan", run_update, expect_update},
    {"timeline update", "ivmlan", run_update, expect_update},
    {"timeline remove", "i", run_remove, expect_remove},
    {"timeline trim", "mnn", run_trim, expect_trim},
    {"timeline get", "i", run_get, expect_get},
    {"timeline page", "nnnna", run_page, expect_page},
    {"timeline pages", "nnnna", run_pages, expect_pages},
    {"timeline range", "mmn", run_range, expect_range},
};
const size_t timeline_call_count = COUNT(timeline_calls);

/* ---------------------------------------------------------------------- all */

void timeline_read_store(hf_client *client, text *out)
{
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    size_t count = 0;

    opts.flags = HF_TIMELINE_ASCENDING;
    text_status(out, hf_timeline_count(client, timeline_name(), &count, NULL));
    text_add(out, " %zu:", count);
    text_status(out,
                hf_timeline_page(client, timeline_name(), &opts, &page, NULL));
    show_items(out, &page);
}

void timeline_read_model(const model *m, text *out)
{
    order by = {.m = m, .ascending = true};
    size_t found[ITEMS];

    text_add(out, "%s %zu:", hf_status_name(HF_OK), sort(&by, found));
    text_status(out, HF_OK);
    show_order(out, &by, 0, ITEMS);
}

void timeline_empty(hf_client *client)
{
    for (size_t i = 0; i < ITEMS; i++)
        (void)!hf_timeline_remove(client, timeline_name(), item_id(i), NULL);
}
