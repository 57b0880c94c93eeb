/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - are two replies to one request the same? */
#ifndef TESTS_DIFFERENTIAL_COMPARE_H
#define TESTS_DIFFERENTIAL_COMPARE_H

#include "op.h"
#include "store/store.h"

/* All operations of a request got the same replies. */
#define COMPARE_SAME SIZE_MAX

/*
 * Which operation of a request got different replies, or COMPARE_SAME. Times
 * may differ by `apart_ms`, the duration of the round. May reorder arrays whose
 * order does not matter.
 */
size_t compare_answers(const op *ops, size_t count, hf__request *tested,
                       hf__request *server, int64_t apart_ms);

#endif
