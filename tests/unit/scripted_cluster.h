/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_cluster.h - a cluster of two servers that reply what a test wants,
 * and a store in front of them. Key "foo" is in slot 12182, "bar" in 5061.
 */
#ifndef TESTS_UNIT_SCRIPTED_CLUSTER_H
#define TESTS_UNIT_SCRIPTED_CLUSTER_H

#include <stdatomic.h>

#include "redis_driver.h"

enum { A, B, NODES };

struct scripted_cluster;

typedef struct scripted_node {
    struct scripted_cluster *cluster;
    int at;
    fake_server *fake;
    int port;             /* the others name it while it is being stopped */
    atomic_uint maps;     /* requests for the slot map */
    atomic_uint requests; /* other than those */
    atomic_int map_ms;    /* delay of the slot map; negative: never */
    const char *name;     /* in the map; NULL: 127.0.0.1 */
} scripted_node;

/* Replies to a request; false: close. `number` counts those of the node. */
typedef bool (*act_fn)(scripted_node *self, int fd, unsigned number,
                       const char *text);

typedef struct scripted_cluster {
    scripted_node nodes[NODES];
    act_fn act;
    atomic_int lower;     /* owner of slots 0 to 8191 in the map */
    atomic_int upper;     /* and of the others */
    atomic_bool nameless; /* the map does not name the host */
    atomic_bool unnamed;  /* nor do the nodes know it, only its address */
    atomic_bool holed;    /* the upper slots have no owner */
    test_driver driver;
} scripted_cluster;

/* Start the servers, and the store on one of them: the map names the other. */
void cluster_start(scripted_cluster *self, act_fn act);
void cluster_connect(scripted_cluster *self, int by);
/* Both, by A. */
void cluster_open(scripted_cluster *self, act_fn act);

void cluster_stop(scripted_cluster *self);
/* The store, too. */
void cluster_close(scripted_cluster *self);

int port_of(const scripted_cluster *self, int at);
unsigned requests(scripted_cluster *self, int at);

/* Replies: "-<word> <slot> <host>:<port>" of a node; which node it is, "0" or
 * "1"; the same as an act. */
bool say_redirect(const scripted_node *self, int fd, const char *word, int slot,
                  const char *host, int to);
bool say_who(const scripted_node *self, int fd);
bool tell_who(scripted_node *self, int fd, unsigned number, const char *text);

#endif
