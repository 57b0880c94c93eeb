/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c - the allocator of the library: malloc with a seam for tests.
 *
 * Owns the one counter that decides which allocation fails. Off (negative) it
 * costs a relaxed load.
 */
#include "util/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_after = -1;

static bool must_fail(void)
{
    long left = atomic_load_explicit(&fail_after, memory_order_relaxed);

    while (left >= 0) {
        if (atomic_compare_exchange_weak_explicit(&fail_after, &left, left - 1,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
            return left == 0;
    }
    return false;
}

long hf__alloc_fail_after(long after)
{
    return atomic_exchange_explicit(&fail_after, after, memory_order_relaxed);
}

void *hf__alloc(size_t size)
{
    return must_fail() ? NULL : malloc(size == 0 ? 1 : size);
}

void *hf__calloc(size_t count, size_t size)
{
    size_t total;

    /* calloc() checks too, but a sanitizer takes the try for a bug. */
    if (must_fail() || __builtin_mul_overflow(count, size, &total))
        return NULL;
    return calloc(1, total == 0 ? 1 : total);
}

void *hf__realloc(void *memory, size_t size)
{
    return must_fail() ? NULL : realloc(memory, size == 0 ? 1 : size);
}

void hf__free(void *memory)
{
    free(memory);
}

char *hf__strdup(const char *text)
{
    return hf__memdup(text, strlen(text));
}

char *hf__memdup(const void *data, size_t size)
{
    char *copy;

    if (size == SIZE_MAX)
        return NULL;
    copy = hf__alloc(size + 1);
    if (copy == NULL)
        return NULL;
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}
