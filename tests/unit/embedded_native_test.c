/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_native_test.c - the values of the library's scripts in C: a score is
 * the text that Redis replies, wherever it is used. */
#include "engine/native/native_code.h"

#include "engine/run/command_table.h"
#include "support/test.h"

static int set_up(void **state)
{
    *state = hf__native_new(hf__command_find);
    return *state != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    hf__native_free(*state);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

typedef struct score_text {
    double score;
    const char *text;
} score_text;

static const score_text rows[] = {{0, "0"},
                                  {-0.0, "-0"},
                                  {12, "12"},
                                  {-3.5, "-3.5"},
                                  {0.1, "0.10000000000000001"},
                                  {1e20, "1e+20"},
                                  {-1234.0000000000002, "-1234.0000000000002"},
                                  {9999999999999998.0, "9999999999999998"},
                                  {1e17, "1e+17"},
                                  {HUGE_VAL, "inf"},
                                  {-HUGE_VAL, "-inf"}};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static hf__nv score_of(const score_text *row)
{
    return (hf__nv){.tag = HF__NV_SCORE, .number = row->score};
}

static hf__nv text_of(const char *text)
{
    return hf__nv_text(text, strlen(text));
}

TEST(native_score_equals_its_text_only)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t j = 0; j < ROW_COUNT; j++) {
            hf__nv score = score_of(&rows[i]);

            assert_int_equal(hf__nv_same(score, text_of(rows[j].text)), i == j);
            assert_int_equal(hf__nv_same(text_of(rows[j].text), score), i == j);
            assert_int_equal(hf__nv_same(score, score_of(&rows[j])), i == j);
        }
        assert_false(
            hf__nv_same(score_of(&rows[i]), hf__nv_number(rows[i].score)));
    }
}

TEST(native_score_is_a_text)
{
    hf__native *run = *state;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        hf__nv score = score_of(&rows[i]), text = text_of(rows[i].text);
        hf__nv parts[] = {text_of("a"), score};
        hf__nv table = hf__native_table_of(run, NULL, 0), joined;
        hf_bytes word;

        assert_true(hf__nv_is_text(score) && hf__nv_is(score));
        assert_true(hf__nv_same(hf__native_type(score), text_of("string")));
        assert_true(hf__nv_same(hf__native_tostring(run, score), text));
        assert_int_equal(hf__native_length(run, score), text.size);
        joined = hf__native_concat(run, parts, 2);
        assert_int_equal(joined.size, text.size + 1);
        assert_memory_equal(joined.text + 1, text.text, text.size);
        word = hf__native_word(run, score);
        assert_int_equal(word.size, text.size);
        assert_memory_equal(word.data, text.text, text.size);
        assert_true(hf__native_tonumber(run, score, 10).number ==
                    rows[i].score);
        assert_false(hf__native_less(run, score, text));
        assert_true(hf__native_at_most(run, text, score));
        hf__native_set(run, table, score, hf__nv_number(7));
        assert_true(hf__nv_is_number(hf__native_get(run, table, text), 7));
        assert_true(hf__nv_is_number(hf__native_get(run, table, score), 7));
    }
}
