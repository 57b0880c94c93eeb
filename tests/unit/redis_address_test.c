/* SPDX-License-Identifier: Apache-2.0 */
/* redis_address_test.c - from URLs to the address of a server. */
#include <string.h>

#include "store/redis/wire/address.h"
#include "support/test.h"
#include "util/url.h"

static hf_status parse(const char *text, hf__redis_address *address,
                       hf_error *err)
{
    hf__url url;
    hf__store_config config = {.url = &url};
    hf_status status = hf__url_parse(text, &url, err);

    if (status != HF_OK)
        return status;
    config.username = url.username;
    config.password = url.password;
    status = hf__redis_address_init(address, &config, err);
    hf__url_done(&url);
    return status;
}

TEST(tcp_url_gives_host_port_and_database)
{
    static const struct {
        const char *url;
        const char *host;
        int port;
        int64_t db;
        const char *text;
    } good[] = {
        {"redis://example.org", "example.org", 6379, 0, "example.org:6379"},
        {"redis://example.org/", "example.org", 6379, 0, "example.org:6379"},
        {"valkey://example.org:7000/15", "example.org", 7000, 15,
         "example.org:7000"},
        {"redis://127.0.0.1:1/2147483647", "127.0.0.1", 1, 2147483647,
         "127.0.0.1:1"},
        {"redis://[::1]:7000/2", "::1", 7000, 2, "[::1]:7000"},
        {"redis://[fe80::1]", "fe80::1", 6379, 0, "[fe80::1]:6379"},
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        hf_error err = HF_ERROR_INIT;
        hf__redis_address address;

        if (parse(good[i].url, &address, &err) != HF_OK)
            fail_msg("%s: %s", good[i].url, err.message);
        assert_string_equal(address.where.host, good[i].host);
        assert_null(address.where.path);
        assert_int_equal(address.where.port, good[i].port);
        assert_int_equal(address.account.db, good[i].db);
        assert_string_equal(address.where.text, good[i].text);
        assert_null(address.account.password);
        hf__redis_address_done(&address);
    }
}

TEST(unix_url_gives_path_and_database)
{
    hf_error err = HF_ERROR_INIT;
    hf__redis_address address;

    assert_int_equal(parse("redis+unix:///run/r.sock", &address, &err), HF_OK);
    assert_string_equal(address.where.path, "/run/r.sock");
    assert_string_equal(address.where.text, "/run/r.sock");
    assert_null(address.where.host);
    assert_int_equal(address.account.db, 0);
    hf__redis_address_done(&address);
    assert_int_equal(parse("valkey+unix:/run/a%20b?db=3", &address, &err),
                     HF_OK);
    assert_string_equal(address.where.path, "/run/a b");
    assert_int_equal(address.account.db, 3);
    hf__redis_address_done(&address);
}

TEST(credentials_are_copied_and_empty_ones_are_none)
{
    hf_error err = HF_ERROR_INIT;
    hf__redis_address address;

    assert_int_equal(parse("redis://me:se%2Fcret@h", &address, &err), HF_OK);
    assert_string_equal(address.account.username, "me");
    assert_string_equal(address.account.password, "se/cret");
    hf__redis_address_done(&address);
    assert_null(address.account.password);
    assert_int_equal(parse("redis://:secret@h", &address, &err), HF_OK);
    assert_null(address.account.username);
    assert_string_equal(address.account.password, "secret");
    hf__redis_address_done(&address);
    assert_int_equal(parse("redis+unix://me:pw@/run/s", &address, &err), HF_OK);
    assert_string_equal(address.account.username, "me");
    assert_string_equal(address.account.password, "pw");
    hf__redis_address_done(&address);
    assert_int_equal(parse("redis://me@h", &address, &err), HF_INVALID);
    assert_non_null(strstr(err.message, "without a password"));
}

TEST(wrong_url_names_the_part)
{
    static const struct {
        const char *url;
        const char *part;
    } wrong[] = {
        {"redis:", "host"},
        {"redis:///0", "host"},
        {"redis://a,b", "one host"},
        {"redis://h/x", "database"},
        {"redis://h/-1", "database"},
        {"redis://h/1/2", "database"},
        {"redis://h/2147483648", "database"},
        {"redis://h?db=1", "db"},
        {"redis://h?foo=1", "foo"},
        {"redis+unix://", "path"},
        {"redis+unix:///", "path"},
        {"redis+unix:relative", "path"},
        {"redis+unix://host/path", "host"},
        {"redis+unix:///s?db=x", "db"},
        {"redis+unix:///s?db=-1", "db"},
        {"redis+unix:///s?timeout=1", "timeout"},
        {"redis+unix:///0123456789012345678901234567890123456789012345678901234"
         "5678901234567890123456789012345678901234567890123456789",
         "path"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        hf_error err = HF_ERROR_INIT;
        hf__redis_address address;

        if (parse(wrong[i].url, &address, &err) != HF_INVALID)
            fail_msg("accepted: %s", wrong[i].url);
        if (strstr(err.message, wrong[i].part) == NULL)
            fail_msg("%s: %s", wrong[i].url, err.message);
    }
}
