/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole_object_test.c - a timeline, a cache entry, a fenced value, a lock is
 * one object made of several keys: what is done to its key is done to all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

typedef struct pair {
    hf_bytes from;
    hf_bytes to;
} pair;

/* In one slot. */
static pair names(fixture *f)
{
    return (pair){fixture_key(f, "{o}from"), fixture_key(f, "{o}to")};
}

static void rename_key(fixture *f, pair both)
{
    expect_status(HF_OK, hf_key_rename(f->client, both.from, both.to, 0, ERR));
}

/* How many of the keys of a timeline there are. */
static size_t count_parts(fixture *f, hf_bytes key)
{
    static const char *const roles[] = {"items", "labels", "due", "order"};
    hf_bytes words[6] = {hf_str("EXISTS"), key};
    char text[4][128];
    hf_reply *reply = NULL;
    size_t count;

    for (size_t i = 0; i < 4; i++)
        words[2 + i] = hf_view(
            text[i],
            (size_t)snprintf(text[i], sizeof(text[i]), "hf:%s:{%.*s}", roles[i],
                             (int)key.size, (const char *)key.data));
    expect_status(HF_OK, hf_command(f->client, 6, words, &reply, ERR));
    count = (size_t)hf_reply_integer(reply);
    hf_reply_free(reply);
    return count;
}

/* ---------------------------------------------------------------- timelines */

static void add(fixture *f, hf_bytes key, const char *id)
{
    hf_attribute attribute = hf_attribute_number(bytes("price"), 7);
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;

    opts.attributes = &attribute;
    opts.attribute_count = 1;
    expect_status(HF_OK, hf_timeline_add(f->client, key, hf_str(id), hf_str(id),
                                         60000, &opts, ERR));
}

/* The items of a page ordered by their attribute, each with it. */
static size_t count_whole(hf_client *client, hf_bytes key)
{
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    size_t whole = 0;

    opts.order_by = bytes("price");
    opts.limit = 100;
    expect_status(HF_OK, hf_timeline_page(client, key, &opts, &page, ERR));
    for (size_t i = 0; i < page.count; i++)
        whole += page.items[i].attribute_count == 1 &&
                 page.items[i].payload.size == page.items[i].id.size;
    assert_int_equal(whole, page.count);
    hf_timeline_items_free(&page);
    return whole;
}

TEST(renamed_timeline_has_its_items)
{
    fixture *f = *state;
    pair both = names(f);

    add(f, both.from, "a");
    add(f, both.from, "b");
    add(f, both.to, "replaced");
    rename_key(f, both);
    assert_int_equal(count_whole(f->other, both.from), 0);
    assert_int_equal(count_whole(f->other, both.to), 2);
    add(f, both.to, "c");
    add(f, both.from, "new");
    assert_int_equal(count_whole(f->other, both.to), 3);
    assert_int_equal(count_whole(f->other, both.from), 1);
}

TEST(value_renamed_to_a_timeline_leaves_none_of_it)
{
    fixture *f = *state;
    pair both = names(f);

    add(f, both.to, "a");
    put_value(f->client, both.from, bytes("v"), 0);
    rename_key(f, both);
    assert_value(f->other, both.to, bytes("v"));
    expect_status(HF_OK, hf_value_delete(f->client, both.to, ERR));
    add(f, both.to, "b");
    assert_int_equal(count_whole(f->other, both.to), 1);
}

TEST(timeline_expires_and_stays_as_a_whole)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");

    add(f, key, "a");
    expect_status(HF_OK, hf_key_expire(f->client, key, -1, ERR));
    assert_no_ttl(f->client, key);
    assert_int_equal(count_whole(f->other, key), 1);
    expect_status(HF_OK, hf_key_expire(f->client, key, 1, ERR));
    expect_soon(count_parts(f, key) == 0, 2000);
    expect_status(HF_NOT_FOUND, hf_key_expire(f->client, key, 1000, ERR));
    add(f, key, "b");
    assert_int_equal(count_whole(f->other, key), 1);
}

TEST(timeline_is_deleted_as_a_whole)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t"), value = fixture_key(f, "v");

    expect_status(HF_NOT_FOUND, hf_timeline_delete(f->client, key, ERR));
    add(f, key, "a");
    assert_int_equal(count_parts(f, key), 5);
    expect_status(HF_OK, hf_timeline_delete(f->client, key, ERR));
    assert_int_equal(count_parts(f, key), 0);
    add(f, key, "b");
    expect_told(HF_OK, f->client,
                hf_timeline_delete_start(f->client, key, &async, ERR));
    assert_int_equal(count_whole(f->other, key), 0);
    put_value(f->client, value, bytes("v"), 0);
    expect_status(HF_WRONG_TYPE, hf_timeline_delete(f->client, value, ERR));
    assert_value(f->client, value, bytes("v"));
}

/* ------------------------------------------------------------------- others */

