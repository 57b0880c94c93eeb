/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - holdfast top on a terminal. */
#ifndef HOLDFAST_CLI_TOP_SCREEN_H
#define HOLDFAST_CLI_TOP_SCREEN_H

#include "cmd.h"
#include "top/shown_rows.h"

/* Until the user quits; the exit code. */
int top_screen(struct call *call, hf_bytes pattern, int64_t interval_ms,
               enum top_sort sort);

#endif
