/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_words.c - see pg_words.h.
 *
 * A message is the size of the text and the text; the version and instant of
 * the commit; and for each record the size of its key, the key, when it
 * expires, the size of its payload (0: it was removed), the payload. It comes
 * from a database that others may write to, so nothing in it is believed.
 */
#include "records/postgres/pg_words.h"

#include <stdio.h>
#include <string.h>

#include "util/hash_bytes.h"
#include "util/mem.h"

bool hf__pg_put_int4(hf__buf *buf, int32_t number)
{
    uint32_t bits = __builtin_bswap32((uint32_t)number);

    return hf__buf_append(buf, &bits, sizeof(bits));
}

bool hf__pg_put_int8(hf__buf *buf, int64_t number)
{
    uint64_t bits = __builtin_bswap64((uint64_t)number);

    return hf__buf_append(buf, &bits, sizeof(bits));
}

int32_t hf__pg_get_int4(const char *bytes)
{
    uint32_t bits;

    memcpy(&bits, bytes, sizeof(bits));
    return (int32_t)__builtin_bswap32(bits);
}

int64_t hf__pg_get_int8(const char *bytes)
{
    uint64_t bits;

    memcpy(&bits, bytes, sizeof(bits));
    return (int64_t)__builtin_bswap64(bits);
}

/* ------------------------------------------------------------------ arrays */

bool hf__pg_put_array(hf__buf *buf, int32_t type, size_t count)
{
    return hf__pg_put_int4(buf, count > 0 ? 1 : 0) && /* dimensions */
           hf__pg_put_int4(buf, 0) &&                 /* no nulls */
           hf__pg_put_int4(buf, type) &&
           (count == 0 || (hf__pg_put_int4(buf, (int32_t)count) &&
                           hf__pg_put_int4(buf, 1))); /* first index */
}

bool hf__pg_put_element(hf__buf *buf, hf_bytes bytes)
{
    return hf__pg_put_int4(buf, (int32_t)bytes.size) &&
           hf__buf_append(buf, bytes.data, bytes.size);
}

bool hf__pg_put_element4(hf__buf *buf, int32_t number)
{
    return hf__pg_put_int4(buf, 4) && hf__pg_put_int4(buf, number);
}

bool hf__pg_put_element8(hf__buf *buf, int64_t number)
{
    return hf__pg_put_int4(buf, 8) && hf__pg_put_int8(buf, number);
}

/* The next bytes; data NULL: there are not so many. */
static hf_bytes take_bytes(hf__pg_reader *reader, int64_t size)
{
    const char *at = reader->at;

    if (size < 0 || size > reader->end - at) {
        reader->at = reader->end;
        return hf_view(NULL, 0);
    }
    reader->at += size;
    return hf_view(at, (size_t)size);
}

static int32_t take_int4(hf__pg_reader *reader)
{
    hf_bytes bytes = take_bytes(reader, 4);

    return bytes.data != NULL ? hf__pg_get_int4(bytes.data) : -1;
}

static int64_t take_int8(hf__pg_reader *reader)
{
    hf_bytes bytes = take_bytes(reader, 8);

    return bytes.data != NULL ? hf__pg_get_int8(bytes.data) : -1;
}

size_t hf__pg_read_array(hf__pg_reader *reader, hf_bytes bytes, size_t most)
{
    int32_t count;

    reader->at = bytes.data;
    reader->end = reader->at + bytes.size;
    if (bytes.size == 0 || take_int4(reader) != 1)
        return 0;
    (void)take_bytes(reader, 8);
    count = take_int4(reader);
    (void)take_bytes(reader, 4);
    return count < 0 || (size_t)count > most ? 0 : (size_t)count;
}

hf_bytes hf__pg_read_element(hf__pg_reader *reader)
{
    int32_t size = take_int4(reader);

    return size == -1 ? hf_view(NULL, 0) : take_bytes(reader, size);
}

/* ------------------------------------------------------------------- names */

void hf__pg_channel(char text[HF__PG_CHANNEL_SIZE], hf_bytes inbox)
{
    (void)snprintf(text, HF__PG_CHANNEL_SIZE, "hf_%016llx",
                   (unsigned long long)hf__hash(inbox, 0));
}

