/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - lists of fields, as callers give them. */
#ifndef HF__CORE_FIELDS_H
#define HF__CORE_FIELDS_H

#include "core/call.h"

/* 1..HF_HASH_FIELDS_MAX; `what` is what the caller calls the list. */
hf_status hf__check_fields(const void *list, size_t count, const char *what,
                           hf_error *err);

/* A word for each name; their number is checked. */
void hf__add_fields(hf_call *call, const hf_bytes *names, size_t count);

#endif
