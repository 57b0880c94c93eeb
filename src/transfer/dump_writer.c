/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_writer.c - see dump_writer.h.
 *
 * Records are built in `room`, one after the other, and handed out when there
 * are enough; so a dump of small keys costs one write for many of them. At
 * most one record is open, the last one.
 */
#include "transfer/dump_writer.h"

#include <assert.h>

#include "util/crc32c.h"
#include "util/error.h"
#include "util/mem.h"

/* Handed out when it holds so much. The largest record, a long name with a
 * piece behind it, fits in addition to what just did not suffice. */
#define ENOUGH HF__DUMP_PIECE
#define ROOM (ENOUGH + HF__DUMP_RECORD_EXTRA + HF__DUMP_PAYLOAD_MAX)

static hf_status hand_out(hf__dump_writer *writer, hf_error *err)
{
    int error;

    if (writer->used == 0)
        return HF_OK;
    error = writer->write(writer->user, writer->room, writer->used);
    if (error != 0)
        return hf__fail_errno(err, HF_SYSTEM, error, "writing the dump");
    writer->bytes += writer->used;
    writer->used = 0;
    return HF_OK;
}

static hf_status open_record(hf__dump_writer *writer, hf__dump_kind kind,
                             hf_error *err)
{
    hf_status status = HF_OK;

    assert(!writer->record_open);
    if (writer->used >= ENOUGH)
        status = hand_out(writer, err);
    if (status != HF_OK)
        return status;
    writer->record_at = writer->used;
    writer->used += HF__DUMP_RECORD_HEAD;
    writer->room[writer->used - 1] = (unsigned char)kind;
    writer->record_open = true;
    return HF_OK;
}

static void put_bytes(hf__dump_writer *writer, uint64_t value, int size)
{
    hf__dump_put(writer->room + writer->used, value, size);
    writer->used += (size_t)size;
}

static size_t payload_size(const hf__dump_writer *writer)
{
    return writer->used - writer->record_at - HF__DUMP_RECORD_HEAD;
}

static void close_record(hf__dump_writer *writer)
{
    size_t size = payload_size(writer);

    assert(writer->record_open && size <= HF__DUMP_PAYLOAD_MAX);
    hf__dump_put(writer->room + writer->record_at, size, 4);
    writer->crc = hf__crc32c(writer->crc, writer->room + writer->record_at,
                             HF__DUMP_RECORD_HEAD + size);
    put_bytes(writer, writer->crc, 4);
    writer->record_open = false;
}

hf_status hf__dump_writer_begin(hf__dump_writer *writer, int64_t clock_unix_ms,
                                hf_error *err)
{
    writer->room = hf__alloc(ROOM);
    if (writer->room == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a dump");
    memcpy(writer->room, HF__DUMP_MAGIC, HF__DUMP_MAGIC_SIZE);
    writer->used = HF__DUMP_MAGIC_SIZE;
    put_bytes(writer, HF__DUMP_VERSION, 2);
    put_bytes(writer, writer->flags, 2);
    put_bytes(writer, 0, 4);
    put_bytes(writer, (uint64_t)clock_unix_ms, 8);
    writer->crc = hf__crc32c(0, writer->room, writer->used);
    put_bytes(writer, writer->crc, 4);
    assert(writer->used == HF__DUMP_HEAD_SIZE);
    return HF_OK;
}

hf_status hf__dump_writer_key(hf__dump_writer *writer, hf__dump_type type,
                              int64_t expires_unix_ms, hf_bytes key,
                              hf_error *err)
{
    hf_status status = open_record(writer, HF__DUMP_KEY, err);

    assert(!writer->key_open && hf__is_key_size(key.size));
    if (status != HF_OK)
        return status;
    put_bytes(writer, type, 1);
    writer->flags_at = writer->used;
    put_bytes(writer, 0, 1);
    put_bytes(writer, (uint64_t)expires_unix_ms, 8);
    put_bytes(writer, key.size, 4);
    if (key.size > 0)
        memcpy(writer->room + writer->used, key.data, key.size);
    writer->used += key.size;
    writer->key_open = true;
    writer->pending = 0;
    return HF_OK;
}

static hf_status open_more(hf__dump_writer *writer, hf_error *err)
{
    hf_status status = open_record(writer, HF__DUMP_MORE, err);

    if (status != HF_OK)
        return status;
    writer->flags_at = writer->used;
    put_bytes(writer, 0, 1);
    return HF_OK;
}

/* Content, cut where a record is full. */
static hf_status append_bytes(hf__dump_writer *writer,
                              const unsigned char *data, size_t size,
                              hf_error *err)
{
    while (size > 0) {
        size_t full = payload_size(writer);
        size_t part = full < HF__DUMP_PIECE ? HF__DUMP_PIECE - full : 0;
        hf_status status;

        if (part == 0) {
            close_record(writer);
            status = open_more(writer, err);
            if (status != HF_OK)
                return status;
            continue;
        }
        part = part < size ? part : size;
        memcpy(writer->room + writer->used, data, part);
        writer->used += part;
        data += part;
        size -= part;
    }
    return HF_OK;
}

hf_status hf__dump_writer_element(hf__dump_writer *writer, hf_bytes element,
                                  hf_error *err)
{
    unsigned char head[HF__DUMP_ELEMENT_HEAD];
    hf_status status;

    assert(writer->key_open && hf__is_value_size(element.size));
    hf__dump_put(head, element.size, sizeof(head));
    status = append_bytes(writer, head, sizeof(head), err);
    if (status == HF_OK)
        status = append_bytes(writer, element.data, element.size, err);
    writer->pending++;
    writer->content += element.size;
    return status;
}

hf_status hf__dump_writer_key_end(hf__dump_writer *writer, hf_error *err)
{
    (void)err;
    assert(writer->key_open && writer->pending > 0);
    writer->room[writer->flags_at] = HF__DUMP_LAST;
    close_record(writer);
    writer->key_open = false;
    writer->keys++;
    writer->elements += writer->pending;
    return HF_OK;
}

hf_status hf__dump_writer_drop(hf__dump_writer *writer, hf_error *err)
{
    hf_status status;

    assert(writer->key_open);
    close_record(writer);
    writer->key_open = false;
    status = open_record(writer, HF__DUMP_DROP, err);
    if (status == HF_OK)
        close_record(writer);
    return status;
}

hf_status hf__dump_writer_end(hf__dump_writer *writer, hf_error *err)
{
    hf_status status;

    assert(!writer->key_open);
    status = open_record(writer, HF__DUMP_END, err);
    if (status != HF_OK)
        return status;
    put_bytes(writer, writer->keys, 8);
    put_bytes(writer, writer->elements, 8);
    put_bytes(writer, writer->content, 8);
    put_bytes(writer, writer->left_out, 8);
    put_bytes(writer, writer->changed, 8);
    close_record(writer);
    return hand_out(writer, err);
}

void hf__dump_writer_done(hf__dump_writer *writer)
{
    hf__free(writer->room);
    writer->room = NULL;
}
