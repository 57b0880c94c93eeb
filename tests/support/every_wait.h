/* SPDX-License-Identifier: Apache-2.0 */
/* every_wait.h - parts of the table of every_call.h. */
#ifndef TESTS_SUPPORT_EVERY_WAIT_H
#define TESTS_SUPPORT_EVERY_WAIT_H

#include "support/every_call.h"

#define EVERY_WAIT(name)                                                       \
    hf_status name(every_place *p, const hf_async *async, hf_error *err)

EVERY_WAIT(every_latch_set);
EVERY_WAIT(every_latch_arrive);
EVERY_WAIT(every_latch_await);
EVERY_WAIT(every_latch_await_early);
EVERY_WAIT(every_latch_left);
EVERY_WAIT(every_latch_delete);
EVERY_WAIT(every_limiter_take);
EVERY_WAIT(every_limiter_take_waiting);
EVERY_WAIT(every_limiter_take_many);
EVERY_WAIT(every_ids_next);
EVERY_WAIT(every_semaphore_resize);
EVERY_WAIT(every_lock_break_owner);
EVERY_WAIT(every_rwlock_downgrade);
EVERY_WAIT(every_election_proclaim);
EVERY_WAIT(every_election_leader);
EVERY_WAIT(every_timeline_count_matching);
EVERY_WAIT(every_timeline_delete);
EVERY_WAIT(every_key_rename);
EVERY_WAIT(every_key_copy);
EVERY_WAIT(every_key_delete);
EVERY_WAIT(every_barrier_wait);
EVERY_WAIT(every_barrier_reset);

#endif
