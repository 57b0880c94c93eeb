/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_list_test.c - lists: every command's replies as recorded from
 * redis-server 7.0.15, in this order; and large lists against a model.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    /* pushing, and what is there then */
    {"lpush", "wrong number of arguments for 'lpush' command"},
    {"lpush l", "wrong number of arguments for 'lpush' command"},
    {"rpush l a b c", "i:3"},
    {"lpush l z y", "i:5"},
    {"lrange l 0 -1", "[s:y, s:z, s:a, s:b, s:c]"},
    {"llen l", "i:5"},
    {"llen none", "i:0"},
    {"type l", "+:list"},
    {"lpushx none a", "i:0"},
    {"rpushx none a b", "i:0"},
    {"exists none", "i:0"},
    {"lpushx l x", "i:6"},
    {"rpushx l d e", "i:8"},
    {"lrange l 0 -1", "[s:x, s:y, s:z, s:a, s:b, s:c, s:d, s:e]"},
    /* ranges */
    {"lrange l 0 0", "[s:x]"},
    {"lrange l -3 -1", "[s:c, s:d, s:e]"},
    {"lrange l 2 100", "[s:z, s:a, s:b, s:c, s:d, s:e]"},
    {"lrange l -100 1", "[s:x, s:y]"},
    {"lrange l 5 2", "[]"},
    {"lrange l 100 200", "[]"},
    {"lrange l -1 -3", "[]"},
    {"lrange none 0 -1", "[]"},
    {"lrange l x 1", "value is not an integer or out of range"},
    {"lrange l 0 x", "value is not an integer or out of range"},
    {"lrange none x 1", "value is not an integer or out of range"},
    {"lrange l 9223372036854775807 -1", "[]"},
    {"lrange l -9223372036854775808 9223372036854775807", "[s:x, s:y, s:z, s:a, s:b, s:c, s:d, s:e]"},
    /* indexes */
    {"lindex l 0", "s:x"},
    {"lindex l -1", "s:e"},
    {"lindex l 7", "s:e"},
    {"lindex l 8", "nil"},
    {"lindex l -8", "s:x"},
    {"lindex l -9", "nil"},
    {"lindex l x", "value is not an integer or out of range"},
    {"lindex none x", "nil"},
    {"lindex none 0", "nil"},
    /* LSET */
    {"lset l 0 X", "+:OK"},
    {"lset l -1 E", "+:OK"},
    {"lset l 8 q", "index out of range"},
    {"lset l -9 q", "index out of range"},
    {"lset l x q", "value is not an integer or out of range"},
    {"lset none 0 q", "no such key"},
    {"lset none x q", "no such key"},
    {"lrange l 0 -1", "[s:X, s:y, s:z, s:a, s:b, s:c, s:d, s:E]"},
    /* LINSERT */
    {"linsert l before X first", "i:9"},
    {"linsert l after E last", "i:10"},
    {"linsert l AFTER a b", "i:11"},
    {"linsert l before none q", "i:-1"},
    {"linsert none before a q", "i:0"},
    {"linsert none middle a q", "syntax error"},
    {"linsert l middle a q", "syntax error"},
    {"linsert l before a", "wrong number of arguments for 'linsert' command"},
    {"lrange l 0 -1", "[s:first, s:X, s:y, s:z, s:a, s:b, s:b, s:c, s:d, s:E, s:last]"},
    /* LREM */
    {"rpush r a b a c a b a", "i:7"},
    {"lrem r 2 a", "i:2"},
    {"lrange r 0 -1", "[s:b, s:c, s:a, s:b, s:a]"},
    {"lrem r -1 a", "i:1"},
    {"lrange r 0 -1", "[s:b, s:c, s:a, s:b]"},
    {"lrem r 0 b", "i:2"},
    {"lrange r 0 -1", "[s:c, s:a]"},
    {"lrem r 5 none", "i:0"},
    {"lrem none 0 a", "i:0"},
    {"lrem r x a", "value is not an integer or out of range"},
    {"lrem none x a", "value is not an integer or out of range"},
    {"lrem r -9223372036854775808 a", "i:1"},
    {"lrem r -9223372036854775807 a", "i:0"},
    {"lrange r 0 -1", "[s:c]"},
    {"lrem r 0 c", "i:1"},
    {"exists r", "i:0"},
    /* LTRIM */
    {"rpush t 0 1 2 3 4 5 6 7 8 9", "i:10"},
    {"ltrim t 1 -2", "+:OK"},
    {"lrange t 0 -1", "[s:1, s:2, s:3, s:4, s:5, s:6, s:7, s:8]"},
    {"ltrim t -5 5", "+:OK"},
    {"lrange t 0 -1", "[s:4, s:5, s:6]"},
    {"ltrim t 0 100", "+:OK"},
    {"ltrim t x 1", "value is not an integer or out of range"},
    {"ltrim none x 1", "value is not an integer or out of range"},
    {"ltrim none 0 1", "+:OK"},
    {"ltrim t 2 1", "+:OK"},
    {"exists t", "i:0"},
    /* popping */
    {"rpush p a b c d e f", "i:6"},
    {"lpop p", "s:a"},
    {"rpop p", "s:f"},
    {"lpop p 0", "[]"},
    {"lpop p 2", "[s:b, s:c]"},
    {"rpop p 1", "[s:e]"},
    {"lpop p -1", "value is out of range, must be positive"},
    {"lpop p x", "value is out of range, must be positive"},
    {"lpop none", "nil"},
    {"lpop none 0", "nil"},
    {"rpop none 5", "nil"},
    {"rpop none -1", "value is out of range, must be positive"},
    {"lpop p 1 2", "wrong number of arguments for 'lpop' command"},
    {"lpop", "wrong number of arguments for 'lpop' command"},
    {"rpop p 10", "[s:d]"},
    {"exists p", "i:0"},
    /* LPOS */
    {"rpush s a b c 1 2 3 c c", "i:8"},
    {"lpos s c", "i:2"},
    {"lpos s c rank 2", "i:6"},
    {"lpos s c rank -1", "i:7"},
    {"lpos s c rank -2", "i:6"},
    {"lpos s c rank 4", "nil"},
    {"lpos s c count 2", "[i:2, i:6]"},
    {"lpos s c count 0", "[i:2, i:6, i:7]"},
    {"lpos s c rank -1 count 2", "[i:7, i:6]"},
    {"lpos s c rank -1 count 0", "[i:7, i:6, i:2]"},
    {"lpos s c rank 2 count 0", "[i:6, i:7]"},
    {"lpos s none", "nil"},
    {"lpos s none count 1", "[]"},
    {"lpos none c", "nil"},
    {"lpos none c count 1", "[]"},
    {"lpos s c maxlen 2", "nil"},
    {"lpos s c maxlen 3", "i:2"},
    {"lpos s c count 0 maxlen 7", "[i:2, i:6]"},
    {"lpos s c rank -1 maxlen 1", "i:7"},
    {"lpos s c count 0 rank -1 maxlen 2", "[i:7, i:6]"},
    {"lpos s c rank 0", "RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"},
    {"lpos s c rank x", "value is not an integer or out of range"},
    {"lpos s c rank -9223372036854775808", "i:7"},
    {"lpos s c rank -9223372036854775807", "nil"},
    {"lpos s c rank -9223372036854775808 count 1", "[i:7, i:6, i:2]"},
    {"lpos s c count -1", "COUNT can't be negative"},
    {"lpos s c count x", "COUNT can't be negative"},
    {"lpos s c maxlen -1", "MAXLEN can't be negative"},
    {"lpos s c maxlen x", "MAXLEN can't be negative"},
    {"lpos s c rank", "syntax error"},
    {"lpos s c foo 1", "syntax error"},
    {"lpos s c count 1 count 0", "[i:2, i:6, i:7]"},
    {"lpos s", "wrong number of arguments for 'lpos' command"},
    /* LMOVE and RPOPLPUSH */
    {"rpush m a b c", "i:3"},
    {"lmove m n left right", "s:a"},
    {"lmove m n RIGHT LEFT", "s:c"},
    {"lrange n 0 -1", "[s:c, s:a]"},
    {"lmove m m left left", "s:b"},
    {"lmove m m left right", "s:b"},
    {"lmove n n left right", "s:c"},
    {"lrange n 0 -1", "[s:a, s:c]"},
    {"lmove m n left right", "s:b"},
    {"exists m", "i:0"},
    {"lmove m n left right", "nil"},
    {"lmove n m up left", "syntax error"},
    {"lmove n m left down", "syntax error"},
    {"lmove n m left", "wrong number of arguments for 'lmove' command"},
    {"rpoplpush n n", "s:b"},
    {"rpoplpush n o", "s:c"},
    {"lrange n 0 -1", "[s:b, s:a]"},
    {"lrange o 0 -1", "[s:c]"},
    {"rpoplpush none o", "nil"},
    /* LMPOP */
    {"rpush q1 a b c", "i:3"},
    {"rpush q2 d e f", "i:3"},
    {"lmpop 2 none q1 left", "[s:q1, [s:a]]"},
    {"lmpop 2 q1 q2 right count 10", "[s:q1, [s:c, s:b]]"},
    {"lmpop 2 q1 q2 right count 2", "[s:q2, [s:f, s:e]]"},
    {"lmpop 2 q1 q2 left", "[s:q2, [s:d]]"},
    {"lmpop 2 q1 q2 left", "nil"},
    {"lmpop 0 q1 left", "numkeys should be greater than 0"},
    {"lmpop -1 q1 left", "numkeys should be greater than 0"},
    {"lmpop x q1 left", "numkeys should be greater than 0"},
    {"lmpop 2 q1 left", "syntax error"},
    {"lmpop 3 q1 left", "syntax error"},
    {"lmpop 1 q1 up", "syntax error"},
    {"lmpop 1 q1 left count", "syntax error"},
    {"lmpop 1 q1 left count 0", "count should be greater than 0"},
    {"lmpop 1 q1 left count -1", "count should be greater than 0"},
    {"lmpop 1 q1 left count x", "count should be greater than 0"},
    {"lmpop 1 q1 left count 1 count 2", "syntax error"},
    {"lmpop 1 q1 left foo 1", "syntax error"},
    {"lmpop 1 q1 left count 1 foo", "syntax error"},
    {"lmpop 1 q1", "wrong number of arguments for 'lmpop' command"},
    /* other types */
    {"set str v", "+:OK"},
    {"lpush str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"rpushx str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"llen str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lrange str 0 -1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lrange str x 1", "value is not an integer or out of range"},
    {"lindex str 0", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lindex str x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lset str 0 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"linsert str before a b", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lrem str 0 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"ltrim str 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lpop str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lpop str 0", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"rpop str 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lpos str a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lpos str a rank 0", "RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"},
    {"lmove str n left left", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lmove n str left left", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lmove none str left left", "nil"},
    {"rpoplpush n str", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lmpop 2 none str left", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"lmpop 2 n str left", "[s:n, [s:b]]"},
    {"get l", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"hget l a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"zadd l 1 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"sadd l a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    /* empty texts, and an expiry that is kept */
    {"rpush \"\" \"\" a \"\"", "i:3"},
    {"lrange \"\" 0 -1", "[s:, s:a, s:]"},
    {"lpos \"\" \"\"", "i:0"},
    {"lrem \"\" 0 \"\"", "i:2"},
    {"lrange \"\" 0 -1", "[s:a]"},
    {"expire l 100", "i:1"},
    {"rpush l more", "i:12"},
    {"ttl l", "i:100"},
    {"set l now", "+:OK"},
    {"type l", "+:string"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

static void take_records(void *user, const char *name, const char *value)
{
    if (strcmp(name, "records") == 0)
        *(long *)user = strtol(value, NULL, 10);
}

static long count_records(hf__store *store)
{
    long records = -1;

    hf__embedded_store_ops.describe(store, take_records, &records);
    return records;
}

/* Elements of a deleted key are removed a few per commit. */
static void let_reclaim(hf__store *store)
{
    char want[32];

    for (int i = 1; i <= 100; i++) {
        (void)snprintf(want, sizeof(want), "i:%d", i);
        expect(store, "incr reclaim:n", want);
    }
}

/* ------------------------------------------------------------------ model */

#define MODEL_MAX 700

/* A list of digits. */
typedef struct model {
    int values[MODEL_MAX];
    int count;
    unsigned random;
} model;

static int next(model *of, int bound)
{
    of->random = of->random * 1103515245u + 12345u;
    return (int)(of->random >> 16) % bound;
}

static void insert(model *of, int at, int value)
{
    memmove(of->values + at + 1, of->values + at,
            (size_t)(of->count - at) * sizeof(int));
    of->values[at] = value;
    of->count++;
}

static void cut(model *of, int at, int count)
{
    of->count -= count;
    memmove(of->values + at, of->values + at + count,
            (size_t)(of->count - at) * sizeof(int));
}

static int find(const model *of, int value)
{
    for (int i = 0; i < of->count; i++) {
        if (of->values[i] == value)
            return i;
    }
    return -1;
}

/* As LREM; returns how many. */
static int drop_value(model *of, int value, int most)
{
    int left = most == 0 ? MODEL_MAX : abs(most);
    int removed = 0;
    int i = most < 0 ? of->count - 1 : 0;

    while (left > 0 && i >= 0 && i < of->count) {
        bool same = of->values[i] == value;

        if (same) {
            cut(of, i, 1);
            left--;
            removed++;
        }
        if (most < 0)
            i--;
        else if (!same)
            i++;
    }
    return removed;
}

static void ask(place *at, const char *want, const char *format, ...)
{
    char line[128];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    expect(at->store, line, want);
}

static const char *number(int value)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "i:%d", value);
    return text;
}

static const char *digit(int value)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "s:%d", value);
    return text;
}

