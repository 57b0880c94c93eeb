/* SPDX-License-Identifier: Apache-2.0 */
/* acl_log.h - ACL LOG: what was refused, newest first. */
#ifndef HF__SERVE_ACL_LOG_H
#define HF__SERVE_ACL_LOG_H

#include "serve/conn/conn.h"

typedef struct hf__acl_log {
    struct hf__acl_entry *newest; /* NULL: none */
    int64_t most;                 /* entries kept */
} hf__acl_log;

typedef enum hf__acl_reason {
    HF__ACL_COMMAND,
    HF__ACL_KEY,
    HF__ACL_CHANNEL,
    HF__ACL_AUTH
} hf__acl_reason;

void hf__acl_log_init(hf__acl_log *log);
void hf__acl_log_clear(hf__acl_log *log);
/* The same within a minute is counted. Without memory nothing is kept. */
void hf__acl_log_add(hf__conn *conn, hf__acl_reason reason, hf_bytes object,
                     hf_bytes user, bool in_script);

void hf__acl_log_command(hf__conn *conn, const hf_bytes *words, size_t count);

#endif
