/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_salvage_test.c - store salvage: a damaged store's intact keys come
 * whole into a new store, and the others are named.
 */
#include "embedded_store.h"
#include "open_env.h"

#include <fcntl.h>

#include "engine/keys/tx_life.h"
#include "engine/keys/type_hash.h"
#include "engine/run/execute.h"
#include "engine/run/write.h"
#include "holdfast/command.h"
#include "holdfast/store.h"

#define SOON_MS 10000

static place at;
static char new_url[192];
static char lost[TEXT_SIZE];

static int set_up(void **state)
{
    make_place(&at, "file", "");
    (void)snprintf(new_url, sizeof(new_url), "file:%s/new", at.folder);
    lost[0] = '\0';
    *state = &at;
    return 0;
}

static int tear_down(void **state)
{
    remove_place(*state);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void note_lost(void *user, hf_bytes key, const char *why)
{
    size_t used = strlen(lost);

    (void)user;
    (void)snprintf(lost + used, sizeof(lost) - used, "%.*s: %s\n",
                   key.data != NULL ? (int)key.size : 1,
                   key.data != NULL ? (const char *)key.data : "?", why);
}

static hf_status salvage(hf_store_salvaged *done, hf_error *err)
{
    *done = (hf_store_salvaged)HF_STORE_SALVAGED_INIT;
    return hf_store_salvage(at.url, new_url, note_lost, NULL, done, err);
}

/* Keys of every type and form, with long names and expiries. */
static void fill(const char *url)
{
    static const char source[] =
        "redis.call('set', 'string', 'x', 'px', 600000) "
        "redis.call('set', string.rep('n', 3000), 'long') "
        "redis.call('set', 'large', string.rep('v', 3000000)) "
        "redis.call('rpush', 'list', 'a', 'b') "
        "redis.call('hset', 'hash', 'f', 'v') "
        "for i = 1, 400 do redis.call('set', 'k' .. i, string.rep('y', 500)) "
        "redis.call('hset', 'h', string.rep('f', i) .. i, i) "
        "redis.call('sadd', 's', i) redis.call('zadd', 'z', i, 'm' .. i) "
        "redis.call('rpush', 'l', string.rep('e', i)) end "
        "redis.call('hpexpireat', 'h', 2000000000000, 'fields', 1, 'f1') "
        "return redis.call('dbsize')";
    hf__store *store = must_open(url, NULL);
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(store, source, 0, "", text), HF_OK);
    assert_string_equal(text, "i:409");
    close_store(store);
}

/* A hash without fields, as an earlier version left it after a RESTORE with a
 * deadline beyond 2^53. */
static void put_empty_hash(const char *url, const char *name)
{
    hf__env *env = open_env(url);
    int64_t now_ms = hf__clock_boot_ms();
    hf__record *record;
    hf__tx *tx;

    assert_int_equal(hf__env_lock(env, now_ms + SOON_MS, NULL), HF_OK);
    assert_true(hf__execute_prepare(env, NULL));
    tx = env->write_tx;
    assert_int_equal(hf__env_begin_write(env, now_ms, &tx->txn, NULL), HF_OK);
    hf__tx_start(tx, now_ms);
    record = hf__hash_make(tx, hf_str(name));
    assert_non_null(record);
    assert_true(hf__hash_put(tx, record, hf_str("f"), hf_str("v")));
    assert_true(hf__hash_delete(tx, record, hf_str("f")));
    assert_int_equal(hf__tx_finish(tx), HF_OK);
    hf__write_end(env);
    hf__env_unref(env);
}

static hf_reply *ask(hf_client *client, const char *command, hf_bytes key)
{
    hf_bytes words[] = {hf_str(command), key};
    hf_reply *reply = NULL;

    assert_int_equal(hf_command(client, 2, words, &reply, NULL), HF_OK);
    return reply;
}

/* Each key of the new store has the content of the old one; their number. */
static size_t expect_copies(hf_client *old, hf_client *client)
{
    hf_reply *names = ask(client, "keys", hf_str("*"));
    size_t count = hf_reply_count(names);

    for (size_t i = 0; i < count; i++) {
        static const char *const commands[] = {"dump", "pexpiretime"};
        hf_bytes key = hf_reply_bytes(hf_reply_at(names, i));

        for (size_t c = 0; c < 2; c++) {
            hf_reply *one = ask(old, commands[c], key);
            hf_reply *other = ask(client, commands[c], key);
            hf_bytes text = hf_reply_bytes(one);

            assert_int_equal(hf_reply_integer(one), hf_reply_integer(other));
            assert_int_equal(text.size, hf_reply_bytes(other).size);
            assert_memory_equal(text.data, hf_reply_bytes(other).data,
                                text.size);
            hf_reply_free(one);
            hf_reply_free(other);
        }
    }
    hf_reply_free(names);
    return count;
}

/* Compare the new store, which must pass the check, with a store like the
 * damaged one before it was. */
