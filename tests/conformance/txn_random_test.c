/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_random_test.c - random transactions against the same operations one by
 * one on other keys. Where all succeed there, the transaction leaves the same;
 * where one fails, the transaction fails with the same status at the same
 * operation, and its keys are as before.
 *
 * TXN_ROUNDS in the environment runs more than the 40 of `make test`, and
 * TXN_SEED other ones.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/prng.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define KEYS 3
#define OPERATIONS_MAX 6
#define STATE_SIZE 2000

/* Words of an operation: 1 and 2 stand for keys; a NULL ends them. */
#define K1 "\1"
#define K2 "\2"
static const char *const templates[][7] = {
    {"SET", K1, "text"},
    {"SET", K1, "9223372036854775800", "PX", "1000000"},
    {"SET", K1, "7", "KEEPTTL"},
    {"SET", K1, "x", "NX"},
    {"SET", K1, "x", "BAD"},
    {"INCRBY", K1, "5"},
    {"DECR", K1},
    {"APPEND", K1, "more"},
    {"GETDEL", K1},
    {"HSET", K1, "f", "1", "g", "text"},
    {"HINCRBY", K1, "f", "3"},
    {"HINCRBY", K1, "g", "1"},
    {"HDEL", K1, "f"},
    {"RPUSH", K1, "a", "b"},
    {"LSET", K1, "0", "c"},
    {"LPOP", K1},
    {"SADD", K1, "m", "n"},
    {"ZADD", K1, "1.5", "m", "2", "n"},
    {"ZINCRBY", K1, "1", "m"},
    {"DEL", K1},
    {"UNLINK", K1, K2},
    {"EXPIRE", K1, "2000"},
    {"EXPIRE", K1, "no number"},
    {"PERSIST", K1},
    {"RENAME", K1, K2},
    {"COPY", K1, K2, "REPLACE"},
    {"MSET", K1, "1", K2, "2"},
    {"GET", K1},
    {"EXISTS", K1, K2},
    {"TYPE", K1},
    {"GET"},
};
#define TEMPLATES (sizeof(templates) / sizeof(templates[0]))

/* Another form than a command. */
enum { HASH_PUT = TEMPLATES, VALUE_DELETE, HASH_DELETE, KINDS };

typedef struct operation {
    size_t kind;
    size_t keys[2];
} operation;

/* Run it on these keys, or queue it. */
static hf_status apply(fixture *f, const operation *one, const hf_bytes *keys,
                       const hf_async *queue)
{
    hf_bytes key = keys[one->keys[0]], views[7];
    hf_field field = {bytes("f"), bytes("put")};
    hf_client *c = f->client;
    size_t count = 0;

    switch (one->kind) {
    case HASH_PUT:
        return queue == NULL
                   ? hf_hash_put(c, key, &field, 1, NULL, NULL)
                   : hf_hash_put_start(c, key, &field, 1, NULL, queue, NULL);
    case VALUE_DELETE:
        return queue == NULL ? hf_value_delete(c, key, NULL)
                             : hf_value_delete_start(c, key, queue, NULL);
    case HASH_DELETE:
        return queue == NULL ? hf_hash_delete(c, key, NULL)
                             : hf_hash_delete_start(c, key, queue, NULL);
    default:
        break;
    }
    for (; templates[one->kind][count] != NULL; count++) {
        const char *word = templates[one->kind][count];

        views[count] = word[0] == 1 || word[0] == 2
                           ? keys[one->keys[word[0] - 1]]
                           : hf_str(word);
    }
    return queue == NULL ? hf_command(c, count, views, NULL, NULL)
                         : hf_command_start(c, count, views, NULL, queue, NULL);
}

static bool is_answer(hf_status status)
{
    return status == HF_OK || hf_status_kind(status) == HF_KIND_NO;
}

/* --------------------------------------------------------------- the state */

/* Elements sorted, as sets and hashes have no order. */
static const char content[] =
    "local all = {}\n"
    "for i, key in ipairs(KEYS) do\n"
    "    local type, t = redis.call('type', key).ok, {}\n"
    "    if type == 'string' then t = {redis.call('get', key)}\n"
    "    elseif type == 'list' then t = redis.call('lrange', key, 0, -1)\n"
    "    elseif type == 'set' then t = redis.call('smembers', key)\n"
    "        table.sort(t)\n"
    "    elseif type == 'zset' then\n"
    "        t = redis.call('zrange', key, 0, -1, 'withscores')\n"
    "    elseif type == 'hash' then\n"
    "        local list = redis.call('hgetall', key)\n"
    "        for j = 1, #list, 2 do t[#t + 1] = list[j] .. '=' .. list[j + 1] "
    "end\n"
    "        table.sort(t)\n"
    "    end\n"
    "    local ttl = redis.call('pttl', key)\n"
    "    all[i] = type .. ' ' .. math.floor(ttl / 1000000 + 0.5) .. ' ' ..\n"
    "        table.concat(t, ',')\n"
    "end\n"
    "return table.concat(all, '; ')\n";

