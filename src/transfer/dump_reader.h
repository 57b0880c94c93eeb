/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_reader.h - takes a dump apart, and refuses what is none: it may come
 * from anywhere. It knows no store.
 *
 * Memory is bounded by one record. What it hands out has passed its record's
 * checksum; that the whole is complete is known only at the end.
 */
#ifndef HF__TRANSFER_DUMP_READER_H
#define HF__TRANSFER_DUMP_READER_H

#include <stdbool.h>

#include "transfer/dump_format.h"

typedef enum hf__dump_event {
    HF__DUMP_AT_KEY,     /* a key begins: type, expires_unix_ms, key */
    HF__DUMP_AT_PIECE,   /* bytes of an element: piece, total, offset */
    HF__DUMP_AT_KEY_END, /* the key is whole */
    HF__DUMP_AT_DROP,    /* drop it */
    HF__DUMP_AT_END      /* the dump is whole: left_out, changed */
} hf__dump_event;

/* More than a message shows. */
#define HF__DUMP_NAME_KEPT 64u

typedef struct hf__dump_reader {
    int (*read)(void *user, void *data, size_t size, size_t *got);
    void *user;

    /* What an event tells; valid until the next. */
    hf__dump_type type;
    int64_t expires_unix_ms;
    hf_bytes key;
    hf_bytes piece;
    size_t total;             /* bytes of the element */
    size_t offset;            /* of the piece in it */
    int64_t deadline_unix_ms; /* of a field, when its element is whole */
    uint64_t left_out;
    uint64_t changed;

    uint64_t bytes; /* taken so far */
    uint64_t keys;
    uint64_t elements;
    uint64_t content;

    unsigned char *in; /* read ahead */
    size_t in_at;
    size_t in_size;
    unsigned char *record;
    size_t at; /* in the payload of the record */
    size_t size;
    uint64_t record_at;                     /* in the dump, for messages */
    unsigned char name[HF__DUMP_NAME_KEPT]; /* of the open key, likewise */
    size_t name_size;
    uint32_t crc;
    bool has_functions; /* the head says so */
    bool key_open;
    bool last;       /* the open key ends with this record */
    bool in_element; /* its size is known and its bytes are not over */
    uint64_t count;  /* elements of the open key */
    unsigned char head[HF__DUMP_ELEMENT_HEAD];
    size_t head_size;
} hf__dump_reader;

/* Read the head. End it with hf__dump_reader_done() whatever the status.
 * HF_INVALID: no dump; HF_UNSUPPORTED: a newer one; HF_CORRUPT: damaged;
 * HF_SYSTEM: read() did not answer 0. */
hf_status hf__dump_reader_begin(hf__dump_reader *reader, hf_error *err);
hf_status hf__dump_reader_next(hf__dump_reader *reader, hf__dump_event *event,
                               hf_error *err);
void hf__dump_reader_done(hf__dump_reader *reader);

#endif
