/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.c - see keeper.h: the process. */
#include "cmd/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "holdfast/semaphore.h"
#include "lease_clock.h"

/* How long one client may take to say what it wants. */
#define CLIENT_S 1

/* How often we look at the shell where the kernel has no pidfd. */
#define LOOK_MS 500

/* Where descriptors are put before all others are closed. */
enum { FD_PARENT = 3, FD_SHELL = 4, FD_OTHERS = 5, FD_AWAY = 10 };

struct keeper {
    const struct keeper_plan *plan;
    hf_client *client;
    hf_lock *lock;
    int parent; /* -1: it has ended */
    int shell;  /* -1: the kernel has no pidfd */
    int signals;
    int listener;
    int lost_fd;
    bool done; /* the acquire has ended, with `status` */
    hf_status status;
    hf_error err;
    char id[KEEPER_ID_DIGITS + 1];
};

/* ------------------------------------------------------------------ process */

/* The caller's descriptors would keep its pipes open. */
static void keep_only(int *parent, int *shell)
{
    int null = open("/dev/null", O_RDWR);
    int away[2] = {fcntl(*parent, F_DUPFD, FD_AWAY), -1};

    if (*shell >= 0)
        away[1] = fcntl(*shell, F_DUPFD, FD_AWAY);
    for (int fd = 0; fd < 3; fd++) {
        if (dup2(null, fd) < 0)
            close(fd);
    }
    dup2(away[0], FD_PARENT);
    *parent = FD_PARENT;
    if (away[1] >= 0)
        dup2(away[1], FD_SHELL);
    else
        close(FD_SHELL);
    *shell = away[1] >= 0 ? FD_SHELL : -1;
    if (syscall(SYS_close_range, (unsigned)FD_OTHERS, UINT_MAX, 0U) != 0) {
        int limit = (int)sysconf(_SC_OPEN_MAX);

        for (int fd = FD_OTHERS; fd < limit; fd++)
            close(fd);
    }
}

