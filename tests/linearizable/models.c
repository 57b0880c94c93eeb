/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - the calls whose histories are recorded. 0 is an absent value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "holdfast/hash.h"
#include "holdfast/once.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define IN(...)                                                                \
    COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[])                             \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})

typedef struct digits {
    char text[24];
} digits;

static hf_bytes bytes_of(digits *at, int64_t number)
{
    snprintf(at->text, sizeof(at->text), "%lld", (long long)number);
    return hf_str(at->text);
}

static bool cheats(const session *self, const char *how)
{
    return strcmp(self->cheat, how) == 0;
}

static hf_bytes key_of(session *self)
{
    return hf_str(self->name[0]);
}

/* The number in a buffer, which is freed; 0 if there is none. */
static int64_t number_in(hf_buffer *value)
{
    int64_t number = value->data == NULL ? 0 : strtoll(value->data, NULL, 10);

    hf_buffer_free(value);
    return number;
}

/* ------------------------------------------------------------------- values */

static void get(session *self)
{
    hf_buffer value = HF_BUFFER_INIT;
    int64_t before = self->seen[0];
    hf_status status;

    call_begin(self, "get", 0, NULL);
    status = hf_value_get(self->client, key_of(self), &value, NULL);
    if (status == HF_OK || status == HF_NOT_FOUND)
        self->seen[0] = number_in(&value);
    call_out(self, cheats(self, "stale") ? before : self->seen[0]);
    call_end(self, status);
}

static void set(session *self)
{
    int64_t number = unique(self);
    digits room;

    call_begin(self, "set", IN(number));
    call_end(self, hf_value_set(self->client, key_of(self),
                                bytes_of(&room, number), NULL, NULL, NULL));
}

/* From what was last seen to a new number. */
static void cas(session *self)
{
    int64_t number = unique(self);
    digits old, new;
    hf_bytes expected = bytes_of(&old, self->seen[0]);
    hf_buffer current = HF_BUFFER_INIT;
    uint32_t flags = prng_chance(&self->random, 50) ? HF_CAS_ONCE : 0;
    hf_status status = HF_OK;

    call_begin(self, "cas", IN(self->seen[0], number));
    if (!cheats(self, "lost"))
        status = hf_value_cas(
            self->client, key_of(self), self->seen[0] == 0 ? NULL : &expected,
            bytes_of(&new, number), WITH(hf_cas_options, .flags = flags),
            &current, NULL);
    if (status == HF_OK)
        self->seen[0] = number;
    if (status == HF_CONFLICT)
        self->seen[0] = number_in(&current);
    call_out(self, self->seen[0]);
    call_end(self, status);
}

static void delete_if(session *self)
{
    digits old;
    hf_buffer current = HF_BUFFER_INIT;
    hf_status status;

    call_begin(self, "delete_if", IN(self->seen[0]));
    status = hf_value_delete_if(self->client, key_of(self),
                                bytes_of(&old, self->seen[0]), &current, NULL);
    self->seen[0] = number_in(&current);
    call_out(self, self->seen[0]);
    call_end(self, status);
}

static void act_value(session *self)
{
    static void (*const acts[])(session *) = {get, get, cas,      cas,
                                              cas, set, delete_if};

    acts[prng_below(&self->random, COUNT(acts))](self);
}

/* ------------------------------------------------------------------- hashes */

#define FIELD "field"

static void get_field(session *self)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status;

    call_begin(self, "get", 0, NULL);
    status =
        hf_hash_get(self->client, key_of(self), hf_str(FIELD), &value, NULL);
    if (status == HF_OK || status == HF_NOT_FOUND)
        self->seen[0] = number_in(&value);
    call_out(self, self->seen[0]);
    call_end(self, status);
}

static void put_field(session *self)
{
    int64_t number = unique(self);
    digits room;
    hf_field field = {hf_str(FIELD), bytes_of(&room, number)};

    call_begin(self, "set", IN(number));
    call_end(self,
             hf_hash_put(self->client, key_of(self), &field, 1, NULL, NULL));
}

