/* SPDX-License-Identifier: Apache-2.0 */
/* store_test.c - from schemes to drivers, and requests without a driver. */
#include <stdio.h>
#include <string.h>

#include "store/drivers.h"
#include "support/test.h"
#include "util/url.h"

static hf_status open_url(const char *text, hf_error *err)
{
    hf__url url;
    hf__store_config config = {.url = &url, .connect_ms = 100};
    hf__store *store = NULL;
    hf_status status = hf__url_parse(text, &url, err);

    if (status != HF_OK)
        return status;
    status = hf__store_open(&config, &store, err);
    hf__url_done(&url);
    assert_null(store);
    return status;
}

TEST(unknown_scheme_lists_the_known)
{
    static const char *const known[] = {
        "volatile",   "file",        "redis",    "rediss",
        "valkey",     "valkeys",     "+cluster", "+sentinel",
        "redis+unix", "valkey+unix", "redlock"};
    static const char *const unknown[] = {
        "mysql://h",
        "redi://h",
        "redis+tcp://h",
        "rediss+unix:/s",
        "redlock+unix:/s",
        "redis+clusters://h",
        ("redis+a+name+that+is+so+long+that+no+message+would+hold+it+and+all"
         "+that+there+is+to+say+about+it+which+is+not+little://h")};

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        hf_error err = HF_ERROR_INIT;

        assert_int_equal(open_url(unknown[i], &err), HF_INVALID);
        for (size_t at = 0; at < sizeof(known) / sizeof(known[0]); at++)
            assert_non_null(strstr(err.message, known[at]));
        assert_non_null(strstr(err.message, "unknown scheme \""));
    }
}

/* Which driver got the scheme shows in what it refuses. */
TEST(scheme_reaches_its_driver)
{
    static const char *const urls[] = {
        "redis://h?no=1",
        "valkey://h?no=1",
        "redis+unix:///s?no=1",
        "valkey+unix:///s?no=1",
        "volatile:/x?no=1",
        "file:/x?no=1",
        "redis+cluster://h?no=1",
        "redis+sentinel://h/m?no=1",
        "rediss://h?no=1",
        "valkeys://h?no=1",
        "rediss+cluster://h?no=1",
        "valkeys+sentinel://h/m?no=1",
        "valkey+cluster://h?no=1",
        "valkey+sentinel://h/m?no=1",
        "redlock:redis://h?no=1,redis://i,redis://j",
    };

    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        hf_error err = HF_ERROR_INIT;

        assert_int_equal(open_url(urls[i], &err), HF_INVALID);
        assert_non_null(strstr(err.message, "\"no\""));
    }
}

TEST(request_fails_with_one_line)
{
    hf__request request;

    memset(&request, 0xee, sizeof(request));
    hf__request_init(&request);
    assert_null(request.script);
    assert_int_equal(request.word_count, 0);
    assert_int_equal(request.lane, HF__LANE_USER);
    assert_false(request.repeatable);
    assert_int_equal(request.sends, 0);
    hf__request_fail(&request, HF_UNAVAILABLE, "%s is\ndown", "it");
    assert_int_equal(request.status, HF_UNAVAILABLE);
    assert_int_equal(request.error.status, HF_UNAVAILABLE);
    assert_string_equal(request.error.message, "it is down");
    assert_non_null(hf__arena_copy(&request.arena, "x", 1));
    assert_non_null(hf__arena_alloc(&request.arena, 100000));
    hf__request_done(&request);
    assert_non_null(hf__arena_alloc(&request.arena, 100000));
    hf__request_done(&request);
}
