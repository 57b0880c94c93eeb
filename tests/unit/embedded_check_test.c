/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_check_test.c - store check and the check of a file before it is
 * opened: nothing that commands wrote is refused, every damage is, and both
 * refuse the same.
 */
#include "embedded_store.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/files/files.h"
#include "engine/files/keyhead.h"
#include "engine/files/pages.h"
#include "holdfast/store.h"

#define FINDINGS_SIZE 4096
#define PAGE 4096u

static place at;
static char path[512];

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "file", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static const char *data_path(void)
{
    (void)snprintf(path, sizeof(path), "%s/s/" HF__FILE_DATA, at.folder);
    return path;
}

static void note_finding(void *user, const char *finding)
{
    char *text = user;
    size_t used = strlen(text);

    (void)snprintf(text + used, FINDINGS_SIZE - used, "%s\n", finding);
}

static hf_status check(char findings[FINDINGS_SIZE], hf_error *err)
{
    findings[0] = '\0';
    return hf_store_check(at.url, NULL, note_finding, findings, err);
}

static void expect_whole(void)
{
    char findings[FINDINGS_SIZE];
    hf_error err = HF_ERROR_INIT;
    hf_status status = check(findings, &err);

    if (status != HF_OK)
        fail_msg("%d %s\n%s", status, err.message, findings);
}

/* Check must say `part`. */
static void expect_found(const char *part)
{
    char findings[FINDINGS_SIZE];
    hf_error err = HF_ERROR_INIT;
    hf_status status = check(findings, &err);

    if (status != HF_CORRUPT || strstr(findings, part) == NULL)
        fail_msg("check: %d %s\n%s", status, err.message, findings);
}

/* Open must refuse it, too. */
static void expect_damaged(const char *part)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf_status status;

    expect_found(part);
    status = open_url(at.url, NULL, &store, &err);
    if (status != HF_CORRUPT)
        fail_msg("open: %d %s", status, err.message);
    assert_null(store);
}

/* ---------------------------------------------------------------- content */

/* Every type in both forms, long names, large values, deleted and expiring
 * keys; ARGV[1] is a seed. Redis's own functions only. */
static const char workload[] =
    "local seed = tonumber(ARGV[1]) * 7919 % 1000003\n"
    "local function rnd(n)\n"
    "  seed = (seed * 1103515 + 12345) % 1000003\n"
    "  return seed % n\n"
    "end\n"
    "local function text(n)\n"
    "  local t = tostring(rnd(100000))\n"
    "  if rnd(4) == 0 then t = t .. string.rep('x', rnd(n)) end\n"
    "  return t\n"
    "end\n"
    "for i = 1, 12 do\n"
    "  local what, key = rnd(10), rnd(40)\n"
    "  if rnd(10) == 0 then key = key .. string.rep('k', 600) end\n"
    "  if what == 0 then\n"
    "    redis.call('set', 's' .. key, text(9000))\n"
    "    redis.call('setrange', 's1', rnd(90000), text(9000))\n"
    "  elseif what == 1 then\n"
    "    for j = 1, rnd(30) do\n"
    "      redis.call('hset', 'h' .. key, text(700), text(90))\n"
    "    end\n"
    "  elseif what == 2 then\n"
    "    for j = 1, rnd(30) do\n"
    "      redis.call('zadd', 'z' .. key, rnd(9) - 4.5, text(700))\n"
    "    end\n"
    "  elseif what == 3 then\n"
    "    for j = 1, rnd(30) do\n"
    "      redis.call(rnd(2) == 0 and 'lpush' or 'rpush', 'l' .. key,\n"
    "        text(90))\n"
    "    end\n"
    "  elseif what == 4 then\n"
    "    for j = 1, rnd(30) do\n"
    "      redis.call('sadd', 't' .. key, text(700))\n"
    "    end\n"
    "  elseif what == 5 then\n"
    "    redis.call('zremrangebyrank', 'z' .. key, 0, rnd(20))\n"
    "    redis.call('ltrim', 'l' .. key, rnd(3), 20)\n"
    "    redis.call('spop', 't' .. key, rnd(9))\n"
    "  elseif what == 6 then\n"
    "    local f = redis.call('hkeys', 'h' .. key)\n"
    "    if #f > 0 then redis.call('hdel', 'h' .. key, f[1 + rnd(#f)]) end\n"
    "  elseif what == 7 then\n"
    "    redis.call('del', 's' .. key, 'h' .. key, 'z' .. key, 'l' .. key)\n"
    "  elseif what == 8 then\n"
    "    redis.call('pexpire', 't' .. key, 1 + rnd(20))\n"
    "    redis.call('pexpire', 'h' .. key, 1 + rnd(200000))\n"
    "  else\n"
    "    if redis.call('exists', 'l' .. key) == 1 then\n"
    "      redis.call('rename', 'l' .. key, 'l' .. rnd(40))\n"
    "    end\n"
    "    redis.call('sunionstore', 't' .. key, 't1', 't2')\n"
    "    redis.call('linsert', 'l' .. key, 'before', text(9), 'new')\n"
    "  end\n"
    "end\n"
    "return 1\n";

