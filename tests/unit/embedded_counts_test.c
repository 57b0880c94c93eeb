/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_counts_test.c - ranks in large sorted sets, by the counts above
 * their order: compared with a sorted array, through all splits and joins of
 * counts, and in a set that an earlier version wrote.
 */
#include "embedded_store.h"

#include <stdarg.h>

#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/keys/counts.h"
#include "engine/keys/keyspace.h"
#include "engine/keys/tx_life.h"
#include "engine/run/write.h"
#include "holdfast/store.h"
#include "open_env.h"

#define ID_COUNT 3000
#define LONG_SIZE 460 /* longer than an order sorts by */
#define SOON_MS (1000 * SLOWER)

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "?max_size=128M");
    at.store = must_open(at.url, NULL);
    return 0;
}

/* What each test has left is intact. */
static int tear_down(void **state)
{
    (void)state;
    expect_no_faults(&at);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* ------------------------------------------------------------------ model */

typedef struct member {
    int score;
    int id;
} member;

static struct {
    member sorted[ID_COUNT];
    int count;
    int score[ID_COUNT];
    bool has[ID_COUNT];
} model;

static uint32_t seed;

static int below(int bound)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)bound);
}

/* Every tenth name is long; half of these do not fit a record's name. */
static const char *name_of(int id)
{
    static char name[LONG_SIZE + 128];

    if (id % 10 != 0) {
        (void)snprintf(name, sizeof(name), "m%05d", id);
        return name;
    }
    memset(name, 'l', LONG_SIZE);
    (void)snprintf(
        name + LONG_SIZE, 128, "%05d%.*s", id, id % 20 == 0 ? 60 : 0,
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    return name;
}

/* By score, then by name: those of the long ones are before the others. */
static int compare(member a, member b)
{
    if (a.score != b.score)
        return a.score < b.score ? -1 : 1;
    if ((a.id % 10 == 0) != (b.id % 10 == 0))
        return a.id % 10 == 0 ? -1 : 1;
    return a.id - b.id;
}

static int rank_in_model(member one)
{
    int low = 0, high = model.count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (compare(model.sorted[middle], one) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_rank(int rank)
{
    model.has[model.sorted[rank].id] = false;
    model.count--;
    memmove(model.sorted + rank, model.sorted + rank + 1,
            (size_t)(model.count - rank) * sizeof(member));
}

static void remove_id(int id)
{
    if (model.has[id])
        remove_rank(rank_in_model((member){model.score[id], id}));
}

static void add_id(int id, int score)
{
    member one = {score, id};
    int rank;

    remove_id(id);
    rank = rank_in_model(one);
    memmove(model.sorted + rank + 1, model.sorted + rank,
            (size_t)(model.count - rank) * sizeof(member));
    model.sorted[rank] = one;
    model.count++;
    model.has[id] = true;
    model.score[id] = score;
}

/* ---------------------------------------------------------------- queries */

static void ask(const char *want, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static void ask(const char *want, const char *form, ...)
{
    char line[TEXT_SIZE];
    va_list args;

    va_start(args, form);
    (void)vsnprintf(line, sizeof(line), form, args);
    va_end(args);
    expect(at.store, line, want);
}

static void ask_number(int want, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static void ask_number(int want, const char *form, ...)
{
    char line[TEXT_SIZE], text[32];
    va_list args;

    va_start(args, form);
    (void)vsnprintf(line, sizeof(line), form, args);
    va_end(args);
    (void)snprintf(text, sizeof(text), "i:%d", want);
    expect(at.store, line, text);
}

/* The reply is the member of this rank. */
static void ask_member(int rank, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static void ask_member(int rank, const char *form, ...)
{
    char line[TEXT_SIZE], want[TEXT_SIZE];
    va_list args;

    va_start(args, form);
    (void)vsnprintf(line, sizeof(line), form, args);
    va_end(args);
    (void)snprintf(want, sizeof(want), "[s:%s]",
                   name_of(model.sorted[rank].id));
    expect(at.store, line, want);
}

static void check_rank(int rank)
{
    const char *name = name_of(model.sorted[rank].id);
    int back = model.count - 1 - rank;

    ask_number(rank, "zrank z %s", name);
    ask_number(back, "zrevrank z %s", name);
    ask_member(rank, "zrange z %d %d", rank, rank);
    ask_member(rank, "zrevrange z %d %d", back, back);
    ask_member(rank, "sort z by nosort limit %d 1", rank);
}

static void check_scores(int low, int high)
{
    int from = rank_in_model((member){low, 0});
    int to = rank_in_model((member){high + 1, 0});
    int count = to > from ? to - from : 0;
    int skip = count == 0 ? 0 : below(count);

    ask_number(count, "zcount z %d %d", low, high);
    ask_number(count, "zcount z (%d.5 (%d.5", low - 1, high);
    ask_number(count, "zcount z (%d (%d", low - 1, high + 1);
    ask("[]", "zrangebyscore z %d %d limit %d 5", low, high, count);
    if (count == 0)
        return;
    ask_member(from + skip, "zrangebyscore z %d %d limit %d 1", low, high,
               skip);
    ask_member(to - 1 - skip, "zrevrangebyscore z %d %d limit %d 1", high, low,
               skip);
}

static void check_all(void)
{
    ask_number(model.count, "zcard z");
    for (int rank = 0; rank < model.count; rank++)
        check_rank(rank);
}

/* ----------------------------------------------------------------- changes */

static void add(int id, int score)
{
    bool has = model.has[id];

    add_id(id, score);
    ask(has ? "i:0" : "i:1", "zadd z %d %s", score, name_of(id));
}

static void drop(int id)
{
    bool has = model.has[id];

    remove_id(id);
    ask(has ? "i:1" : "i:0", "zrem z %s", name_of(id));
}

static void drop_ranks(int first, int count)
{
    ask_number(count, "zremrangebyrank z %d %d", first, first + count - 1);
    for (int i = 0; i < count; i++)
        remove_rank(first);
}

/* `adds` of 100 steps add a member, to an id that may have another score. */
static void change_many(int steps, int adds, int scores)
{
    for (int i = 0; i < steps; i++) {
        if (below(100) < adds)
            add(below(ID_COUNT), below(scores));
        else
            drop(below(ID_COUNT));
        if (model.count < 40) /* it is to stay a large one */
            return;
        if (i % 50 == 0) {
            check_rank(below(model.count));
            check_scores(below(scores), below(scores));
        }
    }
}

static void clear_model(void)
{
    memset(&model, 0, sizeof(model));
}

static void grow_and_shrink(int scores)
{
    seed = (uint32_t)scores;
    clear_model();
    for (int id = 0; id < 60; id++)
        add(id, below(scores));
    change_many(8000, 90, scores);
    check_all();
    change_many(6000, 10, scores);
    check_all();
    change_many(4000, 80, scores);
    while (model.count > 200)
        drop_ranks(below(model.count - 97), 97);
    check_all();
    change_many(3000, 70, scores);
    check_all();
}

TEST(ranks_are_those_of_a_sorted_array)
{
    grow_and_shrink(100000);
}

TEST(ranks_among_few_scores_are_those_of_a_sorted_array)
{
    grow_and_shrink(3);
}

/* Members of one score, of which only the bytes differ. */
TEST(ranges_by_members_begin_at_any_offset)
{
    char first[LONG_SIZE + 128], last[LONG_SIZE + 128];

    clear_model();
    seed = 5;
    for (int i = 0; i < 2 * ID_COUNT; i++)
        add(below(ID_COUNT), 7);
    for (int i = 0; i < 400; i++) {
        int from = below(model.count), to = below(model.count);
        int skip = from < to ? below(to - from + 1) : 0;

        (void)snprintf(first, sizeof(first), "%s",
                       name_of(model.sorted[from].id));
        (void)snprintf(last, sizeof(last), "%s", name_of(model.sorted[to].id));
        ask_number(from, "zlexcount z - (%s", first);
        ask_number(model.count - from - 1, "zlexcount z (%s +", first);
        ask_number(to < from ? 0 : to - from + 1, "zlexcount z [%s [%s", first,
                   last);
        ask_number(to <= from ? 0 : to - from - 1, "zlexcount z (%s (%s", first,
                   last);
        if (from >= to)
            continue;
        ask_member(from + skip, "zrangebylex z [%s [%s limit %d 1", first, last,
                   skip);
        ask_member(to - skip, "zrevrangebylex z [%s [%s limit %d 1", last,
                   first, skip);
        ask("[]", "zrangebylex z (%s [%s limit %d 1", first, last, to - from);
    }
}

/* ------------------------------------------------------------- two levels */

#define MANY 200003

static void add_many(void)
{
    char line[64], text[TEXT_SIZE];

    for (int i = 0; i < MANY; i += 1000) {
        (void)snprintf(line, sizeof(line), "%d %d %d", i,
                       i + 999 < MANY ? i + 999 : MANY - 1, MANY);
        assert_int_equal(
            evaluate(at.store,
                     "for i = ARGV[1], ARGV[2] do "
                     "local score = i * 7919 % ARGV[3] "
                     "redis.call('zadd', 'z', score, 'm' .. score) end",
                     0, line, text),
            HF_OK);
    }
}

static void expect_left(const int *left, int count)
{
    char want[32];

    for (int i = 0; i < 40 && count > 0; i++) {
        int rank = below(count);

        ask_number(rank, "zrank z m%d", left[rank]);
        ask_number(rank, "zcount z -inf (%d", left[rank]);
        (void)snprintf(want, sizeof(want), "[s:m%d]", left[rank]);
        ask(want, "zrange z %d %d", rank, rank);
    }
}

/* They are made and removed again, from ends and from the middle. */
TEST(a_set_of_two_levels_of_counts)
{
    static int left[MANY];
    int count = MANY;

    seed = 9;
    for (int i = 0; i < MANY; i++)
        left[i] = i;
    add_many();
    expect_left(left, count);
    ask("i:1", "copy z y");
    while (count > 100) {
        int part = count > 6000 ? 3000 : 40;
        int first = below(3) == 0 ? 0 : below(count - part);

        ask_number(part, "zremrangebyrank z %d %d", first, first + part - 1);
        memmove(left + first, left + first + part,
                (size_t)(count - first - part) * sizeof(*left));
        count -= part;
        expect_left(left, count);
    }
    ask("i:150001", "zrank y m150001");
    ask("i:1", "del y");
}

/* --------------------------------------------------- of an earlier version */

/* Remove the counts of "z" and the mark of the format. */
static void forget_counts(hf__tx *tx)
{
    hf__record *record = hf__key_find(tx, hf_view("z", 1));
    unsigned char name[9] = {HF__RECORD_COUNT};
    MDB_val key, value;
    MDB_cursor *cursor;
    hf__header header;

    assert_true(hf__counts_exist(record));
    assert_true(hf__content_set(tx, record, "", 0));
    hf__put_be64(name + 1, record->keyid);
    assert_int_equal(mdb_cursor_open(tx->txn, tx->env->dbi, &cursor), 0);
    for (;;) {
        key = (MDB_val){sizeof(name), name};
        if (mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE) != 0 ||
            memcmp(key.mv_data, name, sizeof(name)) != 0)
            break;
        assert_int_equal(mdb_cursor_del(cursor, 0), 0);
    }
    mdb_cursor_close(cursor);
    assert_int_equal(hf__header_get(tx->txn, tx->env->dbi, &header), 0);
    assert_int_equal(header.version, HF__FORMAT_COUNTS);
    header.version = HF__FORMAT_FIRST;
    key = (MDB_val){1, (char[]){HF__RECORD_HEADER}};
    value = (MDB_val){sizeof(header), &header};
    assert_true(hf__tx_put(tx, &key, &value));
}

static void in_transaction(void (*what)(hf__tx *tx))
{
    int64_t now_ms = hf__clock_boot_ms();
    hf__env *env = open_env(at.url);
    hf__tx *tx;

    assert_int_equal(hf__env_lock(env, now_ms + SOON_MS, NULL), HF_OK);
    if (env->write_tx == NULL)
        env->write_tx = hf__tx_new(env, true);
    tx = env->write_tx;
    assert_int_equal(hf__env_begin_write(env, now_ms, &tx->txn, NULL), HF_OK);
    hf__tx_start(tx, now_ms);
    what(tx);
    assert_int_equal(hf__tx_finish(tx), HF_OK);
    hf__write_end(env);
    hf__env_unref(env);
}

static void expect_all_counted(hf__tx *tx)
{
    hf__record *record = hf__key_find(tx, hf_view("z", 1));
    hf__counts_root root;

    assert_true(hf__counts_exist(record));
    memcpy(&root, hf__content(tx, record), sizeof(root));
    assert_int_equal(root.behind, 0);
    assert_int_equal(root.levels, 2);
}

static void expect_all_made(hf__tx *tx)
{
    hf__record *record = hf__key_find(tx, hf_view("z", 1));

    assert_true(hf__counts_exist(record));
}

/* It is read as it is, and each change adds some counts until it has all. */
TEST(a_set_of_an_earlier_version_gets_counts)
{
    static int left[MANY];
    int count = MANY;

    seed = 11;
    for (int i = 0; i < MANY; i++)
        left[i] = i;
    add_many();
    in_transaction(forget_counts);
    ask("i:0", "zrank z m0");
    ask("i:3000", "zrank z m3000");
    ask("i:100", "zcount z -inf (100");
    ask("[s:m200]", "zrange z 200 200");
    for (int i = 0; count > MANY - 150; i++) {
        int first = below(count);

        ask("i:1", "zrem z m%d", left[first]);
        count--;
        memmove(left + first, left + first + 1,
                (size_t)(count - first) * sizeof(*left));
        if (i % 10 == 0)
            expect_left(left, count);
    }
    in_transaction(expect_all_counted);
}

TEST(only_a_large_sorted_set_raises_the_format)
{
    ask("i:1", "zadd z 1 a");
    ask("i:1", "sadd set a");
    expect_format(at.url, HF__FORMAT_FIRST);
    for (int i = 0; i < 100; i++)
        ask("i:1", "zadd z 1 m%d", i);
    expect_format(at.url, HF__FORMAT_COUNTS);
    in_transaction(forget_counts);
    ask("i:100", "zrank z m99");
    expect_format(at.url, HF__FORMAT_FIRST);
    ask("i:1", "zrem z m99");
    expect_format(at.url, HF__FORMAT_COUNTS);
}

TEST(a_key_of_another_database_raises_the_format)
{
    ask("+:OK", "set a 0");
    ask("+:OK", "swapdb 0 0");
    expect_format(at.url, HF__FORMAT_FIRST);
    ask("i:1", "copy a a db 3");
    expect_format(at.url, HF__FORMAT_DATABASES);
}

static void let_earlier_version_in(hf__tx *tx)
{
    tx->env->sidecar.map->version = 4;
}

static void keep_earlier_version_out(hf__tx *tx)
{
    tx->env->sidecar.map->version = HF__SIDECAR_VERSION;
}

static void expect_none_counted(hf__tx *tx)
{
    hf__record *record = hf__key_find(tx, hf_view("z", 1));

    assert_int_equal(record->form, HF__FORM_ELEMENTS);
    assert_int_equal(record->content_size, 0);
}

/* A program that opened the store with an earlier version would change the
 * members only. */
TEST(no_counts_while_an_earlier_version_may_have_the_store_open)
{
    in_transaction(let_earlier_version_in);
    for (int i = 0; i < 700; i++)
        ask("i:1", "zadd z %d m%03d", i % 7, i);
    for (int i = 0; i < 7; i++)
        ask("i:0", "zadd z 6 m00%d", i);
    ask("i:1", "zrem z m100");
    ask("i:1", "copy z y");
    ask("i:698", "zrank z m699");
    ask("i:99", "zcount z 0 0");
    ask("[s:m054]", "zrange z 500 500");
    in_transaction(expect_none_counted);
    expect_format(at.url, HF__FORMAT_FIRST);
    in_transaction(keep_earlier_version_out);
    ask("i:1", "zrem z m101");
    ask("i:697", "zrank z m699");
    in_transaction(expect_all_made);
    expect_format(at.url, HF__FORMAT_COUNTS);
}

/* It would delete and copy them without their records. */
TEST(no_streams_while_an_earlier_version_may_have_the_store_open)
{
    static const char refusal[] =
        "a program that does not know streams may have the store open; close "
        "all of its programs";

    in_transaction(let_earlier_version_in);
    ask(refusal, "xadd s 1-1 f v");
    ask(refusal, "xgroup create s g 0 mkstream");
    ask("i:0", "exists s");
    expect_format(at.url, HF__FORMAT_FIRST);
    in_transaction(keep_earlier_version_out);
    ask("s:1-1", "xadd s 1-1 f v");
    expect_format(at.url, HF__FORMAT_STREAMS);
}
