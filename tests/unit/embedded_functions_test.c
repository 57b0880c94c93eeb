/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_functions_test.c - libraries of functions: what is kept of them, and
 * when; what a payload may be; their limits. Replies and error texts are
 * compared with a Redis by tests/serve/function_test.py.
 */
#include "embedded_store.h"

#include <pthread.h>

#include "engine/files/header.h"
#include "engine/keys/function_record.h"
#include "engine/lua/library.h"
#include "holdfast/store.h"
#include "open_env.h"
#include "support/rdb_forms.h"
#include "util/clock.h"
#include "util/mem.h"

#define PAYLOAD_MAX 4096u

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
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

/* FUNCTION, with up to three words, of which the second may be any bytes. */
static void ask(const char *want, const char *subcommand, hf_bytes first,
                const char *second)
{
    hf_bytes words[] = {hf_str("function"), hf_str(subcommand), first,
                        hf_str(second != NULL ? second : "")};
    char text[TEXT_SIZE];

    (void)perform(at.store, NULL, words, second != NULL ? 4 : 3, 0, text);
    assert_string_equal(text, want);
}

static void load(const char *code, const char *want)
{
    ask(want, "load", hf_str(code), NULL);
}

/* A library of one function, which returns a number. */
static void load_number(const char *name, int number)
{
    char code[200], want[80];

    (void)snprintf(code, sizeof(code),
                   "#!lua name=%s\nredis.register_function('%s_f', "
                   "function(keys, args) return %d end)",
                   name, name, number);
    (void)snprintf(want, sizeof(want), "s:%s", name);
    load(code, want);
}

/* What FUNCTION DUMP replies. */
static size_t dump(unsigned char bytes[PAYLOAD_MAX])
{
    hf_bytes words[] = {hf_str("function"), hf_str("dump")};
    hf__request request;
    size_t size;

    hf__request_init(&request);
    request.words = words;
    request.word_count = 2;
    request.deadline_ms = INT64_MAX;
    hf__embedded_store_ops.perform(at.store, &request);
    assert_int_equal(request.status, HF_OK);
    size = request.reply.bytes.size;
    assert_in_range(size, HF__RDB_TAIL, PAYLOAD_MAX);
    memcpy(bytes, request.reply.bytes.data, size);
    hf__request_done(&request);
    return size;
}

static void close_and_open(void)
{
    close_store(at.store);
    at.store = must_open(at.url, NULL);
}

TEST(function_is_kept_by_the_store)
{
    load_number("a", 1);
    expect(at.store, "fcall a_f 0", "i:1");
    close_and_open();
    expect(at.store, "fcall A_F 0", "i:1");
    expect(at.store, "fcall_ro a_f 0",
           "Can not execute a script with write flag using *_ro command.");
    expect(at.store, "function delete a", "+:OK");
    expect(at.store, "fcall a_f 0", "Function not found");
    expect(at.store, "function delete a", "Library not found");
}

/* Programs of earlier versions, which would take the record for damage. */
TEST(first_library_raises_the_format)
{
    expect_format(at.url, HF__FORMAT_FIRST);
    expect(at.store, "fcall a_f 0", "Function not found");
    expect(at.store, "function list", "[]");
    expect_format(at.url, HF__FORMAT_FIRST);
    load_number("a", 1);
    expect_format(at.url, HF__FORMAT_FUNCTIONS);
}

/* FLUSHALL empties the file, and writes a header of its own. */
TEST(functions_are_of_no_database)
{
    load_number("a", 1);
    expect(at.store, "set k v", "+:OK");
    expect(at.store, "dbsize", "i:1");
    expect(at.store, "keys *", "[s:k]");
    expect(at.store, "flushall", "+:OK");
    expect(at.store, "fcall a_f 0", "i:1");
    expect(at.store, "flushdb", "+:OK");
    close_and_open();
    expect(at.store, "fcall a_f 0", "i:1");
    expect_format(at.url, HF__FORMAT_FUNCTIONS);
    expect(at.store, "dbsize", "i:0");
    expect(at.store, "function flush", "+:OK");
    expect(at.store, "flushall", "+:OK");
    expect_format(at.url, HF__FORMAT_FIRST);
}

