/* SPDX-License-Identifier: Apache-2.0 */
/* holder.h - who holds a lock, in words. */
#ifndef HOLDFAST_CLI_HOLDER_H
#define HOLDFAST_CLI_HOLDER_H

#include "holdfast.h"

#define HOLDER_TEXT_SIZE 1024

/* "backup (pid 4711, root@db1)". */
void holder_name(const hf_holder *holder, char text[HOLDER_TEXT_SIZE]);

/* The owner id, as much of it as there is, and whose it looks like; nothing in
 * it but printable characters. */
void holder_foreign(const hf_lock_info *info, char text[HOLDER_TEXT_SIZE]);

/* "held by ... for 12 s, 18 s left"; `holder` NULL: nobody knows. */
void holder_tell(const hf_lock_info *info, const hf_holder *holder,
                 char text[HOLDER_TEXT_SIZE]);

/* Look who holds a lock now, and tell so; "" if that cannot be told. */
void holder_find(hf_client *client, hf_bytes name, char text[HOLDER_TEXT_SIZE]);

#endif
