/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_test.c - adding, reading, removing and counting items; what has
 * expired; bad input. Orders, filters and cursors are in
 * timeline_page_test.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/script.h"
#include "holdfast/timeline.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static void add(fixture *f, hf_bytes key, const char *id, int64_t at_ms,
                int64_t ttl_ms)
{
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    char payload[64];

    snprintf(payload, sizeof(payload), "payload of %s", id);
    opts.at_ms = at_ms;
    expect_status(HF_OK, hf_timeline_add(f->client, key, hf_str(id),
                                         hf_str(payload), ttl_ms, &opts, ERR));
}

static void assert_count(fixture *f, hf_bytes key, size_t want)
{
    size_t count = 12345;

    expect_status(HF_OK, hf_timeline_count(f->other, key, &count, ERR));
    assert_int_equal(count, want);
}

/* The ids of a page, oldest first, separated by blanks. */
static void assert_ids(fixture *f, hf_bytes key, const char *want)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    char ids[512] = "";

    expect_status(HF_OK,
                  hf_timeline_range(f->other, key, 0, 0, 100, &page, ERR));
    for (size_t i = 0; i < page.count; i++)
        snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s%.*s",
                 i > 0 ? " " : "", (int)page.items[i].id.size,
                 (const char *)page.items[i].id.data);
    assert_string_equal(ids, want);
    hf_timeline_items_free(&page);
}

TEST(added_item_is_read_by_another_client)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attributes[] = {
        hf_attribute_number(bytes("price"), -12.5),
        hf_attribute_text(bytes("state"), bytes("a\0b\0")),
        hf_attribute_text(bytes("empty"), bytes("")),
    };
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    const hf_timeline_item *item;

    opts.at_ms = 1540458292123;
    opts.attributes = attributes;
    opts.attribute_count = 3;
    expect_status(HF_OK,
                  hf_timeline_add(f->client, key, bytes("i\0d"),
                                  bytes("pay\0load\xff"), 60000, &opts, ERR));
    expect_status(HF_OK,
                  hf_timeline_get(f->other, key, bytes("i\0d"), &found, ERR));
    assert_int_equal(found.count, 1);
    item = &found.items[0];
    assert_bytes(bytes("i\0d"), item->id);
    assert_bytes(bytes("pay\0load\xff"), item->payload);
    assert_true(item->at_ms == 1540458292123);
    assert_in_range(item->ttl_ms, 1, 60000);
    assert_int_equal(item->attribute_count, 3);
    assert_bytes(bytes("price"), item->attributes[0].name);
    assert_true(item->attributes[0].kind == HF_ATTRIBUTE_NUMBER);
    assert_true(item->attributes[0].number <= -12.5 &&
                item->attributes[0].number >= -12.5);
    assert_bytes(bytes("a\0b\0"), item->attributes[1].text);
    assert_bytes(bytes(""), item->attributes[2].text);
    hf_timeline_items_free(&found);
    assert_count(f, key, 1);
}

TEST(items_are_ordered_by_time_then_by_id)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");

    add(f, key, "late", 3000, 60000);
    add(f, key, "b", 2000, 60000);
    add(f, key, "early", 1000, 60000);
    add(f, key, "a", 2000, 60000);
    assert_ids(f, key, "early a b late");
    assert_count(f, key, 4);
}

TEST(item_without_a_time_is_of_now)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");

    add(f, key, "z", 0, 60000);
    add(f, key, "y", 0, 60000);
    add(f, key, "past", 1540458292000, 60000);
    add(f, key, "x", 0, 60000);
    assert_ids(f, key, "past z y x");
}

TEST(add_replaces_the_item_with_the_id)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;

    add(f, key, "a", 1000, 60000);
    add(f, key, "b", 2000, 60000);
    add(f, key, "a", 3000, 30000);
    assert_ids(f, key, "b a");
    assert_count(f, key, 2);
    expect_status(HF_OK,
                  hf_timeline_get(f->client, key, bytes("a"), &found, ERR));
    assert_bytes(bytes("payload of a"), found.items[0].payload);
    assert_in_range(found.items[0].ttl_ms, 1, 30000);
    hf_timeline_items_free(&found);
}

