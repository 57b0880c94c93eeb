/* SPDX-License-Identifier: Apache-2.0 */
/* peer_stores.c - ours, one by hand on a server, LMDB; see peer_stores.h. */
#include "peers/peer_stores.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "holdfast/value.h"

#define MAP_SIZE ((size_t)64 << 20)

/* ---------------------------------------------------------------- holdfast */

static bool holdfast_set(void *store, int thread, const char *name,
                         const char *value)
{
    hf_error err = HF_ERROR_INIT;

    (void)thread;
    return hf_value_set(store, hf_str(name), hf_view(value, WRITERS_VALUE_SIZE),
                        NULL, NULL, &err) == HF_OK ||
           bench_fail("%s", err.message);
}

static bool holdfast_get(void *store, const char *name)
{
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;

    if (hf_value_get(store, hf_str(name), &value, &err) != HF_OK)
        return bench_fail("%s", err.message);
    hf_buffer_free(&value);
    return true;
}

const peer_store peer_values_holdfast = {peer_open_client, holdfast_set,
                                         holdfast_get};

/* ----------------------------------------------------------------- hiredis */

static void *hiredis_open(const peer_place *place)
{
    return peer_connect(place);
}

static bool end_reply(redisReply *reply, int type)
{
    bool ok = reply != NULL && reply->type == type;

    if (reply != NULL)
        freeReplyObject(reply);
    return ok || bench_fail("hiredis: not the reply that was expected");
}

static bool hiredis_set(void *store, int thread, const char *name,
                        const char *value)
{
    (void)thread;
    return end_reply(redisCommand(store, "SET %s %b", name, value,
                                  (size_t)WRITERS_VALUE_SIZE),
                     REDIS_REPLY_STATUS);
}

static bool hiredis_get(void *store, const char *name)
{
    return end_reply(redisCommand(store, "GET %s", name), REDIS_REPLY_STRING);
}

const peer_store peer_values_hiredis = {hiredis_open, hiredis_set, hiredis_get};

/* -------------------------------------------------------------------- LMDB */

typedef struct lmdb_values {
    bare base;
    MDB_txn *read;
} lmdb_values;

static void *open_lmdb(const peer_place *place, unsigned flags)
{
    lmdb_values *self = calloc(1, sizeof(*self));

    if (self == NULL ||
        !bare_open_with(&self->base, place->directory, MAP_SIZE, flags) ||
        !bare_begin(&self->base, MDB_RDONLY, &self->read)) {
        free(self);
        return NULL;
    }
    mdb_txn_reset(self->read);
    return self;
}

static void *lmdb_open(const peer_place *place)
{
    return open_lmdb(place, BARE_VOLATILE);
}

static void *lmdb_open_durable(const peer_place *place)
{
    return open_lmdb(place, MDB_NOTLS);
}

static bool lmdb_set(void *store, int thread, const char *name,
                     const char *value)
{
    lmdb_values *self = store;
    MDB_txn *txn;

    (void)thread;
    return bare_begin(&self->base, 0, &txn) &&
           bare_put(&self->base, txn, name, value, WRITERS_VALUE_SIZE, 0) &&
           bare_ok(mdb_txn_commit(txn));
}

static bool lmdb_get(void *store, const char *name)
{
    lmdb_values *self = store;
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value;
    char *copy = malloc(WRITERS_VALUE_SIZE);
    bool ok = copy != NULL && bare_ok(mdb_txn_renew(self->read)) &&
              bare_ok(mdb_get(self->read, self->base.dbi, &key, &value));

    if (ok)
        memcpy(copy, value.mv_data, WRITERS_VALUE_SIZE);
    mdb_txn_reset(self->read);
    free(copy);
    return ok;
}

const peer_store peer_values_lmdb = {lmdb_open, lmdb_set, lmdb_get};
const peer_store peer_durable_lmdb = {lmdb_open_durable, lmdb_set, NULL};