static void fill(hf__store *store, int from, int count)
{
    char line[32], text[TEXT_SIZE];

    for (int i = from; i < from + count; i++) {
        (void)snprintf(line, sizeof(line), "%d", i);
        if (evaluate(store, workload, 0, line, text) != HF_OK)
            fail_msg("seed %d: %s", i, text);
    }
}

TEST(what_commands_wrote_is_whole)
{
    at.store = must_open(at.url, NULL);
    for (int i = 0; i < 25 / SLOWER + 4; i++) {
        fill(at.store, 20 * i, 20);
        expect_whole(); /* while it is open */
    }
    close_store(at.store);
    at.store = NULL;
    expect_whole();
}

/* ----------------------------------------------------------------- damage */

static int open_data(void)
{
    int fd = open(data_path(), O_RDWR);

    assert_true(fd >= 0);
    return fd;
}

static void make_store(int rounds)
{
    hf__store *store = must_open(at.url, NULL);

    fill(store, 0, rounds);
    close_store(store);
}

static uint64_t used_size(int fd, hf__meta *meta)
{
    hf__finding found;
    struct stat info;

    assert_int_equal(fstat(fd, &info), 0);
    assert_true(hf__pages_meta(fd, (uint64_t)info.st_size, meta, &found));
    return (meta->last_page + 1) * meta->page_size;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A fault that the check reports must be refused by open, too; neither may
 * crash. */
static void expect_agreement(const char *what, uint64_t where)
{
    char findings[FINDINGS_SIZE];
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf_status checked = check(findings, &err);
    hf_status opened = open_url(at.url, NULL, &store, &err);

    if (opened == HF_OK) {
        char text[TEXT_SIZE];

        (void)command(store, "dbsize", text);
        close_store(store);
    }
    if (checked != opened)
        fail_msg("%s at %llu: check %d, open %d (%s)\n%s", what,
                 (unsigned long long)where, checked, opened, err.message,
                 findings);
}

TEST(a_flipped_bit_is_seen_by_check_and_open_alike)
{
    uint32_t seed = 12345;
    uint64_t size, offset;
    unsigned char byte, other;
    hf__meta meta;
    int fd;

    make_store(30);
    fd = open_data();
    size = used_size(fd, &meta);
    for (int i = 0; i < 125 / SLOWER + 10; i++) {
        /* Every third one in the header of a page, where it matters. */
        offset =
            ((uint64_t)next_random(&seed) << 12 | next_random(&seed)) % size;
        if (i % 3 == 0)
            offset = offset / PAGE * PAGE + next_random(&seed) % 64;
        assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
        other = byte ^ (unsigned char)(1u << next_random(&seed) % 8);
        assert_int_equal(pwrite(fd, &other, 1, (off_t)offset), 1);
        expect_agreement("flip", offset);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    }
    close(fd);
    expect_whole();
}

/* A value that no structure shows to be wrong is protected by its checksum. */
TEST(a_flipped_bit_of_a_value_names_its_key)
{
    unsigned char page[PAGE];
    hf__store *store = must_open(at.url, NULL);
    hf__meta meta;
    uint64_t size;
    int fd;

    expect(store, "set quiet a_value_that_stands_in_the_file_once", "+:OK");
    expect(store, "set other 1", "+:OK");
    close_store(store);
    fd = open_data();
    size = used_size(fd, &meta);
    for (uint64_t i = 2 * PAGE; i < size; i += PAGE) {
        unsigned char *found;

        assert_int_equal(pread(fd, page, PAGE, (off_t)i), (ssize_t)PAGE);
        found = memmem(page, PAGE, "_that_stands_", 13);
        if (found == NULL)
            continue;
        *found ^= 1;
        assert_int_equal(pwrite(fd, page, PAGE, (off_t)i), (ssize_t)PAGE);
    }
    close(fd);
    expect_damaged("key \"quiet\": wrong checksum");
}

TEST(a_file_cut_short_anywhere_is_refused)
{
    char findings[FINDINGS_SIZE];
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf__meta meta;
    uint64_t size;
    int fd;

    make_store(5);
    fd = open_data();
    size = used_size(fd, &meta);
    /* From the end: what is cut off is not restored. */
    for (uint64_t left = size - 1; left > 0;
         left = left > 3 * PAGE ? left - PAGE - 7 : left / 2) {
        hf_status checked, opened;

        assert_int_equal(ftruncate(fd, (off_t)left), 0);
        checked = check(findings, &err);
        opened = open_url(at.url, NULL, &store, &err);
        /* Without a full header it is not recognised as a store. */
        if (checked != opened ||
            checked != (left < 152 ? HF_INVALID : HF_CORRUPT))
            fail_msg("%llu bytes: check %d, open %d: %s",
                     (unsigned long long)left, checked, opened, err.message);
    }
    close(fd);
}

/* The position of the first list of free pages in its leaf: a count, then the
 * numbers. Returns the offset of the number at `index` in the file. */
static off_t free_number_at(int fd, const hf__meta *meta, size_t index)
{
    uint64_t root = meta->trees[HF__TREE_FREE].root;
    unsigned char bytes[PAGE];
    hf__finding found;
    hf__page page;
    hf__node node;

    assert_int_equal(meta->trees[HF__TREE_FREE].depth, 1);
    assert_int_equal(pread(fd, bytes, PAGE, (off_t)(root * PAGE)),
                     (ssize_t)PAGE);
    assert_true(hf__page_open(bytes, PAGE, root, &page, &found));
    for (uint32_t i = 0; i < page.count; i++) {
        assert_true(hf__page_node(&page, i, &node));
        if (node.value != NULL && node.value_size >= 8 * (index + 2))
            return (off_t)(root * PAGE) + (node.value - bytes) +
                   (off_t)(8 * (index + 1));
    }
    fail_msg("no list of %zu free pages", index + 1);
    return 0;
}

static void expect_wrong_free_page(uint64_t number, const char *part)
{
    uint64_t old;
    hf__meta meta;
    off_t offset;
    int fd = open_data();

    (void)used_size(fd, &meta);
    offset = free_number_at(fd, &meta, 0);
    assert_int_equal(pread(fd, &old, sizeof(old), offset), sizeof(old));
    assert_int_equal(pwrite(fd, &number, sizeof(number), offset),
                     sizeof(number));
    expect_damaged(part);
    assert_int_equal(pwrite(fd, &old, sizeof(old), offset), sizeof(old));
    close(fd);
}

/* The next write would overwrite pages in use. */
TEST(a_wrong_list_of_free_pages_is_seen)
{
    hf__meta meta;
    int fd;

    make_store(10);
    fd = open_data();
    (void)used_size(fd, &meta);
    close(fd);
    expect_wrong_free_page(meta.last_page + 1, "as free");
    expect_wrong_free_page(UINT64_MAX - 1, "as free");
    expect_wrong_free_page(meta.trees[HF__TREE_DATA].root, "");
    expect_whole();
}

/* ------------------------------------------------- records that disagree */

typedef void (*spoil_fn)(MDB_txn *txn, MDB_dbi dbi);

static void spoil(spoil_fn how)
{
    char folder[512];
    MDB_txn *txn;
    MDB_dbi dbi;

    (void)snprintf(folder, sizeof(folder), "%s/s", at.folder);
    txn = begin_raw(folder, &dbi);
    how(txn, dbi);
    commit_raw(txn);
}

static void put(MDB_txn *txn, MDB_dbi dbi, const void *name, size_t name_size,
                const void *data, size_t size)
{
    MDB_val key = {name_size, (void *)(uintptr_t)name};
    MDB_val value = {size, (void *)(uintptr_t)data};

    assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
}

/* The first record whose name begins with `prefix`. */
static void find(MDB_txn *txn, MDB_dbi dbi, const void *prefix, size_t size,
                 MDB_val *key, MDB_val *value)
{
    MDB_cursor *cursor;

    assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
    key->mv_size = size;
    key->mv_data = (void *)(uintptr_t)prefix;
    assert_int_equal(mdb_cursor_get(cursor, key, value, MDB_SET_RANGE), 0);
    assert_memory_equal(key->mv_data, prefix, size);
    mdb_cursor_close(cursor);
}

static void remove_first(MDB_txn *txn, MDB_dbi dbi, const char *prefix)
{
    MDB_val key, value;

    find(txn, dbi, prefix, strlen(prefix), &key, &value);
    assert_int_equal(mdb_del(txn, dbi, &key, NULL), 0);
}

static void remove_element(MDB_txn *txn, MDB_dbi dbi)
{
    remove_first(txn, dbi, "e");
}

static void remove_order(MDB_txn *txn, MDB_dbi dbi)
{
    remove_first(txn, dbi, "z");
}

static void remove_count(MDB_txn *txn, MDB_dbi dbi)
{
    remove_first(txn, dbi, "c");
}

/* A member, or another child, is counted by the next count of its level: all
 * sums are as before. */
static void shift_child(MDB_txn *txn, MDB_dbi dbi, unsigned char level)
{
    unsigned char prefix[10];
    MDB_val key, value;
    MDB_cursor *cursor;
    hf__count count;

    find(txn, dbi, "c", 1, &key, &value);
    memcpy(prefix, key.mv_data, sizeof(prefix));
    prefix[9] = level;
    key = (MDB_val){sizeof(prefix), prefix};
    assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
    assert_int_equal(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE), 0);
    for (int change = -1; change <= 1; change += 2) {
        assert_memory_equal(key.mv_data, prefix, sizeof(prefix));
        memcpy(&count, value.mv_data, sizeof(count));
        count.members += (uint64_t)(level == 1 ? change : 0);
        count.children += (uint64_t)change;
        value = (MDB_val){sizeof(count), &count};
        assert_int_equal(mdb_cursor_put(cursor, &key, &value, MDB_CURRENT), 0);
        assert_int_equal(mdb_cursor_get(cursor, &key, &value, MDB_NEXT), 0);
    }
    mdb_cursor_close(cursor);
}

