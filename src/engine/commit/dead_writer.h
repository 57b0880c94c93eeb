/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_writer.h - undoing what a writer left that was killed in a commit.
 */
#ifndef HF__ENGINE_DEAD_WRITER_H
#define HF__ENGINE_DEAD_WRITER_H

#include "engine/commit/env.h"

/* The writer lock was left by a process that has died, and is held now, or no
 * process has the store open; LMDB has begun no transaction since. */
void hf__dead_writer_undo(const hf__env *env);

#endif
