/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_found.h - what an open store holds of one thread's data, and
 * whether that agrees with the model.
 */
#ifndef TESTS_FAULT_POWER_CUT_FOUND_H
#define TESTS_FAULT_POWER_CUT_FOUND_H

#include "holdfast/client.h"
#include "holdfast/reply.h"
#include "power_cut_model.h"

/* Names of a thread's keys: a letter for each, and "account:N" for all. */
#define KEY_SIZE 48
void key_name(char key[KEY_SIZE], unsigned thread, const char *part, size_t at);

/* Run one command, its words separated by spaces. */
hf_status ask(hf_client *client, const char *line, hf_reply **reply,
              hf_error *err);

typedef struct found {
    hf_reply *values[MODEL_VALUES];
    hf_reply *big;
    hf_reply *hash;
    hf_reply *list;
    hf_reply *scores;
    hf_reply *members;
    hf_reply *moves;
    bool locked;
    uint64_t token; /* highest issued */
} found;

/* A failure fills `err`; what was read must be freed in any case. */
hf_status found_read(found *self, hf_client *client, unsigned thread,
                     hf_error *err);
void found_free(found *self);

/* NULL: it equals `want`. Otherwise what differs. */
const char *found_differs(const found *self, const model *want);

/* Do the accounts add up to zero, as each transfer leaves them? */
hf_status accounts_sum(hf_client *client, int64_t *sum, hf_error *err);

#endif
