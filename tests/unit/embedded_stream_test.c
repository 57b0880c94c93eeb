/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_stream_test.c - streams: every command's replies as recorded from
 * redis-server 7.0.15, in this order; large streams and groups against a model;
 * the records that they leave.
 */
#include <fcntl.h>
#include <lmdb.h>

#include "embedded_store.h"
#include "engine/fsck/fsck.h"
#include "engine/streams/stream_group.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    /* adding */
    {"xadd", "wrong number of arguments for 'xadd' command"},
    {"xadd s 1-1 f", "wrong number of arguments for 'xadd' command"},
    {"xadd s 1-1 f v g", "wrong number of arguments for 'xadd' command"},
    {"xadd s 1-1 f v", "s:1-1"},
    {"xadd s 1-1 f v", "The ID specified in XADD is equal or smaller than the target stream top item"},
    {"xadd s 1-* f w g x", "s:1-2"},
    {"xadd s 1-0 f v", "The ID specified in XADD is equal or smaller than the target stream top item"},
    {"xadd s 3 f y", "s:3-0"},
    {"xadd s 0-0 f v", "The ID specified in XADD must be greater than 0-0"},
    {"xadd s x f v", "Invalid stream ID specified as stream command argument"},
    {"xadd none nomkstream 1-1 f v", "nil"},
    {"exists none", "i:0"},
    {"xadd s nomkstream 4-5 f z", "s:4-5"},
    {"xlen s", "i:4"},
    {"xlen none", "i:0"},
    {"type s", "+:stream"},
    {"object encoding s", "s:stream"},
    {"xadd s 99999999999999999999-1 f v", "Invalid stream ID specified as stream command argument"},
    /* ranges */
    {"xrange s - +", "[[s:1-1, [s:f, s:v]], [s:1-2, [s:f, s:w, s:g, s:x]], [s:3-0, [s:f, s:y]], [s:4-5, [s:f, s:z]]]"},
    {"xrange s 1 1", "[[s:1-1, [s:f, s:v]], [s:1-2, [s:f, s:w, s:g, s:x]]]"},
    {"xrange s (1-1 3", "[[s:1-2, [s:f, s:w, s:g, s:x]], [s:3-0, [s:f, s:y]]]"},
    {"xrange s (18446744073709551615-18446744073709551615 +", "invalid start ID for the interval"},
    {"xrange s - (0-0", "invalid end ID for the interval"},
    {"xrange s - + count 2", "[[s:1-1, [s:f, s:v]], [s:1-2, [s:f, s:w, s:g, s:x]]]"},
    {"xrange s - + count 0", "nil"},
    {"xrange s - + count -1", "nil"},
    {"xrange s - + foo 1", "syntax error"},
    {"xrange s x +", "Invalid stream ID specified as stream command argument"},
    {"xrevrange s + - count 2", "[[s:4-5, [s:f, s:z]], [s:3-0, [s:f, s:y]]]"},
    {"xrevrange s (4-5 1-2", "[[s:3-0, [s:f, s:y]], [s:1-2, [s:f, s:w, s:g, s:x]]]"},
    {"xrange none - +", "[]"},
    {"xread streams s 1-2", "[[s:s, [[s:3-0, [s:f, s:y]], [s:4-5, [s:f, s:z]]]]]"},
    {"xread count 1 streams s 0", "[[s:s, [[s:1-1, [s:f, s:v]]]]]"},
    {"xread streams s none 0 0", "[[s:s, [[s:1-1, [s:f, s:v]], [s:1-2, [s:f, s:w, s:g, s:x]], [s:3-0, [s:f, s:y]], [s:4-5, [s:f, s:z]]]]]"},
    {"xread streams s $", "nil"},
    {"xread streams s", "wrong number of arguments for 'xread' command"},
    {"xread streams s >", "The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."},
    {"xread group g c streams s 0", "The GROUP option is only supported by XREADGROUP. You called XREAD instead."},
    {"xread count x streams s 0", "value is not an integer or out of range"},
    {"xread block -1 streams s 0", "timeout is negative"},
    /* deleting and trimming */
    {"xdel s 1-2 9-9", "i:1"},
    {"xdel s x", "Invalid stream ID specified as stream command argument"},
    {"xdel none 1", "i:0"},
    {"xtrim s maxlen 5", "i:0"},
    {"xtrim s maxlen = 2", "i:1"},
    {"xrange s - +", "[[s:3-0, [s:f, s:y]], [s:4-5, [s:f, s:z]]]"},
    {"xtrim s minid 4", "i:1"},
    {"xtrim s maxlen -1", "The MAXLEN argument must be >= 0."},
    {"xtrim s maxlen ~ 1 limit 5", "i:0"},
    {"xtrim s maxlen 1 limit 5", "syntax error, LIMIT cannot be used without the special ~ option"},
    {"xtrim s minid 1 maxlen 1", "syntax error, MAXLEN and MINID options at the same time are not compatible"},
    {"xtrim s foo 1", "syntax error"},
    {"xtrim s limit 1", "syntax error, LIMIT cannot be used without specifying a trimming strategy"},
    {"xadd s maxlen 2 5-1 a b", "s:5-1"},
    {"xadd s minid 5-1 6-1 a b", "s:6-1"},
    {"xlen s", "i:2"},
    {"xsetid s 5", "The ID specified in XSETID is smaller than the target stream top item"},
    {"xsetid s 9-9 entriesadded 1", "The entries_added specified in XSETID is smaller than the target stream length"},
    {"xsetid s 9-9 entriesadded 7 maxdeletedid 8", "+:OK"},
    {"xsetid none 1", "no such key"},
    {"xadd s 9-* a b", "s:9-10"},
    {"xdel s 5-1 6-1 9-10", "i:3"},
    {"xlen s", "i:0"},
    {"xsetid s 1", "+:OK"},
    {"xsetid s 9-10", "+:OK"},
    {"exists s", "i:1"},
    {"xadd s 9-9 a b", "The ID specified in XADD is equal or smaller than the target stream top item"},
    {"xadd s * a", "wrong number of arguments for 'xadd' command"},
    /* groups */
    {"xgroup create g1 g $", "The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."},
    {"xgroup create g1 g $ mkstream", "+:OK"},
    {"xgroup create g1 g 0", "BUSYGROUP Consumer Group name already exists"},
    {"xgroup create g1 h 0 entriesread -2", "value for ENTRIESREAD must be positive or -1"},
    {"xgroup foo g1", "unknown subcommand 'foo'. Try XGROUP HELP."},
    {"xgroup create g1 h 0 foo", "unknown subcommand or wrong number of arguments for 'create'. Try XGROUP HELP."},
    {"xadd g1 1-1 a 1", "s:1-1"},
    {"xadd g1 2-1 b 2", "s:2-1"},
    {"xadd g1 3-1 c 3", "s:3-1"},
    {"xreadgroup group g c1 streams g1 >", "[[s:g1, [[s:1-1, [s:a, s:1]], [s:2-1, [s:b, s:2]], [s:3-1, [s:c, s:3]]]]]"},
    {"xreadgroup group g c1 count 1 streams g1 0", "[[s:g1, [[s:1-1, [s:a, s:1]]]]]"},
    {"xreadgroup group g c1 streams g1 9", "[[s:g1, []]]"},
    {"xreadgroup group g c2 streams g1 >", "nil"},
    {"xreadgroup group none c streams g1 >", "NOGROUP No such key 'g1' or consumer group 'none' in XREADGROUP with GROUP option"},
    {"xreadgroup group g c streams g1 $", "The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."},
    {"xreadgroup count 1 streams g1 a 0 >", "Missing GROUP option for XREADGROUP"},
    {"xpending g1 g", "[i:3, s:1-1, s:3-1, [[s:c1, s:3]]]"},
    {"xpending g1 none", "NOGROUP No such key 'g1' or consumer group 'none'"},
    {"xpending g1 g - + 10 c2", "[]"},
    {"xpending g1 g x + 10", "Invalid stream ID specified as stream command argument"},
    {"xpending g1 g - +", "syntax error"},
    {"xack g1 g 1-1 1-1 9-9", "i:1"},
    {"xack g1 none 1", "i:0"},
    {"xack g1 g x", "Invalid stream ID specified as stream command argument"},
    {"xclaim g1 g c2 0 2-1 9-9", "[[s:2-1, [s:b, s:2]]]"},
    {"xclaim g1 g c2 0 2-1 justid", "[s:2-1]"},
    {"xclaim g1 g c2 100000 2-1", "[]"},
    {"xclaim g1 g c2 x 2-1", "Invalid min-idle-time argument for XCLAIM"},
    {"xclaim g1 g c2 0 2-1 foo", "Unrecognized XCLAIM option 'foo'"},
    {"xclaim g1 g c3 0 1-1 force retrycount 7 justid", "[s:1-1]"},
    {"xpending g1 g", "[i:3, s:1-1, s:3-1, [[s:c1, s:1], [s:c2, s:1], [s:c3, s:1]]]"},
    {"xdel g1 2-1", "i:1"},
    {"xreadgroup group g c2 streams g1 0", "[[s:g1, [[s:2-1, nil]]]]"},
    {"xautoclaim g1 g c4 0 - count 2", "[s:3-1, [[s:1-1, [s:a, s:1]]], [s:2-1]]"},
    {"xautoclaim g1 g c4 0 3 justid", "[s:0-0, [s:3-1], []]"},
    {"xautoclaim g1 g c4 0 - count 0", "COUNT must be > 0"},
    {"xautoclaim g1 g c4 x -", "Invalid min-idle-time argument for XAUTOCLAIM"},
    {"xinfo groups g1", "[[s:name, s:g, s:consumers, i:4, s:pending, i:2, s:last-delivered-id, s:3-1, s:entries-read, i:3, s:lag, i:0]]"},
    {"xinfo groups none", "no such key"},
    {"xinfo consumers g1 none", "NOGROUP No such consumer group 'none' for key name 'g1'"},
    {"xinfo stream g1 foo", "unknown subcommand or wrong number of arguments for 'stream'. Try XINFO HELP."},
    {"xgroup setid g1 g 0 entriesread 0", "+:OK"},
    {"xreadgroup group g c5 count 1 noack streams g1 >", "[[s:g1, [[s:1-1, [s:a, s:1]]]]]"},
    {"xinfo groups g1", "[[s:name, s:g, s:consumers, i:5, s:pending, i:2, s:last-delivered-id, s:1-1, s:entries-read, nil, s:lag, nil]]"},
    {"xgroup createconsumer g1 g c9", "i:1"},
    {"xgroup createconsumer g1 g c9", "i:0"},
    {"xgroup delconsumer g1 g c4", "i:2"},
    {"xgroup delconsumer g1 g none", "i:0"},
    {"copy g1 g2", "i:1"},
    {"rename g1 g3", "+:OK"},
    {"xpending g2 g", "[i:0, nil, nil, nil]"},
    {"xinfo groups g3", "[[s:name, s:g, s:consumers, i:5, s:pending, i:0, s:last-delivered-id, s:1-1, s:entries-read, nil, s:lag, nil]]"},
    {"xgroup destroy g3 g", "i:1"},
    {"xgroup destroy g3 g", "i:0"},
    {"xpending g3 g", "NOGROUP No such key 'g3' or consumer group 'g'"},
    {"xgroup setid g3 g 0", "NOGROUP No such consumer group 'g' for key name 'g3'"},
    {"xgroup create g4 g 0 mkstream", "+:OK"},
    {"xadd g4 1-1 a 1", "s:1-1"},
    {"xreadgroup group g c streams g4 g4 0 >", "[[s:g4, []], [s:g4, [[s:1-1, [s:a, s:1]]]]]"},
    {"xadd g4 2-1 b 2", "s:2-1"},
    {"xack g4 g 1-1", "i:1"},
    {"xreadgroup group g c streams g4 >", "[[s:g4, [[s:2-1, [s:b, s:2]]]]]"},
    {"xgroup setid g4 g 0", "+:OK"},
    {"xreadgroup group g c streams g4 g4 0 >", "[[s:g4, [[s:2-1, [s:b, s:2]]]], [s:g4, [[s:1-1, [s:a, s:1]], [s:2-1, [s:b, s:2]]]]]"},
    /* other types */
    {"set str v", "+:OK"},
    {"xadd str 1-1 a b", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xlen str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xrange str - +", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xgroup create str g 0", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xreadgroup group g c streams str >", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xack str g 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xpending str g", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"xinfo stream str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"get g2", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lpush g2 x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    /* clang-format on */
};

