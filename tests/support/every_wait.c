/* SPDX-License-Identifier: Apache-2.0 */
/* every_wait.c - the calls of latches and barriers, for the table of
 * every_call.c. */
#include "support/every_wait.h"

/* Run it, or start it: `...` are the arguments before async and err. */
#define CALL(function, ...)                                                    \
    (async == NULL ? function(__VA_ARGS__, err)                                \
                   : function##_start(__VA_ARGS__, async, err))

EVERY_WAIT(every_latch_set)
{
    return CALL(hf_latch_set, p->client, p->key, 1, 60000, &p->result.number);
}

EVERY_WAIT(every_latch_arrive)
{
    return CALL(hf_latch_arrive, p->client, p->key, hf_str("1"), 1,
                &p->result.number);
}

EVERY_WAIT(every_latch_await)
{
    return CALL(hf_latch_await, p->client, p->key, 0);
}

EVERY_WAIT(every_latch_left)
{
    return CALL(hf_latch_left, p->client, p->key, &p->result.number);
}

EVERY_WAIT(every_latch_delete)
{
    return CALL(hf_latch_delete, p->client, p->key);
}