int64_t hf__pg_presence(hf_bytes inbox)
{
    return (int64_t)hf__hash(inbox, 1);
}

/* ---------------------------------------------------------------- messages */

/* Of a message in base 64. */
#define RAW_MAX (HF__PG_MESSAGE_MAX / 4 * 3)

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Without padding. */
static size_t encode_text(char *to, const unsigned char *from, size_t size)
{
    size_t made = 0;
    uint32_t bits = 0;
    int count = 0;

    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | from[i];
        for (count += 8; count >= 6; count -= 6)
            to[made++] = letters[bits >> (count - 6) & 63];
    }
    if (count > 0)
        to[made++] = letters[bits << (6 - count) & 63];
    return made;
}

/* The size; 0: it is not of that form, or too long. */
static size_t decode_text(unsigned char to[RAW_MAX], const char *from)
{
    size_t made = 0;
    uint32_t bits = 0;
    int count = 0;

    for (; *from != '\0' && made < RAW_MAX; from++) {
        const char *letter = strchr(letters, *from);

        if (letter == NULL)
            return 0;
        bits = bits << 6 | (uint32_t)(letter - letters);
        count += 6;
        if (count >= 8) {
            count -= 8;
            to[made++] = (unsigned char)(bits >> count);
        }
    }
    return made;
}

static bool put_record(hf__buf *raw, const hf__backend_call *call,
                       const hf__backend_write *write)
{
    return hf__pg_put_element(raw, call->records[write->at].key) &&
           hf__pg_put_int8(raw, write->expire_ms) &&
           hf__pg_put_element(raw, write->payload);
}

/* false: not even the text has room. */
static bool put_raw(hf__buf *raw, const hf__backend_call *call, hf_bytes text)
{
    size_t size;
    bool fits;

    if (!hf__pg_put_element(raw, text))
        return false;
    if (call == NULL)
        return true;
    size = hf__buf_size(raw);
    fits = hf__pg_put_int8(raw, (int64_t)call->version) &&
           hf__pg_put_int8(raw, call->now_us);
    for (size_t i = 0; fits && i < call->write_count; i++)
        fits = put_record(raw, call, &call->writes[i]);
    if (!fits)
        hf__buf_truncate(raw, size);
    return true;
}

bool hf__pg_put_message(hf__buf *buf, const hf__backend_call *call,
                        hf_bytes text)
{
    char encoded[HF__PG_MESSAGE_MAX + 1];
    size_t size = 0;
    hf__buf raw;

    hf__buf_init(&raw, RAW_MAX);
    if (put_raw(&raw, call, text))
        size = encode_text(encoded, hf__buf_front(&raw), hf__buf_size(&raw));
    hf__buf_done(&raw);
    return hf__pg_put_element(buf, hf_view(encoded, size));
}

static void take_record(hf__pg_reader *reader, uint64_t version, int64_t at_us,
                        const hf__backend_listener *listener)
{
    hf__backend_record record = {.key = hf__pg_read_element(reader)};

    record.expire_ms = take_int8(reader);
    record.payload = hf__pg_read_element(reader);
    if (record.key.data == NULL || record.payload.data == NULL)
        return;
    if (record.payload.size > 0) {
        record.at_us = at_us;
        record.version = version;
    } else {
        record.expire_ms = 0;
    }
    if (hf__backend_sound(&record))
        listener->record(listener->user, &record);
}

bool hf__pg_take_message(const char *message,
                         const hf__backend_listener *listener)
{
    unsigned char raw[RAW_MAX];
    hf__pg_reader reader = {(const char *)raw,
                            (const char *)raw + decode_text(raw, message)};
    hf_bytes text = hf__pg_read_element(&reader);
    uint64_t version = (uint64_t)take_int8(&reader);
    int64_t at_us = take_int8(&reader);

    if (text.data == NULL)
        return false;
    while (reader.at < reader.end)
        take_record(&reader, version, at_us, listener);
    listener->message(listener->user, text);
    return true;
}
