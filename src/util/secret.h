/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - passwords in files. Messages name the file, never its contents.
 * The caller wipes the password after use.
 */
#ifndef HF__UTIL_SECRET_H
#define HF__UTIL_SECRET_H

#include "holdfast/base.h"

struct hf__url;

/* Longest password, with its NUL. */
#define HF__SECRET_SIZE 4097

/*
 * The first line of a file, without its end; the rest is ignored. `what` is the
 * parameter that named the file. HF_INVALID: it cannot be read, is longer, has
 * a NUL in it, or its first line is empty: a file that has not been filled yet
 * must not become a login without a password.
 */
hf_status hf__secret_read(const char *what, const char *path,
                          char text[HF__SECRET_SIZE], hf_error *err);

/*
 * The password that a URL has: its own, which belongs to the URL, or that of
 * its parameter "password_file", read into `text`; NULL: neither. HF_INVALID
 * also for both.
 */
hf_status hf__url_secret(const struct hf__url *url, char text[HF__SECRET_SIZE],
                         const char **password, hf_error *err);

#endif