TEST(compacted_store_has_its_functions)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    hf_error err = HF_ERROR_INIT;

    load_number("a", 1);
    load_number("b", 2);
    close_store(at.store);
    assert_int_equal(hf_store_compact(at.url, &done, &err), HF_OK);
    at.store = must_open(at.url, NULL);
    expect(at.store, "fcall a_f 0", "i:1");
    expect(at.store, "fcall b_f 0", "i:2");
}

/* What a library that fails has registered is gone. */
TEST(failed_load_changes_nothing)
{
    load_number("a", 1);
    load_number("b", 2);
    load("#!lua name=c\nredis.register_function('c1', function() end) x()",
         "Error registering functions: ERR user_function:2: Script attempted "
         "to access nonexistent global variable 'x'");
    load("#!lua name=c\nredis.register_function('c1', function() end) "
         "redis.register_function('A_f', function() end)",
         "Function A_f already exists");
    ask("Function b_f already exists", "load", hf_str("replace"),
        "#!lua name=a\nredis.register_function('b_f', function() end)");
    expect(at.store, "fcall c1 0", "Function not found");
    expect(at.store, "fcall a_f 0", "i:1");
    ask("s:a", "load", hf_str("replace"),
        "#!lua name=a\nredis.register_function('a_f', function() return 3 "
        "end)");
    expect(at.store, "fcall a_f 0", "i:3");
    expect(at.store, "fcall b_f 0", "i:2");
}

TEST(function_gets_its_keys_and_arguments)
{
    load("#!lua name=l\nredis.register_function('f', function(keys, args) "
         "return {#keys, keys[2], #args, args[1], redis.call('get', keys[1])} "
         "end)",
         "s:l");
    expect(at.store, "set k v", "+:OK");
    expect(at.store, "fcall f 2 k second x y z",
           "[i:2, s:second, i:3, s:x, s:v]");
    expect(at.store, "fcall f 1",
           "Number of keys can't be greater than number "
           "of args");
    expect(at.store, "fcall f -1", "Number of keys can't be negative");
    expect(at.store, "fcall f x", "Bad number of keys provided");
}

TEST(script_and_function_do_not_see_each_other)
{
    char text[TEXT_SIZE];

    load("#!lua name=l\nlocal count = 0 redis.register_function('f', "
         "function() count = count + 1 return count end) "
         "redis.register_function('g', function() return KEYS end)",
         "s:l");
    expect(at.store, "fcall f 0", "i:1");
    (void)evaluate(at.store, "return redis.register_function", 0, "", text);
    assert_string_equal(text, "nil");
    (void)evaluate(at.store, "return redis.call('fcall', 'f', 0)", 0, "", text);
    assert_non_null(strstr(text, "not allowed from script"));
    expect(at.store, "fcall f 0", "i:2");
    expect(at.store, "fcall g 0",
           "Script attempted to access nonexistent global variable 'KEYS' "
           "(line 2)");
}

/* ------------------------------------------------------------------- limits */

/* One fits into memory, two do not, of which equal texts would be one: two take
 * 500 ms under some sanitizers. */
static void load_large(const char *name, char of, bool replace,
                       const char *want)
{
    char code[200];

    (void)snprintf(code, sizeof(code),
                   "#!lua name=%s\nlocal s = ('%c'):rep(1000000) local t = {} "
                   "for i = 1, 70 do t[i] = s .. i end redis.register_function"
                   "('%s_f', function() return #t end)",
                   name, of, name);
    ask(want, "load", hf_str(replace ? "replace" : code),
        replace ? code : NULL);
}

