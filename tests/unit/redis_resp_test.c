/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_resp_test.c - the wire format: every reply at every split, hostile
 * bytes, and the exact bytes of requests.
 */
#include <stdio.h>
#include <string.h>

#include "store/redis/wire/resp.h"
#include "support/test.h"
#include "util/mem.h"

#define TEXT_SIZE 4096

static void append(char *text, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, TEXT_SIZE - used, "%s", more);
}

/* Write a reply as text: n, N (no array), i5, "bytes", +STATUS, -ERROR, [a b].
 */
static void show(const hf_reply *reply, char *text)
{
    char *end = text + strlen(text);
    size_t room = TEXT_SIZE - (size_t)(end - text);

    switch (reply->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        snprintf(end, room, reply->integer == 0 ? "n" : "N");
        return;
    case HF_REPLY_INTEGER:
        snprintf(end, room, "i%lld", (long long)reply->integer);
        return;
    case HF_REPLY_STRING:
        assert_int_equal(reply->bytes.data[reply->bytes.size], 0);
        snprintf(end, room, "\"%s\"", reply->bytes.data);
        return;
    case HF_REPLY_STATUS:
        snprintf(end, room, "+%s", reply->bytes.data);
        return;
    case HF_REPLY_ERROR:
        snprintf(end, room, "-%s", reply->bytes.data);
        return;
    case HF_REPLY_ARRAY:
        snprintf(end, room, "[");
        for (size_t i = 0; i < reply->array.count; i++) {
            if (i > 0)
                append(text, " ");
            show(&reply->array.items[i], text);
        }
        append(text, "]");
        return;
    }
}

static void add(hf__buf *in, const char *bytes, size_t size)
{
    /* A fresh copy of exactly this size lets ASan detect a read past its end.
     */
    assert_true(hf__buf_append(in, bytes, size));
}

/* Feed `bytes` in two parts. */
static hf__resp_result parse_split(const char *bytes, size_t size, size_t split,
                                   char *text)
{
    hf__resp resp;
    hf__arena arena;
    hf_reply reply;
    hf__buf in;
    hf__resp_result result = HF__RESP_MORE;

    hf__buf_init(&in, 1 << 20);
    hf__arena_init(&arena);
    hf__resp_begin(&resp, &arena, &reply);
    text[0] = '\0';
    add(&in, bytes, split);
    if (split > 0)
        result = hf__resp_feed(&resp, &in);
    if (result == HF__RESP_MORE) {
        add(&in, bytes + split, size - split);
        result = hf__resp_feed(&resp, &in);
    }
    if (result == HF__RESP_DONE)
        show(&reply, text);
    if (result == HF__RESP_DONE && split == size)
        assert_int_equal(hf__buf_size(&in), 0);
    hf__arena_free(&arena);
    hf__buf_done(&in);
    return result;
}

static hf__resp_result parse(const char *bytes, char *text)
{
    return parse_split(bytes, strlen(bytes), strlen(bytes), text);
}

static const struct {
    const char *bytes;
    const char *text;
} corpus[] = {
    {"+OK\r\n", "+OK"},
    {"+\r\n", "+"},
    {"-ERR no\r\n", "-ERR no"},
    {":0\r\n", "i0"},
    {":-1\r\n", "i-1"},
    {":+7\r\n", "i7"},
    {":9223372036854775807\r\n", "i9223372036854775807"},
    {":-9223372036854775808\r\n", "i-9223372036854775808"},
    {"$-1\r\n", "n"},
    {"$0\r\n\r\n", "\"\""},
    {"$5\r\nhello\r\n", "\"hello\""},
    {"$4\r\n\r\n\r\n\r\n", "\"\r\n\r\n\""},
    {"*-1\r\n", "N"},
    {"*0\r\n", "[]"},
    {"*3\r\n:1\r\n$1\r\na\r\n*2\r\n+OK\r\n-E x\r\n", "[i1 \"a\" [+OK -E x]]"},
    {"*2\r\n*0\r\n*1\r\n*-1\r\n", "[[] [N]]"},
    /* RESP3 */
    {"_\r\n", "n"},
    {"#t\r\n", "i1"},
    {"#f\r\n", "i0"},
    {",3.25\r\n", "\"3.25\""},
    {",inf\r\n", "\"inf\""},
    {"(12345678901234567890123\r\n", "\"12345678901234567890123\""},
    {"!7\r\nERR bad\r\n", "-ERR bad"},
    {"=8\r\ntxt:some\r\n", "\"some\""},
    {"=4\r\ntxt:\r\n", "\"\""},
    {"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "[+a i1 +b i2]"},
    {"%0\r\n", "[]"},
    {"~2\r\n:1\r\n:2\r\n", "[i1 i2]"},
    {">2\r\n+pubsub\r\n:1\r\n", "[+pubsub i1]"},
    {"|1\r\n+ttl\r\n:3\r\n:7\r\n", "i7"},
    {"|0\r\n:7\r\n", "i7"},
    {"*2\r\n|1\r\n+k\r\n*2\r\n$1\r\nx\r\n:9\r\n:1\r\n:2\r\n", "[i1 i2]"},
};

TEST(reply_is_the_same_at_every_split)
{
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(corpus) / sizeof(corpus[0]); i++) {
        size_t size = strlen(corpus[i].bytes);

        for (size_t split = 0; split <= size; split++) {
            assert_int_equal(parse_split(corpus[i].bytes, size, split, text),
                             HF__RESP_DONE);
            assert_string_equal(text, corpus[i].text);
        }
    }
}