TEST(renamed_cache_entry_has_its_tags)
{
    fixture *f = *state;
    pair both = names(f);
    hf_bytes tag = fixture_key(f, "{o}tag");
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;

    options.ttl_ms = 60000;
    options.tags = &tag;
    options.tag_count = 1;
    expect_status(
        HF_OK, hf_cache_put(f->client, both.from, bytes("v"), &options, ERR));
    rename_key(f, both);
    expect_status(HF_OK, hf_cache_get(f->other, both.to, NULL, &value, ERR));
    assert_buffer(&value, bytes("v"));
    expect_status(HF_OK, hf_cache_invalidate(f->client, tag, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_cache_get(f->other, both.to, NULL, &value, ERR));
}

TEST(deleted_cache_entry_leaves_nothing)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "e");
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;

    options.ttl_ms = 1; /* fresh, and much longer stale */
    options.stale_ms = 60000;
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK,
                      hf_cache_put(f->client, key, bytes("v"), &options, ERR));
        expect_status(HF_OK, i == 0 ? hf_value_delete(f->client, key, ERR)
                                    : hf_key_delete(f->client, key, ERR));
        put_value(f->client, key, bytes("plain"), 0);
        test_rest(); /* what it was is no longer fresh */
        expect_status(HF_OK, hf_cache_get(f->other, key, NULL, &value, ERR));
        assert_buffer(&value, bytes("plain"));
    }
}

TEST(deleted_latch_ends_the_waits_at_it)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "l");
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_latch_set(f->client, key, 1, 60000, NULL, ERR));
    expect_status(HF_OK,
                  hf_latch_await_start(f->other, key, 60000, &async, ERR));
    expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_NOT_FOUND, said.status);
}

static hf_status put_fenced(fixture *f, hf_bytes key, uint64_t token)
{
    return hf_value_put_fenced(f->client, key, bytes("v"), token, NULL, NULL,
                               ERR);
}

TEST(both_names_of_a_fenced_value_refuse_lower_tokens)
{
    fixture *f = *state;
    pair both = names(f);

    expect_status(HF_OK, put_fenced(f, both.from, 10));
    expect_status(HF_OK, put_fenced(f, both.to, 4));
    rename_key(f, both);
    expect_status(HF_CONFLICT, put_fenced(f, both.to, 5));
    expect_status(HF_CONFLICT, put_fenced(f, both.from, 5));
    expect_status(HF_OK, put_fenced(f, both.from, 11));
    expect_status(HF_OK, put_fenced(f, both.to, 20));
    rename_key(f, both);
    expect_status(HF_CONFLICT, put_fenced(f, both.to, 19));
    put_value(f->client, both.from, bytes("no fence"), 0);
    rename_key(f, both);
    expect_status(HF_CONFLICT, put_fenced(f, both.to, 19));
}

TEST(held_lock_is_left_alone)
{
    fixture *f = *state;
    pair both = names(f);
    hf_lock *lock = fixture_lock(f, f->client, both.from, NULL);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_HELD,
                  hf_key_rename(f->client, both.from, both.to, 0, ERR));
    assert_non_null(strstr(expect_message(), "lock"));
    put_value(f->client, both.to, bytes("v"), 0);
    expect_status(HF_HELD,
                  hf_key_rename(f->client, both.to, both.from, 0, ERR));
    assert_non_null(strstr(expect_message(), "the new name is a lock"));
    expect_status(HF_HELD, hf_key_copy(f->client, both.to, both.from,
                                       HF_COPY_REPLACE, ERR));
    expect_status(HF_HELD, hf_value_delete(f->client, both.from, ERR));
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_key_rename(f->client, both.from, both.to, 0, ERR));
}

/* What another program may do, which does not know what belongs to a key. */
static void rename_key_alone(fixture *f, pair both)
{
    hf_bytes words[] = {hf_str("RENAME"), both.from, both.to};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_command(f->client, 3, words, &reply, ERR));
    hf_reply_free(reply);
}

TEST(timeline_that_is_renamed_alone_has_no_items)
{
    fixture *f = *state;
    pair both = names(f);

    add(f, both.from, "a");
    rename_key_alone(f, both);
    assert_int_equal(count_whole(f->other, both.to), 0);
    assert_int_equal(count_whole(f->other, both.from), 0);
    /* It could be a rank. */
    expect_status(HF_WRONG_TYPE, hf_timeline_add(f->client, both.to, bytes("b"),
                                                 bytes("p"), 60000, NULL, ERR));
    assert_int_equal(count_whole(f->other, both.to), 0);
    add(f, both.from, "c");
    assert_int_equal(count_whole(f->other, both.from), 1);
}

TEST(fence_of_a_value_that_is_renamed_alone_stays)
{
    fixture *f = *state;
    pair both = names(f);

    expect_status(HF_OK, put_fenced(f, both.from, 10));
    rename_key_alone(f, both);
    expect_status(HF_CONFLICT, put_fenced(f, both.from, 9));
    expect_status(HF_OK, put_fenced(f, both.to, 11));
    expect_status(HF_CONFLICT, put_fenced(f, both.to, 10));
}

TEST(dump_of_a_pattern_has_whole_objects)
{
    fixture *f = *state;
    hf_client *there = fixture_elsewhere(f, "elsewhere", NULL);
    hf_bytes timeline = fixture_key(f, "t"), value = fixture_key(f, "v");
    hf_bytes other = fixture_key(f, "{x}other");
    hf_store_dump_options options = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape tape = {.data = NULL};

    add(f, timeline, "a");
    add(f, other, "a");
    expect_status(HF_OK, put_fenced(f, value, 10));
    options.pattern = fixture_key(f, "[tv]");
    expect_status(HF_OK, hf_store_dump(f->client, &options, dump_tape_put,
                                       &tape, &result, ERR));
    assert_int_equal(result.keys, 7);
    expect_status(
        HF_OK, hf_store_load(there, NULL, dump_tape_take, &tape, &result, ERR));
    free(tape.data);
    assert_int_equal(count_whole(there, timeline), 1);
    assert_int_equal(count_whole(there, other), 0);
    expect_status(HF_CONFLICT, hf_value_put_fenced(there, value, bytes("v"), 9,
                                                   NULL, NULL, ERR));
}
