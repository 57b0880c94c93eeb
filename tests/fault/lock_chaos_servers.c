/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_servers.c - faults of servers. */
#include <stdio.h>
#include <string.h>

#include "lock_chaos.h"

/* -------------------------------------------------------------- one of them */

static redis_server *any_server(nemesis_state *self)
{
    const chaos_place *at = self->at;

    if (at->sentinel != NULL)
        return redis_sentinel_server(
            at->sentinel,
            (int)prng_below(&self->random, REDIS_SENTINEL_SERVERS));
    if (at->cluster != NULL)
        return redis_cluster_server(
            at->cluster,
            (int)prng_below(&self->random,
                            (size_t)redis_cluster_size(at->cluster)));
    return at->servers[prng_below(&self->random, at->server_count)];
}

static void command(nemesis_state *self, const char *text)
{
    redis_server *server = any_server(self);
    char answer[64] = "no reply";
    size_t at = fault_begin("%s", text);

    (void)redis_server_command(server, text, answer, sizeof(answer));
    meanwhile(self, 200);
    fault_end(at);
}

static void flush_scripts(nemesis_state *self)
{
    command(self, "SCRIPT FLUSH");
}

static void kill_clients(nemesis_state *self)
{
    command(self, prng_chance(&self->random, 50) ? "CLIENT KILL TYPE normal"
                                                 : "CLIENT KILL TYPE pubsub");
}

static void pause_clients(nemesis_state *self)
{
    char text[64];
    size_t ms = 1 + prng_below(&self->random, 3 * TTL_MS / 2);

    (void)snprintf(text, sizeof(text), "CLIENT PAUSE %zu %s", ms,
                   prng_chance(&self->random, 50) ? "ALL" : "WRITE");
    command(self, text);
    rest_ms(ms);
}

static void stop_server(nemesis_state *self)
{
    redis_server *server = any_server(self);
    size_t at = fault_begin("stop a server");

    redis_server_pause(server);
    meanwhile(self, 3 * TTL_MS);
    redis_server_resume(server);
    fault_end(at);
}

static void open_network(nemesis_state *self, bool open)
{
    for (size_t i = 0; i < self->at->proxy_count; i++) {
        byte_proxy_refuse(self->at->proxies[i], !open);
        if (!open)
            byte_proxy_break(self->at->proxies[i], BYTE_END_CLOSE);
    }
}

/* The workers are kept away for the moment in which it is mended, by the one
 * connection that is allowed. */
static void refuse_clients(nemesis_state *self)
{
    redis_server *server = any_server(self);
    size_t at = fault_begin("no descriptors for a server");
    char answer[64] = "";

    (void)redis_server_command(server, "CONFIG SET maxclients 1", answer,
                               sizeof(answer));
    (void)redis_server_command(server, "CLIENT KILL TYPE normal", answer,
                               sizeof(answer));
    meanwhile(self, 2 * TTL_MS);
    open_network(self, false);
    while (!redis_server_command(server, "CONFIG SET maxclients 1000", answer,
                                 sizeof(answer)) ||
           answer[0] != '+')
        rest_ms(10);
    open_network(self, true);
    fault_end(at);
}

/* ---------------------------------------------------------- loss of its data
 */

/* A server that keeps its file loses nothing; a quorum's servers do not vote
 * until no lease of before can be valid. */
static void kill_server(nemesis_state *self)
{
    const chaos_place *place = self->at;
    bool wipes = place->kind == SINGLE && !place->keeps;
    redis_server *server = any_server(self);
    bool in_order = prng_chance(&self->random, 40);
    char answer[64];
    size_t at;

    if (wipes && self->sets_back)
        return;
    at = fault_begin(in_order ? "shut a server down" : "kill -9 a server");
    if (wipes)
        lapse_begin(WIPED);
    if (in_order)
        (void)redis_server_command(server, "SHUTDOWN", answer, sizeof(answer));
    redis_server_kill(server);
    meanwhile(self, 2 * TTL_MS);
    if (!redis_server_restart(server))
        self->skip = true;
    if (wipes)
        lapse_end();
    fault_end(at);
}

static void flush_all(nemesis_state *self)
{
    size_t at;

    if (self->sets_back)
        return;
    at = fault_begin("FLUSHALL");
    lapse_begin(WIPED);
    for (size_t i = 0; i < self->at->server_count; i++) {
        char answer[64];

        while (!redis_server_command(self->at->servers[i], "FLUSHALL", answer,
                                     sizeof(answer)))
            rest_ms(10);
    }
    lapse_end();
    fault_end(at);
}

#define SINGLES (1u << SINGLE)
#define SERVERS (1u << SINGLE | 1u << QUORUM)
#define MANAGED (1u << SENTINEL | 1u << CLUSTER)
#define ANY_SERVERS (SERVERS | MANAGED)

const chaos_fault server_faults[] = {
    {ANY_SERVERS, flush_scripts}, {ANY_SERVERS, kill_clients},
    {ANY_SERVERS, pause_clients}, {SERVERS, stop_server},
    {MANAGED, replace_master},    {MANAGED, order_master},
    {MANAGED, order_master},      {SERVERS, refuse_clients},
    {SERVERS, kill_server},       {SERVERS, kill_server},
    {SERVERS, flush_all},
};
const size_t server_fault_count =
    sizeof(server_faults) / sizeof(server_faults[0]);