TEST(reply_cut_short_asks_for_more)
{
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(corpus) / sizeof(corpus[0]); i++) {
        for (size_t size = 1; size < strlen(corpus[i].bytes); size++)
            assert_int_equal(parse_split(corpus[i].bytes, size, size, text),
                             HF__RESP_MORE);
    }
}

TEST(replies_in_one_read_come_one_by_one)
{
    hf__resp resp;
    hf__arena arena;
    hf_reply reply;
    hf__buf in;

    hf__buf_init(&in, 1 << 20);
    hf__arena_init(&arena);
    for (size_t i = 0; i < sizeof(corpus) / sizeof(corpus[0]); i++)
        add(&in, corpus[i].bytes, strlen(corpus[i].bytes));
    for (size_t i = 0; i < sizeof(corpus) / sizeof(corpus[0]); i++) {
        char text[TEXT_SIZE] = "";

        hf__resp_begin(&resp, &arena, &reply);
        assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_DONE);
        show(&reply, text);
        assert_string_equal(text, corpus[i].text);
        assert_int_equal(resp.push, corpus[i].bytes[0] == '>');
        hf__arena_free(&arena);
    }
    assert_int_equal(hf__buf_size(&in), 0);
    hf__buf_done(&in);
}

TEST(reply_that_is_not_resp_is_refused)
{
    static const char *const broken[] = {
        "\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
        "+OK\n",
        "+O\rK\n",
        ":\r\n",
        ":1x\r\n",
        ":-\r\n",
        ":1 \r\n",
        ":9223372036854775808\r\n",
        ":-9223372036854775809\r\n",
        ":99999999999999999999\r\n",
        ":5\n:6\r\n",
        "$-2\r\n",
        "$536870913\r\n",
        "$9223372036854775807\r\n",
        "$3\r\nabcd\r\n",
        "$3\r\nabcX\n",
        "$?\r\n",
        "*-2\r\n",
        "*16777217\r\n",
        "*9223372036854775807\r\n",
        "%8388609\r\n",
        "%-1\r\n",
        "%9223372036854775807\r\n",
        "%4611686018427387904\r\n",
        "|9223372036854775807\r\n",
        "|-1\r\n",
        "=3\r\ntxt\r\n",
        "=-1\r\n",
        "!-1\r\n",
        "_x\r\n",
        "#x\r\n",
        "#\r\n",
        "*1\r\n>1\r\n+nested push\r\n",
        /* Each array is small enough, all together are not. */
        "*16777216\r\n*1\r\n",
        "*2\r\n*16777214\r\n*1\r\n",
    };
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        if (parse(broken[i], text) != HF__RESP_BROKEN)
            fail_msg("accepted: %s", broken[i]);
    }
}

static hf__resp_result parse_nested(int depth)
{
    char bytes[TEXT_SIZE] = "";
    char text[TEXT_SIZE];

    while (depth-- > 0)
        append(bytes, "*1\r\n");
    append(bytes, ":1\r\n");
    return parse(bytes, text);
}

TEST(reply_may_nest_32_deep)
{
    assert_int_equal(parse_nested(32), HF__RESP_DONE);
    assert_int_equal(parse_nested(33), HF__RESP_BROKEN);
}

TEST(line_without_end_is_refused)
{
    static char bytes[HF__RESP_LINE_MAX + 16];
    char text[TEXT_SIZE];

    memset(bytes, 'a', sizeof(bytes));
    bytes[0] = '+';
    assert_int_equal(parse_split(bytes, HF__RESP_LINE_MAX, 1, text),
                     HF__RESP_MORE);
    assert_int_equal(parse_split(bytes, HF__RESP_LINE_MAX + 1, 1, text),
                     HF__RESP_BROKEN);
}

