/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_dump.c - any bytes as a dump, in any pieces: what is read keeps the
 * format's bounds and is the same for all pieces.
 *
 * The first byte chooses the pieces. If its high bit is set, the rest is not
 * read verbatim but as the records of a dump, whose checksums are corrected
 * here, as no fuzzer finds them.
 */
#include <string.h>

#include "fuzz.h"
#include "support/prng.h"
#include "transfer/dump_reader.h"
#include "util/crc32c.h"

#define DUMP_MAX 65536

typedef struct stream {
    const uint8_t *data;
    size_t size;
    size_t at;
    prng random;
    size_t most;
} stream;

typedef struct outcome {
    hf_status status;
    uint64_t events;
    uint32_t sum;
} outcome;

static int give(void *user, void *to, size_t size, size_t *got)
{
    stream *from = user;

    *got = from->size - from->at;
    if (*got > size)
        *got = size;
    if (*got > from->most)
        *got = 1 + prng_next(&from->random) % from->most;
    memcpy(to, from->data + from->at, *got);
    from->at += *got;
    return 0;
}

static void check_event(const hf__dump_reader *reader, hf__dump_event event,
                        outcome *out)
{
    out->events++;
    if (event == HF__DUMP_AT_KEY) {
        PROMISE(reader->key.size <= HF__KEY_SIZE_MAX);
        PROMISE(reader->type >= HF__DUMP_STRING);
        PROMISE(reader->type <= HF__DUMP_TYPE_MAX);
        PROMISE(reader->expires_unix_ms >= 0);
        out->sum = hf__crc32c(out->sum, reader->key.data, reader->key.size);
    }
    if (event == HF__DUMP_AT_PIECE) {
        PROMISE(reader->total <= HF_VALUE_MAX);
        PROMISE(reader->piece.size <= HF__DUMP_PAYLOAD_MAX);
        PROMISE(reader->offset + reader->piece.size <= reader->total);
        PROMISE(reader->deadline_unix_ms >= 0);
        PROMISE(reader->deadline_unix_ms <= HF__DEADLINE_MAX);
        out->sum = hf__crc32c(out->sum, reader->piece.data, reader->piece.size);
    }
}

static outcome read_all(const uint8_t *data, size_t size, size_t most,
                        uint64_t seed)
{
    stream from = {data, size, 0, {seed}, most};
    hf__dump_reader reader = {.read = give, .user = &from};
    hf__dump_event event = HF__DUMP_AT_KEY;
    hf_error err = HF_ERROR_INIT;
    outcome out = {HF_OK, 0, 0};

    out.status = hf__dump_reader_begin(&reader, &err);
    while (out.status == HF_OK && event != HF__DUMP_AT_END) {
        out.status = hf__dump_reader_next(&reader, &event, &err);
        if (out.status == HF_OK)
            check_event(&reader, event, &out);
        PROMISE(out.events <= 2 * size + 2); /* each takes a byte at least */
    }
    if (out.status != HF_OK)
        PROMISE(out.status == err.status && err.message[0] != '\0');
    PROMISE(out.status == HF_OK || out.status == HF_INVALID ||
            out.status == HF_CORRUPT || out.status == HF_UNSUPPORTED);
    PROMISE(out.status != HF_OK || from.at == size);
    hf__dump_reader_done(&reader);
    return out;
}

/* Records from `data`: a kind, two bytes of size, payload; the end record is up
 * to them. */
static size_t frame(unsigned char *dump, const uint8_t *data, size_t size)
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
        if (used + part + HF__DUMP_RECORD_EXTRA > DUMP_MAX)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char dump[DUMP_MAX];
    outcome whole, pieces;
    unsigned choice;

    if (size < 1)
        return 0;
    choice = data[0];
    data++;
    size--;
    if (choice & 0x80) {
        size = frame(dump, data, size);
        data = dump;
    }
    whole = read_all(data, size, SIZE_MAX / 2, 0);
    pieces = read_all(data, size, 1 + choice % 64, choice);
    PROMISE(whole.status == pieces.status && whole.sum == pieces.sum);
    PROMISE(whole.events == pieces.events);
    return 0;
}
