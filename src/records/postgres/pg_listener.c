/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_listener.c - the connection on which the client's messages come.
 *
 * It is believed to work once a message to ourselves has come by it, sent on
 * another connection: behind a pooler that gives each transaction to another
 * session, LISTEN succeeds, and no message ever comes. One more is sent after
 * a time, as a connection may hang.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "records/postgres/pg_backend.h"
#include "records/postgres/pg_words.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/rand.h"

/* How long a message to ourselves may take; how long after one the next is
 * sent. */
#define PROBE_MS 3000
#define QUIET_MS 30000
/* Before another connection is made; doubled up to. */
#define PAUSE_MIN_MS 50
#define PAUSE_MAX_MS 5000

static void say_state(hf__pg_backend *self, bool listens)
{
    hf__pg_listener *of = &self->listener;
    const hf__backend_listener *listener = self->config.listener;

    of->listens = listens;
    listener->state(listener->user, listens);
}

static void set_tick(hf__pg_backend *self, int64_t in_ms)
{
    hf__tick_set(self->config.poller, &self->listener.tick,
                 hf__clock_boot_ms() + in_ms);
}

static void drop_listener(hf__pg_backend *self)
{
    hf__pg_listener *of = &self->listener;

    hf__tick_stop(&of->tick);
    if (of->poll.added)
        hf__poll_stop(self->config.poller, &of->poll);
    if (of->pg != NULL) {
        close(of->poll.fd);
        PQfinish(of->pg);
    }
    of->pg = NULL;
    of->probed = false;
}

/* Connect again, after a pause. */
static void retry_later(hf__pg_backend *self)
{
    hf__pg_listener *of = &self->listener;

    drop_listener(self);
    say_state(self, false);
    set_tick(self, of->pause_ms + hf__rand_between(0, of->pause_ms / 4));
    of->pause_ms =
        of->pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : of->pause_ms * 2;
}

static void send_probe(hf__pg_backend *self)
{
    memcpy(self->listener.word, HF__PG_WORD, sizeof(HF__PG_WORD) - 1);
    hf__rand_hex(self->listener.word + sizeof(HF__PG_WORD) - 1, 8);
    self->listener.probed = true;
    self->probe = true;
    set_tick(self, PROBE_MS);
    hf__pg_pool_pump(self);
}

static void take_probe(hf__pg_backend *self)
{
    hf__pg_listener *of = &self->listener;

    of->probed = false;
    of->pause_ms = PAUSE_MIN_MS;
    set_tick(self, QUIET_MS + hf__rand_between(0, QUIET_MS / 4));
    if (!of->listens)
        say_state(self, true);
}

static void take_notice(hf__pg_backend *self, const PGnotify *notice)
{
    const hf__pg_listener *of = &self->listener;

    if (strcmp(notice->relname, of->channel) != 0)
        return;
    if (strncmp(notice->extra, HF__PG_WORD, sizeof(HF__PG_WORD) - 1) == 0) {
        /* Another word was too late. */
        if (of->probed && strcmp(notice->extra, of->word) == 0)
            take_probe(self);
    } else if (!hf__pg_take_message(notice->extra, self->config.listener)) {
        /* It was too long, or not from us. */
        self->config.listener->state(self->config.listener->user, of->listens);
    }
}

static void on_ready(hf__poll *poll, int events)
{
    hf__pg_backend *self =
        hf__container_of(poll, hf__pg_backend, listener.poll);
    PGnotify *notice;

    (void)events;
    if (PQconsumeInput(self->listener.pg) == 0) {
        retry_later(self);
        return;
    }
    while (self->listener.pg != NULL &&
           (notice = PQnotifies(self->listener.pg)) != NULL) {
        take_notice(self, notice);
        PQfreemem(notice);
    }
    if ((events & HF__POLL_ERROR) != 0)
        retry_later(self);
}

static void on_tick(hf__tick *tick)
{
    hf__pg_backend *self =
        hf__container_of(tick, hf__pg_backend, listener.tick);
    hf__pg_listener *of = &self->listener;

    if (of->pg == NULL) {
        if (!hf__pg_connector_start(self->connector, true))
            retry_later(self);
    } else if (of->probed) {
        retry_later(self);
    } else {
        send_probe(self);
    }
}

void hf__pg_listener_add(hf__pg_backend *self, PGconn *pg)
{
    hf__pg_listener *of = &self->listener;

    of->pg = pg;
    of->poll = (hf__poll){.ready = on_ready, .fd = hf__pg_dup_socket(pg)};
    if (hf__poll_watch(self->config.poller, &of->poll, HF__POLL_IN) != 0)
        retry_later(self);
    else
        send_probe(self);
}

void hf__pg_listener_fail(hf__pg_backend *self)
{
    retry_later(self);
}

void hf__pg_listener_start(hf__backend *backend)
{
    hf__pg_backend *self = (hf__pg_backend *)backend;
    hf__pg_listener *of = &self->listener;

    hf__pg_channel(of->channel, hf_str(self->config.inbox));
    of->wanted = true;
    of->pause_ms = PAUSE_MIN_MS;
    of->tick.ring = on_tick;
    if (!hf__pg_connector_start(self->connector, true))
        retry_later(self);
}

void hf__pg_listener_close(hf__pg_backend *self)
{
    if (self->listener.wanted)
        drop_listener(self);
}
