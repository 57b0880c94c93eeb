/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fencing.c - what the order of fencing tokens survives, and what it does not:
 * each row of docs/explanation/fencing.md. Servers, and embedded stores of this
 * process, with wall clocks that the test sets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/byte_proxy.h"
#include "support/expect.h"
#include "support/redis_cluster.h"
#include "support/redis_server.h"
#include "support/test.h"
#include "support/wall_clock.h"

#define HOUR_MS (INT64_C(3600) * 1000)
#define NAME "orders"
#define SLOT 105 /* of NAME */
#define COUNTER "hf:token"
#define NODES 3

static wall_clock *ours; /* of the store, or of all its servers */

/* ------------------------------------------------------------------- tokens */

/* Of one more holder of the lock. */
static uint64_t token_of(hf_client *client)
{
    uint64_t token;
    hf_lock *lock;

    expect_status(HF_OK, hf_lock_new(client, hf_str(NAME), NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 60000, ERR));
    token = hf_lock_token(lock);
    (void)!hf_lock_release(lock, NULL); /* its server may be dead */
    hf_lock_free(lock);
    return token;
}

static hf_client *open_at(const char *url)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;

    options.request_ms = 30000;
    expect_status(HF_OK, hf_client_open(url, &options, &client, ERR));
    return client;
}

static uint64_t token_at(const char *url)
{
    hf_client *client = open_at(url);
    uint64_t token = token_of(client);

    hf_client_close(client);
    return token;
}

static hf_status put(hf_client *client, uint64_t token)
{
    return hf_value_put_fenced(client, hf_str("stock"), hf_str("1"), token,
                               NULL, NULL, NULL);
}

/* The first token is the clock's, so the rest is about the clock. */
static uint64_t first_token(hf_client *client)
{
    uint64_t token = token_of(client);

    assert_true(token_of(client) > token);
    return token_of(client);
}

/* ------------------------------------------- what every server goes through */

/* Deletes the counter, and what else the store has. */
typedef void (*loss)(hf_client *client, void *user);

static void delete_counter(hf_client *client, void *user)
{
    (void)user;
    expect_status(HF_OK, hf_value_delete(client, hf_str(COUNTER), ERR));
}

static void grows_when_the_counter_is_lost(hf_client *client, loss lose,
                                           void *user)
{
    uint64_t token = first_token(client);

    lose(client, user);
    assert_true(token_of(client) > token);
}

static void grows_when_the_clock_is_set(hf_client *client)
{
    uint64_t token = first_token(client);

    wall_clock_step(ours, -HOUR_MS);
    assert_true(token_of(client) == token + 1);
    wall_clock_step(ours, HOUR_MS);
    assert_true(token_of(client) > token + 2);
    wall_clock_step(ours, HOUR_MS);
    token = token_of(client);
    wall_clock_step(ours, -HOUR_MS);
    assert_true(token_of(client) == token + 1);
    delete_counter(client, NULL); /* or what follows begins ahead */
}

/* The fence, if it was not lost too, refuses the new holder rather than let an
 * old one pass. */
static void repeats_when_both_happen(hf_client *client, loss lose, void *user,
                                     bool fence_is_lost)
{
    uint64_t old = first_token(client), new;

    expect_status(HF_OK, put(client, old));
    wall_clock_step(ours, -HOUR_MS);
    lose(client, user);
    new = token_of(client);
    assert_true(new < old);
    assert_int_equal(put(client, new), fence_is_lost ? HF_OK : HF_CONFLICT);
    if (fence_is_lost)
        assert_int_equal(put(client, old), HF_OK); /* it is not noticed */
    wall_clock_step(ours, HOUR_MS);
    assert_true(token_of(client) > old); /* the clock has passed it */
}

/* ---------------------------------------------------------- embedded stores */

/* The store's clock does not follow, so it may lose its counter, too. */
static void grows_when_the_system_clock_is_set(hf_client *client)
{
    uint64_t token = first_token(client);

    for (int i = 0; i < 2; i++) {
        wall_clock_step(ours, i == 0 ? -HOUR_MS : 2 * HOUR_MS);
        delete_counter(client, NULL);
        assert_in_range(token_of(client), token + 1,
                        token + HOUR_MS * 1000 / 2);
    }
}

