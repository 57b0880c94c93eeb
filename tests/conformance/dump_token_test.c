/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_token_test.c - fencing tokens keep growing after a move to another
 * store, also between a store and a cluster, where each slot has its own
 * counter.
 */
#include <stdlib.h>

#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Decades ahead of any clock. */
#define AHEAD UINT64_C(5000000000000000)

/* Move what matches; each load finds lower tokens than it brings. */
static void move(hf_client *from, hf_client *to, uint32_t flags)
{
    hf_store_dump_options dump = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_load_options load = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape moved = {.data = NULL};

    dump.pattern = bytes("*hf:token*");
    expect_status(
        HF_OK, hf_store_dump(from, &dump, dump_tape_put, &moved, &result, ERR));
    load.flags = flags;
    expect_status(
        HF_OK, hf_store_load(to, &load, dump_tape_take, &moved, &result, ERR));
    free(moved.data);
}

/* Acquire and release a lock of that name once. */
static uint64_t next_token(hf_client *client, hf_bytes name)
{
    hf_lock *lock;
    uint64_t token;

    expect_status(HF_OK, hf_lock_new(client, name, NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    token = hf_lock_token(lock);
    hf_lock_free(lock);
    return token;
}

static hf_client *elsewhere(fixture *f, const char *prefix)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    options.prefix = prefix;
    return fixture_elsewhere(f, "elsewhere", &options);
}

TEST(tokens_of_a_dump_are_only_raised)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, NULL);
    hf_bytes name = fixture_key(f, "l");
    uint64_t before = next_token(f->client, name);

    move(f->client, there, 0);
    assert_true(next_token(there, name) > before);
    move(there, f->client, 0);
    before = next_token(f->client, name);
    put_value(there, bytes("hf:token"), bytes("1"), 600000);
    move(there, f->client, HF_LOAD_REPLACE);
    assert_true(next_token(f->client, name) > before);
}

/* To this store, every slot of it, and back. */
TEST(tokens_ahead_of_the_clock_stay_ahead)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, NULL);
    hf_bytes names[] = {fixture_key(f, "a"), fixture_key(f, "b"),
                        fixture_key(f, "c")};
    uint64_t last = 0;

    put_value(there, bytes("hf:token"), bytes("5000000000000000"), 600000);
    move(there, f->client, 0);
    for (size_t i = 0; i < 3; i++) {
        last = next_token(f->client, names[i]);
        assert_true(last > AHEAD);
    }
    put_value(there, bytes("hf:token"), bytes("no number"), 600000);
    assert_true(next_token(there, names[0]) < AHEAD);
    move(f->client, there, 0);
    assert_true(next_token(there, names[0]) > last);
}

/* With another prefix, by a client without one, as dumps are made. */
TEST(tokens_of_every_prefix_are_moved)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, NULL);
    hf_client *tenant = elsewhere(f, "app:");
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    options.prefix = "app:";
    put_value(there, bytes("app:hf:token"), bytes("5000000000000000"), 600000);
    move(there, f->client, HF_LOAD_REPLACE);
    assert_true(next_token(fixture_client(f, &options), bytes("l")) > AHEAD);
    assert_true(next_token(tenant, bytes("l")) > AHEAD);
}