TEST(add_nx_does_not_replace)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;

    opts.flags = HF_TIMELINE_NX;
    expect_status(HF_OK, hf_timeline_add(f->client, key, bytes("a"), bytes("1"),
                                         60000, &opts, ERR));
    expect_status(HF_CONFLICT, hf_timeline_add(f->client, key, bytes("a"),
                                               bytes("2"), 60000, &opts, ERR));
    expect_status(HF_OK,
                  hf_timeline_get(f->client, key, bytes("a"), &found, ERR));
    assert_bytes(bytes("1"), found.items[0].payload);
    hf_timeline_items_free(&found);
}

static bool item_is_gone(fixture *f, hf_bytes key, hf_bytes id)
{
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    hf_status status = hf_timeline_get(f->client, key, id, &found, NULL);

    hf_timeline_items_free(&found);
    return status == HF_NOT_FOUND;
}

TEST(removed_item_is_gone)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");

    add(f, key, "a", 1000, 60000);
    add(f, key, "b", 2000, 60000);
    expect_status(HF_OK, hf_timeline_remove(f->client, key, bytes("a"), ERR));
    expect_status(HF_NOT_FOUND,
                  hf_timeline_remove(f->client, key, bytes("a"), ERR));
    assert_true(item_is_gone(f, key, bytes("a")));
    assert_ids(f, key, "b");
    assert_count(f, key, 1);
}

/* The keys of a timeline are in the slot of its name. */
static void assert_no_keys(fixture *f, hf_bytes key)
{
    static const char *const roles[] = {"items", "labels", "due", "order"};
    char name[256];

    assert_no_key(f->client, key);
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "hf:%s:{%.*s}", roles[i], (int)key.size,
                 (const char *)key.data);
        assert_no_key(f->client, hf_str(name));
    }
}

TEST(nothing_remains_without_items)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attribute = hf_attribute_number(bytes("n"), 1);

    opts.attributes = &attribute;
    opts.attribute_count = 1;
    expect_status(HF_OK, hf_timeline_add(f->client, key, bytes("a"), bytes("1"),
                                         60000, &opts, ERR));
    add(f, key, "b", 1, 60000);
    expect_status(HF_OK, hf_timeline_remove(f->client, key, bytes("a"), ERR));
    expect_status(HF_OK, hf_timeline_remove(f->client, key, bytes("b"), ERR));
    assert_no_keys(f, key);
    expect_status(HF_OK, hf_timeline_add(f->client, key, bytes("a"), bytes("1"),
                                         1, &opts, ERR));
    expect_soon(key_is_gone(f->client, key), 1000);
    assert_no_keys(f, key);
}

TEST(key_lives_as_long_as_its_last_item)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");

    /* The store rounds its clock to ms in several places. */
    add(f, key, "a", 0, 60000);
    assert_ttl(f->client, key, 60001);
    add(f, key, "b", 0, 30000);
    assert_ttl(f->client, key, 60001);
    add(f, key, "c", 0, HF_TTL_MAX_MS);
    assert_ttl(f->client, key, HF_TTL_MAX_MS + 1);
}

static void assert_number_of_times(fixture *f, hf_bytes key, int64_t want)
{
    hf_script *script =
        fixture_script(f, f->client, "return redis.call('zcard', KEYS[1])");
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_true(hf_reply_integer(reply) == want);
    hf_reply_free(reply);
}

/* They are among others that have not expired. A page that passes few of them
 * removes none, one that passes many does. */
