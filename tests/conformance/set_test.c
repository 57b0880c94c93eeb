/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_test.c - sets: adding, removing, finding, counting and reading members,
 * and their times to live; what has expired; bad input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/set.h"
#include "holdfast/txn.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define MINUTE_MS 60000
#define SEVERAL 300

/* Add one; returns how many are new. */
static size_t add_as(fixture *f, hf_bytes key, const char *name, int64_t ttl_ms,
                     uint32_t flags)
{
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    hf_bytes member = hf_str(name);
    size_t added = 12345;

    opts.ttl_ms = ttl_ms;
    opts.flags = flags;
    expect_status(HF_OK,
                  hf_set_add(f->client, key, &member, 1, &opts, &added, ERR));
    return added;
}

static size_t add(fixture *f, hf_bytes key, const char *name, int64_t ttl_ms)
{
    return add_as(f, key, name, ttl_ms, 0);
}

static void add_several(fixture *f, hf_bytes key, const char *prefix,
                        size_t count, int64_t ttl_ms)
{
    static char text[HF_MEMBER_COUNT_MAX][32];
    static hf_bytes members[HF_MEMBER_COUNT_MAX];
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    size_t added;

    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof(text[i]), "%s%zu", prefix, i);
        members[i] = hf_str(text[i]);
    }
    opts.ttl_ms = ttl_ms;
    expect_status(
        HF_OK, hf_set_add(f->client, key, members, count, &opts, &added, ERR));
    assert_int_equal(added, count);
}

/* -2: it is not there. */
static int64_t ttl_of(fixture *f, hf_bytes key, const char *name)
{
    int64_t ttl_ms = 12345;
    hf_status status = hf_set_has(f->other, key, hf_str(name), &ttl_ms, ERR);

    if (status == HF_NOT_FOUND)
        return -2;
    expect_status(HF_OK, status);
    return ttl_ms;
}

static void assert_count(fixture *f, hf_bytes key, size_t want)
{
    size_t count = 12345;

    expect_status(HF_OK, hf_set_count(f->other, key, &count, ERR));
    assert_int_equal(count, want);
}

TEST(added_members_are_there_for_another_client)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_bytes members[] = {bytes("a"), bytes("b\0\xff"), bytes("a")};
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    int64_t ttls_ms[3] = {0, 0, 0};
    size_t added = 0;

    opts.ttl_ms = MINUTE_MS;
    expect_status(HF_OK,
                  hf_set_add(f->client, key, members, 3, &opts, &added, ERR));
    assert_int_equal(added, 2);
    expect_status(HF_OK,
                  hf_set_add(f->client, key, members, 3, &opts, &added, ERR));
    assert_int_equal(added, 0);
    members[0] = bytes("none");
    expect_status(HF_OK,
                  hf_set_has_members(f->other, key, members, 3, ttls_ms, ERR));
    assert_int_equal(ttls_ms[0], -2);
    assert_in_range(ttls_ms[1], 1, MINUTE_MS);
    assert_in_range(ttls_ms[2], 1, MINUTE_MS);
    assert_count(f, key, 2);
}

TEST(member_of_no_ttl_stays_and_keeps_the_set)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    int64_t ttl_ms = 0;

    assert_int_equal(add(f, key, "brief", MINUTE_MS), 1);
    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 1, MINUTE_MS);
    assert_int_equal(add(f, key, "stays", 0), 1);
    assert_int_equal(ttl_of(f, key, "stays"), -1);
    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_int_equal(ttl_ms, -1);
}

/* A server deletes a key that is given a deadline in the past at once, while
 * the others live for the rest of their millisecond. */
TEST(member_stays_that_is_added_while_the_last_one_ends)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    int64_t ttl_ms = 0;

    for (int i = 0; i < 2000; i++) {
        (void)add(f, key, "brief", 1);
        (void)add(f, key, "stays", 0);
        expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
        assert_int_equal(ttl_ms, -1);
        expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
    }
}

TEST(adding_again_renews_or_keeps)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");

    assert_int_equal(add(f, key, "a", MINUTE_MS), 1);
    assert_int_equal(add(f, key, "a", 60 * MINUTE_MS), 0);
    assert_in_range(ttl_of(f, key, "a"), MINUTE_MS + 1, 60 * MINUTE_MS);
    assert_int_equal(add_as(f, key, "a", MINUTE_MS, HF_SET_KEEPTTL), 0);
    assert_in_range(ttl_of(f, key, "a"), MINUTE_MS + 1, 60 * MINUTE_MS);
    assert_int_equal(add(f, key, "a", 0), 0);
    assert_in_range(ttl_of(f, key, "a"), MINUTE_MS + 1, 60 * MINUTE_MS);
    assert_int_equal(add_as(f, key, "b", MINUTE_MS, HF_SET_KEEPTTL), 1);
    assert_in_range(ttl_of(f, key, "b"), 1, MINUTE_MS);
}

