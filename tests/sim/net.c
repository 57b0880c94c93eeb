/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.c - the driver of the store: it makes a packet of each request, which the
 * world delivers. A connection that breaks loses a packet; a repeatable request
 * is then sent again, as src/store/redis/server/retry.c does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/lock.h"
#include "records/record_store.h"
#include "sim.h"
#include "store/drivers.h"
#include "util/clock.h"
#include "util/error.h"

typedef struct net_store {
    hf__store base;
    client *of;
    hf__record_store records; /* with --records */
} net_store;

packet net_packets[PACKETS];
bool net_draining;
static uint64_t sent;
static packet *published; /* the last */
static const hf__store_ops ops;

static client *client_of(const hf__store *store)
{
    return ((const net_store *)(const void *)store)->of;
}

static hf__record_store *records_of(hf__store *store)
{
    return &((net_store *)(void *)store)->records;
}

/* ------------------------------------------------------------------ packets */

static packet *packet_new(client *of)
{
    for (size_t i = 0; i < PACKETS; i++) {
        packet *self = &net_packets[i];

        if (self->used)
            continue;
        *self = (packet){.used = true, .number = sent++, .client = of};
        hf__request_init(&self->answer);
        return self;
    }
    check_fail("more than %d packets", PACKETS);
    abort();
}

static void packet_free(packet *self)
{
    hf__request_done(&self->answer);
    for (size_t i = 0; i < self->word_count; i++)
        free((void *)(uintptr_t)self->words[i].data);
    free(self->words);
    free(self->text);
    free(self->topic);
    if (self->fake != NULL)
        records_free(self->fake);
    records_unlearn(self->learned);
    self->used = false;
}

void net_begin(void)
{
    sent = 0;
    net_draining = false;
}

void net_end(void)
{
    for (size_t i = 0; i < PACKETS; i++) {
        if (net_packets[i].used)
            packet_free(&net_packets[i]);
    }
}

static char *copy(hf_bytes bytes)
{
    char *made = malloc(bytes.size + 1);

    if (made == NULL)
        abort();
    if (bytes.size > 0)
        memcpy(made, bytes.data, bytes.size);
    made[bytes.size] = '\0';
    return made;
}

/* With --cheat proud: until the reply arrives, the writer believes to be one.
 */
static void be_proud(const packet *self, bool begins)
{
    if (!sim_cheats("proud") || net_draining || self->script == NULL ||
        self->script != &hf__scripts[HF__SCRIPT_RWLOCK_DOWNGRADE])
        return;
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const handle *one = &sim_world.handles[i];

        if (one->of == self->client && one->kind == KIND_WRITE)
            atomic_store(&one->lock->valid_until_ms,
                         begins ? one->deadline_ms : 0);
    }
}

static packet *send_request(client *of, hf__request *request, actor *performer)
{
    packet *self = packet_new(of);

    self->request = request;
    self->performer = performer;
    self->script = request->script;
    self->key_count = request->key_count;
    self->word_count = request->word_count;
    self->words = calloc(request->word_count + 1, sizeof(*self->words));
    for (size_t i = 0; i < request->word_count; i++)
        self->words[i] =
            hf_view(copy(request->words[i]), request->words[i].size);
    request->sends = 1;
    be_proud(self, true);
    return self;
}

void net_send(client *of, hf__request *request, fake_call *fake)
{
    send_request(of, request, NULL)->fake = fake;
}

/* -------------------------------------------------------------- completing */

static void call_done(void *user)
{
    hf__request *request = user;

    request->on_done(request);
}

static void complete(packet *self)
{
    hf__request *request = self->request;

    be_proud(self, false);
    self->request = NULL;
    if (self->performer != NULL)
        sim_actor_wake(self->performer);
    else
        sim_loop_inside(self->client->config.loop, call_done, request);
}

static void fail(packet *self, hf_status status, const char *why)
{
    hf__request *request = self->request;

    if (status == HF_UNAVAILABLE && self->doubtful)
        status = HF_INDETERMINATE;
    hf__request_fail(request, status, "%s", why);
    complete(self);
}

