/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_test.c - options structs of callers older and newer than the library.
 */
#include <string.h>

#include "support/test.h"
#include "util/options.h"

/* One struct through three releases; ours is the second. */
typedef struct first {
    size_t struct_size;
    int64_t ttl_ms;
} first;

typedef struct ours {
    size_t struct_size;
    int64_t ttl_ms;
    int64_t wait_ms;
} ours;

typedef struct newer {
    size_t struct_size;
    int64_t ttl_ms;
    int64_t wait_ms;
    int64_t safety_ms;
} newer;

static hf_status load(ours *to, const void *from, hf_error *err)
{
    memset(to, 0x5a, sizeof(*to));
    return hf__options_load(to, sizeof(*to), sizeof(first), from, "test", err);
}

TEST(options_null_means_all_defaults)
{
    static const ours zero;
    ours to;

    assert_int_equal(load(&to, NULL, NULL), HF_OK);
    assert_memory_equal(&to, &zero, sizeof(to));
}

TEST(options_of_our_version_are_copied)
{
    ours from = {sizeof(from), 1, 2};
    ours to;

    assert_int_equal(load(&to, &from, NULL), HF_OK);
    assert_memory_equal(&to, &from, sizeof(to));
}

TEST(options_of_an_older_caller_are_filled_with_zeros)
{
    first from = {sizeof(from), 1};
    ours to;

    assert_int_equal(load(&to, &from, NULL), HF_OK);
    assert_int_equal(to.ttl_ms, 1);
    assert_int_equal(to.wait_ms, 0);
}

TEST(options_of_a_newer_caller_pass_if_unused)
{
    newer from = {sizeof(from), 1, 2, 0};
    ours to;

    assert_int_equal(load(&to, &from, NULL), HF_OK);
    assert_int_equal(to.ttl_ms, 1);
    assert_int_equal(to.wait_ms, 2);
}

TEST(options_that_we_do_not_know_are_refused)
{
    newer from = {sizeof(from), 1, 2, 3};
    hf_error err = HF_ERROR_INIT;
    ours to;

    assert_int_equal(load(&to, &from, &err), HF_UNSUPPORTED);
    assert_non_null(strstr(err.message, "test"));
}

TEST(options_without_struct_size_are_refused)
{
    static const size_t sizes[] = {0, 1, sizeof(first) - 1, SIZE_MAX};
    hf_error err = HF_ERROR_INIT;
    ours from = {0, 1, 2};
    ours to, before;

    memset(&before, 0x5a, sizeof(before));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        from.struct_size = sizes[i];
        assert_int_equal(load(&to, &from, &err), HF_INVALID);
        assert_non_null(strstr(err.message, "struct_size"));
        assert_memory_equal(&to, &before, sizeof(to));
    }
}
