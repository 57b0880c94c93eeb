/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - what can be wrong with a data file, as plain numbers and bytes: a
 * process that may not allocate can fill one and write it to a pipe.
 */
#ifndef HF__ENGINE_FINDING_H
#define HF__ENGINE_FINDING_H

#include "holdfast/base.h"

/* {page} {a} {b}: the numbers; {key}: the bytes, quoted. */
#define HF__FINDING_MAP(X)                                                     \
    X(NONE, "nothing is wrong")                                                \
    X(FOREIGN, "the data file is not an LMDB file")                            \
    X(CUT, "the data file was truncated: it has {a} bytes of {b}")             \
    X(META, "page {page}: damaged meta page")                                  \
    X(META_ORDER, "the meta pages are of transactions {a} and {b}, not of "    \
                  "consecutive ones")                                          \
    X(PAGE_RANGE, "page {page}: refers to page {a} of {b}")                    \
    X(PAGE_TWICE, "page {page}: refers to page {a}, which is already in use")  \
    X(PAGE_HEAD, "page {page}: damaged header")                                \
    X(PAGE_KIND, "page {page}: of kind {a}, not {b}")                          \
    X(PAGE_ROOM, "page {page}: damaged item table")                            \
    X(PAGE_NODE, "page {page}: item {a} is damaged")                           \
    X(PAGE_NODES, "page {page}: its items take {a} bytes, not {b}")            \
    X(PAGE_ORDER, "page {page}: item {a}, {key}, is out of order")             \
    X(PAGE_LARGE, "page {page}: damaged large value")                          \
    X(TREE_COUNT, "the file counts {b} {key}, found {a}")                      \
    X(FREE_LIST, "page {page}: the list of free pages {a} is damaged")         \
    X(FREE_RANGE, "page {page}: lists page {a} of {b} as free")                \
    X(FREE_USED, "page {page}: lists page {a} as free, which is in use")       \
    X(FREE_TWICE, "page {page}: lists page {a} as free twice")                 \
    X(LOST_PAGES, "{a} pages are neither in use nor free")                     \
    X(NOT_OURS, "the LMDB file is not a holdfast store")                       \
    X(HEADER, "the store's header is damaged")                                 \
    X(NEWER, "the store has format {a}, newer than this library's {b}")        \
    X(RECORD_KIND, "page {page}: a record of unknown kind, {key}")             \
    X(RECORD_NAME, "page {page}: the record {key} has a damaged name")         \
    X(FUNCTIONS, "page {page}: the libraries of functions are damaged")        \
    X(KEY_HEAD, "key {key}: its record is damaged")                            \
    X(KEY_TYPE, "key {key}: unknown type {a} or form {b}")                     \
    X(KEY_SUM, "key {key}: wrong checksum")                                    \
    X(KEY_LONG, "key {key}: stored under another key's name")                  \
    X(KEY_CONTENT, "key {key}: its content is damaged")                        \
    X(KEY_ORDER, "key {key}: its content is out of order")                     \
    X(KEY_COUNT, "key {key}: {a} elements, not {b}")                           \
    X(KEY_EMPTY, "key {key}: a collection without elements")                   \
    X(KEY_INDEX, "key {key}: the two indexes of the sorted set differ")        \
    X(KEY_SHARED, "key {key}: shares its elements with another key")           \
    X(KEY_DELETED, "key {key}: its elements are marked as deleted")            \
    X(KEY_ELEMENT, "key {key}: an element of another type")                    \
    X(KEY_COUNTS, "key {key}: the counts of the sorted set are wrong")         \
    X(KEY_CHUNKS, "key {key}: a chunk of the string is wrong")                 \
    X(LIST_GAP, "key {key}: the elements of the list have gaps")               \
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
