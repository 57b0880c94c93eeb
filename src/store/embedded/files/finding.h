/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - what can be wrong with a data file, as plain numbers and bytes: a
 * process that may not allocate can fill one and write it to a pipe.
 */
#ifndef HF__EMBEDDED_FINDING_H
#define HF__EMBEDDED_FINDING_H

#include "holdfast/base.h"

/* {page} {a} {b}: the numbers; {key}: the bytes, quoted. */
#define HF__FINDING_MAP(X)                                                     \
    X(NONE, "nothing is wrong")                                                \
    X(FOREIGN, "the data file is not an LMDB file")                            \
    X(CUT, "the data file was cut short: it has {a} bytes of {b}")             \
    X(META, "page {page}: the head of the data file is damaged")               \
    X(META_ORDER, "the heads of the data file are of transactions {a} and "    \
                  "{b}, not of two in a row")                                  \
    X(PAGE_RANGE, "page {page}: refers to page {a} of {b}")                    \
    X(PAGE_TWICE, "page {page}: refers to page {a}, which is in use already")  \
    X(PAGE_HEAD, "page {page}: its head is damaged")                           \
    X(PAGE_KIND, "page {page}: of kind {a}, not {b}")                          \
    X(PAGE_ROOM, "page {page}: its table of contents is damaged")              \
    X(PAGE_NODE, "page {page}: item {a} is damaged")                           \
    X(PAGE_NODES, "page {page}: its items take {a} bytes, not {b}")            \
    X(PAGE_ORDER, "page {page}: item {a}, {key}, is not in its order")         \
    X(PAGE_LARGE, "page {page}: the large value there is damaged")             \
    X(TREE_COUNT, "the {key} counted by the file are {b}, found {a}")          \
    X(FREE_LIST, "page {page}: the list of free pages {a} is damaged")         \
    X(FREE_RANGE, "page {page}: page {a} of {b} is said to be free")           \
    X(FREE_USED, "page {page}: page {a} is said to be free and is in use")     \
    X(FREE_TWICE, "page {page}: page {a} is said to be free twice")            \
    X(LOST_PAGES, "{a} pages are neither in use nor free")                     \
    X(NOT_OURS, "the LMDB file there is not a store of holdfast")              \
    X(HEADER, "the store's header is damaged")                                 \
    X(NEWER, "the store has format {a}, newer than this library's {b}")        \
    X(RECORD_KIND, "page {page}: a record of unknown kind, {key}")             \
    X(RECORD_NAME, "page {page}: the record {key} has a damaged name")         \
    X(KEY_HEAD, "key {key}: its record is damaged")                            \
    X(KEY_TYPE, "key {key}: unknown type {a} or form {b}")                     \
    X(KEY_SUM, "key {key}: its bytes do not have the checksum they had")       \
    X(KEY_LONG, "key {key}: a long key under another's name")                  \
    X(KEY_CONTENT, "key {key}: its content is damaged")                        \
    X(KEY_ORDER, "key {key}: its content is not in order")                     \
    X(KEY_COUNT, "key {key}: {a} elements, not {b}")                           \
    X(KEY_INDEX, "key {key}: the two indexes of the sorted set differ")        \
    X(KEY_SHARED, "key {key}: its elements belong to another key too")         \
    X(KEY_DELETED, "key {key}: its elements are marked as deleted")            \
    X(KEY_ELEMENT, "key {key}: an element of another type")                    \
    X(LIST_GAP, "key {key}: the elements of the list are not in a row")        \
    X(ELEMENT, "page {page}: the element {key} is damaged")                    \
    X(NO_KEY, "{a} elements belong to no key (id {b})")                        \
    X(REFUSED, "{key}")

typedef enum hf__finding_code {
#define HF__FINDING_ENUM(name, text) HF__FOUND_##name,
    HF__FINDING_MAP(HF__FINDING_ENUM)
#undef HF__FINDING_ENUM
        HF__FOUND_COUNT
} hf__finding_code;

#define HF__FINDING_KEY_MAX 44u

typedef struct hf__finding {
    uint32_t code;     /* hf__finding_code */
    uint32_t key_size; /* bytes in `key`; the whole may be longer */
    uint64_t page;
    uint64_t a;
    uint64_t b;
    unsigned char key[HF__FINDING_KEY_MAX];
} hf__finding;

#define HF__FINDING_TEXT_SIZE 320

/* The message; any bytes are accepted in `found`. Returns `text`. */
const char *hf__finding_text(char text[HF__FINDING_TEXT_SIZE],
                             const hf__finding *found);
/* The status of an open: HF_INVALID, HF_UNSUPPORTED or HF_CORRUPT. */
hf_status hf__finding_status(const hf__finding *found);
/* Fail with that status and message. */
hf_status hf__finding_fail(hf_error *err, const hf__finding *found);

#endif
