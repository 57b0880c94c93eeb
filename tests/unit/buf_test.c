/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf_test.c - the growable run of bytes.
 */
#include <string.h>

#include "support/test.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/rand.h"

TEST(buf_gives_back_what_was_appended)
{
    hf__buf buf;

    hf__buf_init(&buf, 1000);
    assert_int_equal(hf__buf_size(&buf), 0);
    assert_true(hf__buf_append(&buf, "hold", 4));
    assert_true(hf__buf_append(&buf, "", 0));
    assert_true(hf__buf_append(&buf, "fast", 4));
    assert_int_equal(hf__buf_size(&buf), 8);
    assert_memory_equal(hf__buf_front(&buf), "holdfast", 8);
    hf__buf_consume(&buf, 4);
    assert_int_equal(hf__buf_size(&buf), 4);
    assert_memory_equal(hf__buf_front(&buf), "fast", 4);
    hf__buf_done(&buf);
}

TEST(buf_refuses_to_pass_its_limit)
{
    hf__buf buf;

    hf__buf_init(&buf, 10);
    assert_true(hf__buf_append(&buf, "0123456789", 10));
    assert_false(hf__buf_append(&buf, "x", 1));
    assert_null(hf__buf_reserve(&buf, SIZE_MAX));
    assert_memory_equal(hf__buf_front(&buf), "0123456789", 10);
    assert_int_equal(hf__buf_size(&buf), 10);
    /* Consumed bytes do not count. */
    hf__buf_consume(&buf, 3);
    assert_true(hf__buf_append(&buf, "abc", 3));
    assert_false(hf__buf_append(&buf, "x", 1));
    assert_memory_equal(hf__buf_front(&buf), "3456789abc", 10);
    hf__buf_done(&buf);
}

TEST(buf_reserve_of_nothing_gives_a_place)
{
    hf__buf buf;

    hf__buf_init(&buf, 10);
    assert_non_null(hf__buf_reserve(&buf, 0));
    hf__buf_done(&buf);
}

TEST(buf_memory_stays_below_the_limit)
{
    hf__buf buf;

    hf__buf_init(&buf, 1000);
    for (int i = 0; i < 1000; i++)
        assert_true(hf__buf_append(&buf, "x", 1));
    assert_true(buf.capacity <= 1000);
    hf__buf_done(&buf);
}

/* A reader that keeps up must not make the buffer grow. */
TEST(buf_reuses_the_room_of_consumed_bytes)
{
    hf__buf buf;

    hf__buf_init(&buf, 1u << 20);
    for (int i = 0; i < 10000; i++) {
        assert_true(hf__buf_append(&buf, "0123456789", 10));
        hf__buf_consume(&buf, i == 0 ? 3 : 10);
    }
    assert_int_equal(hf__buf_size(&buf), 7);
    assert_true(buf.capacity <= 1024);
    hf__buf_done(&buf);
}

TEST(buf_clear_keeps_little_memory)
{
    hf__buf buf;

    hf__buf_init(&buf, 1u << 20);
    assert_non_null(hf__buf_reserve(&buf, 1000));
    hf__buf_added(&buf, 0);
    hf__buf_clear(&buf);
    assert_true(buf.capacity >= 1000);
    assert_non_null(hf__buf_reserve(&buf, 100000));
    hf__buf_clear(&buf);
    assert_int_equal(buf.capacity, 0);
    assert_true(hf__buf_append(&buf, "again", 5));
    hf__buf_done(&buf);
}

TEST(buf_agrees_with_a_model)
{
    enum { LIMIT = 3000 };
    unsigned char model[LIMIT];
    size_t model_size = 0;
    hf__buf buf;

    hf__buf_init(&buf, LIMIT);
    for (int step = 0; step < 20000; step++) {
        size_t size = (size_t)hf__rand_between(0, 400);

        if (hf__rand_between(0, 1) == 0) {
            bool fits = model_size + size <= LIMIT;
            unsigned char bytes[400];

            memset(bytes, step & 255, size);
            assert_int_equal(hf__buf_append(&buf, bytes, size), fits);
            if (fits) {
                memcpy(model + model_size, bytes, size);
                model_size += size;
            }
        } else {
            size = size < model_size ? size : model_size;
            hf__buf_consume(&buf, size);
            model_size -= size;
            memmove(model, model + size, model_size);
        }
        assert_int_equal(hf__buf_size(&buf), model_size);
        if (model_size > 0)
            assert_memory_equal(hf__buf_front(&buf), model, model_size);
    }
    hf__buf_done(&buf);
}

TEST(buf_is_untouched_when_memory_runs_out)
{
    hf__buf buf;

    hf__buf_init(&buf, 1u << 20);
    assert_true(hf__buf_append(&buf, "kept", 4));
    hf__alloc_fail_after(0);
    assert_null(hf__buf_reserve(&buf, 100000));
    hf__alloc_fail_after(-1);
    assert_int_equal(hf__buf_size(&buf), 4);
    assert_memory_equal(hf__buf_front(&buf), "kept", 4);
    hf__buf_done(&buf);
}
