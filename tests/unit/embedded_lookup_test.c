/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_lookup_test.c - commands that read several keys, or elements of a
 * large hash or sorted set: neighbours, scattered ones, missing ones, the same
 * one twice.
 */
#include "embedded_store.h"

#define COUNT 600
#define LONG_SIZE 600 /* beyond what a record's name can have */

EACH_TEST_WITH(open_volatile_place, remove_state_place);

/* Every third is long; those of COUNT and more do not exist. */
static void make_name(char *name, size_t index)
{
    (void)snprintf(name, LONG_SIZE + 8, "f%04zu", index);
    if (index % 3 == 0) {
        memset(name + 5, 'x', LONG_SIZE - 5);
        name[LONG_SIZE] = '\0';
    }
}

static void fill(hf__store *store)
{
    char name[LONG_SIZE + 8], line[LONG_SIZE + 64];

    for (size_t i = 0; i < COUNT; i++) {
        make_name(name, i * 7 % COUNT);
        (void)snprintf(line, sizeof(line), "hset h %s v%zu", name,
                       i * 7 % COUNT);
        expect(store, line, "i:1");
        (void)snprintf(line, sizeof(line), "zadd z %zu %s", i * 7 % COUNT,
                       name);
        expect(store, line, "i:1");
        (void)snprintf(line, sizeof(line), "set %s k%zu", name, i * 7 % COUNT);
        expect(store, line, "+:OK");
    }
}

/* Elements first, first + step, ...; `key` NULL: keys. */
static void expect_several(hf__store *store, const char *command,
                           const char *key, const char *before, size_t first,
                           size_t step, size_t count)
{
    static char names[WORD_MAX][LONG_SIZE + 8];
    hf_bytes words[WORD_MAX] = {hf_str(command),
                                hf_str(key != NULL ? key : "")};
    size_t begin = key != NULL ? 2 : 1;
    char want[TEXT_SIZE] = "[", text[TEXT_SIZE];
    size_t used = 1;

    for (size_t i = 0; i < count; i++) {
        size_t index = (first + i * step) % (COUNT + 50);

        make_name(names[i], index);
        words[begin + i] = hf_str(names[i]);
        used += (size_t)snprintf(want + used, sizeof(want) - used, "%s",
                                 i > 0 ? ", " : "");
        used +=
            (size_t)snprintf(want + used, sizeof(want) - used,
                             index < COUNT ? "s:%s%zu" : "nil", before, index);
    }
    (void)snprintf(want + used, sizeof(want) - used, "]");
    (void)perform(store, NULL, words, begin + count, 0, text);
    assert_string_equal(text, want);
}

TEST(several_keys_and_elements_are_those_of_their_names)
{
    /* The last two are backward. */
    static const size_t steps[] = {0, 1, 2, 3, 7, 127, COUNT + 48, COUNT + 49};
    static const size_t counts[] = {1, 2, 3, 31, 32, 33, 60};
    place *at = *state;

    fill(at->store);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
            expect_several(at->store, "hmget", "h", "v", 11 * k, steps[i],
                           counts[k]);
            expect_several(at->store, "zmscore", "z", "", COUNT - k, steps[i],
                           counts[k]);
            expect_several(at->store, "mget", NULL, "k", 11 * k, steps[i],
                           counts[k]);
        }
    }
}
