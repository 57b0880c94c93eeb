/* SPDX-License-Identifier: Apache-2.0 */
/* serve_users_test.c - the users of a server: their file, and the commands that
 * it can name. */
#include <stdio.h>
#include <string.h>

#include "engine/run/command_table.h"
#include "serve/commands/served.h"
#include "serve/users/access.h"
#include "store/known_commands.h"
#include "support/test.h"
#include "util/mem.h"

static hf_status parse(const char *text, hf__users *users, hf_error *err)
{
    return hf__users_parse(hf_str(text), "users", users, err);
}

static void assert_line(const char *line, const char *described)
{
    hf_error err = HF_ERROR_INIT;
    hf__users users;
    hf__buf text;

    hf__buf_init(&text, 65536);
    if (parse(line, &users, &err) != HF_OK)
        fail_msg("%s: %s", line, err.message);
    assert_true(hf__user_describe(users.first, &text));
    assert_true(hf__buf_append(&text, "", 1));
    assert_string_equal((const char *)hf__buf_front(&text), described);
    hf__buf_done(&text);
    hf__users_done(&users);
}

TEST(rules_are_applied_in_order)
{
    assert_line("user a", "user a off resetchannels -@all");
    assert_line("\tuser  a on nopass ~* &* +@all \r",
                "user a on nopass ~* &* +@all");
    assert_line("user a on ~a %RW~b %r~c %W~d resetkeys ~e",
                "user a on ~e resetchannels -@all");
    assert_line("user a +get -@write +@all +@read -set",
                "user a off resetchannels +@all -set");
    assert_line("user a +@all nocommands +config|get",
                "user a off resetchannels -@all +config|get");
    assert_line("user a >x nopass", "user a off nopass resetchannels -@all");
    assert_line(
        "user a >x <x >y !"
        "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0f"
        "a",
        "user a off resetchannels -@all");
    assert_line("user a on allkeys allcommands reset",
                "user a off resetchannels -@all");
}

static void assert_refused(const char *text, const char *message)
{
    hf_error err = HF_ERROR_INIT;
    hf__users users;

    assert_int_equal(parse(text, &users, &err), HF_INVALID);
    if (strncmp(err.message, message, strlen(message)) != 0)
        fail_msg("%s: %s", text, err.message);
}

TEST(a_bad_line_is_named)
{
    char line[8300];

    assert_refused("user a\n\n#\nusr b", "users, line 4: a line must begin");
    assert_refused("user", "users, line 1: the user's name is missing");
    assert_refused("user >secret on", "users, line 1: the user's name is "
                                      "missing before a password");
    assert_refused("user #5e88 on", "users, line 1: the user's name is "
                                    "missing before a password");
    assert_refused("user a\nuser a",
                   "users, line 2: user \"a\" is there twice");
    assert_refused("user a on >x %~y",
                   "users, line 1: user \"a\": \"%~y\": Syntax error");
    assert_refused("user a %Q~y", "users, line 1: user \"a\": \"%Q~y\"");
    assert_refused("user a ~* ~x", "users, line 1: user \"a\": \"~x\": Adding");
    assert_refused("user a +config|none", "users, line 1: user \"a\"");
    assert_refused("user a -@none", "users, line 1: user \"a\"");
    assert_refused("user a +", "users, line 1: user \"a\"");
    (void)snprintf(line, sizeof(line), "user a ~%08193d", 0);
    assert_refused(line, "users, line 1: user \"a\": \"~00000");
    assert_refused("user a #x", "users, line 1: user \"a\": \"#\": The pass");
}

/* Otherwise it could be allowed to no one but those who may do everything. */
TEST(every_command_is_in_the_table)
{
    for (const hf__command *row = hf__command_all(); row->name != NULL; row++) {
        if (hf__acl_find(hf_str(row->name), hf_str("")) < 0)
            fail_msg("%s is not in known_table.c", row->name);
    }
}

/* What is said of their keys agrees with known_commands.c. */
TEST(commands_with_keys_are_known)
{
    for (int i = 0; i < hf__acl_count(); i++) {
        const hf__known_command *command = &hf__known_table[i];
        bool streams = command->place == HF__KEYS_STREAM;
        const hf_bytes words[] = {hf_str(command->name),
                                  hf_str("1"),
                                  hf_str("1"),
                                  hf_str("k"),
                                  hf_str(streams ? "streams" : "k"),
                                  hf_str("k"),
                                  hf_str("0")};
        hf__key_words keys;

        if (command->access[0] == '\0' || hf__command_find(words[0]) == NULL)
            continue;
        hf__known_keys(hf__known_find(words[0]), words, streams ? 7 : 5, &keys);
        if (hf__key_words_begin(&keys) == 0)
            fail_msg("%s", command->name);
    }
}

TEST(memory_may_run_out)
{
    static const char text[] = "user a on >x ~a %R~b &c +get -config\nuser b";
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_NO_MEMORY;
    hf__users users;

    for (long after = 0; status != HF_OK && after < 100; after++) {
        hf__alloc_fail_after(after);
        status = parse(text, &users, &err);
        hf__alloc_fail_after(-1);
        assert_true(status == HF_OK || status == HF_NO_MEMORY ||
                    status == HF_INVALID);
    }
    assert_int_equal(status, HF_OK);
    hf__users_done(&users);
}

TEST(users_that_are_the_same_are_kept)
{
    hf_error err = HF_ERROR_INIT;
    hf__users old, users;
    const hf__user *a, *b;

    assert_int_equal(parse("user a +get\nuser b +get", &old, &err), HF_OK);
    assert_int_equal(parse("user c\nuser b +set\nuser a +get", &users, &err),
                     HF_OK);
    a = hf__users_find(&old, hf_str("a"));
    b = hf__users_find(&old, hf_str("b"));
    hf__users_keep(&users, &old);
    assert_ptr_equal(hf__users_find(&users, hf_str("a")), a);
    assert_ptr_not_equal(hf__users_find(&users, hf_str("b")), b);
    assert_ptr_equal(hf__users_find(&old, hf_str("b")), b);
    hf__users_done(&old);
    hf__users_done(&users);
}
