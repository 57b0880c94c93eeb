/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_3_timeline_test.c - the third article's list of unconfirmed
 * transactions as a timeline: its four requirements, its five inserts, its page
 * of the two newest, its removal by time, and the order by a value for which
 * its author fetched and sorted everything.
 */
#include "holdfast/timeline.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define TWELVE_HOURS_MS (12 * 3600 * 1000)

static const hf_bytes ptxlist = {"ptxlist", 7};

/* In the article's order; `fee` is ours. */
static const struct {
    int64_t at_s;
    const char *id;
    const char *payload;
    double fee;
} items[] = {
    {1540458292, "key1", "data1", 30}, {1540458293, "key2", "data2", 10},
    {1540458294, "key3", "data3", 50}, {1540458294, "key5", "data5", 20},
    {1540458293, "key4", "data4", 40},
};

static void add(fixture *f, size_t i, int64_t ttl_ms)
{
    const hf_attribute fee = hf_attribute_number(hf_str("fee"), items[i].fee);
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;

    opts.at_ms = items[i].at_s * 1000;
    opts.attributes = &fee;
    opts.attribute_count = 1;
    expect_status(
        HF_OK, hf_timeline_add(f->client, ptxlist, hf_str(items[i].id),
                               hf_str(items[i].payload), ttl_ms, &opts, ERR));
}

static void add_five(fixture *f)
{
    for (size_t i = 0; i < 5; i++)
        add(f, i, TWELVE_HOURS_MS);
}

static void remove_all(fixture *f)
{
    for (size_t i = 0; i < 5; i++)
        (void)!hf_timeline_remove(f->client, ptxlist, hf_str(items[i].id),
                                  NULL);
}

static void assert_payloads(hf_timeline_items *page, const char *const *wanted)
{
    size_t count = 0;

    for (; wanted[count] != NULL; count++) {
        assert_true(count < page->count);
        assert_bytes(hf_str(wanted[count]), page->items[count].payload);
    }
    assert_int_equal(page->count, count);
    hf_timeline_items_free(page);
}

static void assert_page(fixture *f, const hf_timeline_page_options *opts,
                        const char *const *wanted)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    expect_status(HF_OK, hf_timeline_page(f->other, ptxlist, opts, &page, ERR));
    assert_payloads(&page, wanted);
}

TEST(five_inserts_are_ordered_by_time)
{
    fixture *f = *state;
    hf_timeline_page_options oldest = HF_TIMELINE_PAGE_OPTIONS_INIT;

    add_five(f);
    oldest.flags = HF_TIMELINE_ASCENDING;
    assert_page(f, &oldest, words("data1", "data2", "data4", "data3", "data5"));
    remove_all(f);
}

/* sort ptxlist limit 0 2 desc by not-exist-key get ptx:* */
TEST(two_newest_are_data5_and_data3)
{
    fixture *f = *state;
    hf_timeline_page_options two = HF_TIMELINE_PAGE_OPTIONS_INIT;

    add_five(f);
    two.limit = 2;
    assert_page(f, &two, words("data5", "data3"));
    two.offset = 2;
    assert_page(f, &two, words("data4", "data2"));
    remove_all(f);
}

/* get ptx:key3; lrem and del by a key. */
TEST(item_is_read_and_removed_by_its_key)
{
    fixture *f = *state;
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    hf_bytes key3 = bytes("key3");

    add_five(f);
    expect_status(HF_OK, hf_timeline_get(f->other, ptxlist, key3, &found, ERR));
    assert_payloads(&found, words("data3"));
    expect_status(HF_OK, hf_timeline_remove(f->client, ptxlist, key3, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_timeline_get(f->other, ptxlist, key3, &found, ERR));
    assert_page(f, NULL, words("data5", "data4", "data2", "data1"));
    remove_all(f);
}

/* zremrangebyscore ptxlist 0 1540458293 */
TEST(removal_by_time_leaves_key3_and_key5)
{
    fixture *f = *state;
    hf_timeline_page_options oldest = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_trimmed trimmed;

    add_five(f);
    expect_status(HF_OK,
                  hf_timeline_trim(f->client, ptxlist, INT64_C(1540458293000),
                                   -1, &trimmed, ERR));
    assert_int_equal(trimmed.removed, 3);
    assert_false(trimmed.more);
    oldest.flags = HF_TIMELINE_ASCENDING;
    assert_page(f, &oldest, words("data3", "data5"));
    remove_all(f);
}

/* What its loop of five seconds is for; the payload goes with its key. */
TEST(item_that_expired_is_on_no_page)
{
    fixture *f = *state;
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    size_t count = 0;

    add(f, 0, 30);
    add(f, 2, TWELVE_HOURS_MS);
    expect_soon(hf_timeline_count(f->client, ptxlist, &count, NULL) == HF_OK &&
                    count == 1,
                1000);
    assert_page(f, NULL, words("data3"));
    expect_status(HF_NOT_FOUND, hf_timeline_get(f->client, ptxlist,
                                                bytes("key1"), &found, ERR));
    remove_all(f);
}

/* In the program, every ten seconds, of all of them. */
TEST(order_by_a_value_needs_no_program)
{
    fixture *f = *state;
    hf_timeline_page_options dearest = HF_TIMELINE_PAGE_OPTIONS_INIT;

    add_five(f);
    dearest.order_by = bytes("fee");
    dearest.limit = 3;
    assert_page(f, &dearest, words("data3", "data4", "data1"));
    remove_all(f);
}