/* Into the arena of the one who waits. */
static void copy_reply(hf_reply *to, const hf_reply *from, hf__arena *arena)
{
    *to = *from;
    if (from->kind == HF_REPLY_ARRAY) {
        if (!hf__reply_set_array(to, from->array.count, arena))
            abort();
        for (size_t i = 0; i < from->array.count; i++)
            copy_reply(&to->array.items[i], &from->array.items[i], arena);
    } else if (from->kind == HF_REPLY_STRING || from->kind == HF_REPLY_STATUS ||
               from->kind == HF_REPLY_ERROR) {
        if (!hf__reply_set_bytes(to, from->kind, from->bytes.data,
                                 from->bytes.size, arena))
            abort();
    }
}

static void answer(packet *self)
{
    long fail_after = hf__alloc_fail_after(-1);
    hf__request *request = self->request;

    request->status = self->answer.status;
    if (request->replicas != NULL)
        request->acked = self->missed ? 0 : 1;
    hf__fail_copy(&request->error, &self->answer.error);
    if (request->status == HF_OK)
        copy_reply(&request->reply, &self->answer.reply, &request->arena);
    (void)hf__alloc_fail_after(fail_after);
    if (sim_cheats("same") && self->script != NULL &&
        strcmp(self->script->name, "lock_acquire") == 0 &&
        request->reply.kind == HF_REPLY_INTEGER)
        request->reply.integer = 5;
    complete(self);
}

/* ------------------------------------------------------------ the world's */

static bool is_release(const packet *self)
{
    return self->script != NULL &&
           strcmp(self->script->name, "lock_release") == 0;
}

/* Of a grant that its call does not want. */
static bool is_undo(const packet *self)
{
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const hf_lock *lock = sim_world.handles[i].lock;

        if (lock != NULL && lock->state == HF__LOCK_RELEASING &&
            strcmp(lock->owner, self->words[3].data) == 0)
            return false;
    }
    return true;
}

static void run_words(packet *self)
{
    if (self->script != NULL)
        hf__request_script(&self->answer, self->script, self->words,
                           self->word_count, self->key_count);
    else
        hf__request_command(&self->answer, self->words, self->word_count,
                            false);
    if (sim_cheats("keep") && is_release(self) && is_undo(self)) {
        hf__reply_set_integer(&self->answer.reply, 0);
        self->answer.status = HF_OK;
        return;
    }
    if (sim_cheats("any") && is_release(self))
        server_free();
    gather_send(self);
    jobs_send(self);
    server_run(&self->answer);
    gather_answer(self);
    jobs_answer(self);
}

/* Another of the same client, sent before, is still under way. */
static bool overtakes(const packet *self)
{
    for (size_t i = 0; i < PACKETS; i++) {
        const packet *other = &net_packets[i];

        if (other->used && !other->message && !other->answered &&
            other->client == self->client && other->number < self->number)
            return true;
    }
    return false;
}

static void at_server(packet *self)
{
    if ((sim_world.of->faults & FAULT_FAILOVER) != 0)
        server_save();
    sim_world.lossy = sim_world.lossy || overtakes(self);
    self->answered = true;
    if (self->fake != NULL)
        records_at_store(self->fake);
    else
        run_words(self);
    self->answer.status = self->fake != NULL ? HF_OK : self->answer.status;
    world_refresh();
}

static void move_counter(client *of)
{
    hf__watch *next;

    of->seq++;
    for (size_t i = 0; i < sim_world.program_count; i++) {
        if (sim_world.programs[i].of == of)
            sim_actor_wake(sim_world.programs[i].thread);
    }
    for (hf__watch *watch = of->watches; watch != NULL; watch = next) {
        next = watch->next;
        watch->moved(watch);
    }
}

/* With --cheat late: as if it had been granted when the message arrives. */
static void make_late(packet *self)
{
    unsigned long long token, at_us, lease_ms;
    char owner[HF_OWNER_SIZE];
    char text[128];

    if (sscanf(self->text, "%32s %llu %llu %llu", owner, &token, &at_us,
               &lease_ms) < 4)
        return;
    sim_at_store = true;
    snprintf(text, sizeof(text), "%s %llu %lld %llu", owner, token,
             (long long)hf__clock_unix_us(), lease_ms);
    sim_at_store = false;
    free(self->text);
    self->text = copy(hf_str(text));
}

static bool is_local(void)
{
    return (sim_world.of->capabilities & HF__CAP_LOCAL) != 0;
}

static void read_message(void *user)
{
    packet *self = user;
    client *of = self->client;

    if (self->learned != NULL)
        records_learn(self->learned, of->records);
    if (sim_cheats("late"))
        make_late(self);
    if (self->text[0] != '\0' && !is_local())
        of->config.on_message(of->config.on_message_user, hf_str(self->topic),
                              hf_str(self->text));
    move_counter(of);
}