static void push(place *at, model *of, bool front)
{
    int value = next(of, 10);

    insert(of, front ? 0 : of->count, value);
    ask(at, number(of->count), "%s l %d", front ? "lpush" : "rpush", value);
}

static void put_before(place *at, model *of, bool after)
{
    int value = next(of, 10);
    int pivot = of->count == 0 ? -1 : of->values[next(of, of->count)];
    int where = find(of, pivot);

    if (where < 0)
        return;
    insert(of, where + (after ? 1 : 0), value);
    ask(at, number(of->count), "linsert l %s %d %d", after ? "after" : "before",
        pivot, value);
}

static void change(place *at, model *of)
{
    int where = of->count == 0 ? -1 : next(of, of->count);

    if (where < 0)
        return;
    of->values[where] = next(of, 10);
    ask(at, "+:OK", "lset l %d %d", where, of->values[where]);
    ask(at, digit(of->values[where]), "lindex l %d", where - of->count);
}

static void pop(place *at, model *of, bool last)
{
    int where = last ? of->count - 1 : 0;

    if (of->count == 0)
        return;
    ask(at, digit(of->values[where]), last ? "rpop l" : "lpop l");
    cut(of, where, 1);
}

static void trim(place *at, model *of)
{
    int first = next(of, 3);
    int last = next(of, 3);

    if (of->count <= first + last)
        return;
    cut(of, 0, first);
    cut(of, of->count - last, last);
    ask(at, "+:OK", "ltrim l %d %d", first, -1 - last);
}

