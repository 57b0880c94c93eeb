/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked.c - see blocked.h.
 *
 *  1. A command that finds nothing is handed to the loop thread. There changes
 *     are listened to from now on, and then it runs again: so none is missed.
 *  2. A change of one of its keys makes it ready. In the next turns of the loop
 *     those that are ready are looked at, in the order in which they came, for
 *     a few ms each turn.
 *  3. The first of its keys that has the type that it waits for is taken: the
 *     command runs with this key only. As in Redis, a key that has got another
 *     type meanwhile is no error, but for XREADGROUP, as its group has gone.
 *  4. When its time is over, the reply is nil: nothing was taken. That is also
 *     so if there is an element, but the store was too busy to take it in time:
 *     the command promises its limit, and nil does not say that the key is
 * empty.
 *
 * Another process may be faster, so 3 may find nothing again. A process that is
 * killed has taken an element or not, by the transaction of its command; that
 * it was woken takes nothing from others, each of which is woken itself.
 */
#include "engine/run/blocked.h"

#include <string.h>

#include "engine/keys/keyspace.h"
#include "engine/keys/records.h"
#include "engine/run/execute.h"
#include "store/error_line.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* The loop thread waits for the writer lock so long, and tries again after
 * that. */
#define TRY_MS 20
#define PAUSE_MS 10

/* After that a turn of the loop tries no other one: each may wait for the disk,
 * and what else is due on the thread, such as renewals, comes first. */
#define TURN_MS 5

struct hf__blocked_request {
    hf__blocked *all;
    hf__request *request;
    hf__block block; /* once it waits */
    hf__arena ids;   /* of block.ids */
    hf__feed feed;
    hf__task task;
    hf__tick tick; /* its time is over; once it waits */
    bool listens;
    bool waits; /* it has run, and found nothing */
    bool ready;
    hf__blocked_request *next;
    hf__blocked_request **at;
};

typedef enum outcome {
    DONE,    /* with an element, or an error */
    NOTHING, /* it is still to wait */
    LATER    /* the store was busy, or out of memory */
} outcome;

/* ------------------------------------------------------------------- list */

static void list_request(hf__blocked_request *self)
{
    hf__blocked *all = self->all;

    self->next = NULL;
    self->at = all->end;
    *all->end = self;
    all->end = &self->next;
}

/* Its outcome is set. */
static void complete_request(hf__blocked_request *self)
{
    hf__blocked *all = self->all;
    hf__request *request = self->request;

    if (self->listens)
        hf__change_reader_remove(all->changes, &self->feed);
    hf__tick_stop(&self->tick);
    *self->at = self->next;
    if (self->next != NULL)
        self->next->at = self->at;
    else
        all->end = self->at;
    hf__arena_free(&self->ids);
    hf__free(self);
    request->driver = NULL;
    request->on_done(request);
}

static void cancel_request(hf__blocked_request *self, const char *why)
{
    hf__execute_drop_reply(self->request);
    hf__request_fail(self->request, HF_CANCELLED, "%s", why);
    complete_request(self);
}

static void on_time(hf__tick *tick)
{
    hf__blocked_request *self = tick->user;

    hf__execute_drop_reply(self->request);
    self->request->status = HF_OK;
    hf__reply_set_nil_array(&self->request->reply);
    complete_request(self);
}

/* ---------------------------------------------------------------- running */

static outcome run_words(hf__blocked_request *self, const hf_bytes *words,
                         size_t count, hf__block *block)
{
    hf__request *request = self->request;
    const hf_bytes *whole = request->words;
    size_t whole_count = request->word_count;
    int64_t deadline_ms = request->deadline_ms;

    hf__execute_drop_reply(request);
    request->words = words;
    request->word_count = count;
    request->deadline_ms = hf__clock_after(hf__clock_boot_ms(), TRY_MS);
    self->all->run(self->all->store, request, block);
    request->words = whole;
    request->word_count = whole_count;
    request->deadline_ms = deadline_ms;
    if (request->status == HF_UNAVAILABLE)
        return LATER;
    return request->status == HF_OK && block->blocked ? NOTHING : DONE;
}

static void look_at(hf__blocked *all, int64_t at_ms)
{
    hf__tick_set(hf__loop_poller(all->loop), &all->look, at_ms);
}

static void try_later(hf__blocked_request *self)
{
    self->ready = true;
    look_at(self->all, hf__clock_boot_ms() + PAUSE_MS);
}

static void begin_wait(hf__blocked_request *self)
{
    hf__blocked *all = self->all;

    self->waits = true;
    if (self->block.wait_ms > 0)
        hf__tick_set(
            hf__loop_poller(all->loop), &self->tick,
            hf__clock_after(self->request->began_ms, self->block.wait_ms));
}