void net_deliver(packet *self)
{
    if (self->message)
        sim_loop_inside(self->client->config.loop, read_message, self);
    else if (!self->answered)
        at_server(self);
    else if (self->request != NULL)
        answer(self);
    if (self->message || (self->answered && self->request == NULL))
        packet_free(self);
}

/* The connection breaks, before the request or its reply was read. */
void net_lose(packet *self)
{
    if (self->message) {
        packet_free(self);
        return;
    }
    sim_world.lossy = sim_world.lossy || !self->answered;
    if (self->request == NULL || !self->request->repeatable) {
        if (self->request != NULL)
            fail(self, HF_INDETERMINATE, "the connection broke");
        packet_free(self);
        return;
    }
    hf__request_done(&self->answer);
    self->answered = false;
    self->doubtful = true;
    self->number = sent++;
    self->request->sends++;
}

/* The server says that it cannot now, and has not run it. */
void net_refuse(packet *self)
{
    fail(self, HF_UNAVAILABLE, "the server refused it");
    packet_free(self);
}

void net_refuse_all(const client *of)
{
    for (size_t i = 0; i < PACKETS; i++) {
        if (net_packets[i].used && net_packets[i].client == of &&
            net_packets[i].request != NULL)
            net_refuse(&net_packets[i]);
    }
}

void net_float(packet *self)
{
    sim_world.lossy = true;
    fail(self, HF_INDETERMINATE, "the connection broke");
}

void net_miss(packet *self)
{
    self->missed = true;
    net_deliver(self);
}

/* What was sent may still arrive. */
void net_expire(packet *self)
{
    fail(self, HF_INDETERMINATE, "no reply by the deadline");
    if (self->answered)
        packet_free(self);
}

static void reconnected(void *user)
{
    move_counter(user);
}

void net_reconnect(client *of)
{
    sim_loop_inside(of->config.loop, reconnected, of);
}

/* NULL: none. */
static client *subscriber(hf_bytes channel)
{
    for (size_t i = 0; i < sim_world.client_count; i++) {
        client *of = &sim_world.clients[i];

        if (!of->dead && of->subscribed && strlen(of->inbox) == channel.size &&
            memcmp(of->inbox, channel.data, channel.size) == 0)
            return of;
    }
    return NULL;
}

bool net_listens(hf_bytes channel)
{
    return subscriber(channel) != NULL;
}

int64_t net_publish(hf_bytes channel, hf_bytes text, hf_bytes topic)
{
    client *of = subscriber(channel);
    packet *self;

    if (of == NULL)
        return 0;
    self = packet_new(of);
    self->message = true;
    self->text = copy(text);
    self->topic = copy(topic);
    published = self;
    return 1;
}

void net_attach(learned *all)
{
    published->learned = all;
}

/* -------------------------------------------------------------- the driver */

static hf_status net_open(const hf__store_config *config, hf__store **store,
                          hf_error *err)
{
    net_store *self = calloc(1, sizeof(*self));

    if (self == NULL)
        abort();
    self->base.ops = &ops;
    self->base.capabilities =
        HF__CAP_EVENTS | sim_world.of->capabilities |
        (sim_records ? HF__CAP_ALONE | HF__CAP_GUARDED : 0);
    self->of = sim_opening();
    self->of->config = *config;
    hf__store_channel(self->of->inbox, config->prefix, config->client_id);
    *store = &self->base;
    self->of->records = &self->records;
    if (sim_records)
        return hf__record_store_open(&self->records, config->loop,
                                     records_open(self->of), 1000, err);
    return HF_OK;
}

/* In this process: there is no packet that could be late. */
static void run_here(hf__request *request)
{
    int64_t deadline_ms = request->deadline_ms;

    server_run(request);
    request->deadline_ms = deadline_ms;
    world_refresh();
}

static void net_perform(hf__store *store, hf__request *request)
{
    packet *self;

    if (!net_draining && is_local()) {
        run_here(request);
        return;
    }
    if (!net_draining && sim_records && sim_actor != NULL) {
        hf__record_store_perform(records_of(store), request);
        return;
    }
    if (net_draining || sim_actor == NULL) {
        hf__request_fail(request, HF_UNAVAILABLE, "the simulation ends");
        return;
    }
    self = send_request(client_of(store), request, sim_actor);
    while (self->request == request)
        sim_wait(INT64_MAX);
}

