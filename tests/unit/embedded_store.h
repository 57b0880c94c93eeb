/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_store.h - what the tests of the embedded driver share: a store in
 * its own directory, requests written as text, replies shown as text.
 *
 * A reply is shown as nil, i:5, s:text, +:OK, E:text, or [a, b]; a failure as
 * its message. Bytes outside printable ASCII are shown as \xNN.
 */
#ifndef EMBEDDED_STORE_H
#define EMBEDDED_STORE_H

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "holdfast/store.h"
#include "support/remove_tree.h"
#include "support/slowness.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/sha1.h"
#include "util/url.h"

#define TEXT_SIZE 8192
#define WORD_MAX 64
#define HELPER __attribute__((unused)) static

typedef struct place {
    char folder[64]; /* a new one, to be removed */
    char url[192];
    hf__store *store;
} place;

/* Of the stores opened next: the limits of a script and of opening. */
__attribute__((unused)) static int64_t script_budget_ms = 400 * SLOWER;
__attribute__((unused)) static int64_t connect_ms = 1000;

/* Open the store at a URL; the status, and the message in *err. */
HELPER hf_status open_url(const char *text, hf__loop *loop, hf__store **store,
                          hf_error *err)
{
    hf__store_config config = {0};
    hf__url url;
    hf_status status = hf__url_parse(text, &url, err);

    if (status != HF_OK)
        return status;
    config.url = &url;
    config.connect_ms = connect_ms;
    config.script_budget_ms = script_budget_ms;
    config.loop = loop;
    status = hf__embedded_store_ops.open(&config, store, err);
    hf__url_done(&url);
    return status;
}

HELPER hf__store *must_open(const char *url, hf__loop *loop)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf_status status = open_url(url, loop, &store, &err);

    if (status != HF_OK)
        fail_msg("%s: %d %s", url, status, err.message);
    return store;
}

HELPER void close_store(hf__store *store)
{
    hf__embedded_store_ops.close(store);
}

/* A new folder; no store yet. `parameters` such as "?max_size=1M". */
HELPER void make_place(place *at, const char *scheme, const char *parameters)
{
    const char *base = getenv("HF_TEST_DIR");

    (void)snprintf(at->folder, sizeof(at->folder), "%s/hf-embedded-XXXXXX",
                   base != NULL && strlen(base) < 30 ? base : "/dev/shm");
    assert_non_null(mkdtemp(at->folder));
    (void)snprintf(at->url, sizeof(at->url), "%s:%s/s%s", scheme, at->folder,
                   parameters);
    at->store = NULL;
}

HELPER void remove_place(place *at)
{
    if (at->store != NULL)
        close_store(at->store);
    (void)remove_tree(at->folder);
}

/* For EACH_TEST_WITH(): *state is a place whose store is open. */
HELPER int open_volatile_place(void **state)
{
    static place at;

    make_place(&at, "volatile", "");
    at.store = must_open(at.url, NULL);
    *state = &at;
    return 0;
}

HELPER int remove_state_place(void **state)
{
    remove_place(*state);
    return 0;
}

HELPER void print_fault(void *user, const char *fault)
{
    (void)user;
    fprintf(stderr, "%s\n", fault);
}

/* `user` is a text of TEXT_SIZE. */
HELPER void keep_fault(void *user, const char *fault)
{
    (void)snprintf(user, TEXT_SIZE, "%s", fault);
}

/* A check of the place's store finds no fault. */
HELPER void expect_no_faults(const place *at)
{
    hf_error err = HF_ERROR_INIT;

    if (hf_store_check(at->url, NULL, print_fault, NULL, &err) != HF_OK)
        fail_msg("check: %s", err.message);
}

/* Write to a store's folder behind the library's back, through LMDB, so that
 * its pages are valid and only our records are not. */
HELPER MDB_txn *begin_raw(const char *folder, MDB_dbi *dbi)
{
    MDB_env *env;
    MDB_txn *txn;

    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_mapsize(env, 64u << 20), 0);
    assert_int_equal(mdb_env_open(env, folder, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, NULL, 0, dbi), 0);
    return txn;
}

HELPER void commit_raw(MDB_txn *txn)
{
    MDB_env *env = mdb_txn_env(txn);

    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
}

/* ------------------------------------------------------------------ replies */

HELPER void put_text(char text[TEXT_SIZE], const char *more)
{
    size_t used = strlen(text);

    (void)snprintf(text + used, TEXT_SIZE - used, "%s", more);
}