TEST(reply_that_does_not_fit_is_no_memory)
{
    static const char *const large[] = {"$100000\r\n", "*10000\r\n"};
    char text[TEXT_SIZE];

    for (size_t i = 0; i < 2; i++) {
        hf__alloc_fail_after(1); /* the buffer's own is the first */
        assert_int_equal(parse(large[i], text), HF__RESP_NO_MEMORY);
        hf__alloc_fail_after(-1);
    }
}

/* A reply is dropped at every point of its arrival; the next one is read. */
TEST(dropped_reply_leaves_the_next_one_whole)
{
    for (size_t i = 0; i < sizeof(corpus) / sizeof(corpus[0]); i++) {
        size_t size = strlen(corpus[i].bytes);

        for (size_t split = 0; split < size; split++) {
            hf__resp resp;
            hf__arena arena;
            hf_reply reply;
            hf__buf in;

            hf__buf_init(&in, 1 << 20);
            hf__arena_init(&arena);
            hf__resp_begin(&resp, &arena, &reply);
            add(&in, corpus[i].bytes, split);
            assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_MORE);
            hf__resp_drop(&resp);
            hf__arena_free(&arena);
            memset(&reply, 0xee, sizeof(reply));
            memset(&arena, 0xee, sizeof(arena));
            add(&in, corpus[i].bytes + split, size - split);
            add(&in, ":42\r\n", 5);
            assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_DONE);
            hf__resp_begin(&resp, NULL, &reply);
            assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_DONE);
            assert_int_equal(reply.kind, HF_REPLY_INTEGER);
            assert_int_equal(reply.integer, 42);
            hf__buf_done(&in);
        }
    }
}

TEST(dropped_reply_takes_no_memory)
{
    hf__resp resp;
    hf__buf in;

    hf__buf_init(&in, 1 << 20);
    add(&in, "*2\r\n$536870912\r\n", 16);
    hf__resp_begin(&resp, NULL, NULL);
    hf__alloc_fail_after(0);
    assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_MORE);
    hf__alloc_fail_after(-1);
    hf__buf_done(&in);
}

TEST(bounded_reply_takes_no_more)
{
    static const struct {
        const char *bytes;
        hf__resp_result result;
    } rows[] = {
        {"$100\r\n", HF__RESP_MORE},
        {"$101\r\n", HF__RESP_BROKEN},
        {"*2\r\n$20\r\n", HF__RESP_MORE},
        {"*2\r\n$60\r\n", HF__RESP_BROKEN},
        {"*16777216\r\n", HF__RESP_BROKEN},
        {"%8388608\r\n", HF__RESP_BROKEN},
        {"!536870911\r\n", HF__RESP_BROKEN},
        {"=536870911\r\n", HF__RESP_BROKEN},
        {">2\r\n$536870911\r\n", HF__RESP_BROKEN},
        {"|1\r\n$536870911\r\n", HF__RESP_MORE},
        {"+12345678901234567890123456789012345678901234567890123456789012345678"
         "901234567890123456789012345678901\r\n",
         HF__RESP_BROKEN},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf__resp resp;
        hf__arena arena;
        hf_reply reply;
        hf__buf in;

        hf__buf_init(&in, 1 << 20);
        hf__arena_init(&arena);
        add(&in, rows[i].bytes, strlen(rows[i].bytes));
        hf__resp_begin_bounded(&resp, &arena, &reply, 100);
        if (hf__resp_feed(&resp, &in) != rows[i].result)
            fail_msg("%s", rows[i].bytes);
        hf__arena_free(&arena);
        hf__buf_done(&in);
    }
}

/* The replies of all our scripts, and their requests: once the buffers exist,
 * nothing is allocated. */
TEST(small_requests_and_replies_take_no_memory)
{
    static const char bytes[] = ":7\r\n$-1\r\n+OK\r\n*3\r\n:500\r\n$32\r\n"
                                "0123456789abcdef0123456789abcdef\r\n:1\r\n";
    hf_bytes words[] = {hf_str("hf:lock:{l}"), hf_str("hf:token:{l}"),
                        hf_str("0123456789abcdef0123456789abcdef"),
                        hf_str("30000")};
    hf__request request;
    hf__arena arena;
    hf_reply reply;
    hf__resp resp;
    hf__buf in;
    hf__buf out;

    hf__buf_init(&in, 1 << 20);
    hf__buf_init(&out, 1 << 20);
    hf__arena_init(&arena);
    assert_non_null(hf__buf_reserve(&in, 4096));
    assert_non_null(hf__buf_reserve(&out, 4096));
    hf__alloc_fail_after(0);
    for (int turn = 0; turn < 3; turn++) {
        hf__request_script(&request, &hf__scripts[0], words, 4, 2);
        assert_true(hf__resp_put_request(&out, &request, false));
        hf__buf_clear(&out);
        add(&in, bytes, sizeof(bytes) - 1);
        for (int i = 0; i < 4; i++) {
            hf__resp_begin(&resp, &arena, &reply);
            assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_DONE);
            hf__arena_free(&arena);
        }
    }
    /* The failure is still pending. */
    assert_null(hf__alloc(1));
    hf__alloc_fail_after(-1);
    hf__buf_done(&in);
    hf__buf_done(&out);
}

