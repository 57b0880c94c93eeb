/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - see view.h. */
#include "http/view.h"

#include <stdlib.h>
#include <string.h>

#include "holder_text.h"
#include "lease_clock.h"

/* Most locks of a view, and most bytes: a page with more helps no one, and each
 * stream of events may keep a view of its own. */
#define LOCKS_MAX 1000
#define VIEW_SIZE 524288

/* A lock without its name, in JSON; and a byte of a name ("\u0000"). */
#define LOCK_SIZE 4096
#define BYTE_SIZE 6

#define DATA "data: "

void http_source_init(struct http_source *source, hf_client *client,
                      hf_server *server)
{
    source->client = client;
    source->server = server;
    source->own.server = server;
    source->began_ms = now_ms();
    http_history_init(&source->history, source->began_ms);
    lock_sample_store(client, source->store);
}

void http_source_done(struct http_source *source)
{
    http_own_done(&source->own);
    hf_client_close(source->client);
    http_history_done(&source->history);
}

hf_status http_source_break(struct http_source *source, hf_bytes name,
                            hf_bytes owner, hf_error *err)
{
    if (owner.size == 0)
        return hf_lock_break(source->client, name, err);
    return lock_sample_break(source->client, name, owner, err);
}

/* ------------------------------------------------------------------ figures */

static void on_command(void *user, const hf_server_command *command)
{
    struct http_view *view = user;
    size_t size = (view->command_count + 1) * sizeof(*view->commands);
    hf_server_command *commands = realloc(view->commands, size);

    if (commands == NULL)
        return;
    commands[view->command_count++] = *command;
    view->commands = commands;
}

static int by_name(const void *a, const void *b)
{
    const hf_server_command *one = a, *other = b;

    return strcmp(one->name, other->name);
}

static void read_commands(const struct http_source *source,
                          struct http_view *view)
{
    (void)!hf_server_read_commands(source->server, on_command, view, NULL);
    if (view->command_count > 0)
        qsort(view->commands, view->command_count, sizeof(*view->commands),
              by_name);
}

/* Those of the server. */
static void read_figures(struct http_source *source, struct http_view *view)
{
    struct http_figures *figures = &view->figures;

    figures->server = (hf_server_stats)HF_SERVER_STATS_INIT;
    (void)!hf_server_read_stats(source->server, &figures->server, NULL);
    read_commands(source, view);
    figures->up_ms = now_ms() - source->began_ms;
    figures->rates = http_history_rates(&source->history, &figures->server,
                                        view->commands, view->command_count);
}

/* Those of the store. */
static void take_store(struct http_figures *figures,
                       const struct http_store *store)
{
    const struct lock_sample *sample = store->sample;

    figures->store = store->facts;
    figures->failed = store->failed;
    figures->sample_ms = -1;
    figures->locks = figures->waiters = figures->contended =
        figures->oldest_ms = -1;
    if (sample == NULL)
        return;
    figures->sample_ms = sample->ended_ms;
    figures->locks = (int64_t)sample->count;
    figures->waiters = sample->waiters;
    figures->contended = 0;
    figures->oldest_ms = 0;
    figures->changes = sample->total;
    figures->waits = sample->waits;
    for (size_t i = 0; i < sample->count; i++) {
        int64_t held_ms = lock_row_held_ms(&sample->rows[i]);

        figures->contended += sample->rows[i].info.waiters > 0;
        if (held_ms > figures->oldest_ms)
            figures->oldest_ms = held_ms;
    }
}

int64_t http_figures_age_ms(const struct http_figures *figures)
{
    return figures->sample_ms < 0 ? -1 : now_ms() - figures->sample_ms;
}

/* -------------------------------------------------------------------- text */

static int by_held(const void *a, const void *b)
{
    const struct lock_row *const *one = a, *const *other = b;
    int64_t x = lock_row_held_ms(*one), y = lock_row_held_ms(*other);

    return x < y ? 1 : x > y ? -1 : 0;
}

static void add_lock(struct json *json, const struct lock_row *row)
{
    json_open(json, NULL, '{');
    holder_lock_json(json, hf_view(row->name, row->name_size), true, &row->info,
                     row->known ? &row->holder : NULL);
    if (!row->known)
        json_integer(json, "held_ms", lock_row_held_ms(row));
    json_close(json, '}');
}

