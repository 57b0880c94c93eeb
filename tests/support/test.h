/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - a test is registered where it is defined, and nowhere else:
 *
 *     TEST(heap_pops_the_earliest_first)
 *     {
 *         ...
 *     }
 *
 * is a function of cmocka, with `void **state`, which it may leave unused. What
 * all tests of a file need is said once:
 *
 *     EACH_TEST_WITH(set_up, tear_down);   around each
 *     ALL_TESTS_WITH(start, stop);         before the first, after the last
 *
 * Each function may be NULL.
 *
 * A registration is a row, and a pointer to it in the section `hf_tests`, which
 * the linker makes one array of. Neither compiler nor linker promises its
 * order: a row has a number, which grows in its file, and test_run.c runs the
 * tests of a file by it, that is, in the order of their definition.
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef enum test_row_kind {
    TEST_ROW_TEST,      /* with what EACH_TEST_WITH() says */
    TEST_ROW_TEST_WITH, /* with its own */
    TEST_ROW_EACH,
    TEST_ROW_ALL
} test_row_kind;

typedef struct test_row {
    const char *file; /* as the compiler has it */
    int number;
    test_row_kind kind;
    const char *name; /* tests only, as is the next */
    CMUnitTestFunction run;
    CMFixtureFunction before, after;
} test_row;

/* Pointers, as compilers may leave gaps between structs. `tag` makes a second
 * registration of the same an error. */
#define TEST_ROW(tag, ...)                                                     \
    static const test_row tag##_row = {__FILE__, __COUNTER__, __VA_ARGS__};    \
    static const test_row *const tag##_row_at                                  \
        __attribute__((section("hf_tests"), used)) = &tag##_row

#define TEST_FUNCTION(name)                                                    \
    static void name(__attribute__((unused)) void **state)

#define TEST(name)                                                             \
    TEST_FUNCTION(name);                                                       \
    TEST_ROW(name, TEST_ROW_TEST, #name, name, NULL, NULL);                    \
    TEST_FUNCTION(name)

/* A test with functions of its own around it, in place of EACH_TEST_WITH(). */
#define TEST_WITH(name, set_up, tear_down)                                     \
    TEST_VARIANT(name, , set_up, tear_down);                                   \
    TEST_FUNCTION(name)

/* Before TEST_FUNCTION(), TEST() or TEST_WITH(): run it also as <name><suffix>,
 * with other functions around it. */
#define TEST_VARIANT(name, suffix, set_up, tear_down)                          \
    TEST_FUNCTION(name);                                                       \
    TEST_ROW(name##suffix, TEST_ROW_TEST_WITH, #name #suffix, name, set_up,    \
             tear_down)

#define EACH_TEST_WITH(set_up, tear_down)                                      \
    TEST_ROW(each_test, TEST_ROW_EACH, NULL, NULL, set_up, tear_down)
#define ALL_TESTS_WITH(start, stop)                                            \
    TEST_ROW(all_tests, TEST_ROW_ALL, NULL, NULL, start, stop)

/*
 * Most programs have the main() of test_main.c. One with options has its own,
 * which calls this to run the tests of its only test file under `title`, or,
 * if that is NULL, under the name of the file. Returns how many failed.
 */
int test_run_all(const char *title);

/* What test_main.c does: see test_run.c. */
int test_main(int argc, char **argv);

#endif
