/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - see users.h. */
#include "serve/users/users.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "serve/users/sha256.h"
#include "serve/users/user_rules.h"
#include "util/error.h"
#include "util/mem.h"

/* Largest file, and most rules of commands of a user, bytes. */
#define FILE_SIZE_MAX (4u * 1024 * 1024)
#define RULES_SIZE_MAX (64u * 1024)

/* ------------------------------------------------------------------- memory */

void hf__user_free(hf__user *user)
{
    hf__user_clear(user);
    hf__buf_done(&user->rules);
    hf__free(user->name);
    hf__free(user);
}

void hf__users_done(hf__users *users)
{
    while (users->first != NULL) {
        hf__user *user = users->first;

        users->first = user->next;
        hf__user_free(user);
    }
}

static hf__user *new_user(hf_bytes name)
{
    hf__user *user = hf__calloc(1, sizeof(*user));

    if (user == NULL)
        return NULL;
    hf__buf_init(&user->rules, RULES_SIZE_MAX);
    user->name = hf__calloc(1, name.size + 1);
    if (user->name == NULL ||
        !hf__buf_append(&user->rules, "-@all", strlen("-@all"))) {
        hf__user_free(user);
        return NULL;
    }
    memcpy(user->name, name.data, name.size);
    return user;
}

static hf__user *add_user(hf__users *users, hf_bytes name)
{
    hf__user **at = &users->first;

    while (*at != NULL)
        at = &(*at)->next;
    *at = new_user(name);
    return *at;
}

/* -------------------------------------------------------------------- lines */

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

/* The first word of `line`, which is shortened to the rest; empty: none. */
static hf_bytes take_word(hf_bytes *line)
{
    const char *at = line->data;
    const char *end = at + line->size;
    const char *word;

    while (at < end && is_blank(*at))
        at++;
    for (word = at; at < end && !is_blank(*at);)
        at++;
    *line = hf_view(at, (size_t)(end - at));
    return hf_view(word, (size_t)(at - word));
}

/* Is it a rule with a password, or with its hash? */
static bool is_password(hf_bytes word)
{
    return strchr("><#!", *(const char *)word.data) != NULL;
}

/* A rule for a message: of a password only its sign. */
static const char *quote_rule(char text[HF__QUOTED_SIZE], hf_bytes rule)
{
    if (is_password(rule))
        rule.size = 1;
    return hf__quoted(text, rule);
}

static void finish_rules(hf__user *user)
{
    user->unlimited =
        user->all_keys && user->all_channels && user->all_commands;
}

static hf_status read_rules(hf__user *user, hf_bytes line, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    hf_bytes rule;

    while ((rule = take_word(&line)).size > 0) {
        const char *error = hf__user_apply(user, rule);

        if (error != NULL)
            return hf__fail(err,
                            strcmp(error, HF__USER_NO_MEMORY) == 0
                                ? HF_NO_MEMORY
                                : HF_INVALID,
                            "user \"%s\": %s: %s", user->name,
                            quote_rule(quoted, rule), error);
    }
    finish_rules(user);
    return HF_OK;
}

static hf_status read_line(hf__users *users, hf_bytes line, hf_error *err)
{
    hf_bytes word = take_word(&line);
    hf__user *user;

    if (word.size == 0 || *(const char *)word.data == '#')
        return HF_OK;
    if (!hf__user_word_is(word, "user"))
        return hf__fail(err, HF_INVALID, "a line must begin with \"user\"");
    word = take_word(&line);
    if (word.size == 0)
        return hf__fail(err, HF_INVALID, "the user's name is missing");
    if (memchr(word.data, '\0', word.size) != NULL)
        return hf__fail(err, HF_INVALID, "the user's name has a NUL in it");
    if (is_password(word))
        return hf__fail(err, HF_INVALID,
                        "the user's name is missing before a password");
    if (hf__users_find(users, word) != NULL)
        return hf__fail(err, HF_INVALID, "user \"%.*s\" is there twice",
                        word.size > 64 ? 64 : (int)word.size,
                        (const char *)word.data);
    user = add_user(users, word);
    if (user == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    return read_rules(user, line, err);
}

static hf_status read_lines(hf__users *users, hf_bytes text, const char *what,
                            hf_error *err)
{
    const char *at = text.data;
    const char *end = at + text.size;
    hf_status status = HF_OK;

    for (unsigned number = 1; status == HF_OK && at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        if (stop == NULL)
            stop = end;
        status = read_line(users, hf_view(at, (size_t)(stop - at)), err);
        if (status != HF_OK)
            hf__fail_prefix(err, "%s, line %u", what, number);
        at = stop + 1;
    }
    return status;
}

hf_status hf__users_parse(hf_bytes text, const char *what, hf__users *users,
                          hf_error *err)
{
    hf_status status;

    users->first = NULL;
    status = read_lines(users, text, what, err);
    if (status == HF_OK && hf__users_find(users, hf_str("default")) == NULL &&
        add_user(users, hf_str("default")) == NULL)
        status = hf__fail(err, HF_NO_MEMORY, "out of memory");
    if (status != HF_OK)
        hf__users_done(users);
    return status;
}

hf_status hf__users_single(const char *password, hf__users *users,
                           hf_error *err)
{
    static const char rules[] = "user default on nopass ~* &* +@all";
    hf_status status = hf__users_parse(hf_str(rules), "", users, err);

    if (status != HF_OK || password == NULL)
        return status;
    if (hf__user_set_password(users->first, hf_str(password)))
        return HF_OK;
    hf__users_done(users);
    return hf__fail(err, HF_NO_MEMORY, "out of memory");
}

static int read_all(int fd, hf__buf *text)
{
    for (;;) {
        unsigned char *room = hf__buf_reserve(text, 4096);
        ssize_t got = room == NULL ? 0 : read(fd, room, 4096);

        if (room == NULL)
            return EFBIG;
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0)
            hf__buf_added(text, (size_t)got);
    }
}

