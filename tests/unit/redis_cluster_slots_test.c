/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cluster_slots_test.c - slots of keys and requests, and the replies of
 * nodes about a cluster, valid and invalid.
 */
#include "redis_driver.h"

#include <stdio.h>

#include "script/script.h"
#include "store/redis/topology/cluster_view.h"
#include "store/redis/topology/slots.h"
#include "store/redis/wire/resp.h"

TEST(slots_are_those_of_the_specification)
{
    static const struct {
        const char *key;
        uint32_t slot;
    } rows[] = {
        {"123456789", 0x31c3 % HF__SLOT_COUNT},
        {"", 0},
        {"foo", 12182},
        {"bar", 5061},
        {"{foo}bar", 12182},
        {"x{foo}y{bar}", 12182},
        {"user1000", 3443},
        {"{user1000}.following", 3443},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(hf__slot_of(hf_str(rows[i].key)), rows[i].slot);
    /* An empty tag is none, and the first "}" ends it. */
    assert_int_not_equal(hf__slot_of(hf_str("foo{}{bar}")), 5061);
    assert_int_equal(hf__slot_of(hf_str("foo{{bar}}zap")),
                     hf__slot_of(hf_str("{bar")));
    assert_int_equal(hf__slot_of(hf_view("\0\xff{foo}", 7)), 12182);
}

TEST(every_slot_has_a_tag)
{
    char text[HF__TAG_SIZE];
    char key[2 * HF__TAG_SIZE];

    for (uint32_t slot = 0; slot < HF__SLOT_COUNT; slot++) {
        hf__slot_tag(slot, text);
        assert_null(strpbrk(text, "{}"));
        snprintf(key, sizeof(key), "k{%s}", text);
        assert_int_equal(hf__slot_of(hf_str(key)), slot);
    }
}

static hf_status slot_of(uint32_t *slot, hf_error *err,
                         const char *const *words)
{
    test_call call;

    call_init(&call, ENOUGH_MS, words);
    return hf__slot_of_request(&call.request, slot, err);
}

#define SLOT(slot, err, ...)                                                   \
    slot_of(slot, err, (const char *const[]){__VA_ARGS__, NULL})

TEST(keys_of_commands_are_found)
{
    hf_error err = HF_ERROR_INIT;
    uint32_t slot = 1;

    assert_int_equal(SLOT(&slot, &err, "SET", "foo", "bar"), HF_OK);
    assert_int_equal(slot, 12182);
    assert_int_equal(SLOT(&slot, &err, "del", "bar", "{bar}1"), HF_OK);
    assert_int_equal(slot, 5061);
    assert_int_equal(SLOT(&slot, &err, "EVAL", "return 1", "1", "foo", "bar"),
                     HF_OK);
    assert_int_equal(slot, 12182);
    /* None, and requests that the server must refuse. */
    assert_int_equal(SLOT(&slot, &err, "SCAN", "17"), HF_OK);
    assert_int_equal(slot, 0);
    assert_int_equal(SLOT(&slot, &err, "EVAL", "return 1", "0", "foo"), HF_OK);
    assert_int_equal(slot, 0);
    assert_int_equal(SLOT(&slot, &err, "EVAL", "return 1", "99", "foo"), HF_OK);
    assert_int_equal(SLOT(&slot, &err, "EVAL", "return 1", "x", "foo"), HF_OK);
    assert_int_equal(SLOT(&slot, &err, "EVAL"), HF_OK);
    assert_int_equal(SLOT(&slot, &err, "GET"), HF_OK);
}

TEST(keys_of_different_slots_are_named)
{
    const hf_bytes words[] = {hf_str("{foo}a"), hf_str("{foo}b"), hf_str("bar"),
                              hf_str("{other} argument")};
    hf_error err = HF_ERROR_INIT;
    hf__request request;
    uint32_t slot;

    hf__request_script(&request, &hf__scripts[0], words, 4, 2);
    assert_int_equal(hf__slot_of_request(&request, &slot, &err), HF_OK);
    request.key_count = 3;
    assert_int_equal(hf__slot_of_request(&request, &slot, &err), HF_INVALID);
    assert_non_null(strstr(err.message, "\"{foo}a\""));
    assert_non_null(strstr(err.message, "\"bar\""));
    assert_non_null(strstr(err.message, "12182"));
    assert_int_equal(SLOT(&slot, &err, "MGET", "foo", "bar"), HF_INVALID);
    assert_int_equal(
        SLOT(&slot, &err, "EVALSHA", "abc", "2", "foo", "bar", "x"),
        HF_INVALID);
}

/* ------------------------------------------------------------- CLUSTER SLOTS
 */

static hf_status read_view(hf__cluster_view *view, const char *text,
                           hf_error *err)
{
    hf__arena arena;
    hf_reply reply;
    hf__resp resp;
    hf__buf in;
    hf_status status;

    hf__arena_init(&arena);
    hf__buf_init(&in, 1 << 20);
    assert_true(hf__buf_append(&in, text, strlen(text)));
    hf__resp_begin(&resp, &arena, &reply);
    assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_DONE);
    status = hf__cluster_view_read(view, &reply, "asked.example", err);
    hf__arena_free(&arena);
    hf__buf_done(&in);
    return status;
}

