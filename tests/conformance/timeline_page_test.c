/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_page_test.c - pages of a timeline: orders, filters, offsets,
 * cursors. Each test reads the same items unless it says otherwise.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/timeline.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* id, time, price, state. The time sorts by id, but for "e" and "d". */
static const struct {
    const char *id;
    int64_t at_ms;
    double price; /* NaN: none */
    const char *state;
} items[] = {
    {"a", 1000, 5, "open"},          {"b", 2000, -1.5, "open"},
    {"c", 3000, NAN, "closed"},      {"d", 4000, 1e300, NULL},
    {"e", 4000, 5, "open"},          {"f", 5000, -1e-300, "op"},
    {"g", 6000, 0, "open\0x"},       {"h", 7000, -2000000, ""},
    {"i", 8000, 0.25, "\xff\xfe z"},
};
#define ITEM_COUNT (sizeof(items) / sizeof(items[0]))

static hf_bytes fill(fixture *f)
{
    hf_bytes key = fixture_key(f, "t");

    for (size_t i = ITEM_COUNT; i-- > 0;) {
        hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
        hf_attribute attributes[2];

        opts.at_ms = items[i].at_ms;
        opts.attributes = attributes;
        if (!isnan(items[i].price))
            attributes[opts.attribute_count++] =
                hf_attribute_number(bytes("price"), items[i].price);
        if (items[i].id[0] == 'g')
            attributes[opts.attribute_count++] =
                hf_attribute_text(bytes("state"), bytes("open\0x"));
        else if (items[i].state != NULL)
            attributes[opts.attribute_count++] =
                hf_attribute_text(bytes("state"), hf_str(items[i].state));
        expect_status(HF_OK,
                      hf_timeline_add(f->client, key, hf_str(items[i].id),
                                      bytes("x"), 600000, &opts, ERR));
    }
    return key;
}

static void append_ids(char ids[512], const hf_timeline_items *page)
{
    for (size_t i = 0; i < page->count; i++)
        snprintf(ids + strlen(ids), 512 - strlen(ids), "%.*s",
                 (int)page->items[i].id.size,
                 (const char *)page->items[i].id.data);
}

/* Of those that a call looks at. */
static void assert_count(fixture *f, hf_bytes key,
                         const hf_timeline_page_options *opts, size_t want,
                         bool is_all)
{
    hf_buffer next = HF_BUFFER_INIT;
    size_t count = 99;

    expect_status(HF_OK, hf_timeline_count_matching(f->other, key, opts, &count,
                                                    &next, ERR));
    assert_int_equal(count, want);
    assert_int_equal(next.size == 0, is_all);
    hf_buffer_free(&next);
}

static void assert_page(fixture *f, hf_bytes key,
                        const hf_timeline_page_options *opts, const char *want)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    char ids[512] = "";

    expect_status(HF_OK, hf_timeline_page(f->other, key, opts, &page, ERR));
    append_ids(ids, &page);
    assert_string_equal(ids, want);
    hf_timeline_items_free(&page);
    if (opts == NULL || (opts->limit == 0 && opts->offset == 0))
        assert_count(f, key, opts, strlen(want), true);
}

/* In both directions. */
static void assert_order(fixture *f, hf_bytes key,
                         hf_timeline_page_options opts, const char *want)
{
    char reversed[64] = "";
    size_t size = strlen(want);

    for (size_t i = 0; i < size; i++)
        reversed[i] = want[size - 1 - i];
    opts.flags = HF_TIMELINE_ASCENDING;
    assert_page(f, key, &opts, want);
    opts.flags = 0;
    assert_page(f, key, &opts, reversed);
}

static hf_timeline_page_options by(const char *name)
{
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;

    if (name != NULL)
        opts.order_by = hf_str(name);
    return opts;
}

TEST(page_is_by_time_and_newest_first)
{
    fixture *f = *state;
    hf_bytes key = fill(f);

    assert_page(f, key, NULL, "ihgfedcba");
    assert_order(f, key, by(NULL), "abcdefghi");
}

TEST(numbers_are_ordered_as_numbers)
{
    fixture *f = *state;

    assert_order(f, fill(f), by("price"), "hbfgiaed");
}

TEST(texts_are_ordered_by_their_bytes)
{
    fixture *f = *state;

    assert_order(f, fill(f), by("state"), "hcfabegi");
}

TEST(order_by_an_unknown_attribute_is_empty)
{
    fixture *f = *state;
    hf_bytes key = fill(f);

    assert_order(f, key, by("pric"), "");
    assert_order(f, key, by("price2"), "");
}

