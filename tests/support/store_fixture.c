/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fixture.c - see store_fixture.h. Owns the store of a test program: its
 * directory and its server. The volatile store is in /dev/shm as usual. Not
 * thread-safe.
 */
#include "support/store_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/fixture_rights.h"
#include "support/remove_tree.h"
#include "support/told.h"

/* Enough for every test; a volatile store allocates all of it at once. */
#define MAX_SIZE "64M"

#define VALKEY "valkey-server"

static fixture the_fixture;

/* Values of HOLDFAST_TEST_STORE. */
static const struct {
    const char *name;
    fixture_store store;
    const char *program; /* NULL: see redis_server_use() */
    fixture_rights rights;
} rows[] = {
    {"embedded-volatile", FIXTURE_EMBEDDED_VOLATILE, NULL, FIXTURE_RIGHTS_ALL},
    {"embedded-file", FIXTURE_EMBEDDED_FILE, NULL, FIXTURE_RIGHTS_ALL},
    {"embedded-flush", FIXTURE_EMBEDDED_FLUSH, NULL, FIXTURE_RIGHTS_ALL},
    {"embedded-log", FIXTURE_EMBEDDED_LOG, NULL, FIXTURE_RIGHTS_ALL},
    {"redis-unix", FIXTURE_REDIS_UNIX, NULL, FIXTURE_RIGHTS_ALL},
    {"redis-tcp", FIXTURE_REDIS_TCP, NULL, FIXTURE_RIGHTS_ALL},
    {"redis-tls", FIXTURE_REDIS_TLS, NULL, FIXTURE_RIGHTS_ALL},
    {"redis-cluster", FIXTURE_REDIS_CLUSTER, NULL, FIXTURE_RIGHTS_ALL},
    {"redis-sentinel", FIXTURE_REDIS_SENTINEL, NULL, FIXTURE_RIGHTS_ALL},
    {"redis-rights", FIXTURE_REDIS_TCP, NULL, FIXTURE_RIGHTS_LEAST},
    {"redis-rights-dump", FIXTURE_REDIS_TCP, NULL, FIXTURE_RIGHTS_DUMP},
    {"redis-rights-cluster", FIXTURE_REDIS_CLUSTER, NULL, FIXTURE_RIGHTS_LEAST},
    {"redis-rights-sentinel", FIXTURE_REDIS_SENTINEL, NULL,
     FIXTURE_RIGHTS_LEAST},
    {"quorum", FIXTURE_QUORUM, NULL, FIXTURE_RIGHTS_ALL},
    {"quorum-rights", FIXTURE_QUORUM, NULL, FIXTURE_RIGHTS_LEAST},
    {"valkey-unix", FIXTURE_REDIS_UNIX, VALKEY, FIXTURE_RIGHTS_ALL},
    {"valkey-tcp", FIXTURE_REDIS_TCP, VALKEY, FIXTURE_RIGHTS_ALL},
    {"valkey-cluster", FIXTURE_REDIS_CLUSTER, VALKEY, FIXTURE_RIGHTS_ALL},
    {"valkey-sentinel", FIXTURE_REDIS_SENTINEL, VALKEY, FIXTURE_RIGHTS_ALL},
    {"valkey-rights", FIXTURE_REDIS_TCP, VALKEY, FIXTURE_RIGHTS_LEAST},
    {"served-volatile", FIXTURE_SERVED_VOLATILE, NULL, FIXTURE_RIGHTS_ALL},
    {"served-file", FIXTURE_SERVED_FILE, NULL, FIXTURE_RIGHTS_ALL},
    {"postgres", FIXTURE_POSTGRES, NULL, FIXTURE_RIGHTS_ALL},
    {"valkey-quorum", FIXTURE_QUORUM, VALKEY, FIXTURE_RIGHTS_ALL},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static bool choose_store(fixture *f)
{
    const char *chosen = getenv("HOLDFAST_TEST_STORE");

    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (chosen != NULL && strcmp(chosen, rows[i].name) == 0) {
            f->store = rows[i].store;
            f->rights = rows[i].rights;
            redis_server_use(rows[i].program);
            return true;
        }
    }
    print_error("HOLDFAST_TEST_STORE must be one of:");
    for (size_t i = 0; i < ROW_COUNT; i++)
        print_error(" %s", rows[i].name);
    print_error("\n");
    return false;
}

