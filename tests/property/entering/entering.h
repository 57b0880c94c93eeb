/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entering.h - what tries to enter a store: payloads for RESTORE, commands and
 * dumps with numbers, names and counts at and beyond their bounds.
 */
#ifndef TESTS_PROPERTY_ENTERING_H
#define TESTS_PROPERTY_ENTERING_H

#include "holdfast/base.h"
#include "support/dump_tape.h"
#include "support/prng.h"

/* Room for a payload; most of them are much smaller. */
#define PAYLOAD_SIZE 262144

/* Longest name of a key: longer than LMDB's own limit, and than a page. */
#define NAME_SIZE 6000

/* payload.c: a payload with version and checksum, of any RDB type. Returns its
 * size; *type is the type's byte. */
size_t make_payload(prng *random, unsigned char bytes[PAYLOAD_SIZE],
                    unsigned *type);

/* words.c: a command on `key`, any of those that write. The words are valid
 * until the next call. */
#define COMMAND_WORDS 12
size_t make_command(prng *random, hf_bytes key, hf_bytes *words);

/* tape.c: change a number or a text in a dump, and correct its checksums. */
void change_tape(prng *random, dump_tape *tape);

#endif
