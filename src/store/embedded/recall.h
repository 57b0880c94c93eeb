/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.h - small key records that a process remembers from one of its write
 * transactions to the next, as long as nobody else has written.
 */
#ifndef HF__EMBEDDED_RECALL_H
#define HF__EMBEDDED_RECALL_H

#include "store/embedded/tx.h"

/* Longer keys and contents are not remembered: names and owners of locks fit,
 * and so do fencing tokens. */
#define HF__RECALL_KEY_MAX 80u
#define HF__RECALL_CONTENT_MAX 40u

/* What LMDB has of a key. */
typedef struct hf__recalled {
    uint64_t era; /* void if it is not the current one; 0 never is */
    uint32_t hash;
    uint8_t key_size;
    uint8_t content_size;
    bool stored; /* false: there is no such key; the rest means nothing */
    uint8_t type;
    uint8_t form;
    int64_t expire_ms;
    uint64_t keyid;
    uint64_t count;
    unsigned char key[HF__RECALL_KEY_MAX];
    unsigned char content[HF__RECALL_CONTENT_MAX];
} hf__recalled;

/* NULL: no memory. The others take NULL, as a reader has it, and then remember
 * nothing. */
hf__recall *hf__recall_new(void);
void hf__recall_free(hf__recall *recall);

/* A transaction has begun; `number` is LMDB's of it. */
void hf__recall_begin(hf__recall *recall, uint64_t number);
/* It was committed and changed something. */
void hf__recall_committed(hf__recall *recall);
/* Something was written past the records, or what they wrote was undone. */
void hf__recall_clear(hf__recall *recall);

/* NULL: not known. Valid until the next call of hf__recall_put(). */
const hf__recalled *hf__recall_find(const hf__recall *recall,
                                    const hf__record *record);
/* LMDB has the record like this now. */
void hf__recall_put(hf__recall *recall, const hf__record *record);

#endif
