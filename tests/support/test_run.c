/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_run.c - runs the tests that test.h has registered. A program may be of
 * many test files, as linking a hundred takes longer than compiling them; a run
 * is of one, since files may share what cannot be started twice in a process.
 *
 *     <program> FILE [TEST]   runs the tests of FILE.c, or those whose name
 *                             matches TEST, a pattern of fnmatch()
 *     <program> --list        lists FILE and TEST of all
 *
 * FILE may be left out if there is only one.
 */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* Of one file; 40 are many. */
#define ROWS_MAX 256

/* From the linker. */
__attribute__((
    visibility("hidden"))) extern const test_row *const __start_hf_tests[],
    *const __stop_hf_tests[];

/* By integers: to the compiler these are two arrays, and no pointer leads from
 * one to the other. */
static size_t row_count(void)
{
    return ((uintptr_t)__stop_hf_tests - (uintptr_t)__start_hf_tests) /
           sizeof(__start_hf_tests[0]);
}

static const test_row *row_at(size_t i)
{
    return __start_hf_tests[i];
}

/* "heap_test" of "tests/unit/heap_test.c"; valid until the next call. */
static const char *file_stem(const char *file)
{
    static char name[256];
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "."), base);
    return name;
}

/* The file of this stem; NULL: there is none. */
static const char *find_file(const char *name)
{
    for (size_t i = 0; i < row_count(); i++) {
        if (strcmp(file_stem(row_at(i)->file), name) == 0)
            return row_at(i)->file;
    }
    return NULL;
}

static bool is_test(const test_row *row)
{
    return row->kind == TEST_ROW_TEST || row->kind == TEST_ROW_TEST_WITH;
}

/* The rows of a file are next to each other. */
static bool begins_file(size_t i)
{
    return i == 0 || strcmp(row_at(i)->file, row_at(i - 1)->file) != 0;
}

static bool are_many(void)
{
    size_t files = 0;

    for (size_t i = 0; i < row_count(); i++)
        files += begins_file(i);
    return files > 1;
}

static int by_number(const void *a, const void *b)
{
    const test_row *const *x = a, *const *y = b;

    return (*x)->number - (*y)->number;
}

/* The rows of a file, in their order. */
static size_t collect_rows(const char *file, const test_row **rows)
{
    size_t count = 0;

    for (size_t i = 0; i < row_count(); i++) {
        if (strcmp(row_at(i)->file, file) != 0)
            continue;
        if (count == ROWS_MAX) {
            (void)fprintf(stderr, "%s: more than %d rows\n", file, ROWS_MAX);
            exit(2);
        }
        rows[count++] = row_at(i);
    }
    qsort(rows, count, sizeof(rows[0]), by_number);
    return count;
}

/* Run what `pattern` matches of a file; -1: that is none. */
static int run_file(const char *title, const char *file, const char *pattern)
{
    const test_row *rows[ROWS_MAX];
    struct CMUnitTest tests[ROWS_MAX];
    test_row each = {0}, all = {0};
    size_t count = collect_rows(file, rows), chosen = 0;

    for (size_t i = 0; i < count; i++) {
        if (rows[i]->kind == TEST_ROW_EACH)
            each = *rows[i];
        else if (rows[i]->kind == TEST_ROW_ALL)
            all = *rows[i];
    }
    for (size_t i = 0; i < count; i++) {
        const test_row *own = rows[i]->kind == TEST_ROW_TEST ? &each : rows[i];

        if (!is_test(rows[i]) || fnmatch(pattern, rows[i]->name, 0) != 0)
            continue;
        tests[chosen++] = (struct CMUnitTest){.name = rows[i]->name,
                                              .test_func = rows[i]->run,
                                              .setup_func = own->before,
                                              .teardown_func = own->after};
    }
    if (chosen == 0)
        return -1;
    return _cmocka_run_group_tests(title, tests, chosen, all.before, all.after);
}

int test_run_all(const char *title)
{
    const char *file = row_at(0)->file;

    return run_file(title == NULL ? file_stem(file) : title, file, "*");
}

static int list_tests(void)
{
    const test_row *rows[ROWS_MAX];

    for (size_t i = 0; i < row_count(); i++) {
        size_t count = begins_file(i) ? collect_rows(row_at(i)->file, rows) : 0;

        for (size_t k = 0; k < count; k++) {
            if (is_test(rows[k]))
                (void)printf("%s %s\n", file_stem(rows[k]->file),
                             rows[k]->name);
        }
    }
    return 0;
}

int test_main(int argc, char **argv)
{
    const char *file = argc < 2 ? NULL : find_file(argv[1]);
    int next = file == NULL ? 1 : 2, failed;
    const char *pattern = next < argc ? argv[next] : "*";

    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_tests();
    if (file == NULL && are_many()) {
        (void)fprintf(stderr,
                      "%s FILE [TEST]: run the tests of a file\n"
                      "%s --list: list files and tests\n",
                      argv[0], argv[0]);
        return 2;
    }
    if (file == NULL)
        file = row_at(0)->file;
    failed = run_file(file_stem(file), file, pattern);
    if (failed >= 0)
        return failed;
    (void)fprintf(stderr, "%s: %s has no test %s\n", argv[0], file, pattern);
    return 2;
}