TEST(loading_is_limited)
{
    load("#!lua name=l\nwhile true do end",
         "Error registering functions: ERR FUNCTION LOAD timeout");
    load_large("k", 'k', false, "s:k");
    load_large("l", 'l', false,
               "Error registering functions: ERR the library needs too much "
               "memory");
    expect(at.store, "function delete k", "+:OK");
    load("#!lua name=l\nredis.register_function{function_name='f', "
         "callback=function() end, description=('x'):rep(1025)}",
         "Error registering functions: ERR the description of a function is "
         "longer than 1024 bytes");
    load("#!lua name=l\nlocal i = 0 while true do i = i + 1 "
         "redis.register_function('f' .. i, function() end) end",
         "Error registering functions: ERR there are more than 4000 "
         "functions");
    expect(at.store, "function list", "[]");
    load_number("a", 1);
    expect(at.store, "fcall a_f 0", "i:1");
}

/* Of an empty loop in 10 ms of processor time, when nothing else disturbs. */
static int64_t measure_rounds(void)
{
    const int64_t rounds = 10000000;
    int64_t least_us = INT64_MAX;
    char reply[TEXT_SIZE];

    for (int i = 0; i < 4; i++) {
        int64_t began_us = hf__clock_thread_us();

        (void)evaluate(at.store, "for i = 1, 10000000 do end", 0, "", reply);
        began_us = hf__clock_thread_us() - began_us;
        least_us = began_us < least_us ? began_us : least_us;
    }
    return rounds * 10000 / least_us;
}

/* A loop that takes some hundredths of a second of processor time. */
static const char *make_loop(char text[40], int hundredths)
{
    static int64_t rounds;

    if (rounds == 0)
        rounds = measure_rounds();
    (void)snprintf(text, 40, "i = 1, %012lld do end",
                   (long long)(rounds * hundredths));
    return text;
}

/* Load a library with such a loop; returns the reply. */
static const char *load_slow(const char *name, int hundredths, bool replace,
                             char text[TEXT_SIZE])
{
    char code[300], loop[40];
    hf_bytes words[] = {hf_str("function"), hf_str("load"), hf_str("replace"),
                        hf_str("")};

    (void)snprintf(code, sizeof(code),
                   "#!lua name=%s\nfor %s redis.register_function('%s_f', "
                   "function() return 1 end)",
                   name, make_loop(loop, hundredths), name);
    words[3] = hf_str(code);
    if (!replace)
        words[2] = words[3];
    (void)perform(at.store, NULL, words, replace ? 4 : 3, 0, text);
    return text;
}

/* Load libraries until one is refused; returns how many were accepted. */
static int load_slow_ones(char first)
{
    char name[2] = {first, 0};
    char text[TEXT_SIZE] = "s:";
    int64_t began_us = hf__clock_thread_us();
    int64_t used_us = 0;
    int count = 0;

    while (text[0] == 's') {
        used_us = hf__clock_thread_us() - began_us;
        (void)load_slow(name, 15, false, text);
        name[0]++;
        count++;
    }
    assert_true(strstr(text, "timeout") != NULL ||
                strstr(text, "more than 1000 ms") != NULL);
    assert_in_range(used_us, 300000, 1500000);
    return count - 1;
}

TEST(time_of_all_libraries_is_limited)
{
    unsigned char bytes[PAYLOAD_MAX];
    char text[TEXT_SIZE];
    size_t size;

    assert_in_range(load_slow_ones('a'), 3, 20);
    expect(at.store, "function delete a", "+:OK");
    expect(at.store, "function delete b", "+:OK");
    assert_string_equal(load_slow("c", 15, true, text), "s:c");
    expect(at.store, "function flush", "+:OK");
    assert_string_equal(load_slow("a", 5, false, text), "s:a");
    assert_string_equal(load_slow("b", 5, false, text), "s:b");
    assert_string_equal(load_slow("c", 5, false, text), "s:c");
    size = dump(bytes);
    expect(at.store, "function flush", "+:OK");
    (void)load_slow_ones('k');
    ask("+:OK", "restore", hf_view(bytes, size), NULL);
    close_and_open();
    expect(at.store, "fcall a_f 0", "i:1");
    expect(at.store, "fcall c_f 0", "i:1");
}

