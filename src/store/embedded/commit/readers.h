/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.h - readers that hold back pages which were freed since they began.
 */
#ifndef HF__EMBEDDED_READERS_H
#define HF__EMBEDDED_READERS_H

#include "store/embedded/commit/env.h"

/*
 * There is no free page: wait a little for the reader that has read longest.
 * The writer lock is held and no transaction is open. true: it has ended, so
 * that trying again may help.
 */
bool hf__readers_await(hf__env *env);

/* The oldest snapshot that anybody reads; UINT64_MAX: nobody does. */
uint64_t hf__readers_oldest(hf__env *env);

#endif
