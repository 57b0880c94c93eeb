/* SPDX-License-Identifier: Apache-2.0 */
/* lock_keep.c - holdfast lock acquire|renew|release: see keeper.h. */
#include "cmd/lock_keep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/keeper.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/lock.h"
#include "output.h"
#include "read_number.h"

#define TTL_DEFAULT_MS INT64_C(30000)

/* A keeper answers after one request to the store. */
#define ANSWER_S 20

/* ------------------------------------------------------------------ acquire */

/* NULL: 0. -1: no such signal. */
static int signal_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},
                 {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};

    if (name == NULL)
        return 0;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) == 0)
            return known[i].number;
    }
    return -1;
}

static int plan_shell(struct keeper_plan *plan)
{
    const struct options *options = plan->call->options;

    plan->shell_fd = -1;
    if (!options->given[OPT_KEEP_PID]) {
        plan->shell = shell_find(&plan->shell_fd);
        return plan->shell != 0
                   ? EXIT_YES
                   : call_usage(plan->call,
                                "cannot tell which process is the shell; give "
                                "--keep-pid $$");
    }
    plan->shell = (pid_t)options->number[OPT_KEEP_PID];
    plan->shell_fd = (int)syscall(SYS_pidfd_open, plan->shell, 0U);
    if (kill(plan->shell, 0) == 0 || errno == EPERM)
        return EXIT_YES;
    complain("lock acquire", "no process %d", (int)plan->shell);
    return EXIT_USAGE;
}

static int make_plan(struct keeper_plan *plan, const struct call *call)
{
    const struct options *options = call->options;
    const int64_t *number = options->number;

    plan->call = call;
    plan->name = options->operands[0];
    plan->options = (hf_lock_options)HF_LOCK_OPTIONS_INIT;
    plan->options.ttl_ms =
        options->given[OPT_LEASE] ? number[OPT_LEASE] : TTL_DEFAULT_MS;
    plan->options.max_hold_ms = number[OPT_MAX_HOLD];
    plan->permits = number[OPT_PERMITS];
    plan->wait_ms = options->given[OPT_NONBLOCK] ? 0 : HF_FOREVER;
    if (options->given[OPT_WAIT])
        plan->wait_ms = number[OPT_WAIT];
    plan->says_holder = plan->wait_ms > 0 && call_says_waits(call);
    plan->signal = signal_of(options->text[OPT_SIGNAL]);
    if (plan->signal < 0)
        return call_usage(
            call, "--signal is one of HUP, INT, QUIT, TERM, USR1, USR2");
    return plan_shell(plan);
}

/* The lock's holder is described by the shell, unless the user says. */
static void describe_by_shell(struct call *call, pid_t shell)
{
    static char text[HF_HOLDER_TEXT_SIZE];
    char path[32];
    FILE *file;

    if (getenv("HOLDFAST_DESCRIPTION") != NULL)
        return;
    (void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)shell);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(text, sizeof(text), file) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        call->description = text;
    }
    fclose(file);
}