hf_status hf__users_read(const char *path, hf__users *users, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc = errno;
    hf_status status;
    hf__buf text;

    hf__quoted(quoted, hf_str(path));
    hf__buf_init(&text, FILE_SIZE_MAX);
    if (fd >= 0) {
        rc = read_all(fd, &text);
        close(fd);
    }
    if (rc != 0 || fd < 0)
        status = hf__fail_errno(err, HF_INVALID, rc, "cannot read %s", quoted);
    else
        status =
            hf__users_parse(hf_view(hf__buf_front(&text), hf__buf_size(&text)),
                            quoted, users, err);
    if (text.data != NULL)
        explicit_bzero(text.data, text.capacity);
    hf__buf_done(&text);
    return status;
}

/* -------------------------------------------------------------------- users */

const hf__user *hf__users_find(const hf__users *users, hf_bytes name)
{
    for (const hf__user *user = users->first; user != NULL; user = user->next) {
        if (hf__user_word_is(name, user->name))
            return user;
    }
    return NULL;
}

const hf__user *hf__users_open(const hf__users *users)
{
    for (const hf__user *user = users->first; user != NULL; user = user->next) {
        if (user->on && user->nopass)
            return user;
    }
    return NULL;
}

/* All bytes are compared, whatever they are. */
static bool is_same_hash(const unsigned char *a, const unsigned char *b)
{
    unsigned differs = 0;

    for (size_t i = 0; i < HF__USERS_HASH_SIZE; i++)
        differs |= (unsigned)(a[i] ^ b[i]);
    return differs == 0;
}

bool hf__user_takes(const hf__user *user, hf_bytes password)
{
    unsigned char bytes[HF__USERS_HASH_SIZE];
    bool found = user->nopass;

    hf__sha256(password.data, password.size, bytes);
    for (const hf__user_hash *at = user->hashes; at != NULL; at = at->next)
        found |= is_same_hash(at->bytes, bytes);
    return found && user->on;
}

/* -------------------------------------------------------------- description */

static bool put_text(hf__buf *buf, const char *text)
{
    return hf__buf_append(buf, text, strlen(text));
}

