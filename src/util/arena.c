/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - bump allocation from the inline bytes, then from a list of chunks
 * that double in size. A large piece is a chunk whose bytes are an allocation
 * of their own, while its head is in an older one.
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
    unsigned char *bytes; /* `here`, or a large piece */
    _Alignas(ALIGNMENT) unsigned char here[];
};

void hf__arena_init(hf__arena *arena)
{
    arena->chunks = NULL;
    arena->used = 0;
}

/* As the newest. */
static void push_chunk(hf__arena *arena, hf__arena_chunk *chunk,
                       size_t capacity)
{
    chunk->older = arena->chunks;
    chunk->capacity = capacity;
    arena->chunks = chunk;
    arena->used = 0;
}

static bool add_piece(hf__arena *arena, size_t size)
{
    hf__arena_chunk *chunk = hf__arena_alloc(arena, sizeof(*chunk));

    if (chunk == NULL)
        return false;
    chunk->bytes = hf__alloc(size);
    if (chunk->bytes == NULL)
        return false;
    push_chunk(arena, chunk, size);
    return true;
}

static bool add_chunk(hf__arena *arena, size_t size)
{
    size_t capacity = CHUNK_MIN;
    hf__arena_chunk *chunk;

    if (size >= HF__ARENA_PIECE_MIN)
        return add_piece(arena, size);
    if (arena->chunks != NULL && arena->chunks->capacity <= CHUNK_MAX / 2)
        capacity = arena->chunks->capacity * 2;
    else if (arena->chunks != NULL)
        capacity = CHUNK_MAX;
    if (capacity < size)
        capacity = size;
    chunk = hf__alloc(sizeof(*chunk) + capacity);
    if (chunk == NULL)
        return false;
    chunk->bytes = chunk->here;
    push_chunk(arena, chunk, capacity);
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
    if ((capacity - arena->used < size || size >= HF__ARENA_PIECE_MIN) &&
        !add_chunk(arena, size))
        return NULL;
    if (arena->chunks != NULL)
        base = arena->chunks->bytes;
    arena->used += size;
    return base + (arena->used - size);
}

void *hf__arena_take(hf__arena *arena, const void *piece)
{
    hf__arena_chunk **link = &arena->chunks;
    hf__arena_chunk *chunk;

    while (*link != NULL && (*link)->bytes != piece)
        link = &(*link)->older;
    chunk = *link;
    if (chunk == NULL || chunk->bytes == chunk->here)
        return NULL;
    *link = chunk->older;
    /* How much of the one before was used is not known any more. */
    if (link == &arena->chunks)
        arena->used =
            chunk->older != NULL ? chunk->older->capacity : HF__ARENA_INLINE;
    return chunk->bytes;
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

void hf__arena_free_chunks(hf__arena *arena)
{
    while (arena->chunks != NULL) {
        hf__arena_chunk *chunk = arena->chunks;

        arena->chunks = chunk->older;
        hf__free(chunk->bytes == chunk->here ? (void *)chunk : chunk->bytes);
    }
}
