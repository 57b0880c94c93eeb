/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - see access.h. */
#include "serve/users/access.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/state.h"
#include "serve/users/acl_log.h"
#include "store/known_commands.h"
#include "util/bytes.h"
#include "util/glob.h"

/* --------------------------------------------------------------------- keys */

static bool has_key(const hf__user *user, hf_bytes key, unsigned access)
{
    if (user->all_keys)
        return true;
    for (const hf__user_pattern *at = user->keys; at != NULL; at = at->next) {
        if ((at->access & access) == access && hf__glob_fits(at->text, key))
            return true;
    }
    return false;
}

static bool is_set_get(const hf_bytes *words, size_t count)
{
    for (size_t i = 3; i < count; i++) {
        if (hf__arg_is(words[i], "get"))
            return true;
    }
    return false;
}

/* What is done with the key at `word`. SET reads it only with GET. */
static unsigned access_of(const hf__known_command *command,
                          const hf_bytes *words, size_t count, bool first)
{
    unsigned access = hf__acl_key_access(command, first);

    if (hf__arg_is(words[0], "set") && !is_set_get(words, count))
        access = HF__ACL_WRITE;
    return access;
}

static size_t find_key(const hf__user *user, const hf__known_command *command,
                       const hf_bytes *words, size_t count)
{
    hf__key_words keys;
    size_t first;

    hf__known_keys(hf__known_find(words[0]), words, count, &keys);
    first =
        keys.extra != 0 && keys.extra < keys.first ? keys.extra : keys.first;
    for (size_t at = hf__key_words_begin(&keys); at != 0;
         at = hf__key_words_next(&keys, at)) {
        if (!has_key(user, words[at],
                     access_of(command, words, count, at == first)))
            return at;
    }
    return 0;
}

/* BY and GET name keys by what is stored. */
static hf__access check_sort(const hf__user *user, const hf_bytes *words,
                             size_t count)
{
    if (user->all_keys ||
        (!hf__arg_is(words[0], "sort") && !hf__arg_is(words[0], "sort_ro")))
        return HF__ACCESS_OK;
    for (size_t i = 2; i + 1 < count; i++) {
        if (hf__arg_is(words[i], "get"))
            return HF__ACCESS_SORT_GET;
        if (hf__arg_is(words[i], "by") &&
            memchr(words[i + 1].data, '*', words[i + 1].size) != NULL)
            return HF__ACCESS_SORT_BY;
    }
    return HF__ACCESS_OK;
}

/* ----------------------------------------------------------------- channels */

static bool has_channel(const hf__user *user, hf_bytes channel, bool pattern)
{
    for (const hf__user_pattern *at = user->channels; at != NULL;
         at = at->next) {
        if (pattern ? hf__bytes_same(at->text, channel)
                    : hf__glob_fits(at->text, channel))
            return true;
    }
    return user->all_channels;
}

/* One may always unsubscribe. */
static size_t find_channel(const hf__user *user, const hf_bytes *words,
                           size_t count)
{
    bool pattern = hf__arg_is(words[0], "psubscribe");
    bool publish =
        hf__arg_is(words[0], "publish") || hf__arg_is(words[0], "spublish");

    if (!pattern && !publish && !hf__arg_is(words[0], "subscribe") &&
        !hf__arg_is(words[0], "ssubscribe"))
        return 0;
    for (size_t i = 1; i < count && (!publish || i == 1); i++) {
        if (!has_channel(user, words[i], pattern))
            return i;
    }
    return 0;
}

/* ------------------------------------------------------------------ checking
 */

hf__access hf__access_check(const hf__user *user, const hf_bytes *words,
                            size_t count, size_t *at)
{
    int number = hf__acl_find_words(words, count);

    *at = 0;
    if (!hf__user_may_call(user, number))
        return HF__ACCESS_COMMAND;
    if (number < 0)
        return HF__ACCESS_OK;
    *at = find_channel(user, words, count);
    if (*at != 0)
        return HF__ACCESS_CHANNEL;
    if ((hf__known_table[number].categories & HF__CATEGORY_PUBSUB) != 0)
        return HF__ACCESS_OK;
    *at = find_key(user, &hf__known_table[number], words, count);
    return *at != 0 ? HF__ACCESS_KEY : check_sort(user, words, count);
}

