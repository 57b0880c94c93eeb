/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - see parts.h. */
#include "serve/parts.h"

const hf__part *const hf__serve_parts[] = {
    &hf__auth_part,      &hf__blocking_part,
    &hf__guesses_part,   &hf__limits_part,
    &hf__monitor_part,   &hf__multi_part,
    &hf__subscribe_part, &hf__sync_part,
    &hf__tracking_part,  NULL,
};

const hf__served_entry *const hf__serve_tables[] = {
    hf__served_acl,        hf__served_auth,
    hf__served_client,     hf__served_command,
    hf__served_config,     hf__served_hello,
    hf__served_info,       hf__served_latency,
    hf__served_monitor,    hf__served_multi,
    hf__served_shutdown,   hf__served_slowlog,
    hf__served_standalone, hf__served_subscribe,
    hf__served_sync,       NULL,
};
