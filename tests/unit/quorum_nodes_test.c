/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_nodes_test.c - the list of servers in a redlock: URL, valid and
 * invalid; no message shows a password, or part of one.
 */
#include "redis_driver.h"
#include "support/slowness.h"

#include <stdio.h>

/* Nothing listens on these ports. */
#define A "redis://127.0.0.1:1"
#define B "redis://127.0.0.1:2"
#define C "redis://127.0.0.1:3"

static void expect_refused(const char *url, hf_status status, const char *text)
{
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err), status);
    if (strstr(err.message, text) == NULL)
        fail_msg("%s: %s", url, err.message);
    if (strstr(err.message, "geheim") != NULL)
        fail_msg("shown: %s", err.message);
}

TEST(wrong_list_names_the_item)
{
    expect_refused("redlock:" A, HF_INVALID, "1 servers");
    expect_refused("redlock:" A "," B, HF_INVALID, "3 to 15");
    expect_refused("redlock:" A "," B "," A, HF_INVALID, "items 1 and 3");
    expect_refused("redlock:" A "," B ",", HF_INVALID, "item 3");
    expect_refused("redlock:" A "," B ",quorum=3," C, HF_INVALID, "item 3");
    expect_refused("redlock:quarantine=x," A "," B "," C, HF_INVALID,
                   "quarantine");
    expect_refused("redlock:quarantine=86400001," A "," B "," C, HF_INVALID,
                   "quarantine");
    expect_refused("redlock:" A "," B ",volatile://x", HF_INVALID, "server 3");
    expect_refused("redlock:" A "," B ",redis+cluster://h", HF_INVALID,
                   "independent");
    expect_refused("redlock:" A "," B ",redis+sentinel://h/m", HF_INVALID,
                   "independent");
    expect_refused("redlock:" A "," B ",redlock:" C, HF_INVALID, "server 3");
}

TEST(too_many_servers_are_refused)
{
    char url[1000] = "redlock:";
    size_t size = strlen(url);

    for (int i = 1; i <= 16; i++)
        size +=
            (size_t)snprintf(url + size, sizeof(url) - size,
                             "%sredis://127.0.0.1:%d", i == 1 ? "" : ",", i);
    expect_refused(url, HF_INVALID, "more than 15");
    (void)snprintf(url + size, sizeof(url) - size, ",redis://127.0.0.1:17");
    expect_refused(url, HF_INVALID, "more than 15");
}

/* Such as a password with a comma, or a scheme without its slashes. */
TEST(passwords_are_never_shown)
{
    expect_refused("redlock:" A ",geheim@h," C, HF_INVALID, "item 2");
    expect_refused("redlock:redis:/:geheim@h," B "," C, HF_INVALID, "item 1");
    expect_refused("redlock:geheim@h," B "," C, HF_INVALID, "%2C");
    expect_refused("redlock:redis://:geheim@h:x," B "," C, HF_INVALID, "");
    expect_refused("redlock:redis://:geheim@127.0.0.1:1," B "," C,
                   HF_UNAVAILABLE, "0 of 3");
}

/* They may become reachable, as long as there is time to connect. */
TEST(servers_out_of_reach_are_counted)
{
    int64_t began_ms = hf__clock_boot_ms();

    expect_refused("redlock:" A "," B "," C, HF_UNAVAILABLE,
                   "0 of 3 servers answered; 2 are needed");
    assert_took(hf__clock_boot_ms() - began_ms, 0, 1000 + ENOUGH_MS / 5);
}