static bool make_directory(fixture *f)
{
    const char *parent = getenv("TMPDIR");

    if (f->store == FIXTURE_EMBEDDED_VOLATILE) {
        parent = "/dev/shm";
    } else if (parent == NULL) {
        parent = "/tmp";
    }
    (void)snprintf(f->directory, sizeof(f->directory),
                   "%s/holdfast-test-XXXXXX", parent);
    if (mkdtemp(f->directory) == NULL) {
        print_error("%s: %s\n", f->directory, strerror(errno));
        f->directory[0] = '\0';
        return false;
    }
    return true;
}

static bool issue_certificates(fixture *f)
{
    f->issued = certificates_new();
    if (f->issued == NULL || !certificates_issue_server(f->issued)) {
        return false;
    }
    f->tls.ca = certificates_path(f->issued, "ca.pem", f->tls_paths[0]);
    f->tls.certificate =
        certificates_path(f->issued, "server.pem", f->tls_paths[1]);
    f->tls.key = certificates_path(f->issued, "server.key", f->tls_paths[2]);
    return true;
}

static const char *server_url(const fixture *f)
{
    switch (f->store) {
    case FIXTURE_REDIS_UNIX:
    case FIXTURE_SERVED_VOLATILE:
    case FIXTURE_SERVED_FILE:
        return redis_server_unix_url(f->server);
    case FIXTURE_REDIS_TLS:
        return redis_server_tls_url(f->server);
    default:
        return redis_server_tcp_url(f->server);
    }
}

/* A quarantine that no run outlasts: where the servers' ages are about that of
 * the quarantine, a client that is opened takes some of them for started again,
 * and asks none of those. */
static bool start_quorum(fixture *f)
{
    int size = snprintf(f->url, sizeof(f->url), "redlock:quarantine=3600000,");

    for (size_t i = 0; i < FIXTURE_QUORUM_SIZE; i++) {
        f->quorum[i] = redis_server_start(NULL);
        if (f->quorum[i] == NULL) {
            return false;
        }
        size += snprintf(f->url + size, sizeof(f->url) - (size_t)size, "%s%s",
                         i == 0 ? "" : ",", redis_server_tcp_url(f->quorum[i]));
        if ((size_t)size >= sizeof(f->url)) {
            return false;
        }
    }
    for (size_t i = 0; i < FIXTURE_QUORUM_DEAD; i++) {
        redis_server_kill(f->quorum[2 * i]);
    }
    return true;
}

/* Masters only: replicas are tested in tests/fault. */
static bool start_cluster(fixture *f)
{
    f->cluster = redis_cluster_start(3, 0, 5000);
    if (f->cluster == NULL) {
        return false;
    }
    (void)snprintf(f->url, sizeof(f->url), "%s", redis_cluster_url(f->cluster));
    return true;
}

/* With long timeouts: failovers are for tests/fault. With rights, both kinds of
 * server ask for passwords, which differ. */
static bool start_sentinel(fixture *f)
{
    redis_sentinel_options options = {.down_after_ms = 60000};

    if (f->rights != FIXTURE_RIGHTS_ALL) {
        options.password = "of-servers";
        options.sentinel_password = "of-sentinels";
    }
    f->sentinel = redis_sentinel_start(&options);
    if (f->sentinel == NULL) {
        return false;
    }
    f->server = redis_sentinel_server(f->sentinel, 0);
    (void)snprintf(f->url, sizeof(f->url), "%s",
                   redis_sentinel_url(f->sentinel));
    return true;
}

/* HF_TEST_SERVER is the command. */
static bool start_served(fixture *f)
{
    static char store[FIXTURE_PATH_SIZE];
    static const char *const more[] = {"--store", store, NULL};

    fixture_embedded_url(f, "served", MAX_SIZE, store);
    f->server = redis_server_start_with(NULL, NULL, more);
    if (f->server == NULL) {
        return false;
    }
    (void)snprintf(f->url, sizeof(f->url), "%s", server_url(f));
    return true;
}

