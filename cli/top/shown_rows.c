/* SPDX-License-Identifier: Apache-2.0 */
/* shown_rows.c - see shown_rows.h. */
#include "top/shown_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "top/cell.h"

/* Longer names are not padded to, in columns. */
#define NAME_WIDTH_MAX 40

/* Room for any name as \xHH. */
#define NAME_TEXT_SIZE (4 * HF_NAME_MAX + 1)

const char *const top_sorts[TOP_SORTS] = {"held", "waiters", "name"};

/* ----------------------------------------------------------- order, filter */

/* Rows are by name in the sample. */
static int by_name(const struct lock_row *a, const struct lock_row *b)
{
    return a < b ? -1 : a > b;
}

static int by_held(const void *a, const void *b)
{
    const struct lock_row *left = *(const struct lock_row *const *)a;
    const struct lock_row *right = *(const struct lock_row *const *)b;
    int64_t left_ms = lock_row_held_ms(left);
    int64_t right_ms = lock_row_held_ms(right);

    if (left_ms != right_ms)
        return left_ms > right_ms ? -1 : 1;
    return by_name(left, right);
}

static int by_waiters(const void *a, const void *b)
{
    const struct lock_row *left = *(const struct lock_row *const *)a;
    const struct lock_row *right = *(const struct lock_row *const *)b;

    if (left->info.waiters != right->info.waiters)
        return left->info.waiters > right->info.waiters ? -1 : 1;
    return by_held(a, b);
}

static bool matches_filter(const struct lock_row *row, const char *filter)
{
    char holder[HOLDER_TEXT_SIZE];

    if (memmem(row->name, row->name_size, filter, strlen(filter)) != NULL)
        return true;
    top_holder(row, holder);
    return strstr(holder, filter) != NULL;
}

bool top_view_fill(struct top_view *view, const struct lock_sample *sample,
                   enum top_sort sort, const char *filter)
{
    top_view_free(view);
    view->rows = malloc((sample->count + 1) * sizeof(*view->rows));
    if (view->rows == NULL)
        return false;
    for (size_t i = 0; i < sample->count; i++) {
        if (filter[0] == '\0' || matches_filter(&sample->rows[i], filter))
            view->rows[view->count++] = &sample->rows[i];
    }
    if (sort != TOP_BY_NAME)
        qsort(view->rows, view->count, sizeof(*view->rows),
              sort == TOP_BY_HELD ? by_held : by_waiters);
    return true;
}

void top_view_free(struct top_view *view)
{
    free(view->rows);
    view->rows = NULL;
    view->count = 0;
}

/* ------------------------------------------------------------------- texts */

static void one_holder(const struct lock_row *row, char text[HOLDER_TEXT_SIZE])
{
    if (row->known)
        holder_name(&row->holder, text);
    else
        holder_foreign(&row->info, text);
}

void top_holder(const struct lock_row *row, char text[HOLDER_TEXT_SIZE])
{
    char one[HOLDER_TEXT_SIZE];
    const char *what =
        row->info.mode == HF_LOCK_SHARED ? "readers" : "holders of permits";

    one_holder(row, one);
    if (row->info.holders > 1)
        snprintf(text, HOLDER_TEXT_SIZE, "%" PRIu64 " %s, as %.900s",
                 row->info.holders, what, one);
    else
        snprintf(text, HOLDER_TEXT_SIZE, "%s", one);
}

void top_totals(const struct lock_sample *sample, char text[TOP_LINE_SIZE])
{
    int put = snprintf(text, TOP_LINE_SIZE, "locks %zu  waiters %" PRId64,
                       sample->count, sample->waiters);

    if (sample->span_ms > 0)
        put += snprintf(text + put, TOP_LINE_SIZE - (size_t)put,
                        "  hand-overs %.1f/s  losses %" PRIu64,
                        lock_sample_rate(sample, sample->changed.hand_overs),
                        sample->total.losses);
    if (sample->last_token > 0)
        snprintf(text + put, TOP_LINE_SIZE - (size_t)put,
                 "  last token %" PRIu64, sample->last_token);
}

void top_cells(const struct lock_row *row, char text[TOP_LINE_SIZE])
{
    char held[CELL_TIME_SIZE + 1], left[CELL_TIME_SIZE];

    if (row == NULL) {
        snprintf(text, TOP_LINE_SIZE, "%8s %8s %7s", "HELD", "LEFT", "WAITERS");
        return;
    }
    held[0] = '>';
    cell_time(held + 1, lock_row_held_ms(row));
    cell_time(left, row->info.remaining_ms);
    snprintf(text, TOP_LINE_SIZE, "%8s %8s %7" PRId64,
             held + (row->held_ms >= 0), left, row->info.waiters);
}

static size_t name_text(const struct lock_row *row, char text[NAME_TEXT_SIZE])
{
    return cell_text(text, NAME_TEXT_SIZE, hf_view(row->name, row->name_size),
                     NAME_TEXT_SIZE);
}

void top_print(FILE *file, const char *store, const struct lock_sample *sample,
               const struct top_view *view)
{
    char line[TOP_LINE_SIZE], name[NAME_TEXT_SIZE];
    char holder[HOLDER_TEXT_SIZE];
    size_t width = strlen("LOCK");

    top_totals(sample, line);
    fprintf(file, "%s\n%s\n\n", store, line);
    for (size_t i = 0; i < view->count; i++) {
        size_t used = name_text(view->rows[i], name);

        if (used > width)
            width = used < NAME_WIDTH_MAX ? used : NAME_WIDTH_MAX;
    }
    top_cells(NULL, line);
    fprintf(file, "%s  %-*s  HOLDER\n", line, (int)width, "LOCK");
    for (size_t i = 0; i < view->count; i++) {
        size_t used = name_text(view->rows[i], name);

        top_cells(view->rows[i], line);
        top_holder(view->rows[i], holder);
        fprintf(file, "%s  %s%*s  %s\n", line, name,
                used < width ? (int)(width - used) : 0, "", holder);
    }
}
