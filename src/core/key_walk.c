/* SPDX-License-Identifier: Apache-2.0 */
/* key_walk.c - see key_walk.h. */
#include "core/key_walk.h"

#include <assert.h>

#include "core/batch.h"
#include "core/own_key.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/glob.h"
#include "util/mem.h"

/* Keys looked at by one SCAN: as many as one batch reads, less the next SCAN.
 */
#define PAGE "255"

/* Should slots of a cluster keep moving. */
#define WALKS_MAX 3

/* Pages without a new name, of a pattern that fits little or a table that was
 * large once: four thousand million places. More is a server that never comes
 * to an end. */
#define BARREN_MAX (1u << 24)

#define PATTERN_MAX (4 * HF__PREFIX_MAX + HF_NAME_MAX)
_Static_assert(PATTERN_MAX <= HF__GLOB_MAX, "stores accept it");

hf_status hf__key_walk_check(hf_bytes pattern, bool told, hf_error *err)
{
    if (!told || (pattern.data == NULL && pattern.size > 0))
        return hf__fail(err, HF_INVALID, "%s is NULL",
                        !told ? "report" : "pattern");
    if (pattern.size > HF_NAME_MAX)
        return hf__fail(err, HF_INVALID, "pattern is %zu bytes; at most %d",
                        pattern.size, HF_NAME_MAX);
    return HF_OK;
}

hf_status hf__key_walk_pattern(const hf_client *client, hf_bytes pattern,
                               hf__buf *whole, hf_error *err)
{
    bool fits = true;

    hf__buf_init(whole, PATTERN_MAX);
    if (pattern.size == 0)
        pattern = hf_str("*");
    for (size_t i = 0; i < client->prefix_size && fits; i++) {
        const char *at = client->prefix + i;

        if (strchr("*?[]\\^-", *at) != NULL)
            fits = hf__buf_append(whole, "\\", 1);
        fits = fits && hf__buf_append(whole, at, 1);
    }
    fits = fits && hf__buf_append(whole, pattern.data, pattern.size);
    return fits ? HF_OK : hf__fail(err, HF_NO_MEMORY, "a pattern");
}

void hf__key_walk_begin(hf__key_walk *walk, hf_bytes pattern)
{
    memset(walk, 0, sizeof(*walk));
    walk->pattern = pattern;
    walk->cursor[0] = '0';
    hf__request_init(&walk->pages[0]);
    hf__request_init(&walk->pages[1]);
}

static hf_status ask_parts(hf_client *client, hf__parts *parts, hf_error *err)
{
    hf__store *store = client->store;

    memset(parts, 0, sizeof(*parts));
    if (store->ops->parts == NULL)
        return HF_OK;
    return store->ops->parts(store, parts,
                             hf__clock_boot_ms() + client->request_ms, err);
}

hf_status hf__key_walk_start(hf__key_walk *walk, hf_client *client,
                             hf_error *err)
{
    walk->part_at = 0;
    walk->cursor[0] = '0';
    walk->cursor[1] = '\0';
    walk->over = false;
    walk->barren = 0;
    return ask_parts(client, &walk->parts, err);
}

hf_status hf__key_walk_until_whole(const hf__key_walk *walk, hf_client *client,
                                   hf_status (*once)(void *user, hf_error *err),
                                   void *user, const char *moved, hf_error *err)
{
    for (int i = 0; i < WALKS_MAX; i++) {
        hf__parts now;
        hf_status status = once(user, err);

        if (status == HF_OK)
            status = ask_parts(client, &now, err);
        if (status != HF_OK || now.stamp == walk->parts.stamp)
            return status;
    }
    return hf__fail(err, HF_UNAVAILABLE, "%s", moved);
}

/* The end of a part is the beginning of the next. */
static void end_part(hf__key_walk *walk)
{
    walk->over = ++walk->part_at >= walk->parts.count;
}

hf__request *hf__key_walk_request(hf__key_walk *walk)
{
    hf__request *request = &walk->pages[!walk->now];
    hf_bytes *word = walk->words;

    word++; /* the name */
    *word++ = hf_str(walk->cursor);
    *word++ = hf_str("COUNT");
    *word++ = hf_str(PAGE);
    if (walk->pattern.size > 0) {
        *word++ = hf_str("MATCH");
        *word++ = walk->pattern;
    }
    hf__request_done(request);
    hf__operation_request(request, &hf__op_scan, walk->words,
                          (size_t)(word - walk->words));
    if (walk->parts.count > 0)
        request->part = walk->parts.ids[walk->part_at];
    return request;
}

