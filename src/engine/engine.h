/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the door of the engine: all that the table of drivers and the
 * server may include of it.
 *
 * The table needs the driver alone. The server runs the commands of many
 * connections in one transaction (a round), answers with the engine's texts,
 * and reads its rings.
 */
#ifndef HF__ENGINE_ENGINE_H
#define HF__ENGINE_ENGINE_H

/* Folders of its user. */
#include "engine/files/files.h"
/* Arguments, numbers and replies. */
#include "engine/keys/argument.h"
#include "engine/keys/command_out.h"
#include "engine/keys/command_reply.h"
#include "engine/keys/key_count.h"
#include "engine/keys/number_text.h"
#include "engine/keys/reclaim.h"
/* Commands, and running them. */
#include "engine/commands/command_row.h"
#include "engine/run/command_round.h"
#include "engine/run/command_table.h"
/* Flags of scripts. */
#include "engine/lua/shebang.h"
/* A copy of it. */
#include "engine/maintenance/rdb_file.h"
/* Running a request on records that its user keeps. */
#include "engine/scratch/scratch.h"
/* What other processes do. */
#include "engine/wake/key_event.h"
#include "engine/wake/message_reader.h"
#include "engine/wake/note.h"
#include "store/store.h"
#include "util/private_api.h"

/* The driver. The functions below are of a store that it opened. */
HF__PRIVATE_API extern const hf__store_ops hf__embedded_store_ops;

HF__PRIVATE_API hf__env *hf__embedded_env(hf__store *store);
/* Its folder. */
HF__PRIVATE_API const char *hf__embedded_path(hf__store *store);
/* The most processor time of a script, ms. */
HF__PRIVATE_API int64_t hf__embedded_budget_ms(hf__store *store);
/* What the keys take in the data file, and the most that it may have, bytes. */
HF__PRIVATE_API int64_t hf__embedded_used(hf__store *store, const hf__tx *tx);
HF__PRIVATE_API int64_t hf__embedded_max_size(hf__store *store);
/* How often all keys were removed, by any process, while changes are noted. */
HF__PRIVATE_API uint32_t hf__embedded_flushes(hf__store *store);
/* For readers of its rings. */
HF__PRIVATE_API hf__wake_inbox *hf__embedded_inbox(hf__store *store);
/* What its feeds read. */
HF__PRIVATE_API hf__ring_reader *hf__embedded_changes(hf__store *store);

#endif
