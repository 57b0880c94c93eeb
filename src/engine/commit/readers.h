/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.h - readers that hold back pages which were freed since they began.
 */
#ifndef HF__ENGINE_READERS_H
#define HF__ENGINE_READERS_H

#include "engine/commit/env.h"

/*
 * No page is free: wait briefly for the oldest reader. The writer lock is held
 * and no transaction is open. true: it has ended, so trying again may help.
 */
bool hf__readers_await(hf__env *env);

/* The oldest snapshot that is being read; UINT64_MAX: none. */
uint64_t hf__readers_oldest(hf__env *env);

#endif
