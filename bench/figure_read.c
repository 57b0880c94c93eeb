/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_read.c - reading: hf_value_get() of an existing key, and a page of 20
 * members of a large sorted set.
 *
 * The ceiling of the first: a bare mdb_get() in a read transaction that is
 * renewed and reset, the value copied into new memory. Of the second: a bare
 * cursor over the same number of records in order, the names copied.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "figures.h"
#include "holdfast/script.h"
#include "holdfast/value.h"

#define KEY_COUNT 100000
#define KEY "key-%06d"
#define VALUE_SIZE 100
/* Far apart in the tree; coprime with the counts here. */
#define STRIDE 7919

#define PAGE 20
#define MEMBER "member-%07d"
#define MEMBER_BATCH 1000

typedef struct reading {
    hf_client *client;
    hf_script *by_offset;
    hf_script *by_score;
    bare base;
    MDB_txn *txn;
    int members;
    int next;
    unsigned char page[64 * PAGE];
} reading;

static bool open_client(reading *self, const bench_run *run, const char *name)
{
    hf_error error = HF_ERROR_INIT;
    char url[BENCH_PATH_SIZE];

    snprintf(url, sizeof(url), "volatile:%s/%s", run->memory, name);
    return hf_client_open(url, NULL, &self->client, &error) == HF_OK ||
           bench_fail("%s", error.message);
}

static void close_both(reading *self)
{
    hf_script_free(self->by_offset);
    hf_script_free(self->by_score);
    hf_client_close(self->client);
    if (self->txn != NULL)
        mdb_txn_abort(self->txn);
    bare_close(&self->base);
}

/* Open both, the bare one in its own directory. */
static bool open_both(reading *self, const bench_run *run, const char *name,
                      size_t map_size)
{
    char *directory = bench_make_directory(run->memory);
    bool ok = directory != NULL && open_client(self, run, name) &&
              bare_open(&self->base, directory, map_size);

    free(directory);
    return ok;
}

/* ------------------------------------------------------------------- values */

static bool fill_values(reading *self)
{
    char name[BENCH_NAME_SIZE], bare_name[BENCH_NAME_SIZE + 1];
    unsigned char value[BARE_HEAD + VALUE_SIZE] = {0};
    hf_error error = HF_ERROR_INIT;
    MDB_txn *txn;

    if (!bare_begin(&self->base, 0, &txn))
        return false;
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(name, sizeof(name), KEY, i);
        snprintf(bare_name, sizeof(bare_name), "m%s", name);
        if (hf_value_set(self->client, hf_str(name), hf_view(value, VALUE_SIZE),
                         NULL, NULL, &error) != HF_OK)
            return bench_fail("%s", error.message);
        if (!bare_put(&self->base, txn, bare_name, value, sizeof(value), 0))
            return false;
    }
    if (!bare_ok(mdb_txn_commit(txn)) ||
        !bare_begin(&self->base, MDB_RDONLY, &self->txn))
        return false;
    mdb_txn_reset(self->txn);
    return true;
}

static bool get_ours(void *user, int64_t count)
{
    hf_error error = HF_ERROR_INIT;
    reading *self = user;
    char name[BENCH_NAME_SIZE];
    hf_buffer value = HF_BUFFER_INIT;

    for (int64_t i = 0; i < count; i++) {
        self->next = (self->next + STRIDE) % KEY_COUNT;
        snprintf(name, sizeof(name), KEY, self->next);
        if (hf_value_get(self->client, hf_str(name), &value, &error) != HF_OK)
            return bench_fail("%s", error.message);
        hf_buffer_free(&value);
    }
    return true;
}

static bool get_bare(void *user, int64_t count)
{
    reading *self = user;
    char name[BENCH_NAME_SIZE];
    MDB_val key, value;
    char *copy;

    for (int64_t i = 0; i < count; i++) {
        self->next = (self->next + STRIDE) % KEY_COUNT;
        snprintf(name, sizeof(name), "m" KEY, self->next);
        key.mv_data = name;
        key.mv_size = strlen(name);
        if (!bare_ok(mdb_txn_renew(self->txn)) ||
            !bare_ok(mdb_get(self->txn, self->base.dbi, &key, &value)))
            return false;
        copy = malloc(VALUE_SIZE + 1);
        if (copy == NULL)
            return false;
        memcpy(copy, (char *)value.mv_data + BARE_HEAD, VALUE_SIZE);
        copy[VALUE_SIZE] = '\0';
        mdb_txn_reset(self->txn);
        free(copy);
    }
    return true;
}

bool figure_value_get(const bench_run *run)
{
    const bench_figure figure = {.name = "value_get",
                                 .store = "volatile",
                                 .ceiling = "bare mdb_get",
                                 .threads = 1,
                                 .asked_ratio = 0.5};
    reading both = {0};
    const bench_subject ours = {.run = get_ours, .user = &both, .busy = true};
    const bench_subject raw = {.run = get_bare, .user = &both, .busy = true};
    bench_result result;
    bool ok = open_both(&both, run, "values", (size_t)64 << 20) &&
              fill_values(&both) && bench_compare(run, &ours, &raw, &result);

    if (ok)
        bench_print(run, &figure, &result);
    close_both(&both);
    return ok;
}

/* -------------------------------------------------------------------- pages */

