/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h - owner ids: who holds a lock.
 *
 * Ours is the client's id, 16 lower-case hexadecimal digits, then '-', then 15
 * more: a number that this client never uses twice. Its upper 40 bits are the
 * milliseconds from the client's opening to the draw, so the id also says how
 * long its holder has had it, once the client's registration says when that
 * was (docs/adr/0037). No other library's id has this form: redis-py's are 32
 * hexadecimal digits, Redisson's uuid:thread, node-redlock's 40 digits.
 */
#ifndef HF__LEASE_OWNER_H
#define HF__LEASE_OWNER_H

#include <stdatomic.h>

#include "holdfast/lock.h"

/* A client's id as text, with the NUL. */
#define HF__CLIENT_ID_SIZE 17

typedef struct hf__owners {
    char client[HF__CLIENT_ID_SIZE];
    int64_t opened_ms; /* on hf__clock_boot_ms() */
    _Atomic uint64_t last;
} hf__owners;

/* Draws the client's id. */
void hf__owners_init(hf__owners *owners);

/* A new owner id; `now_ms` is of hf__clock_boot_ms(), read in this call. Any
 * thread. */
void hf__owner_draw(hf__owners *owners, int64_t now_ms,
                    char owner[HF_OWNER_SIZE]);

/* Does it have the form of a Holdfast owner id? */
bool hf__owner_is_ours(hf_bytes owner);

/* The id of the client that drew it. It must have our form. */
hf_bytes hf__owner_client(hf_bytes owner);

/* When it was drawn, in milliseconds after its client was opened. It must have
 * our form. */
int64_t hf__owner_drawn_ms(hf_bytes owner);

#endif