/* Cheat "lost": it is not sent. */
static void cas_field(session *self)
{
    int64_t number = unique(self);
    digits old, new;
    hf_bytes expected = bytes_of(&old, self->seen[0]);
    hf_buffer current = HF_BUFFER_INIT;
    uint32_t flags = prng_chance(&self->random, 50) ? HF_CAS_ONCE : 0;
    hf_status status = HF_OK;

    call_begin(self, "cas", IN(self->seen[0], number));
    if (!cheats(self, "lost"))
        status = hf_hash_cas(
            self->client, key_of(self), hf_str(FIELD),
            self->seen[0] == 0 ? NULL : &expected, bytes_of(&new, number),
            WITH(hf_cas_options, .flags = flags), &current, NULL);
    if (status == HF_OK)
        self->seen[0] = number;
    if (status == HF_CONFLICT)
        self->seen[0] = number_in(&current);
    call_out(self, self->seen[0]);
    call_end(self, status);
}

static void act_hash(session *self)
{
    static void (*const acts[])(session *) = {get_field, cas_field, cas_field,
                                              put_field};

    acts[prng_below(&self->random, COUNT(acts))](self);
}

/* ----------------------------------------------------------------- counters */

/* With a lower bound, so that some are refused; the current number is given
 * then too. Cheat "twice": what a resent request would do. */
static void add(session *self)
{
    int64_t delta = (int64_t)prng_below(&self->random, 2000) - 900;
    int64_t number = 0;
    const hf_add_options *opts =
        WITH(hf_add_options, .flags = HF_ADD_MIN, .min = 0);
    hf_status status;

    call_begin(self, "add", IN(delta));
    if (cheats(self, "twice"))
        (void)!hf_value_add(self->client, key_of(self), delta, opts, NULL,
                            NULL);
    status =
        hf_value_add(self->client, key_of(self), delta, opts, &number, NULL);
    call_out(self, number);
    call_end(self, status);
}

static void act_counter(session *self)
{
    if (prng_chance(&self->random, 30))
        get(self);
    else
        add(self);
}

/* ------------------------------------------------------------- transactions */

/* Two registers. -1 in place of an expected number: no condition; 0 in place of
 * a new one: no write. */
#define REGISTERS 2

static hf_status expect_register(session *self, hf_txn *txn, size_t i,
                                 int64_t expected)
{
    hf_bytes key = hf_str(self->name[i]);
    digits room;

    if (expected < 0)
        return HF_OK;
    return expected == 0
               ? hf_txn_if_absent(txn, key, NULL)
               : hf_txn_if_value(txn, key, bytes_of(&room, expected), NULL);
}

static hf_status queue_write(session *self, hf_txn *txn, size_t i, int64_t to)
{
    hf_async queue = HF_ASYNC_INIT;
    digits room;

    queue.txn = txn;
    return to == 0 ? HF_OK
                   : hf_value_set_start(self->client, hf_str(self->name[i]),
                                        bytes_of(&room, to), NULL, NULL, &queue,
                                        NULL);
}

/* Cheat "torn": each register in a transaction of its own. */
static hf_status exec(session *self, const int64_t *in, size_t from, size_t to)
{
    uint32_t flags = prng_chance(&self->random, 50) ? HF_TXN_ONCE : 0;
    hf_txn *txn = NULL;
    hf_status status = hf_txn_new(
        self->client, WITH(hf_txn_options, .flags = flags), &txn, NULL);

    for (size_t i = from; i < to && status == HF_OK; i++) {
        status = expect_register(self, txn, i, in[i]);
        if (status == HF_OK)
            status = queue_write(self, txn, i, in[REGISTERS + i]);
    }
    if (status == HF_OK)
        status = hf_txn_exec(txn, NULL);
    hf_txn_free(txn);
    return status;
}

/* Conditions on what was last seen, on both, one or none; writes to both or the
 * other one. */
static void write_registers(session *self)
{
    size_t free = prng_below(&self->random, 4);
    int64_t in[2 * REGISTERS];
    hf_status status;

    for (size_t i = 0; i < REGISTERS; i++) {
        in[i] = free == i || free == 2 ? -1 : self->seen[i];
        in[REGISTERS + i] = free == 1 - i ? 0 : unique(self);
    }
    call_begin(self, "txn", 2 * REGISTERS, in);
    if (cheats(self, "torn")) {
        status = exec(self, in, 0, 1);
        if (status == HF_OK)
            status = exec(self, in, 1, 2);
    } else {
        status = exec(self, in, 0, REGISTERS);
    }
    call_end(self, status);
}

