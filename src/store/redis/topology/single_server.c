/* SPDX-License-Identifier: Apache-2.0 */
/* single_server.c - see single_server.h. */
#include "store/redis/topology/single_server.h"

#include <stdio.h>

#include "store/info.h"
#include "store/redis/events/event_ops.h"
#include "store/tls/tls.h"
#include "util/clock.h"

static hf__single_server *single_server_of(hf__store *store)
{
    return (hf__single_server *)store;
}

/* ---------------------------------------------------------------- requests */

void hf__single_server_perform(hf__store *store, hf__request *request)
{
    hf__single_server *self = single_server_of(store);

    if (!hf__store_context_refuse(&self->context, request))
        hf__server_perform(self->server, request);
}

void hf__single_server_submit(hf__store *store, hf__request *const *requests,
                              size_t count)
{
    hf__single_server *self = single_server_of(store);
    size_t first = 0;
    size_t at;

    for (at = 0; at < count; at++) {
        if (!hf__store_context_refuse(&self->context, requests[at]))
            continue;
        if (at > first)
            hf__server_submit(self->server, requests + first, at - first);
        first = at + 1;
        requests[at]->on_done(requests[at]);
    }
    if (at > first)
        hf__server_submit(self->server, requests + first, at - first);
}

void hf__single_server_cancel(hf__store *store, hf__request *request)
{
    hf__pipeline *pipe = &single_server_of(store)->server->pipeline;

    pthread_mutex_lock(&pipe->reading);
    hf__pipeline_cancel(request);
    pthread_mutex_unlock(&pipe->reading);
}

bool hf__single_server_await(hf__store *store, int fd, int64_t until_ms)
{
    return hf__pipeline_await(&single_server_of(store)->server->pipeline, fd,
                              until_ms);
}

uint32_t hf__single_server_generation(hf__store *store)
{
    return atomic_load(&single_server_of(store)->server->pipeline.generation);
}

uint32_t hf__single_server_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* ------------------------------------------------------------------ events */

const char *hf__single_server_inbox(hf__store *store)
{
    return single_server_of(store)->context.channel;
}

uint32_t hf__single_server_event_seq(hf__store *store, hf_bytes topic,
                                     int64_t deadline_ms)
{
    return hf__event_seq(&single_server_of(store)->event_conn, topic,
                         deadline_ms);
}

bool hf__single_server_event_listens(hf__store *store, hf_bytes topic)
{
    (void)topic;
    return hf__event_conn_listens(&single_server_of(store)->event_conn);
}

void hf__single_server_event_key(hf__store *store, hf_bytes key, bool held)
{
    hf__event_watch_key(&single_server_of(store)->event_conn, key, held);
}

void hf__single_server_event_channel(hf__store *store, hf_bytes topic,
                                     hf_bytes channel, bool sharded,
                                     int64_t keep_ms)
{
    hf__event_channel(&single_server_of(store)->event_conn, topic, channel,
                      sharded, keep_ms);
}

bool hf__single_server_event_wait(hf__store *store, hf_bytes topic,
                                  uint32_t seq, int64_t until_ms)
{
    return hf__event_wait(&single_server_of(store)->event_conn, topic, seq,
                          until_ms);
}

void hf__single_server_event_wake(hf__store *store, hf_bytes topic)
{
    hf__events_wake(single_server_of(store)->event_conn.events,
                    hf__events_bucket(topic));
}

hf_status hf__single_server_event_watch(hf__store *store, hf_bytes topic,
                                        hf__watch *watch, hf_error *err)
{
    return hf__event_watch(&single_server_of(store)->event_conn, topic, watch,
                           err);
}

void hf__single_server_event_unwatch(hf__store *store, hf__watch *watch)
{
    hf__event_unwatch(&single_server_of(store)->context,
                      single_server_of(store)->event_conn.events, watch);
}

hf_status hf__single_server_feed_open(hf__store *store, hf__feed *feed,
                                      int64_t deadline_ms, hf_error *err)
{
    return hf__change_feeds_open(&single_server_of(store)->feeds, feed,
                                 deadline_ms, err);
}

void hf__single_server_feed_close(hf__store *store, hf__feed *feed)
{
    hf__change_feeds_close(&single_server_of(store)->feeds, feed);
}

/* ---------------------------------------------------------------- describe */

static void describe_info(const hf_reply *info, const char *const *names,
                          hf__describe_fn line, void *user)
{
    hf_bytes text = hf_view(info->bytes.data, info->bytes.size);
    char value[128];

    for (; *names != NULL; names++) {
        if (hf__info_find(text, *names, value, sizeof(value)))
            line(user, *names, value);
    }
}

void hf__single_server_describe(hf__single_server *self,
                                const hf__redis_account *account,
                                const char *const *names, hf__describe_fn line,
                                void *user)
{
    hf_bytes word = hf_str("INFO");
    hf__request request;
    char db[24];

    snprintf(db, sizeof(db), "%lld", (long long)account->db);
    line(user, "database", db);
    if (account->tls != NULL)
        line(user, "tls", hf__tls_describe(account->tls));
    line(user, "inbox", self->context.channel);
    hf__request_command(&request, &word, 1, true);
    request.deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), self->context.connect_ms);
    hf__single_server_perform(&self->base, &request);
    if (request.status != HF_OK)
        line(user, "error", request.error.message);
    else if (request.reply.kind == HF_REPLY_STRING)
        describe_info(&request.reply, names, line, user);
    hf__request_done(&request);
}
