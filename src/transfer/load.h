/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - a load: what is under way to the store, and the key being read.
 */
#ifndef HF__TRANSFER_LOAD_H
#define HF__TRANSFER_LOAD_H

#include "holdfast/store.h"
#include "transfer/dump.h"
#include "transfer/dump_reader.h"
#include "util/buf.h"
#include "util/name_set.h"

/* A key up to this size is written in one step; what is larger is built in
 * steps of this size. Elements fit into the arguments of one script (Lua's
 * unpack()). */
#define HF__LOAD_STEP_BYTES (256u << 10)
#define HF__LOAD_STEP_ELEMENTS 512u

/* Most bytes of a batch without its last request. */
#define HF__LOAD_BATCH_BYTES (4u << 20)

/* How a request's answer is read. */
typedef enum hf__load_step {
    HF__LOAD_SET,        /* SET: OK, or nil as the key exists */
    HF__LOAD_WRITE,      /* key_write */
    HF__LOAD_RAISE,      /* token_raise */
    HF__LOAD_RAISE_MORE, /* ... of the same key of the dump */
    HF__LOAD_BUILD,      /* key_build */
    HF__LOAD_PLACE,      /* key_place */
    HF__LOAD_REMOVE      /* UNLINK */
} hf__load_step;

/* A request of a batch and what it points at. */
typedef struct hf__load_slot {
    hf__load_step step;
    hf__request request;
    hf_bytes *words; /* and the bytes of all but the elements */
    void *elements;
    hf_bytes key; /* in words */
} hf__load_slot;

typedef struct hf__load_batch {
    hf_client *client;
    hf_store_transfer *so_far;
    uint32_t flags;
    hf__load_slot slots[HF__BATCH_MAX];
    hf__request *list[HF__BATCH_MAX];
    size_t count;
    size_t bytes;
    bool belongings; /* keys that belong to others are among them */
} hf__load_batch;

/* Elements that wait to become a request. */
typedef struct hf__load_elements {
    hf__buf bytes;
    uint32_t sizes[HF__LOAD_STEP_ELEMENTS + 2];
    size_t count;
} hf__load_elements;

/* A request: the words before the elements, the elements, the words after. */
typedef struct hf__load_words {
    hf__load_step step;
    uint32_t script; /* HF__SCRIPT_COUNT: a command */
    size_t key_count;
    hf_bytes key; /* for messages */
    hf_bytes before[6];
    size_t before_count;
    hf_bytes behind[3];
    size_t behind_count;
    bool swap; /* the elements of each pair: ZADD wants scores first */
    const hf__operation *operation; /* whose command it is; NULL: a script */
} hf__load_words;

/* Add a request; a full batch is run first. The elements are taken over and
 * empty afterwards; NULL: none. */
hf_status hf__load_add(hf__load_batch *batch, const hf__load_words *words,
                       hf__load_elements *elements, hf_error *err);

/* Run what was added. All is done with afterwards, whatever the status; that
 * of the first that failed. */
hf_status hf__load_flush(hf__load_batch *batch, hf_error *err);

/* Drop what was added. */
void hf__load_drop(hf__load_batch *batch);

/* The name under which a large key is built, in the slot of the key. */
#define HF__LOAD_MARK_SIZE 17 /* of a load: 16 digits and a NUL */
char *hf__load_name(hf_bytes key, const char mark[HF__LOAD_MARK_SIZE],
                    hf_bytes *name);

/* What becomes of the key being read. */
typedef enum hf__load_fate {
    HF__FATE_LOAD,
    HF__FATE_EXPIRED,
    HF__FATE_EXISTING,
    HF__FATE_REFUSED
} hf__load_fate;

typedef struct hf__loader {
    hf_client *client;
    hf_store_load_options options;
    void *user;
    hf_store_transfer so_far;
    hf__dump_reader reader;
    hf__load_batch *batch;
    hf__load_elements *elements;
    hf__name_set owners; /* HF_LOAD_REPLACE: that were loaded */
    bool asked;          /* whether ... */
    bool fields_expire;  /* the store has HPEXPIRE */
    int64_t ahead_ms;    /* of the store's Unix time before our clock */
    char mark[HF__LOAD_MARK_SIZE];

    /* The key being read. */
    hf__load_fate fate;
    hf_bytes key;        /* owned */
    hf__dump_type type;  /* in the store */
    unsigned field_part; /* how much of a field with a deadline was gathered */
    char expires[HF__NUMBER_SIZE];
    char *built_owned; /* NULL: not in steps */
    hf_bytes built;
    uint64_t built_count; /* elements sent; bytes of a string */
} hf__loader;

/* Count a key that the store cannot hold; nothing is stored. */
hf_status hf__load_key_check(hf__loader *self, hf_error *err);
/* What the reader tells of a key, in order. */
hf_status hf__load_key(hf__loader *self, hf_error *err);
hf_status hf__load_piece(hf__loader *self, hf_error *err);
hf_status hf__load_key_end(hf__loader *self, hf_error *err);
hf_status hf__load_key_drop(hf__loader *self, hf_error *err);

/* Unlink what is being built, if anything is. */
void hf__load_drop_parts(hf__loader *self);

#endif
