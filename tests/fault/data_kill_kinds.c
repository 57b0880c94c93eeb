/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_kill_kinds.c - the kinds of work: what operation n does, and reading
 * back which n the store is at. All ask for a time to live.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_kill.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIELDS_MAX 5u
#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})

void worker_aim(worker *self, uint32_t number, const kind *of)
{
    snprintf(self->name, sizeof(self->name), "{life:%u}:%s", (unsigned)number,
             of->name);
    self->key = hf_str(self->name);
}

uint32_t broken(char say[TEXT_SIZE], const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vsnprintf(say, TEXT_SIZE, format, list);
    va_end(list);
    return STATE_BROKEN;
}

bool is_fault(const worker *self, const char *fault)
{
    return strcmp(self->fault, fault) == 0;
}

/* n in decimal, and back; 0 for anything else. */
typedef struct digits {
    char text[16];
    hf_bytes bytes;
} digits;

static hf_bytes number_bytes(digits *at, uint32_t n)
{
    snprintf(at->text, sizeof(at->text), "%u", (unsigned)n);
    return hf_str(at->text);
}

static uint32_t number_of(const void *data, size_t size)
{
    char copy[16] = "";

    memcpy(copy, data, size < sizeof(copy) ? size : sizeof(copy) - 1);
    return (uint32_t)strtoul(copy, NULL, 10);
}

/* Was a key that exists given its time to live? */
static uint32_t with_ttl(worker *self, uint32_t n, char say[TEXT_SIZE])
{
    int64_t ttl_ms = -1;
    hf_status status = hf_key_ttl(self->client, self->key, &ttl_ms, &self->err);

    if (status == HF_OK && ttl_ms >= 0)
        return n;
    return broken(say, "state %u of %s has no time to live: %s", (unsigned)n,
                  self->name, hf_status_name(status));
}

/* ------------------------------------------------------------------- values */

static hf_status act_value(worker *self, uint32_t n)
{
    digits room;

    return hf_value_set(self->client, self->key, number_bytes(&room, n),
                        WITH(hf_value_set_options, .ttl_ms = TTL_MS), NULL,
                        &self->err);
}

static uint32_t read_value(worker *self, char say[TEXT_SIZE])
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status =
        hf_value_get(self->client, self->key, &value, &self->err);
    uint32_t n;

    if (status == HF_NOT_FOUND)
        return 0;
    if (status != HF_OK)
        return broken(say, "%s: %s", self->name, self->err.message);
    n = number_of(value.data, value.size);
    hf_buffer_free(&value);
    return with_ttl(self, n, say);
}

static hf_status act_cas(worker *self, uint32_t n)
{
    digits old, new;
    hf_bytes expected = number_bytes(&old, n - 1);

    return hf_value_cas(self->client, self->key, n == 1 ? NULL : &expected,
                        number_bytes(&new, n),
                        WITH(hf_cas_options, .ttl_ms = n == 1 ? TTL_MS : 0),
                        NULL, &self->err);
}

/* ------------------------------------------------------------------- hashes */

static uint32_t fields_of(uint32_t n)
{
    return 1 + n % FIELDS_MAX;
}

/* Fault "steps": the expiry in a second step, as the first article warns. */
static hf_status act_hash(worker *self, uint32_t n)
{
    hf_field fields[FIELDS_MAX];
    bool steps = is_fault(self, "steps");
    hf_status status;
    digits room;

    for (uint32_t i = 0; i < fields_of(n); i++) {
        fields[i].name = hf_view("abcde" + i, 1);
        fields[i].value = number_bytes(&room, n);
    }
    if (is_fault(self, "half") && fields_of(n) > 1)
        (void)!hf_hash_put(self->client, self->key, fields, 1,
                           WITH(hf_hash_put_options, .ttl_ms = TTL_MS), NULL);
    status = hf_hash_put(self->client, self->key, fields, fields_of(n),
                         WITH(hf_hash_put_options,
                              .flags = steps ? HF_HASH_PERSIST | HF_HASH_REPLACE
                                             : HF_HASH_REPLACE,
                              .ttl_ms = steps ? 0 : TTL_MS),
                         &self->err);
    if (status == HF_OK && steps)
        status = hf_key_expire(self->client, self->key, TTL_MS, &self->err);
    return status;
}

