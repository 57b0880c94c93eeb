/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_once.c - holdfast once: what a command that is run once leaves behind,
 * and what is found of it.
 *
 * The output of the command is kept (child_output.c): it is stored when the
 * command has ended, and printed after that. What the end says:
 *
 *   126, 127, or with retry a code but 0   failed: the work may be done again
 *   any other code                         done: it is stored, and the output
 *   after a signal, or TERM for a loss     in doubt: nothing is sent
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "json_line.h"
#include "output.h"

#define FINGERPRINT_MAX ((size_t)64 << 20)

/* -------------------------------------------------------------------- plan */

static int read_fingerprint(struct run_plan *plan, const char *path)
{
    FILE *file = fopen(path, "re");
    char *bytes = malloc(FINGERPRINT_MAX);
    size_t size = 0;
    int code = EXIT_YES;

    if (file != NULL && bytes != NULL)
        size = fread(bytes, 1, FINGERPRINT_MAX, file);
    if (file == NULL || bytes == NULL || ferror(file)) {
        complain(run_verb, "%s: %s", path, strerror(errno));
        code = EXIT_NO_INPUT;
    } else if (size == FINGERPRINT_MAX) {
        complain(run_verb, "%s: larger than 64 MiB", path);
        code = EXIT_NO_INPUT;
    }
    if (file != NULL)
        (void)fclose(file);
    plan->claim.fingerprint = hf_view(bytes, size); /* until the end */
    return code;
}

int once_plan(struct run_plan *plan, const struct options *options)
{
    const char *text = options->text[OPT_FINGERPRINT];
    const char *path = options->text[OPT_FINGERPRINT_FILE];
    int64_t period_ms = options->number[OPT_PERIOD];

    plan->what = "work";
    plan->claims = true;
    plan->claim = (hf_once_options)HF_ONCE_OPTIONS_INIT;
    plan->claim.keep_ms = options->number[OPT_ONCE_KEEP];
    plan->claim.period_ms = period_ms;
    plan->claim.early_ms = options->number[OPT_ONCE_EARLY];
    if (options->given[OPT_RETRY_DOUBT])
        plan->claim.flags = HF_ONCE_RETRY_DOUBT;
    plan->retries = options->given[OPT_ON_FAILURE]
                        ? options->number[OPT_ON_FAILURE] != 0
                        : period_ms > 0;
    if (text != NULL && path != NULL)
        return call_usage(plan->call,
                          "specify --fingerprint or --fingerprint-file");
    if (text != NULL)
        plan->claim.fingerprint = hf_str(text);
    return path == NULL ? EXIT_YES : read_fingerprint(plan, path);
}

/* ----------------------------------------------------------------- streams */

/* We keep the terminal, so that Ctrl-C tells us too: the command would be
 * stopped if it read from that. */
int once_streams(struct run *run)
{
    if (isatty(STDIN_FILENO) == 1)
        run->input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return output_open(&run->output);
}

/* ------------------------------------------------------------------ output */

static int print_output(hf_bytes output, int code)
{
    if (output.size > 0)
        (void)fwrite(output.data, 1, output.size, stdout);
    return out_end(code);
}

/* --------------------------------------------------------------------- end */

static int report_lost(const struct lease *lease, const hf_error *err)
{
    complain(run_verb, "the result of \"%s\" was not stored: %s",
             lease->plan->name, err->message);
    return EXIT_LOST;
}

static int store_result(const struct lease *lease, hf_bytes output, int code)
{
    hf_error err = HF_ERROR_INIT;
    hf_bytes stored = output;
    hf_status status;

    if (stored.size > HF_ONCE_RESULT_MAX) {
        stored.size = HF_ONCE_RESULT_MAX;
        complain(run_verb,
                 "of the output of \"%s\" only the first %d bytes "
                 "are stored",
                 lease->plan->name, HF_ONCE_RESULT_MAX);
    }
    status = hf_once_complete(lease->locks[0], code, stored, &err);
    if (status == HF_OK)
        return code;
    if (status == HF_LOST || status == HF_EXPIRED)
        return report_lost(lease, &err);
    return call_failed(lease->plan->call, status, &err);
}

