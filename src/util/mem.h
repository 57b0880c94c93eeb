/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - every allocation of the library goes through here, so that tests can
 * make each of them fail once.
 */
#ifndef HF__UTIL_MEM_H
#define HF__UTIL_MEM_H

#include <stddef.h>

/* NULL when out of memory. A size of 0 is treated as 1. */
void *hf__alloc(size_t size);
void *hf__calloc(size_t count, size_t size); /* zeroed; overflow gives NULL */
void *hf__realloc(void *memory, size_t size);
void hf__free(void *memory);

/* NUL-terminated copies. */
char *hf__strdup(const char *text);
char *hf__memdup(const void *data, size_t size);

/*
 * Test seam: let `after` more allocations succeed, on whichever threads, and
 * then fail one; negative turns it off. Returns how many of the time before
 * were left; negative: that one has failed, or it was off. Not for production.
 */
long hf__alloc_fail_after(long after);

#endif
