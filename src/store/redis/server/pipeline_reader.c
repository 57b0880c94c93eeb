/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_reader.c - a thread that waits for its asynchronous call reads the
 * reply itself, which saves waking the loop thread, and being woken by it.
 *
 * 1. The reader takes the pipeline while it is open (pipeline_owner.c), has the
 *    loop thread watch the socket for errors only, and gives it back: it is
 *    lent.
 * 2. It polls the socket and its own descriptor, and owns nothing meanwhile.
 * 3. It takes the pipeline again, reads once without waiting, completes the
 *    request if that is its reply, has the loop thread watch the socket again
 *    and gives the pipeline back.
 * 4. If anything else happens meanwhile - another request, a deadline, a
 *    cancellation, a connection that breaks, the close - the loop thread owns
 *    the pipeline and reclaims it: it watches the socket again, and raises the
 *    reader's descriptor. The reader then touches nothing.
 * 5. A reader that leaves while another thread owns the pipeline cannot wait
 *    for it: the pipeline is deserted, and reclaimed by a task.
 *
 * Locks: `reading` is held in step 3, so that the loop thread can cancel a
 * request that is known not to complete meanwhile: it takes the mutex, then the
 * pipeline. A reader does not wait for the pipeline.
 */
#include <poll.h>

#include "store/redis/server/pipeline_internal.h"
#include "store/redis/wire/socket.h"
#include "util/event_fd.h"

/* The socket, or -1. */
static int lend_socket(hf__pipeline *pipe, int fd)
{
    int socket = -1;

    if (!hf__pipeline_take_open(pipe))
        return -1;
    if (pipe->in_flight.count > 0) {
        socket = pipe->conn.channel.fd;
        pipe->reader_fd = fd;
        atomic_store(&pipe->deserted, false);
        if (!atomic_exchange(&pipe->lent, true))
            hf__async_conn_lend(&pipe->conn);
    }
    hf__pipeline_give_back(pipe);
    return socket;
}

static void take_back(hf__pipeline *pipe, bool reads)
{
    bool rest;

    if (!hf__pipeline_take_open(pipe)) {
        atomic_store(&pipe->deserted, true);
        if (atomic_load(&pipe->lent))
            hf__pipeline_wake(pipe);
        return;
    }
    if (reads && pipe->in_flight.count > 0)
        hf__pipeline_read(pipe);
    rest = pipe->loop_reads;
    if (atomic_load(&pipe->lent))
        hf__pipeline_reclaim(pipe, false);
    hf__pipeline_give_back(pipe);
    if (rest)
        hf__pipeline_wake(pipe);
}

bool hf__pipeline_await(hf__pipeline *pipe, int fd, int64_t until_ms)
{
    int socket = lend_socket(pipe, fd);
    bool reads;

    if (socket < 0)
        return false;
    reads = hf__socket_wait_or(socket, POLLIN, fd, until_ms) != 0;
    pthread_mutex_lock(&pipe->reading);
    take_back(pipe, reads);
    pthread_mutex_unlock(&pipe->reading);
    if (atomic_exchange(&pipe->woken, false))
        hf__event_fd_lower(fd);
    return true;
}
