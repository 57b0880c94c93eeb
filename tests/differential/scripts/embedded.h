/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h - an embedded store, transactions of it, and what a request that
 * ran in one has come to. What fails ends the program. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include "core/client.h"
#include "engine/run/execute.h"
#include "place.h"
#include "util/buf.h"

/* Read --seed, --steps or --mutate. false: it is another one. */
bool option_read(const char *name, const char *value, uint64_t *seed,
                 unsigned long *steps, const char **fault);

/* In a folder of its own. */
typedef struct embedded {
    char folder[PLACE_SIZE];
    hf__env *env;
    hf_client *client; /* of the same store; its inbox is listening */
} embedded;

void require(bool good, const char *what);
void embedded_open(embedded *self);
const char *embedded_inbox(const embedded *self);
void embedded_close(embedded *self);

/* For the job, at `now_ms` of hf__clock_boot_ms(). */
hf__tx *embedded_begin(embedded *self, const hf__job *job, int64_t now_ms);
void embedded_end(embedded *self, hf__tx *tx, bool undo);

/* Append the reply, or the status and the error. */
void result_print(hf__buf *to, const hf__request *request);

#endif
