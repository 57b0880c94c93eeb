/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_load_test.c - an object that has several keys appears as one when a
 * dump is loaded: wherever the load ends, there is the key with all that
 * belongs to it, or no key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Small enough to meet each record of a dump. */
#define CUT_STEP 9

typedef struct objects {
    hf_bytes timeline;
    hf_bytes fenced;
    hf_bytes entry;
    hf_bytes tag;
    dump_tape tape;
    char text[4][32];
} objects;

/* ------------------------------------------------------------------ making */

static void add_item(hf_client *client, hf_bytes key, const char *id)
{
    hf_attribute attribute = hf_attribute_number(bytes("price"), 7);
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;

    opts.attributes = &attribute;
    opts.attribute_count = 1;
    expect_status(HF_OK, hf_timeline_add(client, key, hf_str(id), hf_str(id),
                                         60000, &opts, ERR));
}

static hf_status put_fenced(hf_client *client, hf_bytes key, uint64_t token)
{
    return hf_value_put_fenced(client, key, bytes("v"), token, NULL, NULL, ERR);
}

static void put_entry(hf_client *client, const objects *self)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = 60000;
    options.tags = &self->tag;
    options.tag_count = 1;
    expect_status(HF_OK,
                  hf_cache_put(client, self->entry, bytes("v"), &options, ERR));
}

static void write_tape(hf_client *client, objects *self)
{
    expect_status(HF_OK, hf_store_dump(client, NULL, dump_tape_put, &self->tape,
                                       NULL, ERR));
}

/* Embedded stores are walked by name: what belongs to these comes behind. */
static hf_bytes early_name(fixture *f, char text[32], const char *name)
{
    return hf_view(text,
                   (size_t)snprintf(text, 32, "%u:%s", f->test_number, name));
}

/* A dump of another store, with one object of each kind. */
static void make_objects(fixture *f, objects *self)
{
    hf_client *source = fixture_elsewhere(f, "source", NULL);

    memset(self, 0, sizeof(*self));
    self->timeline = early_name(f, self->text[0], "timeline");
    self->fenced = early_name(f, self->text[1], "fenced");
    self->entry = early_name(f, self->text[2], "{e}entry");
    self->tag = early_name(f, self->text[3], "{e}tag");
    add_item(source, self->timeline, "a");
    add_item(source, self->timeline, "b");
    add_item(source, self->timeline, "c");
    expect_status(HF_OK, put_fenced(source, self->fenced, 10));
    put_entry(source, self);
    write_tape(source, self);
}

/* Load the first `size` bytes of the dump. */
static hf_status load_part(hf_client *client, objects *self, size_t size,
                           uint32_t flags)
{
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    dump_tape part = self->tape;

    opts.flags = flags;
    part.at = 0;
    part.size = size;
    return hf_store_load(client, &opts, dump_tape_take, &part, NULL, ERR);
}

/* Remove a key with all that may belong to it. */
static void forget(hf_client *client, hf_bytes key)
{
    static const char *const roles[] = {"items", "labels", "due", "order",
                                        "fence", "cache",  "tag"};
    bool tagged = memchr(key.data, '{', key.size) != NULL;
    hf_bytes words[9] = {hf_str("UNLINK"), key};
    char text[7][128];

    for (size_t i = 0; i < 7; i++)
        words[2 + i] = hf_view(
            text[i],
            (size_t)snprintf(text[i], sizeof(text[i]),
                             tagged ? "hf:%s::%.*s" : "hf:%s:{%.*s}", roles[i],
                             (int)key.size, (const char *)key.data));
    expect_status(HF_OK, hf_command(client, 9, words, NULL, ERR));
}

/* ----------------------------------------------------------------- looking */

/* The items of a timeline that is there, each as it was added. */
static size_t count_items(hf_client *client, hf_bytes key)
{
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    size_t count;

    opts.order_by = bytes("price");
    opts.limit = 100;
    expect_status(HF_OK, hf_timeline_page(client, key, &opts, &page, ERR));
    count = page.count;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(page.items[i].attribute_count, 1);
        assert_bytes(page.items[i].id, page.items[i].payload);
    }
    hf_timeline_items_free(&page);
    return count;
}

