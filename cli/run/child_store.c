/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_store.c - a URL without its passwords.
 *
 * An environment is inherited by everything that a command starts, and printed
 * by much of it. So a password in the URL becomes `password_file` with the
 * name of a memory file that this process has open: until we end, every
 * process of this user can read it below /proc, even one whose descriptors
 * were closed.
 */
#include "run/child_store.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/digits.h"

struct url_part {
    const char *data;
    size_t size;
};

/* ------------------------------------------------------------------ secrets */

char *child_secret(const char *secret)
{
    size_t size = strlen(secret);
    char *name = NULL;
    int fd = memfd_create("holdfast", MFD_CLOEXEC);

    if (fd < 0)
        return NULL;
    if (fchmod(fd, 0600) < 0 || write(fd, secret, size) != (ssize_t)size ||
        asprintf(&name, "/proc/%ld/fd/%d", (long)getpid(), fd) < 0) {
        close(fd);
        return NULL;
    }
    return name; /* the descriptor stays open until we end */
}

/* A part of a URL, decoded; to be freed. */
static char *decode_part(struct url_part text)
{
    char *decoded = malloc(text.size + 1);
    size_t used = 0;
    size_t i;

    if (decoded == NULL)
        return NULL;
    for (i = 0; i < text.size; i++) {
        const char *at = text.data + i;

        if (*at == '%' && i + 2 < text.size && hf__hex_value(at[1]) >= 0 &&
            hf__hex_value(at[2]) >= 0) {
            decoded[used++] =
                (char)(hf__hex_value(at[1]) * 16 + hf__hex_value(at[2]));
            i += 2;
        } else {
            decoded[used++] = *at;
        }
    }
    decoded[used] = '\0';
    return decoded;
}

/* -------------------------------------------------------------------- parts */

static void put_part(FILE *out, struct url_part part)
{
    (void)fwrite(part.data, 1, part.size, out);
}

/* Take what precedes the first of `ends`, which remains in `rest`. */
static struct url_part take_until(struct url_part *rest, const char *ends)
{
    struct url_part part = {rest->data, 0};

    while (part.size < rest->size && strchr(ends, part.data[part.size]) == NULL)
        part.size++;
    rest->data += part.size;
    rest->size -= part.size;
    return part;
}

/* The name of a file with the secret that a part of a URL encodes. */
static bool put_secret(FILE *out, struct url_part text)
{
    char *secret = decode_part(text);
    char *name = secret == NULL ? NULL : child_secret(secret);

    if (name != NULL)
        (void)fputs(name, out);
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    free(secret);
    free(name);
    return name != NULL;
}

/* "user:password@host" without the password, which is returned. */
static struct url_part put_authority(FILE *out, struct url_part authority)
{
    struct url_part password = {NULL, 0};
    const char *at = memrchr(authority.data, '@', authority.size);
    const char *colon = NULL;

    if (at != NULL)
        colon = memchr(authority.data, ':', (size_t)(at - authority.data));
    if (colon == NULL || colon + 1 == at) {
        put_part(out, authority);
        return password;
    }
    password.data = colon + 1;
    password.size = (size_t)(at - password.data);
    put_part(out, (struct url_part){authority.data,
                                    (size_t)(colon - authority.data)});
    if (colon == authority.data)
        at++; /* nor a user */
    put_part(out, (struct url_part){
                      at, (size_t)(authority.data + authority.size - at)});
    return password;
}

static bool put_parameter(FILE *out, struct url_part text)
{
    struct url_part value = text;
    struct url_part name = take_until(&value, "=");
    char *plain = decode_part(name);
    bool secret = plain != NULL && strcmp(plain, "sentinel_password") == 0;
    bool ok = plain != NULL;

    free(plain);
    if (!secret) {
        put_part(out, text);
        return ok;
    }
    (void)fputs("sentinel_password_file=", out);
    if (value.size > 0) {
        value.data++;
        value.size--;
    }
    return put_secret(out, value);
}

static bool put_parameters(FILE *out, struct url_part rest,
                           struct url_part password)
{
    char mark = '?';
    bool ok = true;

    while (rest.size > 0) {
        rest.data++; /* the `?` or `&` */
        rest.size--;
        (void)fputc(mark, out);
        mark = '&';
        ok = put_parameter(out, take_until(&rest, "&")) && ok;
    }
    if (password.size > 0) {
        fprintf(out, "%cpassword_file=", mark);
        ok = put_secret(out, password) && ok;
    }
    return ok;
}

/* --------------------------------------------------------------------- URLs */

static bool put_server(FILE *out, struct url_part url)
{
    const char *slashes = memmem(url.data, url.size, "://", 3);
    struct url_part password;
    size_t before;

    if (slashes == NULL) {
        put_part(out, url);
        return true;
    }
    before = (size_t)(slashes + 3 - url.data);
    put_part(out, (struct url_part){url.data, before});
    url.data += before;
    url.size -= before;
    password = put_authority(out, take_until(&url, "/?"));
    put_part(out, take_until(&url, "?"));
    return put_parameters(out, url, password);
}

/* Does another server's URL begin here? */
static bool begins_url(struct url_part rest)
{
    size_t i = 0;

    while (i < rest.size &&
           (isalnum((unsigned char)rest.data[i]) || rest.data[i] == '+'))
        i++;
    return i > 0 && i + 3 <= rest.size && memcmp(rest.data + i, "://", 3) == 0;
}

static bool put_list(FILE *out, struct url_part rest)
{
    bool ok = true;

    while (rest.size > 0) {
        struct url_part one = {rest.data, 0};

        do {
            one.size++;
        } while (one.size < rest.size &&
                 !(rest.data[one.size - 1] == ',' &&
                   begins_url((struct url_part){rest.data + one.size,
                                                rest.size - one.size})));
        rest.data += one.size;
        rest.size -= one.size;
        if (rest.size > 0)
            one.size--;
        ok = put_server(out, one) && ok;
        if (rest.size > 0)
            (void)fputc(',', out);
    }
    return ok;
}

/* The working directory, encoded for a URL. */
static bool put_folder(FILE *out)
{
    char folder[PATH_MAX];
    const char *at;

    if (getcwd(folder, sizeof(folder)) == NULL)
        return false;
    for (at = folder; *at != '\0'; at++)
        if (isalnum((unsigned char)*at) || strchr("/._-", *at) != NULL)
            (void)fputc(*at, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*at);
    return true;
}

static bool put_url(FILE *out, const char *url)
{
    static const char file[] = "file:";
    size_t size = sizeof(file) - 1;

    if (strncasecmp(url, file, size) != 0)
        return put_list(out, (struct url_part){url, strlen(url)});
    (void)fputs(file, out);
    if (url[size] != '/' && url[size] != '\0') {
        if (!put_folder(out))
            return false;
        (void)fputc('/', out);
    }
    (void)fputs(url + size, out);
    return true;
}

char *child_store(const char *url)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool ok;

    if (out == NULL)
        return NULL;
    ok = put_url(out, url);
    if (fclose(out) == 0 && ok)
        return text;
    free(text);
    return NULL;
}