/* A library of so many functions, filled up with spaces. */
static void load_sized(const char *name, int functions, size_t size,
                       bool replace, const char *want)
{
    char *code = hf__alloc(size + 1);

    memset(code, ' ', size);
    code[snprintf(code, size,
                  "#!lua name=%s\nfor i = 1, %d do "
                  "redis.register_function('%s' .. i, function() end) end",
                  name, functions, name)] = ' ';
    code[size] = '\0';
    ask(want, "load", hf_str(replace ? "replace" : code),
        replace ? code : NULL);
    hf__free(code);
}

#define FULL                                                                   \
    "the libraries of functions are too many or too large: at most 1000 in "   \
    "8 MiB"

TEST(libraries_have_a_limit_together)
{
    load_sized("a", 1, HF__FUNCTIONS_SIZE_MAX / 2, false, "s:a");
    load_sized("b", 1, HF__FUNCTIONS_SIZE_MAX / 2, false, FULL);
    close_and_open();
    expect(at.store, "function list libraryname b", "[]");
}

/* What it replaces does not count. */
TEST(replacing_at_the_limits)
{
    load_sized("a", 1, HF__FUNCTIONS_SIZE_MAX / 2, false, "s:a");
    load_sized("a", 2, HF__FUNCTIONS_SIZE_MAX / 2, true, "s:a");
    expect(at.store, "function delete a", "+:OK");
    load_sized("b", 4000, 1000, false, "s:b");
    load_sized("b", 4000, 1000, true, "s:b");
    expect(at.store, "function delete b", "+:OK");
    for (int i = 0; i < 5; i++)
        load_large("l", (char)('a' + i), i > 0, "s:l");
    expect(at.store, "fcall l_f 0", "i:70");
}

/* A function that keeps too much of its calls loses that. */
TEST(memory_that_functions_keep_is_limited)
{
    char text[TEXT_SIZE];

    load("#!lua name=l\nlocal kept = {} redis.register_function('f', "
         "function() kept[#kept + 1] = string.rep('x', 10000000) .. #kept "
         "return #kept end)",
         "s:l");
    for (int i = 0; i < 20; i++) {
        assert_int_equal(command(at.store, "fcall f 0", text), HF_OK);
        assert_in_range(strtol(text + 2, NULL, 10), 1, 3);
    }
}

/* Whichever allocation fails: what is called is what the store has. */
TEST(change_without_memory_changes_nothing)
{
    static char code[300000];
    hf_bytes load[] = {hf_str("function"), hf_str("load"), hf_str("replace"),
                       hf_view(code, sizeof(code))};
    hf_bytes drop[] = {hf_str("function"), hf_str("delete"), hf_str("b")};
    char text[TEXT_SIZE];
    bool failed = true;

    load_number("a", 1);
    memset(code, ' ', sizeof(code));
    code[snprintf(code, sizeof(code),
                  "#!lua name=b\nredis.register_function('b_f', function() "
                  "return 2 end)")] = ' ';
    for (long after = 0; failed; after++) {
        (void)hf__alloc_fail_after(after);
        (void)perform(at.store, NULL, load, 4, 0, text);
        failed = hf__alloc_fail_after(-1) < 0;
        expect(at.store, "fcall b_f 0",
               strcmp(text, "s:b") == 0 ? "i:2" : "Function not found");
        expect(at.store, "fcall a_f 0", "i:1");
        (void)perform(at.store, NULL, drop, 3, 0, text);
    }
}

static void *load_on_a_small_stack(void *user)
{
    static const char code[] =
        "#!lua name=l\nredis.register_function('f', function() end)";
    hf_bytes words[] = {hf_str("function"), hf_str("load"), hf_str(code)};

    (void)perform(at.store, NULL, words, 3, 0, user);
    return NULL;
}