static void shift_member(MDB_txn *txn, MDB_dbi dbi)
{
    shift_child(txn, dbi, 1);
}

static void shift_count(MDB_txn *txn, MDB_dbi dbi)
{
    shift_child(txn, dbi, 2);
}

static void remove_list_element(MDB_txn *txn, MDB_dbi dbi)
{
    MDB_val key, value;
    unsigned char name[17];

    find(txn, dbi, "l", 1, &key, &value);
    memcpy(name, key.mv_data, sizeof(name));
    name[16] ^= 2; /* one in the middle */
    key.mv_data = name;
    assert_int_equal(mdb_del(txn, dbi, &key, NULL), 0);
}

static void remove_key(MDB_txn *txn, MDB_dbi dbi)
{
    remove_first(txn, dbi, "mbig");
}

static void mark_deleted(MDB_txn *txn, MDB_dbi dbi)
{
    MDB_val key, value;
    hf__keyhead head;
    unsigned char name[9] = {'o'};

    find(txn, dbi, "mbig", 4, &key, &value);
    hf__keyhead_read(&head, value.mv_data);
    memcpy(name + 1, &head.keyid, 8);
    put(txn, dbi, name, sizeof(name), "", 0);
}

/* Two keys with one set of elements; the checksum is right. */
static void share_elements(MDB_txn *txn, MDB_dbi dbi)
{
    unsigned char bytes[64];
    MDB_val key, value;
    uint16_t sum;

    find(txn, dbi, "mbig", 4, &key, &value);
    assert_true(value.mv_size <= sizeof(bytes));
    memcpy(bytes, value.mv_data, value.mv_size);
    sum = hf__sum_fold(
        hf__keyhead_sum(hf_view("mtwin", 5), bytes, value.mv_size));
    memcpy(bytes + HF__KEYHEAD_SUM_AT, &sum, sizeof(sum));
    put(txn, dbi, "mtwin", 5, bytes, value.mv_size);
}

