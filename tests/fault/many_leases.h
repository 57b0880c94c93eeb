/* SPDX-License-Identifier: Apache-2.0 */
/* many_leases.h - handles of mixed kinds by the thousand, and what is done with
 * all of them. */
#ifndef MANY_LEASES_H
#define MANY_LEASES_H

#include "holdfast/lock.h"

/* Make `count` handles: of locks only, or a third of each of locks, permits and
 * readers, which share names; these begin with `prefix`. opts->user of each is
 * `user` plus its number times `step` bytes. */
hf_status leases_make(hf_client *client, const char *prefix,
                      const hf_lock_options *opts, size_t step, bool mixed,
                      hf_lock **locks, size_t count, hf_error *err);

/* Acquire or release all; how many were not. */
size_t leases_acquire(hf_lock *const *locks, size_t count);
size_t leases_release(hf_lock *const *locks, size_t count);

size_t leases_held(hf_lock *const *locks, size_t count);
void leases_free(hf_lock **locks, size_t count);

#endif
