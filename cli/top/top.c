/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - holdfast top: the locks of a store, as a table or as JSON. A program
 * of its own, see programs.h.
 */
#include <locale.h>
#include <stdio.h>
#include <time.h>

#include "cmd.h"
#include "commands.h"
#include "complain.h"
#include "exit.h"
#include "json_line.h"
#include "lock_sample.h"
#include "programs.h"
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
    {.grammar = TOP_GRAMMAR, .run = run_top},
    COMMAND_END,
};

const struct noun nouns[] = {{"top", top_commands}};
const size_t noun_count = 1;
