/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_state.c - what a server's figures mean for locks: may it evict keys
 * or refuse writes, what would a restart or failover lose.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/info.h"
#include "store/redis/diagnose/diagnose_server.h"

#define VALUE_SIZE 128

/* Nearly full, percent. */
#define TIGHT_PERCENT 90

#define REPLICAS_TOLD_MAX 16

/* A replica reports its offset every second. */
#define LAG_WARNING_S 4
#define BEHIND_WARNING (16 << 20)

/* ------------------------------------------------------------------ memory */

static void tell_eviction(const hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    int64_t limit = hf__info_number(target->info, "maxmemory", -1);
    char policy[VALUE_SIZE];

    if (!hf__info_find(target->info, "maxmemory_policy", policy,
                       sizeof(policy)))
        hf__report(to, HF_LEVEL_NOTE, "eviction",
                   "make sure that the policy is noeviction",
                   "unknown: INFO has no policy");
    else if (strcmp(policy, "noeviction") == 0)
        hf__report(to, HF_LEVEL_OK, "eviction", "", "noeviction");
    else if (limit == 0)
        hf__report(to, HF_LEVEL_NOTE, "eviction",
                   "set maxmemory-policy noeviction before you set maxmemory",
                   "%s, without effect as there is no maxmemory", policy);
    else
        hf__report(to, HF_LEVEL_WARNING, "eviction",
                   "CONFIG SET maxmemory-policy noeviction, or keep locks on a "
                   "server of their own",
                   "%s: THE SERVER MAY EVICT LOCKS while they are held, and "
                   "fencing tokens, when its memory is full",
                   policy);
}

static void tell_memory(const hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    int64_t limit = hf__info_number(target->info, "maxmemory", -1);
    int64_t used = hf__info_number(target->info, "used_memory", -1);

    if (used < 0 || limit < 0)
        return;
    if (limit == 0)
        hf__report(to, HF_LEVEL_NOTE, "memory",
                   "set maxmemory, so that a full server refuses writes "
                   "instead of being killed by the system",
                   "%" PRId64 " bytes used, no limit", used);
    else if (used >= limit - limit / 100 * (100 - TIGHT_PERCENT))
        hf__report(to, HF_LEVEL_WARNING, "memory",
                   "give it more memory or fewer keys: with noeviction, "
                   "acquiring a lock will be refused (HF_FULL)",
                   "%" PRId64 " of %" PRId64 " bytes used", used, limit);
    else
        hf__report(to, HF_LEVEL_OK, "memory", "",
                   "%" PRId64 " of %" PRId64 " bytes used", used, limit);
}

static void tell_connections(const hf__target *target)
{
    int64_t now = hf__info_number(target->info, "connected_clients", -1);
    int64_t most = hf__info_number(target->info, "maxclients", -1);

    if (now < 0 || most <= 0)
        return;
    if (now >= most - most / 100 * (100 - TIGHT_PERCENT))
        hf__report(&target->diagnosis, HF_LEVEL_WARNING, "connections",
                   "raise maxclients, or find the clients that do not close "
                   "connections",
                   "%" PRId64 " of %" PRId64, now, most);
    else
        hf__report(&target->diagnosis, HF_LEVEL_OK, "connections", "",
                   "%" PRId64 " of %" PRId64, now, most);
}

/* ------------------------------------------------------------- persistence */

/* CONFIG GET of one name; false: not permitted. */
static bool config_get(hf__target *target, const char *name, char *value,
                       size_t size)
{
    const char *words[] = {"CONFIG", "GET", name};
    hf__request request;
    bool ok = hf__target_ask(target, words, 3, &request) &&
              request.reply.kind == HF_REPLY_ARRAY &&
              request.reply.array.count == 2 &&
              request.reply.array.items[1].kind == HF_REPLY_STRING;

    if (ok)
        snprintf(value, size, "%s", request.reply.array.items[1].bytes.data);
    hf__request_done(&request);
    return ok;
}

static void tell_aof(hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    char fsync[VALUE_SIZE];

    if (!config_get(target, "appendfsync", fsync, sizeof(fsync)))
        hf__report(to, HF_LEVEL_OK, "persistence", "",
                   "append-only file; sync policy unknown");
    else if (strcmp(fsync, "always") == 0)
        hf__report(to, HF_LEVEL_OK, "persistence", "",
                   "append-only file, synced before each reply");
    else
        hf__report(
            to, HF_LEVEL_NOTE, "persistence",
            "appendfsync always, if a lock must survive a power cut; fencing "
            "tokens still grow unless the clock was set back, too",
            "append-only file, appendfsync %s: a power cut loses the last %s",
            fsync, strcmp(fsync, "everysec") == 0 ? "second" : "half minute");
}

static void tell_persistence(hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    char save[VALUE_SIZE];

    if (hf__info_number(target->info, "aof_enabled", 0) != 0)
        tell_aof(target);
    else if (!config_get(target, "save", save, sizeof(save)))
        hf__report(to, HF_LEVEL_NOTE, "persistence", "",
                   "no append-only file; unknown whether snapshots are saved");
    else if (save[0] != '\0')
        hf__report(
            to, HF_LEVEL_NOTE, "persistence",
            "appendonly yes, if locks must survive a restart",
            "snapshots only (save %s): a crash loses everything after the last "
            "one, and fencing tokens repeat if the clock was set back, too",
            save);
    else
        hf__report(to, HF_LEVEL_NOTE, "persistence",
                   "fine for locks that only save work; otherwise appendonly "
                   "yes, or keep the server down for one lease after a crash",
                   "none: a restart loses all locks, and fencing tokens repeat "
                   "if the clock was set back, too");
}