static bool start_store(fixture *f)
{
    if (fixture_is_embedded(f)) {
        fixture_embedded_url(f, "store", MAX_SIZE, f->url);
        return true;
    }
    if (fixture_is_served(f)) {
        return start_served(f);
    }
    if (f->store == FIXTURE_QUORUM) {
        return start_quorum(f);
    }
    if (f->store == FIXTURE_POSTGRES) {
        f->postgres = postgres_server_start(false);
        if (f->postgres != NULL)
            (void)snprintf(f->url, sizeof(f->url), "%s",
                           postgres_server_url(f->postgres));
        return f->postgres != NULL;
    }
    if (f->store == FIXTURE_REDIS_CLUSTER) {
        return start_cluster(f);
    }
    if (f->store == FIXTURE_REDIS_SENTINEL) {
        return start_sentinel(f);
    }
    if (f->store == FIXTURE_REDIS_TLS && !issue_certificates(f)) {
        return false;
    }
    f->server = redis_server_start_tls(
        NULL, f->store == FIXTURE_REDIS_TLS ? &f->tls : NULL);
    if (f->server == NULL) {
        print_error("no %s could be started\n", redis_server_program());
        return false;
    }
    (void)snprintf(f->url, sizeof(f->url), "%s", server_url(f));
    return true;
}

int fixture_start(void **state)
{
    *state = &the_fixture;
    if (!choose_store(&the_fixture) || !make_directory(&the_fixture) ||
        !start_store(&the_fixture)) {
        return -1;
    }
    return the_fixture.rights == FIXTURE_RIGHTS_ALL ||
                   fixture_rights_give(&the_fixture)
               ? 0
               : -1;
}

int fixture_stop(void **state)
{
    fixture *f = *state;

    if (f->sentinel == NULL) {
        redis_server_stop(f->server);
    }
    redis_sentinel_stop(f->sentinel);
    f->sentinel = NULL;
    f->server = NULL;
    for (size_t i = 0; i < FIXTURE_QUORUM_SIZE; i++) {
        redis_server_stop(f->quorum[i]);
        f->quorum[i] = NULL;
    }
    redis_cluster_stop(f->cluster);
    f->cluster = NULL;
    postgres_server_stop(f->postgres);
    f->postgres = NULL;
    certificates_free(f->issued);
    f->issued = NULL;
    if (f->directory[0] == '\0') {
        return 0;
    }
    return remove_tree(f->directory);
}

static int open_client(const fixture *f, hf_client **client)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    if (SLOWER > 1) {
        opts.request_ms = 60000;
    }
    /* On a busy disk its first commit may take seconds. */
    if (f->store == FIXTURE_POSTGRES)
        opts.connect_ms = 30000;
    if (hf_client_open(f->url, &opts, client, &err) == HF_OK) {
        return 0;
    }
    print_error("%s: HF_%s: %s\n", f->url, hf_status_name(err.status),
                err.message);
    return -1;
}

int fixture_open(void **state)
{
    fixture *f = *state;

    f->test_number++;
    if (open_client(f, &f->client) != 0) {
        return -1;
    }
    return open_client(f, &f->other);
}

int fixture_close(void **state)
{
    fixture *f = *state;

    told_cut();
    while (f->lock_count > 0) {
        hf_lock_free(f->locks[--f->lock_count]);
    }
    while (f->script_count > 0) {
        hf_script_free(f->scripts[--f->script_count]);
    }
    while (f->client_count > 0) {
        hf_client_close(f->clients[--f->client_count]);
    }
    while (f->key_count > 0) {
        free(f->keys[--f->key_count]);
    }
    hf_client_close(f->other);
    hf_client_close(f->client);
    f->other = NULL;
    f->client = NULL;
    told_free();
    return 0;
}

hf_bytes fixture_key(fixture *f, const char *name)
{
    char *key = NULL;

    assert_true(f->key_count < FIXTURE_OBJECT_MAX);
    assert_true(asprintf(&key, "t%u:%s", f->test_number, name) > 0);
    f->keys[f->key_count++] = key;
    return hf_str(key);
}

hf_client *fixture_client_at(fixture *f, const char *url,
                             const hf_client_options *opts)
{
    hf_client *client = NULL;

    assert_true(f->client_count < FIXTURE_OBJECT_MAX);
    expect_status(HF_OK, hf_client_open(url, opts, &client, ERR));
    f->clients[f->client_count++] = client;
    return client;
}

hf_client *fixture_client(fixture *f, const hf_client_options *opts)
{
    return fixture_client_at(f, f->url, opts);
}

hf_client *fixture_elsewhere(fixture *f, const char *name,
                             const hf_client_options *opts)
{
    char url[2 * FIXTURE_PATH_SIZE];

    (void)snprintf(url, sizeof(url), "volatile:%s/%s%u?max_size=2G",
                   f->directory, name, f->test_number);
    return fixture_client_at(f, url, opts);
}

hf_lock *fixture_keep_lock(fixture *f, hf_lock *lock)
{
    assert_true(f->lock_count < FIXTURE_OBJECT_MAX);
    f->locks[f->lock_count++] = lock;
    return lock;
}

