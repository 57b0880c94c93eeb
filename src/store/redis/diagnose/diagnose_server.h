/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_server.h - diagnosing one server by plain commands on its own
 * connections. What this user has no permission to ask is reported as unknown,
 * not as a failure.
 */
#ifndef HF__STORE_REDIS_DIAGNOSE_SERVER_H
#define HF__STORE_REDIS_DIAGNOSE_SERVER_H

#include "store/diagnosis.h"
#include "store/maintenance.h"
#include "store/redis/server/server.h"

/* A server being diagnosed. */
typedef struct hf__target {
    hf__server *server;
    hf__diagnosis diagnosis; /* `node` is the server's name */
    hf_bytes info;           /* INFO; empty: not permitted */
    hf__request request;     /* owns `info` */
    hf__diagnose_clock clock;
} hf__target;

/* Diagnose one server; `name` is its "host:port" or path. false: no reply. */
bool hf__server_diagnose(hf__server *server, const char *name,
                         const hf__diagnosis *diagnosis);

/* Run a request on `server` and no other; a hf__diagnose_run_fn. */
void hf__target_run(void *server, hf__request *request);

/* Run one command on this server and no other; true: replied without an error.
 * The caller calls hf__request_done() in any case. */
bool hf__target_ask(hf__target *target, const char *const *words, size_t count,
                    hf__request *request);

/* From INFO and CONFIG: eviction, memory, persistence, replicas. */
void hf__diagnose_state(hf__target *target);
/* Which of the commands that we need this user may run. */
void hf__diagnose_rights(hf__target *target);
/* The same of a replica, as diagnostic "failover". */
void hf__diagnose_rights_of_replica(hf__target *target);
/* Would the replicas of this master accept our login? */
void hf__diagnose_replicas(hf__target *target);
/* Encryption, certificate, access. */
void hf__diagnose_security(hf__target *target);
/* Of a cluster's node: its view of the cluster, and its replicas. */
void hf__diagnose_cluster(hf__target *target);
/* Do events reach us? */
void hf__diagnose_wakeups(hf__target *target);

#endif
