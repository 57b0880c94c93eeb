/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_content.h - the content of the store that is damaged: every
 * type, small and large.
 */
#ifndef TESTS_FAULT_EMBEDDED_DAMAGE_CONTENT_H
#define TESTS_FAULT_EMBEDDED_DAMAGE_CONTENT_H

#include "holdfast/client.h"

/* Round 0 creates it, round 1 changes much of it. false: see stderr. */
bool content_write(const char *url, uint64_t seed, unsigned round);

/* Result of reading, by severity. */
typedef enum reading { READ_SAME, READ_ERROR, READ_WRONG } reading;

/* Read all of it, as round 1 left it. On READ_ERROR *err is that of the first
 * call that failed, on READ_WRONG err->message says what differs. */
reading content_read(hf_client *client, uint64_t seed, hf_error *err);

/* Overwrite all of it, ignoring failures. The first error, or HF_OK. */
hf_status content_overwrite(hf_client *client, uint64_t seed, hf_error *err);

#endif