static void change_score(MDB_txn *txn, MDB_dbi dbi)
{
    MDB_val key, value;
    double score;
    unsigned char name[511];

    find(txn, dbi, "e", 1, &key, &value);
    assert_int_equal(value.mv_size, sizeof(score));
    memcpy(&score, value.mv_data, sizeof(score));
    memcpy(name, key.mv_data, key.mv_size);
    score += 1;
    put(txn, dbi, name, key.mv_size, &score, sizeof(score));
}

static void put_foreign(MDB_txn *txn, MDB_dbi dbi)
{
    put(txn, dbi, "x", 1, "y", 1);
}

static void put_newer(MDB_txn *txn, MDB_dbi dbi)
{
    MDB_val key, value;
    unsigned char head[32];
    uint32_t version = 6;

    find(txn, dbi, "h", 1, &key, &value);
    memcpy(head, value.mv_data, sizeof(head));
    memcpy(head + 8, &version, sizeof(version));
    put(txn, dbi, "h", 1, head, sizeof(head));
    put_foreign(txn, dbi); /* a newer format may have it */
}

static void make_spoiled(const char *script, spoil_fn how)
{
    char text[TEXT_SIZE];
    hf__store *store = must_open(at.url, NULL);

    expect(store, "flushdb", "+:OK");
    assert_int_equal(evaluate(store, script, 0, "", text), HF_OK);
    close_store(store);
    expect_whole();
    spoil(how);
}

