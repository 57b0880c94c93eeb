/* SPDX-License-Identifier: Apache-2.0 */
/* info_command.h - what INFO keeps between two calls. */
#ifndef HF__SERVE_INFO_COMMAND_H
#define HF__SERVE_INFO_COMMAND_H

#include "engine/engine.h"
#include "holdfast/serve.h"

#define HF__INFO_RUN_ID_SIZE 41

typedef struct hf__info {
    int64_t started_ms;
    int64_t saved_unix_s; /* the last SAVE; at first when it started */
    char run_id[HF__INFO_RUN_ID_SIZE];
    hf_server_stats reset; /* as of CONFIG RESETSTAT, like the next */
    hf__lookups reset_lookups;
    /* Commands and bytes a second, and what they were computed from. */
    double commands_per_s, in_per_s, out_per_s;
    int64_t rate_at_us;
    hf_server_stats rate_from;
    int64_t used_peak; /* bytes, the most that INFO has found */
    /* When the keys were counted, and how long that took. */
    hf__key_counts counts[HF__DATABASES];
    int64_t counted_us;
    int64_t counting_us;
} hf__info;

/* The server starts. */
void hf__info_init(hf__info *info);

#endif
