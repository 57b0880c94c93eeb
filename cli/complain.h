/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.h - messages on stderr.
 */
#ifndef HOLDFAST_CLI_COMPLAIN_H
#define HOLDFAST_CLI_COMPLAIN_H

#include "holdfast/base.h"

/*
 * Print "holdfast: WHAT: MESSAGE" as one line; WHAT may be NULL. Control bytes
 * are printed as `?`.
 */
void complain(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print the message of a failed call; its exit code. */
int complain_status(const char *what, hf_status status, const hf_error *err);

#endif
