/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - how much of the calling thread's stack is left.
 */
#ifndef HF__UTIL_STACK_H
#define HF__UTIL_STACK_H

#include <stddef.h>

/* Bytes; SIZE_MAX if unknown: a coroutine may run on a stack of its own. */
size_t hf__stack_left(void);

#endif
