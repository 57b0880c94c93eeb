/* SPDX-License-Identifier: Apache-2.0 */
/* user_rules.c - see user_rules.h. The texts of errors are those of Redis 7.0.
 */
#include "serve/users/user_rules.h"

#include <string.h>

#include "serve/conn/parser.h"
#include "serve/users/sha256.h"
#include "util/bytes.h"
#include "util/digits.h"
#include "util/glob.h"
#include "util/mem.h"

#define ERROR_SYNTAX "Syntax error"
#define ERROR_COMMAND "Unknown command or category name in ACL"
#define ERROR_HASH                                                             \
    "The password hash must be exactly 64 characters and contain only "        \
    "lowercase hexadecimal characters"
/* AUTH could not carry a longer one. */
#define PASSWORD_MAX HF__PARSER_STRANGER_BULK
#define ERROR_PASSWORD "A password has at most 16384 bytes"
_Static_assert(PASSWORD_MAX == 16384, "ERROR_PASSWORD has it");
#define ERROR_ALL_KEYS                                                         \
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not "     \
    "valid and does not have any effect. Try 'resetkeys' to start with an "    \
    "empty list of patterns"
#define ERROR_PATTERN "A pattern has at most 8192 bytes"
_Static_assert(HF__GLOB_MAX == 8192, "ERROR_PATTERN has it");
#define ERROR_ALL_CHANNELS                                                     \
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not " \
    "valid and does not have any effect. Try 'resetchannels' to start with "   \
    "an empty list of channels"

static const hf_bytes nothing = {NULL, 0};

static void free_hashes(hf__user *user)
{
    while (user->hashes != NULL) {
        hf__user_hash *hash = user->hashes;

        user->hashes = hash->next;
        explicit_bzero(hash, sizeof(*hash));
        hf__free(hash);
    }
}

static void free_patterns(hf__user_pattern **list)
{
    while (*list != NULL) {
        hf__user_pattern *pattern = *list;

        *list = pattern->next;
        hf__free(pattern);
    }
}

void hf__user_clear(hf__user *user)
{
    free_hashes(user);
    free_patterns(&user->keys);
    free_patterns(&user->channels);
}

/* ---------------------------------------------------------------- passwords */

static void remove_hash(hf__user *user, const unsigned char *bytes)
{
    for (hf__user_hash **at = &user->hashes; *at != NULL; at = &(*at)->next) {
        hf__user_hash *hash = *at;

        if (memcmp(hash->bytes, bytes, sizeof(hash->bytes)) == 0) {
            *at = hash->next;
            hf__free(hash);
            return;
        }
    }
}

/* NULL: set; otherwise what is wrong. So are those that follow. */
static const char *add_hash(hf__user *user, const unsigned char *bytes)
{
    hf__user_hash *hash = hf__calloc(1, sizeof(*hash));
    hf__user_hash **at = &user->hashes;

    if (hash == NULL)
        return HF__USER_NO_MEMORY;
    memcpy(hash->bytes, bytes, sizeof(hash->bytes));
    remove_hash(user, bytes);
    while (*at != NULL)
        at = &(*at)->next;
    *at = hash;
    user->nopass = false;
    return NULL;
}

