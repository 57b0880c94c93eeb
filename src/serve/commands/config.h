/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the parameters that CONFIG shows and sets. */
#ifndef HF__SERVE_CONFIG_H
#define HF__SERVE_CONFIG_H

#include "serve/state.h"

#define HF__CONFIG_ERROR_SIZE 256

typedef struct hf__config {
    const char *name; /* lower case; NULL ends a table */
    /* What is always shown. NULL: has `get`. */
    const char *value;
    void (*get)(hf_server *server, hf__buf *text);
    /* Set it, or only check the value if `apply` is false. false: `error` says
     * why not. NULL: it may be set to `value` only. */
    bool (*set)(hf_server *server, hf_bytes value, bool apply,
                char error[HF__CONFIG_ERROR_SIZE]);
} hf__config;

/* One table per file. */
extern const hf__config hf__config_acl_log[];
extern const hf__config hf__config_server[];
extern const hf__config hf__config_slowlog[];

/* For `set`: an integer from `min` to `max`. */
bool hf__config_integer(hf_bytes value, int64_t min, int64_t max,
                        int64_t *number, char error[HF__CONFIG_ERROR_SIZE]);

#endif
