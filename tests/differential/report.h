/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - operations and replies as text. */
#ifndef TESTS_DIFFERENTIAL_REPORT_H
#define TESTS_DIFFERENTIAL_REPORT_H

#include <stdio.h>

#include "op.h"
#include "store/store.h"
#include "trial.h"

/* The reply to the operation `item` of a request, truncated to `size`. */
void report_answer(char *text, size_t size, const hf__request *request,
                   size_t item, bool batch);

/* The list up to the operation with different replies, and the replies. */
void report_difference(FILE *to, const pair *both, const op_list *list,
                       const difference *found);

#endif