TEST(nx_adds_only_new_members_xx_only_those_there)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");

    assert_int_equal(add_as(f, key, "a", MINUTE_MS, HF_SET_XX), 0);
    assert_int_equal(ttl_of(f, key, "a"), -2);
    assert_no_key(f->client, key);
    assert_int_equal(add_as(f, key, "a", MINUTE_MS, HF_SET_NX), 1);
    assert_int_equal(add_as(f, key, "a", 60 * MINUTE_MS, HF_SET_NX), 0);
    assert_in_range(ttl_of(f, key, "a"), 1, MINUTE_MS);
    assert_int_equal(add_as(f, key, "a", 60 * MINUTE_MS, HF_SET_XX), 0);
    assert_in_range(ttl_of(f, key, "a"), MINUTE_MS + 1, 60 * MINUTE_MS);
}

TEST(removed_members_are_gone_and_with_the_last_the_keys)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_bytes members[] = {bytes("a"), bytes("none"), bytes("b")};
    char due[256];
    size_t removed = 0;

    assert_int_equal(add(f, key, "a", MINUTE_MS), 1);
    assert_int_equal(add(f, key, "b", 0), 1);
    assert_int_equal(add(f, key, "c", MINUTE_MS), 1);
    expect_status(HF_OK,
                  hf_set_remove(f->client, key, members, 3, &removed, ERR));
    assert_int_equal(removed, 2);
    assert_int_equal(ttl_of(f, key, "a"), -2);
    assert_count(f, key, 1);
    members[0] = bytes("c");
    expect_status(HF_OK,
                  hf_set_remove(f->client, key, members, 1, &removed, ERR));
    assert_int_equal(removed, 1);
    assert_no_key(f->client, key);
    snprintf(due, sizeof(due), "hf:due:{%.*s}", (int)key.size,
             (const char *)key.data);
    assert_no_key(f->client, hf_str(due));
}

TEST(ttl_of_members_is_set_and_removed)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_bytes members[] = {bytes("a"), bytes("none")};
    int64_t ttl_ms = 0;
    size_t found = 0;

    assert_int_equal(add(f, key, "a", 0), 1);
    expect_status(HF_OK, hf_set_expire(f->client, key, MINUTE_MS, members, 2,
                                       &found, ERR));
    assert_int_equal(found, 1);
    assert_in_range(ttl_of(f, key, "a"), 1, MINUTE_MS);
    assert_int_equal(ttl_of(f, key, "none"), -2);
    expect_status(HF_OK,
                  hf_set_expire(f->client, key, -1, members, 2, NULL, ERR));
    assert_int_equal(ttl_of(f, key, "a"), -1);
    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_int_equal(ttl_ms, -1);
}

static bool all_have_expired(fixture *f, hf_bytes key, const char *last)
{
    return ttl_of(f, key, last) == -2;
}

/* They are among others that have not expired, and are not all removed. */
TEST(expired_members_are_never_seen)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_bytes old[] = {bytes("old0"), bytes("old1")};
    hf_set_members page = HF_SET_MEMBERS_INIT;
    hf_bytes cursor = hf_view(NULL, 0);
    char held[32] = "";
    size_t found = 0, pages = 0, count = 12345;

    assert_int_equal(add(f, key, "stays", 0), 1);
    assert_int_equal(add(f, key, "lives", MINUTE_MS), 1);
    add_several(f, key, "old", SEVERAL, 200);
    expect_soon(all_have_expired(f, key, "old299"), 2600);
    assert_count(f, key, 2);
    do {
        expect_status(HF_OK,
                      hf_set_page(f->other, key, cursor, 50, &page, ERR));
        for (size_t i = 0; i < page.count; i++) {
            assert_memory_not_equal(page.items[i].member.data, "old", 3);
            found++;
        }
        assert_true(page.next.size < sizeof(held));
        memcpy(held, page.next.data, page.next.size);
        cursor = hf_view(held, page.next.size);
        hf_set_members_free(&page);
    } while (cursor.size > 0 && ++pages < 100);
    assert_in_range(found, 2, 4);
    expect_status(
        HF_OK, hf_set_expire(f->client, key, MINUTE_MS, old, 1, &count, ERR));
    assert_int_equal(count, 0);
    expect_status(HF_OK,
                  hf_set_remove(f->client, key, old + 1, 1, &count, ERR));
    assert_int_equal(count, 0);
    /* One that has expired is new, and has no time from before. */
    assert_int_equal(add(f, key, "old0", 0), 1);
    assert_int_equal(ttl_of(f, key, "old0"), -1);
    assert_int_equal(add_as(f, key, "old200", MINUTE_MS, HF_SET_NX), 1);
    assert_int_equal(add_as(f, key, "old201", MINUTE_MS, HF_SET_XX), 0);
    assert_int_equal(ttl_of(f, key, "old201"), -2);
    assert_count(f, key, 4);
}