static void log_refusal(hf__conn *conn, hf__access access,
                        const hf_bytes *words, size_t count, size_t at,
                        bool in_script)
{
    int number = hf__acl_find_words(words, count);
    hf__acl_reason reason = access == HF__ACCESS_KEY       ? HF__ACL_KEY
                            : access == HF__ACCESS_CHANNEL ? HF__ACL_CHANNEL
                                                           : HF__ACL_COMMAND;
    hf_bytes object = reason != HF__ACL_COMMAND ? words[at]
                      : number >= 0 ? hf_str(hf__known_table[number].name)
                                    : words[0];

    hf__acl_log_add(conn, reason, object, hf_str(conn->user->name), in_script);
}

static void refuse_access(hf__conn *conn, hf__access access,
                          const hf_bytes *words, size_t count)
{
    static const char *const texts[] = {
        [HF__ACCESS_KEY] = "NOPERM this user has no permissions to access one "
                           "of the keys used as arguments",
        [HF__ACCESS_CHANNEL] = "NOPERM this user has no permissions to access "
                               "one of the channels used as arguments",
        [HF__ACCESS_SORT_BY] = "ERR BY option of SORT denied due to "
                               "insufficient ACL permissions.",
        [HF__ACCESS_SORT_GET] = "ERR GET option of SORT denied due to "
                                "insufficient ACL permissions."};
    int number = hf__acl_find_words(words, count);
    hf_bytes name =
        number >= 0 ? hf_str(hf__known_table[number].name) : words[0];

    if (access != HF__ACCESS_COMMAND)
        hf__answer_error(&conn->answer, "%s", texts[access]);
    else
        hf__answer_error(&conn->answer,
                         "NOPERM this user has no permissions to run the "
                         "'%.*s' command",
                         name.size > 64 ? 64 : (int)name.size,
                         (const char *)name.data);
}

#define READ_ONLY "READONLY You can't write against a read only replica."

static bool is_read_only(const hf__conn *conn, const hf_bytes *words,
                         size_t count)
{
    int number;

    if (!conn->server->options.read_only)
        return false;
    number = hf__acl_find_words(words, count);
    return number >= 0 &&
           (hf__known_table[number].categories & HF__CATEGORY_WRITE) != 0;
}

static bool may_run(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__access access;
    size_t at;

    if (conn->user->unlimited)
        return true;
    access = hf__access_check(conn->user, words, count, &at);
    if (access == HF__ACCESS_OK)
        return true;
    log_refusal(conn, access, words, count, at, false);
    refuse_access(conn, access, words, count);
    return false;
}

bool hf__access_allows(hf__conn *conn, const hf_bytes *words, size_t count,
                       bool stranger)
{
    if (stranger)
        return true;
    if (conn->user == NULL) {
        hf__answer_error(&conn->answer, "NOAUTH Authentication required.");
        return false;
    }
    if (!may_run(conn, words, count))
        return false;
    if (!is_read_only(conn, words, count))
        return true;
    hf__answer_error(&conn->answer, READ_ONLY);
    return false;
}

const char *hf__access_of_script(void *conn, const hf_bytes *words,
                                 size_t count)
{
    hf__conn *self = conn;
    size_t at;
    hf__access access = hf__access_check(self->user, words, count, &at);

    if (access != HF__ACCESS_OK)
        log_refusal(self, access, words, count, at, true);
    switch (access) {
    case HF__ACCESS_OK:
        return is_read_only(self, words, count) ? READ_ONLY : NULL;
    case HF__ACCESS_COMMAND:
        return "ERR The user executing the script can't run this command or "
               "subcommand";
    case HF__ACCESS_CHANNEL:
        return "ERR The user executing the script can't publish to the "
               "channel mentioned in the command";
    case HF__ACCESS_SORT_BY:
    case HF__ACCESS_SORT_GET:
        return "ERR BY and GET options of SORT denied due to insufficient ACL "
               "permissions.";
    default:
        return "ERR The user executing the script can't access at least one "
               "of the keys mentioned in the command arguments";
    }
}
