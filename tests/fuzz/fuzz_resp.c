/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_resp.c - bytes from a server, cut into any pieces, yield the same
 * replies and the same end, also when a reply is dropped half-way.
 *
 * The first byte of the input chooses the pieces, the second where a reply is
 * dropped. Only after a first byte of 0 may a reply claim much memory.
 */
#include <string.h>

#include "fuzz.h"
#include "store/redis/wire/resp.h"
#include "support/prng.h"

/* The result of a stream. */
typedef struct outcome {
    hf__resp_result end; /* MORE: it ran out */
    uint64_t replies;
    uint64_t sum;   /* over all their content */
    uint64_t taken; /* bytes up to the last one's end */
} outcome;

typedef struct stream {
    const uint8_t *data;
    size_t size;
    size_t at;      /* fed so far */
    size_t drop_at; /* after so many bytes; SIZE_MAX: never */
    prng random;    /* of the pieces */
    size_t most;    /* bytes of a piece */
} stream;

static uint64_t mix(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t add(uint64_t sum, const hf_reply *reply)
{
    size_t size;

    sum = mix(sum, &(char){(char)reply->kind}, 1);
    switch (reply->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        return sum;
    case HF_REPLY_INTEGER:
        return mix(sum, &reply->integer, sizeof(reply->integer));
    case HF_REPLY_ARRAY:
        size = reply->array.count;
        sum = mix(sum, &size, sizeof(size));
        for (size_t i = 0; i < size; i++)
            sum = add(sum, &reply->array.items[i]);
        return sum;
    default:
        size = reply->bytes.size;
        PROMISE(size <= HF_VALUE_MAX);
        PROMISE(reply->bytes.data[size] == '\0');
        return mix(mix(sum, &size, sizeof(size)), reply->bytes.data, size);
    }
}

/* Put the next piece into `in`; false: there is none. */
static bool feed(stream *from, hf__buf *in)
{
    size_t left = from->size - from->at;
    size_t size = 1 + prng_next(&from->random) % from->most;

    if (left == 0)
        return false;
    if (size > left)
        size = left;
    PROMISE(hf__buf_append(in, from->data + from->at, size));
    from->at += size;
    return true;
}

/* One reply. `sum` is unchanged if it was dropped. */
static hf__resp_result read_one(stream *from, hf__buf *in, outcome *out)
{
    bool dropped = false;
    hf__resp_result result = HF__RESP_MORE;
    hf__arena arena;
    hf_reply reply;
    hf__resp resp;

    hf__arena_init(&arena);
    hf__resp_begin(&resp, &arena, &reply);
    while (result == HF__RESP_MORE) {
        if (hf__buf_size(in) > 0)
            result = hf__resp_feed(&resp, in);
        if (result != HF__RESP_MORE)
            break;
        if (!dropped && from->at >= from->drop_at) {
            hf__resp_drop(&resp);
            hf__arena_free(&arena);
            dropped = true;
        }
        if (!feed(from, in))
            break;
    }
    if (result == HF__RESP_DONE) {
        out->replies++;
        out->taken = from->at - hf__buf_size(in);
        out->sum = dropped ? out->sum : add(out->sum, &reply);
    }
    hf__arena_free(&arena);
    return result;
}

static outcome read_all(const uint8_t *data, size_t size, size_t most,
                        uint64_t seed, size_t drop_at)
{
    stream from = {data, size, 0, drop_at, {seed}, most};
    outcome out = {HF__RESP_DONE, 0, UINT64_C(14695981039346656037), 0};
    hf__buf in;

    hf__buf_init(&in, 2 * HF__RESP_LINE_MAX + size);
    do {
        if (hf__buf_size(&in) == 0 && !feed(&from, &in))
            break;
        out.end = read_one(&from, &in, &out);
    } while (out.end == HF__RESP_DONE);
    hf__buf_done(&in);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    outcome whole, bytes, pieces, dropped;
    size_t drop_at;

    if (size < 2)
        return 0;
    if (data[0] != 0 && fuzz_has_long_number(data + 2, size - 2))
        return 0;
    drop_at = (size_t)data[1] * (size - 2) / 255;
    whole = read_all(data + 2, size - 2, SIZE_MAX / 2, 0, SIZE_MAX);
    bytes = read_all(data + 2, size - 2, 1, 0, SIZE_MAX);
    pieces = read_all(data + 2, size - 2, 1u + data[0] % 16, data[0], SIZE_MAX);
    dropped = read_all(data + 2, size - 2, 1, 0, drop_at);
    PROMISE(whole.end != HF__RESP_NO_MEMORY);
    PROMISE(whole.end == bytes.end && whole.end == pieces.end);
    PROMISE(whole.replies == bytes.replies && whole.replies == pieces.replies);
    PROMISE(whole.sum == bytes.sum && whole.sum == pieces.sum);
    PROMISE(whole.taken == bytes.taken && whole.taken == pieces.taken);
    PROMISE(whole.end == dropped.end && whole.taken == dropped.taken);
    PROMISE(whole.replies == dropped.replies);
    return 0;
}
