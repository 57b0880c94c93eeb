/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - reference counts of servers. */
#include "store/redis/server/node.h"

void hf__server_hold(struct hf__server *server)
{
    atomic_fetch_add_explicit(&hf__server_node(server)->holders, 1,
                              memory_order_relaxed);
}

void hf__server_release(struct hf__server *server)
{
    hf__redis_node *node = hf__server_node(server);

    if (atomic_fetch_sub_explicit(&node->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (hf__loop_started(node->context->loop))
        hf__loop_post(node->context->loop, &node->free_task);
    else
        node->free_task.run(&node->free_task);
}