static int open_signals(void)
{
    sigset_t ends, blocked;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    blocked = ends;
    sigaddset(&blocked, SIGHUP);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool shell_has_ended(const struct keeper *self)
{
    struct pollfd ended = {self->shell, POLLIN, 0};

    if (self->shell >= 0)
        return poll(&ended, 1, 0) == 1;
    return kill(self->plan->shell, 0) != 0 && errno == ESRCH;
}

static bool is_asked_to_end(const struct keeper *self)
{
    struct pollfd asked = {self->signals, POLLIN, 0};

    return poll(&asked, 1, 0) == 1;
}

static void signal_shell(const struct keeper *self)
{
    if (self->plan->signal == 0)
        return;
    if (self->shell >= 0)
        (void)syscall(SYS_pidfd_send_signal, self->shell, self->plan->signal,
                      NULL, 0U);
    else
        (void)kill(self->plan->shell, self->plan->signal);
}

/* ------------------------------------------------------------------ replies */

static void fill_reply(const struct keeper *self, hf_status status,
                       const hf_error *err, struct keeper_reply *reply)
{
    memset(reply, 0, sizeof(*reply));
    reply->status = status;
    reply->err = *err;
    (void)snprintf(reply->name, sizeof(reply->name), "%s", self->plan->name);
    if (self->lock == NULL)
        return;
    reply->held = hf_lock_is_held(self->lock);
    reply->token = hf_lock_token(self->lock);
    reply->remaining_ms = hf_lock_remaining_ms(self->lock);
}

static bool send_reply(int fd, const struct keeper_reply *reply)
{
    return send(fd, reply, sizeof(*reply), MSG_NOSIGNAL) ==
           (ssize_t)sizeof(*reply);
}

/* ------------------------------------------------------------------ acquire */

static void on_acquired(void *user, hf_status status, const hf_error *err)
{
    struct keeper *self = user;

    self->done = true;
    self->status = status;
    if (status != HF_OK)
        self->err = *err;
    if (status == HF_WRONG_TYPE)
        holder_name_type(&self->lock, 1, &self->err);
}

/* Is there no one left to acquire it for? */
static bool is_pointless(const struct keeper *self)
{
    struct pollfd parent = {self->parent, POLLIN, 0};

    return poll(&parent, 1, 0) == 1 || shell_has_ended(self) ||
           is_asked_to_end(self);
}

/* The parent has the terminal. */
static void say_holder(const struct keeper *self)
{
    hf_error none = HF_ERROR_INIT;
    struct keeper_reply reply;

    fill_reply(self, HF_TIMEOUT, &none, &reply);
    reply.waits = true;
    holder_find(self->client, hf_str(self->plan->name), reply.holder);
    if (reply.holder[0] != '\0')
        (void)!send_reply(self->parent, &reply);
}

/* Until the next look at the shell, or until the holder is said. */
static int ms_to_wait(const struct keeper *self, int64_t began_ms, size_t said)
{
    int look_ms = self->shell >= 0 ? -1 : LOOK_MS;
    int say_ms =
        self->plan->says_holder ? holder_ms_to_say(began_ms, said) : -1;

    if (look_ms < 0 || say_ms < 0)
        return look_ms < 0 ? say_ms : look_ms;
    return look_ms < say_ms ? look_ms : say_ms;
}

static hf_status await_acquire(struct keeper *self, hf_call *call)
{
    struct pollfd watched[] = {{-1, POLLIN, 0},
                               {self->parent, POLLIN, 0},
                               {self->shell, POLLIN, 0},
                               {self->signals, POLLIN, 0}};
    hf_status status = hf_client_fd(self->client, &watched[0].fd, &self->err);
    int64_t began_ms = now_ms();
    nfds_t count = 4;
    size_t said = 0;

    while (status == HF_OK && !self->done) {
        (void)poll(watched, count, ms_to_wait(self, began_ms, said));
        if (self->plan->says_holder && holder_ms_to_say(began_ms, said) == 0) {
            say_holder(self);
            said++;
        }
        if (count > 1 && is_pointless(self)) {
            hf_call_cancel(call);
            count = 1;
        }
        status = hf_client_dispatch(self->client, NULL, &self->err);
    }
    return status;
}

static hf_status make_lock(struct keeper *self)
{
    const struct keeper_plan *plan = self->plan;
    hf_bytes name = hf_str(plan->name);

    if (plan->permits > 0)
        return hf_semaphore_new(self->client, name, plan->permits,
                                &plan->options, &self->lock, &self->err);
    return hf_lock_new(self->client, name, &plan->options, &self->lock,
                       &self->err);
}

static hf_status start_acquire(struct keeper *self)
{
    hf_async async = HF_ASYNC_INIT;
    hf_call *call = NULL;
    hf_status status = call_open(self->plan->call, &self->client, &self->err);

    (void)!chdir("/"); /* do not prevent an unmount */
    async.done = on_acquired;
    async.user = self;
    async.call = &call;
    if (status == HF_OK)
        status = make_lock(self);
    if (status == HF_OK)
        status = hf_lock_lost_fd(self->lock, &self->lost_fd, &self->err);
    if (status == HF_OK)
        status = hf_lock_acquire_start(self->lock, self->plan->wait_ms, &async,
                                       &self->err);
    if (status == HF_OK)
        status = await_acquire(self, call);
    return status == HF_OK ? self->status : status;
}

/* ------------------------------------------------------------------- socket */

socklen_t keeper_address(const char *id, struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    /* It begins with a NUL: an abstract one. */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)snprintf(address->sun_path + 1,
                                        sizeof(address->sun_path) - 1,
                                        "holdfast-keeper-%s", id));
}

