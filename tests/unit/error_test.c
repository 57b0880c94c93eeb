/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_test.c - messages: one line, bounded, quoted.
 */
#include <errno.h>
#include <string.h>

#include "support/test.h"
#include "util/error.h"

TEST(fail_fills_the_error_and_returns_the_status)
{
    hf_error err = HF_ERROR_INIT;

    err.sys_errno = 99;
    assert_int_equal(hf__fail(&err, HF_HELD, "held by %d", 7), HF_HELD);
    assert_int_equal(err.status, HF_HELD);
    assert_int_equal(err.sys_errno, 0);
    assert_string_equal(err.message, "held by 7");
    assert_int_equal(err.struct_size, sizeof(err));
}

TEST(fail_without_an_error_only_returns_the_status)
{
    hf_error from = HF_ERROR_INIT;

    from.status = HF_LOST;
    assert_int_equal(hf__fail(NULL, HF_INVALID, "x"), HF_INVALID);
    assert_int_equal(hf__fail_errno(NULL, HF_SYSTEM, 1, "x"), HF_SYSTEM);
    assert_int_equal(hf__fail_copy(NULL, &from), HF_LOST);
    hf__fail_prefix(NULL, "x");
}

TEST(fail_errno_appends_the_text_of_the_number)
{
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(
        hf__fail_errno(&err, HF_SYSTEM, ENOENT, "cannot open %s", "\"x\""),
        HF_SYSTEM);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.message,
                        "cannot open \"x\": No such file or directory");
}

TEST(fail_makes_one_line_of_control_characters)
{
    hf_error err = HF_ERROR_INIT;

    hf__fail(&err, HF_SCRIPT, "%s", "a\nb\r\tc\x1b[31m\x7f");
    assert_string_equal(err.message, "a b  c [31m ");
}

TEST(fail_cuts_what_is_too_long)
{
    char text[1000];
    hf_error err = HF_ERROR_INIT;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    hf__fail(&err, HF_INVALID, "%s", text);
    assert_int_equal(strlen(err.message), HF_ERROR_MESSAGE_SIZE - 1);
    hf__fail_errno(&err, HF_SYSTEM, ENOENT, "%s", text);
    assert_int_equal(strlen(err.message), HF_ERROR_MESSAGE_SIZE - 1);
    hf__fail_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), HF_ERROR_MESSAGE_SIZE - 1);
}

TEST(fail_prefix_keeps_status_and_message)
{
    hf_error err = HF_ERROR_INIT;

    hf__fail_errno(&err, HF_SYSTEM, EACCES, "open");
    hf__fail_prefix(&err, "store %d", 1);
    assert_int_equal(err.status, HF_SYSTEM);
    assert_int_equal(err.sys_errno, EACCES);
    assert_string_equal(err.message, "store 1: open: Permission denied");
}

TEST(fail_copy_copies_all_but_the_struct_size)
{
    hf_error from = HF_ERROR_INIT;
    hf_error to = {.struct_size = 1};

    hf__fail_errno(&from, HF_SYSTEM, EACCES, "open");
    assert_int_equal(hf__fail_copy(&to, &from), HF_SYSTEM);
    assert_int_equal(to.struct_size, 1);
    assert_int_equal(to.status, HF_SYSTEM);
    assert_int_equal(to.sys_errno, EACCES);
    assert_string_equal(to.message, from.message);
}

TEST(quoted_shows_printable_ascii_as_it_is)
{
    char text[HF__QUOTED_SIZE];

    assert_string_equal(hf__quoted(text, hf_str("it's 100%")), "\"it's 100%\"");
    assert_string_equal(hf__quoted(text, hf_view(NULL, 0)), "\"\"");
}

TEST(quoted_shows_the_rest_as_numbers)
{
    char text[HF__QUOTED_SIZE];

    assert_string_equal(hf__quoted(text, hf_view("a\0\n\"\\\xff", 6)),
                        "\"a\\x00\\x0a\\x22\\x5c\\xff\"");
}

TEST(quoted_cuts_after_forty_bytes)
{
    unsigned char bytes[100];
    char text[HF__QUOTED_SIZE];

    memset(bytes, 'k', sizeof(bytes));
    hf__quoted(text, hf_view(bytes, 40));
    assert_int_equal(strlen(text), 42);
    hf__quoted(text, hf_view(bytes, 41));
    assert_int_equal(strlen(text), 45);
    assert_string_equal(text + 41, "\"...");
    /* The longest possible result. */
    memset(bytes, 0xff, sizeof(bytes));
    hf__quoted(text, hf_view(bytes, sizeof(bytes)));
    assert_int_equal(strlen(text), 165);
    assert_true(strlen(text) < HF__QUOTED_SIZE);
}

TEST(quoted_path_is_cut_at_its_beginning)
{
    static const char path[] = "/var/lib/a-very-long/name/of/a/folder/store-7";
    char text[HF__QUOTED_SIZE];
    char worst[100];

    assert_string_equal(hf__quoted_path(text, "/a b"), "\"/a b\"");
    assert_string_equal(hf__quoted_path(text, path + 5),
                        "\"lib/a-very-long/name/of/a/folder/store-7\"");
    assert_string_equal(hf__quoted_path(text, path),
                        "...\"lib/a-very-long/name/of/a/folder/store-7\"");
    memset(worst, 0xff, sizeof(worst) - 1);
    worst[sizeof(worst) - 1] = '\0';
    assert_true(strlen(hf__quoted_path(text, worst)) < HF__QUOTED_SIZE);
}
