/* SPDX-License-Identifier: Apache-2.0 */
/* name_set_test.c - which names are in a set, while its table grows. */
#include "util/name_set.h"

#include <stdio.h>

#include "support/test.h"

#define NAMES 3000

static hf_bytes name_of(char text[16], int i)
{
    return hf_view(text, (size_t)snprintf(text, 16, "name:%d", i));
}

TEST(name_is_fresh_once)
{
    hf__name_set set = {.count = 0};
    char text[16];
    bool fresh;

    assert_false(hf__name_set_has(&set, name_of(text, 0)));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < NAMES; i++) {
            assert_int_equal(hf__name_set_has(&set, name_of(text, i)), round);
            assert_int_equal(
                hf__name_set_add(&set, name_of(text, i), &fresh, NULL), HF_OK);
            assert_int_equal(fresh, !round);
        }
    }
    assert_int_equal(set.count, NAMES);
    assert_false(hf__name_set_has(&set, name_of(text, NAMES)));
    hf__name_set_done(&set);
}
