/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_master.h - what a master had done before it was killed or stopped, from
 * its log of commands: replicas follow a master without its waiting for them,
 * so that what it acknowledged last may be missing on the one that follows.
 * That is no fault of a client's, and here is how to tell it from one that is.
 */
#ifndef FAULT_DEAD_MASTER_H
#define FAULT_DEAD_MASTER_H

#include "support/redis_server.h"

typedef struct dead_master dead_master;

/* Have a server write its log from now on; false: it does not. */
bool dead_master_log(redis_server *server);

/* Read the log of a server that does nothing any more. NULL, with a line on
 * stderr: it could not be read. */
dead_master *dead_master_read(const redis_server *server);
void dead_master_free(dead_master *self); /* NULL is allowed */

/* A server with all that the dead one had, alone. */
const char *dead_master_url(const dead_master *self);

#endif
