/* SPDX-License-Identifier: Apache-2.0 */
/* tls_test.c - TLS to PostgreSQL, as the URL or the options demand it. */
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "support/certificates.h"
#include "support/expect.h"
#include "support/postgres_server.h"

static postgres_server *server;
static certificates *ours;
static certificates *others;

/* The server refuses a key that others can read. */
static bool give_file(const char *path, mode_t mode)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;

    return chmod(path, mode) == 0 &&
           (user == NULL || chown(path, user->pw_uid, user->pw_gid) == 0);
}

static bool set_tls(void)
{
    char path[CERTIFICATES_PATH_SIZE];
    char sql[256];

    if (!give_file(certificates_path(ours, "server.key", path), 0600))
        return false;
    (void)snprintf(sql, sizeof(sql), "ALTER SYSTEM SET ssl_key_file = '%s'",
                   path);
    if (!postgres_server_run(server, sql) ||
        !give_file(certificates_path(ours, "server.pem", path), 0644))
        return false;
    (void)snprintf(sql, sizeof(sql), "ALTER SYSTEM SET ssl_cert_file = '%s'",
                   path);
    return postgres_server_run(server, sql) &&
           give_file(certificates_path(ours, ".", path), 0755) &&
           postgres_server_run(server, "ALTER SYSTEM SET ssl = on") &&
           postgres_server_restart(server);
}

static int start_server(void **state)
{
    (void)state;
    ours = certificates_new();
    others = certificates_new();
    server = postgres_server_start(false);
    return ours != NULL && others != NULL && server != NULL &&
                   certificates_issue_server(ours)
               ? 0
               : -1;
}

static int stop_server(void **state)
{
    (void)state;
    postgres_server_stop(server);
    certificates_free(ours);
    certificates_free(others);
    return 0;
}

ALL_TESTS_WITH(start_server, stop_server);

static hf_status open_trusting(const certificates *whom)
{
    char path[CERTIFICATES_PATH_SIZE];
    char url[384];
    hf_client *client = NULL;
    hf_status status;

    (void)snprintf(url, sizeof(url),
                   "postgres://postgres@127.0.0.1:%d/postgres?"
                   "sslmode=verify-full&sslrootcert=%s",
                   postgres_server_port(server),
                   certificates_path(whom, "ca.pem", path));
    status = hf_client_open(url, NULL, &client, NULL);
    if (status == HF_OK) {
        hf_lock *lock = NULL;

        expect_status(HF_OK,
                      hf_lock_new(client, hf_str("a"), NULL, &lock, ERR));
        expect_status(HF_OK, hf_lock_acquire(lock, 10000, ERR));
        hf_lock_free(lock);
        hf_client_close(client);
    }
    return status;
}

TEST(server_is_verified)
{
    /* Without TLS. */
    assert_int_equal(open_trusting(ours), HF_UNAVAILABLE);
    assert_true(set_tls());
    assert_int_equal(open_trusting(ours), HF_OK);
    assert_int_equal(open_trusting(others), HF_UNAVAILABLE);
}

static hf_status open_with(const certificates *whom, const char *verify)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_tls_options tls = HF_TLS_OPTIONS_INIT;
    char path[CERTIFICATES_PATH_SIZE];
    hf_client *client = NULL;
    hf_status status;

    if (whom != NULL)
        tls.ca = certificates_path(whom, "ca.pem", path);
    tls.verify = verify;
    options.tls = &tls;
    status =
        hf_client_open(postgres_server_url(server), &options, &client, NULL);
    if (status == HF_OK)
        hf_client_close(client);
    return status;
}

/* As client.h has it, with each libpq. */
TEST(options_say_what_is_verified)
{
    hf_status by_system;

    assert_true(set_tls());
    assert_int_equal(open_with(ours, NULL), HF_OK);
    assert_int_equal(open_with(ours, "ca"), HF_OK);
    assert_int_equal(open_with(others, "full"), HF_UNAVAILABLE);
    assert_int_equal(open_with(others, "ca"), HF_UNAVAILABLE);
    assert_int_equal(open_with(NULL, "none"), HF_OK);
    assert_int_equal(open_with(others, "none"), HF_INVALID);
    assert_int_equal(open_with(ours, "some"), HF_INVALID);
    assert_int_equal(open_with(NULL, "ca"), HF_UNSUPPORTED);
    by_system = open_with(NULL, NULL);
    assert_true(by_system == HF_UNSUPPORTED || by_system == HF_UNAVAILABLE);
}