TEST(numbers_come_before_texts)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attribute = hf_attribute_text(bytes("n"), bytes("1"));
    double low = -INFINITY;
    hf_timeline_page_options page = by("n");

    opts.attributes = &attribute;
    opts.attribute_count = 1;
    expect_status(HF_OK, hf_timeline_add(f->client, key, bytes("t"), bytes(""),
                                         60000, &opts, ERR));
    attribute = hf_attribute_number(bytes("n"), 1e308);
    expect_status(HF_OK, hf_timeline_add(f->client, key, bytes("n"), bytes(""),
                                         60000, &opts, ERR));
    assert_order(f, key, page, "nt");
    page.min = &low;
    assert_order(f, key, page, "n");
}

TEST(filters_keep_the_order_of_an_attribute)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_attribute wanted = hf_attribute_text(bytes("state"), bytes("open"));
    hf_timeline_page_options opts = by("price");
    double low = 5;

    opts.equals = &wanted;
    assert_order(f, key, opts, "bae");
    opts.min = &low;
    assert_order(f, key, opts, "ae");
    opts.min = NULL;
    opts.from_ms = 2000;
    assert_order(f, key, opts, "be");
    opts.to_ms = 3999;
    assert_order(f, key, opts, "b");
    wanted.text = bytes("none");
    assert_order(f, key, opts, "");
    opts = by("price");
    opts.to_ms = 4999;
    assert_order(f, key, opts, "baed");
    opts = by("state");
    opts.equals = &wanted;
    wanted = hf_attribute_number(bytes("price"), 5);
    assert_order(f, key, opts, "ae");
}

static void add_ranked(fixture *f, hf_bytes key, unsigned from)
{
    static char ids[500][16];
    static hf_attribute attributes[500][2];
    hf_timeline_add_item list[500];
    hf_status statuses[500];

    for (unsigned i = 0; i < 500; i++) {
        bool last = from + i == HF_TIMELINE_LOOK_MAX + 250;

        (void)snprintf(ids[i], sizeof(ids[i]), "i%u", from + i);
        attributes[i][0] = hf_attribute_number(bytes("n"), from + i);
        attributes[i][1] = hf_attribute_text(bytes("last"), bytes("yes"));
        list[i] = (hf_timeline_add_item){.id = hf_str(ids[i]),
                                         .ttl_ms = 600000,
                                         .attributes = attributes[i],
                                         .attribute_count = last ? 2 : 1};
    }
    expect_status(HF_OK, hf_timeline_add_many(f->client, key, list, 500, 0,
                                              statuses, ERR));
}

/* The page ends, and the next one has the item. */
TEST(far_item_is_found_by_more_than_one_page)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_attribute wanted = hf_attribute_text(bytes("last"), bytes("yes"));
    hf_timeline_page_options opts = by("n");
    hf_timeline_items first = HF_TIMELINE_ITEMS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    for (unsigned i = 0; i < HF_TIMELINE_LOOK_MAX + 500; i += 500)
        add_ranked(f, key, i);
    opts.equals = &wanted;
    opts.flags = HF_TIMELINE_ASCENDING;
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &first, ERR));
    assert_int_equal(first.count, 0);
    assert_true(first.next.size > 0);
    opts.cursor = first.next;
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &page, ERR));
    assert_int_equal(page.count, 1);
    assert_bytes(page.items[0].id, bytes("i5250"));
    assert_int_equal(page.next.size, 0);
    hf_timeline_items_free(&page);
    hf_timeline_items_free(&first);
}

TEST(count_of_many_items_takes_several_calls)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t"), empty = fixture_key(f, "none");
    hf_bytes value = fixture_key(f, "v");
    hf_attribute wanted = hf_attribute_text(bytes("last"), bytes("yes"));
    hf_timeline_page_options opts = by("n");
    hf_buffer next = HF_BUFFER_INIT, rest = HF_BUFFER_INIT;
    size_t count = 0;

    for (unsigned i = 0; i < HF_TIMELINE_LOOK_MAX + 500; i += 500)
        add_ranked(f, key, i);
    expect_status(HF_OK, hf_timeline_count_matching(f->client, key, &opts,
                                                    &count, &next, ERR));
    assert_int_equal(count, HF_TIMELINE_LOOK_MAX);
    opts.cursor = hf_view(next.data, next.size);
    expect_status(HF_OK, hf_timeline_count_matching(f->client, key, &opts,
                                                    &count, &rest, ERR));
    assert_int_equal(count, 500);
    assert_int_equal(rest.size, 0);
    hf_buffer_free(&rest);
    hf_buffer_free(&next);
    opts = by("n");
    opts.equals = &wanted;
    assert_count(f, key, &opts, 1, false); /* from the greatest on */
    opts.flags = HF_TIMELINE_ASCENDING;
    assert_count(f, key, &opts, 0, false);
    opts.order_by = bytes("");
    assert_count(f, key, &opts, 1, true);
    assert_count(f, empty, NULL, 0, true);
    put_value(f->client, value, bytes("v"), 0);
    expect_status(
        HF_WRONG_TYPE,
        hf_timeline_count_matching(f->client, value, NULL, &count, &next, ERR));
    expect_status(HF_INVALID, hf_timeline_count_matching(f->client, key, NULL,
                                                         NULL, &next, ERR));
    assert_string_equal(expect_message(), "count is NULL");
    expect_status(HF_INVALID, hf_timeline_count_matching(f->client, key, NULL,
                                                         &count, NULL, ERR));
    assert_string_equal(expect_message(), "next is NULL");
}

