/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_master.h - what a master had done before it was killed or stopped, from
 * its command log. Replication is asynchronous, so the last writes that a
 * master acknowledged may be missing on its successor. That is not the client's
 * fault, and this tells it from one that is.
 */
#ifndef FAULT_DEAD_MASTER_H
#define FAULT_DEAD_MASTER_H

#include "support/redis_server.h"

typedef struct dead_master dead_master;

/* Make a server write its log from now on; false: it does not. */
bool dead_master_log(redis_server *server);

/* Read the log of a server that has stopped. NULL, with a line on stderr: it
 * could not be read. */
dead_master *dead_master_read(const redis_server *server);
void dead_master_free(dead_master *self); /* NULL is allowed */

/* A stand-alone server with all that the dead one had. */
const char *dead_master_url(const dead_master *self);

#endif
