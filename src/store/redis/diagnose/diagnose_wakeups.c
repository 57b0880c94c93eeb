/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_wakeups.c - do wake-ups work? A real attempt: subscribe, and publish
 * a message on the server where a lock's release would. In a cluster on each
 * master, as PUBLISH counts only that node's subscribers; sharded channels are
 * not used (ADR 0024).
 */
#include <inttypes.h>
#include <stdio.h>

#include "store/redis/diagnose/diagnose_server.h"
#include "store/redis/events/event_ops.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/rand.h"

static const char topic[] = "doctor";

typedef struct attempt {
    hf__event_conn event_conn;
    char channel[HF__CHANNEL_SIZE];
    bool listens;
    bool woken;
    int64_t heard; /* subscribers, from PUBLISH; -1: refused */
    int64_t took_us;
} attempt;

static void publish_message(hf__target *target, attempt *self)
{
    const char *words[] = {"PUBLISH", self->channel, topic};
    hf__request request;

    self->heard = -1;
    if (hf__target_ask(target, words, 3, &request) &&
        request.reply.kind == HF_REPLY_INTEGER)
        self->heard = request.reply.integer;
    hf__request_done(&request);
}

static void try_once(hf__target *target, attempt *self)
{
    hf_bytes name = hf_str(topic);
    int64_t until_ms =
        hf__diagnosis_until(&target->diagnosis, hf__clock_boot_ms());
    uint32_t seq = hf__event_seq(&self->event_conn, name, until_ms);
    int64_t began_us;

    self->listens = hf__event_conn_listens(&self->event_conn);
    if (!self->listens)
        return;
    began_us = hf__clock_boot_us();
    publish_message(target, self);
    if (self->heard <= 0)
        return;
    until_ms = hf__diagnosis_until(&target->diagnosis, hf__clock_boot_ms());
    self->woken = hf__event_wait(&self->event_conn, name, seq, until_ms);
    self->took_us = hf__clock_boot_us() - began_us;
}

static void report_wakeup(const hf__target *target, const attempt *self)
{
    static const char remedy[] =
        "allow +subscribe, +publish and the channels &PREFIX* of the clients' "
        "prefix; without wake-ups waiters poll";
    const hf__diagnosis *to = &target->diagnosis;
    const hf_error *err = &self->event_conn.conn.error;

    if (self->woken)
        hf__report(to, HF_LEVEL_OK, "wake-ups", "",
                   "a message came back after %" PRId64 " us", self->took_us);
    else if (!self->listens)
        hf__report(to, HF_LEVEL_WARNING, "wake-ups", remedy, "none: %s",
                   err->message[0] != '\0' ? err->message
                                           : "SUBSCRIBE is not answered");
    else if (self->heard < 0)
        hf__report(to, HF_LEVEL_WARNING, "wake-ups", remedy,
                   "none: this user may subscribe, but not publish");
    else
        hf__report(to, HF_LEVEL_WARNING, "wake-ups",
                   "use the server's own address: a proxy in between does not "
                   "forward messages",
                   self->heard == 0 ? "none: PUBLISH finds no subscriber"
                                    : "none: a message did not arrive");
}

/* A separate one, so that the client's is not affected. */
static void name_channel(const hf__diagnosis *to,
                         char channel[HF__CHANNEL_SIZE])
{
    char prefix[HF__PREFIX_MAX + 1];
    char random[HF__STORE_ID_SIZE];

    hf__rand_hex(random, sizeof(random) / 2);
    snprintf(prefix, sizeof(prefix), "%.*s", (int)to->prefix.size,
             (const char *)to->prefix.data);
    hf__store_channel(channel, prefix, random);
}

void hf__diagnose_wakeups(hf__target *target)
{
    attempt *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        return;
    name_channel(&target->diagnosis, self->channel);
    hf__event_conn_init(&self->event_conn, &target->server->node);
    self->event_conn.channel = self->channel;
    try_once(target, self);
    hf__event_conn_close(&self->event_conn); /* then its error can be read */
    report_wakeup(target, self);
    hf__free(self);
}