static void read_registers(session *self)
{
    hf_buffer values[REGISTERS] = {HF_BUFFER_INIT, HF_BUFFER_INIT};
    hf_async queue = HF_ASYNC_INIT;
    hf_status status;

    call_begin(self, "read", 0, NULL);
    status = hf_txn_new(self->client, NULL, &queue.txn, NULL);
    for (size_t i = 0; i < REGISTERS && status == HF_OK; i++)
        status = hf_value_get_start(self->client, hf_str(self->name[i]),
                                    &values[i], &queue, NULL);
    if (status == HF_OK)
        status = hf_txn_exec(queue.txn, NULL);
    for (size_t i = 0; i < REGISTERS; i++) {
        int64_t number = number_in(&values[i]);

        if (status == HF_OK)
            self->seen[i] = number;
        call_out(self, number);
    }
    call_end(self, status);
    hf_txn_free(queue.txn);
}

static void act_txn(session *self)
{
    if (prng_chance(&self->random, 50))
        read_registers(self);
    else
        write_registers(self);
}

/* --------------------------------------------------------------------- once */

/* A claim is held from one call of a thread to the next. Its lease is short and
 * not renewed, so that it ends when its process is killed, or sleeps. */
#define CLAIM_MS HF_LOCK_TTL_MIN_MS
#define CLAIM_US (CLAIM_MS * 1000)

/* Cheat "taken": from one who holds it. */
static hf_status try_claim(session *self, hf_lock *claim)
{
    hf_status status = hf_lock_try(claim, NULL);

    if (status == HF_HELD && cheats(self, "taken") &&
        hf_once_delete(self->client, key_of(self), NULL) == HF_OK)
        status = hf_lock_try(claim, NULL);
    return status;
}

static void claim_work(session *self)
{
    bool retries = prng_chance(&self->random, 40);
    hf_lock *claim = NULL;
    int32_t result = 0;
    hf_status status = hf_once_new(
        self->client, key_of(self),
        WITH(hf_once_options, .flags = retries ? HF_ONCE_RETRY_DOUBT : 0),
        WITH(hf_lock_options, .ttl_ms = CLAIM_MS, .flags = HF_LOCK_NO_RENEW),
        &claim, NULL);

    if (status != HF_OK)
        return;
    call_begin(self, "claim",
               IN(retries, unique(self), (int64_t)CLAIM_US * 1000));
    status = try_claim(self, claim);
    if (status == HF_CONFLICT)
        (void)!hf_once_result(claim, &result, NULL, NULL);
    call_out(self, status == HF_OK ? (int64_t)hf_lock_token(claim) : result);
    call_end(self, status);
    if (status == HF_HELD)
        (void)usleep(CLAIM_US / 4);
    if (status != HF_OK) {
        hf_lock_free(claim);
        return;
    }
    self->claim = claim;
    self->claimed = self->key;
}

/* Cheat "lost": the result is not sent; "twice": another one replaces it. */
static hf_status complete(session *self, int64_t result)
{
    hf_lock *claim = self->claim;
    hf_status status = HF_OK;

    if (!cheats(self, "lost"))
        status = hf_once_complete(claim, (int32_t)result, hf_str(""), NULL);
    if (status == HF_OK && cheats(self, "twice") &&
        hf_once_delete(self->client, hf_lock_name(claim), NULL) == HF_OK &&
        hf_lock_try(claim, NULL) == HF_OK)
        status =
            hf_once_complete(claim, (int32_t)unique(self), hf_str(""), NULL);
    return status;
}

static void end_claim(session *self)
{
    int64_t token = (int64_t)hf_lock_token(self->claim);
    int64_t result = unique(self);
    hf_status status;

    if (prng_chance(&self->random, 15))
        (void)usleep(CLAIM_US * 3 / 2);
    if (prng_chance(&self->random, 40)) {
        call_begin(self, "fail", IN(token, unique(self)));
        status = hf_lock_release(self->claim, NULL);
    } else {
        call_begin(self, "complete", IN(token, result));
        status = complete(self, result);
    }
    call_end(self, status);
    hf_lock_free(self->claim);
    self->claim = NULL;
}

/* A claim is ended even if the next call would be about another key. */
static void act_once(session *self)
{
    uint32_t key = self->key;

    if (self->claim == NULL) {
        claim_work(self);
        return;
    }
    self->key = self->claimed;
    end_claim(self);
    self->key = key;
}

const model models[] = {
    {"value", act_value, CALLS_PER_KEY},     {"hash", act_hash, CALLS_PER_KEY},
    {"counter", act_counter, CALLS_PER_KEY}, {"txn", act_txn, CALLS_PER_KEY},
    {"once", act_once, CALLS_PER_KEY},       {"queue", act_queue, 12},
};
const size_t model_count = COUNT(models);
const size_t data_model_count = 4;