static int64_t stored(fixture *f, hf_bytes key)
{
    hf_script *script =
        fixture_script(f, f->client, "return redis.call('scard', KEYS[1])");
    hf_reply *reply = NULL;
    int64_t count;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    count = hf_reply_integer(reply);
    hf_reply_free(reply);
    return count;
}

TEST(each_write_removes_some_that_have_expired)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");

    add_several(f, key, "old", SEVERAL, 200);
    assert_int_equal(add(f, key, "a", 0), 1);
    expect_soon(all_have_expired(f, key, "old299"), 2600);
    for (int i = 0; i < SEVERAL / 16 + 1; i++)
        assert_int_equal(add(f, key, "a", 0), 0);
    assert_int_equal(stored(f, key), 1);
}

/* As many as it adds, and more. */
TEST(large_add_removes_many_that_have_expired)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");

    add_several(f, key, "old", SEVERAL, 200);
    assert_int_equal(add(f, key, "a", 0), 1);
    expect_soon(all_have_expired(f, key, "old299"), 2600);
    add_several(f, key, "new", SEVERAL - 16, MINUTE_MS);
    assert_int_equal(stored(f, key), SEVERAL - 16 + 1);
}

/* Members come faster than 16 with each call; without a limit 10 000 would be
 * stored in the end. */
TEST(members_that_have_expired_do_not_pile_up)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    char prefix[16];

    for (int i = 0; i < 300; i++) {
        snprintf(prefix, sizeof(prefix), "%d:", i);
        add_several(f, key, prefix, 50, 20);
        (void)usleep(1000);
    }
    assert_in_range(stored(f, key), 0, 4000);
}

TEST(set_is_gone_with_its_last_member)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");

    add_several(f, key, "m", 2, 200);
    expect_soon(key_is_gone(f->client, key), 2600);
    assert_count(f, key, 0);
    assert_int_equal(add(f, key, "m0", 0), 1);
    assert_int_equal(ttl_of(f, key, "m0"), -1);
}

TEST(pages_have_every_member)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_set_members page = HF_SET_MEMBERS_INIT;
    static bool seen[1000];
    hf_bytes cursor = hf_view(NULL, 0);
    char held[32] = "";
    size_t found = 0, pages = 0;

    memset(seen, 0, sizeof(seen));
    add_several(f, key, "m", 1000, MINUTE_MS);
    do {
        expect_status(HF_OK,
                      hf_set_page(f->other, key, cursor, 100, &page, ERR));
        for (size_t i = 0; i < page.count; i++) {
            long number =
                strtol((const char *)page.items[i].member.data + 1, NULL, 10);

            assert_in_range(number, 0, 999);
            assert_in_range(page.items[i].ttl_ms, 1, MINUTE_MS);
            found += !seen[number];
            seen[number] = true;
        }
        memcpy(held, page.next.data, page.next.size);
        cursor = hf_view(held, page.next.size);
        hf_set_members_free(&page);
    } while (cursor.size > 0 && ++pages < 100);
    assert_int_equal(found, 1000);
    assert_true(pages > 2);
    hf_set_members_free(NULL);
}

TEST(set_of_other_programs_is_one_whose_members_stay)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_script *script =
        fixture_script(f, f->client,
                       "redis.call('sadd', KEYS[1], 'theirs'); "
                       "return redis.call('pexpire', KEYS[1], 3600000)");
    hf_reply *reply = NULL;
    int64_t ttl_ms = 0;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    assert_int_equal(ttl_of(f, key, "theirs"), -1);
    /* Nothing in it has expired, so the time of the key is left alone. */
    assert_int_equal(add(f, key, "ours", 0), 1);
    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 1, 3600000);
    assert_count(f, key, 2);
}