/* Fork the keeper; our end of the pair of sockets, or -1. */
static int start_keeper(const struct keeper_plan *plan)
{
    int pair[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        complain("lock acquire", "socketpair: %s", strerror(errno));
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        keeper_run(plan, pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        complain("lock acquire", "fork: %s", strerror(errno));
        close(pair[0]);
        return -1;
    }
    return pair[0];
}

static void print_reply(const struct call *call,
                        const struct keeper_reply *reply)
{
    struct json json;

    if (!call->json)
        return;
    json_begin(&json, stdout);
    json_text(&json, "name", reply->name);
    if (reply->handle[0] != '\0')
        json_text(&json, "handle", reply->handle);
    json_integer(&json, "token", (int64_t)reply->token);
    json_bool(&json, "held", reply->held);
    json_integer(&json, "remaining_ms", reply->remaining_ms);
    json_end(&json);
}

static int report_refusal(const struct call *call,
                          const struct keeper_reply *reply)
{
    if (reply->status != HF_TIMEOUT)
        return call_failed(call, reply->status, &reply->err);
    complain_of(reply->status);
    if (!call->options->given[OPT_QUIET])
        complain("lock acquire", "lock \"%s\" is %s", reply->name,
                 reply->holder[0] != '\0' ? reply->holder
                                          : "held by another owner");
    return call->options->given[OPT_CONFLICT_CODE]
               ? (int)call->options->number[OPT_CONFLICT_CODE]
               : EXIT_NO;
}

/* Print the handle; only then may the keeper stay. */
static int print_handle(const struct call *call, int fd,
                        const struct keeper_reply *reply)
{
    char go = KEEPER_GO;

    print_reply(call, reply);
    if (!call->json)
        puts(reply->handle);
    if (fflush(stdout) != 0)
        return EXIT_SYSTEM; /* out_end() reports it */
    if (send(fd, &go, 1, MSG_NOSIGNAL) == 1)
        return EXIT_YES;
    complain("lock acquire", "the keeper has ended");
    return EXIT_LOST;
}

int lock_acquire(struct call *call)
{
    struct keeper_plan plan;
    struct keeper_reply reply;
    int code = make_plan(&plan, call);
    ssize_t got;
    int fd;

    if (code != EXIT_YES)
        return code;
    describe_by_shell(call, plan.shell);
    fd = start_keeper(&plan);
    if (fd < 0)
        return EXIT_SYSTEM;
    do {
        got = recv(fd, &reply, sizeof(reply), 0);
        if (got == (ssize_t)sizeof(reply) && reply.waits)
            notice("lock acquire", "waiting for lock \"%s\": %s", reply.name,
                   reply.holder);
    } while ((got < 0 && errno == EINTR) ||
             (got == (ssize_t)sizeof(reply) && reply.waits));
    if (got != (ssize_t)sizeof(reply)) {
        complain("lock acquire", "the keeper has ended");
        code = EXIT_SYSTEM;
    } else if (reply.status != HF_OK) {
        code = report_refusal(call, &reply);
    } else {
        code = print_handle(call, fd, &reply);
    }
    close(fd);
    return code;
}

/* --------------------------------------------------------- renew and release
 */

/* The id in a handle; NULL: it is none. */
static const char *id_of(const char *handle)
{
    size_t digits = strspn(handle, "0123456789");
    const char *id = handle + digits + 4;

    return digits > 0 && strncmp(handle + digits, ":k1:", 4) == 0 &&
                   strspn(id, "0123456789abcdef") == KEEPER_ID_DIGITS &&
                   id[KEEPER_ID_DIGITS] == '\0'
               ? id
               : NULL;
}

/* false: there is no keeper. */
static bool ask_keeper(const char *id, char order, struct keeper_reply *reply)
{
    struct timeval limit = {ANSWER_S, 0};
    struct sockaddr_un address;
    socklen_t size = keeper_address(id, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool done;

    done =
        fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        connect(fd, (struct sockaddr *)&address, size) == 0 &&
        keeper_is_peer(fd) && send(fd, &order, 1, MSG_NOSIGNAL) == 1 &&
        recv(fd, reply, sizeof(*reply), 0) == (ssize_t)sizeof(*reply);
    if (fd >= 0)
        close(fd);
    return done;
}

static int order_keeper(const struct call *call, char order)
{
    const char *command = call->command->grammar.name;
    const char *id = id_of(call->options->operands[0]);
    struct keeper_reply reply;

    if (id == NULL)
        return call_usage(call, "invalid handle: pass what `holdfast lock "
                                "acquire` printed");
    if (!ask_keeper(id, order, &reply)) {
        complain(command, "the lock is not held: it was released, or its "
                          "keeper has ended");
        return EXIT_LOST;
    }
    print_reply(call, &reply);
    if (reply.status == HF_OK)
        return EXIT_YES;
    if (reply.status == HF_LOST || reply.status == HF_EXPIRED ||
        reply.status == HF_TIMEOUT || reply.status == HF_INVALID) {
        complain(command, "lock \"%s\" lost: %s", reply.name,
                 reply.err.message);
        return EXIT_LOST;
    }
    return call_failed(call, reply.status, &reply.err);
}

int lock_renew(struct call *call)
{
    return order_keeper(call, KEEPER_RENEW);
}

int lock_release(struct call *call)
{
    return order_keeper(call, KEEPER_RELEASE);
}
