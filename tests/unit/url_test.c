/* SPDX-License-Identifier: Apache-2.0 */
/* url_test.c - store URLs, valid and invalid, and numbers in them. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "util/mem.h"
#include "util/url.h"

#define PASSWORD "s3cr3t"

static void assert_text(const char *text, const char *expected)
{
    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text, expected);
}

TEST(url_parts_come_out_decoded)
{
    static const struct {
        const char *text, *scheme, *username, *password, *host;
        int port;
        const char *path;
    } rows[] = {
        {"volatile:", "volatile", NULL, NULL, NULL, 0, ""},
        {"volatile:jobs", "volatile", NULL, NULL, NULL, 0, "jobs"},
        {"file:/var/lib/a.hf", "file", NULL, NULL, NULL, 0, "/var/lib/a.hf"},
        {"file:/a b/%25%3f\xc3\xa9", "file", NULL, NULL, NULL, 0,
         "/a b/%?\xc3\xa9"},
        {"file:///x", "file", NULL, NULL, "", 0, "/x"},
        {"REDIS://Host", "redis", NULL, NULL, "Host", 0, ""},
        {"redis://h:6379/2", "redis", NULL, NULL, "h", 6379, "/2"},
        {"redis://h:65535", "redis", NULL, NULL, "h", 65535, ""},
        {"redis://me@h", "redis", "me", NULL, "h", 0, ""},
        {"redis://:pw@h", "redis", "", "pw", "h", 0, ""},
        {"redis://me:@h", "redis", "me", "", "h", 0, ""},
        {"redis://m%65:p%3Aw%40:%2f@h", "redis", "me", "p:w@:/", "h", 0, ""},
        {"redis://me:a@b@h", "redis", "me", "a@b", "h", 0, ""},
        {"redis://[::1]:7/0", "redis", NULL, NULL, "::1", 7, "/0"},
        {"redis://[fe80::1%25eth0]", "redis", NULL, NULL, "fe80::1%eth0", 0,
         ""},
        {"redis+unix:///run/r.sock", "redis+unix", NULL, NULL, "", 0,
         "/run/r.sock"},
        {"redis+sentinel://a,b.c-d,1.2.3.4/m", "redis+sentinel", NULL, NULL,
         "a,b.c-d,1.2.3.4", 0, "/m"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_error err = HF_ERROR_INIT;
        hf__url url;

        assert_int_equal(hf__url_parse(rows[i].text, &url, &err), HF_OK);
        assert_text(url.scheme, rows[i].scheme);
        assert_text(url.username, rows[i].username);
        assert_text(url.password, rows[i].password);
        assert_text(url.host, rows[i].host);
        assert_int_equal(url.port, rows[i].port);
        assert_text(url.path, rows[i].path);
        assert_int_equal(url.param_count, 0);
        hf__url_done(&url);
    }
}

TEST(url_parameters_come_out_decoded)
{
    hf__url url;

    assert_int_equal(
        hf__url_parse("file:/x?max_size=1G&a%26b=c%3Dd=e&empty=", &url, NULL),
        HF_OK);
    assert_int_equal(url.param_count, 3);
    assert_string_equal(hf__url_param_get(&url, "max_size"), "1G");
    assert_string_equal(hf__url_param_get(&url, "a&b"), "c=d=e");
    assert_string_equal(hf__url_param_get(&url, "empty"), "");
    assert_null(hf__url_param_get(&url, "max"));
    hf__url_done(&url);
}

TEST(url_bad_part_is_named_and_the_password_is_not)
{
    static const struct {
        const char *text, *named;
    } rows[] = {
        {"", "scheme"},
        {"localhost", "scheme"},
        {":x", "scheme"},
        {"1redis://h", "scheme"},
        {"re dis://h", "scheme"},
        {"r\xc3\xa9:x", "scheme"},
        {PASSWORD, "scheme"},
        {"%72edis://h", "scheme"},
        {"redis://:" PASSWORD "@h:0", "port"},
        {"redis://:" PASSWORD "@h:65536", "port"},
        {"redis://:" PASSWORD "@h:99999999999999999999", "port"},
        {"redis://:" PASSWORD "@h:", "port"},
        {"redis://:" PASSWORD "@h:12x", "port"},
        {"redis://:" PASSWORD "@h:-1", "port"},
        {"redis://:" PASSWORD "@[::1]:", "port"},
        {"redis://h:" PASSWORD, "port"},
        {"redis://me:" PASSWORD, "port"},
        {"redis://:" PASSWORD "%@h", "password"},
        {"redis://:" PASSWORD "%2@h", "password"},
        {"redis://:" PASSWORD "%zz@h", "password"},
        {"redis://:" PASSWORD "%00@h", "NUL in its password"},
        {"redis://a%0:" PASSWORD "@h", "user name"},
        {"redis://:" PASSWORD "@h%", "host"},
        {"redis://:" PASSWORD "@h h", "host"},
        {"redis://:" PASSWORD "@[::1", "host"},
        {"redis://:" PASSWORD "@[]", "host"},
        {"redis://:" PASSWORD "@[" PASSWORD "]", "host"},
        {"redis://:" PASSWORD "@[::1]x", "host"},
        {"redis://:" PASSWORD "@[::1%25]", "host"},
        {"redis://:" PASSWORD "@h/%", "path"},
        {"redis://:" PASSWORD "@h/%g0", "path"},
        {"redis://:" PASSWORD "@h/%00", "NUL in its path"},
        {"redis://:" PASSWORD "@h?", "parameter"},
        {"redis://:" PASSWORD "@h?a=1&", "parameter"},
        {"redis://:" PASSWORD "@h?a", "parameter"},
        {"redis://:" PASSWORD "@h?=1", "parameter"},
        {"redis://:" PASSWORD "@h?a=1&b=2&a=3", "parameter \"a\" twice"},
        {"redis://:" PASSWORD "@h?a=1&%61=3", "parameter \"a\" twice"},
        {"redis://:" PASSWORD "@h?a=%", "parameter"},
        {"redis://:" PASSWORD "@h?a=1#b", "#"},
        {"redis://:" PASSWORD "#x@h", "#"},
        {"redis://:" PASSWORD "\n@h", "control"},
        {"redis://:1/" PASSWORD "@h", "@"},
        {"redis://:1?" PASSWORD "=@h", "@"},
        {"redis://:1?a=" PASSWORD "@h", "@"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_error err = HF_ERROR_INIT;
        hf__url url;

        assert_int_equal(hf__url_parse(rows[i].text, &url, &err), HF_INVALID);
        if (strstr(err.message, rows[i].named) == NULL)
            fail_msg("%s: %s", rows[i].text, err.message);
        assert_null(strstr(err.message, PASSWORD));
        assert_null(url.storage);
    }
}

TEST(url_takes_no_more_than_its_bounds)
{
    char text[16384 + 2];
    hf__url url;
    char *end;

    memset(text, 'a', sizeof(text));
    memcpy(text, "file:", 5);
    text[16384] = '\0';
    assert_int_equal(hf__url_parse(text, &url, NULL), HF_OK);
    assert_int_equal(strlen(url.path), 16384 - 5);
    hf__url_done(&url);
    text[16384] = 'a';
    text[16385] = '\0';
    assert_int_equal(hf__url_parse(text, &url, NULL), HF_INVALID);

    end = text + snprintf(text, sizeof(text), "file:/x?p00=");
    for (int i = 1; i < HF__URL_PARAM_MAX; i++)
        end += snprintf(end, 8, "&p%02d=", i);
    assert_int_equal(hf__url_parse(text, &url, NULL), HF_OK);
    assert_int_equal(url.param_count, HF__URL_PARAM_MAX);
    hf__url_done(&url);
    memcpy(end, "&more=", 7);
    assert_int_equal(hf__url_parse(text, &url, NULL), HF_INVALID);
}

/* Every prefix of a URL and every byte in every place: no crash, and never the
 * password in a message. */
