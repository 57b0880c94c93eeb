/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_conn.c - connecting, logging in, reading, writing and reconnecting
 * without ever blocking the loop thread.
 *
 * DOWN -> RESOLVING -> CONNECTING -> HANDSHAKE -> LOGIN -> UP, and from each of
 * these back to DOWN. RESOLVING is for a name that was met just now. The first
 * attempt after a connection that worked is immediate; then follow decorrelated
 * jitter pauses of 20 ms to 2 s. A connection has worked once a byte came after
 * its login: one that breaks on its first request must not be made again
 * without a pause.
 *
 * Everything runs on the loop thread, so there are no locks. One timer rings
 * for the link's own instants and for its owner's.
 */
#include "store/redis/server/async_conn.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "store/redis/server/silence_limit.h"
#include "store/redis/wire/socket.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

#define READ_SIZE 65536
#define IN_LIMIT (HF__RESP_LINE_MAX + 2 * READ_SIZE)

/* Reads of one readiness: others on the loop want their turn. */
#define READS_MAX 16

#define DELAY_MIN_MS 20
#define DELAY_MAX_MS 500

/* Most that one send() takes: a socket buffer holds less. */
#define WRITE_MAX ((size_t)1 << 20)

static void next_address(hf__link *link);
static void on_poll(hf__poll *poll, int events);
static void on_timer(hf__tick *timer);

void hf__link_init(hf__link *link, const hf__link_ops *ops,
                   hf__redis_node *node, size_t out_limit)
{
    memset(link, 0, sizeof(*link));
    link->ops = ops;
    link->node = node;
    link->state = HF__LINK_DOWN;
    hf__channel_init(&link->channel);
    link->timer_ms = INT64_MAX;
    link->poll.ready = on_poll;
    link->poll.user = link;
    link->timer.ring = on_timer;
    link->timer.user = link;
    link->error = (hf_error)HF_ERROR_INIT;
    hf__buf_init(&link->in, IN_LIMIT);
    hf__buf_init(&link->out, out_limit);
    hf__arena_init(&link->arena);
}

static hf__poller *poller_of(const hf__link *link)
{
    return hf__loop_poller(link->node->fleet->loop);
}

static void close_socket(hf__link *link)
{
    if (link->channel.fd >= 0)
        hf__poll_stop(poller_of(link), &link->poll);
    link->sockets++;
    hf__channel_close(&link->channel);
    link->poll_events = 0;
    link->unread = false;
    hf__buf_clear(&link->in);
    hf__buf_clear(&link->out);
}

static void pick_delay(hf__link *link, bool was_up, int64_t now_ms)
{
    int64_t high = link->delay_ms * 3;

    if (!was_up && link->delay_ms == 0)
        link->delay_ms = DELAY_MIN_MS;
    link->retry_ms = now_ms + link->delay_ms;
    if (high > DELAY_MAX_MS)
        high = DELAY_MAX_MS;
    if (high < DELAY_MIN_MS)
        high = DELAY_MIN_MS;
    link->delay_ms = hf__rand_between(DELAY_MIN_MS, high);
}

void hf__link_drop(hf__link *link)
{
    bool was_up = link->state == HF__LINK_UP;

    if (link->state == HF__LINK_DOWN || link->state == HF__LINK_CLOSED)
        return;
    if (link->state == HF__LINK_LOGIN && link->resolved.host[0] != '\0' &&
        hf__clock_boot_ms() < link->until_ms)
        hf__login_hint(&link->login, &link->error);
    link->state = HF__LINK_DOWN;
    close_socket(link);
    hf__arena_free(&link->arena);
    hf__resolver_refresh(link->node->resolver);
    pick_delay(link, was_up, hf__clock_boot_ms());
    link->ops->down(link, was_up);
}

static void drop_errno(hf__link *link, int sys_errno, const char *what)
{
    hf__channel_fail(&link->channel, &link->error, HF_UNAVAILABLE, sys_errno,
                     what, link->peer);
    hf__link_drop(link);
}

static void want_events(hf__link *link, int events)
{
    int rc;

    if (events == link->poll_events)
        return;
    rc = hf__poll_watch(poller_of(link), &link->poll, events);
    if (rc == 0)
        link->poll_events = events;
    else
        drop_errno(link, rc, "cannot watch");
}

