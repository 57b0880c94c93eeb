/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.h - messages on stderr.
 */
#ifndef HOLDFAST_CLI_COMPLAIN_H
#define HOLDFAST_CLI_COMPLAIN_H

#include <stdbool.h>

#include "holdfast/base.h"
#include "json_line.h"

/*
 * Print "holdfast: WHAT: MESSAGE" as one line; WHAT may be NULL. Control bytes
 * are printed as `?`. It is why the command fails: the last one is what
 * complain_json() says.
 */
void complain(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print such a line about something that is no failure. */
void notice(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Which option or argument the next complaint is about. Without it, the first
 * text in quotes of the message. */
void complain_about(const char *culprit);

/* Which status of the library it comes from. */
void complain_of(hf_status status);

/* Print the message of a failed call; its exit code. */
int complain_status(const char *what, hf_status status, const hf_error *err);

/* Was there a complaint? */
bool complained(void);

/* The member "error" of an object: the last complaint. */
void complain_json(struct json *json, int code);

#endif
