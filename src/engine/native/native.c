/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.c - running the C function of a script: its memory, its arguments, and
 * how it ends.
 */
#include "engine/native/native.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/commands/script_end.h"
#include "engine/native/native_code.h"
#include "util/clock.h"
#include "util/mem.h"

/* Kept between runs. */
#define CHUNK_SIZE (size_t)(16u << 10)

/* Memory of a script, in addition to its arguments and what it reads. */
#define MEMORY_MAX (size_t)(64u << 20)

typedef struct hf__native_chunk {
    struct hf__native_chunk *older;
    size_t size;
    _Alignas(16) unsigned char data[];
} hf__native_chunk;

static void use_chunk(hf__native *native, hf__native_chunk *chunk)
{
    native->chunks = chunk;
    native->next = chunk->data;
    native->end = chunk->data + chunk->size;
}

static bool add_chunk(hf__native *native, size_t size)
{
    hf__native_chunk *chunk;

    if (size > SIZE_MAX / 2)
        return false;
    chunk = hf__alloc(sizeof(*chunk) + size);
    if (chunk == NULL)
        return false;
    chunk->older = native->chunks;
    chunk->size = size;
    native->used_size += size;
    use_chunk(native, chunk);
    return true;
}

/* All but the first. */
static void drop_chunks(hf__native *native)
{
    hf__native_chunk *chunk = native->chunks;

    while (chunk->older != NULL) {
        hf__native_chunk *older = chunk->older;

        hf__free(chunk);
        chunk = older;
    }
    native->used_size = chunk->size;
    use_chunk(native, chunk);
}

hf__native *hf__native_new(hf__command_finder *find)
{
    hf__native *native = hf__calloc(1, sizeof(*native));

    if (native == NULL)
        return NULL;
    native->find = find;
    hf__native_find_commands(find);
    if (!add_chunk(native, CHUNK_SIZE)) {
        hf__free(native);
        return NULL;
    }
    return native;
}

void hf__native_free(hf__native *native)
{
    if (native == NULL)
        return;
    drop_chunks(native);
    hf__free(native->chunks);
    hf__free(native);
}

void *hf__native_grow(hf__native *run, size_t wanted)
{
    size_t size = wanted;
    size_t least = 2 * run->chunks->size;
    size_t limit = run->limit_size + 2 * run->tx->largest_size;

    if (size < least && run->used_size + least <= limit)
        size = least;
    if (size > limit || run->used_size + size > limit) {
        (void)hf__script_undo_memory(run->tx, limit);
        hf__native_stop(run, false);
    }
    if (!add_chunk(run, size))
        hf__native_stop(run, true);
    return hf__native_alloc(run, wanted);
}

/* ------------------------------------------------------------------ errors */

void hf__native_stop(hf__native *run, bool no_memory)
{
    run->no_memory = no_memory;
    longjmp(run->unwind, 1);
}

/* The place is said as Lua's machine says it, after Redis. */
void hf__native_raise_reply(hf__native *run, const char *text)
{
    (void)snprintf(run->error, sizeof(run->error),
                   "%.300s script: %s, on @user_script:%d.", text,
                   run->request->script->sha1, run->line);
    hf__native_stop(run, false);
}

void hf__native_raise(hf__native *run, const char *format, ...)
{
    char what[120], text[200];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(what, sizeof(what), format, list);
    va_end(list);
    (void)snprintf(text, sizeof(text), "ERR user_script:%d: %s", run->line,
                   what);
    hf__native_raise_reply(run, text);
}

void hf__native_refuse(hf__native *run)
{
    hf__native_raise(run, "not on an embedded store");
}

/* -------------------------------------------------------------- KEYS, ARGV */

static hf__nv word_by(const hf_bytes *words, size_t count, double at)
{
    size_t index = at >= 1 && at <= (double)count ? (size_t)at : 0;

    return index != 0 && (double)index == at ? hf__nv_bytes(words[index - 1])
                                             : hf__nv_nil();
}

