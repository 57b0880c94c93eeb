/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_diagnose.c - holdfast store diagnose.
 *
 * The exit code is that of the worst diagnostic: the status of the first
 * error, 1 for a warning.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/store_verbs.h"
#include "colour.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/store.h"
#include "json_line.h"

static const char *const level_names[] = {"ok", "note", "warning", "error"};

#define LEVEL_COUNT (sizeof(level_names) / sizeof(level_names[0]))

static const enum colour level_colours[LEVEL_COUNT] = {
    [HF_LEVEL_OK] = COLOUR_GREEN,
    [HF_LEVEL_NOTE] = COLOUR_BOLD,
    [HF_LEVEL_WARNING] = COLOUR_YELLOW,
    [HF_LEVEL_ERROR] = COLOUR_RED,
};

struct report {
    struct json *json; /* NULL: for people */
    unsigned counts[LEVEL_COUNT];
    hf_status status; /* of the first error; HF_OK: none */
    char node[512];   /* whose diagnostics are being printed */
    bool started;
};

/* What servers report may have any bytes. */
static void print_text(const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++)
        putchar(iscntrl((unsigned char)text[i]) ? '?' : text[i]);
}

static void print_found(struct report *report, const hf_store_diagnostic *found)
{
    if (!report->started || strcmp(report->node, found->node) != 0) {
        snprintf(report->node, sizeof(report->node), "%s", found->node);
        printf("%s", report->started ? "\n" : "");
        print_text(found->node[0] != '\0' ? found->node : "the store");
        putchar('\n');
    }
    report->started = true;
    printf("  %s%-7s%s  %s: ", colour(stdout, level_colours[found->level]),
           level_names[found->level], colour(stdout, COLOUR_END), found->name);
    print_text(found->value);
    putchar('\n');
    if (found->remedy[0] != '\0') {
        fputs("           -> ", stdout);
        print_text(found->remedy);
        putchar('\n');
    }
}

static void print_found_json(struct json *json,
                             const hf_store_diagnostic *found)
{
    json_open(json, NULL, '{');
    json_text(json, "node", found->node);
    json_text(json, "name", found->name);
    json_text(json, "level", level_names[found->level]);
    if (found->status != HF_OK)
        json_text(json, "status", hf_status_name(found->status));
    json_text(json, "value", found->value);
    if (found->remedy[0] != '\0')
        json_text(json, "remedy", found->remedy);
    json_close(json, '}');
}

static void take_found(void *user, const hf_store_diagnostic *found)
{
    struct report *report = user;

    if ((size_t)found->level >= LEVEL_COUNT)
        return;
    report->counts[found->level]++;
    if (found->level == HF_LEVEL_ERROR && report->status == HF_OK)
        report->status = found->status;
    if (report->json != NULL)
        print_found_json(report->json, found);
    else
        print_found(report, found);
}

/* A store that cannot be opened is reported as a diagnostic. */
static hf_status diagnose_store(struct call *call, struct report *report,
                                hf_error *err)
{
    hf_store_diagnose_options options = HF_STORE_DIAGNOSE_OPTIONS_INIT;
    hf_store_diagnostic found = {.level = HF_LEVEL_ERROR,
                                 .node = "",
                                 .name = "reachable",
                                 .remedy =
                                     "check the URL, that it runs, user and "
                                     "password"};
    hf_status status = call_open(call, &call->client, err);

    if (status == HF_INVALID)
        return status;
    if (status != HF_OK) {
        found.status = status;
        found.value = err->message;
        take_found(report, &found);
        return HF_OK;
    }
    options.requests = (uint32_t)call->options->number[OPT_REQUESTS];
    options.limit_ms = call->options->number[OPT_WAIT];
    status = hf_store_diagnose(call->client, &options, take_found, report, err);
    hf_client_close(call->client);
    return status;
}

static void print_summary(const struct report *report)
{
    printf("\n%u error%s, %u warning%s, %u note%s\n",
           report->counts[HF_LEVEL_ERROR],
           report->counts[HF_LEVEL_ERROR] == 1 ? "" : "s",
           report->counts[HF_LEVEL_WARNING],
           report->counts[HF_LEVEL_WARNING] == 1 ? "" : "s",
           report->counts[HF_LEVEL_NOTE],
           report->counts[HF_LEVEL_NOTE] == 1 ? "" : "s");
}

static void put_counts_json(const struct report *report)
{
    struct json *json = report->json;

    json_close(json, ']');
    json_integer(json, "errors", report->counts[HF_LEVEL_ERROR]);
    json_integer(json, "warnings", report->counts[HF_LEVEL_WARNING]);
    json_integer(json, "notes", report->counts[HF_LEVEL_NOTE]);
}

int store_diagnose(struct call *call)
{
    struct report report = {.status = HF_OK};
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    if (call->json) {
        report.json = &json;
        json_begin(&json, stdout);
        json_open(&json, "diagnostics", '[');
    }
    status = diagnose_store(call, &report, &err);
    if (call->json)
        put_counts_json(&report);
    else if (report.started)
        print_summary(&report);
    if (status != HF_OK || call->json)
        (void)call_end_json(call, &json, status, &err);
    if (status != HF_OK)
        return exit_code_of(status);
    if (report.status != HF_OK)
        return exit_code_of(report.status);
    return report.counts[HF_LEVEL_WARNING] > 0 ? EXIT_NO : EXIT_YES;
}
