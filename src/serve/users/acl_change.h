/* SPDX-License-Identifier: Apache-2.0 */
/* acl_change.h - the commands that change users: rows of acl_command.c's table.
 */
#ifndef HF__SERVE_ACL_CHANGE_H
#define HF__SERVE_ACL_CHANGE_H

#include "serve/conn/conn.h"

void hf__acl_setuser(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__acl_deluser(hf__conn *conn, const hf_bytes *words, size_t count);
/* From the file of users, and into it. */
void hf__acl_load(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__acl_save(hf__conn *conn, const hf_bytes *words, size_t count);

#endif
