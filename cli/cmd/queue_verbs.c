/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_verbs.c - holdfast queue put|list|inspect|pause|resume|revive|drop.
 * queue work is in run/.
 */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/queue.h"
#include "output.h"
#include "run/run.h"

#define ID_BYTES 16 /* of an id that is drawn */

static void begin_answer(const struct call *call, struct json *json)
{
    json_begin(json, stdout);
    json_bytes(json, "name", call_operand(call, 0));
}

/* ---------------------------------------------------------------------- put */

/* One that is not given is printed, so the command draws it. */
static bool draw_id(const struct call *call, char id[2 * ID_BYTES + 1])
{
    unsigned char random[ID_BYTES];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        complain(call->command->grammar.name, "getrandom: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof(random); i++)
        (void)snprintf(id + 2 * i, 3, "%02x", random[i]);
    return true;
}

static void print_put(const struct call *call, const char *id, bool drawn,
                      bool put)
{
    struct json json;

    if (!call->json) {
        if (drawn && put)
            puts(id);
        return;
    }
    begin_answer(call, &json);
    json_text(&json, "id", id);
    json_bool(&json, "put", put);
    json_end(&json);
}

static int put_payload(const struct call *call, hf_bytes payload)
{
    const struct options *given = call->options;
    hf_queue_options options = HF_QUEUE_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    const char *given_id = given->text[OPT_JOB_ID];
    char drawn[2 * ID_BYTES + 1] = "";
    hf_status status;

    if (!given->given[OPT_JOB_ID] && !draw_id(call, drawn))
        return EXIT_SYSTEM;
    if (given->given[OPT_GROUP])
        options.group = hf_str(given->text[OPT_GROUP]);
    options.delay_ms = given->number[OPT_JOB_DELAY];
    options.priority = given->number[OPT_JOB_PRIORITY];
    options.attempts = given->number[OPT_ATTEMPTS];
    options.remember_ms = given->number[OPT_REMEMBER];
    status = hf_queue_put(call->client, call_operand(call, 0),
                          hf_str(drawn[0] != '\0' ? drawn : given_id), payload,
                          &options, &err);
    if (status == HF_OK || status == HF_CONFLICT)
        print_put(call, drawn[0] != '\0' ? drawn : given_id, drawn[0] != '\0',
                  status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int queue_put(struct call *call)
{
    bool from_stdin = call->options->given[OPT_STDIN];
    hf_buffer input = HF_BUFFER_INIT;
    int code;

    if (from_stdin != (call->options->operand_count == 1))
        return call_usage(call, "specify either PAYLOAD or --stdin");
    if (!from_stdin)
        return put_payload(call, call_operand(call, 1));
    code = call_read_stdin(call, HF_QUEUE_PAYLOAD_MAX, &input);
    if (code == EXIT_YES)
        code = put_payload(call, hf_view(input.data, input.size));
    free(input.data);
    return code;
}

/* --------------------------------------------------------------------- list */

static void print_job(const hf_job *job, struct json *json)
{
    if (json == NULL) {
        out_pair(job->id, job->payload);
        return;
    }
    json_open(json, NULL, '{');
    json_bytes(json, "id", job->id);
    json_bytes(json, "payload", job->payload);
    json_bytes(json, "group", job->group);
    json_integer(json, "attempt", job->attempt);
    json_integer(json, "attempts", job->attempts);
    json_integer(json, "priority", job->priority);
    json_integer(json, "put_ms", job->put_ms);
    json_close(json, '}');
}

#define LIMIT_DEFAULT 20

/* A list ends early if its payloads are large: until it has all. */
static int queue_list(struct call *call)
{
    const struct options *given = call->options;
    hf_queue_jobs jobs = HF_QUEUE_JOBS_INIT;
    int64_t offset = given->number[OPT_OFFSET];
    int64_t left =
        given->given[OPT_LIMIT] ? given->number[OPT_LIMIT] : LIMIT_DEFAULT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    struct json json;
    size_t count;

    if (call->json) {
        begin_answer(call, &json);
        json_open(&json, "jobs", '[');
    }
    do {
        status = hf_queue_list(
            call->client, call_operand(call, 0),
            (hf_queue_state)given->number[OPT_STATE], offset,
            left < HF_QUEUE_LIST_MAX ? left : HF_QUEUE_LIST_MAX, &jobs, &err);
        for (size_t i = 0; i < jobs.count; i++)
            print_job(&jobs.jobs[i], call->json ? &json : NULL);
        count = jobs.count;
        offset += (int64_t)count;
        left -= (int64_t)count;
        hf_queue_jobs_free(&jobs);
    } while (status == HF_OK && count > 0 && left > 0);
    if (call->json) {
        json_close(&json, ']');
        return call_end_json(call, &json, status, &err);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* ------------------------------------------------------------------ inspect */

static int queue_inspect(struct call *call)
{
    hf_queue_info info = HF_QUEUE_INFO_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_queue_inspect(call->client, call_operand(call, 0), &info, &err);
    const struct {
        const char *name;
        int64_t count;
    } rows[] = {
        {"ready", info.ready},     {"taken", info.taken},
        {"delayed", info.delayed}, {"behind", info.behind},
        {"dead", info.dead},       {"remembered", info.remembered},
        {"waiters", info.waiters},
    };
    struct json json;

    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (call->json)
        begin_answer(call, &json);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (call->json)
            json_integer(&json, rows[i].name, rows[i].count);
        else
            printf("%s: %" PRId64 "\n", rows[i].name, rows[i].count);
    }
    if (call->json) {
        json_bool(&json, "paused", info.paused);
        json_end(&json);
    } else {
        printf("paused: %s\n", info.paused ? "yes" : "no");
    }
    return EXIT_YES;
}

/* ------------------------------------------------------------ pause, revive */

static int set_paused(struct call *call, bool paused)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_queue_pause(call->client, call_operand(call, 0), paused, &err);

    if (status != HF_OK)
        return call_failed(call, status, &err);
    call_print_done(call, "paused", paused);
    return EXIT_YES;
}

static int queue_pause(struct call *call)
{
    return set_paused(call, true);
}

static int queue_resume(struct call *call)
{
    return set_paused(call, false);
}

static hf_status revive_all(struct call *call, int64_t *sum, hf_error *err)
{
    int64_t moved = HF_QUEUE_LIST_MAX;
    hf_status status = HF_OK;

    while (status == HF_OK && moved == HF_QUEUE_LIST_MAX) {
        status =
            hf_queue_revive(call->client, call_operand(call, 0), hf_view("", 0),
                            HF_QUEUE_LIST_MAX, &moved, err);
        *sum += status == HF_OK ? moved : 0;
    }
    return status;
}

static int queue_revive(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    int64_t moved = 0;
    hf_status status;
    struct json json;

    if (call->options->operand_count > 1 && call_operand(call, 1).size == 0)
        return call_usage(call, "ID is empty");
    if (call->options->operand_count > 1)
        status = hf_queue_revive(call->client, call_operand(call, 0),
                                 call_operand(call, 1), 1, &moved, &err);
    else
        status = revive_all(call, &moved, &err);
    if (status != HF_OK && (status != HF_NOT_FOUND || !call->json))
        return call_failed(call, status, &err);
    if (call->json) {
        begin_answer(call, &json);
        json_integer(&json, "moved", moved);
        json_end(&json);
    } else {
        printf("%" PRId64 "\n", moved);
    }
    return moved > 0 ? EXIT_YES : EXIT_NO;
}

static int queue_drop(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_bytes id = call_operand(call, 1);
    hf_status status;

    if (id.size == 0)
        return call_usage(call, "ID is empty");
    status = hf_queue_drop(call->client, call_operand(call, 0), id, &err);
    if (status == HF_OK || status == HF_NOT_FOUND || status == HF_HELD)
        call_print_done(call, "dropped", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

#define VERB(verb, words, options, least, most)                                \
    {                                                                          \
        .grammar = {.name = "queue " #verb,                                    \
                    .accepts = (options),                                      \
                    .operands_min = (least),                                   \
                    .operands_max = (most),                                    \
                    .operands = (words)},                                      \
        .run = queue_##verb                                                    \
    }

const struct command queue_commands[] = {
    VERB(put, "NAME PAYLOAD",
         OPTIONS_WRITE | OPTION(STDIN) | OPTION(JOB_ID) | OPTION(JOB_DELAY) |
             OPTION(JOB_PRIORITY) | OPTION(ATTEMPTS) | OPTION(REMEMBER) |
             OPTION(GROUP),
         1, 2),
    {.grammar = {.name = "queue work",
                 .accepts = OPTIONS_WRITE | OPTION(NONBLOCK) | OPTION(WAIT) |
                            OPTION(SHELL) | OPTION(LEASE) | OPTION(MAX_HOLD) |
                            OPTION(ON_LOST) | OPTION(VERBOSE) | OPTION(SLOTS) |
                            OPTION(ATTEMPTS) | OPTION(BACKOFF) |
                            OPTION(BACKOFF_MAX) | OPTION(JOBS),
                 .operands_min = 1,
                 .operands_max = 1,
                 .tail = TAIL_COMMAND,
                 .operands = "NAME [--] COMMAND [ARGUMENT...]",
                 .nonblock = "end when no job is ready",
                 .wait = "end when none has come for SEC seconds"},
     .opens_store = true,
     .run = run_call},
    VERB(list, "NAME",
         OPTIONS_COMMON | OPTION(STATE) | OPTION(OFFSET) | OPTION(LIMIT), 1, 1),
    VERB(inspect, "NAME", OPTIONS_COMMON, 1, 1),
    VERB(pause, "NAME", OPTIONS_WRITE, 1, 1),
    VERB(resume, "NAME", OPTIONS_WRITE, 1, 1),
    VERB(revive, "NAME [ID]", OPTIONS_WRITE, 1, 2),
    VERB(drop, "NAME ID", OPTIONS_WRITE, 2, 2),
    COMMAND_END,
};
