/* SPDX-License-Identifier: Apache-2.0 */
/* shown_rows.h - which locks of a sample are shown, in which order; and what
 * the cells of their rows say. */
#ifndef HOLDFAST_CLI_TOP_SHOWN_ROWS_H
#define HOLDFAST_CLI_TOP_SHOWN_ROWS_H

#include <stdio.h>

#include "holder_text.h"
#include "lock_sample.h"

enum top_sort { TOP_BY_HELD, TOP_BY_WAITERS, TOP_BY_NAME, TOP_SORTS };

/* The words of --sort. */
extern const char *const top_sorts[TOP_SORTS];

struct top_view {
    const struct lock_row **rows; /* of the sample; owned */
    size_t count;
};

/* The rows whose name or holder has `filter` in it; false: out of memory. */
bool top_view_fill(struct top_view *view, const struct lock_sample *sample,
                   enum top_sort sort, const char *filter);
void top_view_free(struct top_view *view);

/* Who holds it; of several, how many and one of them. */
void top_holder(const struct lock_row *row, char text[HOLDER_TEXT_SIZE]);

#define TOP_LINE_SIZE 512

/* "2 locks held, 1 waiter, ..." */
void top_totals(const struct lock_sample *sample, char text[TOP_LINE_SIZE]);

/* The cells before the name of a row; without a row their titles. */
void top_cells(const struct lock_row *row, char text[TOP_LINE_SIZE]);

/* The sample as a table. */
void top_print(FILE *file, const char *store, const struct lock_sample *sample,
               const struct top_view *view);

#endif
