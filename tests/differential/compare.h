/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - are two answers to one request the same? */
#ifndef TESTS_DIFFERENTIAL_COMPARE_H
#define TESTS_DIFFERENTIAL_COMPARE_H

#include "op.h"
#include "store/store.h"

/* All of a request's operations answered alike. */
#define COMPARE_SAME SIZE_MAX

/*
 * Which operation of a request is answered differently, or COMPARE_SAME.
 * Times may differ by `apart_ms`, which is how long the round has taken. May
 * reorder arrays whose order means nothing.
 */
size_t compare_answers(const op *ops, size_t count, hf__request *tested,
                       hf__request *server, int64_t apart_ms);

#endif