TEST(url_survives_any_one_byte_change)
{
    static const char good[] =
        "redis://me:" PASSWORD "@[::1%25e]:12/%41?a=%42&b=2";
    size_t good_count = 0;

    for (size_t at = 0; at < sizeof(good); at++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[sizeof(good)];
            hf_error err = HF_ERROR_INIT;
            hf__url url;

            memcpy(text, good, sizeof(good));
            text[at] = (char)byte;
            text[sizeof(text) - 1] = '\0';
            if (hf__url_parse(text, &url, &err) == HF_OK) {
                good_count++;
                hf__url_done(&url);
            } else {
                assert_null(strstr(err.message, PASSWORD));
                assert_null(url.storage);
            }
        }
    }
    /* The unchanged ones at least, and most changes in user and password. */
    assert_true(good_count > sizeof(good) + 5 * 200);
}

TEST(url_unknown_parameter_is_named)
{
    static const char *const known[] = {"a", "db", NULL};
    hf_error err = HF_ERROR_INIT;
    hf__url url;

    assert_int_equal(hf__url_parse("redis:?a=1&db=2", &url, NULL), HF_OK);
    assert_int_equal(hf__url_check_params(&url, known, &err), HF_OK);
    hf__url_done(&url);
    assert_int_equal(hf__url_parse("redis:?a=1&d=2", &url, NULL), HF_OK);
    assert_int_equal(hf__url_check_params(&url, known, &err), HF_INVALID);
    assert_non_null(strstr(err.message, "\"d\""));
    hf__url_done(&url);
}

TEST(url_done_twice_is_harmless)
{
    hf__url url;

    assert_int_equal(hf__url_parse("file:/x", &url, NULL), HF_OK);
    hf__url_done(&url);
    assert_null(url.path);
    hf__url_done(&url);
}

