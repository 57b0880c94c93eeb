/* SPDX-License-Identifier: Apache-2.0 */
/* exceptions.h - the differences that are known and meant. */
#ifndef TESTS_DIFFERENTIAL_EXCEPTIONS_H
#define TESTS_DIFFERENTIAL_EXCEPTIONS_H

#include "op.h"
#include "store/store.h"

typedef enum exception_order {
    ORDER_MATTERS,
    ORDER_CHANCE,
    ORDER_SAME
} exception_order;

/* Does the order of these two answers of SORT mean anything? */
exception_order exception_sorted(const op *command, const hf_reply *tested,
                                 const hf_reply *server);

/* Is the server's answer one that its driver cannot read, so that there is
 * nothing to compare with? */
bool exception_unreadable(const hf__request *server);

/* Is one error the beginning of the other, cut where the embedded store cuts
 * them? */
bool exception_cut_error(const hf_reply *tested, const hf_reply *server);

/* Are two different texts the same in a reply about scores? */
bool exception_same_text(const hf_reply *tested, const hf_reply *server);

#endif