static void embedded(const char *scheme, const char *parameters)
{
    place at;

    ours = wall_clock_new();
    assert_non_null(ours);
    wall_clock_keep(ours);
    place_make(&at, scheme, parameters);
    place_open(&at);
    grows_when_the_counter_is_lost(at.client, delete_counter, NULL);
    grows_when_the_system_clock_is_set(at.client);
    place_remove(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

TEST(token_of_a_volatile_store_survives_its_counter_and_its_clock)
{
    embedded("volatile", "?max_size=4M");
}

TEST(token_of_a_file_survives_its_counter_and_its_clock)
{
    embedded("file", "?max_size=4M");
}

/* A reboot: the files are gone. */
static void lose_files(const place *at)
{
    assert_int_equal(unlink(place_file(at, "data.mdb")), 0);
    assert_int_equal(unlink(place_file(at, "lock.mdb")), 0);
    assert_int_equal(unlink(place_file(at, "sidecar")), 0);
}

TEST(token_grows_after_a_reboot_that_lost_the_store_unless_set_back)
{
    uint64_t token;
    place at;

    ours = wall_clock_new();
    wall_clock_keep(ours);
    place_make(&at, "volatile", "?max_size=4M");
    token = token_at(at.url);
    lose_files(&at);
    assert_true(token_at(at.url) > token);
    wall_clock_step(ours, -HOUR_MS);
    assert_true(token_at(at.url) > token);
    lose_files(&at);
    assert_true(token_at(at.url) < token);
    place_remove(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
}

/* --------------------------------------------------------------- one server */

static redis_server *start_server(const char *const *more)
{
    redis_server *server;

    wall_clock_give(ours);
    server = redis_server_start_with(NULL, NULL, more);
    wall_clock_give(NULL);
    assert_non_null(server);
    return server;
}

static bool restart(redis_server *server)
{
    bool started;

    wall_clock_give(ours);
    started = redis_server_restart(server);
    wall_clock_give(NULL);
    return started;
}

static void lose_all(hf_client *client, void *server)
{
    (void)client;
    assert_true(restart(server));
}

TEST(token_of_a_server_survives_its_counter_or_its_clock)
{
    redis_server *server;
    hf_client *client;

    ours = wall_clock_new();
    server = start_server(NULL);
    client = open_at(redis_server_unix_url(server));
    grows_when_the_counter_is_lost(client, delete_counter, NULL);
    grows_when_the_clock_is_set(client);
    repeats_when_both_happen(client, delete_counter, NULL, false);
    hf_client_close(client);
    redis_server_stop(server);
    wall_clock_free(ours);
}

TEST(token_survives_a_restart_without_data_or_a_clock_set_back)
{
    redis_server *server;
    hf_client *client;

    ours = wall_clock_new();
    server = start_server(NULL);
    client = open_at(redis_server_unix_url(server));
    grows_when_the_counter_is_lost(client, lose_all, server);
    repeats_when_both_happen(client, lose_all, server, true);
    hf_client_close(client);
    redis_server_stop(server);
    wall_clock_free(ours);
}

/* What the file has is not lost, whatever the clock. */
TEST(token_survives_a_restart_with_its_file_and_a_clock_set_back)
{
    static const char *const more[] = {"--appendonly", "yes", "--appendfsync",
                                       "always", NULL};
    redis_server *server;
    hf_client *client;
    uint64_t token;

    ours = wall_clock_new();
    server = start_server(more);
    client = open_at(redis_server_unix_url(server));
    token = first_token(client);
    expect_status(HF_OK, put(client, token));
    wall_clock_step(ours, -HOUR_MS);
    assert_true(restart(server));
    assert_true(token_of(client) == token + 1);
    assert_int_equal(put(client, token + 1), HF_OK);
    assert_int_equal(put(client, token), HF_CONFLICT);
    hf_client_close(client);
    redis_server_stop(server);
    wall_clock_free(ours);
}

/* ---------------------------------------------------------------- failovers */

typedef struct pair {
    redis_server *master;
    redis_server *replica;
    byte_proxy *link;  /* between them */
    wall_clock *clock; /* of the replica */
} pair;

static void command(redis_server *server, const char *text, const char *want)
{
    char answer[4096] = "";

    assert_true(redis_server_command(server, text, answer, sizeof(answer)));
    if (strstr(answer, want) == NULL)
        fail_msg("%s: %s", text, answer);
}

static bool is_connected(redis_server *replica)
{
    char answer[4096] = "";

    return redis_server_command(replica, "INFO replication", answer,
                                sizeof(answer)) &&
           strstr(answer, "master_link_status:up") != NULL;
}

static void start_pair(pair *all)
{
    char text[64];

    all->clock = wall_clock_new();
    wall_clock_give(NULL);
    all->master = redis_server_start(NULL);
    wall_clock_give(all->clock);
    all->replica = redis_server_start(NULL);
    wall_clock_give(NULL);
    assert_true(all->master != NULL && all->replica != NULL);
    all->link = byte_proxy_start_tcp(redis_server_port(all->master));
    assert_non_null(all->link);
    command(all->master, "CONFIG SET repl-diskless-sync-delay 0", "+OK");
    (void)snprintf(text, sizeof(text), "REPLICAOF 127.0.0.1 %d",
                   byte_proxy_port(all->link));
    command(all->replica, text, "+OK");
    expect_soon(is_connected(all->replica), 20000);
}

static void stop_pair(pair *all)
{
    redis_server_stop(all->replica);
    byte_proxy_stop(all->link);
    redis_server_stop(all->master);
    wall_clock_free(all->clock);
}

/* Does the replica have the counter with this token? */
static bool has_token(const pair *all, uint64_t token)
{
    char answer[64] = "", text[24];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)token);
    return redis_server_command(all->replica, "GET " COUNTER, answer,
                                sizeof(answer)) &&
           strstr(answer, text) != NULL;
}

/* The master dies, and the replica, which lacks what the master granted last,
 * takes over. Returns the token that was not replicated. */
static uint64_t fail_over_without_the_last_token(pair *all,
                                                 uint64_t *replicated)
{
    uint64_t token;

    *replicated = token_at(redis_server_unix_url(all->master));
    expect_soon(has_token(all, *replicated), 20000);
    byte_proxy_swallow(all->link, TO_CLIENT);
    token = token_at(redis_server_unix_url(all->master));
    redis_server_kill(all->master);
    command(all->replica, "REPLICAOF NO ONE", "+OK");
    return token;
}

TEST(token_grows_over_a_failover_that_lost_the_last_one)
{
    uint64_t token, replicated;
    hf_client *client;
    pair all;

    start_pair(&all);
    token = fail_over_without_the_last_token(&all, &replicated);
    client = open_at(redis_server_unix_url(all.replica));
    assert_true(token_of(client) > token);
    expect_status(HF_OK, put(client, token_of(client)));
    assert_int_equal(put(client, token), HF_CONFLICT);
    hf_client_close(client);
    stop_pair(&all);
}

/* Behind by more than the time since the last token. */
TEST(token_repeats_if_the_new_masters_clock_is_behind_and_it_lacks_the_last)
{
    uint64_t token, replicated, next;
    pair all;

    start_pair(&all);
    wall_clock_step(all.clock, -HOUR_MS);
    token = fail_over_without_the_last_token(&all, &replicated);
    next = token_at(redis_server_unix_url(all.replica));
    assert_true(next == replicated + 1);
    assert_true(next <= token);
    stop_pair(&all);
}

TEST(token_grows_on_a_new_master_that_is_behind_but_lacks_nothing)
{
    uint64_t token;
    pair all;

    start_pair(&all);
    wall_clock_step(all.clock, -HOUR_MS);
    token = token_at(redis_server_unix_url(all.master));
    expect_soon(has_token(&all, token), 20000);
    redis_server_kill(all.master);
    command(all.replica, "REPLICAOF NO ONE", "+OK");
    assert_true(token_at(redis_server_unix_url(all.replica)) == token + 1);
    stop_pair(&all);
}

/* ---------------------------------------------------------------- diagnosis */

typedef struct remark {
    const char *node; /* "": any */
    const char *name;
    int level; /* found; -1: none */
} remark;

static void find_remark(void *user, const hf_store_diagnostic *told)
{
    remark *wanted = user;

    if (strcmp(told->name, wanted->name) == 0 &&
        strstr(told->node, wanted->node) != NULL)
        wanted->level = (int)told->level;
}

static int level_of(hf_client *client, const char *node, const char *name)
{
    hf_store_diagnose_options options = HF_STORE_DIAGNOSE_OPTIONS_INIT;
    remark wanted = {node, name, -1};

    options.requests = 1;
    expect_status(
        HF_OK, hf_store_diagnose(client, &options, find_remark, &wanted, ERR));
    return wanted.level;
}

TEST(diagnosis_says_that_the_clock_was_set_back)
{
    redis_server *server;
    hf_client *client;
    place at;

    ours = wall_clock_new();
    server = start_server(NULL);
    client = open_at(redis_server_unix_url(server));
    place_make(&at, "volatile", "?max_size=4M");
    place_open(&at);
    wall_clock_keep(ours);
    (void)token_of(client);
    (void)token_of(at.client);
    assert_int_equal(level_of(client, "", "fencing tokens"), HF_LEVEL_OK);
    assert_int_equal(level_of(at.client, "", "fencing tokens"), HF_LEVEL_OK);
    wall_clock_step(ours, -HOUR_MS);
    assert_int_equal(level_of(client, "", "fencing tokens"), HF_LEVEL_WARNING);
    assert_int_equal(level_of(at.client, "", "fencing tokens"),
                     HF_LEVEL_WARNING);
    wall_clock_keep(NULL);
    hf_client_close(client);
    place_remove(&at);
    redis_server_stop(server);
    wall_clock_free(ours);
}

TEST(diagnosis_says_that_a_replicas_clock_is_behind)
{
    hf_client *client;
    char node[16];
    pair all;

    start_pair(&all);
    client = open_at(redis_server_unix_url(all.master));
    (void)snprintf(node, sizeof(node), ":%d", redis_server_port(all.replica));
    assert_int_equal(level_of(client, node, "clock"), HF_LEVEL_OK);
    wall_clock_step(all.clock, HOUR_MS);
    assert_int_equal(level_of(client, node, "clock"), HF_LEVEL_OK);
    wall_clock_step(all.clock, -2 * HOUR_MS);
    assert_int_equal(level_of(client, node, "clock"), HF_LEVEL_WARNING);
    hf_client_close(client);
    stop_pair(&all);
}

/* ------------------------------------------------------------------ cluster */

/* The counter of a slot moves with it, so the new node's clock is no matter. */
TEST(token_grows_when_its_slot_has_moved_to_a_node_that_is_behind)
{
    redis_cluster *cluster;
    hf_client *client;
    uint64_t token;
    int from;

    ours = wall_clock_new();
    wall_clock_give(ours);
    cluster = redis_cluster_start(NODES, 0, 5000);
    wall_clock_give(NULL);
    assert_non_null(cluster);
    client = open_at(redis_cluster_url(cluster));
    token = first_token(client);
    from = redis_cluster_owner(cluster, 0, SLOT);
    wall_clock_step(ours, -HOUR_MS);
    assert_true(redis_cluster_open_slot(cluster, SLOT, from, 1));
    assert_true(redis_cluster_move_keys(cluster, SLOT, from, 1, 100) >= 1);
    assert_true(redis_cluster_close_slot(cluster, SLOT, 1));
    assert_true(token_of(client) == token + 1);
    hf_client_close(client);
    redis_cluster_stop(cluster);
    wall_clock_free(ours);
}

/* ------------------------------------------------------------------- quorum */

static redis_server *nodes[NODES];

static hf_client *open_quorum(void)
{
    char url[256];
    int size = snprintf(url, sizeof(url), "redlock:quarantine=0");

    ours = wall_clock_new();
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = start_server(NULL);
        size += snprintf(url + size, sizeof(url) - (size_t)size, ",%s",
                         redis_server_tcp_url(nodes[i]));
    }
    return open_at(url);
}

