/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_made_test.c - tx->made is called for each key that a command brings
 * into being, and for no other.
 */
#include "embedded_store.h"
#include "open_env.h"

#include "engine/keys/tx_life.h"
#include "engine/run/command_table.h"
#include "engine/run/execute.h"
#include "engine/run/write.h"

#define SOON_MS 10000

static void add_key(hf__tx *tx, hf_bytes key)
{
    char *names = tx->made_user;
    size_t used = strlen(names);

    (void)snprintf(names + used, TEXT_SIZE - used, "%.*s ", (int)key.size,
                   (const char *)key.data);
}

/* Run the line in a transaction, and compare the keys made. */
static void expect_made(hf__env *env, const char *line, const char *want)
{
    hf_bytes words[WORD_MAX];
    char copy[TEXT_SIZE], names[TEXT_SIZE] = "";
    int64_t now_ms = hf__clock_boot_ms();
    hf__request request;
    hf__job job = {&request, NULL, 1000, 0, NULL};
    hf__tx *tx;

    (void)snprintf(copy, sizeof(copy), "%s", line);
    hf__request_init(&request);
    request.words = words;
    request.word_count = split(copy, words);
    job.command = hf__command_find(words[0]);
    assert_int_equal(hf__env_lock(env, now_ms + SOON_MS, NULL), HF_OK);
    assert_true(hf__execute_prepare(env, &job));
    tx = env->write_tx;
    assert_int_equal(hf__env_begin_write(env, now_ms, &tx->txn, NULL), HF_OK);
    hf__tx_start(tx, now_ms);
    tx->made = add_key;
    tx->made_user = names;
    hf__execute(tx, &job);
    assert_int_equal(hf__tx_finish(tx), HF_OK);
    hf__write_end(env);
    assert_int_equal(request.status, HF_OK);
    hf__request_done(&request);
    if (strcmp(names, want) != 0)
        fail_msg("%s: made %s, want %s", line, names, want);
}

TEST(made_keys_are_reported)
{
    place at;
    hf__env *env;

    make_place(&at, "volatile", "");
    env = open_env(at.url);
    expect_made(env, "rpush l b a c", "l ");
    expect_made(env, "rpush l d", "");
    expect_made(env, "lmove l m left right", "m ");
    expect_made(env, "rename l n", "n ");
    expect_made(env, "copy n o", "o ");
    expect_made(env, "sort n alpha store p", "p ");
    expect_made(env, "zadd z 1 a", "z ");
    expect_made(env, "zunionstore y 1 z", "y ");
    expect_made(env, "sort missing store p", "");
    expect_made(env, "lpush l a", "l ");
    hf__env_unref(env);
    remove_place(&at);
}