static void expect_spoiled(const char *script, spoil_fn how, const char *part)
{
    make_spoiled(script, how);
    expect_damaged(part);
    /* It cannot be opened again: start over. */
    remove_place(&at);
    make_place(&at, "file", "");
}

#define LARGE(call) "for i = 1, 300 do redis.call(" call ") end return 1"

TEST(records_that_disagree_name_their_key)
{
    static const char hash[] = LARGE("'hset', 'big', i, 'value'");
    static const char zset[] = LARGE("'zadd', 'big', i, i");
    static const char counted[] =
        "for i = 1, 600 do redis.call('zadd', 'big', i, i) end return 1";
    static const char list[] = LARGE("'rpush', 'big', i");
    static const char set[] = LARGE("'sadd', 'big', i");
    static const char third[] =
        "redis.call('select', 3) " LARGE("'sadd', 'big', i");

    expect_spoiled(hash, remove_element, "key \"big\": 299 elements, not 300");
    expect_spoiled(hash, remove_key, "300 elements belong to no key");
    expect_spoiled(hash, mark_deleted, "key \"big\": its elements are marked");
    expect_spoiled(hash, share_elements,
                   "shares its elements with another key");
    expect_spoiled(zset, remove_element, "key \"big\": the two indexes");
    expect_spoiled(zset, remove_order, "key \"big\": 299 elements, not 300");
    expect_spoiled(zset, change_score, "key \"big\": the two indexes");
    expect_spoiled(counted, remove_count, "key \"big\": the counts");
    expect_spoiled(counted, shift_member, "key \"big\": the counts");
    expect_spoiled(list, remove_list_element, "key \"big\": 299 elements");
    expect_spoiled(set, remove_order, "key \"big\": 299 elements, not 300");
    expect_spoiled(third, remove_order, "key \"big\": 299 elements, not 300");
    expect_spoiled("return redis.call('set', 'a', 'b')", put_foreign,
                   "a record of unknown kind, \"x\"");
}

TEST(counts_of_two_levels_are_compared_with_those_below)
{
    int64_t budget_ms = script_budget_ms;

    script_budget_ms = 10000 * SLOWER;
    make_spoiled("for i = 1, 200000 do redis.call('zadd', 'big', i, i) end "
                 "return 1",
                 shift_count);
    script_budget_ms = budget_ms;
    /* An open may not take as long as this check does. */
    expect_found("key \"big\": the counts");
}

TEST(a_newer_store_is_unsupported)
{
    char findings[FINDINGS_SIZE];
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;

    make_store(2);
    spoil(put_newer);
    assert_int_equal(check(findings, &err), HF_UNSUPPORTED);
    assert_non_null(strstr(err.message, "format 6"));
    assert_string_equal(findings, "");
    assert_int_equal(open_url(at.url, NULL, &store, &err), HF_UNSUPPORTED);
}

TEST(no_store_is_made_by_a_check)
{
    char findings[FINDINGS_SIZE];
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(check(findings, &err), HF_NOT_FOUND);
    assert_int_not_equal(access(data_path(), F_OK), 0);
    assert_int_equal(
        hf_store_check("redis://127.0.0.1", NULL, NULL, NULL, &err),
        HF_UNSUPPORTED);
}