/* Those that are held longest. Returns how many. */
static int64_t add_locks(struct json *json, const struct lock_sample *sample)
{
    size_t count = sample->count < LOCKS_MAX ? sample->count : LOCKS_MAX;
    const struct lock_row **rows = calloc(sample->count + 1, sizeof(*rows));
    int64_t shown = 0;

    if (rows == NULL)
        return 0;
    for (size_t i = 0; i < sample->count; i++)
        rows[i] = &sample->rows[i];
    qsort(rows, sample->count, sizeof(*rows), by_held);
    for (size_t i = 0; i < count; i++) {
        size_t most = LOCK_SIZE + rows[i]->name_size * BYTE_SIZE;

        if (rows[i]->name_size > VIEW_SIZE ||
            (size_t)ftell(json->file) + most > VIEW_SIZE)
            continue;
        add_lock(json, rows[i]);
        shown++;
    }
    free(rows);
    return shown;
}

static void add_figures(struct json *json, const struct http_figures *figures)
{
    json_known(json, "keys", figures->store.keys);
    json_known(json, "bytes_in_use", figures->store.size);
    json_known(json, "bytes_at_most", figures->store.size_max);
    json_known(json, "sample_age_ms", http_figures_age_ms(figures));
    json_known(json, "locks_held", figures->locks);
    json_known(json, "waiters", figures->waiters);
    json_known(json, "contended", figures->contended);
    json_known(json, "oldest_ms", figures->oldest_ms);
    json_integer(json, "hand_overs", (int64_t)figures->changes.hand_overs);
    json_integer(json, "losses", (int64_t)figures->changes.losses);
}

static void add_server(struct json *json, const struct http_figures *figures)
{
    const hf_server_stats *stats = &figures->server;

    json_open(json, "server", '{');
    json_integer(json, "up_ms", figures->up_ms);
    json_integer(json, "connections", (int64_t)stats->connections);
    json_integer(json, "refused", (int64_t)stats->connections_refused);
    json_integer(json, "commands", (int64_t)stats->commands);
    json_integer(json, "failed", (int64_t)stats->failed);
    json_integer(json, "bytes_in", (int64_t)stats->bytes_in);
    json_integer(json, "bytes_out", (int64_t)stats->bytes_out);
    http_rates_json(&figures->rates, json);
    json_close(json, '}');
}

static void print_view(FILE *file, const struct http_source *source,
                       const struct http_store *store,
                       const struct http_figures *figures)
{
    struct json json;
    int64_t shown = 0;

    fputs(DATA, file);
    json_begin(&json, file);
    json_text(&json, "version", hf_version());
    json_text(&json, "store", source->store);
    json_integer(&json, "at_ms", unix_ms());
    json_bool(&json, "allow_break", source->allow_break);
    json_bool(&json, "allow_edit", source->allow_edit);
    json_bool(&json, "readable", source->is_readable);
    if (store->failed)
        json_text(&json, "error", store->err.message);
    add_figures(&json, figures);
    add_server(&json, figures);
    json_open(&json, "locks", '[');
    if (!store->failed && store->sample != NULL)
        shown = add_locks(&json, store->sample);
    json_close(&json, ']');
    json_integer(&json, "shown", shown);
    json_end(&json);
    putc('\n', file);
}

/* ------------------------------------------------------------------- views */

struct http_view *http_view_make(struct http_source *source,
                                 const struct http_store *store)
{
    struct http_view *view = calloc(1, sizeof(*view));
    FILE *file;
    int failed;

    if (view == NULL)
        return NULL;
    file = open_memstream(&view->event, &view->event_size);
    if (file == NULL) {
        free(view);
        return NULL;
    }
    read_figures(source, view);
    take_store(&view->figures, store);
    print_view(file, source, store, &view->figures);
    atomic_init(&view->users, 1);
    failed = ferror(file);
    if (fclose(file) != 0 || failed != 0) {
        http_view_drop(view);
        return NULL;
    }
    view->made_ms = now_ms();
    return view;
}

struct http_view *http_view_use(struct http_view *view)
{
    atomic_fetch_add_explicit(&view->users, 1, memory_order_relaxed);
    return view;
}

void http_view_drop(struct http_view *view)
{
    if (view == NULL || atomic_fetch_sub(&view->users, 1) != 1)
        return;
    free(view->commands);
    free(view->event);
    free(view);
}

hf_bytes http_view_json(const struct http_view *view)
{
    return hf_view(view->event + strlen(DATA),
                   view->event_size - strlen(DATA) - 1);
}