/* Its Lua could overflow it. */
TEST(loading_on_a_small_stack_is_refused)
{
    static char text[TEXT_SIZE];
    pthread_attr_t attr;
    pthread_t thread;

    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, 64 << 10), 0);
    assert_int_equal(
        pthread_create(&thread, &attr, load_on_a_small_stack, text), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attr);
    assert_non_null(strstr(text, "KiB of stack left"));
    expect(at.store, "function list", "[]");
}

/* ------------------------------------------------------------------ payloads
 */

TEST(dump_is_restored_by_each_policy)
{
    unsigned char bytes[PAYLOAD_MAX];
    hf_bytes payload;

    load_number("a", 1);
    load_number("b", 2);
    payload = hf_view(bytes, dump(bytes));
    ask("Library a already exists", "restore", payload, NULL);
    expect(at.store, "function flush", "+:OK");
    load_number("c", 3);
    ask("+:OK", "restore", payload, "append");
    expect(at.store, "fcall a_f 0", "i:1");
    expect(at.store, "fcall c_f 0", "i:3");
    ask("+:OK", "restore", payload, "replace");
    expect(at.store, "fcall c_f 0", "i:3");
    ask("+:OK", "restore", payload, "flush");
    expect(at.store, "fcall b_f 0", "i:2");
    expect(at.store, "fcall c_f 0", "Function not found");
    ask("Wrong restore policy given, value should be either FLUSH, APPEND or "
        "REPLACE.",
        "restore", payload, "x");
    close_and_open();
    expect(at.store, "fcall b_f 0", "i:2");
}

/* Bytes that no Redis writes, with a checksum that fits: refused, or what is
 * kept of them can be read again. */
TEST(restore_keeps_nothing_that_cannot_be_read)
{
    unsigned char whole[PAYLOAD_MAX], bytes[PAYLOAD_MAX];
    char text[TEXT_SIZE];
    size_t size, kept = 0;

    load_number("a", 1);
    size = dump(whole) - HF__RDB_TAIL;
    for (size_t i = 0; i < size; i++) {
        for (int flip = 1; flip < 256; flip *= 4) {
            size_t all;
            hf_bytes words[] = {hf_str("function"), hf_str("restore"),
                                hf_view(bytes, 0), hf_str("flush")};

            memcpy(bytes, whole, size);
            bytes[i] ^= (unsigned char)flip;
            all = rdb_put_tail(bytes, size, HF__RDB_VERSION);
            words[2].size = all;
            if (perform(at.store, NULL, words, 4, 0, text) != HF_OK)
                continue;
            kept++;
            close_and_open();
            assert_int_equal(command(at.store, "function stats", text), HF_OK);
            assert_non_null(strstr(text, "s:libraries_count, i:1"));
        }
    }
    assert_in_range(kept, 1, size * 4);
    ask("DUMP payload version or checksum are wrong", "restore",
        hf_view(whole, size), NULL);
    for (size_t i = 0; i < size; i++) {
        memcpy(bytes, whole, i);
        (void)rdb_put_tail(bytes, i, HF__RDB_VERSION);
        if (i > 0)
            ask("failed loading the given functions payload", "restore",
                hf_view(bytes, i + HF__RDB_TAIL), "flush");
    }
}

/* ------------------------------------------------------------------- damage */

typedef void damager(unsigned char *record, size_t size);

/* Change the record behind the library's back. */
static void change_record(damager *change)
{
    unsigned char name[1] = {HF__RECORD_FUNCTIONS};
    MDB_val key = {1, name}, value;
    unsigned char *copy;
    char folder[512];
    MDB_txn *txn;
    MDB_dbi dbi;

    (void)snprintf(folder, sizeof(folder), "%s/s", at.folder);
    txn = begin_raw(folder, &dbi);
    assert_int_equal(mdb_get(txn, dbi, &key, &value), 0);
    copy = (unsigned char *)hf__memdup(value.mv_data, value.mv_size);
    assert_non_null(copy);
    change(copy, value.mv_size);
    value.mv_data = copy;
    assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
    commit_raw(txn);
    hf__free(copy);
}

