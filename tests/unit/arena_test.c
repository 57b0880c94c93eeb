/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_test.c - memory that is freed all at once, and replies allocated in it.
 */
#include <string.h>

#include "store/reply.h"
#include "support/test.h"
#include "util/arena.h"
#include "util/mem.h"

TEST(arena_first_bytes_cost_no_allocation)
{
    hf__arena arena;

    hf__arena_init(&arena);
    hf__alloc_fail_after(0);
    assert_non_null(hf__arena_alloc(&arena, HF__ARENA_INLINE / 2));
    assert_non_null(hf__arena_alloc(&arena, HF__ARENA_INLINE / 2));
    assert_null(hf__arena_alloc(&arena, 1));
    hf__alloc_fail_after(-1);
    assert_null(arena.chunks);
    hf__arena_free(&arena);
}

TEST(arena_pieces_are_aligned_and_apart)
{
    enum { COUNT = 500 };
    unsigned char *pieces[COUNT];
    hf__arena arena;

    hf__arena_init(&arena);
    for (size_t i = 0; i < COUNT; i++) {
        pieces[i] = hf__arena_alloc(&arena, i);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i & 255), i);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i; k++)
            assert_int_equal(pieces[i][k], i & 255);
    }
    hf__arena_free(&arena);
}

TEST(arena_takes_a_piece_larger_than_any_chunk)
{
    hf__arena arena;
    char *piece;

    hf__arena_init(&arena);
    piece = hf__arena_alloc(&arena, 5u << 20);
    assert_non_null(piece);
    memset(piece, 1, 5u << 20);
    assert_non_null(hf__arena_alloc(&arena, 100));
    hf__arena_free(&arena);
}

TEST(arena_refuses_an_impossible_size)
{
    hf__arena arena;

    hf__arena_init(&arena);
    assert_null(hf__arena_alloc(&arena, SIZE_MAX));
    assert_null(hf__arena_alloc(&arena, SIZE_MAX - 15));
    assert_null(hf__arena_copy(&arena, "x", SIZE_MAX));
    assert_non_null(hf__arena_alloc(&arena, 1));
    hf__arena_free(&arena);
}

TEST(arena_copy_puts_a_nul_behind)
{
    hf__arena arena;

    hf__arena_init(&arena);
    assert_string_equal(hf__arena_copy(&arena, "lease", 3), "lea");
    assert_string_equal(hf__arena_copy(&arena, NULL, 0), "");
    assert_memory_equal(hf__arena_copy(&arena, "a\0b", 3), "a\0b", 4);
    hf__arena_free(&arena);
}

TEST(arena_can_be_used_again_after_free)
{
    hf__arena arena;

    hf__arena_init(&arena);
    for (int i = 0; i < 3; i++) {
        assert_non_null(hf__arena_alloc(&arena, 10000));
        hf__arena_free(&arena);
        assert_null(arena.chunks);
    }
    assert_ptr_equal(hf__arena_alloc(&arena, 1), arena.inline_bytes);
    hf__arena_free(&arena);
}

TEST(reply_bytes_are_copied_with_a_nul)
{
    char text[] = "owner";
    hf__arena arena;
    hf_reply reply;

    hf__arena_init(&arena);
    assert_true(hf__reply_set_bytes(&reply, HF_REPLY_STRING, text, 5, &arena));
    memset(text, 'x', 5);
    assert_int_equal(reply.kind, HF_REPLY_STRING);
    assert_int_equal(reply.bytes.size, 5);
    assert_string_equal(reply.bytes.data, "owner");
    hf__arena_free(&arena);
}

TEST(reply_array_begins_with_nils)
{
    hf__arena arena;
    hf_reply reply;

    hf__arena_init(&arena);
    memset(arena.inline_bytes, 0xff, sizeof(arena.inline_bytes));
    assert_true(hf__reply_set_array(&reply, 3, &arena));
    assert_int_equal(reply.kind, HF_REPLY_ARRAY);
    assert_int_equal(reply.array.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(reply.array.items[i].kind, HF_REPLY_NIL);
    assert_true(hf__reply_set_array(&reply, 0, &arena));
    assert_int_equal(reply.array.count, 0);
    hf__arena_free(&arena);
}

TEST(reply_is_untouched_when_memory_runs_out)
{
    static const char big[4096];
    hf__arena arena;
    hf_reply reply;

    hf__arena_init(&arena);
    hf__reply_set_integer(&reply, 42);
    hf__alloc_fail_after(0);
    assert_false(
        hf__reply_set_bytes(&reply, HF_REPLY_STRING, big, sizeof(big), &arena));
    hf__alloc_fail_after(0);
    assert_false(hf__reply_set_array(&reply, 1000, &arena));
    hf__alloc_fail_after(-1);
    assert_false(hf__reply_set_array(&reply, SIZE_MAX / 8, &arena));
    assert_int_equal(reply.kind, HF_REPLY_INTEGER);
    assert_int_equal(reply.integer, 42);
    hf__arena_free(&arena);
}