bool keeper_is_peer(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static hf_status listen_here(struct keeper *self)
{
    unsigned char random[KEEPER_ID_DIGITS / 2];
    struct sockaddr_un address;
    socklen_t size;

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return HF_SYSTEM;
    for (size_t i = 0; i < sizeof(random); i++)
        (void)snprintf(self->id + 2 * i, 3, "%02x", random[i]);
    size = keeper_address(self->id, &address);
    self->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (self->listener < 0 ||
        bind(self->listener, (struct sockaddr *)&address, size) != 0 ||
        listen(self->listener, 16) != 0)
        return HF_SYSTEM;
    return HF_OK;
}

/* ------------------------------------------------------------------ keeping */

/* What was lost by --max-hold can still be released at the store. */
static hf_status release_lock(struct keeper *self)
{
    bool held = hf_lock_is_held(self->lock);
    hf_status status = hf_lock_release(self->lock, &self->err);

    if (status != HF_OK || held)
        return status;
    (void)snprintf(self->err.message, sizeof(self->err.message),
                   "it was not valid any more");
    return HF_EXPIRED;
}

static hf_status obey_order(struct keeper *self, char order)
{
    self->err = (hf_error)HF_ERROR_INIT;
    return order == KEEPER_RELEASE ? release_lock(self)
                                   : hf_lock_renew(self->lock, &self->err);
}

/* Serve one client; true: the lock was released. */
static bool serve_client(struct keeper *self)
{
    struct timeval limit = {CLIENT_S, 0};
    struct keeper_reply reply;
    char order = 0;
    int fd = accept4(self->listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (keeper_is_peer(fd) && recv(fd, &order, 1, 0) == 1 &&
        (order == KEEPER_RENEW || order == KEEPER_RELEASE)) {
        fill_reply(self, obey_order(self, order), &self->err, &reply);
        (void)send_reply(fd, &reply);
    }
    close(fd);
    return order == KEEPER_RELEASE;
}

static void keep_lock(struct keeper *self)
{
    struct pollfd watched[] = {{self->shell, POLLIN, 0},
                               {self->signals, POLLIN, 0},
                               {self->listener, POLLIN, 0},
                               {self->lost_fd, POLLIN, 0}};

    for (;;) {
        (void)poll(watched, 4, self->shell >= 0 ? -1 : LOOK_MS);
        if (shell_has_ended(self) || is_asked_to_end(self))
            return;
        if ((watched[3].revents & POLLIN) != 0) {
            watched[3].fd = -1; /* we stay, to say so to the shell */
            signal_shell(self);
        }
        if ((watched[2].revents & POLLIN) != 0 && serve_client(self))
            return;
    }
}

/* The parent has printed the handle. */
static bool may_stay(const struct keeper *self)
{
    char order = 0;

    return recv(self->parent, &order, 1, 0) == 1 && order == KEEPER_GO;
}

static void report_and_keep(struct keeper *self)
{
    struct keeper_reply reply;
    hf_status status = start_acquire(self);

    if (status == HF_OK) {
        status = listen_here(self);
        if (status != HF_OK)
            (void)snprintf(self->err.message, sizeof(self->err.message),
                           "cannot open a socket: %s", strerror(errno));
    }
    fill_reply(self, status, &self->err, &reply);
    (void)snprintf(reply.handle, sizeof(reply.handle), "%llu:k1:%s",
                   (unsigned long long)reply.token, self->id);
    if (status == HF_TIMEOUT)
        holder_find(self->client, hf_str(self->plan->name), reply.holder);
    if (!send_reply(self->parent, &reply) || status != HF_OK || !may_stay(self))
        return;
    close(self->parent);
    keep_lock(self);
}

_Noreturn void keeper_run(const struct keeper_plan *plan, int fd)
{
    struct keeper self = {.plan = plan,
                          .parent = fd,
                          .shell = plan->shell_fd,
                          .listener = -1,
                          .err = HF_ERROR_INIT};

    setsid();
    prctl(PR_SET_NAME, "hf-keeper");
    keep_only(&self.parent, &self.shell);
    self.signals = open_signals();
    report_and_keep(&self);
    hf_lock_free(self.lock); /* releases it */
    hf_client_close(self.client);
    _exit(0);
}
