/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_peers_test.c - what other libraries of locks got wrong, and no other
 * test has; docs/internals/peer-bugs.md is the list.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/semaphore.h"
#include "support/byte_proxy.h"
#include "support/fake_server.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* ---------------------------------------------------- replies that are lost */

typedef struct lossy {
    byte_proxy *proxy;
    hf_client *client;
    hf_lock *lock;
    hf_bytes name;
    uint64_t cuts;
} lossy;

/* A client behind a proxy, which has acquired and released the lock once. */
static void lossy_open(fixture *f, lossy *self)
{
    if (f->server == NULL || f->sentinel != NULL) {
        skip();
    }
    self->proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(self->proxy);
    self->name = fixture_key(f, "l");
    expect_status(HF_OK, hf_client_open(byte_proxy_tcp_url(self->proxy), NULL,
                                        &self->client, ERR));
    expect_status(
        HF_OK, hf_lock_new(self->client, self->name, NULL, &self->lock, ERR));
    expect_taken(self->lock);
    expect_status(HF_OK, hf_lock_release(self->lock, ERR));
    self->cuts = byte_proxy_cuts(self->proxy);
}

/* The next request is run, and its reply is lost with the connection. */
static void lose_reply(lossy *self)
{
    byte_proxy_cut(self->proxy, TO_CLIENT, 0, BYTE_END_RESET);
}

static void assert_lost(lossy *self, uint64_t count)
{
    assert_int_equal(byte_proxy_cuts(self->proxy) - self->cuts, count);
}

static void lossy_close(lossy *self)
{
    hf_lock_free(self->lock);
    hf_client_close(self->client);
    byte_proxy_stop(self->proxy);
}

TEST(acquire_that_ran_twice_is_undone_by_one_release)
{
    fixture *f = *state;
    lossy self;

    lossy_open(f, &self);
    lose_reply(&self);
    expect_taken(self.lock);
    assert_lost(&self, 1);
    assert_false(key_is_gone(f->client, self.name));
    expect_status(HF_OK, hf_lock_release(self.lock, ERR));
    assert_no_key(f->client, self.name);
    expect_status(HF_INVALID, hf_lock_release(self.lock, ERR));
    lossy_close(&self);
}

TEST(release_whose_reply_was_lost_has_released)
{
    fixture *f = *state;
    lossy self;

    lossy_open(f, &self);
    expect_taken(self.lock);
    lose_reply(&self);
    expect_status(HF_OK, hf_lock_release(self.lock, ERR));
    assert_lost(&self, 1);
    assert_no_key(f->client, self.name);
    lossy_close(&self);
}

TEST(renewal_whose_reply_was_lost_has_renewed)
{
    fixture *f = *state;
    lossy self;

    lossy_open(f, &self);
    expect_taken(self.lock);
    lose_reply(&self);
    expect_status(HF_OK, hf_lock_renew(self.lock, ERR));
    assert_lost(&self, 1);
    assert_true(hf_lock_is_held(self.lock));
    expect_status(HF_OK, hf_lock_release(self.lock, ERR));
    lossy_close(&self);
}

/* ----------------------------------------------------------------- renewals */

TEST(name_that_was_lost_is_renewed_when_acquired_again)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock;

    opts.ttl_ms = slowed_ms(400);
    lock = fixture_lock(f, f->client, name, &opts);
    for (int i = 0; i < 2; i++) {
        expect_taken(lock);
        expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
        expect_soon(!hf_lock_is_held(lock), 2 * opts.ttl_ms);
        (void)!hf_lock_release(lock, NULL);
    }
    expect_taken(lock);
    expect_throughout(hf_lock_is_held(lock), 2 * opts.ttl_ms);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

#define NODES 3

/* A lock whose name is on that node: some letter is. */
static hf_lock *lock_on(fixture *f, int node, const hf_lock_options *opts)
{
    static const char *const names[NODES] = {"{b}", "{c}", "{a}"};

    return fixture_lock(f, f->client, hf_str(names[node]), opts);
}

TEST(locks_on_other_nodes_are_renewed_while_one_hangs)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *locks[NODES];

    if (f->cluster == NULL) {
        skip();
    }
    /* Else a cluster without that node refuses all requests. */
    assert_true(redis_cluster_command(f->cluster,
                                      "CONFIG SET cluster-node-timeout 60000"));
    opts.ttl_ms = slowed_ms(600);
    for (int i = 0; i < NODES; i++) {
        locks[i] = lock_on(f, i, &opts);
        expect_status(HF_OK, hf_lock_acquire(locks[i], 0, ERR));
    }
    redis_server_pause(redis_cluster_server(f->cluster, 1));
    expect_throughout(hf_lock_is_held(locks[0]) && hf_lock_is_held(locks[2]),
                      3 * opts.ttl_ms);
    assert_false(hf_lock_is_held(locks[1]));
    redis_server_resume(redis_cluster_server(f->cluster, 1));
    assert_true(redis_cluster_await_whole(f->cluster));
    for (int i = 0; i < NODES; i++) {
        (void)!hf_lock_release(locks[i], NULL);
    }
}

/* -------------------------------------------------------- what is requested */

