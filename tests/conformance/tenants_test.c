/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenants_test.c - two users of one server, each with the least rights of
 * docs/howto/least-rights.md for its own prefix: each can do everything under
 * it, and nothing under the other.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/fixture_rights.h"

FIXTURE_TESTS();

typedef struct tenant {
    char prefix[3];
    hf_client *client;
} tenant;

/* The page's user under another name, with the prefix in place of "t". */
static void make_user(const fixture *f, const char *prefix)
{
    char line[FIXTURE_RIGHTS_SIZE], command[FIXTURE_RIGHTS_SIZE + 64];
    const char *rest;
    char *place;
    int number = 0;

    assert_true(fixture_rights_read(FIXTURE_RIGHTS_USER, line));
    while ((place = strstr(line, "t* ")) != NULL) {
        memcpy(place, prefix, 2);
        place[2] = '*';
    }
    rest = strstr(line, " on >");
    assert_non_null(rest);
    (void)snprintf(command, sizeof(command), "ACL SETUSER tenant-%c%s",
                   prefix[0], rest);
    while (fixture_server_run(f, number, command))
        number++;
    assert_true(number > 0);
    if (f->cluster != NULL) {
        (void)snprintf(command, sizeof(command),
                       "ACL SETUSER tenant-%c +cluster|slots +asking",
                       prefix[0]);
        for (int i = 0; i < number; i++)
            assert_true(fixture_server_run(f, i, command));
    }
}

static hf_client *log_in(fixture *f, const char *user, const char *prefix)
{
    static const char holdfast[] = "//holdfast:";
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    char url[2 * FIXTURE_PATH_SIZE] = "";
    char *rest = strstr(f->url, holdfast);
    hf_client *client;

    assert_non_null(rest);
    (void)snprintf(url, sizeof(url), "%.*s//%s:%s", (int)(rest - f->url),
                   f->url, user, rest + strlen(holdfast));
    options.prefix = prefix;
    expect_status(HF_OK, hf_client_open(url, &options, &client, ERR));
    return client;
}

static void log_in_both(fixture *f, tenant tenants[2])
{
    for (int i = 0; i < 2; i++) {
        char user[] = "tenant-a";

        user[7] = (char)('a' + i);
        memcpy(tenants[i].prefix, i == 0 ? "a:" : "b:", 3);
        make_user(f, tenants[i].prefix);
        tenants[i].client = log_in(f, user, tenants[i].prefix);
    }
}

static void on_remark(void *user, const hf_store_diagnostic *remark)
{
    bool *refused = user;

    if ((strcmp(remark->name, "rights for locks") == 0 ||
         strcmp(remark->name, "rights for values, hashes, semaphores") == 0 ||
         strcmp(remark->name, "wake-ups") == 0) &&
        remark->level != HF_LEVEL_OK)
        *refused = true;
}

/* Does the diagnosis report anything that these users lack? It really
 * publishes.
 */
static bool diagnosis_finds_fault(hf_client *client)
{
    hf_store_diagnose_options options = HF_STORE_DIAGNOSE_OPTIONS_INIT;
    bool refused = false;

    options.requests = 1;
    expect_status(
        HF_OK, hf_store_diagnose(client, &options, on_remark, &refused, ERR));
    return refused;
}

static void *acquire(void *user)
{
    static hf_status status;

    status = hf_lock_acquire(user, 20000, NULL);
    return &status;
}

static void wait_and_be_woken(hf_lock *holder, hf_lock *waiter,
                              hf_client *client, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    pthread_t thread;
    void *status;

    expect_status(HF_OK, hf_lock_try(holder, ERR));
    assert_int_equal(pthread_create(&thread, NULL, acquire, waiter), 0);
    do {
        test_rest();
        expect_status(HF_OK, hf_lock_inspect(client, name, &info, ERR));
    } while (info.waiters == 0);
    expect_status(HF_OK, hf_lock_renew(holder, ERR));
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    (void)pthread_join(thread, &status);
    assert_int_equal(*(hf_status *)status, HF_OK);
    expect_status(HF_OK, hf_lock_break(client, name, ERR));
}

