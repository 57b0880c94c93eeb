/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_users.c - any bytes as the users of a server: an error names its line
 * and shows no password; users that were read are the same when they are
 * described and read again, and so is what they may do.
 */
#include <string.h>

#include "fuzz.h"
#include "place.h"
#include "serve/users/access.h"
#include "serve/users/users.h"

#define NAME "file"
#define PASSWORD_LEAST 16
#define REQUEST_WORDS 5

static char path[128];

/* Requests that a user may or may not make. */
static const char *const requests[][REQUEST_WORDS] = {
    {"get", "a"},
    {"set", "b", "1", "get"},
    {"copy", "a", "b"},
    {"mset", "a", "1", "key:1", "2"},
    {"eval", "return 1", "1", "a", "b"},
    {"sort", "a", "by", "w*"},
    {"sort", "a", "get", "w"},
    {"publish", "a", "x"},
    {"psubscribe", "a*", "*"},
    {"config", "get", "x"},
    {"acl", "whoami"},
    {"no-such-command", "a"},
};
#define REQUEST_COUNT (sizeof(requests) / sizeof(requests[0]))

/* ------------------------------------------------------------------ reading */

static void open_place(void)
{
    snprintf(path, sizeof(path), "%s/users", place_make());
}

static hf_status read_file(const uint8_t *data, size_t size, hf__users *users)
{
    FILE *file = fopen(path, "wb");

    PROMISE(file != NULL);
    PROMISE(size == 0 || fwrite(data, 1, size, file) == size);
    PROMISE(fclose(file) == 0);
    return hf__users_read(path, users, NULL);
}

static bool is_blank(uint8_t letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

/* Is the text of the word at `at` in another place, too? */
static bool may_be_shown(const uint8_t *data, size_t size, size_t at,
                         size_t length)
{
    return memmem(data, at, data + at, length) != NULL ||
           memmem(data + at + 1, size - at - 1, data + at, length) != NULL;
}

/* Passwords longer than any word of a message, which has quotes of its own. */
static void check_hidden(const uint8_t *data, size_t size, const char *message)
{
    size_t end, stop;

    for (size_t at = 0; at < size; at = end + 1) {
        for (end = at; end < size && !is_blank(data[end]);)
            end++;
        for (stop = end; stop > at && data[stop - 1] == '"';)
            stop--;
        if (stop - at > PASSWORD_LEAST &&
            (data[at] == '>' || data[at] == '<') &&
            memmem(message, strlen(message), data + at + 1, stop - at - 1) !=
                NULL)
            PROMISE(may_be_shown(data, size, at + 1, stop - at - 1));
    }
}

static void check_error(const uint8_t *data, size_t size, const hf_error *err)
{
    static const char head[] = NAME ", line ";
    unsigned long lines = 1, line;
    char *end;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    PROMISE(strncmp(err->message, head, sizeof(head) - 1) == 0);
    line = strtoul(err->message + sizeof(head) - 1, &end, 10);
    PROMISE(line >= 1 && line <= lines);
    PROMISE(strncmp(end, ": ", 2) == 0 && end[2] != '\0');
    check_hidden(data, size, err->message);
}

/* -------------------------------------------------------------------- users */

static hf__access ask(const hf__user *user, const char *const *request,
                      size_t *at)
{
    hf_bytes words[REQUEST_WORDS];
    size_t count = 0;

    while (count < REQUEST_WORDS && request[count] != NULL) {
        words[count] = hf_str(request[count]);
        count++;
    }
    return hf__access_check(user, words, count, at);
}

static void check_same_rights(const hf__user *a, const hf__user *b)
{
    PROMISE(a->on == b->on && a->nopass == b->nopass);
    PROMISE(a->unlimited == b->unlimited);
    for (size_t i = 0; i < REQUEST_COUNT; i++) {
        size_t at = 0, other_at = 0;

        PROMISE(ask(a, requests[i], &at) == ask(b, requests[i], &other_at));
        PROMISE(at == other_at);
        PROMISE(!a->unlimited || ask(a, requests[i], &at) == HF__ACCESS_OK);
    }
    PROMISE(hf__user_takes(a, hf_str("secret")) ==
            hf__user_takes(b, hf_str("secret")));
}

static void describe_all(const hf__users *users, hf__buf *text)
{
    hf__buf_init(text, SIZE_MAX / 2);
    for (const hf__user *user = users->first; user != NULL; user = user->next) {
        PROMISE(hf__user_describe(user, text));
        PROMISE(hf__buf_append(text, "\n", 1));
    }
}

/* Frees them: they move to those that are read again. */
static void check_users(hf__users *users)
{
    hf_error err = HF_ERROR_INIT;
    hf__users again;
    hf__buf text, other;

    describe_all(users, &text);
    if (hf__users_parse(hf_view(hf__buf_front(&text), hf__buf_size(&text)),
                        NAME, &again, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    describe_all(&again, &other);
    PROMISE(hf__buf_size(&text) == hf__buf_size(&other));
    PROMISE(memcmp(hf__buf_front(&text), hf__buf_front(&other),
                   hf__buf_size(&text)) == 0);
    for (const hf__user *a = users->first, *b = again.first; a != NULL;
         a = a->next, b = b->next)
        check_same_rights(a, b);
    PROMISE(hf__users_find(&again, hf_str("default")) != NULL);
    hf__users_keep(&again, users);
    PROMISE(users->first == NULL);
    hf__users_done(&again);
    hf__buf_done(&text);
    hf__buf_done(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_error err = HF_ERROR_INIT;
    hf__users users, from_file;
    hf_status status;

    if (path[0] == '\0')
        open_place();
    status = hf__users_parse(hf_view(data, size), NAME, &users, &err);
    PROMISE(read_file(data, size, &from_file) == status);
    if (status == HF_OK) {
        check_users(&users);
        hf__users_done(&from_file);
    } else {
        PROMISE(status == HF_INVALID);
        check_error(data, size, &err);
        PROMISE(users.first == NULL && from_file.first == NULL);
    }
    return 0;
}
