/* SPDX-License-Identifier: Apache-2.0 */
/* shrink_runs.c - see shrink_runs.h. */
#include "support/shrink_runs.h"

bool shrink_runs(size_t count,
                 size_t (*without)(void *user, size_t from, size_t count),
                 void *user)
{
    size_t left = count;

    for (size_t size = count / 2; size >= 1; size /= 2) {
        size_t at = left;

        /* From the end: later elements depend on earlier ones. */
        while (at > 0) {
            size_t from = at > size ? at - size : 0;

            left = without(user, from, at - from);
            at = from < left ? from : left;
        }
    }
    return left < count;
}
