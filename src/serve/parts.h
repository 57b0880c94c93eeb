/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - what a server consists of: the files that keep something of each
 * connection, and those that have commands.
 */
#ifndef HF__SERVE_PARTS_H
#define HF__SERVE_PARTS_H

#include "serve/commands/served.h"
#include "serve/conn/conn.h"

extern const hf__part hf__auth_part;
extern const hf__part hf__blocking_part;
extern const hf__part hf__guesses_part;
extern const hf__part hf__limits_part;
extern const hf__part hf__monitor_part;
extern const hf__part hf__multi_part;
extern const hf__part hf__subscribe_part;
extern const hf__part hf__sync_part;
extern const hf__part hf__tracking_part;

extern const hf__served_entry hf__served_acl[];
extern const hf__served_entry hf__served_auth[];
extern const hf__served_entry hf__served_client[];
extern const hf__served_entry hf__served_command[];
extern const hf__served_entry hf__served_config[];
extern const hf__served_entry hf__served_hello[];
extern const hf__served_entry hf__served_info[];
extern const hf__served_entry hf__served_latency[];
extern const hf__served_entry hf__served_monitor[];
extern const hf__served_entry hf__served_multi[];
extern const hf__served_entry hf__served_shutdown[];
extern const hf__served_entry hf__served_slowlog[];
extern const hf__served_entry hf__served_standalone[];
extern const hf__served_entry hf__served_subscribe[];
extern const hf__served_entry hf__served_sync[];

/* All of them; each ends with NULL. */
extern const hf__part *const hf__serve_parts[];
extern const hf__served_entry *const hf__serve_tables[];

#endif
