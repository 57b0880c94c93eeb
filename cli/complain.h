/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.h - the one way to say something on stderr.
 */
#ifndef HOLDFAST_CLI_COMPLAIN_H
#define HOLDFAST_CLI_COMPLAIN_H

#include "holdfast.h"

/*
 * Print "holdfast: WHAT: MESSAGE" as one line; WHAT may be NULL. Control bytes
 * that came in with a user's string are shown as `?`, so that it stays one.
 */
void complain(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tell a status in the words of the library, and give its exit code. */
int complain_status(const char *what, hf_status status, const hf_error *err);

#endif
