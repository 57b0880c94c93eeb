/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - bump allocation from the inline bytes, then from a list of chunks
 * that double in size.
 */
#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/mem.h"

#define ALIGNMENT 16
#define CHUNK_MIN 2048
/* Limit of doubling, and so of wasted memory. */
#define CHUNK_MAX ((size_t)256 * 1024)

struct hf__arena_chunk {
    hf__arena_chunk *older;
    size_t capacity;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void hf__arena_init(hf__arena *arena)
{
    arena->chunks = NULL;
    arena->used = 0;
}

static bool add_chunk(hf__arena *arena, size_t size)
{
    size_t capacity = CHUNK_MIN;
    hf__arena_chunk *chunk;

    if (arena->chunks != NULL && arena->chunks->capacity <= CHUNK_MAX / 2)
        capacity = arena->chunks->capacity * 2;
    else if (arena->chunks != NULL)
        capacity = CHUNK_MAX;
    if (capacity < size)
        capacity = size;
    chunk = hf__alloc(sizeof(*chunk) + capacity);
    if (chunk == NULL)
        return false;
    chunk->older = arena->chunks;
    chunk->capacity = capacity;
    arena->chunks = chunk;
    arena->used = 0;
    return true;
}

void *hf__arena_alloc(hf__arena *arena, size_t size)
{
    size_t capacity = HF__ARENA_INLINE;
    unsigned char *base = arena->inline_bytes;

    if (size > SIZE_MAX / 2)
        return NULL;
    if (size == 0)
        size = 1;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (arena->chunks != NULL)
        capacity = arena->chunks->capacity;
    if (capacity - arena->used < size && !add_chunk(arena, size))
        return NULL;
    if (arena->chunks != NULL)
        base = arena->chunks->bytes;
    arena->used += size;
    return base + (arena->used - size);
}

char *hf__arena_copy(hf__arena *arena, const void *data, size_t size)
{
    char *copy;

    if (size == SIZE_MAX)
        return NULL;
    copy = hf__arena_alloc(arena, size + 1);
    if (copy == NULL)
        return NULL;
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

size_t hf__arena_size(const hf__arena *arena)
{
    size_t size = 0;

    for (const hf__arena_chunk *chunk = arena->chunks; chunk != NULL;
         chunk = chunk->older)
        size += sizeof(*chunk) + chunk->capacity;
    return size;
}

void hf__arena_free(hf__arena *arena)
{
    while (arena->chunks != NULL) {
        hf__arena_chunk *chunk = arena->chunks;

        arena->chunks = chunk->older;
        hf__free(chunk);
    }
    arena->used = 0;
}
