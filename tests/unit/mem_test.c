/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_test.c - the allocator and its hook: each allocation of a task fails
 * once, and the task reports it and leaks nothing (which the sanitizers
 * detect).
 */
#include <string.h>

#include "store/reply.h"
#include "support/test.h"
#include "util/arena.h"
#include "util/buf.h"
#include "util/heap.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/url.h"

/* More allocations than any task below needs. */
#define ALLOCATIONS_MAX 100

TEST(mem_seam_fails_exactly_one_allocation)
{
    void *memory[5];

    hf__alloc_fail_after(2);
    for (size_t i = 0; i < 5; i++) {
        memory[i] = hf__alloc(8);
        assert_int_equal(memory[i] == NULL, i == 2);
    }
    for (size_t i = 0; i < 5; i++)
        hf__free(memory[i]);
    hf__alloc_fail_after(0);
    hf__alloc_fail_after(-1);
    memory[0] = hf__alloc(8);
    assert_non_null(memory[0]);
    hf__free(memory[0]);
}

TEST(mem_every_form_of_allocation_can_fail)
{
    char *memory = hf__strdup("kept");

    assert_non_null(memory);
    hf__alloc_fail_after(0);
    assert_null(hf__alloc(1));
    hf__alloc_fail_after(0);
    assert_null(hf__calloc(1, 1));
    hf__alloc_fail_after(0);
    assert_null(hf__realloc(memory, 100));
    assert_string_equal(memory, "kept");
    hf__alloc_fail_after(0);
    assert_null(hf__strdup("x"));
    hf__alloc_fail_after(0);
    assert_null(hf__memdup("x", 1));
    hf__alloc_fail_after(-1);
    hf__free(memory);
}

TEST(mem_size_zero_gives_memory)
{
    void *memory = hf__alloc(0);

    assert_non_null(memory);
    memory = hf__realloc(memory, 0);
    assert_non_null(memory);
    hf__free(memory);
    memory = hf__calloc(0, 8);
    assert_non_null(memory);
    hf__free(memory);
    hf__free(NULL);
}

TEST(mem_overflow_is_refused)
{
    assert_null(hf__calloc(SIZE_MAX / 2, 4));
    assert_null(hf__memdup("x", SIZE_MAX));
}

TEST(mem_copies_end_with_a_nul)
{
    char *copy = hf__memdup("a\0b", 3);

    assert_non_null(copy);
    assert_memory_equal(copy, "a\0b", 4);
    hf__free(copy);
    copy = hf__memdup(NULL, 0);
    assert_string_equal(copy, "");
    hf__free(copy);
}

static bool work_on_url(void)
{
    hf__url url;
    hf_status status = hf__url_parse("redis://a:b@c:1/d?e=f", &url, NULL);

    assert_true(status == HF_OK || status == HF_NO_MEMORY);
    if (status == HF_OK)
        hf__url_done(&url);
    return status == HF_OK;
}

static bool work_on_buf(void)
{
    hf__buf buf;
    bool done = true;
    size_t size = 0;

    hf__buf_init(&buf, 100000);
    for (int i = 0; i < 1000 && done; i++) {
        done = hf__buf_append(&buf, "0123456789", 10);
        if (done)
            size += 10;
        assert_int_equal(hf__buf_size(&buf), size);
    }
    hf__buf_done(&buf);
    return done;
}

static bool work_on_arena(void)
{
    static const char bytes[700];
    hf__arena arena;
    hf_reply reply;
    bool done;

    hf__arena_init(&arena);
    done = hf__reply_set_array(&reply, 30, &arena);
    for (size_t i = 0; i < 30 && done; i++)
        done = hf__reply_set_bytes(&reply.array.items[i], HF_REPLY_STRING,
                                   bytes, sizeof(bytes), &arena);
    hf__arena_free(&arena);
    return done;
}

static bool work_on_heap(void)
{
    hf__heap heap;
    bool done;

    hf__heap_init(&heap);
    done = hf__heap_reserve(&heap, 10) && hf__heap_reserve(&heap, 1000);
    hf__heap_done(&heap);
    return done;
}

static void do_nothing(void *user)
{
    (void)user;
}

static bool work_on_alarm(void)
{
    hf__loop *loop = hf__loop_new();
    hf__alarm *alarm = NULL;
    hf_status status;

    if (loop == NULL)
        return false;
    assert_int_equal(hf__loop_start(loop, NULL), HF_OK);
    status = hf__alarm_new(loop, do_nothing, NULL, &alarm, NULL);
    assert_true(status == HF_OK || status == HF_NO_MEMORY);
    assert_int_equal(alarm != NULL, status == HF_OK);
    hf__alarm_free(alarm);
    hf__loop_free(loop);
    return status == HF_OK;
}

/* At least `least` failures, then success once none is injected. */
static void fail_each(bool (*work)(void), long least)
{
    long after = 0;

    for (; after < ALLOCATIONS_MAX; after++) {
        bool done;

        hf__alloc_fail_after(after);
        done = work();
        hf__alloc_fail_after(-1);
        if (done)
            break;
    }
    assert_in_range(after, least, ALLOCATIONS_MAX - 1);
}

TEST(mem_each_failure_is_reported)
{
    fail_each(work_on_url, 1);
    fail_each(work_on_buf, 5);
    fail_each(work_on_arena, 3);
    fail_each(work_on_heap, 2);
    fail_each(work_on_alarm, 2);
}
