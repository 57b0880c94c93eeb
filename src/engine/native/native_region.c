/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_region.c - what the functions of scripts stand on: memory that is
 * freed all at once, errors, KEYS and ARGV.
 */
#include <stdarg.h>
#include <stdio.h>

#include "engine/native/native_code.h"
#include "util/mem.h"

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

bool hf__native_add_chunk(hf__native *native, size_t size)
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

void hf__native_drop_chunks(hf__native *native)
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

void *hf__native_grow(hf__native *run, size_t wanted)
{
    size_t size = wanted;
    size_t least = 2 * run->chunks->size;
    size_t limit = hf__native_limit(run);

    if (size < least && run->used_size + least <= limit)
        size = least;
    if (size > limit || run->used_size + size > limit) {
        (void)hf__script_undo_memory(run->tx, limit);
        hf__native_stop(run, false);
    }
    if (!hf__native_add_chunk(run, size))
        hf__native_stop(run, true);
    return hf__native_alloc(run, wanted);
}

hf__nv hf__native_copy(hf__native *run, const void *data, size_t size)
{
    char *copy = hf__native_alloc(run, size + 1);

    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return hf__nv_text(copy, size);
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