static void read_state(hf_script *script, const hf_bytes *keys,
                       char state[STATE_SIZE])
{
    hf_reply *reply = NULL;
    hf_bytes text;

    expect_status(HF_OK,
                  hf_script_run(script, keys, KEYS, NULL, 0, &reply, ERR));
    text = hf_reply_bytes(reply);
    (void)snprintf(state, STATE_SIZE, "%.*s", (int)text.size,
                   (const char *)text.data);
    hf_reply_free(reply);
}

/* ------------------------------------------------------------------ rounds */

typedef struct trial {
    operation operations[OPERATIONS_MAX];
    size_t count;
    hf_bytes keys[KEYS], shadows[KEYS];
} trial;

static void draw(trial *self, prng *random)
{
    self->count = 1 + prng_below(random, OPERATIONS_MAX);
    for (size_t i = 0; i < self->count; i++) {
        operation *one = &self->operations[i];

        one->kind = prng_below(random, KINDS);
        one->keys[0] = prng_below(random, KEYS);
        one->keys[1] = prng_below(random, KEYS);
    }
}

/* The same on both sides. */
static void prepare(fixture *f, trial *self, prng *random)
{
    for (size_t i = 0; i < KEYS; i++) {
        operation one = {prng_below(random, KINDS), {i, i}};

        (void)apply(f, &one, self->keys, NULL);
        (void)apply(f, &one, self->shadows, NULL);
    }
}

/* One by one: where it fails, and how. */
static size_t run_singly(fixture *f, const trial *self, hf_status *status)
{
    *status = HF_OK;
    for (size_t i = 0; i < self->count; i++) {
        *status = apply(f, &self->operations[i], self->shadows, NULL);
        if (!is_answer(*status))
            return i;
    }
    *status = HF_OK;
    return HF_TXN_NONE;
}

static void run_together(fixture *f, const trial *self, size_t failed,
                         hf_status wanted)
{
    hf_async q = HF_ASYNC_INIT;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &q.txn, ERR));
    for (size_t i = 0; i < self->count; i++)
        assert_int_equal(apply(f, &self->operations[i], self->keys, &q), HF_OK);
    expect_status(wanted, hf_txn_exec(q.txn, ERR));
    assert_true(hf_txn_failed(q.txn) == failed);
    hf_txn_free(q.txn);
}

static void run_round(fixture *f, hf_script *script, trial *self, prng *random)
{
    char before[STATE_SIZE], after[STATE_SIZE], wanted[STATE_SIZE];
    hf_status status;
    size_t failed;

    prepare(f, self, random);
    draw(self, random);
    read_state(script, self->keys, before);
    failed = run_singly(f, self, &status);
    read_state(script, self->shadows, wanted);
    run_together(f, self, failed, status);
    read_state(script, self->keys, after);
    assert_string_equal(after, failed == HF_TXN_NONE ? wanted : before);
    for (size_t i = 0; i < KEYS; i++) {
        operation delete = {19, {i, i}};

        (void)apply(f, &delete, self->keys, NULL);
        (void)apply(f, &delete, self->shadows, NULL);
    }
}

static uint64_t number_of(const char *name, uint64_t usual)
{
    const char *text = getenv(name);

    return text == NULL ? usual : strtoull(text, NULL, 10);
}

TEST(transaction_does_what_its_operations_do_or_nothing)
{
    static const char *const names[] = {"{t}k0", "{t}k1", "{t}k2",
                                        "{t}s0", "{t}s1", "{t}s2"};
    fixture *f = *state;
    hf_script *script = fixture_script(f, f->client, content);
    uint64_t rounds = number_of("TXN_ROUNDS", 40);
    uint64_t seed = number_of("TXN_SEED", 1);
    trial self;

    for (size_t i = 0; i < KEYS; i++) {
        self.keys[i] = fixture_key(f, names[i]);
        self.shadows[i] = fixture_key(f, names[KEYS + i]);
    }
    for (uint64_t i = 0; i < rounds; i++) {
        prng random = prng_of(seed, i, 0);

        run_round(f, script, &self, &random);
    }
}
