/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_list_test.c - hf_key_list(): all keys of a client, and only these. It
 * needs the right to scan.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/cache.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define KEYS 700 /* several pages */

typedef struct seen {
    unsigned char times[KEYS];
    size_t others;
    size_t limit; /* ends the list */
} seen;

static int see(void *user, hf_bytes key)
{
    seen *self = user;
    char text[32] = "";
    unsigned number;

    if (key.size < sizeof(text))
        memcpy(text, key.data, key.size);
    if (sscanf(text, "l:%u", &number) == 1 && number < KEYS)
        self->times[number]++;
    else
        self->others++;
    return self->limit > 0 && --self->limit == 0;
}

static hf_client *tenant(fixture *f, const char *prefix)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    options.prefix = prefix;
    return fixture_client(f, &options);
}

static void put_many(hf_client *client)
{
    char name[32];

    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(name, sizeof(name), "l:%d", i);
        put_value(client, hf_str(name), bytes("v"), 0);
    }
}

TEST(list_has_each_key_once_and_no_others)
{
    fixture *f = *state;
    hf_client *client = tenant(f, "p*[1]:");
    hf_client *other = tenant(f, "px1:");
    seen self = {.others = 0};

    put_many(client);
    put_value(other, bytes("l:0"), bytes("v"), 0);
    put_value(client, bytes("other"), bytes("v"), 0);
    expect_status(HF_OK,
                  hf_key_list(client, hf_view(NULL, 0), 0, see, &self, ERR));
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(self.times[i], 1);
    assert_int_equal(self.others, 1);
    self = (seen){.others = 0};
    expect_status(HF_OK,
                  hf_key_list(client, bytes("l:1?"), 0, see, &self, ERR));
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(self.times[i], i >= 10 && i < 20);
    assert_int_equal(self.others, 0);
}

TEST(list_leaves_out_our_own_keys)
{
    fixture *f = *state;
    hf_client *client = tenant(f, "own:");
    hf_lock *lock = fixture_lock(f, client, bytes("l:5"), NULL);
    hf_timeline_add_options labelled = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attribute = hf_attribute_number(bytes("a"), 1);
    hf_cache_options cached = HF_CACHE_OPTIONS_INIT;
    hf_bytes tag = bytes("{l:7}tag");
    seen self = {.others = 0};

    labelled.attributes = &attribute;
    labelled.attribute_count = 1;
    cached.ttl_ms = 60000;
    cached.tags = &tag;
    cached.tag_count = 1;
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_timeline_add(client, bytes("l:6"), bytes("id"),
                                         bytes("v"), 60000, &labelled, ERR));
    expect_status(HF_OK, hf_cache_put(client, bytes("{l:7}entry"), bytes("v"),
                                      &cached, ERR));
    expect_status(HF_OK, hf_value_put_fenced(client, bytes("l:8"), bytes("v"),
                                             5, NULL, NULL, ERR));
    expect_status(HF_OK,
                  hf_key_list(client, hf_view(NULL, 0), 0, see, &self, ERR));
    assert_int_equal(self.times[5], 1);
    assert_int_equal(self.times[6], 1);
    assert_int_equal(self.times[8], 1);
    assert_int_equal(self.others, 1);
    /* Also four of the timeline, two of the entry, a fence, the last token. */
    self = (seen){.others = 0};
    expect_status(HF_OK, hf_key_list(client, hf_view(NULL, 0), HF_KEY_LIST_ALL,
                                     see, &self, ERR));
    assert_int_equal(self.times[6], 1);
    assert_int_equal(self.others, 9);
    expect_status(HF_UNSUPPORTED,
                  hf_key_list(client, hf_view(NULL, 0), 2, see, &self, ERR));
}

TEST(list_is_ended_by_its_callback)
{
    fixture *f = *state;
    hf_client *client = tenant(f, "end:");
    seen self = {.limit = 1};

    put_value(client, bytes("l:1"), bytes("v"), 0);
    put_value(client, bytes("l:2"), bytes("v"), 0);
    expect_status(HF_CANCELLED,
                  hf_key_list(client, hf_view(NULL, 0), 0, see, &self, ERR));
    assert_int_equal(self.times[1] + self.times[2], 1);
    expect_status(HF_INVALID,
                  hf_key_list(client, hf_view(NULL, 0), 0, NULL, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_key_list(client, hf_view(NULL, 1), 0, see, &self, ERR));
}

TEST(started_list_has_each_key_once)
{
    fixture *f = *state;
    hf_client *client = tenant(f, "started:");
    seen self = {.others = 0};

    put_many(client);
    for (int round = 0; round < 2; round++)
        expect_told(HF_OK, client,
                    hf_key_list_start(client, bytes("l:*"), 0, see, &self,
                                      &async, ERR));
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(self.times[i], 2);
    self = (seen){.limit = 3};
    expect_told(HF_CANCELLED, client,
                hf_key_list_start(client, hf_view(NULL, 0), 0, see, &self,
                                  &async, ERR));
    assert_int_equal(self.limit, 0);
    expect_status(HF_INVALID, hf_key_list_start(client, bytes("*"), 0, NULL,
                                                NULL, NULL, ERR));
}

TEST(started_list_is_cancelled)
{
    fixture *f = *state;
    hf_client *client = tenant(f, "cancelled:");
    seen self = {.others = 0};
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;

    put_many(client);
    async.call = &call;
    expect_status(HF_OK, hf_key_list_start(client, bytes("l:*"), 0, see, &self,
                                           &async, ERR));
    hf_call_cancel(call);
    await_told(client, &said, 1);
    assert_true(said.status == HF_CANCELLED || said.status == HF_OK);
}

TEST(closing_ends_a_started_list)
{
    fixture *f = *state;
    hf_client *client = tenant(f, "closed:");
    seen self = {.others = 0};
    told said = {0};
    hf_async async = tell(&said);

    put_many(client);
    expect_status(HF_OK, hf_key_list_start(client, bytes("l:*"), 0, see, &self,
                                           &async, ERR));
    fixture_close_client(f, client);
    assert_int_equal(said.count, 1);
    assert_true(said.status == HF_UNAVAILABLE || said.status == HF_OK);
}
