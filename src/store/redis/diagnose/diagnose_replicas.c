/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_replicas.c - would a replica accept our login after a failover?
 * Every server has access lists and passwords of its own, and a missing one
 * goes unnoticed until the failover.
 *
 * A replica is diagnosed as a server of its own, without the topology, which
 * would look for a master. Its address comes from the master and may be
 * unreachable from here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/info.h"
#include "store/redis/diagnose/diagnose_server.h"
#include "util/clock.h"

#define REPLICAS_MAX 16

/* Then they are in another network, and each attempt costs connect_ms. */
#define OUT_OF_REACH_MAX 2

/* "ip=10.0.0.2,port=6379,state=...": false: incomplete. */
static bool read_place(const char *line, char host[HF__HOST_SIZE], int *port)
{
    const char *at = strstr(line, "ip=");
    size_t size = at != NULL ? strcspn(at + 3, ",") : 0;
    long number;

    if (size == 0 || size >= HF__HOST_SIZE)
        return false;
    memcpy(host, at + 3, size);
    host[size] = '\0';
    at = strstr(line, "port=");
    number = at != NULL ? strtol(at + 5, NULL, 10) : 0;
    *port = (int)number;
    return number > 0 && number <= 65535;
}

/* Its certificate usually has a name that the master does not report. */
static bool is_certificate(const hf_error *err)
{
    return strstr(err->message, "no TLS handshake") != NULL;
}

/* A failover takes at least a second: by less, no token repeats. */
static void tell_clock(const hf__target *replica,
                       const hf__diagnose_clock *master)
{
    const hf__diagnosis *to = &replica->diagnosis;
    hf__diagnose_clock clock;
    int64_t behind_us, error_us;

    if (hf__diagnose_clock_of(to, hf__target_run, replica->server, &clock,
                              NULL) != HF_OK)
        return;
    behind_us = master->ahead_us - clock.ahead_us;
    error_us = master->error_us + clock.error_us;
    if (behind_us - error_us > HF__CLOCK_NOTE_US)
        hf__report(to, HF_LEVEL_WARNING, "clock", "synchronise both by NTP",
                   "%" PRId64 " ms behind its master's: FENCING TOKENS MAY "
                   "REPEAT after a failover that loses the last ones",
                   behind_us / 1000);
    else
        hf__report(to, HF_LEVEL_OK, "clock", "",
                   "not behind its master's, give or take %" PRId64 " ms",
                   error_us / 1000 + 1);
}

/* false: it cannot be reached. */
static bool look_at(hf__target *replica, const hf__diagnose_clock *master)
{
    const hf__diagnosis *to = &replica->diagnosis;
    int64_t now_ms = hf__clock_boot_ms();
    int64_t until_ms =
        hf__clock_after(now_ms, replica->server->node.context->connect_ms);
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    if (until_ms > hf__diagnosis_until(to, now_ms))
        until_ms = hf__diagnosis_until(to, now_ms);
    status = hf__server_open(replica->server, until_ms, &err);
    if (status == HF_OK) {
        hf__diagnose_rights_of_replica(replica);
        tell_clock(replica, master);
    } else if (status == HF_DENIED && !is_certificate(&err)) {
        hf__report(
            to, HF_LEVEL_WARNING, "failover",
            "access lists are not replicated: create the user there, too",
            "it would refuse this client: %s", err.message);
    } else {
        hf__report(to, HF_LEVEL_NOTE, "failover",
                   "make sure that clients can reach it and log in",
                   "unknown: %s", err.message);
    }
    return status == HF_OK || status == HF_DENIED;
}

/* false: it cannot be reached. */
static bool examine_replica(const hf__target *master,
                            hf__store_context *context, const char *host,
                            int port)
{
    hf__redis_account account = *master->server->node.account;
    hf__target replica = {.diagnosis = master->diagnosis};
    int64_t until_ms =
        hf__diagnosis_until(&master->diagnosis, hf__clock_boot_ms());
    hf__resolver *resolver = NULL;
    hf__redis_where where;
    bool reached = false;

    account.master_only = false;
    if (hf__redis_where_init(&where, host, port, NULL) != HF_OK)
        return false;
    replica.diagnosis.node = where.text;
    if (hf__resolver_new(&where, until_ms, &resolver, NULL) == HF_OK &&
        hf__server_new(context, &account, resolver, &replica.server, NULL) ==
            HF_OK) {
        reached = look_at(&replica, &master->clock);
        hf__server_close(replica.server);
    } else {
        hf__resolver_free(resolver);
    }
    hf__redis_where_done(&where);
    return reached;
}

void hf__diagnose_replicas(hf__target *target)
{
    const hf__store_context *store = target->server->node.context;
    hf__store_config config = {.loop = store->loop,
                               .connect_ms = store->connect_ms};
    char name[32], line[512], host[HF__HOST_SIZE];
    unsigned out_of_reach = 0;
    hf__store_context context;
    int port;

    hf__store_context_init(&context, &config, NULL);
    for (int i = 0; i < REPLICAS_MAX && out_of_reach < OUT_OF_REACH_MAX; i++) {
        snprintf(name, sizeof(name), "slave%d", i);
        if (hf__diagnosis_is_over(&target->diagnosis) ||
            !hf__info_find(target->info, name, line, sizeof(line)))
            return;
        if (read_place(line, host, &port) &&
            !examine_replica(target, &context, host, port))
            out_of_reach++;
    }
}
