/* SPDX-License-Identifier: Apache-2.0 */
/* barrier_verbs.c - holdfast barrier wait|reset. */
#include "cmd.h"

#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "holder_text.h"
#include "holdfast/barrier.h"
#include "json_line.h"
#include "lease_clock.h"

static void print_generation(const struct call *call, int64_t generation,
                             const bool *last)
{
    struct json json;

    if (!call->json) {
        printf("%lld%s\n", (long long)generation,
               last != NULL && *last != 0 ? " last" : "");
        return;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_integer(&json, "generation", generation);
    if (last != NULL)
        json_bool(&json, "last", *last);
    json_end(&json);
}

struct party_wait {
    bool done;
    hf_status status;
    hf_error err;
};

static void on_done(void *user, hf_status status, const hf_error *err)
{
    struct party_wait *self = user;

    self->done = true;
    self->status = status;
    if (status != HF_OK)
        self->err = *err;
}

/* A signal leaves the barrier, which breaks it, and is returned; else 0. */
static int await_party(const struct call *call, struct party_wait *self,
                       hf_call *pending, int fd, int signals)
{
    struct pollfd polled[] = {{fd, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo info = {0};
    int64_t began_ms = now_ms();
    size_t said = call_says_waits(call) ? 0 : SIZE_MAX;

    while (!self->done) {
        if (poll(polled, 2, holder_ms_to_say(began_ms, said)) == 0) {
            notice("barrier wait", "waiting at barrier \"%s\" for %s parties",
                   call->options->operands[0], call->options->operands[1]);
            said++;
        }
        if (polled[1].revents != 0 &&
            read(signals, &info, sizeof(info)) == sizeof(info)) {
            polled[1].fd = -1;
            hf_call_cancel(pending);
        }
        (void)!hf_client_dispatch(call->client, NULL, NULL);
    }
    return (int)info.ssi_signo;
}

static int wait_here(const struct call *call, int64_t parties, int signals)
{
    const struct options *given = call->options;
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;
    struct party_wait self = {.err = HF_ERROR_INIT};
    hf_async async = HF_ASYNC_INIT;
    hf_call *pending = NULL;
    hf_barrier_pass pass;
    hf_status status;
    int fd, signal;

    options.ttl_ms = given->number[OPT_LEASE];
    async.done = on_done;
    async.user = &self;
    async.call = &pending;
    status = hf_client_fd(call->client, &fd, &self.err);
    if (status == HF_OK)
        status = hf_barrier_wait_start(
            call->client, call_operand(call, 0), parties,
            given->given[OPT_WAIT] ? given->number[OPT_WAIT] : HF_FOREVER,
            &options, &pass, &async, &self.err);
    if (status != HF_OK)
        return call_failed(call, status, &self.err);
    signal = await_party(call, &self, pending, fd, signals);
    if (signal != 0 && self.status == HF_CANCELLED)
        return EXIT_SIGNAL + signal;
    if (self.status != HF_OK)
        return call_failed(call, self.status, &self.err);
    print_generation(call, pass.generation, &pass.last);
    return EXIT_YES;
}

static int barrier_wait(struct call *call)
{
    int64_t parties;
    int signals, code;

    if (!call_count(call, 1, "PARTIES", 1, HF_BARRIER_PARTIES_MAX, &parties))
        return EXIT_USAGE;
    signals = call_end_signals(call);
    if (signals < 0)
        return EXIT_SYSTEM;
    code = wait_here(call, parties, signals);
    close(signals);
    return code;
}

static int barrier_reset(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t generation;
    hf_status status = hf_barrier_reset(call->client, call_operand(call, 0),
                                        &generation, &err);

    if (status != HF_OK)
        return call_failed(call, status, &err);
    print_generation(call, generation, NULL);
    return EXIT_YES;
}

const struct command barrier_commands[] = {
    {.grammar = {.name = "barrier wait",
                 .accepts = OPTIONS_WRITE | OPTION(WAIT) | OPTION(LEASE) |
                            OPTION(VERBOSE) | OPTION(QUIET),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "NAME PARTIES"},
     .run = barrier_wait},
    {.grammar = {.name = "barrier reset",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = barrier_reset},
    COMMAND_END,
};
