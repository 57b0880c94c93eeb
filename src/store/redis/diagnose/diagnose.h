/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.h - looking at one server as a doctor does. All by plain commands on
 * the server's own connections; what a user may not ask for is unknown, which
 * is a remark and no failure.
 */
#ifndef HF__STORE_REDIS_DIAGNOSE_H
#define HF__STORE_REDIS_DIAGNOSE_H

#include "store/diagnosis.h"
#include "store/redis/server/server.h"

/* One server while it is looked at. */
typedef struct hf__target {
    hf__server *server;
    hf__diagnosis diagnosis; /* `node` is the server's name */
    hf_bytes info;           /* what INFO said; empty: it is not allowed */
    hf__request request;     /* holds it */
} hf__target;

/* Look at all of one server; `name` is its "host:port" or path. false: it does
 * not answer. */
bool hf__server_diagnose(hf__server *server, const char *name,
                         const hf__diagnosis *diagnosis);

/* Run a request on `server` and no other; a hf__diagnose_run_fn. */
void hf__target_run(void *server, hf__request *request);

/* Run one command on this server and no other, whatever it answers; true: it
 * was answered, with no error. hf__request_done() is the caller's in any
 * case. */
bool hf__target_ask(hf__target *target, const char *const *words, size_t count,
                    hf__request *request);

/* What INFO and CONFIG tell: eviction, memory, persistence, replicas. */
void hf__diagnose_state(hf__target *target);
/* Which of the commands that we need this user may give. */
void hf__diagnose_rights(hf__target *target);
/* The same of a replica, as a remark "failover". */
void hf__diagnose_rights_of_replica(hf__target *target);
/* Would the replicas of this master let us in? */
void hf__diagnose_replicas(hf__target *target);
/* Encryption, certificate, who may come in. */
void hf__diagnose_security(hf__target *target);
/* Of a cluster's node: how it sees the cluster, and who would take over. */
void hf__diagnose_cluster(hf__target *target);
/* Can we be woken? */
void hf__diagnose_wakeups(hf__target *target);

#endif
