/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_reader.c - see dump_reader.h.
 *
 * A record is read whole and its checksum compared before anything in it is
 * believed. Elements are followed across records by `head` and `in_element`;
 * every count and size is checked against what the format allows.
 */
#include "transfer/dump_reader.h"

#include <stdio.h>

#include "util/crc32c.h"
#include "util/error.h"
#include "util/mem.h"

#define READ_SIZE (64u << 10)

/* ------------------------------------------------------------------ input */

static hf_status fill_buffer(hf__dump_reader *reader, hf_error *err)
{
    size_t got = 0;
    int error = reader->read(reader->user, reader->in, READ_SIZE, &got);

    if (error != 0)
        return hf__fail_errno(err, HF_SYSTEM, error, "reading the dump");
    if (got > READ_SIZE)
        return hf__fail(err, HF_INVALID, "read() gave more than it was asked");
    reader->in_at = 0;
    reader->in_size = got;
    return HF_OK;
}

/* Exactly `size` bytes; *got is less at the end. */
static hf_status take_bytes(hf__dump_reader *reader, unsigned char *to,
                            size_t size, size_t *got, hf_error *err)
{
    hf_status status;
    size_t part;

    for (*got = 0; *got < size; *got += part) {
        if (reader->in_at == reader->in_size) {
            status = fill_buffer(reader, err);
            if (status != HF_OK)
                return status;
            if (reader->in_size == 0)
                return HF_OK;
        }
        part = reader->in_size - reader->in_at;
        part = part < size - *got ? part : size - *got;
        memcpy(to + *got, reader->in + reader->in_at, part);
        reader->in_at += part;
        reader->bytes += part;
    }
    return HF_OK;
}

/* `what` and the place; and the key, if one is open. */
static hf_status fail_at(const hf__dump_reader *reader, const char *what,
                         uint64_t at, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (reader->key_open)
        return hf__fail(
            err, HF_CORRUPT, "the dump %s at byte %llu, in key %s", what,
            (unsigned long long)at,
            hf__quoted(quoted, hf_view(reader->name, reader->name_size)));
    return hf__fail(err, HF_CORRUPT, "the dump %s at byte %llu", what,
                    (unsigned long long)at);
}

static hf_status fail_ends(const hf__dump_reader *reader, hf_error *err)
{
    return fail_at(reader, "is not whole: it ends", reader->bytes, err);
}

/* In the record that was read last. */
static hf_status fail_damaged(const hf__dump_reader *reader, const char *what,
                              hf_error *err)
{
    char text[96];

    (void)snprintf(text, sizeof(text), "is damaged (%s)", what);
    return fail_at(reader, text, reader->record_at, err);
}

/* ------------------------------------------------------------------- head */

static hf_status check_head(hf__dump_reader *reader, const unsigned char *head,
                            size_t got, hf_error *err)
{
    uint64_t version;

    if (got < HF__DUMP_MAGIC_SIZE ||
        memcmp(head, HF__DUMP_MAGIC, HF__DUMP_MAGIC_SIZE) != 0)
        return hf__fail(err, HF_INVALID, "this is not a dump of holdfast");
    if (got < HF__DUMP_HEAD_SIZE)
        return fail_ends(reader, err);
    reader->crc = hf__crc32c(0, head, HF__DUMP_HEAD_SIZE - 4);
    if (reader->crc != hf__dump_get(head + HF__DUMP_HEAD_SIZE - 4, 4))
        return fail_damaged(reader, "checksum of the head", err);
    version = hf__dump_get(head + 8, 2);
    if (version != HF__DUMP_VERSION ||
        hf__dump_get(head + 10, 2) > HF__DUMP_HAS_FUNCTIONS ||
        hf__dump_get(head + 12, 4) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the dump has format %llu, flags 0x%llx; this library "
                        "reads format %u",
                        (unsigned long long)version,
                        (unsigned long long)hf__dump_get(head + 10, 2),
                        HF__DUMP_VERSION);
    reader->has_functions = hf__dump_get(head + 10, 2) != 0;
    return HF_OK;
}

