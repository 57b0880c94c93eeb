/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_deployment.h - two servers and three sentinels that reply what a
 * test wants, and a Sentinel store in front of them.
 */
#ifndef TESTS_UNIT_SENTINEL_DEPLOYMENT_H
#define TESTS_UNIT_SENTINEL_DEPLOYMENT_H

#include "redis_driver.h"

enum { A, B, SERVERS };

#define SENTINELS 3

/* What a server reports about itself. */
typedef struct fake_master {
    fake_server *server;
    bool is_replica; /* atomic */
    bool hides_role; /* refuses ROLE, and reports none in HELLO */
    int name;
    uint32_t logins; /* atomic */
} fake_master;

typedef struct fake_sentinel {
    fake_server *server;
    struct deployment *all;
    int master; /* atomic; -1: it knows none */
    unsigned epoch;
    bool silent;         /* atomic: replies to nothing */
    int64_t delay_ms;    /* of each reply */
    const char *refusal; /* to every request; NULL: none */
    const char *mode;
    int listed;         /* another one that it reports; -1: none */
    int pushes;         /* the descriptor of its latest subscriber; -1: none */
    uint32_t questions; /* atomic */
} fake_sentinel;

typedef struct deployment {
    fake_master masters[SERVERS];
    fake_sentinel sentinels[SENTINELS];
    size_t count;     /* sentinels in the URL */
    const char *more; /* the end of the URL */
    int64_t connect_ms;
    char url[300];
    test_driver driver;
} deployment;

/* Start them. All name A at epoch 5, until the test changes it. */
void deployment_prepare(deployment *all);
void deployment_close(deployment *all);

/* Open the store: with any result, successfully, or with a failure and this in
 * its message. */
hf_status deployment_try_open(deployment *all, hf_error *err);
void deployment_open(deployment *all);
void deployment_open_fails(deployment *all, hf_status expected,
                           const char *part);

/* From now on all sentinels name this one. */
void deployment_say(deployment *all, int master, unsigned epoch);

/* Make a sentinel notify its subscriber of a change, with nonsense in it. */
void deployment_push(fake_sentinel *sentinel);

#endif