/* What of the socket matters to reading and, if it was stopped, to writing. */
static void want_more(hf__link *link, bool stopped)
{
    int events = HF__POLL_IN;

    if (link->channel.read_wants == POLLOUT ||
        (stopped && link->channel.write_wants == POLLOUT))
        events |= HF__POLL_OUT;
    want_events(link, events);
}

void hf__link_flush(hf__link *link)
{
    size_t size;
    ssize_t sent;

    while ((size = hf__buf_size(&link->out)) > 0) {
        if (size > WRITE_MAX)
            size = WRITE_MAX;
        sent =
            hf__channel_send(&link->channel, hf__buf_front(&link->out), size);
        if (sent >= 0) {
            hf__buf_consume(&link->out, (size_t)sent);
            link->sent += (uint64_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            want_more(link, true);
            return;
        } else if (errno != EINTR) {
            drop_errno(link, errno, "cannot write to");
            return;
        }
    }
    want_more(link, false);
}

static void begin_login(hf__link *link)
{
    link->state = HF__LINK_LOGIN;
    link->login_ms = hf__clock_boot_ms();
    hf__resp_begin(&link->resp, &link->arena, &link->reply);
    if (!hf__login_begin(&link->login, link->node->account, link->resp3,
                         &link->out) ||
        (link->waits && !hf__login_add_wait(&link->login, &link->out))) {
        hf__fail(&link->error, HF_NO_MEMORY, "out of memory");
        hf__link_drop(link);
        return;
    }
    hf__link_flush(link);
}

/* Connected: take steps of the handshake while they need not wait. */
static void shake_hands(hf__link *link)
{
    int rc = hf__channel_handshake(&link->channel);

    if (rc == 0)
        begin_login(link);
    else if (rc != EAGAIN)
        drop_errno(link, rc, "no TLS handshake with");
    else if (link->channel.read_wants == POLLOUT)
        want_events(link, HF__POLL_OUT);
    else
        want_events(link, HF__POLL_IN);
}

static void begin_handshake(hf__link *link)
{
    link->state = HF__LINK_HANDSHAKE;
    link->until_ms = link->connect_until_ms;
    shake_hands(link);
}

static void connect_failed(hf__link *link, int sys_errno)
{
    close_socket(link);
    hf__fail_errno(&link->error, HF_UNAVAILABLE, sys_errno,
                   "cannot connect to %s", link->peer);
    next_address(link);
}

static int watch_socket(hf__link *link)
{
    link->poll.fd = link->channel.fd;
    link->poll_events = HF__POLL_OUT;
    return hf__poll_watch(poller_of(link), &link->poll, HF__POLL_OUT);
}

/* Begin to connect to one address: 0 or an errno. */
static int try_address(hf__link *link, size_t at)
{
    const hf__resolved *resolved = &link->resolved;
    int fd;
    int rc = hf__socket_connect(&resolved->items[at], resolved->sizes[at], &fd);

    if (rc != 0)
        return rc;
    if (!hf__channel_open(&link->channel, fd, link->node->account->tls,
                          resolved->host)) {
        close(fd);
        return ENOMEM;
    }
    return watch_socket(link);
}

/* Try the next of the server's addresses that lets us begin, for its share of
 * the time that is left; down if there is none. */
static void next_address(hf__link *link)
{
    int64_t now_ms = hf__clock_boot_ms();
    size_t at;
    int rc;

    while (link->resolved_at < link->resolved.count) {
        at = link->resolved_at++;
        link->until_ms = now_ms + (link->connect_until_ms - now_ms) /
                                      (int64_t)(link->resolved.count - at);
        rc = try_address(link, at);
        if (rc == 0)
            return;
        close_socket(link);
        hf__fail_errno(&link->error, HF_UNAVAILABLE, rc, "cannot connect to %s",
                       link->peer);
    }
    hf__link_drop(link);
}

/* Connect as soon as an address is known, or it is clear that none will be. */
static void try_to_connect(hf__link *link)
{
    /* In this order, as the answer may come in between. */
    bool asks = hf__resolver_asks(link->node->resolver);

    link->epoch = hf__redis_node_epoch(link->node);
    hf__resolver_get(link->node->resolver, &link->resolved);
    memcpy(link->peer, link->resolved.text, sizeof(link->peer));
    if (link->resolved.count == 0)
        hf__fail(&link->error, HF_UNAVAILABLE,
                 "the address of %s is not known yet", link->peer);
    if (link->resolved.count == 0 && asks)
        return;
    link->state = HF__LINK_CONNECTING;
    link->resolved_at = 0;
    next_address(link);
}

static void start(hf__link *link, int64_t now_ms)
{
    link->state = HF__LINK_RESOLVING;
    link->sent = 0;
    link->resolving_ms = now_ms;
    link->connect_until_ms =
        hf__clock_after(now_ms, link->node->fleet->connect_ms);
    link->until_ms = link->connect_until_ms;
    try_to_connect(link);
}

/* Judge the login's answers that are there. */
static void read_login(hf__link *link)
{
    hf__resp_result parsed;
    hf_status status;

    while (link->state == HF__LINK_LOGIN && hf__buf_size(&link->in) > 0) {
        parsed = hf__resp_feed(&link->resp, &link->in);
        if (parsed == HF__RESP_MORE)
            return;
        if (parsed == HF__RESP_DONE)
            status = hf__login_answer(&link->login, &link->reply, &link->error);
        else if (parsed == HF__RESP_NO_MEMORY)
            status = hf__fail(&link->error, HF_NO_MEMORY, "out of memory");
        else
            status = hf__fail(&link->error, HF_CORRUPT,
                              "%s sent what is not a RESP reply", link->peer);
        hf__arena_free(&link->arena);
        if (status != HF_OK) {
            hf__link_drop(link);
            return;
        }
        hf__resp_begin(&link->resp, &link->arena, &link->reply);
        if (hf__login_done(&link->login)) {
            link->state = HF__LINK_UP;
            hf__redis_node_learn(link->node, &link->login.traits);
            hf__patience_learn(link->node,
                               hf__clock_boot_ms() - link->login_ms);
            link->ops->up(link);
        }
    }
}

static void take_input(hf__link *link)
{
    if (link->state == HF__LINK_LOGIN)
        read_login(link);
    if (link->state != HF__LINK_UP || hf__buf_size(&link->in) == 0)
        return;
    link->ops->input(link);
    /* An answer that made the owner give up does not count: a server that
     * refuses each time must not be asked again without a pause. */
    if (link->state == HF__LINK_UP)
        link->delay_ms = 0;
}

/* true: there may be more. */
static bool read_once(hf__link *link)
{
    unsigned char *room = hf__buf_reserve(&link->in, READ_SIZE);
    ssize_t got;

    if (room == NULL) {
        hf__fail(&link->error, HF_NO_MEMORY, "out of memory");
        hf__link_drop(link);
        return false;
    }
    got = hf__channel_recv(&link->channel, room, READ_SIZE, false);
    if (got > 0) {
        hf__buf_added(&link->in, (size_t)got);
        link->alive_ms = hf__clock_boot_ms();
        take_input(link);
        /* TLS gives a record at a time, and may keep the next by itself. */
        return got == READ_SIZE || link->channel.secure != NULL;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got < 0) {
        drop_errno(link, errno, "cannot read from");
        return false;
    }
    hf__fail(&link->error, HF_UNAVAILABLE, "%s closed the connection",
             link->peer);
    hf__link_drop(link);
    return false;
}

static void on_ready(hf__link *link, bool writable)
{
    uint32_t sockets = link->sockets;
    int reads = 0;

    while (reads++ < READS_MAX && read_once(link) && link->sockets == sockets)
        continue;
    if (link->sockets != sockets || link->channel.fd < 0)
        return;
    link->unread = reads > READS_MAX && hf__channel_has_pending(&link->channel);
    if (!writable) {
        if (link->channel.read_wants == POLLOUT)
            want_more(link, hf__buf_size(&link->out) > 0);
        return;
    }
    link->alive_ms = hf__clock_boot_ms();
    hf__link_flush(link);
    if (link->sockets == sockets && link->state == HF__LINK_UP &&
        hf__buf_size(&link->out) == 0)
        link->ops->drained(link);
}

static void on_poll(hf__poll *poll, int events)
{
    hf__link *link = poll->user;
    int rc;

    if ((events & HF__POLL_ERROR) != 0)
        link->poll_events = 0;
    if (link->state == HF__LINK_CONNECTING) {
        rc = hf__socket_connected(link->channel.fd);
        if (rc == 0)
            begin_handshake(link);
        else
            connect_failed(link, rc);
    } else if (link->state == HF__LINK_HANDSHAKE) {
        shake_hands(link);
    } else {
        on_ready(link, (events & HF__POLL_OUT) != 0);
    }
    hf__link_update(link);
}

static void on_timer(hf__tick *timer)
{
    hf__link *link = timer->user;

    link->timer_ms = INT64_MAX;
    if (link->unread)
        on_ready(link, false);
    hf__link_update(link);
}

/* A timer that rings too early does no harm, so it is only ever moved
 * forward. */
static void set_timer(hf__link *link, int64_t at_ms)
{
    if (at_ms >= link->timer_ms)
        return;
    link->timer_ms = at_ms;
    hf__tick_set(poller_of(link), &link->timer, at_ms);
}

static bool is_starting(const hf__link *link)
{
    return link->state == HF__LINK_RESOLVING ||
           link->state == HF__LINK_CONNECTING ||
           link->state == HF__LINK_HANDSHAKE || link->state == HF__LINK_LOGIN;
}

static void check_until(hf__link *link, int64_t now_ms)
{
    if (!is_starting(link) || now_ms < link->until_ms)
        return;
    if (link->state == HF__LINK_CONNECTING) {
        connect_failed(link, ETIMEDOUT);
        return;
    }
    if (link->state == HF__LINK_RESOLVING)
        hf__fail(&link->error, HF_UNAVAILABLE,
                 "the address of %s was not found in time", link->peer);
    else if (link->state == HF__LINK_HANDSHAKE)
        hf__channel_late(&link->channel, &link->error, link->peer);
    else
        hf__fail(&link->error, HF_UNAVAILABLE, "%s did not answer the login",
                 link->peer);
    hf__link_drop(link);
}

/* What the server had before its address moved is of no use. The attempt that
 * follows is immediate: it is a server that has not failed yet. */
static void check_epoch(hf__link *link)
{
    uint32_t epoch = hf__redis_node_epoch(link->node);

    if (link->epoch == epoch)
        return;
    link->epoch = epoch;
    link->delay_ms = 0;
    if (link->state != HF__LINK_DOWN) {
        hf__fail(&link->error, HF_UNAVAILABLE,
                 "%s was left: the server has moved", link->peer);
        hf__link_drop(link);
    }
    link->retry_ms = 0;
}

void hf__link_update(hf__link *link)
{
    int64_t now_ms = hf__clock_boot_ms();
    int64_t next_ms;

    if (link->state == HF__LINK_CLOSED)
        return;
    check_epoch(link);
    check_until(link, now_ms);
    next_ms = link->ops->tick(link, now_ms);
    if (link->state == HF__LINK_DOWN && now_ms >= link->retry_ms &&
        link->ops->wanted(link))
        start(link, now_ms);
    else if (link->state == HF__LINK_RESOLVING)
        try_to_connect(link);
    if (link->state == HF__LINK_RESOLVING)
        next_ms = hf__at_most(
            next_ms,
            now_ms + hf__resolver_pause_ms(link->resolving_ms, now_ms));
    if (link->state == HF__LINK_DOWN && link->retry_ms < next_ms &&
        link->ops->wanted(link))
        next_ms = link->retry_ms;
    if (is_starting(link) && link->until_ms < next_ms)
        next_ms = link->until_ms;
    if (link->unread)
        next_ms = now_ms;
    set_timer(link, next_ms);
}

static void run_closed(hf__task *task)
{
    hf__link *link = hf__container_of(task, hf__link, closing);

    link->closed(link);
}

void hf__link_close(hf__link *link, void (*closed)(hf__link *link))
{
    link->state = HF__LINK_CLOSED;
    close_socket(link);
    hf__tick_stop(&link->timer);
    link->closed = closed;
    link->closing.run = run_closed;
    hf__loop_post(link->node->fleet->loop, &link->closing);
}

void hf__link_abandon(hf__link *link)
{
    hf__channel_abandon(&link->channel);
}

void hf__link_done(hf__link *link)
{
    hf__buf_done(&link->in);
    hf__buf_done(&link->out);
    hf__arena_free(&link->arena);
}
