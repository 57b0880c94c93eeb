/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - texts of a table on a terminal. */
#ifndef HOLDFAST_CLI_TOP_CELL_H
#define HOLDFAST_CLI_TOP_CELL_H

#include "holdfast/base.h"

/*
 * Write `bytes` for the user's locale, in at most `columns` columns; longer
 * text ends with a `+`. What is not printable is written \xHH. Returns the
 * columns used. `size` is at least 1; what does not fit is cut off.
 */
size_t cell_text(char *text, size_t size, hf_bytes bytes, size_t columns);

#define CELL_TIME_SIZE 32

/* "0.3s", "59s", "2m05s", "3h07m", "12d04h"; "-" if negative. */
void cell_time(char text[CELL_TIME_SIZE], int64_t ms);

#endif
