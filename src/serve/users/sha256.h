/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.h - SHA-256, by which passwords are kept. */
#ifndef HF__SERVE_SHA256_H
#define HF__SERVE_SHA256_H

#include <stddef.h>

#define HF__SHA256_SIZE 32

void hf__sha256(const void *data, size_t size,
                unsigned char digest[HF__SHA256_SIZE]);

#endif
