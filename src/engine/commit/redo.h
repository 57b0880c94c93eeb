/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo.h - durability=log: what a transaction changes is written to a log and
 * is on disk before it is committed.
 */
#ifndef HF__ENGINE_REDO_H
#define HF__ENGINE_REDO_H

#include "engine/commit/env.h"

struct hf__tx;

/* Create an empty log, before the first checkpoint, so that none is without
 * one. No other process has the store open. */
hf_status hf__redo_create(const hf__env *env, hf_error *err);

/* Open the log of a store with durability=log; in other modes these do
 * nothing. HF_CORRUPT: there is none, and it may not be created. The
 * writer lock is held. */
hf_status hf__redo_open(hf__env *env, bool may_create, hf_error *err);
void hf__redo_close(hf__env *env);

/*
 * By the first process that opens the store: if the data file was reverted,
 * apply the transactions after its last one, while a pin keeps that snapshot;
 * and empty the log, once a checkpoint has them. The writer lock is held.
 */
hf_status hf__redo_replay(hf__env *env, hf_error *err);
hf_status hf__redo_reset(hf__env *env, hf_error *err);

/* HF_DENIED if the data file would have to be reverted, or the log applied,
 * before the store may be read. No process has it open. */
hf_status hf__redo_check(int dir_fd, hf_error *err);
/* Empty the log of such a store, before the data file is replaced by one that
 * is on disk. */
hf_status hf__redo_void(int dir_fd, hf_error *err);

/* Must a checkpoint be made before the next write? The writer lock is held. */
bool hf__redo_is_full(const hf__env *env);
/* Is a part of the log full that a checkpoint would free? */
bool hf__redo_is_due(const hf__env *env);

/* A checkpoint was made. */
void hf__redo_checkpointed(hf__env *env);

/* What follows is of a store with a log. A transaction that writes begins. */
void hf__redo_clear(struct hf__tx *tx);
/* A record of LMDB is about to be changed; or all are deleted, and a header is
 * put. false: out of memory. */
bool hf__redo_note(struct hf__tx *tx, const MDB_val *key);
bool hf__redo_note_drop(struct hf__tx *tx);

/*
 * Around a commit of what was noted: write it to the disk. false: the
 * transaction has failed. wrote(): `committed` or not.
 */
bool hf__redo_write(struct hf__tx *tx);
void hf__redo_wrote(struct hf__tx *tx, bool committed);

#endif