static void tell_disk_failure(const hf__target *target, const char *field,
                              const char *name)
{
    char state[VALUE_SIZE];

    if (hf__info_find(target->info, field, state, sizeof(state)) &&
        strcmp(state, "ok") != 0)
        hf__report_error(&target->diagnosis, HF_UNAVAILABLE, name,
                         "see the server's log; until then it may refuse "
                         "writes (MISCONF)",
                         "%s is %s", field, state);
}

/* ------------------------------------------------------------- replication */

/* The number after "name=" in a replica's line; -1: none. */
static int64_t replica_number(const char *line, const char *name)
{
    const char *at = strstr(line, name);

    return at != NULL ? strtoll(at + strlen(name), NULL, 10) : -1;
}

/* "slave0:ip=10.0.0.2,port=6379,state=online,offset=1,lag=0"; lag: seconds
 * since its last report. */
static void tell_replica(const hf__target *target, int number)
{
    int64_t offset = hf__info_number(target->info, "master_repl_offset", -1);
    hf_level level = HF_LEVEL_OK;
    const char *remedy = "";
    char name[32], value[VALUE_SIZE];
    int64_t lag_s, behind;

    snprintf(name, sizeof(name), "slave%d", number);
    if (!hf__info_find(target->info, name, value, sizeof(value)))
        return;
    lag_s = replica_number(value, "lag=");
    behind = offset - replica_number(value, "offset=");
    if (strstr(value, "state=online") == NULL || lag_s >= LAG_WARNING_S ||
        behind >= BEHIND_WARNING) {
        level = HF_LEVEL_WARNING;
        remedy = "see its log and the way between the two: what it lacks is "
                 "lost if it takes over now";
    }
    snprintf(name, sizeof(name), "replica %d", number + 1);
    hf__report(&target->diagnosis, level, name, remedy,
               "%s; %" PRId64 " bytes behind", value, behind > 0 ? behind : 0);
}

/* Not fewer than min-replicas-to-write, or no write would be accepted. */
static void tell_good_replicas(hf__target *target, bool has_some)
{
    const hf__diagnosis *to = &target->diagnosis;
    char wanted[24];
    int64_t good = hf__info_number(target->info, "min_slaves_good_slaves", -1);

    if (!config_get(target, "min-replicas-to-write", wanted, sizeof(wanted)))
        return;
    if (strcmp(wanted, "0") == 0 && !has_some)
        return;
    if (strcmp(wanted, "0") == 0)
        hf__report(
            to, HF_LEVEL_NOTE, "good replicas",
            "min-replicas-to-write 1 with a small min-replicas-max-lag limits "
            "how many acknowledged writes a failover can lose",
            "none required: a master that is cut off continues to grant locks");
    else if (good >= 0 && good < strtoll(wanted, NULL, 10))
        hf__report_error(
            to, HF_UNAVAILABLE, "good replicas",
            "restore replicas; until then it refuses all writes (NOREPLICAS)",
            "%" PRId64 ", but %s required", good, wanted);
    else
        hf__report(to, HF_LEVEL_OK, "good replicas", "",
                   "%" PRId64 " of %s required", good, wanted);
}

static void tell_master(hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    int64_t replicas = hf__info_number(target->info, "connected_slaves", 0);

    if (replicas == 0)
        hf__report(to, HF_LEVEL_OK, "replication", "",
                   "a master without replicas; WAIT has no effect");
    else
        hf__report(to, HF_LEVEL_NOTE, "replication",
                   "locks acknowledged a moment before a failover may be lost: "
                   "check fencing tokens where it matters",
                   "a master with %" PRId64
                   " replicas (asynchronous); WAIT is possible",
                   replicas);
    for (int i = 0; i < replicas && i < REPLICAS_TOLD_MAX; i++)
        tell_replica(target, i);
    tell_good_replicas(target, replicas > 0);
}

static void tell_replication(hf__target *target)
{
    char role[VALUE_SIZE], conn[VALUE_SIZE];

    if (!hf__info_find(target->info, "role", role, sizeof(role)))
        return;
    if (strcmp(role, "master") == 0) {
        tell_master(target);
        return;
    }
    hf__info_find(target->info, "master_link_status", conn, sizeof(conn));
    hf__report_error(
        &target->diagnosis, HF_UNAVAILABLE, "replication",
        "use the master's address, or a sentinel or cluster URL",
        "it is a replica and accepts no writes; its link to the master is %s",
        conn);
}

void hf__diagnose_state(hf__target *target)
{
    if (hf__info_number(target->info, "loading", 0) != 0)
        hf__report_error(&target->diagnosis, HF_UNAVAILABLE, "loading", "wait",
                         "it is loading its data and answers no requests");
    tell_eviction(target);
    tell_memory(target);
    tell_connections(target);
    tell_persistence(target);
    tell_disk_failure(target, "rdb_last_bgsave_status", "snapshots");
    tell_disk_failure(target, "aof_last_write_status", "append-only file");
    tell_replication(target);
}
