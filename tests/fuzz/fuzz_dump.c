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

#include "dump_frame.h"
#include "fuzz.h"
#include "support/prng.h"
#include "transfer/dump_reader.h"
#include "util/crc32c.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char dump[DUMP_FRAME_MAX];
    outcome whole, pieces;
    unsigned choice;

    if (size < 1)
        return 0;
    choice = data[0];
    data++;
    size--;
    if (choice & 0x80) {
        size = dump_frame(dump, data, size);
        data = dump;
    }
    whole = read_all(data, size, SIZE_MAX / 2, 0);
    pieces = read_all(data, size, 1 + choice % 64, choice);
    PROMISE(whole.status == pieces.status && whole.sum == pieces.sum);
    PROMISE(whole.events == pieces.events);
    return 0;
}
