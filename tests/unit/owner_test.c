/* SPDX-License-Identifier: Apache-2.0 */
/* owner_test.c - owner ids: their form, and that none is drawn twice. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/lock.h"
#include "lease/owner.h"
#include "support/test.h"
#include "util/clock.h"

#define THREADS 4
#define DRAWS 20000

typedef struct drawer {
    hf__owners *owners;
    char (*drawn)[HF_OWNER_SIZE];
} drawer;

static void *draw(void *user)
{
    drawer *self = user;

    for (size_t i = 0; i < DRAWS; i++)
        hf__owner_draw(self->owners, hf__clock_boot_ms(), self->drawn[i]);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, HF_OWNER_SIZE);
}

TEST(owner_ids_drawn_by_four_threads_all_differ)
{
    size_t count = (size_t)THREADS * DRAWS;
    char(*all)[HF_OWNER_SIZE] = calloc(count, sizeof(*all));
    pthread_t threads[THREADS];
    drawer drawers[THREADS];
    hf__owners owners;

    assert_non_null(all);
    hf__owners_init(&owners);
    for (size_t i = 0; i < THREADS; i++) {
        drawers[i].owners = &owners;
        drawers[i].drawn = all + i * DRAWS;
        assert_int_equal(pthread_create(&threads[i], NULL, draw, &drawers[i]),
                         0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count; i++) {
        assert_true(hf__owner_is_ours(hf_str(all[i])));
        assert_memory_equal(all[i], owners.client, HF__CLIENT_ID_SIZE - 1);
        assert_true(i == 0 || compare(all[i - 1], all[i]) < 0);
    }
    free(all);
}

TEST(owner_id_tells_when_it_was_drawn)
{
    char owner[HF_OWNER_SIZE];
    hf__owners owners;

    hf__owners_init(&owners);
    owners.opened_ms -= 123456789; /* opened long ago */
    hf__owner_draw(&owners, hf__clock_boot_ms(), owner);
    assert_in_range(hf__owner_drawn_ms(hf_str(owner)), 123456789,
                    123456789 + 60000);
}

TEST(owner_ids_of_other_libraries_are_not_ours)
{
    static const char *const foreign[] = {
        "",
        "a",
        "5d0b7d2c1a3e4f60918273645546372f",         /* redis-py */
        "285475da-9152-4c83-822a-67ee2f116a79:52",  /* Redisson */
        "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e", /* node-redlock */
        "wBIqQbz1uzLIXu0bGFbzlw==",                 /* redsync */
        "0123456789abcdef-0123456789abcd",          /* too short */
        "0123456789abcdef-0123456789abcdef",        /* too long */
        "0123456789abcdef_0123456789abcde",
        "0123456789ABCDEF-0123456789abcde",
        "0123456789abcdef-0123456789abcdg",
        "0123456789abcde--0123456789abcde",
    };

    assert_true(hf__owner_is_ours(hf_str("0123456789abcdef-0123456789abcde")));
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        assert_false(hf__owner_is_ours(hf_str(foreign[i])));
    assert_false(hf__owner_is_ours(hf_view(NULL, 0)));
}