static size_t compare(void)
{
    char like[192];
    hf_client *old, *client;
    hf_error err = HF_ERROR_INIT;
    size_t count;

    (void)snprintf(like, sizeof(like), "file:%s/like", at.folder);
    if (hf_store_check(new_url, NULL, NULL, NULL, &err) != HF_OK)
        fail_msg("%s", err.message);
    assert_int_equal(hf_client_open(like, NULL, &old, NULL), HF_OK);
    assert_int_equal(hf_client_open(new_url, NULL, &client, NULL), HF_OK);
    count = expect_copies(old, client);
    hf_client_close(old);
    hf_client_close(client);
    return count;
}

static void fill_both(void)
{
    char from[256], command[512];

    fill(at.url);
    (void)snprintf(from, sizeof(from), "%s/like", at.folder);
    (void)snprintf(command, sizeof(command), "cp -r %s/s %s", at.folder, from);
    assert_int_equal(system(command), 0);
}

TEST(intact_store_is_copied)
{
    hf_store_salvaged done;
    hf_error err = HF_ERROR_INIT;

    fill_both();
    if (salvage(&done, &err) != HF_OK)
        fail_msg("%s", err.message);
    assert_int_equal(done.keys, 409);
    assert_int_equal(done.lost + done.faults, 0);
    assert_true(done.complete);
    assert_int_equal(compare(), 409);
}

TEST(key_that_makes_a_store_unopenable_is_left_behind)
{
    static const char fault[] = "key \"broken\": a collection without elements";
    hf_store_compaction compaction = HF_STORE_COMPACTION_INIT;
    hf_store_salvaged done;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    fill_both();
    put_empty_hash(at.url, "broken");
    assert_int_equal(hf_client_open(at.url, NULL, &client, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, fault));
    assert_int_equal(hf_store_compact(at.url, &compaction, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, fault));

    assert_int_equal(salvage(&done, &err), HF_CORRUPT);
    assert_string_equal(lost, "broken: a collection without elements\n");
    assert_string_equal(err.message,
                        "409 keys were copied, 1 were not; 0 other faults");
    assert_int_equal(done.keys, 409);
    assert_int_equal(done.lost, 1);
    assert_true(done.complete);
    assert_int_equal(compare(), 409);
}

/* Overwrite a page of the data file if it is a leaf; false: it is none. */
static bool spoil_leaf(uint64_t number)
{
    unsigned char page[4096];
    char path[256];
    uint16_t kind;
    bool leaf;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/s/data.mdb", at.folder);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    leaf = pread(fd, page, sizeof(page), (off_t)(number * sizeof(page))) ==
           (ssize_t)sizeof(page);
    memcpy(&kind, page + 10, sizeof(kind));
    leaf = leaf && kind == 0x02;
    memset(page, 0xa5, sizeof(page));
    if (leaf)
        assert_int_equal(
            pwrite(fd, page, sizeof(page), (off_t)(number * sizeof(page))),
            sizeof(page));
    close(fd);
    return leaf;
}

/* Whatever page is lost, what is copied is whole. */
TEST(pages_that_cannot_be_read_lose_their_keys_only)
{
    char command[512];
    size_t tried = 0;

    fill_both();
    for (uint64_t page = 2; page < 4000 && tried < 12; page += 7) {
        hf_store_salvaged done;
        hf_error err = HF_ERROR_INIT;

        if (!spoil_leaf(page))
            continue;
        lost[0] = '\0';
        switch (salvage(&done, &err)) {
        case HF_OK: /* a free page */
            assert_int_equal(compare(), 409);
            break;
        case HF_CORRUPT:
            assert_true(done.complete && done.faults > 0);
            assert_int_equal(compare(), done.keys);
            assert_in_range(done.keys, 300, 408);
            tried++;
            break;
        default:
            fail_msg("page %d: %s", (int)page, err.message);
        }
        (void)snprintf(command, sizeof(command),
                       "cd %s && rm -rf s new && cp -r like s", at.folder);
        assert_int_equal(system(command), 0);
    }
    assert_true(tried > 3);
}

static void expect_refused(const char *url, const char *to, hf_status status)
{
    assert_int_equal(hf_store_salvage(url, to, NULL, NULL, NULL, NULL), status);
}

TEST(salvage_refuses_what_it_must_not_touch)
{
    hf_store_salvaged done = {.struct_size = 8};
    char other[192];

    expect_refused(at.url, new_url, HF_NOT_FOUND);
    at.store = must_open(at.url, NULL);
    expect_refused(at.url, new_url, HF_UNAVAILABLE);
    close_store(at.store);
    at.store = NULL;
    expect_refused(at.url, at.url, HF_INVALID);
    expect_refused(at.url, NULL, HF_INVALID);
    expect_refused(at.url, "redis://127.0.0.1", HF_UNSUPPORTED);
    expect_refused("redis://127.0.0.1", new_url, HF_UNSUPPORTED);
    expect_refused("volatile:", new_url, HF_UNSUPPORTED);
    assert_int_equal(hf_store_salvage(at.url, new_url, NULL, NULL, &done, NULL),
                     HF_INVALID);
    (void)snprintf(other, sizeof(other), "file:%s/other", at.folder);
    close_store(must_open(other, NULL));
    expect_refused(at.url, other, HF_CONFLICT);
    expect_refused(at.url, new_url, HF_OK);
}
