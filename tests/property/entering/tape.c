/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.c - a dump with one record changed, and its checksums corrected.
 */
#include <string.h>

#include "entering.h"
#include "transfer/dump_format.h"
#include "util/crc32c.h"

static void change_payload(prng *random, unsigned char *payload, size_t size)
{
    static const uint64_t bounds[] = {0,
                                      1,
                                      (UINT64_C(1) << 46) - 1,
                                      UINT64_C(1) << 46,
                                      UINT64_C(1) << 53,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX};
    uint64_t number = bounds[prng_below(random, 8)];
    size_t at = prng_below(random, size);

    if (prng_chance(random, 30) && at + sizeof(number) <= size)
        memcpy(payload + at, &number, sizeof(number));
    else if (payload[at] >= '0' && payload[at] <= '9')
        payload[at] = (unsigned char)('0' + prng_below(random, 10));
    else
        payload[at] ^= (unsigned char)(1u << prng_below(random, 8));
}

void change_tape(prng *random, dump_tape *tape)
{
    size_t at = HF__DUMP_HEAD_SIZE;
    uint32_t crc = (uint32_t)hf__dump_get(tape->data + at - 4, 4);

    while (at + HF__DUMP_RECORD_EXTRA <= tape->size) {
        unsigned char *record = tape->data + at;
        size_t size = (size_t)hf__dump_get(record, 4);

        if (record[4] != HF__DUMP_END && size > 0 && prng_chance(random, 30))
            change_payload(random, record + HF__DUMP_RECORD_HEAD, size);
        crc = hf__crc32c(crc, record, HF__DUMP_RECORD_HEAD + size);
        hf__dump_put(record + HF__DUMP_RECORD_HEAD + size, crc, 4);
        at += size + HF__DUMP_RECORD_EXTRA;
    }
}
