/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - one request in a write transaction of its own.
 */
#ifndef HF__EMBEDDED_WRITE_H
#define HF__EMBEDDED_WRITE_H

#include "store/embedded/run/execute.h"

/* Each retry makes the store larger by a quarter or 16 MiB at least, or
 * follows the end of a dead reader. */
#define HF__WRITE_RETRY_MAX 64

/* Take the writer lock, by the request's deadline, run, commit, tell. */
void hf__write_run(hf__env *env, const hf__job *job);

/* A transaction did not fit: can it be tried again with more room? The writer
 * lock is held. */
bool hf__write_make_room(hf__env *env);

/* Let go of the writer lock, and tell the events of what was committed. */
void hf__write_end(hf__env *env);

#endif