hf_status hf__dump_reader_begin(hf__dump_reader *reader, hf_error *err)
{
    unsigned char head[HF__DUMP_HEAD_SIZE];
    size_t got;
    hf_status status;

    reader->in = hf__alloc(READ_SIZE);
    reader->record = hf__alloc(HF__DUMP_RECORD_EXTRA + HF__DUMP_PAYLOAD_MAX);
    if (reader->in == NULL || reader->record == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a dump");
    status = take_bytes(reader, head, sizeof(head), &got, err);
    if (status != HF_OK)
        return status;
    return check_head(reader, head, got, err);
}

/* ---------------------------------------------------------------- records */

static hf__dump_kind kind_of(const hf__dump_reader *reader)
{
    return (hf__dump_kind)reader->record[4];
}

static const unsigned char *payload_of(const hf__dump_reader *reader)
{
    return reader->record + HF__DUMP_RECORD_HEAD;
}

static hf_status read_record(hf__dump_reader *reader, hf_error *err)
{
    size_t got, size;
    uint32_t crc;
    hf_status status;

    reader->record_at = reader->bytes;
    status =
        take_bytes(reader, reader->record, HF__DUMP_RECORD_HEAD, &got, err);
    if (status != HF_OK)
        return status;
    if (got < HF__DUMP_RECORD_HEAD)
        return fail_ends(reader, err);
    size = hf__dump_get(reader->record, 4);
    if (size > HF__DUMP_PAYLOAD_MAX)
        return fail_damaged(reader, "size of a record", err);
    status = take_bytes(reader, reader->record + HF__DUMP_RECORD_HEAD, size + 4,
                        &got, err);
    if (status != HF_OK)
        return status;
    if (got < size + 4)
        return fail_ends(reader, err);
    crc = hf__crc32c(reader->crc, reader->record, HF__DUMP_RECORD_HEAD + size);
    if (crc != hf__dump_get(payload_of(reader) + size, 4))
        return fail_damaged(reader, "checksum", err);
    reader->crc = crc;
    reader->at = 0;
    reader->size = size;
    return HF_OK;
}

/* Functions come first, if the head says so, without a name and an expiry. */
static bool is_in_place(const hf__dump_reader *reader, unsigned type,
                        size_t key_size)
{
    return type != HF__DUMP_FUNCTIONS ||
           (reader->has_functions && reader->record_at == HF__DUMP_HEAD_SIZE &&
            key_size == 0 && reader->expires_unix_ms == 0);
}

static hf_status begin_key(hf__dump_reader *reader, hf_error *err)
{
    const unsigned char *head = payload_of(reader);
    size_t key_size;

    if (reader->size < HF__DUMP_KEY_HEAD)
        return fail_damaged(reader, "size of a key's record", err);
    key_size = hf__dump_get(head + 10, 4);
    if (!hf__is_key_size(key_size) ||
        key_size > reader->size - HF__DUMP_KEY_HEAD)
        return fail_damaged(reader, "size of a key", err);
    reader->expires_unix_ms = (int64_t)hf__dump_get(head + 2, 8);
    if (head[0] < HF__DUMP_STRING || head[0] > HF__DUMP_TYPE_MAX ||
        !is_in_place(reader, head[0], key_size) || head[1] > HF__DUMP_LAST ||
        !hf__is_expiry(reader->expires_unix_ms))
        return fail_damaged(reader, "type, flags or expiry of a key", err);
    reader->type = (hf__dump_type)head[0];
    reader->last = (head[1] & HF__DUMP_LAST) != 0;
    reader->key = hf_view(head + HF__DUMP_KEY_HEAD, key_size);
    reader->name_size =
        key_size < sizeof(reader->name) ? key_size : sizeof(reader->name);
    memcpy(reader->name, reader->key.data, reader->name_size);
    reader->at = HF__DUMP_KEY_HEAD + key_size;
    reader->key_open = true;
    reader->count = 0;
    reader->head_size = 0;
    reader->in_element = false;
    return HF_OK;
}

/* The end record, which nothing follows. */
static hf_status check_end(hf__dump_reader *reader, hf_error *err)
{
    const unsigned char *counts = payload_of(reader);
    size_t got;
    hf_status status;

    if (reader->size != HF__DUMP_END_SIZE)
        return fail_damaged(reader, "size of the end record", err);
    if (hf__dump_get(counts, 8) != reader->keys ||
        hf__dump_get(counts + 8, 8) != reader->elements ||
        hf__dump_get(counts + 16, 8) != reader->content)
        return fail_damaged(reader, "the counts at the end do not fit", err);
    reader->left_out = hf__dump_get(counts + 24, 8);
    reader->changed = hf__dump_get(counts + 32, 8);
    status = take_bytes(reader, reader->record, 1, &got, err);
    if (status == HF_OK && got > 0)
        status = fail_damaged(reader, "something stands behind the end", err);
    return status;
}

/* Between two keys. */
static hf_status next_outside(hf__dump_reader *reader, hf__dump_event *event,
                              hf_error *err)
{
    hf_status status = read_record(reader, err);

    if (status != HF_OK)
        return status;
    if (kind_of(reader) == HF__DUMP_KEY) {
        *event = HF__DUMP_AT_KEY;
        return begin_key(reader, err);
    }
    if (kind_of(reader) == HF__DUMP_END) {
        *event = HF__DUMP_AT_END;
        return check_end(reader, err);
    }
    return fail_damaged(reader, "a record of the wrong kind", err);
}

/* ---------------------------------------------------------------- content */

/* A key's content continues in the next record; *dropped: it does not. */
static hf_status next_record(hf__dump_reader *reader, bool *dropped,
                             hf_error *err)
{
    hf_status status;

    /* The name of the key lies in the record that goes now. */
    reader->key = hf_view(NULL, 0);
    status = read_record(reader, err);
    if (status != HF_OK)
        return status;
    *dropped = kind_of(reader) == HF__DUMP_DROP && reader->size == 0;
    if (*dropped)
        return HF_OK;
    if (kind_of(reader) != HF__DUMP_MORE || reader->size < HF__DUMP_MORE_HEAD ||
        payload_of(reader)[0] > HF__DUMP_LAST)
        return fail_damaged(reader, "a record of the wrong kind", err);
    reader->last = (payload_of(reader)[0] & HF__DUMP_LAST) != 0;
    reader->at = HF__DUMP_MORE_HEAD;
    return HF_OK;
}

static hf_status end_key(hf__dump_reader *reader, hf_error *err)
{
    if (reader->in_element || reader->head_size > 0)
        return fail_damaged(reader, "an element is cut off", err);
    if (reader->count == 0 ||
        reader->count % hf__dump_group(reader->type) != 0 ||
        (hf__dump_is_one(reader->type) && reader->count != 1))
        return fail_damaged(reader, "count of elements", err);
    reader->key_open = false;
    reader->keys++;
    reader->elements += reader->count;
    return HF_OK;
}

static bool in_deadline(const hf__dump_reader *reader)
{
    return reader->type == HF__DUMP_TIMED_HASH && reader->count % 3 == 2;
}

/* The size of an element, which may lie in two records. *known: it is there. */
static hf_status read_size(hf__dump_reader *reader, bool *known, hf_error *err)
{
    size_t left = reader->size - reader->at;
    size_t part = sizeof(reader->head) - reader->head_size;

    part = part < left ? part : left;
    memcpy(reader->head + reader->head_size, payload_of(reader) + reader->at,
           part);
    reader->head_size += part;
    reader->at += part;
    *known = reader->head_size == sizeof(reader->head);
    if (!*known)
        return HF_OK;
    reader->head_size = 0;
    reader->total = hf__dump_get(reader->head, sizeof(reader->head));
    reader->offset = 0;
    reader->piece = hf_view(NULL, 0);
    reader->in_element = true;
    reader->deadline_unix_ms = 0;
    if (!hf__is_value_size(reader->total) ||
        (reader->type == HF__DUMP_ZSET && reader->count % 2 == 1 &&
         reader->total > HF__DUMP_SCORE_MAX) ||
        (in_deadline(reader) &&
         (reader->total < 1 || reader->total > HF__DUMP_DEADLINE_SIZE)))
        return fail_damaged(reader, "size of an element", err);
    return HF_OK;
}

/* The digits in this piece. */
static hf_status read_deadline(hf__dump_reader *reader, hf_error *err)
{
    const char *digits = reader->piece.data;

    for (size_t i = 0; i < reader->piece.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return fail_damaged(reader, "deadline of a field", err);
        reader->deadline_unix_ms =
            reader->deadline_unix_ms * 10 + (digits[i] - '0');
    }
    if (!hf__is_deadline(reader->deadline_unix_ms))
        return fail_damaged(reader, "deadline of a field", err);
    return HF_OK;
}

/* What this record has of the element. */
static hf_status give_piece(hf__dump_reader *reader, hf_error *err)
{
    size_t left = reader->size - reader->at;
    size_t part;
    hf_status status = HF_OK;

    reader->offset += reader->piece.size;
    part = reader->total - reader->offset;
    part = part < left ? part : left;
    reader->piece = hf_view(payload_of(reader) + reader->at, part);
    reader->at += part;
    reader->content += part;
    if (in_deadline(reader))
        status = read_deadline(reader, err);
    if (reader->offset + part < reader->total)
        return status;
    reader->in_element = false;
    reader->count++;
    return status;
}

static hf_status next_inside(hf__dump_reader *reader, hf__dump_event *event,
                             hf_error *err)
{
    bool known = reader->in_element;
    bool dropped = false;
    hf_status status = HF_OK;

    /* Each turn takes bytes of a record, or the next one. */
    for (;;) {
        if (!known && reader->at < reader->size)
            status = read_size(reader, &known, err);
        if (status != HF_OK)
            return status;
        if (known && (reader->at < reader->size || reader->total == 0)) {
            *event = HF__DUMP_AT_PIECE;
            return give_piece(reader, err);
        }
        if (reader->at < reader->size)
            continue;
        if (reader->last) {
            *event = HF__DUMP_AT_KEY_END;
            return end_key(reader, err);
        }
        status = next_record(reader, &dropped, err);
        if (status != HF_OK)
            return status;
        if (dropped) {
            reader->key_open = false;
            *event = HF__DUMP_AT_DROP;
            return HF_OK;
        }
    }
}

hf_status hf__dump_reader_next(hf__dump_reader *reader, hf__dump_event *event,
                               hf_error *err)
{
    if (reader->key_open)
        return next_inside(reader, event, err);
    return next_outside(reader, event, err);
}

void hf__dump_reader_done(hf__dump_reader *reader)
{
    hf__free(reader->in);
    hf__free(reader->record);
    reader->in = NULL;
    reader->record = NULL;
}
