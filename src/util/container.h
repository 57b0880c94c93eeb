/* SPDX-License-Identifier: Apache-2.0 */
/* container.h - from a member to the struct around it. */
#ifndef HF__UTIL_CONTAINER_H
#define HF__UTIL_CONTAINER_H

#include <stddef.h>

/* The `type` whose `member` is at `pointer`. */
#define hf__container_of(pointer, type, member)                                \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
