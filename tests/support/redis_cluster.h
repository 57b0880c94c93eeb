/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cluster.h - a cluster of real servers on free ports of 127.0.0.1: the
 * masters first, each with the same share of the slots, then their replicas.
 *
 * As with single servers: start it from the test's main thread. Functions that
 * change something query the servers until they all know of it, and return
 * false, with a line on stderr, when that takes longer than 30 s.
 */
#ifndef TESTS_SUPPORT_REDIS_CLUSTER_H
#define TESTS_SUPPORT_REDIS_CLUSTER_H

#include "support/redis_server.h"

#define REDIS_CLUSTER_MAX 12
#define REDIS_CLUSTER_SLOTS 16384

typedef struct redis_cluster redis_cluster;

/* `replicas` per master. After `node_timeout_ms` without a reply a master is
 * failed over. NULL: it could not be started. */
redis_cluster *redis_cluster_start(int masters, int replicas,
                                   int node_timeout_ms);
void redis_cluster_stop(redis_cluster *cluster); /* NULL is allowed */

/* With all masters as its hosts. */
const char *redis_cluster_url(const redis_cluster *cluster);

int redis_cluster_size(const redis_cluster *cluster);
redis_server *redis_cluster_server(const redis_cluster *cluster, int at);

/* The server that has a slot, as server `asked` sees it; -1: none. */
int redis_cluster_owner(const redis_cluster *cluster, int asked, int slot);

/* Wait until every server sees a whole cluster with all replicas, and these
 * have caught up. */
bool redis_cluster_await_whole(const redis_cluster *cluster);

/* Run a command on every running server; false: it failed on some. */
bool redis_cluster_command(const redis_cluster *cluster, const char *command);

/*
 * The steps of moving a slot, as a resharding tool does them: open it at both
 * ends; move up to `count` keys, returning how many there were; assign it to
 * the new owner.
 */
bool redis_cluster_open_slot(redis_cluster *cluster, int slot, int from,
                             int to);
int redis_cluster_move_keys(redis_cluster *cluster, int slot, int from, int to,
                            int count);
bool redis_cluster_close_slot(redis_cluster *cluster, int slot, int to);

#endif
