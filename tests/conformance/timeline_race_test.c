/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_race_test.c - processes that add, replace and remove the items of a
 * timeline while this one reads: no id without its payload, none twice, and the
 * five keys have the same items afterwards.
 *
 * HOLDFAST_TIMELINE_RACE_MS is how long they do so; default 300.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/script.h"
#include "holdfast/timeline.h"
#include "support/prng.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define PROCESSES 3
#define IDS 40

static pid_t children[PROCESSES];

static int64_t race_ms(void)
{
    const char *text = getenv("HOLDFAST_TIMELINE_RACE_MS");

    return text == NULL ? 300 : strtol(text, NULL, 10);
}

/* The payload and the attribute say the same. */
static hf_status add(hf_client *client, hf_bytes key, int id, int64_t number)
{
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attribute =
        hf_attribute_number(bytes("n"), (double)(number % 1000));
    char name[16], payload[32];

    snprintf(name, sizeof(name), "%02d", id);
    snprintf(payload, sizeof(payload), "%d", (int)(number % 1000));
    opts.attributes = &attribute;
    opts.attribute_count = 1;
    opts.at_ms = 1 + number % 5000;
    return hf_timeline_add(client, key, hf_str(name), hf_str(payload),
                           number % 3 == 0 ? 5 : 60000, &opts, NULL);
}

/* In a child: the parent's client may not be used. */
static int write_items(const char *url, hf_bytes key, unsigned seed)
{
    hf_client *client = NULL;
    int64_t until_ms = test_now_ms() + race_ms();
    prng random = prng_of(seed, 1, 1);

    if (hf_client_open(url, NULL, &client, NULL) != HF_OK)
        return 1;
    do {
        int id = (int)prng_below(&random, IDS);
        char name[16];
        hf_status status;

        snprintf(name, sizeof(name), "%02d", id);
        if (prng_below(&random, 3) == 0)
            status = hf_timeline_remove(client, key, hf_str(name), NULL);
        else
            status = add(client, key, id, (int64_t)prng_below(&random, 100000));
        if (status != HF_OK && status != HF_NOT_FOUND)
            return 1;
    } while (test_now_ms() < until_ms);
    hf_client_close(client);
    return 0;
}

static void assert_whole(const hf_timeline_items *page)
{
    bool seen[IDS] = {false};

    for (size_t i = 0; i < page->count; i++) {
        const hf_timeline_item *item = &page->items[i];
        long id = strtol(item->id.data, NULL, 10);

        assert_in_range(id, 0, IDS - 1);
        assert_false(seen[id]);
        seen[id] = true;
        assert_int_equal(item->attribute_count, 1);
        assert_int_equal((int)item->attributes[0].number,
                         strtol(item->payload.data, NULL, 10));
        assert_true(item->ttl_ms > 0);
    }
}

static void read_one_page(fixture *f, hf_bytes key, int round)
{
    hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    opts.limit = IDS + 1;
    if (round % 2 == 0)
        opts.order_by = bytes("n");
    expect_status(HF_OK, hf_timeline_page(f->client, key, &opts, &page, ERR));
    assert_whole(&page);
    for (size_t i = 1; i < page.count && round % 2 == 0; i++)
        assert_true(page.items[i - 1].attributes[0].number >=
                    page.items[i].attributes[0].number);
    hf_timeline_items_free(&page);
}

/* Every key has the same ids, and order two positions for each. */
static const char compare[] =
    "local n, order = redis.call('zcard', KEYS[1]), {}\n"
    "if redis.call('hlen', KEYS[2]) ~= n then return 'items' end\n"
    "if redis.call('hlen', KEYS[3]) ~= n then return 'tags' end\n"
    "if redis.call('zcard', KEYS[4]) ~= n then return 'due' end\n"
    "if redis.call('zcard', KEYS[5]) ~= 2 * n then return 'order' end\n"
    "for _, id in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do\n"
    "  local at = redis.call('zscore', KEYS[1], id)\n"
    "  local place = string.format('%016.0f', at) .. id\n"
    "  local tag = redis.call('hget', KEYS[3], id)\n"
    "  if not redis.call('hget', KEYS[2], id) or not tag or\n"
    "    not redis.call('zscore', KEYS[4], id) or\n"
    "    not redis.call('zscore', KEYS[5], '\\0\\0' .. place) or\n"
    "    not redis.call('zscore', KEYS[5], tag .. place) then\n"
    "    return id\n"
    "  end\n"
    "end\n"
    "return 'same'";

static void assert_same_items(hf_script *script, hf_bytes key)
{
    static const char *const roles[] = {"items", "labels", "due", "order"};
    char names[4][256];
    hf_bytes keys[5] = {key};
    hf_reply *reply = NULL;

    for (size_t i = 0; i < 4; i++) {
        snprintf(names[i], sizeof(names[i]), "hf:%s:{%.*s}", roles[i],
                 (int)key.size, (const char *)key.data);
        keys[i + 1] = hf_str(names[i]);
    }
    expect_status(HF_OK, hf_script_run(script, keys, 5, NULL, 0, &reply, ERR));
    assert_bytes(bytes("same"), hf_reply_bytes(reply));
    hf_reply_free(reply);
}

static bool all_have_ended(void)
{
    for (size_t i = 0; i < PROCESSES; i++) {
        int status = 0;

        if (children[i] <= 0)
            continue;
        if (waitpid(children[i], &status, WNOHANG) == 0)
            return false;
        children[i] = 0;
        assert_int_equal(status, 0);
    }
    return true;
}

TEST(readers_see_whole_items_only)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "t");
    hf_script *script = fixture_script(f, f->client, compare);
    int round = 0;

    for (size_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(write_items(f->url, key, (unsigned)i + 1));
    }
    do {
        read_one_page(f, key, round++);
        assert_same_items(script, key);
    } while (!all_have_ended());
    assert_true(round > 0);
    read_one_page(f, key, 0);
    assert_same_items(script, key);
}
