/* SPDX-License-Identifier: Apache-2.0 */
/* futex.h - wait for a word to change; across processes if it is shared. */
#ifndef HF__UTIL_FUTEX_H
#define HF__UTIL_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sleep while *word == seen, until an instant of hf__clock_boot_ms() at the
 * latest. Returns also on a signal or for no reason: check the word. `shared`
 * must be true when the word lies in memory shared between processes.
 */
void hf__futex_wait(const uint32_t *word, uint32_t seen, int64_t until_ms,
                    bool shared);

/* Wake all sleepers on the word. */
void hf__futex_wake_all(uint32_t *word, bool shared);

#endif
