/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_content.h - what is in the store that is damaged: every
 * type, small and large.
 */
#ifndef TESTS_FAULT_EMBEDDED_DAMAGE_CONTENT_H
#define TESTS_FAULT_EMBEDDED_DAMAGE_CONTENT_H

#include "holdfast.h"

/* Round 0 makes it, round 1 changes much of it. false: see stderr. */
bool content_write(const char *url, uint64_t seed, unsigned round);

/* How reading went, in the order of importance. */
typedef enum reading { READ_SAME, READ_ERROR, READ_WRONG } reading;

/* Read all of it as it is after round 1. On READ_ERROR the error of the first
 * call that failed, on READ_WRONG what it was in err->message. */
reading content_read(hf_client *client, uint64_t seed, hf_error *err);

/* Write all over it, whatever the calls say. The first error, or HF_OK. */
hf_status content_overwrite(hf_client *client, uint64_t seed, hf_error *err);

#endif
