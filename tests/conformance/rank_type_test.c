/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_type_test.c - other sorted sets of ours are not changed as a rank, nor a
 * rank as a timeline.
 */
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/queue.h"
#include "holdfast/rank.h"
#include "holdfast/timeline.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define MINUTE_MS 60000

static hf_status add_as(fixture *f, hf_bytes key, const char *name,
                        double score, int64_t ttl_ms, uint32_t flags)
{
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    opts.flags = flags;
    return hf_rank_add(f->client, key, hf_str(name), score, &opts, NULL, ERR);
}

static void add(fixture *f, hf_bytes key, const char *name, double score,
                int64_t ttl_ms)
{
    expect_status(HF_OK, add_as(f, key, name, score, ttl_ms, 0));
}

/* Both are sorted sets with deadlines. */
TEST(timeline_is_not_changed_as_a_rank)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_bytes member = bytes("a");
    hf_rank_trimmed trimmed;
    hf_timeline_items items = HF_TIMELINE_ITEMS_INIT;

    expect_status(HF_OK, hf_timeline_add(f->client, key, member, bytes("1"),
                                         MINUTE_MS, NULL, ERR));
    expect_status(HF_WRONG_TYPE, add_as(f, key, "b", 1, 0, 0));
    expect_status(HF_WRONG_TYPE, add_as(f, key, "a", 1, MINUTE_MS, 0));
    expect_status(HF_WRONG_TYPE, hf_rank_increment(f->client, key, member, 1,
                                                   NULL, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_rank_remove(f->client, key, &member, 1, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_rank_expire(f->client, key, member, -1, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_rank_trim(f->client, key, 0, &trimmed, ERR));
    assert_non_null(strstr(expect_message(), "is a timeline"));
    expect_status(HF_OK, hf_timeline_get(f->other, key, member, &items, ERR));
    assert_in_range(items.items[0].ttl_ms, 1, MINUTE_MS);
    hf_timeline_items_free(&items);
    expect_status(HF_OK, hf_timeline_delete(f->client, key, ERR));
    add(f, key, "a", 1, 0);
    expect_status(HF_OK, hf_rank_get(f->other, key, member, NULL, NULL, ERR));
}

/* Each write of a rank is `want`, each of a timeline HF_WRONG_TYPE. */
static void assert_refused(fixture *f, hf_bytes key, const char *name,
                           hf_status want, const char *why)
{
    hf_bytes member = hf_str(name);
    hf_rank_trimmed trimmed;
    hf_timeline_trimmed cut;

    expect_status(want, add_as(f, key, "bob", 5, 0, 0));
    expect_status(want, add_as(f, key, name, 5, MINUTE_MS, 0));
    expect_status(
        want, hf_rank_increment(f->client, key, member, 1, NULL, NULL, ERR));
    expect_status(want, hf_rank_remove(f->client, key, &member, 1, NULL, ERR));
    expect_status(want, hf_rank_expire(f->client, key, member, 1, ERR));
    expect_status(want, hf_rank_trim(f->client, key, 0, &trimmed, ERR));
    assert_non_null(strstr(expect_message(), why));
    expect_status(HF_WRONG_TYPE, hf_timeline_add(f->client, key, member, member,
                                                 MINUTE_MS, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_timeline_remove(f->client, key, member, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_timeline_trim(f->client, key, 0, 0, &cut, ERR));
    expect_status(HF_WRONG_TYPE, hf_timeline_delete(f->client, key, ERR));
}

/* The deadlines of a rank that another program deleted are still there. */
TEST(work_queue_after_a_rank_is_not_changed_as_one)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "q");
    const hf_bytes del[] = {bytes("DEL"), key};

    add(f, key, "m", 1, MINUTE_MS);
    expect_status(HF_OK, hf_command(f->client, 2, del, NULL, ERR));
    expect_status(
        HF_OK, hf_queue_put(f->client, key, bytes("j"), bytes("p"), NULL, ERR));
    expect_status(HF_WRONG_TYPE, add_as(f, key, "m", 1, 0, 0));
    expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
}

TEST(work_queue_is_not_changed_as_a_rank)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "q");
    hf_queue_info info = HF_QUEUE_INFO_INIT;

    expect_status(
        HF_OK, hf_queue_put(f->client, key, bytes("j"), bytes("p"), NULL, ERR));
    assert_refused(f, key, ":j", HF_WRONG_TYPE, "is a work queue");
    expect_status(HF_OK, hf_queue_pause(f->client, key, true, ERR));
    assert_refused(f, key, ":j", HF_WRONG_TYPE, "is a work queue");
    expect_status(HF_OK, hf_queue_inspect(f->other, key, &info, ERR));
    assert_int_equal(info.ready, 1);
}

TEST(barrier_is_not_changed_as_a_rank)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "b");
    hf_rank_members page = HF_RANK_MEMBERS_INIT;
    char party[64] = "";
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_barrier_wait_start(f->other, key, 2, 30000, NULL,
                                               NULL, &async, ERR));
    expect_soon(!key_is_gone(f->client, key), 5000);
    expect_status(HF_OK, hf_rank_page(f->client, key, 0, 0, 0, &page, ERR));
    assert_int_equal(page.count, 1);
    assert_true(page.items[0].member.size < sizeof(party));
    memcpy(party, page.items[0].member.data, page.items[0].member.size);
    hf_rank_members_free(&page);
    assert_refused(f, key, party, HF_HELD, "a barrier at which parties wait");
    expect_status(HF_OK,
                  hf_barrier_wait(f->client, key, 2, 10000, NULL, NULL, ERR));
    await_ok(f->other, &said);
}

TEST(rank_is_not_changed_as_a_timeline)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_bytes member = bytes("a"), payload = bytes("1");
    hf_timeline_update_options opts = HF_TIMELINE_UPDATE_OPTIONS_INIT;
    hf_timeline_trimmed trimmed;
    hf_timeline_items items = HF_TIMELINE_ITEMS_INIT;
    size_t count = 12345;

    add(f, key, "a", 7, MINUTE_MS);
    add(f, key, "stays", 1, 0);
    opts.payload = &payload;
    for (int i = 0; i < 2; i++) {
        expect_status(HF_WRONG_TYPE,
                      hf_timeline_add(f->client, key, member, payload,
                                      MINUTE_MS, NULL, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_timeline_remove(f->client, key, member, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_timeline_trim(f->client, key, 0, 0, &trimmed, ERR));
        assert_non_null(strstr(expect_message(), "is not a timeline"));
        expect_status(HF_WRONG_TYPE, hf_timeline_delete(f->client, key, ERR));
        expect_status(HF_NOT_FOUND,
                      hf_timeline_get(f->client, key, member, &items, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_timeline_update(f->client, key, member, &opts, ERR));
        expect_status(HF_OK, hf_rank_expire(f->client, key, member, -1, ERR));
    }
    expect_status(HF_OK, hf_rank_count(f->other, key, NULL, NULL, &count, ERR));
    assert_int_equal(count, 2);
}