TEST(equal_filter_keeps_the_order_of_time)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_attribute wanted = hf_attribute_text(bytes("state"), bytes("open"));
    hf_timeline_page_options opts = by(NULL);

    opts.equals = &wanted;
    assert_order(f, key, opts, "abe");
    opts.from_ms = 2000;
    assert_order(f, key, opts, "be");
    opts.to_ms = 3999;
    assert_order(f, key, opts, "b");
    opts.from_ms = opts.to_ms = 0;
    wanted.text = bytes("open\0x");
    assert_order(f, key, opts, "g");
    wanted.text = bytes("");
    assert_order(f, key, opts, "h");
    wanted.text = bytes("ope");
    assert_order(f, key, opts, "");
    wanted = hf_attribute_number(bytes("price"), 5);
    assert_order(f, key, opts, "ae");
    wanted.number = -0.0;
    assert_order(f, key, opts, "g");
}

TEST(number_filter_includes_both_ends)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_timeline_page_options opts = by("price");
    double low = -1.5;
    double high = 5;

    opts.min = &low;
    assert_order(f, key, opts, "bfgiaed");
    opts.max = &high;
    assert_order(f, key, opts, "bfgiae");
    opts.min = NULL;
    assert_order(f, key, opts, "hbfgiae");
    low = 5;
    opts.min = &low;
    assert_order(f, key, opts, "ae");
    low = 6;
    assert_order(f, key, opts, "");
    low = -INFINITY;
    high = INFINITY;
    assert_order(f, key, opts, "hbfgiaed");
    low = INFINITY;
    assert_order(f, key, opts, "");
}

TEST(time_filter_includes_both_ends)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_timeline_page_options opts = by(NULL);
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    char ids[512] = "";

    opts.from_ms = 4000;
    assert_order(f, key, opts, "defghi");
    opts.to_ms = 7000;
    assert_order(f, key, opts, "defgh");
    opts.to_ms = 4000;
    assert_order(f, key, opts, "de");
    opts.to_ms = 3000;
    assert_order(f, key, opts, "");
    expect_status(HF_OK,
                  hf_timeline_range(f->client, key, 2000, 6000, 3, &page, ERR));
    append_ids(ids, &page);
    assert_string_equal(ids, "bcd");
    hf_timeline_items_free(&page);
    expect_status(HF_OK,
                  hf_timeline_range(f->client, key, 2000, 6000, 0, &page, ERR));
    append_ids(ids, &page);
    assert_string_equal(ids, "bcdbcdefg");
    hf_timeline_items_free(&page);
}

TEST(offset_and_limit_cut_a_page)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_timeline_page_options opts = by("price");

    opts.limit = 3;
    assert_page(f, key, &opts, "dea");
    opts.offset = 3;
    assert_page(f, key, &opts, "igf");
    opts.offset = 7;
    assert_page(f, key, &opts, "h");
    opts.offset = 8;
    assert_page(f, key, &opts, "");
    opts.offset = HF_TIMELINE_OFFSET_MAX;
    opts.limit = HF_TIMELINE_LIMIT_MAX;
    assert_page(f, key, &opts, "");
}

/* All pages of two items, one after another. */
static void assert_cursors(fixture *f, hf_bytes key,
                           hf_timeline_page_options opts, const char *want)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    char ids[512] = "";
    char cursor[2048];

    opts.limit = 2;
    for (size_t pages = 0; pages < 10; pages++) {
        bool more;

        expect_status(HF_OK,
                      hf_timeline_page(f->client, key, &opts, &page, ERR));
        append_ids(ids, &page);
        assert_true(page.next.size < sizeof(cursor));
        memcpy(cursor, page.next.data, page.next.size);
        opts.cursor = hf_view(cursor, page.next.size);
        more = page.next.size > 0;
        assert_int_equal(more, page.count == 2);
        hf_timeline_items_free(&page);
        if (!more)
            break;
    }
    assert_string_equal(ids, want);
}

