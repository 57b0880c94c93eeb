/* SPDX-License-Identifier: Apache-2.0 */
/* rand.h - random bytes from the kernel, and cheap jitter. */
#ifndef HF__UTIL_RAND_H
#define HF__UTIL_RAND_H

#include <stddef.h>
#include <stdint.h>

/* Fill with unpredictable bytes (getrandom); aborts if the kernel has none. */
void hf__rand_bytes(void *data, size_t size);

/* Random bytes as 2 * size lower-case hexadecimal digits and a NUL. */
void hf__rand_hex(char *text, size_t size);

/* A number in low..high, both included, for jitter only. */
int64_t hf__rand_between(int64_t low, int64_t high);

#endif
