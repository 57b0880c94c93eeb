/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_memory_test.c - a transaction while each of its allocations fails once:
 * it is applied or not, and says which.
 */
#include "embedded_store.h"
#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/redis_server.h"
#include "support/test.h"
#include "util/mem.h"

static const hf_bytes key = {"{t}a", 4}, hash = {"{t}h", 4};

static hf_status queue_all(hf_client *client, hf_script *script, hf_async *q,
                           hf_reply **replies, hf_buffer *value, hf_error *err)
{
    const hf_bytes words[] = {hf_str("RPUSH"), hf_str("{t}l"), hf_str("x")};
    hf_field field = {hf_str("f"), hf_str("v")};
    hf_status status = hf_txn_new(client, NULL, &q->txn, err);

    if (status == HF_OK)
        status = hf_txn_if_absent(q->txn, key, err);
    for (int i = 0; i < 5 && status == HF_OK; i++)
        status = hf_txn_if_field(q->txn, hash, key, NULL, err);
    if (status == HF_OK)
        status = hf_value_set_start(client, key, key, NULL, NULL, q, err);
    if (status == HF_OK)
        status = hf_hash_put_start(client, hash, &field, 1, NULL, q, err);
    if (status == HF_OK)
        status = hf_value_get_start(client, key, value, q, err);
    if (status == HF_OK)
        status =
            hf_script_run_start(script, &key, 1, NULL, 0, &replies[0], q, err);
    if (status == HF_OK)
        status = hf_command_start(client, 3, words, &replies[1], q, err);
    return status;
}

static bool is_there(hf_client *client)
{
    int64_t ttl_ms;

    return hf_key_ttl(client, key, &ttl_ms, NULL) == HF_OK;
}

/* With `after` more allocations; its status. */
static hf_status try_once(hf_client *client, hf_script *script, long after)
{
    hf_async q = HF_ASYNC_INIT;
    hf_reply *replies[2] = {NULL, NULL};
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    bool finished;

    (void)hf__alloc_fail_after(after);
    status = queue_all(client, script, &q, replies, &value, &err);
    if (status == HF_OK)
        status = hf_txn_exec(q.txn, &err);
    (void)hf__alloc_fail_after(-1);
    finished = q.txn != NULL && hf_txn_count(q.txn) == 5 &&
               (status == HF_OK || hf_txn_failed(q.txn) != HF_TXN_NONE);
    assert_int_equal(is_there(client), finished);
    assert_true(status == HF_OK || status == HF_NO_MEMORY);
    hf_txn_free(q.txn);
    hf_reply_free(replies[0]);
    hf_reply_free(replies[1]);
    hf_buffer_free(&value);
    if (is_there(client)) {
        assert_int_equal(hf_value_delete(client, key, NULL), HF_OK);
        assert_int_equal(hf_hash_delete(client, hash, NULL), HF_OK);
    }
    return status;
}

/* Each on its own; returns how many allocations there are. */
static long fail_each(const char *url)
{
    hf_client *client = NULL;
    hf_script *script = NULL;
    hf_status status = HF_NO_MEMORY;
    long after = 0;

    assert_int_equal(hf_client_open(url, NULL, &client, NULL), HF_OK);
    assert_int_equal(
        hf_script_load(client, hf_str("return {KEYS[1], {1}}"), &script, NULL),
        HF_OK);
    for (; status != HF_OK; after++) {
        assert_true(after < 2000);
        status = try_once(client, script, after);
    }
    hf_script_free(script);
    hf_client_close(client);
    return after;
}

TEST(transaction_without_memory_is_applied_or_not)
{
    place at;

    make_place(&at, "volatile", "");
    assert_true(fail_each(at.url) > 15);
    remove_place(&at);
}

TEST(the_same_on_a_server)
{
    redis_server *server = redis_server_start(NULL);

    assert_non_null(server);
    assert_true(fail_each(redis_server_unix_url(server)) > 15);
    redis_server_stop(server);
}
