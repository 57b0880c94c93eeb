/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is freed all at once. The first bytes come from the
 * arena itself, so that a small reply costs no allocation.
 */
#ifndef HF__UTIL_ARENA_H
#define HF__UTIL_ARENA_H

#include <stddef.h>

/* Enough for the reply of each of our own scripts. */
#define HF__ARENA_INLINE 512

/* A piece of this size or more is an allocation of its own, which can be taken
 * out: a copy would cost more. */
#define HF__ARENA_PIECE_MIN ((size_t)64 * 1024)

typedef struct hf__arena_chunk hf__arena_chunk;

typedef struct hf__arena {
    hf__arena_chunk *chunks; /* newest first */
    size_t used;             /* of the newest chunk, or of inline_bytes */
    _Alignas(16) unsigned char inline_bytes[HF__ARENA_INLINE];
} hf__arena;

/* Only resets the counters; the inline bytes are not written. */
void hf__arena_init(hf__arena *arena);

/* 16-byte aligned; NULL when out of memory. */
void *hf__arena_alloc(hf__arena *arena, size_t size);

/* Copy bytes into the arena and append a NUL; NULL: out of memory. */
char *hf__arena_copy(hf__arena *arena, const void *data, size_t size);

/* Take a piece of HF__ARENA_PIECE_MIN bytes or more out of the arena: the
 * caller owns it, and frees it by hf__free(). NULL: it is none. */
void *hf__arena_take(hf__arena *arena, const void *piece);

/* Bytes that it has allocated. */
size_t hf__arena_size(const hf__arena *arena);

/* Free everything; the arena can be used again. Most have no chunk. */
void hf__arena_free_chunks(hf__arena *arena);
static inline void hf__arena_free(hf__arena *arena)
{
    if (arena->chunks != NULL)
        hf__arena_free_chunks(arena);
    arena->used = 0;
}

#endif