TEST(url_without_memory_is_no_memory)
{
    hf_error err = HF_ERROR_INIT;
    hf__url url;

    hf__alloc_fail_after(0);
    assert_int_equal(hf__url_parse("redis://:" PASSWORD "@h", &url, &err),
                     HF_NO_MEMORY);
    hf__alloc_fail_after(-1);
    assert_int_equal(err.status, HF_NO_MEMORY);
    assert_null(strstr(err.message, PASSWORD));
    assert_null(url.storage);
}

TEST(int_in_range_is_read)
{
    int64_t value = 0;

    assert_int_equal(hf__parse_int("15", 0, 15, "db", &value, NULL), HF_OK);
    assert_true(value == 15);
    assert_int_equal(hf__parse_int("-0012", -12, 0, "db", &value, NULL), HF_OK);
    assert_true(value == -12);
    assert_int_equal(
        hf__parse_int("9223372036854775807", 0, INT64_MAX, "n", &value, NULL),
        HF_OK);
    assert_true(value == INT64_MAX);
    assert_int_equal(
        hf__parse_int("-9223372036854775808", INT64_MIN, 0, "n", &value, NULL),
        HF_OK);
    assert_true(value == INT64_MIN);
}

TEST(int_that_is_none_is_refused_by_name)
{
    static const char *const bad[] = {"",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "-",
                                      "--1",
                                      "0x1",
                                      "1e3",
                                      "1.0",
                                      "16",
                                      "-1",
                                      "1K",
                                      "\n1",
                                      "9223372036854775808",
                                      "-9223372036854775809"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_error err = HF_ERROR_INIT;
        int64_t value = 77;

        assert_int_equal(hf__parse_int(bad[i], 0, 15, "db", &value, &err),
                         HF_INVALID);
        assert_int_equal(value, 77);
        assert_memory_equal(err.message, "db: ", 4);
        assert_non_null(strstr(err.message, "0 to 15"));
    }
}

TEST(size_suffix_is_a_power_of_1024)
{
    static const struct {
        const char *text;
        int64_t size;
    } rows[] = {{"0", 0},
                {"7", 7},
                {"3K", 3072},
                {"2M", INT64_C(2) << 20},
                {"5G", INT64_C(5) << 30}};
    int64_t size;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(
            hf__parse_size(rows[i].text, 0, INT64_MAX, "max_size", &size, NULL),
            HF_OK);
        assert_true(size == rows[i].size);
    }
}

TEST(size_that_is_none_is_refused_by_name)
{
    static const char *const bad[] = {
        "",   "K",   "1k",   "1KB", "1T",
        "-1", "1 K", "1.5G", "2G",  "9223372036854775807K"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_error err = HF_ERROR_INIT;
        int64_t size = 77;

        assert_int_equal(hf__parse_size(bad[i], 0, INT64_C(1) << 30, "max_size",
                                        &size, &err),
                         HF_INVALID);
        assert_int_equal(size, 77);
        assert_memory_equal(err.message, "max_size: ", 10);
    }
}

TEST(hosts_of_a_list_have_their_own_ports)
{
    static const struct {
        const char *text;
        struct {
            const char *host;
            int port;
        } hosts[4];
    } rows[] = {
        {"x://h", {{"h", 0}}},
        {"x://h:7/p", {{"h", 7}}},
        {"x://[::1]:7", {{"::1", 7}}},
        {"x://", {{NULL, 0}}},
        {"x:/p", {{NULL, 0}}},
        {"x://a,b", {{"a", 0}, {"b", 0}}},
        {"x://u:p@a:1,b.c,10.0.0.1:65535/n",
         {{"a", 1}, {"b.c", 0}, {"10.0.0.1", 65535}}},
        {"x://[::1]:7,[fe80::1%25eth0],h:8",
         {{"::1", 7}, {"fe80::1%eth0", 0}, {"h", 8}}},
    };
    static const char *const bad[] = {
        "x://a,",       "x://,a",    "x://a,,b",      "x://a:0,b",
        "x://a:x,b",    "x://a,b:",  "x://a,b:70000", "x://[::1,b",
        "x://a,[::1]x", "x://a b,c", "x://a%2Cb",     "x://[::1%2C],b",
    };
    char host[HF__URL_HOST_SIZE];
    hf_error err;
    hf__url url;
    int port;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t at = 0;

        assert_int_equal(hf__url_parse(rows[i].text, &url, &err), HF_OK);
        for (; rows[i].hosts[at].host != NULL; at++) {
            assert_true(hf__url_host(&url, at, host, &port));
            assert_string_equal(host, rows[i].hosts[at].host);
            assert_int_equal(port, rows[i].hosts[at].port);
        }
        assert_false(hf__url_host(&url, at, host, &port));
        hf__url_done(&url);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(hf__url_parse(bad[i], &url, &err), HF_INVALID);
}
