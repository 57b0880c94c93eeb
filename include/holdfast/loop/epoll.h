/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/loop/epoll.h - a client in a loop of epoll(7).
 *
 * Contents:
 * - hf_epoll_attach(), hf_epoll_detach()
 *
 * The loop is the program's own: for an event of the client it calls
 * hf_client_dispatch().
 *
 * @code
 * hf_status run_loop(int epoll, hf_client *client, hf_error *err)
 * {
 *     struct epoll_event event;
 *     epoll_data_t data;
 *     hf_status status;
 *
 *     data.ptr = client;
 *     status = hf_epoll_attach(epoll, client, data, err);
 *     while (status == HF_OK && epoll_wait(epoll, &event, 1, -1) == 1)
 *         if (event.data.ptr == client)
 *             status = hf_client_dispatch(client, NULL, err);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_LOOP_EPOLL_H
#define HOLDFAST_LOOP_EPOLL_H

#include <errno.h>
#include <sys/epoll.h>

#include "holdfast/loop/fail.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Add a client to an epoll instance: there is an event with `data` for as long
 * as hf_client_dispatch() has something to do (level-triggered).
 *
 * @param epoll  of epoll_create1()
 * @param data   of its events, by which the loop knows the client
 *
 * @retval HF_OK      the client is attached
 * @retval HF_SYSTEM  it is attached already (`sys_errno` is EEXIST), `epoll` is
 *                    no epoll instance, or there are too many descriptors
 */
static inline HF_MUST_USE hf_status hf_epoll_attach(int epoll,
                                                    hf_client *client,
                                                    epoll_data_t data,
                                                    hf_error *err)
{
    struct epoll_event event;
    int fd, error;
    hf_status status = hf_client_fd(client, &fd, err);

    if (status != HF_OK)
        return status;
    event.events = EPOLLIN;
    event.data = data;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return HF_OK;
    error = errno;
    return hf_loop_fail(err, HF_SYSTEM, error, "epoll_ctl", strerror(error));
}

/**
 * Remove a client from an epoll instance; to be done before
 * hf_client_close(). A done() may do it too. The loop must not dispatch events
 * of the client that epoll_wait() has returned before.
 *
 * @param epoll  the instance that it was attached to
 *
 * @retval HF_OK      there are no more events of the client
 * @retval HF_SYSTEM  it is not attached (`sys_errno` is ENOENT)
 */
static inline HF_MUST_USE hf_status hf_epoll_detach(int epoll,
                                                    hf_client *client,
                                                    hf_error *err)
{
    int fd, error;
    hf_status status = hf_client_fd(client, &fd, err);

    if (status != HF_OK)
        return status;
    if (epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == 0)
        return HF_OK;
    error = errno;
    return hf_loop_fail(err, HF_SYSTEM, error, "epoll_ctl", strerror(error));
}

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOOP_EPOLL_H */
