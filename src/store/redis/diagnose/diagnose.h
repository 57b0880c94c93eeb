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
typedef struct hf__patient {
    hf__server *server;
    hf__examination examination; /* `node` is the server's name */
    hf_bytes info;               /* what INFO said; empty: it is not allowed */
    hf__request request;         /* holds it */
} hf__patient;

/* Look at all of one server; `name` is its "host:port" or path. false: it does
 * not answer. */
bool hf__server_examine(hf__server *server, const char *name,
                        const hf__examination *examination);

/* Run a request on `server` and no other; a hf__examine_run_fn. */
void hf__patient_run(void *server, hf__request *request);

/* Run one command on this server and no other, whatever it answers; true: it
 * was answered, with no error. hf__request_done() is the caller's in any
 * case. */
bool hf__patient_ask(hf__patient *patient, const char *const *words,
                     size_t count, hf__request *request);

/* What INFO and CONFIG tell: eviction, memory, persistence, replicas. */
void hf__examine_state(hf__patient *patient);
/* Which of the commands that we need this user may give. */
void hf__examine_rights(hf__patient *patient);
/* The same of a replica, as a remark "failover". */
void hf__examine_rights_of_replica(hf__patient *patient);
/* Would the replicas of this master let us in? */
void hf__examine_replicas(hf__patient *patient);
/* Encryption, certificate, who may come in. */
void hf__examine_security(hf__patient *patient);
/* Of a cluster's node: how it sees the cluster, and who would take over. */
void hf__examine_cluster(hf__patient *patient);
/* Can we be woken? */
void hf__examine_wakeups(hf__patient *patient);

#endif