/* ------------------------------------------------------------------- pages */

/* Queues of waiters mean nothing elsewhere, nor does what a load builds. */
static bool is_passing(hf_bytes name)
{
    hf__own_key own = hf__own_key_of(name, NULL);

    return own != HF__OWN_NONE && own != HF__OWN_TOKEN;
}

static bool reserve_names(hf__key_walk *walk, size_t count)
{
    hf_bytes *names;

    if (count <= walk->room)
        return true;
    names = hf__realloc(walk->names, count * sizeof(*names));
    if (names == NULL)
        return false;
    walk->names = names;
    walk->room = count;
    return true;
}

static hf_status take_names(hf__key_walk *walk, const hf_reply *list,
                            hf_error *err)
{
    size_t count = hf_reply_count(list);
    hf_status status = HF_OK;

    walk->count = 0;
    if (!reserve_names(walk, count))
        return hf__fail(err, HF_NO_MEMORY, "%zu names of keys", count);
    for (size_t i = 0; i < count && status == HF_OK; i++) {
        hf_bytes name = hf_reply_bytes(hf_reply_at(list, i));
        bool fresh = false;

        if (is_passing(name) ||
            (walk->wants != NULL && !walk->wants(walk->user, name)))
            continue;
        status = hf__name_set_add(&walk->met, name, &fresh, err);
        if (fresh)
            walk->names[walk->count++] = name;
    }
    if (status != HF_OK)
        return status;
    walk->barren = walk->count > 0 ? 0 : walk->barren + 1;
    return walk->barren < BARREN_MAX ? HF_OK : hf__bad_reply("SCAN", err);
}

hf_status hf__key_walk_turn(hf__key_walk *walk, hf_error *err)
{
    const hf__request *page = &walk->pages[!walk->now];
    const hf_reply *reply = &page->reply;
    hf_bytes cursor;

    if (page->status != HF_OK)
        return hf__fail_copy(err, &page->error);
    walk->now = !walk->now;
    cursor = hf_reply_bytes(hf_reply_at(reply, 0));
    assert(cursor.size < sizeof(walk->cursor));
    memcpy(walk->cursor, cursor.data, cursor.size);
    walk->cursor[cursor.size] = '\0';
    if (strcmp(walk->cursor, "0") == 0)
        end_part(walk);
    return take_names(walk, hf_reply_at(reply, 1), err);
}

void hf__key_walk_done(hf__key_walk *walk)
{
    hf__request_done(&walk->pages[0]);
    hf__request_done(&walk->pages[1]);
    hf__free(walk->names);
    hf__name_set_done(&walk->met);
}

static hf_status list_once(void *user, hf_error *err)
{
    hf__key_list *self = user;
    hf__key_walk *walk = &self->walk;
    hf_status status = hf__key_walk_start(walk, self->client, err);

    while (status == HF_OK && !walk->over) {
        status = hf__aside_check(self->call, err);
        if (status != HF_OK)
            break;
        hf__run_one(self->client, hf__key_walk_request(walk), 0);
        status = hf__key_walk_turn(walk, err);
        for (size_t at = 0; at < walk->count && status == HF_OK;
             at += self->most) {
            size_t left = walk->count - at;

            status = self->look(self->user, walk->names + at,
                                left < self->most ? left : self->most, err);
        }
    }
    return status;
}

hf_status hf__key_list_run(hf__key_list *self, hf_bytes pattern, hf_error *err)
{
    hf__buf whole;
    hf_status status = hf__key_walk_pattern(self->client, pattern, &whole, err);

    hf__key_walk_begin(&self->walk,
                       hf_view(hf__buf_front(&whole), hf__buf_size(&whole)));
    if (status == HF_OK)
        status = hf__key_walk_until_whole(
            &self->walk, self->client, list_once, self,
            "slots moved between servers during the list; try again later",
            err);
    hf__key_walk_done(&self->walk);
    hf__buf_done(&whole);
    return status;
}