hf__nv hf__native_keys_by(hf__native *run, double at)
{
    return word_by(run->keys, run->key_count, at);
}

hf__nv hf__native_argv_by(hf__native *run, double at)
{
    return word_by(run->args, run->arg_count, at);
}

static hf__nv as_table(hf__native *run, const hf_bytes *words, size_t count)
{
    hf__native_table *table = hf__native_table_new(run, count);

    for (size_t i = 0; i < count; i++)
        table->items[i] = hf__nv_bytes(words[i]);
    table->count = count;
    return (hf__nv){.tag = HF__NV_TABLE, .table = table};
}

hf__nv hf__native_keys(hf__native *run)
{
    return as_table(run, run->keys, run->key_count);
}

hf__nv hf__native_argv(hf__native *run)
{
    return as_table(run, run->args, run->arg_count);
}

/* ------------------------------------------------------------------ limits */

/* Called by commands. */
static void check_time(hf__tx *tx, size_t claimed)
{
    hf__native *native = tx->check_user;
    const hf__request *request = native->request;
    int64_t now_us = hf__clock_boot_us();
    bool late = now_us / 1000 >= request->deadline_ms;
    int64_t used_us;

    (void)claimed;
    tx->spent_ns = 0;
    if (!late && now_us < native->check_us)
        return;
    used_us = hf__clock_thread_us() - native->began_us;
    native->check_us = now_us + native->budget_ms * 1000 - used_us;
    if (late || used_us >= native->budget_ms * 1000)
        (void)hf__script_undo_time(tx, request, late, used_us / 1000,
                                   native->budget_ms);
}

static void set_limits(hf__native *native, int64_t budget_ms)
{
    hf__request *request = native->request;
    hf__tx *tx = native->tx;
    size_t size = 0;

    for (size_t i = 0; i < request->word_count; i++)
        size += request->words[i].size;
    native->limit_size = MEMORY_MAX + 2 * size;
    tx->largest_size = 0;
    native->budget_ms = request->script->undoes ? budget_ms : 0;
    if (native->budget_ms == 0)
        return;
    native->began_us = hf__clock_thread_us() - request->tries.used_us;
    native->check_us =
        hf__clock_boot_us() + budget_ms * 1000 - request->tries.used_us;
    tx->check = check_time;
    tx->check_user = native;
}

static void end_limits(hf__native *native)
{
    if (native->budget_ms == 0)
        return;
    native->tx->check = NULL;
    hf__script_note_try(native->tx, native->request,
                        hf__clock_thread_us() - native->began_us);
}

/* ----------------------------------------------------------------- running */

/* The script has returned an error: its reply says which. */
static void take_error(hf__native *native)
{
    hf_reply *reply = &native->request->reply;

    (void)snprintf(native->error, sizeof(native->error), "%s",
                   reply->bytes.data);
    hf__reply_set_nil(reply);
}

static void end_run(hf__native *native)
{
    hf__tx *tx = native->tx;

    if (tx->fatal != HF_OK)
        return;
    if (native->no_memory)
        hf__tx_no_memory(tx);
    else if (native->error[0] != '\0')
        hf__script_fail(tx, native->request, native->error);
}

void hf__native_run(hf__native *native, hf__tx *tx, hf__request *request,
                    int64_t budget_ms)
{
    hf__native_function *function =
        hf__native_functions[request->script->native];

    native->tx = tx;
    native->request = request;
    native->keys = request->words;
    native->key_count = request->key_count;
    native->args = request->words + request->key_count;
    native->arg_count = request->word_count - request->key_count;
    native->reads = request->script->reads;
    native->no_memory = false;
    native->error[0] = '\0';
    set_limits(native, budget_ms);
    if (setjmp(native->unwind) == 0) {
        if (!hf__native_reply(&request->reply, function(native),
                              &request->arena))
            native->no_memory = true;
        else if (request->reply.kind == HF_REPLY_ERROR)
            take_error(native);
    }
    end_run(native);
    end_limits(native);
    drop_chunks(native);
}
