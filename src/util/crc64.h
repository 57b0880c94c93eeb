/* SPDX-License-Identifier: Apache-2.0 */
/* crc64.h - the CRC of Jones, which Redis puts behind a DUMP. */
#ifndef HF__UTIL_CRC64_H
#define HF__UTIL_CRC64_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what gave `crc` (0: nothing) followed by these bytes. */
uint64_t hf__crc64(uint64_t crc, const void *data, size_t size);

#endif