TEST(expired_items_are_never_seen)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    hf_timeline_add_item items[300];
    hf_status statuses[300];
    char ids[300][8];
    int64_t ttl_ms = slowed_ms(600);

    memset(items, 0, sizeof(items));
    for (size_t i = 0; i < 300; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%03zu", i);
        items[i].id = hf_str(ids[i]);
        items[i].at_ms = 1000 + (int64_t)i;
        items[i].ttl_ms = i % 10 == 3 ? 600000 : ttl_ms;
    }
    expect_status(HF_OK, hf_timeline_add_many(f->client, key, items, 300, 0,
                                              statuses, ERR));
    expect_soon(item_is_gone(f, key, bytes("299")), ttl_ms + 2400);
    assert_count(f, key, 30);
    opts.offset = 2;
    opts.limit = 3;
    opts.flags = HF_TIMELINE_ASCENDING;
    for (size_t i = 0; i < 4; i++) {
        expect_status(HF_OK,
                      hf_timeline_page(f->client, key, &opts, &page, ERR));
        assert_int_equal(page.count, 3);
        assert_bytes(bytes("023"), page.items[0].id);
        assert_bytes(bytes("033"), page.items[1].id);
        assert_bytes(bytes("043"), page.items[2].id);
        hf_timeline_items_free(&page);
        assert_count(f, key, 30);
    }
    assert_number_of_times(f, key, 300);
    opts.offset = 0;
    opts.limit = 30;
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &page, ERR));
    assert_int_equal(page.count, 30);
    assert_bytes(bytes("293"), page.items[29].id);
    hf_timeline_items_free(&page);
    assert_number_of_times(f, key, 30);
    expect_status(HF_NOT_FOUND,
                  hf_timeline_remove(f->client, key, bytes("299"), ERR));
}

TEST(timeline_that_does_not_exist_is_empty)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;

    assert_count(f, key, 0);
    assert_ids(f, key, "");
    expect_status(HF_NOT_FOUND,
                  hf_timeline_get(f->client, key, bytes("a"), &found, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_timeline_remove(f->client, key, bytes("a"), ERR));
    assert_no_keys(f, key);
}

/* Another program deletes the key alone. */
TEST(deleted_key_is_an_empty_timeline)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_script *script =
        fixture_script(f, f->client, "return redis.call('del', KEYS[1])");
    hf_reply *reply = NULL;

    add(f, key, "a", 1000, 60000);
    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    assert_count(f, key, 0);
    assert_ids(f, key, "");
    assert_true(item_is_gone(f, key, bytes("a")));
    add(f, key, "b", 1000, 60000);
    assert_ids(f, key, "b");
    assert_count(f, key, 1);
}

TEST(times_and_payloads_are_read_by_any_client)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_script *script = fixture_script(
        f, f->client,
        "local zs = redis.call('zrange', KEYS[1], 0, -1, 'withscores')\n"
        "return zs[1] .. ' ' .. string.format('%.0f', zs[2]) .. ' ' ..\n"
        "    redis.call('hget', KEYS[2], zs[1])");
    char name[256];
    hf_bytes keys[2] = {key};
    hf_reply *reply = NULL;

    snprintf(name, sizeof(name), "hf:items:{%.*s}", (int)key.size,
             (const char *)key.data);
    keys[1] = hf_str(name);
    add(f, key, "a", 1540458292123, 60000);
    expect_status(HF_OK, hf_script_run(script, keys, 2, NULL, 0, &reply, ERR));
    assert_bytes(bytes("a 1540458292123000 payload of a"),
                 hf_reply_bytes(reply));
    hf_reply_free(reply);
}

