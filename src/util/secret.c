/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - reading a password's file, and wiping it on failure. */
#include "util/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"
#include "util/url.h"

/* HF__SECRET_SIZE bytes and one more, to detect a password that is too long. */
typedef struct secret_text {
    char data[HF__SECRET_SIZE + 1];
    size_t size;
} secret_text;

/* Read a line, or as much as may be one. A pipe returns pieces, and need not
 * end after the line. */
static int read_line(int fd, secret_text *text)
{
    char *to;
    ssize_t got;

    while (text->size < sizeof(text->data)) {
        to = text->data + text->size;
        got = read(fd, to, sizeof(text->data) - text->size);
        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0)
            break;
        if (got < 0)
            continue;
        text->size += (size_t)got;
        if (memchr(to, '\n', (size_t)got) != NULL)
            break;
    }
    return 0;
}

static hf_status take_line(const char *what, const char *name,
                           const secret_text *from, char text[HF__SECRET_SIZE],
                           hf_error *err)
{
    size_t size = 0;

    while (size < from->size && from->data[size] != '\n' &&
           from->data[size] != '\r')
        size++;
    if (size >= HF__SECRET_SIZE)
        return hf__fail(err, HF_INVALID,
                        "%s: the first line of %s is over %d bytes", what, name,
                        HF__SECRET_SIZE - 1);
    if (size == 0)
        return hf__fail(err, HF_INVALID, "%s: the first line of %s is empty",
                        what, name);
    if (memchr(from->data, '\0', size) != NULL)
        return hf__fail(err, HF_INVALID, "%s: %s has a NUL in it", what, name);
    memcpy(text, from->data, size);
    text[size] = '\0';
    return HF_OK;
}

hf_status hf__secret_read(const char *what, const char *path,
                          char text[HF__SECRET_SIZE], hf_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char name[HF__QUOTED_SIZE];
    secret_text found = {.size = 0};
    hf_status status;
    int rc;

    hf__quoted(name, hf_str(path));
    if (fd < 0)
        return hf__fail_errno(err, HF_INVALID, errno, "%s: cannot open %s",
                              what, name);
    rc = read_line(fd, &found);
    close(fd);
    if (rc != 0)
        status = hf__fail_errno(err, HF_INVALID, rc, "%s: cannot read %s", what,
                                name);
    else
        status = take_line(what, name, &found, text, err);
    explicit_bzero(&found, sizeof(found));
    return status;
}

hf_status hf__url_secret(const hf__url *url, char text[HF__SECRET_SIZE],
                         const char **password, hf_error *err)
{
    const char *path = hf__url_param_get(url, "password_file");
    hf_status status;

    *password = url->password;
    if (path == NULL)
        return HF_OK;
    if (url->password != NULL)
        return hf__fail(err, HF_INVALID,
                        "the URL has a password and a password_file");
    status = hf__secret_read("password_file", path, text, err);
    if (status == HF_OK)
        *password = text;
    return status;
}