static void step(place *at, model *of)
{
    int value = next(of, 10);
    int most = next(of, 2) == 0 ? 1 : -2;

    switch (next(of, 12)) {
    case 0:
    case 1:
        push(at, of, true);
        break;
    case 2:
    case 3:
        push(at, of, false);
        break;
    case 4:
    case 5:
    case 6:
        put_before(at, of, value % 2 == 0);
        break;
    case 7:
        change(at, of);
        break;
    case 8:
        ask(at, number(drop_value(of, value, most)), "lrem l %d %d", most,
            value);
        break;
    case 9:
        pop(at, of, value % 2 == 0);
        break;
    case 10:
        trim(at, of);
        break;
    default:
        push(at, of, value % 2 == 0);
        break;
    }
}

static void compare(place *at, const model *of)
{
    char want[TEXT_SIZE] = "[";

    for (int i = 0; i < of->count; i++) {
        put_text(want, i > 0 ? ", " : "");
        put_text(want, digit(of->values[i]));
    }
    put_text(want, "]");
    expect(at->store, "lrange l 0 -1", want);
}

TEST(every_change_is_that_of_a_plain_array)
{
    place *at = *state;

    for (unsigned seed = 1; seed <= 3; seed++) {
        model of = {.random = seed};

        expect(at->store, "flushall", "+:OK");
        for (int i = 0; i < 2500 && of.count < MODEL_MAX - 2; i++) {
            step(at, &of);
            compare(at, &of);
        }
        /* Far more than a record keeps inline. */
        assert_true(of.count > 300);
        for (int value = 0; value < 10; value++) {
            ask(at, number(drop_value(&of, value, 0)), "lrem l 0 %d", value);
            compare(at, &of);
        }
        expect(at->store, "exists l", "i:0");
    }
}