TEST(batch_reports_each_item)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_attribute attribute = hf_attribute_number(bytes("n"), NAN);
    hf_timeline_add_item items[] = {
        {bytes("a"), bytes("1"), 60000, 1, NULL, 0},
        {bytes(""), bytes("2"), 60000, 2, NULL, 0},
        {bytes("a"), bytes("3"), 60000, 3, NULL, 0},
        {bytes("b"), bytes("4"), 60000, 4, &attribute, 1},
        {bytes("c"), bytes("5"), 60000, 5, NULL, 0},
    };
    hf_bytes ids[] = {bytes("a"), bytes("x"), bytes("c")};
    hf_status statuses[5];

    expect_status(HF_INVALID,
                  hf_timeline_add_many(f->client, key, items, 5, HF_TIMELINE_NX,
                                       statuses, ERR));
    assert_int_equal(statuses[0], HF_OK);
    assert_int_equal(statuses[1], HF_INVALID);
    assert_int_equal(statuses[2], HF_CONFLICT);
    assert_int_equal(statuses[3], HF_INVALID);
    assert_int_equal(statuses[4], HF_OK);
    assert_ids(f, key, "a c");
    expect_status(
        HF_OK, hf_timeline_remove_many(f->client, key, ids, 3, statuses, ERR));
    assert_int_equal(statuses[0], HF_OK);
    assert_int_equal(statuses[1], HF_NOT_FOUND);
    assert_int_equal(statuses[2], HF_OK);
    assert_no_keys(f, key);
}

