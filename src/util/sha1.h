/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha1.h - SHA-1 (RFC 3174), which is what Redis names scripts by. Not for
 * security.
 */
#ifndef HF__UTIL_SHA1_H
#define HF__UTIL_SHA1_H

#include <stdbool.h>
#include <stddef.h>

#define HF__SHA1_HEX_SIZE 41

/* Digest as 40 lower-case hexadecimal digits and a NUL. */
void hf__sha1_hex(const void *data, size_t size, char text[HF__SHA1_HEX_SIZE]);

/* The same, for tests: `plainly` without instructions for it. */
void hf__sha1_by(bool plainly, const void *data, size_t size,
                 char text[HF__SHA1_HEX_SIZE]);

#endif
