/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_name_test.c - records are in the order of memcmp(), a name before
 * those that it begins. */
#include <stdlib.h>
#include <string.h>

#include "engine/files/name.h"
#include "support/test.h"

#define SIZE_MAX_HERE 40

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

static void expect_order(const unsigned char *one, size_t one_size,
                         const unsigned char *other, size_t other_size)
{
    size_t size = one_size < other_size ? one_size : other_size;
    MDB_val a = {one_size, (void *)(uintptr_t)one};
    MDB_val b = {other_size, (void *)(uintptr_t)other};
    int order = memcmp(one, other, size);

    if (order == 0)
        order = (one_size > other_size) - (one_size < other_size);
    assert_int_equal(sign(hf__name_compare(&a, &b)), sign(order));
    assert_int_equal(sign(hf__name_compare(&b, &a)), -sign(order));
}

/* All sizes, equal up to each place, and with a byte of each kind there. */
TEST(name_compare_is_in_the_order_of_memcmp)
{
    static const unsigned char bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    unsigned char one[SIZE_MAX_HERE], other[SIZE_MAX_HERE];

    for (size_t a = 0; a <= SIZE_MAX_HERE; a++) {
        for (size_t b = 0; b <= SIZE_MAX_HERE; b++) {
            memset(one, 'n', sizeof(one));
            memset(other, 'n', sizeof(other));
            expect_order(one, a, other, b);
            for (size_t at = 0; at < a && at < b; at++) {
                memset(other, 'z', sizeof(other));
                memset(other, 'n', at);
                for (size_t i = 0; i < sizeof(bytes); i++) {
                    other[at] = bytes[i];
                    expect_order(one, a, other, b);
                }
            }
        }
    }
}

/* Names at any address, of the size of their memory: a sanitizer sees a byte
 * that is read beyond. */
TEST(name_compare_reads_names_at_any_address)
{
    enum { OFFSETS = 8, LONGEST = 511 };

    for (size_t size = 0; size <= LONGEST; size += 7) {
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            unsigned char *one = malloc(offset + size);
            unsigned char *other = malloc(size + 1);

            assert_non_null(other);
            assert_true(one != NULL || offset + size == 0);
            memset(other, 'n', size + 1);
            if (size > 0)
                memset(one + offset, 'n', size);
            expect_order(one + offset, size, other, size);
            expect_order(one + offset, size, other, size + 1);
            if (size > 0) {
                other[size - 1] = 'o';
                expect_order(one + offset, size, other, size);
            }
            free(one);
            free(other);
        }
    }
}