static int give_back(const struct lease *lease, int code)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_lock_release(lease->locks[0], &err);

    if (status == HF_LOST || status == HF_EXPIRED)
        return report_lost(lease, &err);
    if (status != HF_OK)
        (void)call_failed(lease->plan->call, status, &err);
    return code;
}

static void report_doubt(const struct lease *lease,
                         const struct child_output *output)
{
    if (output->failed != 0)
        complain(run_verb,
                 "\"%s\" is in doubt: the output of its command was not kept: "
                 "%s",
                 lease->plan->name, strerror(output->failed));
    else
        complain(run_verb,
                 "\"%s\" is in doubt: its command was killed, or asked to end",
                 lease->plan->name);
}

int once_end(const struct lease *lease, const struct child_output *output,
             int code, bool in_doubt)
{
    hf_bytes bytes = hf_view(output->bytes, output->size);
    bool failed = code == EXIT_NOT_FOUND || code == EXIT_NOT_EXECUTABLE ||
                  (code != 0 && lease->plan->retries);

    if (in_doubt) {
        report_doubt(lease, output);
        code = code == 0 ? EXIT_IO : code;
    } else {
        code =
            failed ? give_back(lease, code) : store_result(lease, bytes, code);
    }
    return print_output(bytes, code);
}

int once_unclaimed(const struct lease *lease)
{
    hf_bytes output;
    int32_t code;

    switch (lease->status) {
    case HF_CONFLICT:
        if (hf_once_result(lease->locks[0], &code, &output, NULL) != HF_OK)
            return EXIT_INTERNAL;
        return print_output(output, code & 255);
    case HF_EXPIRED:
        complain_of(lease->status);
        complain(run_verb,
                 "\"%s\" is in doubt: a claim ended without a result, its "
                 "command may have run; --retry-doubt runs it",
                 lease->plan->name);
        return EXIT_IO;
    case HF_INVALID:
        if (lease->count == 0) /* the key, or an option */
            return -1;
        complain_of(lease->status);
        complain(run_verb, "%s", lease->err.message);
        return EXIT_DATA;
    default:
        return -1;
    }
}

/* ------------------------------------------------------------------ record */

static void print_record(const struct call *call, const hf_once_info *info)
{
    static const char *const states[] = {"absent", "claimed", "done",
                                         "in doubt"};
    struct json json;

    if (!call->json) {
        printf("state: %s\nremaining: %.3f s\n", states[info->state],
               (double)info->remaining_ms / 1000);
        if (info->state == HF_ONCE_DONE)
            printf("status: %d\n", info->status);
        if (info->tick_ms > 0)
            printf("tick: %lld\n", (long long)info->tick_ms / 1000);
        if (info->owner[0] != '\0')
            printf("owner: %s\n", info->owner);
        printf("waiters: %lld\n", (long long)info->waiters);
        return;
    }
    json_begin(&json, stdout);
    json_text(&json, "state", states[info->state]);
    json_integer(&json, "remaining_ms", info->remaining_ms);
    json_integer(&json, "status", info->status);
    json_integer(&json, "tick_ms", info->tick_ms);
    json_text(&json, "owner", info->owner);
    json_integer(&json, "waiters", info->waiters);
    json_end(&json);
}

static int check_look(const struct call *call)
{
    const struct options *options = call->options;

    if (options->given[OPT_SHOW] && options->given[OPT_DELETE])
        return call_usage(call, "specify either --show or --delete");
    if (options->tail_count > 0 || options->given[OPT_SHELL])
        return call_usage(call, "--show and --delete exclude a command");
    return EXIT_YES;
}

int once_look(const struct call *call)
{
    hf_once_info info = HF_ONCE_INFO_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes key = call_operand(call, 0);
    bool shows = call->options->given[OPT_SHOW];
    hf_client *client = NULL;
    hf_status status;
    int code = check_look(call);

    if (code != EXIT_YES)
        return code;
    status = call_open(call, &client, &err);
    if (status == HF_OK)
        status = shows ? hf_once_inspect(client, key, &info, &err)
                       : hf_once_delete(client, key, &err);
    if (status == HF_OK && shows)
        print_record(call, &info);
    else if (status == HF_OK)
        call_print_done(call, "deleted", true);
    hf_once_info_free(&info);
    hf_client_close(client);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}
