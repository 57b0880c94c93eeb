/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - filling hf_error: the lowest layer that knows writes the message.
 */
#ifndef HF__UTIL_ERROR_H
#define HF__UTIL_ERROR_H

#include "holdfast/base.h"

/*
 * Fill `err` (NULL allowed) and return `status`. Newlines and other control
 * characters in the result become spaces, so that a message is always one
 * line. The _errno form also records the number and appends its text.
 */
hf_status hf__fail(hf_error *err, hf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
hf_status hf__fail_errno(hf_error *err, hf_status status, int sys_errno,
                         const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Newlines and other control characters become spaces. */
void hf__make_one_line(char *text);

/* Copy `from` into `to` (NULL allowed) and return its status. */
hf_status hf__fail_copy(hf_error *to, const hf_error *from);

/* The same failure with another status, which is returned; NULL allowed. */
hf_status hf__fail_as(hf_error *err, hf_status status);

/* Put "text: " before the message that `err` holds. */
void hf__fail_prefix(hf_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * A short form of bytes for a message, in double quotes: printable ASCII as it
 * is, the rest and `"` and `\` as \xNN, cut after 40 bytes with "..." behind
 * the quotes. Returns `text`.
 */
#define HF__QUOTED_SIZE 176
const char *hf__quoted(char text[HF__QUOTED_SIZE], hf_bytes bytes);

/* A long path is cut at its beginning, with "..." before the quotes: its end
 * says which it is. */
const char *hf__quoted_path(char text[HF__QUOTED_SIZE], const char *path);

#endif