TEST(transaction_adds_and_finds_members)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    hf_bytes member = bytes("a");
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    hf_async queue = HF_ASYNC_INIT;
    size_t added = 0, count = 0;
    int64_t ttl_ms = 0;

    opts.ttl_ms = MINUTE_MS;
    expect_status(HF_OK, hf_txn_new(f->client, NULL, &queue.txn, ERR));
    expect_status(HF_OK, hf_set_add_start(f->client, key, &member, 1, &opts,
                                          &added, &queue, ERR));
    expect_status(
        HF_OK, hf_set_has_start(f->client, key, member, &ttl_ms, &queue, ERR));
    expect_status(HF_OK,
                  hf_set_count_start(f->client, key, &count, &queue, ERR));
    expect_status(HF_OK, hf_txn_exec(queue.txn, ERR));
    hf_txn_free(queue.txn);
    assert_int_equal(added, 1);
    assert_in_range(ttl_ms, 1, MINUTE_MS);
    assert_int_equal(count, 1);
}

/* A refused call changes nothing and names what is wrong. */
static void refuse(fixture *f, hf_status status, const char *culprit)
{
    (void)f;
    expect_status(HF_INVALID, status);
    if (strstr(expect_message(), culprit) == NULL)
        fail_msg("'%s' does not name '%s'", expect_message(), culprit);
}

TEST(bad_input_is_refused_by_name)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    static char long_name[HF_MEMBER_MAX + 1];
    hf_bytes members[] = {bytes("a"), bytes("b")};
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    hf_set_members page;

    opts.ttl_ms = -5;
    refuse(f, hf_set_add(f->client, key, members, 2, &opts, NULL, ERR),
           "ttl_ms is -5");
    opts.ttl_ms = 0;
    opts.flags = HF_SET_NX | HF_SET_XX;
    refuse(f, hf_set_add(f->client, key, members, 2, &opts, NULL, ERR), "NX");
    opts.flags = HF_SET_NX | HF_SET_KEEPTTL;
    refuse(f, hf_set_add(f->client, key, members, 2, &opts, NULL, ERR), "NX");
    opts.flags = HF_SET_GET;
    expect_status(HF_UNSUPPORTED,
                  hf_set_add(f->client, key, members, 2, &opts, NULL, ERR));
    refuse(f, hf_set_add(f->client, key, members, 0, NULL, NULL, ERR),
           "count is 0");
    refuse(f, hf_set_add(f->client, key, members, 1001, NULL, NULL, ERR),
           "count is 1001");
    refuse(f, hf_set_remove(f->client, key, NULL, 1, NULL, ERR),
           "members is NULL");
    memset(long_name, 'x', sizeof(long_name));
    members[1] = hf_view(long_name, sizeof(long_name));
    refuse(f, hf_set_add(f->client, key, members, 2, NULL, NULL, ERR),
           "member 1 has 4097 bytes");
    refuse(f, hf_set_has(f->client, key, bytes(""), NULL, ERR),
           "member 0 has 0 bytes");
    refuse(f, hf_set_expire(f->client, key, 0, members, 1, NULL, ERR),
           "ttl_ms is 0");
    refuse(f, hf_set_has_members(f->client, key, members, 1, NULL, ERR),
           "ttls_ms is NULL");
    refuse(f, hf_set_count(f->client, key, NULL, ERR), "count is NULL");
    refuse(f, hf_set_page(f->client, key, bytes(""), 1001, &page, ERR),
           "limit is 1001");
    refuse(f, hf_set_page(f->client, key, bytes("1a"), 1, &page, ERR),
           "cursor");
    refuse(f, hf_set_page(f->client, key, bytes(""), 1, NULL, ERR),
           "page is NULL");
    assert_no_key(f->client, key);
}

TEST(longest_members_are_kept)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "s");
    static char long_name[HF_MEMBER_MAX];
    hf_bytes members[2];
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    int64_t ttls_ms[2];
    size_t added = 0;

    memset(long_name, 'x', sizeof(long_name));
    members[0] = hf_view(long_name, sizeof(long_name));
    members[1] = hf_view(long_name, sizeof(long_name) - 1);
    opts.ttl_ms = HF_TTL_MAX_MS;
    expect_status(HF_OK,
                  hf_set_add(f->client, key, members, 2, &opts, &added, ERR));
    assert_int_equal(added, 2);
    expect_status(HF_OK,
                  hf_set_has_members(f->other, key, members, 2, ttls_ms, ERR));
    assert_true(ttls_ms[0] > 0 && ttls_ms[1] > 0);
}
