/* SPDX-License-Identifier: Apache-2.0 */
/* lock_keep.h - holdfast lock acquire|renew|release. */
#ifndef HOLDFAST_CLI_CMD_LOCK_KEEP_H
#define HOLDFAST_CLI_CMD_LOCK_KEEP_H

#include "cmd.h"

int lock_acquire(struct call *call);
int lock_renew(struct call *call);
int lock_release(struct call *call);

#endif
