/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_delete_test.c - a store filled by each kind of write, and each call that
 * deletes or lets expire, of much at once: none may fail for want of space, and
 * what it deleted can be written again. Runs on the embedded stores.
 *
 * Pages are copied when they change, so a delete that visits many of them needs
 * as many new ones.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define MAX_SIZE "8M"
#define MAX_BYTES ((off_t)8 << 20)

#define BATCH 4000
#define LARGE_BATCH 250
#define MANY 500
#define WORDS_MAX 1024
#define WORD_SIZE 24

/* ------------------------------------------------------------------ filling */

/* Each adds ARGV[2] elements from ARGV[1] on. */
#define FILL(body) "for i = ARGV[1], ARGV[1] + ARGV[2] - 1 do " body " end"
#define TEXT "('x'):rep(100) .. i"

static const char values[] = FILL("redis.call('set', 'k' .. i, " TEXT ")");
static const char long_values[] =
    FILL("redis.call('set', 'k' .. i, ('y'):rep(3000))");
static const char hash[] = FILL("redis.call('hset', 'h', 'f' .. i, " TEXT ")");
static const char mortal[] =
    FILL("redis.call('hset', 'h', 'f' .. i, " TEXT ") "
         "redis.call('hpexpire', 'h', 1e7 + i, 'fields', 1, 'f' .. i)");
static const char hashes[] =
    FILL("redis.call('hset', 'k' .. i, 'a', i, 'b', " TEXT ")");
static const char list[] = FILL("redis.call('rpush', 'l', " TEXT ")");
static const char set[] = FILL("redis.call('sadd', 's', " TEXT ")");
static const char zset[] = FILL("redis.call('zadd', 'z', i, " TEXT ")");

static hf_status run(hf_client *client, const char *source, unsigned from,
                     unsigned count)
{
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    hf_error error = HF_ERROR_INIT;
    char texts[2][WORD_SIZE];
    hf_bytes words[2];
    hf_status status;

    (void)snprintf(texts[0], WORD_SIZE, "%u", from);
    (void)snprintf(texts[1], WORD_SIZE, "%u", count);
    words[0] = hf_str(texts[0]);
    words[1] = hf_str(texts[1]);
    expect_status(HF_OK, hf_script_load(client, hf_str(source), &script, ERR));
    status = hf_script_run(script, NULL, 0, words, 2, &reply, &error);
    hf_script_free(script);
    hf_reply_free(reply);
    if (status == HF_FULL)
        assert_non_null(strstr(error.message, "max_size=8192K"));
    return status;
}

/* Returns how many elements fitted. */
static unsigned fill(hf_client *client, const char *source)
{
    unsigned batch = source == long_values ? LARGE_BATCH : BATCH;
    hf_status status = HF_OK;
    unsigned count = 0;

    for (; status == HF_OK; count += status == HF_OK ? batch : 0)
        status = run(client, source, count, batch);
    expect_status_at(HF_FULL, status, source, __FILE__, __LINE__);
    return count;
}

/* How many of MANY were written. */
static unsigned written(const hf_status statuses[MANY])
{
    unsigned count = 0;

    for (size_t i = 0; i < MANY; i++) {
        if (statuses[i] != HF_FULL)
            expect_status(HF_OK, statuses[i]);
        count += statuses[i] == HF_OK;
    }
    return count;
}

static unsigned add_items(hf_client *client, unsigned from)
{
    static char ids[MANY][WORD_SIZE];
    static hf_attribute ranks[MANY];
    hf_timeline_add_item items[MANY];
    hf_status statuses[MANY];

    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(ids[i], WORD_SIZE, "id%u", from + i);
        ranks[i] = hf_attribute_number(hf_str("rank"), from + i);
        items[i] = (hf_timeline_add_item){.id = hf_str(ids[i]),
                                          .payload = hf_str("payload"),
                                          .ttl_ms = 3600000,
                                          .attributes = &ranks[i],
                                          .attribute_count = 1};
    }
    (void)!hf_timeline_add_many(client, hf_str("t"), items, MANY, 0, statuses,
                                NULL);
    return written(statuses);
}

static unsigned put_entries(hf_client *client, unsigned from)
{
    static char keys[MANY][WORD_SIZE];
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;
    hf_cache_put_item items[MANY];
    hf_status statuses[MANY];
    hf_bytes tag = hf_str("tag");

    options.ttl_ms = 3600000;
    options.tags = &tag;
    options.tag_count = 1;
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(keys[i], WORD_SIZE, "k%u", from + i);
        items[i] =
            (hf_cache_put_item){.key = hf_str(keys[i]), .value = hf_str("v")};
    }
    (void)!hf_cache_put_many(client, items, MANY, &options, statuses, NULL);
    return written(statuses);
}

static unsigned fill_by(hf_client *client,
                        unsigned (*add)(hf_client *, unsigned))
{
    unsigned count = 0, more;

    do {
        more = add(client, count);
        count += more;
    } while (more == MANY);
    return count;
}

/* ----------------------------------------------------------------- deleting */

/* A command, and more words that `format` makes of every `step`th number. */
typedef struct removal {
    const char *fill;
    const char *words[5];
    const char *format;
    unsigned step;
    bool scattered; /* over pages that stay in use */
} removal;

