/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - writing hf_error. Whatever comes in, the message is one line that
 * ends with a NUL; a caller's struct_size is left as the caller set it.
 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a message shown by hf__quoted(). */
#define QUOTED_MAX 40

void hf__make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = ' ';
    }
}

static void fill_error(hf_error *err, hf_status status, int sys_errno,
                       const char *format, va_list args)
{
    err->status = status;
    err->sys_errno = sys_errno;
    if (vsnprintf(err->message, sizeof(err->message), format, args) < 0)
        err->message[0] = '\0';
    hf__make_one_line(err->message);
}

hf_status hf__fail(hf_error *err, hf_status status, const char *format, ...)
{
    va_list args;

    if (err == NULL)
        return status;
    va_start(args, format);
    fill_error(err, status, 0, format, args);
    va_end(args);
    return status;
}

/* glibc's strerror_r() returns the text, which may be elsewhere; that of POSIX,
 * which musl has, a number. */
static const char *reason_of(int sys_errno, char *buffer, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(sys_errno, buffer, size);
#else
    return strerror_r(sys_errno, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

hf_status hf__fail_errno(hf_error *err, hf_status status, int sys_errno,
                         const char *format, ...)
{
    char reason[128];
    va_list args;
    size_t size;

    if (err == NULL)
        return status;
    va_start(args, format);
    fill_error(err, status, sys_errno, format, args);
    va_end(args);
    size = strlen(err->message);
    snprintf(err->message + size, sizeof(err->message) - size, ": %s",
             reason_of(sys_errno, reason, sizeof(reason)));
    return status;
}

hf_status hf__fail_copy(hf_error *to, const hf_error *from)
{
    if (to != NULL && to != from) {
        to->status = from->status;
        to->sys_errno = from->sys_errno;
        memcpy(to->message, from->message, sizeof(to->message));
    }
    return from->status;
}

hf_status hf__fail_as(hf_error *err, hf_status status)
{
    if (err != NULL)
        err->status = status;
    return status;
}

void hf__fail_prefix(hf_error *err, const char *format, ...)
{
    char old[HF_ERROR_MESSAGE_SIZE];
    va_list args;
    size_t size;

    if (err == NULL)
        return;
    memcpy(old, err->message, sizeof(old));
    va_start(args, format);
    fill_error(err, err->status, err->sys_errno, format, args);
    va_end(args);
    size = strlen(err->message);
    snprintf(err->message + size, sizeof(err->message) - size, ": %s", old);
}

/* The end of what was written, which has no NUL. */
static char *put_quoted(char *to, const unsigned char *from, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    *to++ = '"';
    for (size_t i = 0; i < size; i++) {
        if (from[i] >= 0x20 && from[i] < 0x7f && from[i] != '"' &&
            from[i] != '\\') {
            *to++ = (char)from[i];
            continue;
        }
        *to++ = '\\';
        *to++ = 'x';
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
    *to++ = '"';
    return to;
}

const char *hf__quoted(char text[HF__QUOTED_SIZE], hf_bytes bytes)
{
    size_t shown = bytes.size < QUOTED_MAX ? bytes.size : QUOTED_MAX;
    char *to = put_quoted(text, bytes.data, shown);

    memcpy(to, bytes.size > shown ? "..." : "", bytes.size > shown ? 4 : 1);
    return text;
}

const char *hf__quoted_path(char text[HF__QUOTED_SIZE], const char *path)
{
    size_t size = strlen(path);
    size_t cut = size > QUOTED_MAX ? size - QUOTED_MAX : 0;
    char *to = text;

    if (cut > 0)
        to = (char *)memcpy(to, "...", 3) + 3;
    *put_quoted(to, (const unsigned char *)path + cut, size - cut) = '\0';
    return text;
}