/* All fields are of the same operation, and none is missing. */
static uint32_t whole(const hf_fields *fields, const char *name,
                      char say[TEXT_SIZE])
{
    uint32_t n =
        number_of(fields->items[0].value.data, fields->items[0].value.size);

    for (size_t i = 1; i < fields->count; i++) {
        const hf_field *field = &fields->items[i];

        if (number_of(field->value.data, field->value.size) != n)
            return broken(say, "half a hash: %s has fields of two operations",
                          name);
    }
    return fields->count == fields_of(n)
               ? n
               : broken(say, "half a hash: %s has %zu fields of operation %u",
                        name, fields->count, (unsigned)n);
}

static uint32_t read_hash(worker *self, char say[TEXT_SIZE])
{
    hf_fields fields = HF_FIELDS_INIT;
    hf_status status =
        hf_hash_get_all(self->client, self->key, &fields, &self->err);
    uint32_t n;

    if (status == HF_NOT_FOUND)
        return 0;
    if (status != HF_OK)
        return broken(say, "%s: %s", self->name, self->err.message);
    n = whole(&fields, self->name, say);
    hf_fields_free(&fields);
    return n == STATE_BROKEN ? n : with_ttl(self, n, say);
}

static hf_status act_field_cas(worker *self, uint32_t n)
{
    digits old, new;
    hf_bytes expected = number_bytes(&old, n - 1);

    return hf_hash_cas(self->client, self->key, hf_str("f"),
                       n == 1 ? NULL : &expected, number_bytes(&new, n),
                       WITH(hf_cas_options, .ttl_ms = n == 1 ? TTL_MS : 0),
                       NULL, &self->err);
}

static uint32_t read_field(worker *self, char say[TEXT_SIZE])
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status =
        hf_hash_get(self->client, self->key, hf_str("f"), &value, &self->err);
    uint32_t n;

    if (status == HF_NOT_FOUND)
        return 0;
    if (status != HF_OK)
        return broken(say, "%s: %s", self->name, self->err.message);
    n = number_of(value.data, value.size);
    hf_buffer_free(&value);
    return with_ttl(self, n, say);
}

/* ----------------------------------------------------------------- counters */

/* Fault "twice": what a resent request would do. */
static hf_status act_counter(worker *self, uint32_t n)
{
    const hf_add_options *opts = WITH(hf_add_options, .ttl_ms = TTL_MS);

    if (is_fault(self, "twice") && n % 100 == 99)
        (void)!hf_value_add(self->client, self->key, 1, opts, NULL, NULL);
    return hf_value_add(self->client, self->key, 1, opts, NULL, &self->err);
}

static hf_status act_field_counter(worker *self, uint32_t n)
{
    (void)n;
    return hf_hash_add(self->client, self->key, hf_str("f"), 1,
                       WITH(hf_add_options, .ttl_ms = TTL_MS), NULL,
                       &self->err);
}

/* ------------------------------------------------------------- transactions */

static hf_bytes other_key(const worker *self, char name[80])
{
    snprintf(name, 80, "%s:hash", self->name);
    return hf_str(name);
}

/* If the value is of the operation before, the value and a field of a hash are
 * set. Fault "torn": the field by itself. */
static hf_status act_txn(worker *self, uint32_t n)
{
    hf_async queue = HF_ASYNC_INIT;
    digits old, new;
    char name[80];
    const hf_field field = {hf_str("f"), number_bytes(&new, n)};
    const hf_hash_put_options *put =
        WITH(hf_hash_put_options, .ttl_ms = TTL_MS);
    hf_bytes other = other_key(self, name);
    hf_status status = hf_txn_new(self->client, NULL, &queue.txn, &self->err);

    if (status == HF_OK)
        status = n == 1
                     ? hf_txn_if_absent(queue.txn, self->key, &self->err)
                     : hf_txn_if_value(queue.txn, self->key,
                                       number_bytes(&old, n - 1), &self->err);
    if (status == HF_OK)
        status =
            hf_value_set_start(self->client, self->key, number_bytes(&new, n),
                               WITH(hf_value_set_options, .ttl_ms = TTL_MS),
                               NULL, &queue, &self->err);
    if (status == HF_OK && is_fault(self, "torn"))
        status = hf_hash_put(self->client, other, &field, 1, put, &self->err);
    else if (status == HF_OK)
        status = hf_hash_put_start(self->client, other, &field, 1, put, &queue,
                                   &self->err);
    if (status == HF_OK)
        status = hf_txn_exec(queue.txn, &self->err);
    hf_txn_free(queue.txn);
    return status;
}

