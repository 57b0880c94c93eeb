/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_frame.h - a dump made of a fuzzer's bytes, with the checksums that it
 * needs, as no fuzzer finds them.
 */
#ifndef TESTS_FUZZ_DUMP_FRAME_H
#define TESTS_FUZZ_DUMP_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define DUMP_FRAME_MAX 65536u

/* The records of `data`, each a kind, two bytes of size, and a payload; those
 * that do not fit are left out, and the end record is up to them. Returns the
 * size. */
size_t dump_frame(unsigned char dump[DUMP_FRAME_MAX], const uint8_t *data,
                  size_t size);

#endif