static bool read_hex(hf_bytes text, unsigned char bytes[HF__USERS_HASH_SIZE])
{
    const char *digits = text.data;

    if (text.size != 2 * (size_t)HF__USERS_HASH_SIZE)
        return false;
    for (size_t i = 0; i < HF__USERS_HASH_SIZE; i++) {
        int high = hf__lower_hex_value(digits[2 * i]);
        int low = hf__lower_hex_value(digits[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static const char *apply_password(hf__user *user, char sign, hf_bytes text)
{
    unsigned char bytes[HF__USERS_HASH_SIZE];

    if (sign == '>' && text.size > PASSWORD_MAX)
        return ERROR_PASSWORD;
    if (sign == '>' || sign == '<')
        hf__sha256(text.data, text.size, bytes);
    else if (!read_hex(text, bytes))
        return ERROR_HASH;
    if (sign == '>' || sign == '#')
        return add_hash(user, bytes);
    remove_hash(user, bytes);
    return NULL;
}

/* ----------------------------------------------------------------- patterns */

static const char *add_pattern(hf__user_pattern **list, unsigned access,
                               hf_bytes text)
{
    hf__user_pattern *made;

    if (text.size > HF__GLOB_MAX)
        return ERROR_PATTERN;
    for (; *list != NULL; list = &(*list)->next) {
        const hf__user_pattern *old = *list;

        if (old->access == access && hf__bytes_same(old->text, text))
            return NULL;
    }
    made = hf__alloc(sizeof(*made) + text.size);
    if (made == NULL)
        return HF__USER_NO_MEMORY;
    memcpy(made + 1, text.data, text.size);
    *made = (hf__user_pattern){NULL, access, hf_view(made + 1, text.size)};
    *list = made;
    return NULL;
}

static bool is_star(hf_bytes text)
{
    return text.size == 1 && *(const char *)text.data == '*';
}

static const char *apply_keys(hf__user *user, unsigned access, hf_bytes text)
{
    if (user->all_keys)
        return ERROR_ALL_KEYS;
    if (access != (HF__ACL_READ | HF__ACL_WRITE) || !is_star(text))
        return add_pattern(&user->keys, access, text);
    free_patterns(&user->keys);
    user->all_keys = true;
    return NULL;
}

static const char *apply_channels(hf__user *user, hf_bytes text)
{
    if (user->all_channels)
        return ERROR_ALL_CHANNELS;
    if (!is_star(text))
        return add_pattern(&user->channels, 0, text);
    free_patterns(&user->channels);
    user->all_channels = true;
    return NULL;
}

/* %R~ %W~ %RW~ */
static const char *apply_access(hf__user *user, hf_bytes rule)
{
    const char *text = rule.data;
    unsigned access = 0;
    size_t at = 1;

    for (; at < rule.size && text[at] != '~'; at++) {
        unsigned bit = (text[at] | 0x20) == 'r'   ? HF__ACL_READ
                       : (text[at] | 0x20) == 'w' ? HF__ACL_WRITE
                                                  : 0;

        if (bit == 0 || (access & bit) != 0)
            return ERROR_SYNTAX;
        access |= bit;
    }
    if (at == rule.size || access == 0)
        return ERROR_SYNTAX;
    return apply_keys(user, access, hf_view(text + at + 1, rule.size - at - 1));
}

/* ----------------------------------------------------------------- commands */

static void set_command(hf__user *user, int command, bool allowed)
{
    uint64_t bit = UINT64_C(1) << (command % 64);

    if (allowed)
        user->commands[command / 64] |= bit;
    else
        user->commands[command / 64] &= ~bit;
}

/* And its subcommands. */
static void set_tree(hf__user *user, int command, bool allowed)
{
    set_command(user, command, allowed);
    for (int i = 0; i < hf__acl_count(); i++) {
        if (hf__acl_is_sub(i, command))
            set_command(user, i, allowed);
    }
}

static const char *set_all(hf__user *user, bool allowed)
{
    const char *rule = allowed ? "+@all" : "-@all";

    memset(user->commands, allowed ? 0xff : 0, sizeof(user->commands));
    user->all_commands = allowed;
    hf__buf_clear(&user->rules);
    return hf__buf_append(&user->rules, rule, strlen(rule))
               ? NULL
               : HF__USER_NO_MEMORY;
}

static const char *set_category(hf__user *user, hf_bytes name, bool allowed)
{
    int category = hf__acl_category(name);

    if (category < 0)
        return ERROR_COMMAND;
    for (int i = 0; i < hf__acl_count(); i++) {
        if ((hf__known_table[i].categories >> category & 1) != 0)
            set_tree(user, i, allowed);
    }
    return NULL;
}

static const char *set_named(hf__user *user, hf_bytes name, bool allowed)
{
    int command = hf__acl_find(name, nothing);

    if (command < 0)
        return ERROR_COMMAND;
    set_tree(user, command, allowed);
    return NULL;
}

/* Of no effect any more, as `rule` comes after it: it names the same, or a
 * subcommand of it. */
static bool is_overruled(hf_bytes old, hf_bytes rule)
{
    const char *text = old.data;

    return old.size >= rule.size &&
           memcmp(text + 1, (const char *)rule.data + 1, rule.size - 1) == 0 &&
           (old.size == rule.size || text[rule.size] == '|');
}

/* Rules that are changed again and again must not grow. The first one is that
 * of all commands. */
static void drop_overruled(hf__buf *rules, hf_bytes rule)
{
    char *text = (char *)hf__buf_front(rules);
    size_t size = hf__buf_size(rules);
    size_t kept = strlen("+@all");

    for (size_t at = kept; at < size;) {
        const char *next = memchr(text + at + 1, ' ', size - at - 1);
        size_t end = next == NULL ? size : (size_t)(next - text);

        if (!is_overruled(hf_view(text + at + 1, end - at - 1), rule)) {
            memmove(text + kept, text + at, end - at);
            kept += end - at;
        }
        at = end;
    }
    hf__buf_truncate(rules, kept);
}

static const char *apply_command(hf__user *user, hf_bytes rule)
{
    const char *text = rule.data;
    bool allowed = text[0] == '+';
    const char *error;

    if (hf__user_word_is(rule, "+@all") || hf__user_word_is(rule, "-@all"))
        return set_all(user, allowed);
    if (rule.size > 1 && text[1] == '@')
        error = set_category(user, hf_view(text + 2, rule.size - 2), allowed);
    else
        error = set_named(user, hf_view(text + 1, rule.size - 1), allowed);
    if (error != NULL)
        return error;
    if (allowed && user->all_commands)
        return NULL;
    user->all_commands = false;
    drop_overruled(&user->rules, rule);
    return hf__buf_append(&user->rules, " ", 1) &&
                   hf__buf_append(&user->rules, text, rule.size)
               ? NULL
               : "too many rules";
}

/* -------------------------------------------------------------------- rules */

static const char *reset_keys(hf__user *user, bool all)
{
    free_patterns(&user->keys);
    user->all_keys = all;
    return NULL;
}

static const char *reset_channels(hf__user *user, bool all)
{
    free_patterns(&user->channels);
    user->all_channels = all;
    return NULL;
}

static const char *reset_passwords(hf__user *user, bool open)
{
    free_hashes(user);
    user->nopass = open;
    return NULL;
}

static const char *switch_on(hf__user *user, bool on)
{
    user->on = on;
    return NULL;
}

static const char *reset_user(hf__user *user, bool unused)
{
    (void)unused;
    (void)switch_on(user, false);
    (void)reset_passwords(user, false);
    (void)reset_keys(user, false);
    (void)reset_channels(user, false);
    return set_all(user, false);
}

/* Of no effect here. */
static const char *ignore_rule(hf__user *user, bool unused)
{
    (void)user;
    (void)unused;
    return NULL;
}

static const struct word_rule {
    const char *text;
    const char *(*apply)(hf__user *user, bool value);
    bool value;
} word_rules[] = {{"on", switch_on, true},
                  {"off", switch_on, false},
                  {"nopass", reset_passwords, true},
                  {"resetpass", reset_passwords, false},
                  {"allkeys", reset_keys, true},
                  {"resetkeys", reset_keys, false},
                  {"allchannels", reset_channels, true},
                  {"resetchannels", reset_channels, false},
                  {"allcommands", set_all, true},
                  {"nocommands", set_all, false},
                  {"reset", reset_user, false},
                  {"clearselectors", ignore_rule, false},
                  {"sanitize-payload", ignore_rule, false},
                  {"skip-sanitize-payload", ignore_rule, false},
                  {NULL, NULL, false}};

const char *hf__user_apply(hf__user *user, hf_bytes rule)
{
    const char *text = rule.data;
    hf_bytes rest = hf_view(text + 1, rule.size - 1);

    switch (text[0]) {
    case '>':
    case '<':
    case '#':
    case '!':
        return apply_password(user, text[0], rest);
    case '~':
        return apply_keys(user, HF__ACL_READ | HF__ACL_WRITE, rest);
    case '%':
        return apply_access(user, rule);
    case '&':
        return apply_channels(user, rest);
    case '+':
    case '-':
        return apply_command(user, rule);
    case '(':
        return "selectors are not supported";
    default:
        break;
    }
    for (const struct word_rule *at = word_rules; at->text != NULL; at++) {
        if (hf__user_word_is(rule, at->text))
            return at->apply(user, at->value);
    }
    return ERROR_SYNTAX;
}

bool hf__user_set_password(hf__user *user, hf_bytes password)
{
    return apply_password(user, '>', password) == NULL;
}
