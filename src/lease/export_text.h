/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_text.h - the text of an exported lock. It has these fields, separated
 * by colons:
 *
 *   hf1 KIND OWNER TOKEN TTL ARGUMENT NAME CRC
 *
 * Numbers are decimal; ARGUMENT is that of the kind, or 0. NAME is without the
 * client's prefix, each byte but letters, digits and -._/ as %XX. CRC is that
 * of what precedes it, its last colon included: eight hexadecimal digits.
 */
#ifndef HF__LEASE_EXPORT_TEXT_H
#define HF__LEASE_EXPORT_TEXT_H

#include "holdfast/lock.h"
#include "lease/handle.h"

/* All but the name: the version, the kind, an owner id, numbers, the CRC. */
#define HF__EXPORT_REST 192
#define HF__EXPORT_SIZE(name_size) (3 * (name_size) + HF__EXPORT_REST)

enum {
    HF__EXPORT_VERSION,
    HF__EXPORT_KIND,
    HF__EXPORT_OWNER,
    HF__EXPORT_TOKEN,
    HF__EXPORT_TTL,
    HF__EXPORT_ARGUMENT,
    HF__EXPORT_NAME,
    HF__EXPORT_FIELDS
};

typedef struct hf__exported {
    char *storage; /* of the rest; to be freed */
    char *fields[HF__EXPORT_FIELDS];
    const char *kind;
    const char *owner; /* of the size of an owner id */
    int64_t token;
    int64_t ttl_ms;
    int64_t argument;
    hf_bytes name;
} hf__exported;

/* Write the text of a lock that is held; returns its size without the NUL. */
size_t hf__export_put(char *text, const hf_lock *lock, const char *kind);

/* Check the text, and read kind and owner; then read the rest. */
hf_status hf__export_split(hf__exported *self, hf_bytes text, hf_error *err);
hf_status hf__export_read(hf__exported *self, hf_error *err);

#endif