/* How often the server has run a command; as INFO names it. */
static long count_calls(const fixture *f, const char *command)
{
    static char answer[65536];
    char wanted[64];
    const char *at;

    assert_true(redis_server_command(f->server, "INFO commandstats", answer,
                                     sizeof(answer)));
    (void)snprintf(wanted, sizeof(wanted), "cmdstat_%s:calls=", command);
    at = strstr(answer, wanted);
    return at == NULL ? 0 : strtol(at + strlen(wanted), NULL, 10);
}

#define PAIRS 100

TEST(pair_of_requests_is_all_that_an_idle_lock_costs)
{
    static const char *const never[] = {"wait", "waitaof", "publish"};
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    long before[3], scripts, infos;

    if (f->server == NULL || f->sentinel != NULL) {
        skip();
    }
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    for (size_t i = 0; i < 3; i++) {
        before[i] = count_calls(f, never[i]);
    }
    infos = count_calls(f, "info");
    scripts = count_calls(f, "evalsha");
    for (int i = 0; i < PAIRS; i++) {
        expect_taken(lock);
        expect_status(HF_OK, hf_lock_release(lock, ERR));
    }
    /* And the client's registration, once. */
    assert_in_range(count_calls(f, "evalsha") - scripts, 2 * PAIRS,
                    2 * PAIRS + 2);
    assert_int_equal(count_calls(f, "info") - infos, 3); /* this test's */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(count_calls(f, never[i]), before[i]);
    }
}

TEST(release_publishes_only_if_a_client_waits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *other = fixture_lock(f, f->other, name, NULL);
    long before;

    if (f->server == NULL || f->sentinel != NULL) {
        skip();
    }
    before = count_calls(f, "publish");
    expect_taken(lock);
    expect_status(HF_HELD, fixture_try(other, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(count_calls(f, "publish"), before);
    expect_taken(lock);
    expect_status(HF_TIMEOUT, hf_lock_acquire(other, 20, ERR)); /* left */
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(count_calls(f, "publish"), before);
}

/* --------------------------------------------------------------- many names */

#define NAMES 300

typedef struct crowd {
    hf_lock *locks[NAMES];
    hf_status statuses[NAMES];
} crowd;

static crowd holders, waiters;

static void *wait_for_all(void *unused)
{
    (void)unused;
    (void)!hf_lock_acquire_many(waiters.locks, NAMES, 120000, waiters.statuses,
                                NULL);
    return NULL;
}

static void make_crowd(crowd *self, fixture *f, hf_client *client, bool permits)
{
    char name[32];

    for (int i = 0; i < NAMES; i++) {
        hf_bytes key;

        (void)snprintf(name, sizeof(name), "%u:crowd-%d", f->test_number, i);
        key = hf_str(name);
        expect_status(HF_OK, permits ? hf_semaphore_new(client, key, 1, NULL,
                                                        &self->locks[i], ERR)
                                     : hf_lock_new(client, key, NULL,
                                                   &self->locks[i], ERR));
        (void)fixture_keep_lock(f, self->locks[i]);
    }
}

static void expect_each(hf_status want, const crowd *self)
{
    for (int i = 0; i < NAMES; i++) {
        assert_int_equal(self->statuses[i], want);
    }
}

/* All of one client, by one subscription. */
static void wait_for_hundreds(fixture *f, bool permits)
{
    hf_status released;
    pthread_t thread;

    make_crowd(&holders, f, f->client, permits);
    make_crowd(&waiters, f, f->other, permits);
    expect_status(HF_OK, hf_lock_acquire_many(holders.locks, NAMES, 0,
                                              holders.statuses, ERR));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_all, NULL), 0);
    released =
        hf_lock_release_many(holders.locks, NAMES, holders.statuses, ERR);
    /* No assertion while the thread uses what the fixture frees. */
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_status(HF_OK, released);
    expect_each(HF_OK, &holders);
    expect_each(HF_OK, &waiters);
    expect_status(HF_OK, hf_lock_release_many(waiters.locks, NAMES,
                                              waiters.statuses, ERR));
    expect_each(HF_OK, &waiters);
}

TEST(waits_for_hundreds_of_locks_all_end)
{
    wait_for_hundreds(*state, false);
}

TEST(waits_for_hundreds_of_semaphores_all_end)
{
    fixture_not_quorum(*state);
    wait_for_hundreds(*state, true);
}

/* ------------------------------------------------------ proxies of clusters */

/* One that looks like a single server. */
static void refuse_slots(int fd, unsigned number, void *user)
{
    char text[4096];

    (void)number;
    (void)user;
    if (!fake_server_login(fd, "7.0.15"))
        return;
    while (fake_server_read(fd, text, sizeof(text)) &&
           fake_server_say(fd, "-CROSSSLOT Keys in request don't hash to the "
                               "same slot\r\n"))
        continue;
}

TEST(proxy_of_a_cluster_is_refused_before_anything_is_held)
{
    fake_server *fake = fake_server_start(refuse_slots, NULL);
    hf_client *client;
    hf_lock *lock;

    assert_non_null(fake);
    expect_status(HF_OK,
                  hf_client_open(fake_server_url(fake), NULL, &client, ERR));
    expect_status(HF_OK, hf_lock_new(client, bytes("l"), NULL, &lock, ERR));
    expect_status(HF_INVALID, hf_lock_try(lock, ERR));
    assert_non_null(strstr(expect_message(), "slot"));
    assert_false(hf_lock_is_held(lock));
    hf_lock_free(lock);
    hf_client_close(client);
    fake_server_stop(fake);
}