TEST(foreign_data_is_left_alone)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    size_t count = 0;

    put_value(f->client, key, bytes("a value"), 60000);
    expect_status(HF_WRONG_TYPE, hf_timeline_add(f->client, key, bytes("a"),
                                                 bytes("1"), 1000, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_timeline_get(f->client, key, bytes("a"), &page, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_timeline_remove(f->client, key, bytes("a"), ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_timeline_count(f->client, key, &count, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_timeline_page(f->client, key, NULL, &page, ERR));
    assert_value(f->client, key, bytes("a value"));
}

/* Nothing is half done when the wrong type is found. */
TEST(foreign_data_under_our_own_keys_is_named)
{
    static const char *const roles[] = {"items", "labels", "due", "order"};
    fixture *f = *state;
    hf_attribute attribute = hf_attribute_number(bytes("n"), 1);
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;

    opts.attributes = &attribute;
    opts.attribute_count = 1;
    for (size_t i = 0; i < 4; i++) {
        hf_bytes key = fixture_key(f, roles[i]);
        char name[256];

        snprintf(name, sizeof(name), "hf:%s:{%.*s}", roles[i], (int)key.size,
                 (const char *)key.data);
        add(f, key, "before", 1000, 60000);
        put_value(f->client, hf_str(name), bytes("a value"), 60000);
        expect_status(HF_WRONG_TYPE,
                      hf_timeline_add(f->client, key, bytes("a"), bytes("1"),
                                      1000, &opts, ERR));
        assert_non_null(strstr(expect_message(), name));
        assert_value(f->client, hf_str(name), bytes("a value"));
        assert_number_of_times(f, key, 1);
    }
}

static void assert_item(fixture *f, hf_bytes key, const char *payload,
                        int64_t at_ms, int64_t ttl_ms, const char *attributes)
{
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    const hf_timeline_item *item;
    char list[256] = "";

    expect_status(HF_OK,
                  hf_timeline_get(f->other, key, bytes("a"), &found, ERR));
    item = &found.items[0];
    assert_bytes(hf_str(payload), item->payload);
    assert_true(item->at_ms == at_ms);
    assert_in_range(item->ttl_ms, ttl_ms - 20000, ttl_ms);
    for (size_t i = 0; i < item->attribute_count; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s=%g ",
                 (const char *)item->attributes[i].name.data,
                 item->attributes[i].number);
    assert_string_equal(list, attributes);
    hf_timeline_items_free(&found);
}

TEST(update_changes_what_is_given)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_attribute attributes[] = {hf_attribute_number(bytes("x"), 1),
                                 hf_attribute_number(bytes("y"), 2)};
    hf_timeline_update_options opts = HF_TIMELINE_UPDATE_OPTIONS_INIT;
    hf_bytes payload = bytes("new");

    add(f, key, "a", 1000, 60000);
    add(f, key, "b", 2000, 60000);
    opts.attributes = attributes;
    opts.attribute_count = 2;
    expect_status(HF_OK,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
    assert_item(f, key, "payload of a", 1000, 60000, "x=1 y=2 ");
    attributes[0] = hf_attribute_number(bytes("y"), 3);
    attributes[1] = hf_attribute_number(bytes("z"), 4);
    opts.at_ms = 3000;
    expect_status(HF_OK,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
    assert_item(f, key, "payload of a", 3000, 60000, "y=3 z=4 x=1 ");
    assert_ids(f, key, "b a");
    opts = (hf_timeline_update_options)HF_TIMELINE_UPDATE_OPTIONS_INIT;
    opts.payload = &payload;
    opts.ttl_ms = 600000;
    expect_status(HF_OK,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
    assert_item(f, key, "new", 3000, 600000, "y=3 z=4 x=1 ");
    assert_ttl(f->client, key, 600001);
    opts = (hf_timeline_update_options)HF_TIMELINE_UPDATE_OPTIONS_INIT;
    opts.flags = HF_TIMELINE_REPLACE;
    expect_status(HF_OK,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
    assert_item(f, key, "new", 3000, 600000, "");
    expect_status(HF_NOT_FOUND,
                  hf_timeline_update(f->client, key, bytes("c"), &opts, ERR));
    expect_status(HF_OK, hf_timeline_remove(f->client, key, bytes("a"), ERR));
    expect_status(HF_OK, hf_timeline_remove(f->client, key, bytes("b"), ERR));
    assert_no_keys(f, key);
}

/* A server deletes a key that is given a deadline in the past at once, while
 * the others live for the rest of their millisecond. */
TEST(timeline_that_ends_while_it_is_written_is_gone)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_update_options opts = HF_TIMELINE_UPDATE_OPTIONS_INIT;

    for (int i = 0; i < 2000; i++) {
        add(f, key, "a", 1000, 1);
        expect_status(HF_NOT_FOUND, hf_timeline_update(f->client, key,
                                                       bytes("b"), &opts, ERR));
    }
}

TEST(update_refuses_too_many_attributes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_attribute list[HF_ATTRIBUTE_COUNT_MAX];
    hf_timeline_update_options opts = HF_TIMELINE_UPDATE_OPTIONS_INIT;
    char names[HF_ATTRIBUTE_COUNT_MAX][4];

    add(f, key, "a", 1000, 60000);
    for (size_t i = 0; i < HF_ATTRIBUTE_COUNT_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu", i);
        list[i] = hf_attribute_number(hf_str(names[i]), 1);
    }
    opts.attributes = list;
    opts.attribute_count = HF_ATTRIBUTE_COUNT_MAX;
    expect_status(HF_OK,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
    list[0].name = bytes("another");
    expect_status(HF_INVALID,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
    assert_non_null(strstr(expect_message(), "more than 16 attributes"));
    opts.flags = HF_TIMELINE_REPLACE;
    expect_status(HF_OK,
                  hf_timeline_update(f->client, key, bytes("a"), &opts, ERR));
}

static void assert_trim(fixture *f, hf_bytes key, int64_t to_ms, int64_t keep,
                        size_t removed, int more)
{
    hf_timeline_trimmed trimmed = {12345, 12345};

    expect_status(HF_OK,
                  hf_timeline_trim(f->client, key, to_ms, keep, &trimmed, ERR));
    assert_int_equal(trimmed.removed, removed);
    assert_int_equal(trimmed.more, more);
}

TEST(trim_removes_the_oldest)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_trimmed trimmed;

    assert_trim(f, key, 1000, 0, 0, 0);
    for (int64_t i = 1; i <= 9; i++)
        add(f, key, (char[2]){(char)('0' + i), '\0'}, i * 1000, 60000);
    assert_trim(f, key, 0, -1, 0, 0);
    assert_trim(f, key, 999, -1, 0, 0);
    assert_trim(f, key, 2000, -1, 2, 0);
    assert_ids(f, key, "3 4 5 6 7 8 9");
    assert_trim(f, key, 0, 5, 2, 0);
    assert_ids(f, key, "5 6 7 8 9");
    assert_trim(f, key, 5000, 2, 3, 0);
    assert_trim(f, key, 8000, 2, 1, 0);
    assert_ids(f, key, "9");
    expect_status(HF_INVALID,
                  hf_timeline_trim(f->client, key, 0, -2, &trimmed, ERR));
    expect_status(HF_INVALID,
                  hf_timeline_trim(f->client, key, -1, 0, &trimmed, ERR));
    assert_trim(f, key, 0, 0, 1, 0);
    assert_no_keys(f, key);
}

TEST(trim_is_bounded_in_each_call)
{
    static char ids[2300][8];
    static hf_timeline_add_item items[2300];
    static hf_status statuses[2300];
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");

    for (size_t i = 0; i < 2300; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%zu", i);
        items[i].id = hf_str(ids[i]);
        items[i].at_ms = 1000 + (int64_t)i;
        items[i].ttl_ms = 600000;
    }
    expect_status(HF_OK, hf_timeline_add_many(f->client, key, items, 2300, 0,
                                              statuses, ERR));
    assert_trim(f, key, 0, 200, 1000, 1);
    assert_trim(f, key, 0, 200, 1000, 1);
    assert_trim(f, key, 0, 200, 100, 0);
    assert_count(f, key, 200);
}

static void expect_invalid(fixture *f, hf_bytes key, hf_bytes id,
                           int64_t ttl_ms, const hf_timeline_add_options *opts,
                           const char *message)
{
    expect_status(HF_INVALID, hf_timeline_add(f->client, key, id, bytes("1"),
                                              ttl_ms, opts, ERR));
    assert_string_equal(expect_message(), message);
    assert_no_keys(f, key);
}

TEST(bad_ids_times_and_ttls_are_named)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    char id[HF_TIMELINE_ID_MAX + 1];

    memset(id, 'i', sizeof(id));
    expect_invalid(f, key, bytes(""), 1000, NULL,
                   "id has 0 bytes; it must have 1..512");
    expect_invalid(f, key, hf_view(id, sizeof(id)), 1000, NULL,
                   "id has 513 bytes; it must have 1..512");
    expect_invalid(f, key, bytes("a"), 0, NULL,
                   "ttl_ms is 0 ms; it must be 1..3155760000000");
    expect_invalid(f, key, bytes("a"), -5, NULL,
                   "ttl_ms is -5 ms; it must be 1..3155760000000");
    opts.at_ms = -1;
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "at_ms is -1; it must be 0..9007199254740");
    opts.at_ms = HF_TIMELINE_AT_MAX_MS + 1;
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "at_ms is 9007199254741; it must be 0..9007199254740");
    opts.at_ms = HF_TIMELINE_AT_MAX_MS;
    expect_status(HF_OK,
                  hf_timeline_add(f->client, key, hf_view(id, sizeof(id) - 1),
                                  bytes(""), 60000, &opts, ERR));
    assert_count(f, key, 1);
}

TEST(bad_attributes_are_named)
{
    static char long_text[HF_ATTRIBUTE_TEXT_MAX + 1];
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute list[HF_ATTRIBUTE_COUNT_MAX + 1];

    opts.attributes = list;
    opts.attribute_count = 1;
    list[0] = hf_attribute_number(bytes("price"), NAN);
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "attribute \"price\" is not a finite number");
    list[0].number = INFINITY;
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "attribute \"price\" is not a finite number");
    list[0] = hf_attribute_number(bytes(""), 1);
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "attribute name has 0 bytes; it must have 1..64");
    list[0] = hf_attribute_number(bytes("a\0b"), 1);
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "attribute name \"a\\x00b\" has a NUL");
    list[0] =
        hf_attribute_text(bytes("t"), hf_view(long_text, sizeof(long_text)));
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "attribute \"t\" has 256 bytes; it may have 255");
    list[0] = list[1] = hf_attribute_number(bytes("n"), 1);
    opts.attribute_count = 2;
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "attribute \"n\" is given twice");
    opts.attribute_count = HF_ATTRIBUTE_COUNT_MAX + 1;
    expect_invalid(f, key, bytes("a"), 1000, &opts,
                   "17 attributes; there may be 16");
}
