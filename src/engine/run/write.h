/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - one request in a write transaction of its own.
 */
#ifndef HF__ENGINE_WRITE_H
#define HF__ENGINE_WRITE_H

#include "engine/run/execute.h"

/* Take the writer lock, run, commit, deliver events. */
void hf__write_run(hf__env *env, const hf__job *job);

/* Make space for a transaction that did not fit. The writer lock is held. true:
 * try again. */
bool hf__write_make_room(hf__env *env);

/* Release the writer lock and deliver the committed events. */
void hf__write_end(hf__env *env);

#endif