TEST(map_is_read)
{
    static const char text[] =
        "*4\r\n"
        /* With a replica and further fields. */
        "*4\r\n:0\r\n:99\r\n"
        "*4\r\n$8\r\n10.0.0.1\r\n:7000\r\n$2\r\nid\r\n*0\r\n"
        "*4\r\n$8\r\n10.0.0.2\r\n:7001\r\n$2\r\nid\r\n*0\r\n"
        /* The host that was queried. */
        "*3\r\n:100\r\n:100\r\n*2\r\n$0\r\n\r\n:7002\r\n"
        "*3\r\n:101\r\n:199\r\n*3\r\n$-1\r\n:7003\r\n$2\r\nid\r\n"
        /* One that does not know its name, but has an address. */
        "*3\r\n:200\r\n:16383\r\n"
        "*4\r\n$1\r\n?\r\n:7004\r\n$2\r\nid\r\n"
        "*4\r\n$4\r\nport\r\n$1\r\nx\r\n$2\r\nip\r\n$3\r\n::1\r\n";
    hf_error err = HF_ERROR_INIT;
    hf__cluster_view view;

    assert_int_equal(read_view(&view, text, &err), HF_OK);
    assert_int_equal(view.count, 4);
    assert_int_equal(view.ranges[0].last, 99);
    assert_string_equal(view.ranges[0].host, "10.0.0.1");
    assert_int_equal(view.ranges[0].port, 7000);
    assert_string_equal(view.ranges[1].host, "asked.example");
    assert_string_equal(view.ranges[2].host, "asked.example");
    assert_string_equal(view.ranges[3].host, "::1");
    assert_int_equal(view.ranges[3].last, 16383);
    hf__cluster_view_done(&view);
}

TEST(map_without_nodes_is_unavailable)
{
    hf_error err = HF_ERROR_INIT;
    hf__cluster_view view;

    assert_int_equal(read_view(&view, "*0\r\n", &err), HF_UNAVAILABLE);
    /* A master without a known name. */
    assert_int_equal(
        read_view(&view, "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\n?\r\n:7000\r\n",
                  &err),
        HF_UNAVAILABLE);
    assert_int_equal(
        read_view(&view, "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:0\r\n",
                  &err),
        HF_UNAVAILABLE);
}

TEST(map_that_is_none_is_corrupt)
{
    static const char *const texts[] = {
        "+OK\r\n",
        ":1\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*0\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\nh\r\n:7000\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:7000\r\n",
        "*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\nh\r\n:7000\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n:7\r\n:7000\r\n",
        "*1\r\n*3\r\n$1\r\n0\r\n:1\r\n*2\r\n$1\r\nh\r\n:7000\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\nh\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n:5\r\n",
        "*2\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:7000\r\n+x\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$3\r\na b\r\n:7000\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$3\r\na\nb\r\n:7000\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$2\r\n\303\274\r\n:7000\r\n",
    };
    hf_error err = HF_ERROR_INIT;
    hf__cluster_view view;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (read_view(&view, texts[i], &err) != HF_CORRUPT)
            fail_msg("accepted: %s", texts[i]);
    }
}

/* ------------------------------------------------------------- redirections
 */

/* "kind slot host port" of an error line. */
static void show_redirect(const char *line, char text[400])
{
    hf__redirect redirect;

    memset(&redirect, 0xee, sizeof(redirect));
    hf__redirect_read(hf_str(line), &redirect);
    if (redirect.kind == HF__REDIRECT_MOVED ||
        redirect.kind == HF__REDIRECT_ASK)
        (void)snprintf(text, 400, "%d %u \"%s\" %d", redirect.kind,
                       redirect.slot, redirect.host, redirect.port);
    else
        (void)snprintf(text, 400, "%d", redirect.kind);
}

