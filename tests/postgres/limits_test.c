/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits_test.c - calls with much to send: no other call of the client waits
 * for one that cannot be sent.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/client.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "support/test_postgres.h"

TESTS_ON_POSTGRES(false);

/* How it ends, long before its deadline. */
static hf_status run_script(const char *source)
{
    hf_client *client = NULL;
    hf_script *script = NULL;
    hf_bytes key = hf_str("a");
    hf_reply *reply = NULL;
    char url[256];
    int64_t began_ms;
    hf_status status;

    (void)snprintf(url, sizeof(url), "%s?request_ms=%lld",
                   postgres_server_url(server), (long long)slowed_ms(30000));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    expect_status(HF_OK, hf_script_load(client, hf_str(source), &script, ERR));
    began_ms = test_now_ms();
    status = hf_script_run(script, &key, 1, NULL, 0, &reply, ERR);
    assert_took(test_now_ms() - began_ms, 0, 20000);
    hf_reply_free(reply);
    hf_script_free(script);
    hf_client_close(client);
    return status;
}

TEST(messages_that_have_no_room_for_the_record_are_sent_without_it)
{
    expect_status(HF_OK,
                  run_script("redis.call('SET', KEYS[1], ('x'):rep(5000))"
                             "for i = 1, 3000 do "
                             "redis.call('PUBLISH', 'c', 'text ' .. i) end"));
}

/* As in a cluster, which this is not. */
TEST(transaction_of_keys_in_several_slots_is_refused)
{
    hf_client *client = NULL;
    hf_error error = HF_ERROR_INIT;
    hf_txn *txn = NULL;

    expect_status(
        HF_OK, hf_client_open(postgres_server_url(server), NULL, &client, ERR));
    expect_status(HF_OK, hf_txn_new(client, NULL, &txn, ERR));
    expect_status(HF_OK, hf_txn_if_exists(txn, hf_str("{a}1"), ERR));
    expect_status(HF_OK, hf_txn_if_exists(txn, hf_str("{a}2"), ERR));
    assert_int_equal(hf_txn_if_exists(txn, hf_str("{b}1"), &error), HF_INVALID);
    assert_non_null(strstr(error.message, "different slots: "));
    hf_txn_free(txn);
    hf_client_close(client);
}
