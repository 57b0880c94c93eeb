/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.c - running the C function of a script: its arguments, its limits, and
 * how it ends.
 */
#include "engine/native/native.h"

#include <stdio.h>

#include "engine/native/native_code.h"
#include "util/mem.h"

/* Kept between runs. */
#define CHUNK_SIZE (size_t)(16u << 10)

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

/* Called by commands, with the bytes that they have collected. */
static void check_limits(hf__tx *tx, size_t claimed)
{
    hf__native *native = tx->check_user;
    size_t limit = hf__native_limit(native);

    tx->spent_ns = 0;
    if (claimed > limit - native->used_size)
        (void)hf__script_undo_memory(tx, limit);
    else if (hf__script_time_is_up(&native->time))
        (void)hf__script_undo_time(tx, native->request, &native->time);
}

static void set_limits(hf__native *native, int64_t budget_ms)
{
    hf__request *request = native->request;
    hf__tx *tx = native->tx;
    size_t size = 0;

    for (size_t i = 0; i < request->word_count; i++)
        size += request->words[i].size;
    native->words_size = size;
    tx->largest_size = 0;
    if (!request->script->undoes)
        return;
    hf__script_time_begin(&native->time, budget_ms);
    hf__script_time_join(&native->time, request);
    tx->check = check_limits;
    tx->check_user = native;
}

static void end_limits(hf__native *native)
{
    if (native->tx->check == NULL)
        return;
    native->tx->check = NULL;
    hf__script_note_try(native->tx, native->request,
                        hf__script_time_used_us(&native->time));
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
