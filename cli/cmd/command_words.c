/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_words.c - holdfast command WORD...
 *
 * One that waits for an element is started, so that a signal can end its wait:
 * an element that came before is printed. If the store does not answer then, a
 * second signal ends the program.
 */
#include "cmd.h"

#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/command.h"

/* The words, and `last` if its data is not NULL; NULL: out of memory. */
static hf_bytes *list_words(const struct options *options, hf_bytes last)
{
    size_t count = (size_t)options->tail_count;
    hf_bytes *words = calloc(count + 1, sizeof(*words));

    if (words == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        words[i] = hf_str(options->tail[i]);
    words[count] = last;
    return words;
}

/* The store's own words on stderr: redis-cli's "(error)". */
static int print_error(struct call *call, hf_status status,
                       const hf_reply *reply, const hf_error *err)
{
    const char *what = call->command->grammar.name;

    if (hf_reply_type(reply) != HF_REPLY_ERROR)
        return call_failed(call, status, err);
    if (call->json)
        call_print_reply(call, reply);
    complain(what, "%s", (const char *)hf_reply_bytes(reply).data);
    return exit_code_of(status);
}

struct pending_words {
    hf_status status;
    hf_error err;
    bool done;
};

static void on_done(void *user, hf_status status, const hf_error *err)
{
    struct pending_words *self = user;

    self->status = status;
    if (err != NULL)
        self->err = *err;
    self->done = true;
}

static bool may_wait(const char *name)
{
    static const char *const waiting[] = {
        "BLMOVE", "BLMPOP",   "BLPOP",    "BRPOP", "BRPOPLPUSH",
        "BZMPOP", "BZPOPMAX", "BZPOPMIN", "XREAD", "XREADGROUP"};

    for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
        if (strcasecmp(name, waiting[i]) == 0)
            return true;
    }
    return false;
}

/* Without closing the client, which would wait for the store. */
static _Noreturn void leave_at_once(struct call *call, int signal)
{
    complain(call->command->grammar.name,
             "ended by signal %d; the outcome is unknown", signal);
    _exit(EXIT_SIGNAL + signal);
}

/* Until it is done; returns the signal that cancelled it, or 0. */
static int await_words(struct call *call, const struct pending_words *self,
                       hf_call *pending, int fd, int signals)
{
    struct pollfd polled[] = {{fd, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo info;
    int signal = 0;

    while (!self->done) {
        (void)poll(polled, 2, -1);
        if (polled[1].revents != 0 &&
            read(signals, &info, sizeof(info)) == sizeof(info)) {
            if (signal != 0)
                leave_at_once(call, (int)info.ssi_signo);
            signal = (int)info.ssi_signo;
            hf_call_cancel(pending);
        }
        (void)!hf_client_dispatch(call->client, NULL, NULL);
    }
    return signal;
}

/* As hf_command(). *signal: what cancelled it, or 0. */
static hf_status wait_words(struct call *call, size_t count,
                            const hf_bytes *words, hf_reply **reply,
                            int *signal, hf_error *err)
{
    struct pending_words self = {.err = HF_ERROR_INIT};
    hf_async async = HF_ASYNC_INIT;
    hf_call *pending = NULL;
    int signals = call_end_signals(call);
    hf_status status;
    int fd;

    if (signals < 0)
        return HF_SYSTEM;
    async.done = on_done;
    async.user = &self;
    async.call = &pending;
    status = hf_client_fd(call->client, &fd, err);
    if (status == HF_OK)
        status =
            hf_command_start(call->client, count, words, reply, &async, err);
    if (status == HF_OK) {
        *signal = await_words(call, &self, pending, fd, signals);
        status = self.status;
        *err = self.err;
    }
    close(signals);
    return status;
}

static int run_words(struct call *call, hf_bytes last)
{
    const struct options *options = call->options;
    size_t count = (size_t)options->tail_count + (last.data != NULL);
    hf_bytes *words = list_words(options, last);
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    hf_status status = HF_NO_MEMORY;
    int code = EXIT_YES;
    int signal = 0;

    if (words != NULL && may_wait(options->tail[0]))
        status = wait_words(call, count, words, &reply, &signal, &err);
    else if (words != NULL)
        status = hf_command(call->client, count, words, &reply, &err);
    if (status == HF_OK)
        call_print_reply(call, reply);
    else if (signal != 0 && status == HF_CANCELLED)
        code = EXIT_SIGNAL + signal;
    else
        code = print_error(call, status, reply, &err);
    hf_reply_free(reply);
    free(words);
    return code;
}

static int run_command(struct call *call)
{
    hf_buffer input = HF_BUFFER_INIT;
    int code;

    if (call->options->tail_count == 0)
        return call_usage(call, "missing argument WORD");
    if (!call->options->given[OPT_STDIN])
        return run_words(call, hf_view(NULL, 0));
    code = call_read_stdin(call, HF_VALUE_MAX, &input);
    if (code == EXIT_YES)
        code = run_words(call, hf_view(input.data, input.size));
    free(input.data);
    return code;
}

const struct command command_commands[] = {
    {.grammar = {.name = "command",
                 .accepts = OPTIONS_WRITE | OPTION(STDIN) | OPTION(RAW) |
                            OPTION(NO_RAW) | OPTION(BUDGET),
                 .tail = TAIL_COMMAND,
                 .operands = "WORD..."},
     .run = run_command},
    COMMAND_END,
};