static void assert_out(hf__buf *out, const char *bytes)
{
    assert_int_equal(hf__buf_size(out), strlen(bytes));
    assert_memory_equal(hf__buf_front(out), bytes, strlen(bytes));
    hf__buf_clear(out);
}

TEST(command_is_an_array_of_strings)
{
    hf_bytes words[] = {hf_str("SET"), hf_str("key"), hf_view(NULL, 0),
                        hf_str("a word of more than nine bytes")};
    hf__request request;
    hf__buf out;

    hf__request_init(&request);
    hf__buf_init(&out, HF__RESP_REQUEST_MAX);
    request.words = words;
    request.word_count = 4;
    assert_true(hf__resp_put_request(&out, &request, false));
    assert_out(&out, "*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n"
                     "$30\r\na word of more than nine bytes\r\n");
    hf__buf_done(&out);
}

TEST(script_is_sent_by_digest_or_whole)
{
    hf__script script = HF__USER_SCRIPT(
        "return 1", 8, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    static const char whole[] =
        "*5\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n1\r\n"
        "$1\r\nk\r\n$3\r\n\0\r\n\r\n";
    hf_bytes words[] = {hf_str("k"), hf_view("\0\r\n", 3)};
    hf__request request;
    hf__buf out;

    hf__request_init(&request);
    hf__buf_init(&out, HF__RESP_REQUEST_MAX);
    request.script = &script;
    assert_true(hf__resp_put_request(&out, &request, false));
    assert_out(&out, "*3\r\n$7\r\nEVALSHA\r\n$40\r\n"
                     "e0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n"
                     "$1\r\n0\r\n");
    request.words = words;
    request.word_count = 2;
    request.key_count = 1;
    assert_true(hf__resp_put_request(&out, &request, true));
    assert_int_equal(hf__buf_size(&out), sizeof(whole) - 1);
    assert_memory_equal(hf__buf_front(&out), whole, sizeof(whole) - 1);
    hf__buf_done(&out);
}

TEST(request_beyond_the_limit_is_refused)
{
    static char byte;
    hf_bytes words[] = {hf_str("SET"), hf_str("k"),
                        hf_view(&byte, HF__RESP_REQUEST_MAX - 50),
                        hf_view(&byte, SIZE_MAX)};
    hf__request request;
    hf__buf out;

    hf__request_init(&request);
    hf__buf_init(&out, HF__RESP_REQUEST_MAX);
    request.words = words;
    request.word_count = 3;
    assert_int_equal(hf__resp_request_bound(&request), SIZE_MAX);
    request.word_count = 4;
    assert_int_equal(hf__resp_request_bound(&request), SIZE_MAX);
    assert_false(hf__resp_put_request(&out, &request, false));
    assert_int_equal(hf__buf_size(&out), 0);
    hf__buf_done(&out);
}

/* Mutations of valid replies never crash the parser, and it never claims to
 * need no more without having consumed something. */
TEST(mutated_replies_do_no_harm)
{
    uint32_t random = 12345;
    char bytes[256];
    char text[TEXT_SIZE];

    for (int round = 0; round < 20000; round++) {
        size_t size = 0;

        for (int part = 0; part < 3; part++) {
            random = random * 1664525u + 1013904223u;
            const char *from =
                corpus[(random >> 8) % (sizeof(corpus) / sizeof(corpus[0]))]
                    .bytes;
            memcpy(bytes + size, from, strlen(from));
            size += strlen(from);
        }
        for (int change = 0; change < 2; change++) {
            random = random * 1664525u + 1013904223u;
            bytes[(random >> 8) % size] =
                "*$:+-\r\n019%|~>"[(random >> 24) % 15];
        }
        if (parse_split(bytes, size, size / 2, text) == HF__RESP_DONE)
            assert_true(strlen(text) < TEXT_SIZE);
    }
}