TEST(redirection_is_read)
{
    static const struct {
        const char *line;
        const char *text;
    } rows[] = {
        {"MOVED 3999 10.0.0.1:6381", "1 3999 \"10.0.0.1\" 6381"},
        {"ASK 0 a.example:1", "2 0 \"a.example\" 1"},
        {"MOVED 16383 :6381", "1 16383 \"\" 6381"},
        {"MOVED 5 ?:6381", "1 5 \"?\" 6381"},
        {"MOVED 5 ::1:6381", "1 5 \"::1\" 6381"},
        {"MOVED 5 [fe80::1]:65535", "1 5 \"fe80::1\" 65535"},
        {"TRYAGAIN Multiple keys request", "3"},
        {"CLUSTERDOWN Hash slot not served", "4"},
        {"READONLY You can't write", "5"},
        {"MASTERDOWN Link", "5"},
        {"UNBLOCKED client unblocked via CLIENT UNBLOCK", "0"},
        {"UNBLOCKED force unblock", "5"},
        /* None of them. */
        {"MOVED", "0"},
        {"MOVED ", "0"},
        {"MOVED 5", "0"},
        {"MOVED 5 ", "0"},
        {"MOVED 5 h", "0"},
        {"MOVED 5 h:", "0"},
        {"MOVED 5 h:0", "0"},
        {"MOVED 5 h:65536", "0"},
        {"MOVED 5 h:7000 ", "0"},
        {"MOVED 5 h:-1", "0"},
        {"MOVED 16384 h:7000", "0"},
        {"MOVED -1 h:7000", "0"},
        {"MOVED x h:7000", "0"},
        {"MOVED 99999999999999999999 h:7000", "0"},
        {"MOVED 5 a b:7000", "0"},
        {"MOVED 5 a\nb:7000", "0"},
        {"MOVED 5 \303\274:7000", "0"},
        {"moved 5 h:7000", "0"},
        {"", "0"},
    };
    char text[400];
    char line[700];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        show_redirect(rows[i].line, text);
        if (strcmp(text, rows[i].text) != 0)
            fail_msg("%s: %s", rows[i].line, text);
    }
    /* A host of 255 bytes fits; one of 256 does not. */
    (void)snprintf(line, sizeof(line), "ASK 5 %0255d:7000", 0);
    show_redirect(line, text);
    assert_int_equal(text[0], '2');
    (void)snprintf(line, sizeof(line), "ASK 5 %0256d:7000", 0);
    show_redirect(line, text);
    assert_string_equal(text, "0");
}

/* ------------------------------------------------------------- CLUSTER NODES
 */

static bool read_self(hf__cluster_self *self, const char *text)
{
    return hf__cluster_self_read(self, hf_str(text));
}

TEST(own_line_is_read)
{
    static const char other[] =
        "aaaa 10.0.0.2:7001@17001 master - 0 1 2 connected 0-99 [7-<-bbbb]\n";
    char text[400];
    hf__cluster_self self;
    uint64_t stamp;

    (void)snprintf(text, sizeof(text),
                   "%sbbbb 10.0.0.1:7000@17000 myself,master - 0 1 3 connected "
                   "100 200-299\n",
                   other);
    assert_true(read_self(&self, text));
    assert_true(self.is_master);
    assert_false(self.is_moving);
    assert_int_equal(self.slot_count, 101);
    stamp = self.stamp;
    /* Irrelevant fields do not change the stamp; the epoch does. */
    assert_true(read_self(&self, strchr(text, '\n') + 1));
    assert_true(self.stamp == stamp);
    assert_true(read_self(
        &self, "bbbb 10.0.0.1:7000@17000 myself,master - 0 99 3 connected "
               "100 200-299\n"));
    assert_true(self.stamp == stamp);
    assert_true(read_self(
        &self, "bbbb 10.0.0.1:7000@17000 myself,master - 0 1 4 connected "
               "100 200-299\n"));
    assert_true(self.stamp != stamp);
    assert_true(
        read_self(&self, "bbbb :7000@17000 myself,slave aaaa 0 1 4 connected"));
    assert_false(self.is_master);
    assert_true(read_self(
        &self,
        "bbbb :7000@17000 myself,master - 0 1 4 connected 5 [5->-aaaa]"));
    assert_true(self.is_moving);
}

TEST(own_line_that_is_none_is_refused)
{
    hf__cluster_self self;

    assert_false(read_self(&self, ""));
    assert_false(read_self(&self, "\n\n"));
    assert_false(read_self(&self, "a b master - 0 1 4 connected 5"));
    assert_false(read_self(&self, "a b myself - 0 1 4 connected x"));
    assert_false(read_self(&self, "a b myself - 0 1 4 connected 16384"));
    assert_false(read_self(&self, "a b myself - 0 1 4 connected 9-3"));
    assert_false(read_self(&self, "a b myself - 0 1 4 connected 1-"));
    assert_false(read_self(&self, "a b myself - 0 1 4 connected 999999999999"));
}
