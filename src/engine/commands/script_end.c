/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_end.c - see script_end.h.
 */
#include "engine/commands/script_end.h"

#include <stdio.h>

#include "engine/commands/command_row.h"
#include "util/error.h"

#define RUNS_SIZE 64

void hf__script_fail(hf__tx *tx, hf__request *request, const char *text)
{
    hf__command_fail(tx->env, text, true, &request->error);
    if (request->script->undoes)
        (void)hf__script_undo(tx, request->error.status,
                              request->error.message);
    else
        hf__request_error(request, hf_str(text));
}

hf_status hf__script_undo(hf__tx *tx, hf_status status, const char *text)
{
    if (tx->fatal == HF_OK)
        tx->fatal = hf__fail(&tx->error, status, "%s", text);
    return tx->fatal;
}

/* Where the budget went, if the script had to run again. */
static const char *say_runs(const hf__request *request, char text[RUNS_SIZE])
{
    text[0] = '\0';
    if (request->tries.count > 0)
        (void)snprintf(text, RUNS_SIZE,
                       ", in %u runs, as the store had to grow",
                       request->tries.count + 1);
    return text;
}

/* A request that mostly waited, for the writer lock or a processor, may be
 * tried again. */
static hf_status undo_late(hf__tx *tx, const hf__request *request,
                           int64_t used_ms, int64_t budget_ms)
{
    char runs[RUNS_SIZE];
    char text[240];

    if (used_ms < budget_ms / 2)
        return hf__script_undo(tx, HF_UNAVAILABLE,
                               "the script did not end by the request's "
                               "deadline; nothing was written");
    (void)snprintf(text, sizeof(text),
                   "the script was stopped at the request's deadline "
                   "(request_ms) after %lld ms of processor time%s; nothing "
                   "was written",
                   (long long)used_ms, say_runs(request, runs));
    return hf__script_undo(tx, HF_SCRIPT, text);
}

hf_status hf__script_undo_time(hf__tx *tx, const hf__request *request,
                               const hf__script_time *time)
{
    int64_t budget_ms = time->budget_us / 1000;
    char runs[RUNS_SIZE];
    char text[240];

    if (time->late)
        return undo_late(tx, request, hf__script_time_used_us(time) / 1000,
                         budget_ms);
    (void)snprintf(text, sizeof(text),
                   "the script was stopped after its budget of %lld ms "
                   "(script_budget_ms)%s; nothing was written",
                   (long long)budget_ms, say_runs(request, runs));
    return hf__script_undo(tx, HF_SCRIPT, text);
}

hf_status hf__script_undo_memory(hf__tx *tx, size_t limit_size)
{
    char text[120];

    (void)snprintf(text, sizeof(text),
                   "the script was stopped at its limit of %zu MiB of "
                   "memory; nothing was written",
                   limit_size >> 20);
    return hf__script_undo(tx, HF_SCRIPT, text);
}

void hf__script_note_try(hf__tx *tx, hf__request *request, int64_t used_us)
{
    hf__script_tries *tries = &request->tries;

    tx->script_us += used_us - tries->used_us;
    tries->used_us = used_us;
    tries->count++;
}

/* -------------------------------------------------------------------- time */

void hf__script_time_begin(hf__script_time *time, int64_t budget_ms)
{
    time->budget_us = budget_ms * 1000;
    time->began_us = hf__clock_thread_us();
    time->check_us = hf__clock_boot_us() + time->budget_us;
    time->deadline_us = INT64_MAX;
}

void hf__script_time_join(hf__script_time *time, const hf__request *request)
{
    time->began_us -= request->tries.used_us;
    time->check_us -= request->tries.used_us;
    /* INT64_MAX: already past. */
    if (request->deadline_ms < INT64_MAX / 1000)
        time->deadline_us = request->deadline_ms * 1000;
}

/* Processor time needs a system call: read only when enough time has passed to
 * use up the budget. */
bool hf__script_time_is_up(hf__script_time *time)
{
    int64_t now_us = hf__clock_boot_us();
    int64_t used_us;

    time->late = now_us >= time->deadline_us;
    if (time->late)
        return true;
    if (now_us < time->check_us)
        return false;
    used_us = hf__script_time_used_us(time);
    time->check_us = now_us + time->budget_us - used_us;
    return used_us >= time->budget_us;
}
