/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h - notice that this process is a child of the one that made an object.
 * Reading is one load: pthread_atfork() counts the forks.
 */
#ifndef HF__UTIL_FORK_H
#define HF__UTIL_FORK_H

#include <stdint.h>

/* How many forks lie between this process and the one that first loaded the
 * library. An object remembers it at birth and compares. */
uint32_t hf__fork_generation(void);

#endif