HELPER void put_bytes(char text[TEXT_SIZE], const char *mark,
                      const hf_reply *reply)
{
    put_text(text, mark);
    for (size_t i = 0; i < reply->bytes.size; i++) {
        unsigned char byte = (unsigned char)reply->bytes.data[i];
        char one[8];

        (void)snprintf(
            one, sizeof(one),
            byte >= 32 && byte < 127 && byte != '\\' ? "%c" : "\\x%02x", byte);
        put_text(text, one);
    }
}

HELPER void show(char text[TEXT_SIZE], const hf_reply *reply)
{
    char number[32];

    switch (reply->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        put_text(text, "nil");
        break;
    case HF_REPLY_INTEGER:
        (void)snprintf(number, sizeof(number), "i:%lld",
                       (long long)reply->integer);
        put_text(text, number);
        break;
    case HF_REPLY_STRING:
        put_bytes(text, "s:", reply);
        break;
    case HF_REPLY_STATUS:
        put_bytes(text, "+:", reply);
        break;
    case HF_REPLY_ERROR:
        put_bytes(text, "E:", reply);
        break;
    case HF_REPLY_ARRAY:
        put_text(text, "[");
        for (size_t i = 0; i < reply->array.count; i++) {
            put_text(text, i > 0 ? ", " : "");
            show(text, &reply->array.items[i]);
        }
        put_text(text, "]");
        break;
    }
}

/* Perform a request and show its result. */
HELPER hf_status perform(hf__store *store, const hf__script *script,
                         const hf_bytes *words, size_t count, size_t key_count,
                         char text[TEXT_SIZE])
{
    hf__request request;
    hf_status status;

    hf__request_init(&request);
    request.script = script;
    request.words = words;
    request.word_count = count;
    request.key_count = key_count;
    /* No call here is meant to reach it. */
    request.deadline_ms = hf__clock_boot_ms() + 60000 * (SLOWER > 1 ? 4 : 1);
    hf__embedded_store_ops.perform(store, &request);
    text[0] = '\0';
    if (request.status == HF_OK)
        show(text, &request.reply);
    else
        (void)snprintf(text, TEXT_SIZE, "%s", request.error.message);
    status = request.status;
    hf__request_done(&request);
    return status;
}

/* Split at spaces; "" is an empty word. */
HELPER size_t split(const char *text, hf_bytes words[WORD_MAX])
{
    size_t count = 0;

    for (text += strspn(text, " "); *text != '\0' && count < WORD_MAX;
         text += strspn(text, " ")) {
        size_t size = strcspn(text, " ");

        words[count++] =
            hf_view(text, size == 2 && memcmp(text, "\"\"", 2) == 0 ? 0 : size);
        text += size;
    }
    return count;
}

HELPER hf_status command(hf__store *store, const char *line,
                         char text[TEXT_SIZE])
{
    char copy[TEXT_SIZE];
    hf_bytes words[WORD_MAX];

    (void)snprintf(copy, sizeof(copy), "%s", line);
    return perform(store, NULL, words, split(copy, words), 0, text);
}

/* Fail unless the command's reply, or its error's message, is `want`. */
HELPER void expect(hf__store *store, const char *line, const char *want)
{
    char text[TEXT_SIZE];

    (void)command(store, line, text);
    if (strcmp(text, want) != 0)
        fail_msg("%s: got %s, want %s", line, text, want);
}

/* Run a user's script with words split at spaces. */
HELPER hf_status evaluate(hf__store *store, const char *source,
                          size_t key_count, const char *line,
                          char text[TEXT_SIZE])
{
    char copy[TEXT_SIZE];
    char sha1[HF__SHA1_HEX_SIZE];
    hf_bytes words[WORD_MAX];
    hf__script script = HF__USER_SCRIPT(source, strlen(source), sha1);

    hf__sha1_hex(source, strlen(source), sha1);
    (void)snprintf(copy, sizeof(copy), "%s", line);
    return perform(store, &script, words, split(copy, words), key_count, text);
}

/* Run one of our own scripts. */
HELPER hf_status own(hf__store *store, hf__script_id id, size_t key_count,
                     const char *line, char text[TEXT_SIZE])
{
    char copy[TEXT_SIZE];
    hf_bytes words[WORD_MAX];

    (void)snprintf(copy, sizeof(copy), "%s", line);
    return perform(store, &hf__scripts[id], words, split(copy, words),
                   key_count, text);
}

#endif