static void check_entry(hf_client *client, const objects *self)
{
    hf_buffer value = HF_BUFFER_INIT;

    if (key_is_gone(client, self->entry))
        return;
    expect_status(HF_OK, hf_cache_get(client, self->entry, NULL, &value, ERR));
    assert_buffer(&value, bytes("v"));
    expect_status(HF_OK, hf_cache_invalidate(client, self->tag, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_cache_get(client, self->entry, NULL, &value, ERR));
}

/* All of them are there, whole; the entry is not afterwards. */
static void check_all(fixture *f, const objects *self)
{
    assert_int_equal(count_items(f->other, self->timeline), 3);
    expect_status(HF_CONFLICT, put_fenced(f->other, self->fenced, 9));
    assert_false(key_is_gone(f->other, self->entry));
    check_entry(f->other, self);
}

/* ------------------------------------------------------------------- tests */

TEST(load_that_ends_anywhere_leaves_whole_objects)
{
    fixture *f = *state;
    objects made;

    make_objects(f, &made);
    for (size_t cut = CUT_STEP; cut < made.tape.size; cut += CUT_STEP) {
        if (load_part(f->client, &made, cut, 0) == HF_OK)
            fail_msg("cut at %zu", cut);
        if (!key_is_gone(f->other, made.timeline))
            assert_int_equal(count_items(f->other, made.timeline), 3);
        if (!key_is_gone(f->other, made.fenced))
            expect_status(HF_CONFLICT, put_fenced(f->other, made.fenced, 9));
        check_entry(f->other, &made);
        forget(f->client, made.timeline);
        forget(f->client, made.fenced);
        forget(f->client, made.entry);
        forget(f->client, made.tag);
    }
    free(made.tape.data);
}

TEST(load_continues_where_another_ended)
{
    fixture *f = *state;
    objects made;

    make_objects(f, &made);
    for (size_t part = 1; part < 5; part++)
        expect_status(HF_CORRUPT,
                      load_part(f->client, &made, made.tape.size / 5 * part,
                                HF_LOAD_SKIP));
    expect_status(HF_OK,
                  load_part(f->client, &made, made.tape.size, HF_LOAD_SKIP));
    check_all(f, &made);
    free(made.tape.data);
}

/* No key is written in the same batch as what belongs to it. */
TEST(key_of_a_belonging_that_is_refused_is_not_loaded)
{
    fixture *f = *state;
    hf_bytes words[2] = {hf_str("DEL")};
    objects made;

    make_objects(f, &made);
    words[1] = made.fenced;
    expect_status(HF_OK, put_fenced(f->client, made.fenced, 4));
    expect_status(HF_OK, hf_command(f->client, 2, words, NULL, ERR));
    expect_status(HF_CONFLICT, load_part(f->client, &made, made.tape.size, 0));
    assert_no_key(f->other, made.fenced);
    free(made.tape.data);
}

TEST(object_that_is_replaced_is_never_half_of_another)
{
    fixture *f = *state;
    objects made;

    make_objects(f, &made);
    for (size_t cut = CUT_STEP; cut < made.tape.size; cut += CUT_STEP) {
        forget(f->client, made.timeline);
        forget(f->client, made.entry);
        add_item(f->client, made.timeline, "b");
        add_item(f->client, made.timeline, "old");
        put_value(f->client, made.entry, bytes("plain"), 0);
        if (load_part(f->client, &made, cut, HF_LOAD_REPLACE) == HF_OK)
            fail_msg("cut at %zu", cut);
        if (!key_is_gone(f->other, made.timeline))
            assert_in_range(count_items(f->other, made.timeline), 2, 3);
    }
    expect_status(HF_OK,
                  load_part(f->client, &made, made.tape.size, HF_LOAD_REPLACE));
    check_all(f, &made);
    free(made.tape.data);
}

/* It outlasts its value, and says nothing about another. */
TEST(fence_alone_replaces_no_value)
{
    fixture *f = *state;
    hf_client *source = fixture_elsewhere(f, "source", NULL);
    objects made = {.fenced = fixture_key(f, "fenced")};

    expect_status(HF_OK, put_fenced(source, made.fenced, 10));
    expect_status(HF_OK, hf_value_delete(source, made.fenced, ERR));
    write_tape(source, &made);
    put_value(f->client, made.fenced, bytes("stays"), 0);
    expect_status(HF_OK,
                  load_part(f->client, &made, made.tape.size, HF_LOAD_REPLACE));
    assert_value(f->other, made.fenced, bytes("stays"));
    expect_status(HF_CONFLICT, put_fenced(f->other, made.fenced, 9));
    free(made.tape.data);
}

/* More than one batch has, each object with all of its keys. */
TEST(many_objects_are_dumped_once_each)
{
    enum { COUNT = 300 };
    fixture *f = *state;
    hf_client *source = fixture_elsewhere(f, "source", NULL);
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    objects made = {.tape.data = NULL};
    hf_bytes keys[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "k%zu", i);
        keys[i] = fixture_key(f, name);
        if (i % 2 == 0)
            add_item(source, keys[i], "a");
        else
            expect_status(HF_OK, put_fenced(source, keys[i], 10));
    }
    expect_status(HF_OK, hf_store_dump(source, NULL, dump_tape_put, &made.tape,
                                       &result, ERR));
    assert_int_equal(result.keys, COUNT / 2 * (5 + 2));
    expect_status(HF_OK, load_part(f->client, &made, made.tape.size, 0));
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 2 == 0)
            assert_int_equal(count_items(f->other, keys[i]), 1);
        else
            expect_status(HF_CONFLICT, put_fenced(f->other, keys[i], 9));
    }
    free(made.tape.data);
}