hf_lock *fixture_lock(fixture *f, hf_client *client, hf_bytes name,
                      const hf_lock_options *opts)
{
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_lock_new(client, name, opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

hf_script *fixture_script(fixture *f, hf_client *client, const char *source)
{
    hf_script *script = NULL;

    assert_true(f->script_count < FIXTURE_OBJECT_MAX);
    expect_status(HF_OK, hf_script_load(client, hf_str(source), &script, ERR));
    f->scripts[f->script_count++] = script;
    return script;
}

void fixture_free_lock(fixture *f, hf_lock *lock)
{
    for (size_t i = 0; i < f->lock_count; i++) {
        if (f->locks[i] == lock) {
            f->locks[i] = f->locks[--f->lock_count];
            hf_lock_free(lock);
            return;
        }
    }
    fail_msg("not a lock of this test");
}

void fixture_free_script(fixture *f, hf_script *script)
{
    for (size_t i = 0; i < f->script_count; i++) {
        if (f->scripts[i] == script) {
            f->scripts[i] = f->scripts[--f->script_count];
            hf_script_free(script);
            return;
        }
    }
    fail_msg("not a script of this test");
}

void fixture_close_client(fixture *f, hf_client *client)
{
    for (size_t i = 0; i < f->client_count; i++) {
        if (f->clients[i] == client) {
            f->clients[i] = f->clients[--f->client_count];
            hf_client_close(client);
            return;
        }
    }
    fail_msg("not a client that this test opened");
}

void fixture_path(const fixture *f, const char *name,
                  char path[FIXTURE_PATH_SIZE])
{
    int size =
        snprintf(path, FIXTURE_PATH_SIZE, "%.200s/%s", f->directory, name);

    assert_true(size > 0 && size < FIXTURE_PATH_SIZE);
}

void fixture_embedded_url(const fixture *f, const char *name,
                          const char *max_size, char url[FIXTURE_PATH_SIZE])
{
    bool is_volatile = f->store == FIXTURE_EMBEDDED_VOLATILE ||
                       f->store == FIXTURE_SERVED_VOLATILE;
    const char *durability = "";
    int size;

    if (f->store == FIXTURE_EMBEDDED_FLUSH)
        durability = "&durability=flush";
    if (f->store == FIXTURE_EMBEDDED_LOG)
        durability = "&durability=log";
    size = snprintf(url, FIXTURE_PATH_SIZE, "%s:%s/%s?max_size=%s%s",
                    is_volatile ? "volatile" : "file", f->directory, name,
                    max_size, durability);

    assert_true(size > 0 && size < FIXTURE_PATH_SIZE);
}

bool fixture_server_command(const fixture *f, const char *command)
{
    char answer[64];

    if (f->cluster != NULL) {
        return redis_cluster_command(f->cluster, command);
    }
    return redis_server_command(f->server, command, answer, sizeof(answer)) &&
           strncmp(answer, "+OK", 3) == 0;
}

bool fixture_is_embedded(const fixture *f)
{
    return f->store == FIXTURE_EMBEDDED_VOLATILE ||
           f->store == FIXTURE_EMBEDDED_FILE ||
           f->store == FIXTURE_EMBEDDED_FLUSH ||
           f->store == FIXTURE_EMBEDDED_LOG;
}

bool fixture_is_served(const fixture *f)
{
    return f->store == FIXTURE_SERVED_VOLATILE ||
           f->store == FIXTURE_SERVED_FILE;
}

void fixture_only_embedded(const fixture *f)
{
    if (!fixture_is_embedded(f)) {
        skip();
    }
}

void fixture_only_redis(const fixture *f)
{
    if (fixture_is_embedded(f) || f->store == FIXTURE_POSTGRES) {
        skip();
    }
}

void fixture_not_quorum(const fixture *f)
{
    if (f->store == FIXTURE_QUORUM) {
        skip();
    }
}

void fixture_not_records(const fixture *f)
{
    if (f->store == FIXTURE_POSTGRES) {
        skip();
    }
}

hf_status fixture_try(hf_lock *lock, hf_error *err)
{
    int64_t until_ms = test_now_ms() + 20000;
    hf_error error;
    hf_status status;

    do {
        error = (hf_error)HF_ERROR_INIT;
        status = hf_lock_try(lock, &error);
    } while (status == HF_UNAVAILABLE && test_now_ms() < until_ms);
    if (status != HF_OK)
        *err = error;
    return status;
}
