/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_changes.c - holdfast watch: a line for each change, until a signal.
 *
 * Signals come by a descriptor, so that the watches are closed properly: an
 * embedded store then stops noting changes for them.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/watch.h"
#include "lease_clock.h"
#include "output.h"

struct watching {
    struct call *call;
    struct watched_pattern *items; /* one for each pattern */
    int count;
    int64_t left; /* changes to be printed; -1: no limit */
    int code;     /* the exit code, once `done` */
    bool done;
};

struct watched_pattern {
    struct watching *all;
    hf_watch *watch;
    hf_change change;
};

static const char *name_of(hf_change_kind kind)
{
    switch (kind) {
    case HF_CHANGE_WRITTEN:
        return "written";
    case HF_CHANGE_DELETED:
        return "deleted";
    case HF_CHANGE_EXPIRED:
        return "expired";
    case HF_CHANGE_GAP:
        break;
    }
    return "gap";
}

static void print_change(const struct call *call, const hf_change *change)
{
    const hf_buffer *key = &change->key;
    struct json json;

    if (call->json) {
        json_begin(&json, stdout);
        json_text(&json, "change", name_of(change->kind));
        json_buffer(&json, "key", key);
        json_end(&json);
    } else if (change->kind == HF_CHANGE_GAP) {
        out_words("gap", hf_view(NULL, 0));
    } else {
        out_words(name_of(change->kind), hf_view(key->data, key->size));
    }
}

static void end_watching(struct watching *all, int code)
{
    all->done = true;
    all->code = code;
}

static void start_next(struct watched_pattern *item);

static void on_change(void *user, hf_status status, const hf_error *err)
{
    struct watched_pattern *item = user;
    struct watching *all = item->all;

    if (all->done)
        return;
    if (status != HF_OK) {
        end_watching(all, call_failed(all->call, status, err));
        return;
    }
    print_change(all->call, &item->change);
    if (fflush(stdout) != 0)
        end_watching(all, EXIT_SYSTEM); /* out_end() reports it */
    else if (all->left > 0 && --all->left == 0)
        end_watching(all, EXIT_YES);
    else
        start_next(item);
}

static void start_next(struct watched_pattern *item)
{
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    async.done = on_change;
    async.user = item;
    status = hf_watch_next_start(item->watch, &item->change, &async, &err);
    if (status != HF_OK)
        end_watching(item->all, call_failed(item->all->call, status, &err));
}

static int open_all(struct watching *all)
{
    struct call *call = all->call;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    for (int i = 0; i < all->count; i++) {
        struct watched_pattern *item = &all->items[i];

        item->all = all;
        item->change = (hf_change)HF_CHANGE_INIT;
        status = hf_watch_open(call->client, call_operand(call, i), NULL,
                               &item->watch, &err);
        if (status != HF_OK)
            return call_failed(call, status, &err);
    }
    return EXIT_YES;
}

/* How long to poll; -1: no limit. */
static int rest_ms(const struct call *call, int64_t began_ms)
{
    int64_t rest = began_ms + call->options->number[OPT_WAIT] - now_ms();

    if (!call->options->given[OPT_WAIT])
        return -1;
    return rest < 0 ? 0 : rest > 1000000 ? 1000000 : (int)rest;
}

/* Until all->done. */
static void print_changes(struct watching *all, int fd, int signals)
{
    struct pollfd polled[] = {{fd, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo info;
    int64_t began_ms = now_ms();

    while (!all->done) {
        hf_error err = HF_ERROR_INIT;
        int wait_ms = rest_ms(all->call, began_ms);
        int ready = poll(polled, 2, wait_ms);
        hf_status status;

        if (ready == 0 && wait_ms == 0) {
            complain("watch", "timed out");
            end_watching(all, EXIT_NO);
        } else if (polled[1].revents != 0 &&
                   read(signals, &info, sizeof(info)) == sizeof(info)) {
            end_watching(all, EXIT_SIGNAL + (int)info.ssi_signo);
        } else if (ready > 0) {
            status = hf_client_dispatch(all->call->client, NULL, &err);
            if (status != HF_OK)
                end_watching(all, call_failed(all->call, status, &err));
        }
    }
}

static int follow_changes(struct watching *all)
{
    struct call *call = all->call;
    hf_error err = HF_ERROR_INIT;
    int signals = call_end_signals(call);
    hf_status status;
    int fd;

    if (signals < 0)
        return EXIT_SYSTEM;
    all->code = open_all(all);
    status = hf_client_fd(call->client, &fd, &err);
    if (status != HF_OK && all->code == EXIT_YES)
        all->code = call_failed(call, status, &err);
    all->done = all->code != EXIT_YES;
    for (int i = 0; i < all->count && !all->done; i++)
        start_next(&all->items[i]);
    if (status == HF_OK)
        print_changes(all, fd, signals);
    all->done = true;
    for (int i = 0; i < all->count; i++)
        hf_watch_close(all->items[i].watch);
    close(signals);
    return all->code;
}

static int watch_keys(struct call *call)
{
    struct watching all = {
        .call = call, .count = call->options->operand_count, .left = -1};
    int code;

    if (call->options->given[OPT_COUNT_MAX])
        all.left = call->options->number[OPT_COUNT_MAX];
    all.items = calloc((size_t)all.count, sizeof(*all.items));
    if (all.items == NULL) {
        complain("watch", "out of memory");
        return EXIT_SYSTEM;
    }
    code = follow_changes(&all);
    /* Its calls are reported by then, and use the items. */
    hf_client_close(call->client);
    call->client = NULL;
    for (int i = 0; i < all.count; i++)
        hf_change_free(&all.items[i].change);
    free(all.items);
    return code;
}

const struct command watch_commands[] = {
    {.grammar = {.name = "watch",
                 .accepts = OPTIONS_COMMON | OPTION(COUNT_MAX) | OPTION(WAIT),
                 .operands_min = 1,
                 .operands_max = -1,
                 .operands = "PATTERN..."},
     .run = watch_keys},
    COMMAND_END,
};
