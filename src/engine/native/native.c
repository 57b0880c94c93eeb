/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.c - running the C function of a script: its arguments, its limits, and
 * how it ends.
 */
#include "engine/native/native.h"

#include <stdio.h>

#include "engine/commands/script_end.h"
#include "engine/native/native_code.h"
#include "util/clock.h"
#include "util/mem.h"

/* Kept between runs. */
#define CHUNK_SIZE (size_t)(16u << 10)

/* Memory of a script, in addition to its arguments and what it reads. */
#define MEMORY_MAX (size_t)(64u << 20)

hf__native *hf__native_new(hf__command_finder *find)
{
    hf__native *native = hf__calloc(1, sizeof(*native));

    if (native == NULL)
        return NULL;
    native->find = find;
    hf__native_find_commands(find, hf__native_names);
    if (!hf__native_add_chunk(native, CHUNK_SIZE)) {
        hf__free(native);
        return NULL;
    }
    return native;
}

void hf__native_free(hf__native *native)
{
    if (native == NULL)
        return;
    hf__native_drop_chunks(native);
    hf__free(native->chunks);
    hf__free(native);
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
    hf__native_drop_chunks(native);
}
