/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - holdfast top: the locks of a store, as a table or as JSON.
 */
#include <locale.h>
#include <stdio.h>
#include <time.h>

#include "cmd.h"
#include "complain.h"
#include "exit.h"
#include "json_line.h"
#include "lock_sample.h"
#include "top/screen.h"
#include "top/shown_rows.h"
#include "top/worker.h"

static void print_sample(const struct call *call,
                         const struct lock_sample *sample)
{
    char store[LOCK_STORE_TEXT_SIZE];
    struct top_view view = {NULL, 0};
    struct json json;

    lock_sample_store(call->client, store);
    if (call->json) {
        json_begin(&json, stdout);
        json_text(&json, "store", store);
        lock_sample_json(&json, sample);
        json_end(&json);
        return;
    }
    if (top_view_fill(&view, sample,
                      (enum top_sort)call->options->number[OPT_SORT], ""))
        top_print(stdout, store, sample, &view);
    top_view_free(&view);
}

static hf_bytes pattern_of(const struct call *call)
{
    return call->options->operand_count > 0 ? call_operand(call, 0)
                                            : hf_view("", 0);
}

static int64_t interval_of(const struct call *call)
{
    return call->options->given[OPT_INTERVAL]
               ? call->options->number[OPT_INTERVAL]
               : 1000;
}

/* The next sample in place of `last`. */
static hf_status take_sample(const struct call *call, struct lock_sample **last,
                             hf_error *err)
{
    struct lock_sample *sample;
    hf_status status = lock_sample_take(call->client, pattern_of(call), *last,
                                        NULL, &sample, err);

    if (status != HF_OK)
        return status;
    lock_sample_free(*last);
    *last = sample;
    return HF_OK;
}

static void pause_for(int64_t ms)
{
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&rest, &rest) != 0)
        ;
}

/* With --once one sample, or with --interval the second of two, which has
 * rates; else one after another. */
static int print_samples(struct call *call)
{
    const struct options *options = call->options;
    bool once = options->given[OPT_ONE_SAMPLE];
    bool skip = once && options->given[OPT_INTERVAL];
    struct lock_sample *sample = NULL;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    for (;; pause_for(top_pause_ms(sample, interval_of(call)))) {
        status = take_sample(call, &sample, &err);
        if (status == HF_OK && !skip)
            print_sample(call, sample);
        if (status != HF_OK || (once && !skip) || fflush(stdout) != 0)
            break;
        skip = false;
    }
    lock_sample_free(sample);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int run_top(struct call *call)
{
    setlocale(LC_CTYPE, "");
    if (call->json || call->options->given[OPT_ONE_SAMPLE])
        return print_samples(call);
    return top_screen(call, pattern_of(call), interval_of(call),
                      (enum top_sort)call->options->number[OPT_SORT]);
}

const struct command top_commands[] = {
    {.grammar = {.name = "top",
                 .accepts = OPTIONS_COMMON | OPTION(ONE_SAMPLE) |
                            OPTION(INTERVAL) | OPTION(SORT),
                 .operands_min = 0,
                 .operands_max = 1,
                 .operands = "[PATTERN]"},
     .summary = "show the locks that are held, their holders and waiters",
     .notes = "A sample lists the locks that match PATTERN, a glob as for KEYS "
              "of Redis, as\n"
              "holdfast lock list does: locks of other libraries are not among "
              "them. It reads all\n"
              "key names of the store, then each lock, 256 at a time; more "
              "than 100000 locks are an\n"
              "error. The pause after a sample is at least four times as long "
              "as it took, up to 5 s.\n"
              "\n"
              "  HELD     since the holder asked for it, or after a wait since "
              "it was acquired;\n"
              "           > if only known to be longer\n"
              "  LEFT     of the lease; - if it does not expire\n"
              "  WAITERS  clients in the queue\n"
              "\n"
              "\"last token\" is the last fencing token of the store, in a "
              "cluster of a slot. A store does\n"
              "not say which one a holder has; below the list is what that of "
              "the selected lock is at\n"
              "most.\n"
              "\n"
              "Two samples are compared to count hand-overs, locks with "
              "another owner than in the\n"
              "sample before, and losses, owners that are gone when a lease "
              "that they had not renewed,\n"
              "less than half of it being left, could have run out. Several "
              "hand-overs between two\n"
              "samples count as one; a lock that was acquired and released "
              "between them is not seen,\n"
              "nor the loss of a lease shorter than two intervals. The end of "
              "a minimum hold counts as\n"
              "a loss. Locks with several holders are not counted.\n"
              "\n"
              "Keys:\n"
              "  Up Down PgUp PgDn Home End, or k j g G   select a lock\n"
              "  s    order: time held, waiters, name     /      only names or "
              "holders with a text;\n"
              "  p    pause, and continue                        Enter ends "
              "it, Esc removes it\n"
              "  + -  longer, shorter interval            b      break the "
              "selected lock, after a\n"
              "  q    quit                                       question that "
              "names its holder\n"
              "\n"
              "--once needs no terminal; with --interval it prints the second "
              "of two samples. --json\n"
              "prints an object for each sample; each of its \"locks\" is as "
              "by holdfast lock inspect.\n",
     .run = run_top},
    COMMAND_END,
};
