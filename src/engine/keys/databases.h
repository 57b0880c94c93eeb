/* SPDX-License-Identifier: Apache-2.0 */
/*
 * databases.h - the records of all keys of a database, in one transaction. No
 * record may be in use.
 */
#ifndef HF__ENGINE_DATABASES_H
#define HF__ENGINE_DATABASES_H

#include "engine/commit/tx.h"

/* Has another database than this one keys? Expired ones count. */
bool hf__database_has_others(hf__tx *tx, unsigned database);

/* Delete the keys of a database, one by one. */
void hf__database_clear(hf__tx *tx, unsigned database);

/* Exchange the keys of two databases, one by one. */
void hf__database_swap(hf__tx *tx, unsigned first, unsigned second);

#endif