/* false: the store is busy. */
static bool try_first(hf__blocked_request *self)
{
    const hf__request *request = self->request;
    outcome found =
        run_words(self, request->words, request->word_count, &self->block);

    if (found == NOTHING && !hf__block_keep(&self->block, &self->ids))
        found = LATER;
    if (found == LATER && hf__clock_boot_ms() < request->deadline_ms) {
        try_later(self);
        return false;
    }
    if (found == NOTHING)
        begin_wait(self);
    else
        complete_request(self);
    return true;
}

/* One that writes asks first, as a reader. */
static outcome try_words(hf__blocked_request *self, const hf_bytes *words,
                         size_t count)
{
    hf__block again = self->block;
    outcome found;

    if (again.group != 0) {
        again.asks = true;
        again.blocked = false;
        found = run_words(self, words, count, &again);
        if (found != DONE || self->request->status != HF_OK)
            return found;
    }
    again = (hf__block){.blocked = false};
    return run_words(self, words, count, &again);
}

/* With one of its keys only. */
static outcome run_key(hf__blocked_request *self, size_t which)
{
    const hf__request *request = self->request;
    const hf__block *block = &self->block;
    size_t after = block->first + block->count;
    size_t count = request->word_count - block->count + 1;
    hf_bytes *words = hf__calloc(count, sizeof(*words));
    outcome found;

    if (words == NULL)
        return LATER;
    for (size_t i = 0; i < block->first; i++)
        words[i] = request->words[i];
    if (block->counted)
        words[block->first - 1] = hf_str("1");
    words[block->first] = self->request->words[block->first + which];
    for (size_t i = after; i < request->word_count; i++)
        words[block->first + 1 + i - after] = request->words[i];
    if (block->ids != NULL) { /* nothing else follows the keys */
        words[block->first + 1] = block->ids[which];
        count = block->first + 2;
    }
    found = try_words(self, words, count);
    hf__free(words);
    return found;
}

/* The reply to TYPE: a reader, so that those for which there is nothing do not
 * disturb writers. Without a reply the key may have an element all the same. */
static hf_status find_type(const hf__blocked_request *self, hf_bytes key,
                           bool *matches, hf_error *err)
{
    const hf_bytes words[] = {hf_str("TYPE"), key};
    const char *type = hf__type_name((hf__type)self->block.type);
    hf__request request;
    hf_status status;

    hf__request_command(&request, words, 2, true);
    request.began_ms = hf__clock_boot_ms();
    request.deadline_ms = hf__clock_after(request.began_ms, TRY_MS);
    self->all->run(self->all->store, &request, NULL);
    status = request.status;
    *matches = status == HF_OK &&
               strcmp(hf_reply_bytes(&request.reply).data, type) == 0;
    if (status != HF_OK)
        hf__fail_copy(err, &request.error);
    hf__request_done(&request);
    return status;
}

static outcome try_key(hf__blocked_request *self, size_t which)
{
    hf_bytes key = self->request->words[self->block.first + which];
    const char *gone = self->block.gone;
    hf_error err = HF_ERROR_INIT;
    bool matches;
    hf_status status = find_type(self, key, &matches, &err);

    if (status == HF_UNAVAILABLE || status == HF_NO_MEMORY)
        return LATER;
    if (status == HF_OK && matches)
        return run_key(self, which);
    if (status == HF_OK && gone == NULL)
        return NOTHING;
    hf__execute_drop_reply(self->request);
    if (status == HF_OK) {
        (void)hf__error_line(&self->request->error, HF_UNAVAILABLE,
                             hf_str(gone), NULL);
        hf__request_error(self->request, hf_str(gone));
    } else {
        hf__request_fail(self->request, status, "%s", err.message);
    }
    return DONE;
}

static bool try_again(hf__blocked_request *self)
{
    outcome found = NOTHING;

    for (size_t i = 0; found == NOTHING && i < self->block.count; i++)
        found = try_key(self, i);
    if (found == DONE)
        complete_request(self);
    else if (found == LATER)
        try_later(self);
    return found != LATER;
}

/* None overtakes one for which the store was busy. */
static void look_at_ready(hf__tick *tick)
{
    hf__blocked *all = tick->user;
    hf__blocked_request *self = all->first;
    hf__blocked_request *next;
    int64_t until_ms = hf__clock_after(hf__clock_boot_ms(), TURN_MS);
    bool continues = true, late = false;

    for (; self != NULL && continues; self = next) {
        next = self->next;
        if (!self->ready)
            continue;
        if (late) {
            look_at(all, 0);
            return;
        }
        self->ready = false;
        continues = self->waits ? try_again(self) : try_first(self);
        late = hf__clock_boot_ms() >= until_ms;
    }
}

