/* SPDX-License-Identifier: Apache-2.0 */
/* acl_change.h - the commands that change users: rows of acl_command.c's table.
 */
#ifndef HF__SERVE_ACL_CHANGE_H
#define HF__SERVE_ACL_CHANGE_H

#include "serve/conn/conn.h"

void hf__acl_setuser(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__acl_deluser(hf__conn *conn, const hf_bytes *words, size_t count);
/* Give the user `default` this password alone, or, if it is empty, none; or
 * only check whether it may have it. false: `why` says why not. */
bool hf__acl_password(struct hf_server *server, hf_bytes password, bool apply,
                      hf_error *why);
/* From the file of users, and into it. */
void hf__acl_load(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__acl_save(hf__conn *conn, const hf_bytes *words, size_t count);

#endif
