/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_forms.h - a value in every form that a Redis writes, as DUMP returns it
 * without its tail.
 */
#ifndef TESTS_SUPPORT_RDB_FORMS_H
#define TESTS_SUPPORT_RDB_FORMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/crc64.h"

/* The value; what reads it, and the reply. Recorded from redis-server 7.0.15,
 * or accepted by it; the last two are of newer servers. */
/* clang-format off */
static const struct {
    const char *hex;
    const char *read;
    const char *want;
} rdb_forms[] = {
    {"00c007", "get k",
     "s:7"},
    {"00c1d4fe", "get k",
     "s:-300"},
    {"00c270110100", "get k",
     "s:70000"},
    {"000a39393939393939393939", "get k",
     "s:9999999999"},
    {"00c3091e017878e01100017878", "get k",
     "s:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"00146162636162616263616261626361626162636162", "get k",
     "s:abcababcababcababcab"},
    {"120102c32d406d196d0000000700816102dffb02cbb802f2a0860104f435"
     "1cdcdf0220180809f2ffff7f04e0467ae03c000148ff", "lrange k 0 -1",
     "[s:a, s:-5, s:3000, s:100000, s:12345678901, s:8388607, s:zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz]"},
    {"0b0e0200000003000000fdff01000200", "smembers k",
     "[s:-3, s:1, s:2]"},
    {"0b180400000004000000fdffffff010000000200000070110100", "smembers k",
     "[s:-3, s:1, s:2, s:70000]"},
    {"0202c00a0161", "smembers k",
     "[s:10, s:a]"},
    {"10121200000004008166028176028167020c01ff", "hgetall k",
     "[s:f, s:v, s:g, s:12]"},
    {"04010166c3094041017676e03400017676", "hgetall k",
     "[s:f, s:vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv]"},
    {"111d1d0000000600816202842d312e3505816102010181630283696e6604"
     "ff", "zrange k 0 -1 withscores",
     "[s:b, s:-1.5, s:a, s:1, s:c, s:inf]"},
    {"0502c3094041016161e03400016161000000000000f03f01620000000000"
     "00f8bf", "zrange k 0 -1 withscores",
     "[s:b, s:-1.5, s:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, s:1]"},
    {"0304016103312e350162fe0163ff0164042d316532", "zrange k 0 -1 withscores",
     "[s:c, s:-inf, s:d, s:-100, s:a, s:1.5, s:b, s:inf]"},
    {"0a32320000002b000000080000016103f302fefb03c0d4fe04f070110105"
     "d080e2d3fb06e0351cdcdf020000000a400378797aff", "lrange k 0 -1",
     "[s:a, s:2, s:-5, s:-300, s:70000, s:-70000000, s:12345678901, s:xyz]"},
    {"0e0210100000000d000000020000016103f3ff12120000000d0000000200"
     "00fefb03c0d4feff", "lrange k 0 -1",
     "[s:a, s:2, s:-5, s:-300]"},
    {"0c181800000012000000040000016103f20201620303312e35ff", "zrange k 0 -1 withscores",
     "[s:a, s:1, s:b, s:1.5]"},
    {"0d181800000012000000040000016103f20201620303312e35ff", "hgetall k",
     "[s:a, s:1, s:b, s:1.5]"},
    {"12010103626967", "lrange k 0 -1",
     "[s:big]"},
    {"010201610162", "lrange k 0 -1",
     "[s:a, s:b]"},
    {"140c0c00000002008161020701ff", "smembers k",
     "[s:a, s:7]"},
    {"1800204aa9d10100000201016601760001670177", "hpexpiretime k fields 2 f g",
     "[i:2000000000000, i:-1]"},
};
/* clang-format on */
#define RDB_FORM_COUNT (sizeof(rdb_forms) / sizeof(rdb_forms[0]))

static inline size_t rdb_from_hex(const char *hex, unsigned char *bytes)
{
    size_t size = 0;
    unsigned byte;

    for (; sscanf(hex + 2 * size, "%2x", &byte) == 1; size++)
        bytes[size] = (unsigned char)byte;
    return size;
}

/* Append version and checksum; returns the new size. */
static inline size_t rdb_put_tail(unsigned char *bytes, size_t size,
                                  unsigned version)
{
    uint64_t sum;

    bytes[size++] = (unsigned char)version;
    bytes[size++] = 0;
    sum = hf__crc64(0, bytes, size);
    for (unsigned i = 0; i < 8; i++)
        bytes[size++] = (unsigned char)(sum >> 8 * i);
    return size;
}

#endif