/* -------------------------------------------------------------- large ones */

static void fill(place *at, const char *key, int count)
{
    char line[64];

    for (int i = 0; i < count; i++) {
        (void)snprintf(line, sizeof(line), "rpush %s element-%d", key, i);
        expect(at->store, line, number(i + 1));
    }
}

TEST(large_list_is_read_from_both_ends)
{
    place *at = *state;

    fill(at, "l", 1000);
    expect(at->store, "lindex l 0", "s:element-0");
    expect(at->store, "lindex l 999", "s:element-999");
    expect(at->store, "lindex l 1000", "nil");
    expect(at->store, "lindex l -1000", "s:element-0");
    expect(at->store, "lrange l 498 500",
           "[s:element-498, s:element-499, s:element-500]");
    expect(at->store, "lrange l -2 -1", "[s:element-998, s:element-999]");
    expect(at->store, "lpos l element-700", "i:700");
    expect(at->store, "lpos l element-700 rank -1", "i:700");
    expect(at->store, "lpos l element-700 maxlen 700", "nil");
    expect(at->store, "rpop l 2", "[s:element-999, s:element-998]");
    expect(at->store, "lpop l 2", "[s:element-0, s:element-1]");
    expect(at->store, "lmove l l right left", "s:element-997");
    expect(at->store, "lrange l 0 1", "[s:element-997, s:element-2]");
    expect(at->store, "llen l", "i:996");
    expect(at->store, "ltrim l 990 -1", "+:OK");
    expect(at->store, "lrange l 0 -1",
           "[s:element-991, s:element-992, s:element-993, s:element-994, "
           "s:element-995, s:element-996]");
}