TEST(cursor_continues_in_every_order)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_attribute wanted = hf_attribute_text(bytes("state"), bytes("open"));
    hf_timeline_page_options opts = by(NULL);

    assert_cursors(f, key, opts, "ihgfedcba");
    assert_cursors(f, key, by("price"), "deaigfbh");
    opts.flags = HF_TIMELINE_ASCENDING;
    assert_cursors(f, key, opts, "abcdefghi");
    opts.equals = &wanted;
    assert_cursors(f, key, opts, "abe");
    opts = by("state");
    opts.flags = HF_TIMELINE_ASCENDING;
    assert_cursors(f, key, opts, "hcfabegi");
}

/* Its item may be removed, and others added before it. */
TEST(cursor_stays_where_it_was)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_timeline_page_options opts = by(NULL);
    hf_timeline_add_options now = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    hf_timeline_items next = HF_TIMELINE_ITEMS_INIT;
    char ids[512] = "";

    opts.limit = 3;
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &page, ERR));
    expect_status(HF_OK, hf_timeline_remove(f->client, key, bytes("g"), ERR));
    now.at_ms = 9000;
    expect_status(HF_OK, hf_timeline_add(f->client, key, bytes("z"), bytes("x"),
                                         60000, &now, ERR));
    opts.cursor = page.next;
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &next, ERR));
    append_ids(ids, &next);
    assert_string_equal(ids, "fed");
    hf_timeline_items_free(&page);
    hf_timeline_items_free(&next);
}

static void expect_invalid(fixture *f, hf_timeline_page_options opts,
                           const char *message)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    expect_status(HF_INVALID,
                  hf_timeline_page(f->client, bytes("t"), &opts, &page, ERR));
    assert_string_equal(expect_message(), message);
    assert_null(page.items);
}

TEST(bad_limits_are_named)
{
    fixture *f = *state;
    hf_timeline_page_options opts = by(NULL);

    opts.limit = HF_TIMELINE_LIMIT_MAX + 1;
    expect_invalid(f, opts, "limit is 1001; it must be 0..1000");
    opts.limit = 0;
    opts.offset = HF_TIMELINE_OFFSET_MAX + 1;
    expect_invalid(f, opts,
                   "offset is 10001; it must be 0..10000: use a cursor");
    opts.offset = 0;
    opts.from_ms = -1;
    expect_invalid(f, opts, "from_ms is -1; it must be 0..9007199254740");
    opts.from_ms = 0;
    opts.to_ms = HF_TIMELINE_AT_MAX_MS + 1;
    expect_invalid(f, opts,
                   "to_ms is 9007199254741; it must be 0..9007199254740");
}

TEST(bad_orders_are_named)
{
    fixture *f = *state;
    hf_attribute wanted = hf_attribute_number(bytes("n"), NAN);
    hf_timeline_page_options opts = by(NULL);
    double number = NAN;

    opts.equals = &wanted;
    expect_invalid(f, opts, "attribute \"n\" is not a finite number");
    opts.order_by = bytes("n");
    expect_invalid(f, opts, "attribute \"n\" is not a finite number");
    wanted.number = 1;
    opts.offset = 1;
    expect_invalid(f, opts,
                   "order_by with equals, from_ms or to_ms excludes an offset: "
                   "use a cursor");
    opts.offset = 0;
    opts.equals = NULL;
    opts.max = &number;
    expect_invalid(f, opts, "max is not a number");
    opts.order_by = bytes("");
    number = 0;
    expect_invalid(f, opts, "min and max need order_by");
    opts = by("n");
    opts.to_ms = 1;
    opts.offset = 1;
    expect_invalid(f, opts,
                   "order_by with equals, from_ms or to_ms excludes an offset: "
                   "use a cursor");
    opts = by(NULL);
    opts.order_by = bytes("a\0b");
    expect_invalid(f, opts, "attribute name \"a\\x00b\" has a NUL");
}

TEST(foreign_cursors_are_refused)
{
    fixture *f = *state;
    hf_bytes key = fill(f);
    hf_timeline_page_options opts = by("price");
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    char cursor[2048];

    opts.limit = 1;
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &page, ERR));
    assert_true(page.next.size < sizeof(cursor));
    memcpy(cursor, page.next.data, page.next.size);
    opts.cursor = hf_view(cursor, page.next.size - 1);
    hf_timeline_items_free(&page);
    expect_invalid(f, opts, "the cursor is not one of this order");
    opts.cursor.size++;
    opts.order_by = bytes("state");
    expect_invalid(f, opts, "the cursor is not one of this order");
    opts.order_by = bytes("price");
    cursor[3] = 'g';
    expect_invalid(f, opts, "the cursor is not one of this order");
    opts.cursor = bytes("7072696365");
    expect_invalid(f, opts, "the cursor is not one of this order");
}
