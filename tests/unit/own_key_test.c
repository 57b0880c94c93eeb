/* SPDX-License-Identifier: Apache-2.0 */
/* own_key_test.c - our own keys are distinguished from those of users. */
#include <stdlib.h>
#include <string.h>

#include "core/own_key.h"
#include "support/test.h"

TEST(own_keys_are_known_under_any_prefix)
{
    static const struct {
        const char *name;
        hf__own_key kind;
        size_t prefix_size;
    } rows[] = {
        {"hf:token", HF__OWN_TOKEN, 0},
        {"app:hf:token:{4bL}", HF__OWN_TOKEN, 4},
        {"hf:token:{-_0}", HF__OWN_TOKEN, 0},
        {"hf:wait:{x}", HF__OWN_WAIT, 0},
        {"app:hf:wait:{app:x}", HF__OWN_WAIT, 4},
        {"app:hf:wait::app:{x}y", HF__OWN_WAIT, 4},
        {"hf:hf:wait:{hf:x}", HF__OWN_WAIT, 3},
        {"hf:wait::hf:wait::x", HF__OWN_WAIT, 0},
        {"app:hf:cas:0123456789abcdef:12", HF__OWN_CAS, 4},
        {"hf:cas:0123456789abcdef:12{0a1}", HF__OWN_CAS, 0},
        {"hf:load:0123456789abcdef:{x}", HF__OWN_LOAD, 0},
        {"app:hf:client:0123456789abcdef", HF__OWN_CLIENT, 4},
        {"app:hf:revision:{app:x}", HF__OWN_REVISION, 4},
        {"hf:revision::{x}y", HF__OWN_REVISION, 0},
        {"app:hf:changes", HF__OWN_CHANGES, 4},
        {"hf:changes:{abc}", HF__OWN_CHANGES, 0},
        {"hf:expiring", HF__OWN_CHANGES, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t prefix_size = SIZE_MAX;

        if (hf__own_key_of(hf_str(rows[i].name), &prefix_size) !=
                rows[i].kind ||
            prefix_size != rows[i].prefix_size)
            fail_msg("%s: prefix of %zu", rows[i].name, prefix_size);
        assert_true(hf__is_own_key(hf_str(rows[i].name)));
    }
}

TEST(keys_about_others_are_ours)
{
    static const char *const names[] = {
        "hf:fence:{x}",     "app:hf:items:{app:x}", "hf:labels:{x}",
        "hf:due::{x}y",     "hf:hf:order:{hf:x}",   "hf:cache:{x}",
        "app:hf:tag:{app:}"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(hf__is_own_key(hf_str(names[i])));
        assert_int_equal(hf__own_key_of(hf_str(names[i]), NULL), HF__OWN_NONE);
    }
}

TEST(keys_of_users_are_not_ours)
{
    static const char *const names[] = {
        "hf:changes2",
        "",
        "h",
        "hf:",
        "hhhf:toke",
        "app:hf:wait:{x}", /* its lock would not have the prefix */
        "hf:wait:x",
        "hf:wait:{x",
        "hf:waits:{x}",
        "hf:cas:0123456789abcde:1",
        "hf:cas:0123456789abcdef:",
        "hf:cas:0123456789abcdef:1x",
        "hf:cas:0123456789abcdef:1{}",
        "hf:load:0123456789ABCDEF:{x}",
        "hf:load:0123456789abcdef",
        "half:token",
        "hf:client:0123456789abcdef0",
        "hf:tokens",
        "hf:token:",
        "hf:token:{}",
        "hf:token:{0a1}x",
        "hf:token:{job.lock}",
        "app:hf:items:{x}",
        "hf:items:x",
        "hf:due:{x",
        "hf:tags:{x}",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        /* Nothing may be read past its end. */
        size_t size = strlen(names[i]);
        char *copy = malloc(size + 1);

        assert_non_null(copy);
        memcpy(copy, names[i], size);
        copy = realloc(copy, size == 0 ? 1 : size);
        assert_non_null(copy);
        if (hf__own_key_of(hf_view(copy, size), NULL) != HF__OWN_NONE)
            fail_msg("%s is taken for ours", names[i]);
        assert_false(hf__is_own_key(hf_view(copy, size)));
        free(copy);
    }
}