/* ---------------------------------------------------------------- changes */

static bool has_key(const hf__blocked_request *self, hf_bytes key)
{
    const hf_bytes *keys = self->request->words + self->block.first;

    for (size_t i = 0; i < self->block.count; i++) {
        if (hf__bytes_same(keys[i], key))
            return true;
    }
    return false;
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf__blocked_request *self =
        hf__container_of(feed, hf__blocked_request, feed);

    if (self->ready || !self->waits ||
        (kind != HF_CHANGE_GAP &&
         ((kind != HF_CHANGE_WRITTEN && self->block.gone == NULL) ||
          !has_key(self, key))))
        return;
    self->ready = true;
    look_at(self->all, 0);
}

/* ------------------------------------------------------------------ begin */

static void run_begin(hf__task *task)
{
    hf__blocked_request *self =
        hf__container_of(task, hf__blocked_request, task);
    hf_error err = HF_ERROR_INIT;

    list_request(self);
    if (hf__change_reader_add(self->all->changes, &self->feed, &err) == HF_OK) {
        self->listens = true;
        self->ready = true;
        look_at(self->all, 0);
        return;
    }
    hf__execute_drop_reply(self->request);
    hf__request_fail(self->request, err.status, "%s", err.message);
    complete_request(self);
}

/* Once: that takes the writer lock, which the end of each wait, on the loop
 * thread, had better not do. */
static hf_status join_changes(hf__blocked *all, const hf__request *request,
                              hf_error *err)
{
    int64_t deadline_ms = request->deadline_ms;
    hf_status status = hf__loop_start(all->loop, err);

    if (status != HF_OK || atomic_load(&all->joined))
        return status;
    if (hf__loop_here(all->loop))
        deadline_ms = hf__clock_after(hf__clock_boot_ms(), TRY_MS);
    status = hf__change_reader_join(all->changes, deadline_ms, err);
    if (status == HF_OK && atomic_exchange(&all->joined, true))
        hf__change_reader_leave(all->changes); /* another thread has, too */
    return status;
}

static hf_status hand_over(hf__blocked *all, hf__request *request,
                           hf_error *err)
{
    hf_status status = join_changes(all, request, err);
    hf__blocked_request *self;

    if (status != HF_OK)
        return status;
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->all = all;
    self->request = request;
    hf__arena_init(&self->ids);
    self->feed.prefix = hf_str("");
    self->feed.database = all->database;
    self->feed.changed = on_changed;
    self->tick.ring = on_time;
    self->tick.user = self;
    self->task.run = run_begin;
    request->driver = self;
    hf__loop_post(all->loop, &self->task);
    return HF_OK;
}

void hf__blocked_submit(hf__blocked *all, hf__request *request, bool here)
{
    hf__block block = {.blocked = false};
    hf_error err = HF_ERROR_INIT;

    request->driver = NULL;
    if (here)
        all->run(all->store, request, &block);
    if (here && (request->status != HF_OK || !block.blocked)) {
        request->on_done(request);
        return;
    }
    if (hand_over(all, request, &err) == HF_OK)
        return;
    hf__execute_drop_reply(request);
    hf__request_fail(request, err.status, "%s", err.message);
    request->on_done(request);
}

void hf__blocked_cancel(hf__request *request)
{
    if (request->driver != NULL)
        cancel_request(request->driver, "cancelled");
}

/* ------------------------------------------------------------------- life */

void hf__blocked_init(hf__blocked *all, hf__loop *loop, hf__store *store,
                      hf__change_reader *changes,
                      void (*run)(hf__store *store, hf__request *request,
                                  hf__block *block))
{
    *all = (hf__blocked){.loop = loop,
                         .store = store,
                         .changes = changes,
                         .run = run,
                         .look = {.ring = look_at_ready}};
    atomic_init(&all->joined, false);
    all->look.user = all;
    all->end = &all->first;
}

typedef struct blocked_close {
    hf__task task;
    hf__blocked *all;
} blocked_close;

static void run_close(hf__task *task)
{
    hf__blocked *all = hf__container_of(task, blocked_close, task)->all;

    while (all->first != NULL)
        cancel_request(all->first, "the client was closed");
    hf__tick_stop(&all->look);
}

void hf__blocked_close(hf__blocked *all)
{
    blocked_close close = {.task = {.run = run_close}, .all = all};

    if (!atomic_load(&all->joined))
        return;
    hf__loop_call(all->loop, &close.task);
    hf__change_reader_leave(all->changes);
}