static void flip_byte(unsigned char *record, size_t size)
{
    record[size / 2] ^= 1;
}

/* Another text of the same size, with a checksum that fits. */
static void swap_text(unsigned char *record, size_t size, const char *from,
                      const char *to)
{
    unsigned char *found = memmem(record, size, from, strlen(from));

    assert_non_null(found);
    memcpy(found, to, strlen(to));
    (void)rdb_put_tail(record + 8, size - 8 - HF__RDB_TAIL, HF__RDB_VERSION);
}

/* As a later version may have it. */
static void use_the_future(unsigned char *record, size_t size)
{
    swap_text(record, size, "LOG_DEBUG", "LOG_OTHER");
}

static void slow_down(unsigned char *record, size_t size)
{
    char before[40], after[40];

    for (int i = 0; i < 3; i++)
        swap_text(record, size, make_loop(before, 15), make_loop(after, 900));
}

static void change_first_line(unsigned char *record, size_t size)
{
    swap_text(record, size, "name=m", "nine=m");
}

static void end_early(unsigned char *record, size_t size)
{
    record[8] = 0;
    (void)rdb_put_tail(record + 8, size - 8 - HF__RDB_TAIL, HF__RDB_VERSION);
}

TEST(check_finds_damaged_libraries)
{
    char text[TEXT_SIZE] = "";
    hf_error err = HF_ERROR_INIT;

    load_number("a", 1);
    close_store(at.store);
    at.store = NULL;
    change_record(flip_byte);
    assert_int_equal(hf_store_check(at.url, NULL, keep_fault, text, &err),
                     HF_CORRUPT);
    assert_non_null(strstr(text, "the libraries of functions are damaged"));
    change_record(flip_byte);
}

/* While the store is closed. */
static void change_closed(damager *change)
{
    close_store(at.store);
    change_record(change);
    at.store = must_open(at.url, NULL);
}

#define LATER                                                                  \
    "#!lua name=m\nlocal v = redis.LOG_DEBUG "                                 \
    "redis.register_function('m_f', function() return v end)"

static void load_later(void)
{
    load(LATER, "s:m");
}

#define NOT_LOADED                                                             \
    "Function not found; the library 'm' was not loaded: ERR Error "           \
    "registering functions: ERR user_function:2: Script attempted to access "  \
    "nonexistent global variable 'LOG_OTHER'"

TEST(library_that_does_not_load_is_kept)
{
    unsigned char bytes[PAYLOAD_MAX];
    char text[TEXT_SIZE];

    load_later();
    load_number("a", 1);
    change_closed(use_the_future);
    expect(at.store, "fcall a_f 0", "i:1");
    expect(at.store, "fcall m_f 0", NOT_LOADED);
    load_number("b", 2);
    expect(at.store, "function delete a", "+:OK");
    close_and_open();
    expect(at.store, "fcall b_f 0", "i:2");
    expect(at.store, "fcall m_f 0", NOT_LOADED);
    assert_int_equal(command(at.store, "function list libraryname m", text),
                     HF_OK);
    assert_non_null(strstr(text, "s:library_name, s:m"));
    assert_non_null(strstr(text, "s:functions, []"));
    assert_non_null(memmem(bytes, dump(bytes), "LOG_OTHER", 9));
    ask("s:m", "load", hf_str("replace"),
        "#!lua name=m\nredis.register_function('m_f', function() return 0 "
        "end)");
    expect(at.store, "fcall m_f 0", "i:0");
    expect(at.store, "function delete m", "+:OK");
    expect(at.store, "fcall m_f 0", "Function not found");
}

