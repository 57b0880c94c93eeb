/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election_verbs.c - holdfast election inspect|observe.
 */
#include "cmd.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "exit.h"
#include "holder_text.h"
#include "holdfast/election.h"
#include "output.h"
#include "read_number.h"

static void print_json(const struct call *call, const hf_leader *leader)
{
    struct json json;

    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_integer(&json, "term", (int64_t)leader->term);
    if (leader->term != 0) {
        json_buffer(&json, "text", &leader->text);
        json_text(&json, "owner", leader->owner);
        json_integer(&json, "remaining_ms", leader->remaining_ms);
    }
    json_integer(&json, "candidates", leader->candidates);
    json_end(&json);
}

static void print_leader(struct call *call, const hf_leader *leader)
{
    char seconds[NUMBER_SECONDS_SIZE], who[HOLDER_TEXT_SIZE];
    hf_holder holder = HF_HOLDER_INIT;

    if (leader->term != 0) {
        fputs("text: ", stdout);
        out_line(hf_view(leader->text.data, leader->text.size));
        printf("term: %" PRIu64 "\nowner: %s\n", leader->term, leader->owner);
        if (hf_lock_holder(call->client, hf_str(leader->owner), &holder,
                           NULL) == HF_OK) {
            holder_name(&holder, who);
            printf("leader: %s\n", who);
        }
        number_print_seconds(leader->remaining_ms, seconds, sizeof(seconds));
        printf("expires: in %s s\n", seconds);
    }
    printf("candidates: %" PRId64 "\n", leader->candidates);
}

static int election_inspect(struct call *call)
{
    hf_leader leader = HF_LEADER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_election_inspect(call->client, call_operand(call, 0), &leader, &err);
    int code = EXIT_YES;

    if (status != HF_OK && status != HF_NOT_FOUND)
        code = call_failed(call, status, &err);
    else if (call->json)
        print_json(call, &leader);
    else if (!call->options->given[OPT_RAW])
        print_leader(call, &leader);
    else if (status == HF_OK)
        out_value(&leader.text, true);
    hf_leader_free(&leader);
    return status == HF_NOT_FOUND ? EXIT_NO : code;
}

/* ----------------------------------------------------------------- observe */

struct observing {
    struct call *call;
    hf_observer *observer;
    hf_leader leader;
    int64_t left; /* changes to be printed; -1: no limit */
    int code;     /* the exit code, once `done` */
    bool done;
};

static void end_observing(struct observing *all, int code)
{
    all->done = true;
    all->code = code;
}

/* "TERM<TAB>TEXT"; term 0 and no text: no one leads. */
static void print_change(const struct call *call, const hf_leader *leader)
{
    char term[24];

    if (call->json) {
        print_json(call, leader);
        return;
    }
    snprintf(term, sizeof(term), "%" PRIu64, leader->term);
    out_words(term, hf_view(leader->text.data, leader->text.size));
}

static void start_next(struct observing *all);

static void on_change(void *user, hf_status status, const hf_error *err)
{
    struct observing *all = user;

    if (all->done)
        return;
    if (status == HF_UNAVAILABLE) { /* it is read again */
        (void)call_failed(all->call, status, err);
        start_next(all);
        return;
    }
    if (status != HF_OK) {
        end_observing(all, call_failed(all->call, status, err));
        return;
    }
    print_change(all->call, &all->leader);
    if (fflush(stdout) != 0)
        end_observing(all, EXIT_SYSTEM); /* out_end() reports it */
    else if (all->left > 0 && --all->left == 0)
        end_observing(all, EXIT_YES);
    else
        start_next(all);
}

static void start_next(struct observing *all)
{
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    async.done = on_change;
    async.user = all;
    status = hf_observer_next_start(all->observer, &all->leader, &async, &err);
    if (status != HF_OK)
        end_observing(all, call_failed(all->call, status, &err));
}

/* Until a signal, or all->done. */
static void print_changes(struct observing *all, int fd, int signals)
{
    struct pollfd polled[] = {{fd, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo info;

    while (!all->done) {
        hf_error err = HF_ERROR_INIT;
        hf_status status;

        (void)poll(polled, 2, -1);
        if (polled[1].revents != 0 &&
            read(signals, &info, sizeof(info)) == sizeof(info)) {
            end_observing(all, EXIT_SIGNAL + (int)info.ssi_signo);
            return;
        }
        status = hf_client_dispatch(all->call->client, NULL, &err);
        if (status != HF_OK)
            end_observing(all, call_failed(all->call, status, &err));
    }
}

static int election_observe(struct call *call)
{
    static struct observing all;
    hf_error err = HF_ERROR_INIT;
    int signals = call_end_signals(call);
    int fd;
    hf_status status;

    if (signals < 0)
        return EXIT_SYSTEM;
    all = (struct observing){.call = call, .leader = HF_LEADER_INIT};
    all.left = call->options->given[OPT_COUNT_MAX]
                   ? call->options->number[OPT_COUNT_MAX]
                   : -1;
    status = hf_client_fd(call->client, &fd, &err);
    if (status == HF_OK)
        status = hf_observer_open(call->client, call_operand(call, 0),
                                  &all.observer, &err);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    start_next(&all);
    print_changes(&all, fd, signals);
    /* They complete the call that uses `all`. */
    hf_observer_close(all.observer);
    hf_client_close(call->client);
    call->client = NULL;
    hf_leader_free(&all.leader);
    close(signals);
    return all.code;
}

const struct command election_commands[] = {
    {.grammar = {.name = "election inspect",
                 .accepts = OPTIONS_COMMON | OPTION(RAW),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = election_inspect},
    {.grammar = {.name = "election observe",
                 .accepts = OPTIONS_COMMON | OPTION(COUNT_MAX),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "NAME"},
     .run = election_observe},
    COMMAND_END,
};
