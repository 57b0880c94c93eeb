/* SPDX-License-Identifier: Apache-2.0 */
/* crc32c.h - the Castagnoli CRC (RFC 3720), against damage, not malice. */
#ifndef HF__UTIL_CRC32C_H
#define HF__UTIL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what gave `crc` (0: nothing) followed by these bytes. */
uint32_t hf__crc32c(uint32_t crc, const void *data, size_t size);

#endif