static void close_quorum(hf_client *client)
{
    hf_client_close(client);
    for (size_t i = 0; i < NODES; i++)
        redis_server_stop(nodes[i]);
    wall_clock_free(ours);
}

static bool all_have(uint64_t token)
{
    char answer[64];

    for (size_t i = 0; i < NODES; i++) {
        const char *number;

        if (!redis_server_command(nodes[i], "GET " COUNTER, answer,
                                  sizeof(answer)))
            return false;
        number = strchr(answer, '\n'); /* behind its size */
        if (number == NULL || strtoull(number, NULL, 10) < token)
            return false;
    }
    return true;
}

/* A token that no minority can lose. */
static uint64_t token_everywhere(hf_client *client)
{
    uint64_t token;

    do {
        token = token_of(client);
    } while (!all_have(token));
    return token;
}

TEST(token_of_a_quorum_survives_a_lost_minority_and_clocks_set_back)
{
    hf_client *client = open_quorum();
    uint64_t token;

    (void)first_token(client);
    token = token_everywhere(client);
    wall_clock_step(ours, -HOUR_MS);
    for (size_t i = 0; i < NODES; i++) {
        assert_true(restart(nodes[i])); /* one after the other */
        assert_true(token_of(client) > token);
        token = token_everywhere(client);
    }
    close_quorum(client);
}

TEST(token_of_a_quorum_repeats_after_all_were_lost_and_clocks_set_back)
{
    hf_client *client = open_quorum();
    uint64_t token = first_token(client);

    for (size_t i = 0; i < NODES; i++)
        assert_true(restart(nodes[i]));
    assert_true(token_of(client) > token);
    token = token_of(client);
    wall_clock_step(ours, -HOUR_MS);
    for (size_t i = 0; i < NODES; i++)
        assert_true(restart(nodes[i]));
    assert_true(token_of(client) < token);
    close_quorum(client);
}