static bool run_script(hf_script *script, const hf_bytes *args, size_t count)
{
    hf_error error = HF_ERROR_INIT;
    hf_bytes key = hf_str("set");
    hf_reply *reply;

    if (hf_script_run(script, &key, 1, args, count, &reply, &error) != HF_OK)
        return bench_fail("%s", error.message);
    hf_reply_free(reply);
    return true;
}

static bool load_script(reading *self, const char *text, hf_script **script)
{
    hf_error error = HF_ERROR_INIT;

    return hf_script_load(self->client, hf_str(text), script, &error) ==
               HF_OK ||
           bench_fail("%s", error.message);
}

static bool fill_set(reading *self)
{
    char from[BENCH_NAME_SIZE], to[BENCH_NAME_SIZE];
    hf_bytes args[2];
    hf_script *script;
    bool ok = load_script(self,
                          "for i = ARGV[1], ARGV[2] - 1 do redis.call('zadd', "
                          "KEYS[1], i, string.format('" MEMBER "', i)) end",
                          &script);

    for (int i = 0; ok && i < self->members; i += MEMBER_BATCH) {
        snprintf(from, sizeof(from), "%d", i);
        snprintf(to, sizeof(to), "%d", i + MEMBER_BATCH);
        args[0] = hf_str(from);
        args[1] = hf_str(to);
        ok = run_script(script, args, 2);
    }
    hf_script_free(script);
    return ok;
}

static bool fill_bare_set(reading *self)
{
    char name[BENCH_NAME_SIZE];
    MDB_txn *txn;

    if (!bare_begin(&self->base, 0, &txn))
        return false;
    for (int i = 0; i < self->members; i++) {
        snprintf(name, sizeof(name), "z-keyid-%08d" MEMBER, i, i);
        if (!bare_put(&self->base, txn, name, "", 0, MDB_APPEND))
            return false;
    }
    if (!bare_ok(mdb_txn_commit(txn)) ||
        !bare_begin(&self->base, MDB_RDONLY, &self->txn))
        return false;
    mdb_txn_reset(self->txn);
    return true;
}

static bool page_by_offset(void *user, int64_t count)
{
    reading *self = user;

    for (int64_t i = 0; i < count; i++) {
        if (!run_script(self->by_offset, NULL, 0))
            return false;
    }
    return true;
}

static bool page_by_score(void *user, int64_t count)
{
    reading *self = user;
    char from[BENCH_NAME_SIZE];
    hf_bytes arg;

    for (int64_t i = 0; i < count; i++) {
        self->next = (self->next + STRIDE) % (self->members - PAGE);
        snprintf(from, sizeof(from), "%d", self->next);
        arg = hf_str(from);
        if (!run_script(self->by_score, &arg, 1))
            return false;
    }
    return true;
}

static bool copy_page(reading *self, int from)
{
    char name[BENCH_NAME_SIZE];
    MDB_cursor_op step = MDB_SET_RANGE;
    MDB_cursor *cursor;
    MDB_val key, value;
    bool ok;

    snprintf(name, sizeof(name), "z-keyid-%08d", from);
    key.mv_data = name;
    key.mv_size = strlen(name);
    if (!bare_ok(mdb_txn_renew(self->txn)) ||
        !bare_ok(mdb_cursor_open(self->txn, self->base.dbi, &cursor)))
        return false;
    ok = true;
    for (int i = 0; ok && i < PAGE; i++) {
        ok = bare_ok(mdb_cursor_get(cursor, &key, &value, step)) &&
             key.mv_size <= sizeof(self->page) / PAGE;
        if (ok)
            memcpy(self->page + i * 64, key.mv_data, key.mv_size);
        step = MDB_NEXT;
    }
    mdb_cursor_close(cursor);
    mdb_txn_reset(self->txn);
    return ok;
}

static bool page_bare(void *user, int64_t count)
{
    reading *self = user;

    for (int64_t i = 0; i < count; i++) {
        self->next = (self->next + STRIDE) % (self->members - PAGE);
        if (!copy_page(self, self->next))
            return false;
    }
    return true;
}

static bool measure_pages(const bench_run *run, reading *both)
{
    const bench_subject offset = {
        .run = page_by_offset, .user = both, .busy = true};
    const bench_subject score = {
        .run = page_by_score, .user = both, .busy = true};
    const bench_subject raw = {.run = page_bare, .user = both, .busy = true};
    bench_figure figure = {.name = "zrange_by_offset",
                           .store = "volatile",
                           .ceiling = "bare cursor",
                           .threads = 1,
                           .asked_us = 20};
    bench_result result;

    if (!bench_compare(run, &offset, &raw, &result))
        return false;
    bench_print(run, &figure, &result);
    if (!bench_compare(run, &score, &raw, &result))
        return false;
    figure.name = "zrange_by_score";
    bench_print(run, &figure, &result);
    return true;
}

bool figure_zrange(const bench_run *run)
{
    reading both = {.members = run->quick ? 10000 : 1000000};
    bool ok =
        open_both(&both, run, "zset", (size_t)512 << 20) &&
        load_script(&both, "return redis.call('zrange', KEYS[1], 0, 19)",
                    &both.by_offset) &&
        load_script(&both,
                    "return redis.call('zrange', KEYS[1], ARGV[1], '+inf', "
                    "'byscore', 'limit', 0, 20)",
                    &both.by_score) &&
        fill_set(&both) && fill_bare_set(&both) && measure_pages(run, &both);

    close_both(&both);
    return ok;
}
