/* SPDX-License-Identifier: Apache-2.0 */
/* exceptions.h - the known and intended differences. */
#ifndef TESTS_DIFFERENTIAL_EXCEPTIONS_H
#define TESTS_DIFFERENTIAL_EXCEPTIONS_H

#include "op.h"
#include "store/store.h"

typedef enum exception_order {
    ORDER_MATTERS,
    ORDER_CHANCE,
    ORDER_SAME
} exception_order;

/* Is the order of these two replies of SORT defined? */
exception_order exception_sorted(const op *command, const hf_reply *tested,
                                 const hf_reply *server);

/* Is the server's reply one that its driver cannot read, so that there is
 * nothing to compare with? */
bool exception_unreadable(const hf__request *server);

/* Is one error a prefix of the other, truncated where the embedded store does
 * it? */
bool exception_cut_error(const hf_reply *tested, const hf_reply *server);

/* Do two different texts mean the same in a reply with scores? */
bool exception_same_text(const hf_reply *tested, const hf_reply *server);

#endif