TEST(restore_has_room_for_what_is_kept)
{
    size_t size = HF__FUNCTIONS_SIZE_MAX - 16u * HF__FUNCTIONS_LIBRARIES_MAX;
    char *code = hf__alloc(size);
    unsigned char bytes[PAYLOAD_MAX];
    size_t payload;

    load_number("a", 1);
    payload = dump(bytes);
    expect(at.store, "function delete a", "+:OK");
    memset(code, ' ', size);
    memcpy(code, LATER, strlen(LATER));
    ask("s:m", "load", hf_view(code, size), NULL);
    hf__free(code);
    change_closed(use_the_future);
    ask(FULL, "restore", hf_view(bytes, payload), NULL);
    close_and_open();
    expect(at.store, "fcall m_f 0", NOT_LOADED);
}

/* As they are where another process has loaded them on a faster machine. */
TEST(reload_is_limited)
{
    static const char *const slow[] = {"a", "b", "c"};
    unsigned char bytes[PAYLOAD_MAX];
    char text[TEXT_SIZE], line[40];
    int64_t began_us;

    load_number("e", 1);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(load_slow(slow[i], 15, false, text) + 2, slow[i]);
    change_closed(slow_down);
    began_us = hf__clock_thread_us();
    expect(at.store, "fcall a_f 0",
           "Function not found; the library 'a' was not loaded: ERR Error "
           "registering functions: ERR FUNCTION LOAD timeout");
    assert_in_range(hf__clock_thread_us() - began_us, 1900000, 3500000);
    expect(at.store, "fcall e_f 0", "i:1");
    ask("Error registering functions: ERR FUNCTION LOAD timeout", "restore",
        hf_view(bytes, dump(bytes)), "flush");
    load("#!lua name=d\nredis.register_function('d_f', function() end)",
         "loading all libraries of functions takes more than 1000 ms of "
         "processor time");
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(line, sizeof(line), "function delete %s", slow[i]);
        expect(at.store, line, "+:OK");
    }
    load_number("d", 1);
}

/* By RESTORE of others too. */
TEST(library_without_a_name_is_kept)
{
    unsigned char bytes[PAYLOAD_MAX];
    size_t size;

    load_number("a", 1);
    size = dump(bytes);
    expect(at.store, "function flush", "+:OK");
    load_later();
    change_closed(change_first_line);
    ask("+:OK", "restore", hf_view(bytes, size), "replace");
    close_and_open();
    ask("+:OK", "restore", hf_view(bytes, size), "replace");
    expect(at.store, "fcall a_f 0", "i:1");
    assert_non_null(memmem(bytes, dump(bytes), "nine=m", 6));
    ask("+:OK", "delete", hf_str(""), NULL);
    expect(at.store, "fcall m_f 0", "Function not found");
}

/* Nothing of it is called, or written again, but FLUSH ends it. (Of a checksum
 * that does not fit, opening the store finds out.) */
TEST(damaged_record_is_refused)
{
    char text[TEXT_SIZE];

    load_number("a", 1);
    change_closed(end_early);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(command(at.store, "fcall a_f 0", text), HF_CORRUPT);
        assert_int_equal(command(at.store, "function delete a", text),
                         HF_CORRUPT);
    }
    expect(at.store, "function flush", "+:OK");
    expect(at.store, "fcall a_f 0", "Function not found");
}

static void note_loss(void *user, hf_bytes key, const char *why)
{
    (void)user;
    fail_msg("%.*s: %s", (int)key.size, (const char *)key.data, why);
}

TEST(salvaged_store_has_its_functions)
{
    hf_store_salvaged done = HF_STORE_SALVAGED_INIT;
    hf_error err = HF_ERROR_INIT;
    char url[256];

    remove_place(&at);
    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    load_number("a", 1);
    expect(at.store, "set k v", "+:OK");
    close_store(at.store);
    at.store = NULL;
    (void)snprintf(url, sizeof(url), "file:%s/new", at.folder);
    if (hf_store_salvage(at.url, url, note_loss, NULL, &done, &err) != HF_OK)
        fail_msg("%s", err.message);
    assert_int_equal(done.keys, 1);
    at.store = must_open(url, NULL);
    expect(at.store, "fcall a_f 0", "i:1");
}
