/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_string.c - storing strings.
 *
 * Of a string in chunks, record->count is its size, and its content how many
 * chunks have a record. Chunk `n` is of the bytes from n * HF__STRING_CHUNK on.
 * What it has not, because it has no record or a short one, are zeros.
 */
#include "engine/keys/type_string.h"

#include <string.h>

#include "engine/files/header.h"
#include "engine/keys/elements.h"

#define NAME_SIZE 17u /* kind, keyid, number */

/* Key ids of a transaction that strings may take: the other half is for types
 * that cannot do without, and whose elements move more bytes. */
#define KEYIDS_MAX (1u << (HF__KEYID_BITS - 1))

static hf_bytes no_bytes(void)
{
    return hf_view(NULL, 0);
}

/* ----------------------------------------------------------------- chunks */

static void name_chunk(unsigned char name[NAME_SIZE], const hf__record *record,
                       uint64_t number)
{
    name[0] = HF__RECORD_LIST;
    hf__put_be64(name + 1, record->keyid);
    hf__put_be64(name + 9, number);
}

/* false: it has no record, or fatal. */
static bool find_chunk(hf__tx *tx, const hf__record *record, uint64_t number,
                       hf_bytes *chunk)
{
    unsigned char name[NAME_SIZE];
    MDB_val key = {sizeof(name), name};
    MDB_val found;
    int rc;

    if (!hf__tx_spend(tx, 500))
        return false;
    name_chunk(name, record, number);
    rc = hf__tx_find(tx, &key, &found);
    if (rc == MDB_SUCCESS && (found.mv_size <= HF__CHUNK_SUM ||
                              found.mv_size > HF__CHUNK_SUM + HF__STRING_CHUNK))
        rc = MDB_CORRUPTED;
    if (rc == MDB_SUCCESS)
        *chunk = hf_view((unsigned char *)found.mv_data + HF__CHUNK_SUM,
                         found.mv_size - HF__CHUNK_SUM);
    else if (rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    return rc == MDB_SUCCESS;
}

static void put_chunk(hf__tx *tx, const hf__record *record, uint64_t number,
                      hf_bytes chunk)
{
    unsigned char name[NAME_SIZE];
    MDB_val key = {sizeof(name), name};
    MDB_val room = {HF__CHUNK_SUM + chunk.size, NULL};
    uint32_t sum = hf__sum_chunk(number, chunk.data, chunk.size);

    name_chunk(name, record, number);
    if (!hf__tx_put(tx, &key, &room))
        return;
    memcpy(room.mv_data, &sum, HF__CHUNK_SUM);
    memcpy((unsigned char *)room.mv_data + HF__CHUNK_SUM, chunk.data,
           chunk.size);
}

static bool get_head(hf__tx *tx, hf__record *record, hf__chunks *head)
{
    return hf__content_copy(tx, record, head, sizeof(*head));
}

/* ---------------------------------------------------------------- reading */

hf_bytes hf__string_piece(hf__tx *tx, hf__record *record, size_t at)
{
    static const unsigned char zeros[HF__STRING_CHUNK];
    size_t within = at % HF__STRING_CHUNK;
    size_t room = HF__STRING_CHUNK - within;
    size_t left = hf__string_size(record) - at;
    hf_bytes chunk = {NULL, 0};
    const unsigned char *content;

    if (record->form == HF__FORM_INLINE) {
        content = hf__content(tx, record);
        return content == NULL ? no_bytes() : hf_view(content + at, left);
    }
    if (!find_chunk(tx, record, at / HF__STRING_CHUNK, &chunk) &&
        tx->fatal != HF_OK)
        return no_bytes();
    if (room > left)
        room = left;
    if (chunk.size <= within)
        return hf_view(zeros, room);
    if (chunk.size - within < room)
        room = chunk.size - within;
    return hf_view((const unsigned char *)chunk.data + within, room);
}

static bool gather_pieces(hf__tx *tx, hf__record *record, size_t at,
                          unsigned char *to, size_t size)
{
    while (size > 0) {
        hf_bytes piece = hf__string_piece(tx, record, at);
        size_t taken = piece.size < size ? piece.size : size;

        if (piece.data == NULL || !hf__tx_copy(tx, to, piece.data, taken))
            return false;
        at += taken;
        to += taken;
        size -= taken;
    }
    return true;
}

hf_bytes hf__string_part(hf__tx *tx, hf__record *record, size_t at, size_t size)
{
    hf_bytes piece;
    unsigned char *to;

    if (size == 0)
        return hf_view("", 0);
    piece = hf__string_piece(tx, record, at);
    if (piece.data == NULL || piece.size >= size)
        return hf_view(piece.data, size);
    if (tx->largest_size < size)
        tx->largest_size = size;
    to = hf__tx_alloc_gathered(tx, size);
    return to != NULL && gather_pieces(tx, record, at, to, size)
               ? hf_view(to, size)
               : no_bytes();
}

bool hf__string_read(hf__tx *tx, hf__record *record, size_t at, void *to,
                     size_t size)
{
    size_t whole = hf__string_size(record);
    size_t there = at < whole ? whole - at : 0;

    if (there > size)
        there = size;
    memset((unsigned char *)to + there, 0, size - there);
    return gather_pieces(tx, record, at, to, there);
}

/* ---------------------------------------------------------------- writing */

bool hf__string_set(hf__tx *tx, hf__record *record, const void *data,
                    size_t size)
{
    if (record->form != HF__FORM_INLINE) {
        hf__pending_delete_put(tx, record->keyid);
        record->form = HF__FORM_INLINE;
        record->keyid = 0;
        record->count = 0;
    }
    return hf__content_set(tx, record, data, size);
}

static bool write_whole(hf__tx *tx, hf__record *record, size_t at,
                        hf_bytes data, size_t size)
{
    size_t old = record->content_size;
    unsigned char *content = hf__content_edit(tx, record, size);

    if (content == NULL ||
        (at > old && !hf__tx_copy(tx, content + old, NULL, at - old)))
        return false;
    memcpy(content + at, data.data, data.size);
    return true;
}

/* Write within one chunk. `head` counts its record if it is new. */
static bool write_chunk(hf__tx *tx, const hf__record *record, size_t at,
                        hf_bytes data, hf__chunks *head)
{
    uint64_t number = at / HF__STRING_CHUNK;
    size_t within = at % HF__STRING_CHUNK;
    size_t size = within + data.size;
    unsigned char chunk[HF__STRING_CHUNK];
    hf_bytes old = {NULL, 0};

    if (!find_chunk(tx, record, number, &old))
        head->count++;
    if (tx->fatal != HF_OK)
        return false;
    if (old.size > 0)
        memcpy(chunk, old.data, old.size);
    if (within > old.size)
        memset(chunk + old.size, 0, within - old.size);
    memcpy(chunk + within, data.data, data.size);
    put_chunk(tx, record, number,
              hf_view(chunk, size > old.size ? size : old.size));
    return tx->fatal == HF_OK;
}

static bool write_chunks(hf__tx *tx, const hf__record *record, size_t at,
                         hf_bytes data, hf__chunks *head)
{
    const unsigned char *from = data.data;
    size_t left = data.size;

    while (left > 0) {
        size_t size = HF__STRING_CHUNK - at % HF__STRING_CHUNK;

        if (size > left)
            size = left;
        if (!write_chunk(tx, record, at, hf_view(from, size), head))
            return false;
        at += size;
        from += size;
        left -= size;
    }
    return true;
}

/* From a whole string to chunks. */
static bool split_content(hf__tx *tx, hf__record *record)
{
    size_t size = record->content_size;
    /* A copy, as puts move what is in LMDB's map. */
    const unsigned char *content = hf__content_edit(tx, record, size);
    hf__chunks head = {0};

    if (content == NULL || !hf__tx_raise_format(tx, HF__FORMAT_CHUNKS) ||
        !hf__elements_begin(tx, record) ||
        !write_chunks(tx, record, 0, hf_view(content, size), &head))
        return false;
    record->count = size;
    return hf__content_set(tx, record, &head, sizeof(head));
}

bool hf__string_write(hf__tx *tx, hf__record *record, size_t at, hf_bytes data)
{
    size_t old = hf__string_size(record);
    size_t size = at + data.size > old ? at + data.size : old;
    hf__chunks head;
    uint64_t before;

    if (record->form == HF__FORM_INLINE &&
        (size <= HF__STRING_WHOLE_MAX ||
         !hf__sidecar_knows_format_4(tx->env->sidecar.map) ||
         tx->keyid_next >= KEYIDS_MAX))
        return write_whole(tx, record, at, data, size);
    if ((record->form == HF__FORM_INLINE && !split_content(tx, record)) ||
        !get_head(tx, record, &head))
        return false;
    before = head.count;
    if (!write_chunks(tx, record, at, data, &head))
        return false;
    hf__key_touch_watched(tx, record);
    if (size == old && head.count == before)
        return true;
    record->count = size;
    return hf__content_set(tx, record, &head, sizeof(head));
}
