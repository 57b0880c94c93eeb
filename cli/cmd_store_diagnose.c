/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_store_diagnose.c - holdfast doctor: what there is to say about a store
 * before locks are trusted to it.
 *
 * The exit code is the worst remark's: an error's own status, 1 for a warning.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "complain.h"
#include "exit.h"
#include "json.h"

static const char *const level_names[] = {"ok", "note", "warning", "error"};

#define LEVEL_COUNT (sizeof(level_names) / sizeof(level_names[0]))

struct doctor {
    struct json *json; /* NULL: for people */
    unsigned counts[LEVEL_COUNT];
    hf_status status; /* of the first error; HF_OK: none */
    char node[512];   /* whose remarks are being printed */
    bool started;
};

/* What servers say of themselves may be any bytes. */
static void print_text(const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++)
        putchar(iscntrl((unsigned char)text[i]) ? '?' : text[i]);
}

static void print_remark(struct doctor *doctor,
                         const hf_store_diagnostic *remark)
{
    if (!doctor->started || strcmp(doctor->node, remark->node) != 0) {
        snprintf(doctor->node, sizeof(doctor->node), "%s", remark->node);
        printf("%s", doctor->started ? "\n" : "");
        print_text(remark->node[0] != '\0' ? remark->node : "the store");
        putchar('\n');
    }
    doctor->started = true;
    printf("  %-7s  %s: ", level_names[remark->level], remark->name);
    print_text(remark->value);
    putchar('\n');
    if (remark->remedy[0] != '\0') {
        fputs("           -> ", stdout);
        print_text(remark->remedy);
        putchar('\n');
    }
}

static void print_json(struct json *json, const hf_store_diagnostic *remark)
{
    json_open(json, NULL, '{');
    json_text(json, "node", remark->node);
    json_text(json, "name", remark->name);
    json_text(json, "level", level_names[remark->level]);
    if (remark->status != HF_OK)
        json_text(json, "status", hf_status_name(remark->status));
    json_text(json, "value", remark->value);
    if (remark->remedy[0] != '\0')
        json_text(json, "remedy", remark->remedy);
    json_close(json, '}');
}

static void take_remark(void *user, const hf_store_diagnostic *remark)
{
    struct doctor *doctor = user;

    if ((size_t)remark->level >= LEVEL_COUNT)
        return;
    doctor->counts[remark->level]++;
    if (remark->level == HF_LEVEL_ERROR && doctor->status == HF_OK)
        doctor->status = remark->status;
    if (doctor->json != NULL)
        print_json(doctor->json, remark);
    else
        print_remark(doctor, remark);
}

/* A store that cannot even be opened is a finding like others. */
static hf_status examine(struct call *call, struct doctor *doctor,
                         hf_error *err)
{
    hf_store_diagnose_options options = HF_STORE_DIAGNOSE_OPTIONS_INIT;
    hf_store_diagnostic remark = {.level = HF_LEVEL_ERROR,
                                  .node = "",
                                  .name = "reachable",
                                  .remedy =
                                      "check the URL, that it runs, user and "
                                      "password"};
    hf_status status = call_open(call, &call->client, err);

    if (status == HF_INVALID)
        return status;
    if (status != HF_OK) {
        remark.status = status;
        remark.value = err->message;
        take_remark(doctor, &remark);
        return HF_OK;
    }
    options.requests = (uint32_t)call->options->number[OPT_REQUESTS];
    options.limit_ms = call->options->number[OPT_WAIT];
    status =
        hf_store_diagnose(call->client, &options, take_remark, doctor, err);
    hf_client_close(call->client);
    return status;
}

static void print_summary(const struct doctor *doctor)
{
    printf("\n%u error%s, %u warning%s, %u note%s\n",
           doctor->counts[HF_LEVEL_ERROR],
           doctor->counts[HF_LEVEL_ERROR] == 1 ? "" : "s",
           doctor->counts[HF_LEVEL_WARNING],
           doctor->counts[HF_LEVEL_WARNING] == 1 ? "" : "s",
           doctor->counts[HF_LEVEL_NOTE],
           doctor->counts[HF_LEVEL_NOTE] == 1 ? "" : "s");
}

static void end_json(const struct doctor *doctor)
{
    struct json *json = doctor->json;

    json_close(json, ']');
    json_integer(json, "errors", doctor->counts[HF_LEVEL_ERROR]);
    json_integer(json, "warnings", doctor->counts[HF_LEVEL_WARNING]);
    json_integer(json, "notes", doctor->counts[HF_LEVEL_NOTE]);
    json_end(json);
}

static int doctor_run(struct call *call)
{
    struct doctor doctor = {.status = HF_OK};
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    if (call->json) {
        doctor.json = &json;
        json_begin(&json, stdout);
        json_open(&json, "remarks", '[');
    }
    status = examine(call, &doctor, &err);
    if (call->json)
        end_json(&doctor);
    else if (doctor.started)
        print_summary(&doctor);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (doctor.status != HF_OK)
        return exit_code_of(doctor.status);
    return doctor.counts[HF_LEVEL_WARNING] > 0 ? EXIT_NO : EXIT_YES;
}

const struct command doctor_commands[] = {
    {.grammar = {.name = "doctor",
                 .accepts = OPTIONS_COMMON | OPTION(WAIT) | OPTION(REQUESTS)},
     .operands = "",
     .summary = "look at a store before locks are trusted to it",
     .notes =
         "Each remark is ok, a note, a warning (locks or data may be lost) or "
         "an error\n(something that is needed does not work). Exit code 0 if "
         "there is none of the\nlast two, 1 if there are warnings, else that "
         "of the first error: 69 not\nreachable, 77 a right is missing. "
         "Nothing is changed. --wait limits all of it;\ndefault 30.\n",
     .opens_store = true,
     .run = doctor_run},
    COMMAND_END,
};
