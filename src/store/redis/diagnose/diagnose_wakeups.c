/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_wakeups.c - can who waits for a lock be woken? Tried for real: a
 * subscription of our own is made, and a message sent to it, on the very server
 * where it would be sent for a lock. In a cluster so on each master, as PUBLISH
 * counts only who listens there; sharded channels are not used (ADR 0024).
 */
#include <inttypes.h>
#include <stdio.h>

#include "store/redis/diagnose/diagnose.h"
#include "store/redis/events/event_ops.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/rand.h"

static const char topic[] = "doctor";

typedef struct attempt {
    hf__inbox inbox;
    char channel[HF__CHANNEL_SIZE];
    bool listens;
    bool woken;
    int64_t heard; /* by so many, as PUBLISH says; -1: it was refused */
    int64_t took_us;
} attempt;

static void publish(hf__patient *patient, attempt *self)
{
    const char *words[] = {"PUBLISH", self->channel, topic};
    hf__request request;

    self->heard = -1;
    if (hf__patient_ask(patient, words, 3, &request) &&
        request.reply.kind == HF_REPLY_INTEGER)
        self->heard = request.reply.integer;
    hf__request_done(&request);
}

static void try_once(hf__patient *patient, attempt *self)
{
    hf_bytes name = hf_str(topic);
    int64_t until_ms =
        hf__examination_until(&patient->examination, hf__clock_boot_ms());
    uint32_t seq = hf__listen_seq(&self->inbox, name, until_ms);
    int64_t began_us;

    self->listens = hf__inbox_listens(&self->inbox);
    if (!self->listens)
        return;
    began_us = hf__clock_boot_us();
    publish(patient, self);
    if (self->heard <= 0)
        return;
    until_ms =
        hf__examination_until(&patient->examination, hf__clock_boot_ms());
    self->woken = hf__listen_wait(&self->inbox, name, seq, until_ms);
    self->took_us = hf__clock_boot_us() - began_us;
}

static void tell(const hf__patient *patient, const attempt *self)
{
    static const char remedy[] =
        "allow +subscribe, +publish and the channels &PREFIX* of the clients' "
        "prefix; without wake-ups who waits for a lock asks again and again";
    const hf__examination *to = &patient->examination;
    const hf_error *err = &self->inbox.link.error;

    if (self->woken)
        hf__remark(to, HF_LEVEL_OK, "wake-ups", "",
                   "a message came back after %" PRId64 " us", self->took_us);
    else if (!self->listens)
        hf__remark(to, HF_LEVEL_WARNING, "wake-ups", remedy, "none: %s",
                   err->message[0] != '\0' ? err->message
                                           : "SUBSCRIBE is not answered");
    else if (self->heard < 0)
        hf__remark(to, HF_LEVEL_WARNING, "wake-ups", remedy,
                   "none: we may subscribe, but not publish");
    else
        hf__remark(to, HF_LEVEL_WARNING, "wake-ups",
                   "use the server's own address: what is in between does not "
                   "hand messages on",
                   self->heard == 0 ? "none: PUBLISH finds nobody who listens"
                                    : "none: a message did not arrive");
}

/* Of our own, so that the client's stays as it is. */
static void name_channel(const hf__examination *to,
                         char channel[HF__CHANNEL_SIZE])
{
    char prefix[HF__PREFIX_MAX + 1];
    char random[HF__STORE_ID_SIZE];

    hf__rand_hex(random, sizeof(random) / 2);
    snprintf(prefix, sizeof(prefix), "%.*s", (int)to->prefix.size,
             (const char *)to->prefix.data);
    hf__store_channel(channel, prefix, random);
}

void hf__examine_wakeups(hf__patient *patient)
{
    attempt *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        return;
    name_channel(&patient->examination, self->channel);
    hf__inbox_init(&self->inbox, &patient->server->node);
    self->inbox.channel = self->channel;
    try_once(patient, self);
    hf__inbox_close(&self->inbox); /* then its error is ours to read */
    tell(patient, self);
    hf__free(self);
}