void hf__user_hash_text(const hf__user_hash *hash,
                        char text[2 * HF__USERS_HASH_SIZE + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < HF__USERS_HASH_SIZE; i++) {
        text[2 * i] = digits[hash->bytes[i] >> 4];
        text[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    text[2 * HF__USERS_HASH_SIZE] = '\0';
}

static const char *sign_of(unsigned access)
{
    if (access == HF__ACL_READ)
        return "%R~";
    return access == HF__ACL_WRITE ? "%W~" : "~";
}

bool hf__user_describe_keys(const hf__user *user, hf__buf *text)
{
    bool fits = !user->all_keys || put_text(text, "~*");

    for (const hf__user_pattern *at = user->keys; at != NULL; at = at->next)
        fits = fits && put_text(text, at == user->keys ? "" : " ") &&
               put_text(text, sign_of(at->access)) &&
               hf__buf_append(text, at->text.data, at->text.size);
    return fits;
}

bool hf__user_describe_channels(const hf__user *user, hf__buf *text)
{
    bool fits = !user->all_channels || put_text(text, "&*");

    for (const hf__user_pattern *at = user->channels; at != NULL; at = at->next)
        fits = fits && put_text(text, at == user->channels ? "&" : " &") &&
               hf__buf_append(text, at->text.data, at->text.size);
    return fits;
}

static bool describe_passwords(const hf__user *user, hf__buf *line)
{
    char text[2 * HF__USERS_HASH_SIZE + 1];
    bool fits = !user->nopass || put_text(line, " nopass");

    for (const hf__user_hash *at = user->hashes; at != NULL; at = at->next) {
        hf__user_hash_text(at, text);
        fits = fits && put_text(line, " #") && put_text(line, text);
    }
    return fits;
}

bool hf__user_describe(const hf__user *user, hf__buf *line)
{
    bool keys = user->all_keys || user->keys != NULL;
    bool channels = user->all_channels || user->channels != NULL;

    return put_text(line, "user ") && put_text(line, user->name) &&
           put_text(line, user->on ? " on" : " off") &&
           describe_passwords(user, line) && put_text(line, keys ? " " : "") &&
           hf__user_describe_keys(user, line) &&
           put_text(line, user->all_channels ? "" : " resetchannels") &&
           put_text(line, channels ? " " : "") &&
           hf__user_describe_channels(user, line) && put_text(line, " ") &&
           hf__buf_append(line, hf__buf_front(&user->rules),
                          hf__buf_size(&user->rules));
}

/* --------------------------------------------------------------------- keep */

/* Without memory they differ. */
static bool are_same(const hf__user *a, const hf__user *b)
{
    hf__buf x, y;
    bool same;

    hf__buf_init(&x, FILE_SIZE_MAX);
    hf__buf_init(&y, FILE_SIZE_MAX);
    same = hf__user_describe(a, &x) && hf__user_describe(b, &y) &&
           hf__buf_size(&x) == hf__buf_size(&y) &&
           memcmp(hf__buf_front(&x), hf__buf_front(&y), hf__buf_size(&x)) == 0;
    hf__buf_done(&x);
    hf__buf_done(&y);
    return same;
}

static hf__user **find_same(hf__users *users, const hf__user *user)
{
    hf__user **at = &users->first;

    while (*at != NULL &&
           (strcmp((*at)->name, user->name) != 0 || !are_same(*at, user)))
        at = &(*at)->next;
    return at;
}

void hf__users_keep(hf__users *users, hf__users *old)
{
    for (hf__user **at = &users->first; *at != NULL; at = &(*at)->next) {
        hf__user **same = find_same(old, *at);
        hf__user *kept = *same, *read = *at;

        if (kept == NULL)
            continue;
        *same = kept->next;
        kept->next = read->next;
        *at = kept;
        hf__user_free(read);
    }
}

/* ------------------------------------------------------------------ changing
 */

/* The same user, by its line. NULL: no memory. */
static hf__user *copy_user(const hf__user *user)
{
    hf__user *made = new_user(hf_str(user->name));
    hf_bytes rules;
    hf__buf line;
    bool fits;

    hf__buf_init(&line, FILE_SIZE_MAX);
    fits = made != NULL && hf__user_describe(user, &line);
    if (fits) {
        rules = hf_view(hf__buf_front(&line), hf__buf_size(&line));
        (void)take_word(&rules);
        (void)take_word(&rules);
        fits = read_rules(made, rules, NULL) == HF_OK;
    }
    hf__buf_done(&line);
    if (!fits && made != NULL) {
        hf__user_free(made);
        made = NULL;
    }
    return made;
}

/* Such a rule could not be written to the file. */
static bool has_blank(hf_bytes word)
{
    const char *text = word.data;

    for (size_t i = 0; i < word.size; i++) {
        if (is_blank(text[i]) || text[i] == '\n' || text[i] == '\0')
            return true;
    }
    return word.size == 0;
}

/* Passwords are hashed, and may have anything in them. */
static const char *apply_rule(hf__user *user, hf_bytes rule)
{
    bool hashed =
        rule.size > 0 && strchr("><", *(const char *)rule.data) != NULL;

    return !hashed && has_blank(rule) ? "Syntax error"
                                      : hf__user_apply(user, rule);
}

hf__user *hf__user_made(const hf__users *users, hf_bytes name,
                        const hf_bytes *rules, size_t count, hf_error *why)
{
    const hf__user *old = hf__users_find(users, name);
    hf__user *user = old != NULL ? copy_user(old) : new_user(name);
    const char *error = user == NULL ? HF__USER_NO_MEMORY : NULL;
    char quoted[HF__QUOTED_SIZE] = "";

    for (size_t i = 0; error == NULL && i < count; i++) {
        error = apply_rule(user, rules[i]);
        if (error != NULL && rules[i].size > 0)
            (void)quote_rule(quoted, rules[i]);
    }
    if (error == NULL) {
        finish_rules(user);
        return user;
    }
    (void)hf__fail(why, HF_INVALID, "Error in ACL SETUSER modifier %s: %s",
                   quoted, error);
    if (user != NULL)
        hf__user_free(user);
    return NULL;
}

static hf__user **find_place(hf__users *users, hf_bytes name)
{
    hf__user **at = &users->first;

    while (*at != NULL && !hf__user_word_is(name, (*at)->name))
        at = &(*at)->next;
    return at;
}

hf__user *hf__users_put(hf__users *users, hf__user *user)
{
    hf__user **at = find_place(users, hf_str(user->name));
    hf__user *old = *at;

    user->next = old != NULL ? old->next : NULL;
    *at = user;
    return old;
}

hf__user *hf__users_take(hf__users *users, hf_bytes name)
{
    hf__user **at = find_place(users, name);
    hf__user *user = *at;

    if (user != NULL)
        *at = user->next;
    return user;
}
