/* SPDX-License-Identifier: Apache-2.0 */
/* serve_guesses_test.c - how wrong passwords of addresses are counted. */
#include <string.h>

#include "serve/users/guesses.h"
#include "support/test.h"
#include "util/mem.h"

#define NOW_MS 1000000

static hf__peer_key address(unsigned number)
{
    hf__peer_key key = {{0}};

    memcpy(key.bytes, &number, sizeof(number));
    return key;
}

static void wrong(hf__guesses *guesses, unsigned number, int count,
                  int64_t now_ms)
{
    hf__peer_key key = address(number);

    while (count-- > 0)
        hf__guesses_count(guesses, &key, now_ms);
}

/* How long it has to wait. */
static int64_t wait_of(hf__guesses *guesses, unsigned number, int64_t now_ms)
{
    hf__peer_key key = address(number);
    int64_t at_ms = hf__guesses_at(guesses, &key);

    return at_ms > now_ms ? at_ms - now_ms : 0;
}

static int set_up(void **state)
{
    *state = hf__calloc(1, sizeof(hf__guesses));
    return *state != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    hf__free(*state);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

TEST(each_address_waits_after_ten)
{
    hf__guesses *guesses = *state;

    wrong(guesses, 1, HF__GUESSES_FREE - 1, NOW_MS);
    assert_int_equal(wait_of(guesses, 1, NOW_MS), 0);
    wrong(guesses, 1, 1, NOW_MS);
    assert_int_equal(wait_of(guesses, 1, NOW_MS), HF__GUESSES_STEP_MS);
    assert_int_equal(wait_of(guesses, 2, NOW_MS), 0);
    assert_int_equal(wait_of(guesses, 1, NOW_MS + HF__GUESSES_STEP_MS), 0);
    wrong(guesses, 1, 1, NOW_MS + HF__GUESSES_STEP_MS);
    assert_int_equal(wait_of(guesses, 1, NOW_MS + HF__GUESSES_STEP_MS),
                     HF__GUESSES_STEP_MS);
}

TEST(wrong_passwords_are_forgotten)
{
    hf__guesses *guesses = *state;
    int64_t later_ms = NOW_MS + HF__GUESSES_FREE * HF__GUESSES_STEP_MS;

    wrong(guesses, 1, HF__GUESSES_FREE, NOW_MS);
    wrong(guesses, 2, 1, later_ms);
    assert_int_equal(guesses->count, 1);
    wrong(guesses, 1, HF__GUESSES_FREE - 1, later_ms);
    assert_int_equal(wait_of(guesses, 1, later_ms), 0);
}

/* Who comes from ever new addresses shares one count with all unknown ones, and
 * those that are known keep theirs. */
TEST(addresses_beyond_the_table_count_as_one)
{
    hf__guesses *guesses = *state;
    unsigned number;

    for (number = 0; number < HF__GUESSERS_MAX; number++)
        wrong(guesses, number, 1, NOW_MS);
    for (; number < HF__GUESSERS_MAX + HF__GUESSES_FREE; number++) {
        assert_int_equal(wait_of(guesses, number, NOW_MS), 0);
        wrong(guesses, number, 1, NOW_MS);
    }
    assert_int_equal(guesses->count, HF__GUESSERS_MAX);
    assert_int_equal(wait_of(guesses, number, NOW_MS), HF__GUESSES_STEP_MS);
    assert_int_equal(wait_of(guesses, 7, NOW_MS), 0);
    wrong(guesses, number, 1, NOW_MS + HF__GUESSES_STEP_MS);
    assert_int_equal(guesses->count, 1);
}
