/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_writer.h - makes the bytes of a dump. It knows no store: keys and their
 * elements are handed to it in order.
 *
 *     begin (key element... (key_end | drop))... end
 */
#ifndef HF__TRANSFER_DUMP_WRITER_H
#define HF__TRANSFER_DUMP_WRITER_H

#include <stdbool.h>

#include "transfer/dump_format.h"

typedef struct hf__dump_writer {
    int (*write)(void *user, const void *data, size_t size);
    void *user;
    unsigned flags;      /* of the head; set before it begins */
    unsigned char *room; /* what is not handed out yet */
    size_t used;
    size_t record_at; /* in room, where the open record begins */
    size_t flags_at;  /* in room, of the open record */
    bool record_open;
    bool key_open;
    uint32_t crc;      /* of all closed records */
    uint64_t bytes;    /* handed out */
    uint64_t pending;  /* elements of the open key */
    uint64_t keys;     /* of these four the end record tells */
    uint64_t elements; /* those of dropped keys left out */
    uint64_t content;  /* bytes of elements, of dropped keys too */
    uint64_t left_out;
    uint64_t changed;
} hf__dump_writer;

/* End it with hf__dump_writer_done() whatever the status of what follows. All
 * answer HF_SYSTEM if write() did not answer 0, which ends the dump. */
hf_status hf__dump_writer_begin(hf__dump_writer *writer, int64_t clock_unix_ms,
                                hf_error *err);
hf_status hf__dump_writer_key(hf__dump_writer *writer, hf__dump_type type,
                              int64_t expires_unix_ms, hf_bytes key,
                              hf_error *err);
hf_status hf__dump_writer_element(hf__dump_writer *writer, hf_bytes element,
                                  hf_error *err);
hf_status hf__dump_writer_key_end(hf__dump_writer *writer, hf_error *err);
hf_status hf__dump_writer_drop(hf__dump_writer *writer, hf_error *err);
hf_status hf__dump_writer_end(hf__dump_writer *writer, hf_error *err);
void hf__dump_writer_done(hf__dump_writer *writer);

#endif
