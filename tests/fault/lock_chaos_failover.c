/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_failover.c - masters that are replaced, slots that move. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock_chaos.h"
#include "support/test_clock.h"

#define WAIT_MS 30000
#define ORDER_MS 6000
#define MASTERS 3 /* of the cluster: the first servers; then their replicas */

/* The servers do not do what they should: on a slow machine they may have
 * replaced one another. */
static void give_up(nemesis_state *self, const char *why)
{
    printf("%s, round %u: not counted: %s\n", self->at->name, self->round, why);
    self->skip = true;
}

/* A way in which a master ends. */
static void take_away(redis_server *master, bool stopped)
{
    if (stopped)
        redis_server_pause(master);
    else
        redis_server_kill(master);
}

static bool bring_back(redis_server *master, bool stopped)
{
    if (stopped)
        redis_server_resume(master);
    return stopped || redis_server_restart(master);
}

/* ---------------------------------------------------------------- sentinels */

static void replace_by_sentinels(nemesis_state *self)
{
    redis_sentinel *all = self->at->sentinel;
    int before = redis_sentinel_master(all);
    bool stopped = prng_chance(&self->random, 50), back;
    redis_server *master;
    size_t at;

    if (before < 0) {
        give_up(self, "no master");
        return;
    }
    at = fault_begin("%s the master", stopped ? "stop" : "kill -9");
    master = redis_sentinel_server(all, before);
    lapse_begin(LAST_LOST);
    take_away(master, stopped);
    self->at->master = redis_sentinel_await(all, before, 0, WAIT_MS);
    back = bring_back(master, stopped);
    if (self->at->master < 0 || !back ||
        redis_sentinel_await(all, before, 2, WAIT_MS) != self->at->master)
        give_up(self, "no failover");
    lapse_end();
    fault_end(at);
}

static void order_failover(nemesis_state *self)
{
    redis_sentinel *all = self->at->sentinel;
    size_t at = fault_begin("SENTINEL FAILOVER");
    int before = redis_sentinel_master(all);
    char answer[64];

    lapse_begin(LAST_LOST);
    (void)redis_sentinel_command(all, 0,
                                 "SENTINEL FAILOVER " REDIS_SENTINEL_NAME,
                                 answer, sizeof(answer));
    self->at->master = redis_sentinel_await(all, before, 2, WAIT_MS);
    if (self->at->master < 0)
        give_up(self, "no failover");
    lapse_end();
    fault_end(at);
}

/* ------------------------------------------------------------------ cluster */

static redis_server *node(const nemesis_state *self, int i)
{
    return redis_cluster_server(self->at->cluster, i);
}

/* One of the slots that a master had at first, and that no lock has. */
static int slot_of(int master)
{
    return REDIS_CLUSTER_SLOTS / MASTERS * master + 7;
}

static bool await_owner(const nemesis_state *self, int master, int owner,
                        int64_t limit_ms)
{
    int asked = (master + 1) % MASTERS, found;
    int64_t began_ms = test_now_ms();

    do {
        rest_ms(20);
        found = redis_cluster_owner(self->at->cluster, asked, slot_of(master));
    } while (found != owner && test_now_ms() - began_ms < limit_ms);
    return found == owner;
}

/* No writes are lost by this. The order is repeated, as the servers give up
 * when the two have not met within 5 s. */
static bool fail_over_to(nemesis_state *self, int next, int master)
{
    int64_t began_ms = test_now_ms();
    char answer[64];
    bool done;

    do {
        (void)redis_server_command(node(self, next), "CLUSTER FAILOVER", answer,
                                   sizeof(answer));
        done = await_owner(self, master, next, ORDER_MS);
    } while (!done && test_now_ms() - began_ms < WAIT_MS);
    return done && redis_cluster_await_whole(self->at->cluster);
}

static void replace_in_cluster(nemesis_state *self)
{
    int master = (int)prng_below(&self->random, MASTERS);
    bool stopped = prng_chance(&self->random, 50), fine;
    size_t at = fault_begin("%s node %d", stopped ? "stop" : "kill -9", master);

    lapse_begin(LAST_LOST);
    take_away(node(self, master), stopped);
    fine = await_owner(self, master, MASTERS + master, WAIT_MS);
    fine = bring_back(node(self, master), stopped) && fine;
    fine = fine && redis_cluster_await_whole(self->at->cluster) &&
           fail_over_to(self, master, master);
    if (!fine)
        give_up(self, "no failover");
    lapse_end();
    fault_end(at);
}

static void order_cluster_failover(nemesis_state *self)
{
    int master = (int)prng_below(&self->random, MASTERS);
    size_t at = fault_begin("CLUSTER FAILOVER of node %d, and back", master);

    if (!fail_over_to(self, MASTERS + master, master) ||
        !fail_over_to(self, master, master))
        give_up(self, "no failover");
    fault_end(at);
}

static int slot_of_lock(nemesis_state *self)
{
    subject of = (subject)prng_below(&self->random, SUBJECTS);
    char name[32], text[64], answer[32] = "";

    name_of(name, self->round, of);
    (void)snprintf(text, sizeof(text), "CLUSTER KEYSLOT %s", name);
    (void)redis_server_command(node(self, 0), text, answer, sizeof(answer));
    return answer[0] == ':' ? (int)strtol(answer + 1, NULL, 10) : -1;
}

static void move_slot(nemesis_state *self)
{
    redis_cluster *cluster = self->at->cluster;
    int slot = slot_of_lock(self);
    int from = slot < 0 ? -1 : redis_cluster_owner(cluster, 0, slot);
    int to = (from + 1) % MASTERS, moved;
    size_t at;

    if (from < 0 || from >= MASTERS)
        return;
    at = fault_begin("move slot %d from %d to %d", slot, from, to);
    if (!redis_cluster_open_slot(cluster, slot, from, to)) {
        give_up(self, "slot not opened");
        return;
    }
    rest_ms(prng_below(&self->random, 100));
    do {
        moved = redis_cluster_move_keys(cluster, slot, from, to, 2);
        rest_ms(prng_below(&self->random, 30));
    } while (moved > 0);
    if (moved < 0 || !redis_cluster_close_slot(cluster, slot, to))
        give_up(self, "slot not moved");
    fault_end(at);
}

/* --------------------------------------------------------------------- both */

void replace_master(nemesis_state *self)
{
    if (self->at->sentinel != NULL)
        replace_by_sentinels(self);
    else
        replace_in_cluster(self);
}

void order_master(nemesis_state *self)
{
    if (self->at->sentinel != NULL)
        order_failover(self);
    else if (prng_chance(&self->random, 40))
        order_cluster_failover(self);
    else
        move_slot(self);
}

bool masters_are_expected(const chaos_place *at)
{
    bool expected = true;

    if (at->sentinel != NULL)
        return redis_sentinel_master(at->sentinel) == at->master;
    for (int i = 0; at->cluster != NULL && i < MASTERS; i++)
        expected =
            expected && redis_cluster_owner(at->cluster, i, slot_of(i)) == i;
    return expected;
}
