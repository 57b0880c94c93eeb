/* SPDX-License-Identifier: Apache-2.0 */
/* dump_frame.c - see dump_frame.h. */
#include "dump_frame.h"

#include <string.h>

#include "transfer/dump_format.h"
#include "util/crc32c.h"

size_t dump_frame(unsigned char dump[DUMP_FRAME_MAX], const uint8_t *data,
                  size_t size)
{
    size_t used = HF__DUMP_HEAD_SIZE;
    uint32_t crc;
    size_t part;

    memset(dump, 0, used);
    memcpy(dump, HF__DUMP_MAGIC, HF__DUMP_MAGIC_SIZE);
    hf__dump_put(dump + 8, HF__DUMP_VERSION, 2);
    crc = hf__crc32c(0, dump, used - 4);
    hf__dump_put(dump + used - 4, crc, 4);
    while (size >= 3) {
        part = (size_t)data[1] | (size_t)data[2] << 8;
        part = part < size - 3 ? part : size - 3;
        if (used + part + HF__DUMP_RECORD_EXTRA > DUMP_FRAME_MAX)
            break;
        hf__dump_put(dump + used, part, 4);
        dump[used + 4] = data[0];
        memcpy(dump + used + HF__DUMP_RECORD_HEAD, data + 3, part);
        crc = hf__crc32c(crc, dump + used, HF__DUMP_RECORD_HEAD + part);
        used += HF__DUMP_RECORD_HEAD + part;
        hf__dump_put(dump + used, crc, 4);
        used += 4;
        data += 3 + part;
        size -= 3 + part;
    }
    return used;
}
