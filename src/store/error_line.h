/* SPDX-License-Identifier: Apache-2.0 */
/* error_line.h - error messages that are the same for every store. */
#ifndef HF__STORE_ERROR_LINE_H
#define HF__STORE_ERROR_LINE_H

#include <stdbool.h>

#include "holdfast/base.h"

/* What a script of ours says that has done nothing, as too many members of a
 * rank have expired. */
#define HF__LATE_TEXT "too many members have expired"

bool hf__text_begins(hf_bytes text, const char *with);

/* The text behind its first `size` bytes. */
hf_bytes hf__text_skip(hf_bytes text, size_t size);

/*
 * Fill `err` from an error text of Redis's form: "CODE text", perhaps with
 * "user_script:<line>: " or " script: <sha1>, on @user_script:<line>." in it,
 * or what a function of a library has in place of these. `hint` is appended; it
 * may be NULL. Returns `status`.
 */
hf_status hf__error_line(hf_error *err, hf_status status, hf_bytes text,
                         const char *hint);

#endif
