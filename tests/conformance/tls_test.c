/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_test.c - TLS by options instead of the URL, and other connection settings
 * that options have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/store_fixture.h"

FIXTURE_TESTS();

/* The server's address with TLS, without any trust settings. */
static void bare_url(const fixture *f, char url[FIXTURE_PATH_SIZE])
{
    (void)snprintf(url, FIXTURE_PATH_SIZE, "rediss://127.0.0.1:%d",
                   redis_server_tls_port(f->server));
}

static hf_status open_with(const char *url, const hf_client_options *opts)
{
    hf_client *client = NULL;
    hf_status status = hf_client_open(url, opts, &client, ERR);

    hf_client_close(client);
    return status;
}

TEST(options_say_whom_to_trust)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_tls_options tls = HF_TLS_OPTIONS_INIT;
    char url[FIXTURE_PATH_SIZE];

    bare_url(f, url);
    expect_status(HF_DENIED, open_with(url, NULL));
    opts.tls = &tls;
    expect_status(HF_DENIED, open_with(url, &opts));
    tls.ca = f->tls.ca;
    expect_status(HF_OK, open_with(url, &opts));
    tls.name = "elsewhere.example";
    expect_status(HF_DENIED, open_with(url, &opts));
    tls.name = "localhost"; /* which is also in the certificate */
    expect_status(HF_OK, open_with(url, &opts));
    tls.name = NULL;
    tls.ca = f->tls.certificate; /* a leaf, not an authority */
    tls.verify = "none";
    expect_status(HF_INVALID, open_with(url, &opts));
    tls.ca = NULL;
    expect_status(HF_OK, open_with(url, &opts));
    tls.cert = f->tls.certificate;
    expect_status(HF_INVALID, open_with(url, &opts));
    tls.key = f->tls.key;
    expect_status(HF_OK, open_with(url, &opts));
    tls.key = "/nowhere";
    expect_status(HF_INVALID, open_with(url, &opts));
}

TEST(options_of_every_version)
{
    fixture *f = *state;
    struct {
        hf_tls_options ours;
        char more[64];
    } newer = {HF_TLS_OPTIONS_INIT, {0}};
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    char url[FIXTURE_PATH_SIZE];

    bare_url(f, url);
    opts.tls = &newer.ours;
    newer.ours.ca = f->tls.ca;
    newer.ours.struct_size = 0;
    expect_status(HF_INVALID, open_with(url, &opts));
    newer.ours.struct_size = sizeof(newer);
    expect_status(HF_OK, open_with(url, &opts));
    newer.more[sizeof(newer.more) - 1] = 1;
    expect_status(HF_UNSUPPORTED, open_with(url, &opts));
}

/* A caller who asks for encryption gets no plain connection, except where
 * nothing leaves the machine. */
TEST(options_are_not_for_plain_servers)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_tls_options tls = HF_TLS_OPTIONS_INIT;
    char url[FIXTURE_PATH_SIZE];

    opts.tls = &tls;
    expect_status(HF_INVALID,
                  open_with(redis_server_tcp_url(f->server), &opts));
    expect_status(HF_OK, open_with(redis_server_unix_url(f->server), &opts));
    (void)snprintf(url, sizeof(url), "file:%.200s/embedded?max_size=4M",
                   f->directory);
    expect_status(HF_OK, open_with(url, &opts));
}

/* The client has its own copies of all it needs to reconnect. */
TEST(strings_are_the_callers_again)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_tls_options tls = HF_TLS_OPTIONS_INIT;
    char url[FIXTURE_PATH_SIZE], answer[4096];
    char *ca = strdup(f->tls.ca), *name = strdup("localhost");
    char *who = strdup("tester");
    hf_client *client = NULL;

    bare_url(f, url);
    tls.ca = ca;
    tls.name = name;
    opts.tls = &tls;
    opts.client_name = who;
    expect_status(HF_OK, hf_client_open(url, &opts, &client, ERR));
    memset(ca, 'x', strlen(ca));
    memset(name, 'x', strlen(name));
    memset(who, 'x', strlen(who));
    free(ca);
    free(name);
    free(who);
    memset(&tls, 0xee, sizeof(tls));
    assert_true(redis_server_restart(f->server));
    put_value(client, bytes("after"), bytes("1"), 60000);
    assert_true(
        redis_server_command(f->server, "CLIENT LIST", answer, sizeof(answer)));
    assert_non_null(strstr(answer, " name=tester "));
    hf_client_close(client);
}

TEST(name_of_the_client_is_checked)
{
    static const char *const names[] = {"", "a b", "a\n", "\x7f", "\xc3\xa9"};
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    char longest[66];
    char url[FIXTURE_PATH_SIZE];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        opts.client_name = names[i];
        expect_status(HF_INVALID, open_with(f->url, &opts));
    }
    memset(longest, 'n', sizeof(longest));
    longest[65] = '\0';
    opts.client_name = longest;
    expect_status(HF_INVALID, open_with(f->url, &opts));
    longest[64] = '\0';
    expect_status(HF_OK, open_with(f->url, &opts));
    (void)snprintf(url, sizeof(url), "%.200s&client_name=a%%20b", f->url);
    expect_status(HF_INVALID, open_with(url, NULL));
    expect_status(HF_OK, open_with(url, &opts)); /* which take precedence */
}