/* Both in one step, as a server may get to the last one in between. */
static uint32_t read_txn(worker *self, char say[TEXT_SIZE])
{
    hf_async queue = HF_ASYNC_INIT;
    hf_buffer value = HF_BUFFER_INIT, field = HF_BUFFER_INIT;
    char name[80];
    hf_bytes other = other_key(self, name);
    hf_status status = hf_txn_new(self->client, NULL, &queue.txn, &self->err);
    uint32_t n, m;

    if (status == HF_OK)
        status = hf_value_get_start(self->client, self->key, &value, &queue,
                                    &self->err);
    if (status == HF_OK)
        status = hf_hash_get_start(self->client, other, hf_str("f"), &field,
                                   &queue, &self->err);
    if (status == HF_OK)
        status = hf_txn_exec(queue.txn, &self->err);
    hf_txn_free(queue.txn);
    if (status != HF_OK)
        return broken(say, "%s: %s", self->name, self->err.message);
    n = value.data == NULL ? 0 : number_of(value.data, value.size);
    m = field.data == NULL ? 0 : number_of(field.data, field.size);
    hf_buffer_free(&value);
    hf_buffer_free(&field);
    if (n != m)
        return broken(say, "half a transaction: %s has %u and %u", self->name,
                      (unsigned)n, (unsigned)m);
    return n == 0 ? 0 : with_ttl(self, n, say);
}

/* ------------------------------------------------------------------- fences */

/* Each with a higher token than the one before. */
static hf_status act_fenced(worker *self, uint32_t n)
{
    digits room;

    return hf_value_put_fenced(self->client, self->key, number_bytes(&room, n),
                               n, WITH(hf_value_set_options, .ttl_ms = TTL_MS),
                               NULL, &self->err);
}

/* The value and the highest token are of one step. */
static uint32_t read_fenced(worker *self, char say[TEXT_SIZE])
{
    static const char source[] =
        "return {redis.call('get', KEYS[1]), redis.call('get', KEYS[2])}";
    char name[80];
    hf_bytes keys[] = {self->key, {name, 0}};
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    uint32_t n = read_value(self, say);
    hf_status status;

    snprintf(name, sizeof(name), "hf:fence::%s", self->name);
    keys[1] = hf_str(name);
    status = hf_script_load(self->client, hf_str(source), &script, &self->err);
    if (status == HF_OK)
        status = hf_script_run(script, keys, 2, NULL, 0, &reply, &self->err);
    if (status == HF_OK && n != STATE_BROKEN && n > 0) {
        hf_bytes value = hf_reply_bytes(hf_reply_at(reply, 0));
        hf_bytes fence = hf_reply_bytes(hf_reply_at(reply, 1));

        if (value.size != fence.size ||
            memcmp(value.data, fence.data, value.size) != 0)
            n = broken(say, "half a fenced write: %s", self->name);
    }
    hf_reply_free(reply);
    hf_script_free(script);
    return status == HF_OK ? n : broken(say, "%s", self->err.message);
}

const kind kinds[] = {
    {"value", act_value, read_value, false},
    {"cas", act_cas, read_value, false},
    {"counter", act_counter, read_value, false},
    {"hash", act_hash, read_hash, false},
    {"field-cas", act_field_cas, read_field, false},
    {"field-counter", act_field_counter, read_field, false},
    {"timeline", act_timeline, read_timeline, false},
    {"txn", act_txn, read_txn, false},
    {"fenced", act_fenced, read_fenced, false},
    {"cache", act_cache, read_cache, false},
    {"fill", act_fill, read_fill, true},
};
const size_t kind_count = COUNT(kinds);