static void net_submit(hf__store *store, hf__request *const *requests,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        packet *self;

        if (!net_draining && is_local()) {
            run_here(requests[i]);
            requests[i]->on_done(requests[i]);
            continue;
        }
        if (sim_records) {
            hf__record_store_submit(records_of(store), requests[i]);
            continue;
        }
        self = send_request(client_of(store), requests[i], NULL);
        if (net_draining)
            net_refuse(self);
    }
}

static const char *net_inbox(hf__store *store)
{
    return client_of(store)->inbox;
}

static uint32_t net_event_seq(hf__store *store, hf_bytes topic,
                              int64_t deadline_ms)
{
    (void)topic;
    if (deadline_ms > 0)
        client_of(store)->subscribed = true;
    return client_of(store)->seq;
}

/* As a quorum of one. */
static void net_event_votes(hf__store *store, hf_bytes topic,
                            uint32_t votes[HF__VOTES_MAX])
{
    votes[0] = net_event_seq(store, topic, 0);
}

static hf__agreement net_event_agreed(hf__store *store, hf_bytes topic,
                                      const uint32_t votes[HF__VOTES_MAX])
{
    return net_event_seq(store, topic, 0) != votes[0] ? HF__AGREED_MAJORITY
                                                      : HF__AGREED_NONE;
}

static bool net_event_listens(hf__store *store, hf_bytes topic)
{
    (void)topic;
    return client_of(store)->subscribed;
}

static void net_event_key(hf__store *store, hf_bytes key, bool held)
{
    (void)store;
    (void)key;
    (void)held;
}

static bool net_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                           int64_t until_ms)
{
    client *of = client_of(store);

    (void)topic;
    if (sim_cheats("patient"))
        until_ms += 20000;
    while (of->seq == seq && hf__clock_boot_ms() < until_ms)
        sim_wait(until_ms);
    return of->seq != seq;
}

static void net_event_wake(hf__store *store, hf_bytes topic)
{
    client *of = client_of(store);

    (void)topic;
    of->seq++;
    for (size_t i = 0; i < sim_world.program_count; i++) {
        if (sim_world.programs[i].of == of)
            sim_actor_wake(sim_world.programs[i].thread);
    }
}

static hf_status net_event_watch(hf__store *store, hf_bytes topic,
                                 hf__watch *watch, hf_error *err)
{
    client *of = client_of(store);

    (void)topic;
    (void)err;
    of->subscribed = true;
    watch->next = of->watches;
    of->watches = watch;
    return HF_OK;
}

static void net_event_unwatch(hf__store *store, hf__watch *watch)
{
    hf__watch **at = &client_of(store)->watches;

    while (*at != NULL && *at != watch)
        at = &(*at)->next;
    if (*at != NULL)
        *at = watch->next;
}

static uint32_t net_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

static void net_cancel(hf__store *store, hf__request *request)
{
    if (sim_records)
        hf__record_store_cancel(records_of(store), request);
    for (size_t i = 0; i < PACKETS; i++) {
        if (net_packets[i].used && net_packets[i].request == request) {
            net_expire(&net_packets[i]);
            return;
        }
    }
}

static void net_close(hf__store *store)
{
    if (sim_records)
        hf__record_store_close(records_of(store));
    free(store);
}

static const char *const schemes[] = {"sim", NULL};
static const hf__store_ops ops = {
    .schemes = schemes,
    .open = net_open,
    .perform = net_perform,
    .submit = net_submit,
    .inbox = net_inbox,
    .event_seq = net_event_seq,
    .event_votes = net_event_votes,
    .event_agreed = net_event_agreed,
    .event_listens = net_event_listens,
    .event_key = net_event_key,
    .event_wait = net_event_wait,
    .event_wake = net_event_wake,
    .event_watch = net_event_watch,
    .event_unwatch = net_event_unwatch,
    .shard = net_shard,
    .close = net_close,
    .cancel = net_cancel,
};

/* In place of src/store/drivers.c. */
hf_status hf__store_driver(const char *scheme, const hf__store_ops **found,
                           hf_error *err)
{
    (void)scheme;
    (void)err;
    *found = &ops;
    return HF_OK;
}

hf_status hf__store_open(const hf__store_config *config, hf__store **store,
                         hf_error *err)
{
    return ops.open(config, store, err);
}