static void use_locks(fixture *f, const tenant *self)
{
    hf_bytes name = bytes("lock");
    hf_lock *holder, *waiter;

    (void)f;
    expect_status(HF_OK, hf_lock_new(self->client, name, NULL, &holder, ERR));
    expect_status(HF_OK, hf_lock_new(self->client, name, NULL, &waiter, ERR));
    wait_and_be_woken(holder, waiter, self->client, name);
    hf_lock_free(waiter);
    hf_lock_free(holder);
}

static void use_data(const tenant *self)
{
    const hf_bytes one = bytes("1");
    const hf_field field = {bytes("f"), bytes("1")};
    hf_bytes value = bytes("value"), hash = bytes("hash");

    expect_status(HF_OK,
                  hf_value_set(self->client, value, one, NULL, NULL, ERR));
    expect_status(HF_OK, hf_value_cas(self->client, value, &one, bytes("2"),
                                      NULL, NULL, ERR));
    assert_value(self->client, value, bytes("2"));
    expect_status(HF_OK, hf_value_delete(self->client, value, ERR));
    expect_status(HF_OK, hf_hash_put(self->client, hash, &field, 1, NULL, ERR));
    expect_status(HF_OK, hf_hash_cas(self->client, hash, bytes("f"), &one,
                                     bytes("2"), NULL, NULL, ERR));
    expect_status(HF_OK, hf_hash_delete(self->client, hash, ERR));
}

/* One user's rights with the other's prefix. */
static void trespass(hf_client *client)
{
    const hf_bytes one = bytes("1");
    const hf_field field = {bytes("f"), bytes("1")};
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_buffer buffer = HF_BUFFER_INIT;
    hf_lock *lock;

    expect_status(HF_OK, hf_lock_new(client, bytes("lock"), NULL, &lock, ERR));
    expect_status(HF_DENIED, hf_lock_try(lock, ERR));
    hf_lock_free(lock);
    expect_status(HF_DENIED,
                  hf_lock_inspect(client, bytes("lock"), &info, ERR));
    expect_status(HF_DENIED, hf_lock_break(client, bytes("lock"), ERR));
    expect_status(HF_DENIED,
                  hf_value_get(client, bytes("value"), &buffer, ERR));
    expect_status(HF_DENIED, hf_value_set(client, bytes("hf:token"), one, NULL,
                                          NULL, ERR));
    expect_status(HF_DENIED, hf_value_cas(client, bytes("value"), NULL, one,
                                          NULL, NULL, ERR));
    expect_status(HF_DENIED,
                  hf_hash_put(client, bytes("hash"), &field, 1, NULL, ERR));
    assert_true(diagnosis_finds_fault(client));
}

TEST(tenants_have_all_of_their_own_and_nothing_of_the_other)
{
    fixture *f = *state;
    tenant tenants[2];

    log_in_both(f, tenants);
    for (int i = 0; i < 2; i++) {
        hf_client *thief =
            log_in(f, i == 0 ? "tenant-a" : "tenant-b", tenants[1 - i].prefix);

        use_locks(f, &tenants[i]);
        use_data(&tenants[i]);
        assert_false(diagnosis_finds_fault(tenants[i].client));
        trespass(thief);
        hf_client_close(thief);
    }
    for (int i = 0; i < 2; i++)
        hf_client_close(tenants[i].client);
}

/* The same name under another prefix is another lock. */
TEST(tenants_do_not_exclude_each_other)
{
    fixture *f = *state;
    tenant tenants[2];
    hf_lock *locks[2];

    log_in_both(f, tenants);
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK, hf_lock_new(tenants[i].client, bytes("lock"), NULL,
                                         &locks[i], ERR));
        expect_status(HF_OK, hf_lock_try(locks[i], ERR));
    }
    for (int i = 0; i < 2; i++) {
        hf_lock_free(locks[i]);
        hf_client_close(tenants[i].client);
    }
}
