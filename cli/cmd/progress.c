/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - see progress.h.
 */
#include "cmd/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lease_clock.h"

/* Between two updates. */
#define PAUSE_MS 100

#define BAR_SIZE 24

/* Room for one amount: four digits, a point, a space, a prefix. */
#define AMOUNT_SIZE 24

/* "950", "1.2 k", "34 M". */
static const char *amount_text(char text[AMOUNT_SIZE], double value)
{
    static const char prefixes[] = " kMGTP";
    const char *prefix = prefixes;

    while (value >= 1000 && prefix[1] != '\0') {
        value /= 1000;
        prefix++;
    }
    if (prefix == prefixes)
        (void)snprintf(text, AMOUNT_SIZE, "%.0f ", value);
    else
        (void)snprintf(text, AMOUNT_SIZE, "%.*f %c", value < 10 ? 1 : 0, value,
                       *prefix);
    return text;
}

static void draw_bar(uint64_t done, uint64_t total)
{
    double part = done < total ? (double)done / (double)total : 1;
    int full = (int)(part * BAR_SIZE);
    char bar[BAR_SIZE + 1];

    memset(bar, '.', BAR_SIZE);
    memset(bar, '#', (size_t)full);
    bar[BAR_SIZE] = '\0';
    fprintf(stderr, " [%s] %3.0f%%", bar, part * 100);
}

void progress_begin(struct progress *progress, const char *what)
{
    progress->what = what;
    progress->shown = isatty(STDERR_FILENO) == 1;
    progress->drawn = false;
    progress->began_ms = now_ms();
    progress->drawn_ms = progress->began_ms;
}

void progress_draw(struct progress *progress, uint64_t done, uint64_t total,
                   uint64_t keys, uint64_t bytes)
{
    char amounts[4][AMOUNT_SIZE];
    double seconds;
    int64_t now;

    if (!progress->shown)
        return;
    now = now_ms();
    if (now < progress->drawn_ms + PAUSE_MS)
        return;
    progress->drawn_ms = now;
    progress->drawn = true;
    seconds = (double)(now - progress->began_ms) / 1000;
    fprintf(stderr, "\r%s", progress->what);
    if (total > 0)
        draw_bar(done, total);
    fprintf(stderr, " %skeys, %sB, %skeys/s, %sB/s\033[K",
            amount_text(amounts[0], (double)keys),
            amount_text(amounts[1], (double)bytes),
            amount_text(amounts[2], (double)keys / seconds),
            amount_text(amounts[3], (double)bytes / seconds));
    (void)fflush(stderr);
}

void progress_clear(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