TEST(long_elements_are_kept_whole)
{
    static char value[100000];
    place *at = *state;
    char text[TEXT_SIZE];
    hf_bytes push_words[] = {hf_str("rpush"), hf_str("l"), hf_view(value, 0)};
    hf_bytes find_words[] = {hf_str("lpos"), hf_str("l"), hf_view(value, 0)};

    memset(value, 'v', sizeof(value));
    for (int i = 0; i < 12; i++) {
        push_words[2].size = (size_t)1 << (i + 5);
        (void)perform(at->store, NULL, push_words, 3, 0, text);
        assert_string_equal(text, number(i + 1));
    }
    for (int i = 0; i < 12; i++) {
        find_words[2].size = (size_t)1 << (i + 5);
        (void)perform(at->store, NULL, find_words, 3, 0, text);
        assert_string_equal(text, number(i));
    }
    expect(at->store, "linsert l before x y", "i:-1");
    expect(at->store, "lpush l x", "i:13");
    expect(at->store, "linsert l after x y", "i:14");
    expect(at->store, "lrem l 0 y", "i:1");
    find_words[2].size = 1 << 16;
    (void)perform(at->store, NULL, find_words, 3, 0, text);
    assert_string_equal(text, "i:12");
}

TEST(elements_of_deleted_lists_go_away)
{
    place *at = *state;

    fill(at, "l", 500);
    assert_int_equal(count_records(at->store), 502);
    expect(at->store, "del l", "i:1");
    fill(at, "l", 300);
    expect(at->store, "ltrim l 1 0", "+:OK");
    fill(at, "l", 300);
    expect(at->store, "set l x", "+:OK");
    let_reclaim(at->store);
    /* The header, the string, the counter. */
    assert_int_equal(count_records(at->store), 3);
}

TEST(an_expired_list_is_gone_with_its_elements)
{
    place *at = *state;

    fill(at, "l", 500);
    expect(at->store, "pexpire l 30", "i:1");
    hf__clock_sleep_until(hf__clock_boot_ms() + 40);
    expect(at->store, "lrange l 0 -1", "[]");
    expect(at->store, "rpushx l a", "i:0");
    expect(at->store, "rpush l a", "i:1");
    expect(at->store, "lrange l 0 -1", "[s:a]");
    let_reclaim(at->store);
    /* The header, the list, the counter. */
    assert_int_equal(count_records(at->store), 3);
}

TEST(a_script_sees_what_it_changed)
{
    place *at = *state;
    char text[TEXT_SIZE];

    (void)evaluate(at->store,
                   "local l = KEYS[1] "
                   "for i = 1, 400 do redis.call('rpush', l, 'e' .. i) end "
                   "for i = 1, 100 do redis.call('lmove', l, 'to', 'left', "
                   "'right') end "
                   "redis.call('linsert', l, 'before', 'e150', 'new') "
                   "redis.call('lrem', l, 0, 'e151') "
                   "return {redis.call('llen', l), redis.call('llen', 'to'), "
                   "redis.call('lrange', l, 48, 51), "
                   "redis.call('lpop', 'none', 1)}",
                   1, "l", text);
    assert_string_equal(text, "[i:300, i:100, [s:e149, s:new, s:e150, "
                              "s:e152], nil]");
}
