/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - see figures.h. */
#include "top/figures.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "read_number.h"
#include "store_facts.h"

/* The line as it grows; what does not fit is left out. */
struct figure_line {
    char *text;
    size_t used;
};

static void add_figure(struct figure_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_figure(struct figure_line *line, const char *format, ...)
{
    char figure[64];
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(figure, sizeof(figure), format, list);
    va_end(list);
    if (size < 0 || line->used + (size_t)size + 3 > TOP_FIGURES_SIZE)
        return;
    line->used +=
        (size_t)snprintf(line->text + line->used, TOP_FIGURES_SIZE - line->used,
                         "%s%s", line->used == 0 ? "" : "  ", figure);
}

static void size_text(char text[16], int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes;
    size_t unit = 0;

    for (; size >= 1024 && unit < 5; unit++)
        size /= 1024;
    (void)snprintf(text, 16, unit == 0 ? "%.0f %s" : "%.1f %s", size,
                   units[unit]);
}

/* --------------------------------------------------------- embedded stores */

/* false: it is not embedded. */
static bool add_store(struct figure_line *line, hf_client *client)
{
    struct store_facts facts;
    char size[16], size_max[16];

    if (store_facts_read(&facts, client) != HF_OK || facts.size < 0 ||
        facts.size_max <= 0)
        return false;
    size_text(size, facts.size);
    size_text(size_max, facts.size_max);
    add_figure(line, "keys %" PRId64, facts.keys);
    add_figure(line, "used %s of %s (%.0f%%)", size, size_max,
               100 * (double)facts.size / (double)facts.size_max);
    return true;
}

/* ----------------------------------------------------------------- servers */

/* A number of INFO; -1: it is not there. */
static int64_t number_of(const char *info, const char *name)
{
    const char *at = strstr(info, name);

    return at == NULL ? -1 : strtoll(at + strlen(name), NULL, 10);
}

static int64_t keys_of(const char *info)
{
    int64_t keys = 0;

    while ((info = strstr(info, ":keys=")) != NULL) {
        info += strlen(":keys=");
        keys += strtoll(info, NULL, 10);
    }
    return keys;
}

static void add_memory(struct figure_line *line, const char *info)
{
    int64_t used = number_of(info, "\nused_memory:");
    int64_t most = number_of(info, "\nmaxmemory:");
    char size[16], size_max[16];

    size_text(size, used);
    size_text(size_max, most);
    if (most > 0)
        add_figure(line, "used %s of %s (%.0f%%)", size, size_max,
                   100 * (double)used / (double)most);
    else if (used >= 0)
        add_figure(line, "used %s", size);
}

static void add_server(struct figure_line *line, const char *info)
{
    int64_t hits = number_of(info, "\nkeyspace_hits:");
    int64_t misses = number_of(info, "\nkeyspace_misses:");
    int64_t rate = number_of(info, "\ninstantaneous_ops_per_sec:");
    int64_t clients = number_of(info, "\nconnected_clients:");

    add_figure(line, "keys %" PRId64, keys_of(info));
    add_memory(line, info);
    if (clients >= 0)
        add_figure(line, "clients %" PRId64, clients);
    if (rate >= 0)
        add_figure(line, "commands %" PRId64 "/s", rate);
    if (hits >= 0 && misses >= 0 && hits + misses > 0)
        add_figure(line, "hits %.0f%%",
                   100 * (double)hits / (double)(hits + misses));
}

void top_figures_read(hf_client *client, char text[TOP_FIGURES_SIZE])
{
    const hf_bytes words[] = {hf_str("info")};
    struct figure_line line = {text, 0};
    hf_reply *reply = NULL;

    text[0] = '\0';
    if (add_store(&line, client))
        return;
    if (hf_command(client, 1, words, &reply, NULL) == HF_OK)
        add_server(&line, hf_reply_bytes(reply).data);
    hf_reply_free(reply);
}