static int set_up(void **state)
{
    static place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    *state = &at;
    return 0;
}

EACH_TEST_WITH(set_up, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

static void expect_script(hf__store *store, const char *source,
                          const char *want)
{
    char text[TEXT_SIZE];

    (void)evaluate(store, source, 0, "", text);
    if (strcmp(text, want) != 0)
        fail_msg("%s: got %s, want %s", source, text, want);
}

/* ------------------------------------------------------------------ model */

#define ENTRIES 3000

/* Entry i has the id i-1. */
typedef struct model {
    bool there[ENTRIES + 1];
    int count;
    int first; /* none below it is there */
    unsigned random;
} model;

static int next(model *of, int bound)
{
    of->random = of->random * 1103515245u + 12345u;
    return (int)(of->random >> 16) % bound;
}

static void drop(model *of, int i)
{
    of->count -= of->there[i] ? 1 : 0;
    of->there[i] = false;
}

static void add_entry(hf__store *store, model *of, int i)
{
    char line[512], want[32];
    int size = next(of, 20) == 0 ? 300 : next(of, 40);

    (void)snprintf(line, sizeof(line), "xadd s %d-1 %s %0*d", i,
                   i % 7 == 0 ? "other" : "field", size + 1, i);
    (void)snprintf(want, sizeof(want), "s:%d-1", i);
    expect(store, line, want);
    of->there[i] = true;
    of->count++;
}

static void delete_entry(hf__store *store, model *of, int i)
{
    char line[64];

    (void)snprintf(line, sizeof(line), "xdel s %d-1", i);
    expect(store, line, of->there[i] ? "i:1" : "i:0");
    drop(of, i);
}

static void trim_entries(hf__store *store, model *of, int most)
{
    char line[64], want[32];
    int gone = of->count > most ? of->count - most : 0;

    (void)snprintf(line, sizeof(line), "xtrim s maxlen %d", most);
    (void)snprintf(want, sizeof(want), "i:%d", gone);
    expect(store, line, want);
    for (; gone > 0; of->first++) {
        gone -= of->there[of->first] ? 1 : 0;
        drop(of, of->first);
    }
}

/* The entries next to i in both directions. */
static void compare_near(hf__store *store, const model *of, int i, int last)
{
    int up = i, down = i;
    char line[160], want[64];

    while (up <= last && !of->there[up])
        up++;
    while (down > 0 && !of->there[down])
        down--;
    (void)snprintf(line, sizeof(line), "xdel s %d-2", up); /* there is none */
    expect(store, line, "i:0");
    (void)snprintf(line, sizeof(line),
                   "local r = redis.call('xrange', 's', %d, '+', "
                   "'count', 1) return r[1] and r[1][1]",
                   i);
    (void)snprintf(want, sizeof(want), "s:%d-1", up);
    expect_script(store, line, up <= last ? want : "nil");
    (void)snprintf(line, sizeof(line),
                   "local r = redis.call('xrevrange', 's', %d, '-', "
                   "'count', 1) return r[1] and r[1][1]",
                   i);
    (void)snprintf(want, sizeof(want), "s:%d-1", down);
    expect_script(store, line, down > 0 ? want : "nil");
}

static void expect_length(hf__store *store, const model *of)
{
    char want[32];

    (void)snprintf(want, sizeof(want), "i:%d", of->count);
    expect(store, "xlen s", want);
    expect_script(store, "return #redis.call('xrange', 's', '-', '+')", want);
    expect_script(store, "return #redis.call('xrevrange', 's', '+', '-')",
                  want);
}

/* All records fit together. */
static void expect_intact(place *at)
{
    hf_error err = HF_ERROR_INIT;
    int dir = open(hf__embedded_path(at->store), O_RDONLY | O_DIRECTORY);

    close_store(at->store);
    assert_true(dir >= 0);
    if (hf__fsck_file(dir, hf__clock_boot_ms() + 10000 * SLOWER, &err) != HF_OK)
        fail_msg("%s", err.message);
    (void)close(dir);
    at->store = must_open(at->url, NULL);
}

TEST(large_stream_is_as_the_model)
{
    place *at = *state;
    model of = {.first = 1, .random = 7};

    for (int i = 1; i <= ENTRIES; i++) {
        add_entry(at->store, &of, i);
        if (next(&of, 3) == 0)
            delete_entry(at->store, &of, 1 + next(&of, i));
        if (next(&of, 300) == 0)
            trim_entries(at->store, &of, next(&of, 400));
        if (next(&of, 20) == 0)
            compare_near(at->store, &of, 1 + next(&of, i), i);
    }
    expect_length(at->store, &of);
    expect(at->store, "copy s t", "i:1");
    expect_intact(at);
    expect_length(at->store, &of);
    trim_entries(at->store, &of, 0);
    expect_length(at->store, &of);
    expect(at->store, "exists s", "i:1");
    expect(at->store, "del s t", "i:2");
    expect_intact(at);
}

TEST(entry_larger_than_a_page_is_read_back)
{
    place *at = *state;

    expect(at->store, "xadd s 1-1 a b", "s:1-1");
    expect_script(at->store,
                  "return redis.call('xadd', 's', '2-1', 'f', "
                  "string.rep('x', 3000000))",
                  "s:2-1");
    expect(at->store, "xadd s 3-1 a b", "s:3-1");
    expect_script(at->store, "return #redis.call('xrange', 's', 2, 2)[1][2][2]",
                  "i:3000000");
    expect_intact(at);
    expect(at->store, "xdel s 2-1", "i:1");
    expect(at->store, "xrange s - +",
           "[[s:1-1, [s:a, s:b]], [s:3-1, [s:a, "
           "s:b]]]");
    expect_intact(at);
}

TEST(group_keeps_count_of_what_is_pending)
{
    place *at = *state;
    model of = {.first = 1, .random = 9};
    char line[160], want[32];
    int left = 0;

    for (int i = 1; i <= 500; i++)
        add_entry(at->store, &of, i);
    expect(at->store, "xgroup create s g 0", "+:OK");
    for (int i = 0; i < 50; i++) {
        (void)snprintf(line, sizeof(line),
                       "return #redis.call('xreadgroup', 'group', 'g', "
                       "'c%d', 'count', 10, 'streams', 's', '>')[1][2]",
                       i % 3);
        expect_script(at->store, line, "i:10");
    }
    for (int i = 1; i <= 500; i++) {
        bool acks = next(&of, 2) == 0;

        left += acks ? 0 : 1;
        (void)snprintf(line, sizeof(line), "xack s g %d-1", i);
        if (acks)
            expect(at->store, line, "i:1");
    }
    (void)snprintf(want, sizeof(want), "i:%d", left);
    expect_script(at->store, "return redis.call('xpending', 's', 'g')[1]",
                  want);
    expect_intact(at);
    expect_script(at->store,
                  "local n = 0 for _, c in ipairs(redis.call('xpending', 's', "
                  "'g')[4]) do n = n + c[2] end return n",
                  want);
    expect(at->store, "xgroup delconsumer s g none", "i:0");
    expect(at->store, "xgroup destroy s g", "i:1");
    expect_intact(at);
}

/* Change a number of pending entries in the first record of a kind, and check
 * the file. */
static hf_status check_changed(const char *folder, char kind, size_t offset,
                               uint64_t more)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    MDB_val key = {1, &kind}, value;
    unsigned char bytes[64];
    hf_error err = HF_ERROR_INIT;
    uint64_t pending;
    MDB_cursor *cursor;
    MDB_txn *txn;
    MDB_dbi dbi;

    txn = begin_raw(folder, &dbi);
    assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
    assert_int_equal(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE), 0);
    assert_int_equal(*(char *)key.mv_data, kind);
    assert_in_range(value.mv_size, offset + 8, sizeof(bytes));
    memcpy(bytes, value.mv_data, value.mv_size);
    memcpy(&pending, bytes + offset, sizeof(pending));
    pending += more;
    memcpy(bytes + offset, &pending, sizeof(pending));
    value.mv_data = bytes;
    assert_int_equal(mdb_cursor_put(cursor, &key, &value, MDB_CURRENT), 0);
    mdb_cursor_close(cursor);
    commit_raw(txn);
    (void)hf__fsck_file(dir, hf__clock_boot_ms() + 10000 * SLOWER, &err);
    (void)close(dir);
    return err.status;
}

/* A count that is one higher is found; without it the file is whole again. */
static void expect_checked(place *at, char kind, size_t offset)
{
    char folder[512];
    hf_status more, same;

    (void)snprintf(folder, sizeof(folder), "%s", hf__embedded_path(at->store));
    close_store(at->store);
    more = check_changed(folder, kind, offset, 1);
    same = check_changed(folder, kind, offset, UINT64_MAX);
    at->store = must_open(at->url, NULL);
    assert_int_equal(more, HF_CORRUPT);
    assert_int_equal(same, HF_OK);
}

TEST(counts_of_what_is_pending_are_checked)
{
    place *at = *state;

    expect(at->store, "xgroup create s g 0 mkstream", "+:OK");
    expect_checked(at, HF__RECORD_ELEMENT, offsetof(hf__group, pending));
    expect(at->store, "xgroup createconsumer s g c", "i:1");
    expect_checked(at, HF__RECORD_STREAM,
                   offsetof(hf__consumer_state, pending));
}