/* ----------------------------------------------------------- side effects */

TEST(findings_and_time_are_bounded)
{
    hf_store_check_options options = HF_STORE_CHECK_OPTIONS_INIT;
    char findings[FINDINGS_SIZE] = "";
    hf_error err = HF_ERROR_INIT;
    unsigned char page[PAGE];
    hf__meta meta;
    uint64_t size;
    int fd;

    make_store(20);
    fd = open_data();
    size = used_size(fd, &meta);
    memset(page, 0xa5, sizeof(page));
    for (uint64_t i = 2; i < size / PAGE; i++) {
        if (i != meta.trees[HF__TREE_DATA].root)
            assert_int_equal(pwrite(fd, page, 64, (off_t)(i * PAGE)), 64);
    }
    close(fd);
    options.faults_max = 2;
    assert_int_equal(
        hf_store_check(at.url, &options, note_finding, findings, &err),
        HF_CORRUPT);
    assert_int_equal(strchr(strchr(findings, '\n') + 1, '\n')[1], 0);
    options.limit_ms = -1;
    assert_int_equal(hf_store_check(at.url, &options, NULL, NULL, &err),
                     HF_INVALID);
    options = (hf_store_check_options)HF_STORE_CHECK_OPTIONS_INIT;
    options.faults_max = 10001;
    assert_int_equal(hf_store_check(at.url, &options, NULL, NULL, &err),
                     HF_INVALID);
}

static void take_long(void *user, uint64_t done, uint64_t total)
{
    int *calls = user;

    assert_true(done <= total);
    ++*calls;
    hf__clock_sleep_until(hf__clock_boot_ms() + 30);
}

/* However busy the child is reporting. */
TEST(a_limit_ends_a_check)
{
    static char large[4 << 20];
    hf_store_check_options options = HF_STORE_CHECK_OPTIONS_INIT;
    hf_bytes words[3] = {hf_str("set"), hf_str("large"),
                         hf_view(large, sizeof(large))};
    hf__store *store = must_open(at.url, NULL);
    char text[TEXT_SIZE];
    int calls = 0;

    assert_int_equal(perform(store, NULL, words, 3, 0, text), HF_OK);
    close_store(store);
    options.progress = take_long;
    assert_int_equal(hf_store_check(at.url, &options, NULL, &calls, NULL),
                     HF_OK);
    assert_true(calls > 0);
    options.limit_ms = 20;
    assert_int_equal(hf_store_check(at.url, &options, NULL, &calls, NULL),
                     HF_TIMEOUT);
}

static atomic_int child_signals;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&child_signals, 1);
}

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

/* A program that waits for its own children never sees ours. */
TEST(the_child_is_invisible_to_the_program)
{
    struct sigaction action = {.sa_handler = count_signal};
    struct sigaction before;
    int descriptors;

    make_store(3);
    expect_whole();
    descriptors = count_descriptors();
    assert_int_equal(sigaction(SIGCHLD, &action, &before), 0);
    for (int i = 0; i < 5; i++)
        expect_whole();
    assert_int_equal(atomic_load(&child_signals), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
    assert_int_equal(count_descriptors(), descriptors);
}

typedef struct writer {
    pthread_t thread;
    hf__store *store;
    int seed;
    atomic_bool *stop;
    atomic_int done;
} writer;

static void *write_on(void *argument)
{
    writer *self = argument;
    char line[32], text[TEXT_SIZE];

    while (!atomic_load(self->stop)) {
        (void)snprintf(line, sizeof(line), "%d", self->seed++);
        if (evaluate(self->store, workload, 0, line, text) == HF_OK)
            atomic_fetch_add(&self->done, 1);
    }
    return NULL;
}

TEST(a_store_in_use_is_read_as_it_was_at_one_instant)
{
    atomic_bool stop = false;
    writer writers[2] = {{.seed = 1000}, {.seed = 5000}};

    remove_place(&at);
    make_place(&at, "volatile", ""); /* mapped writable */
    at.store = must_open(at.url, NULL);
    for (int i = 0; i < 2; i++) {
        writers[i].store = at.store;
        writers[i].stop = &stop;
        assert_int_equal(
            pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (int i = 0; i < 20 / SLOWER + 3; i++)
        expect_whole();
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_true(atomic_load(&writers[i].done) > 0);
    }
}