static const removal removals[] = {
    {values, {"del"}, "k%u", 11, true},
    {values, {"unlink"}, "k%u", 1, true},
    {values, {"flushall"}, NULL, 0, false},
    {long_values, {"del"}, "k%u", 1, false},
    {long_values, {"flushdb"}, NULL, 0, false},
    {hashes, {"del"}, "k%u", 7, true},
    {hash, {"hdel", "h"}, "f%u", 17, true},
    {hash, {"del", "h"}, NULL, 0, false},
    {mortal, {"hdel", "h"}, "f%u", 7, true},
    {mortal, {"pexpireat", "h", "1"}, NULL, 0, false},
    {mortal, {"hpexpire", "h", "1", "fields", "1000"}, "f%u", 5, true},
    {list, {"ltrim", "l", "9000", "9001"}, NULL, 0, false},
    {list, {"lpop", "l", "9000"}, NULL, 0, false},
    {set, {"spop", "s", "5000"}, NULL, 0, false},
    {set, {"unlink", "s"}, NULL, 0, false},
    {zset, {"zremrangebyrank", "z", "0", "9000"}, NULL, 0, false},
    {zset, {"zremrangebyscore", "z", "-inf", "+inf"}, NULL, 0, false},
    {zset, {"zpopmax", "z", "5000"}, NULL, 0, false},
};

static void remove_some(hf_client *client, const removal *by, bool first)
{
    static char texts[WORDS_MAX][WORD_SIZE];
    hf_bytes words[WORDS_MAX];
    hf_reply *reply = NULL;
    size_t count = 0;

    for (; count < 5 && by->words[count] != NULL; count++)
        words[count] = hf_str(by->words[count]);
    for (unsigned i = 0; by->format != NULL && i < 1000; i++, count++) {
        (void)snprintf(texts[i], sizeof(texts[i]), by->format, i * by->step);
        words[count] = hf_str(texts[i]);
    }
    expect_status_at(HF_OK, hf_command(client, count, words, &reply, ERR),
                     by->words[0], __FILE__, __LINE__);
    if (first && by->format != NULL && hf_reply_type(reply) == HF_REPLY_INTEGER)
        assert_int_equal(hf_reply_integer(reply), 1000);
    hf_reply_free(reply);
}

static hf_client *open_small(const fixture *f, char url[FIXTURE_PATH_SIZE],
                             unsigned number)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    char name[32];

    options.request_ms = 60000; /* batches, under a sanitizer */
    (void)snprintf(name, sizeof(name), "full%u-%u", f->test_number, number);
    fixture_embedded_url(f, name, MAX_SIZE, url);
    expect_status(HF_OK, hf_client_open(url, &options, &client, ERR));
    return client;
}

static off_t file_size(const fixture *f, unsigned number)
{
    char path[FIXTURE_PATH_SIZE + 64];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/full%u-%u/data.mdb", f->directory,
                   f->test_number, number);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* The file may become larger than max_size, its content may not. */
static void removed_and_filled_again(const fixture *f, unsigned number)
{
    const removal *by = &removals[number];
    char url[FIXTURE_PATH_SIZE];
    hf_client *client = open_small(f, url, number);

    assert_true(fill(client, by->fill) > 1000);
    for (int round = 0; round < 3; round++) {
        remove_some(client, by, round == 0);
        if (by->scattered)
            break;
        expect_status_at(HF_OK, run(client, by->fill, 0, LARGE_BATCH),
                         by->words[0], __FILE__, __LINE__);
        (void)fill(client, by->fill);
    }
    assert_true(file_size(f, number) <= 2 * MAX_BYTES);
    hf_client_close(client);
    expect_status(HF_OK, hf_store_check(url, NULL, NULL, NULL, ERR));
}

TEST(much_is_deleted_from_a_full_store)
{
    for (unsigned i = 0; i < sizeof(removals) / sizeof(removals[0]); i++)
        removed_and_filled_again(*state, i);
}

TEST(full_timeline_is_trimmed_and_deleted)
{
    char url[FIXTURE_PATH_SIZE];
    hf_client *client = open_small(*state, url, 0);
    unsigned most = fill_by(client, add_items);
    hf_timeline_trimmed trimmed = {0, 1};

    while (trimmed.more)
        expect_status(HF_OK, hf_timeline_trim(client, hf_str("t"), 0, 100,
                                              &trimmed, ERR));
    assert_in_range(fill_by(client, add_items), most / 2, most + most / 4);
    expect_status(HF_OK, hf_key_expire(client, hf_str("t"), 60000, ERR));
    expect_status(HF_OK, hf_timeline_delete(client, hf_str("t"), ERR));
    assert_int_equal(add_items(client, 1), MANY);
    hf_client_close(client);
}

TEST(full_cache_is_invalidated)
{
    char url[FIXTURE_PATH_SIZE];
    hf_client *client = open_small(*state, url, 0);
    hf_buffer value = HF_BUFFER_INIT;

    (void)fill_by(client, put_entries);
    expect_status(HF_OK, hf_cache_invalidate(client, hf_str("tag"), ERR));
    expect_status(HF_NOT_FOUND,
                  hf_cache_get(client, hf_str("k1"), NULL, &value, ERR));
    expect_status(HF_OK, hf_cache_delete(client, hf_str("k2"), ERR));
    hf_client_close(client);
}
