/* SPDX-License-Identifier: Apache-2.0 */
/* store_verbs.h - commands of `holdfast store` in files of their own. */
#ifndef HOLDFAST_CLI_CMD_STORE_VERBS_H
#define HOLDFAST_CLI_CMD_STORE_VERBS_H

#include "cmd.h"

int store_diagnose(struct call *call);
int store_dump(struct call *call);
int store_load(struct call *call);
int store_salvage(struct call *call);

#endif
