/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h - the driver for stores in files that this process opens. */
#ifndef HF__ENGINE_EMBEDDED_H
#define HF__ENGINE_EMBEDDED_H

#include "store/store.h"

extern const hf__store_ops hf__embedded_store_ops;

/* The files of an open store, and the most processor time of a script, ms. */
struct hf__env;
struct hf__env *hf__embedded_env(hf__store *store);
int64_t hf__embedded_budget_ms(hf__store *store);
/* For readers of its rings. */
struct hf__wake_inbox *hf__embedded_inbox(hf__store *store);
/* What its feeds read. */
struct hf__ring_reader *hf__embedded_changes(hf__store *store);

#endif
