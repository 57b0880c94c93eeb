/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.c - what the commands share: operands, errors, opening the store.
 */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "json_line.h"
#include "lease_clock.h"
#include "output.h"
#include "read_number.h"

/* The library's own defaults. */
#define REQUEST_DEFAULT_MS 5000
#define BUDGET_DEFAULT_MS 5000

/* First room for standard input, bytes; doubled as needed. */
#define STDIN_ROOM 65536

hf_bytes call_operand(const struct call *call, int index)
{
    return hf_str(call->options->operands[index]);
}

hf_bytes *call_operands(const struct call *call, int first, size_t *count)
{
    hf_bytes *list;

    *count = (size_t)(call->options->operand_count - first);
    list = calloc(*count, sizeof(*list));
    for (size_t i = 0; list != NULL && i < *count; i++)
        list[i] = call_operand(call, first + (int)i);
    return list;
}

int call_usage(const struct call *call, const char *message)
{
    complain(call->command->grammar.name, "%s", message);
    return EXIT_USAGE;
}

bool call_count(const struct call *call, int index, const char *what,
                int64_t low, int64_t high, int64_t *count)
{
    const char *text = call->options->operands[index];

    if (number_integer(text, count) && *count >= low && *count <= high)
        return true;
    complain(call->command->grammar.name, "%s is %lld to %lld, not \"%s\"",
             what, (long long)low, (long long)high, text);
    return false;
}

int call_redisson_set(const struct call *call, hf_status status,
                      const hf_error *err)
{
    if (status == HF_OK || status == HF_CONFLICT)
        call_print_done(call, "set", status == HF_OK);
    if (status == HF_OK)
        return EXIT_YES;
    if (status != HF_CONFLICT)
        return call_failed(call, status, err);
    complain(call->command->grammar.name, "\"%s\" has been set already",
             call->options->operands[0]);
    return exit_code_of(status);
}

void call_print_done(const struct call *call, const char *what, bool done)
{
    struct json json;

    if (!call->json)
        return;
    json_begin(&json, stdout);
    json_bytes(&json, "name", call_operand(call, 0));
    json_bool(&json, what, done);
    json_end(&json);
}

/* What is missing: the key, or something in it; NULL: the message says it, or
 * is of something else. */
static const char *missing_of(const struct call *call, const hf_error *err)
{
    const char *text = err == NULL ? "" : err->message;
    const struct options *options = call->options;
    int index = strstr(text, "item") != NULL || strstr(text, "field") != NULL ||
                strstr(text, "member") != NULL || strstr(text, "job") != NULL;

    if (strncmp(text, "no such ", 8) != 0 || strpbrk(text, "\":;") != NULL ||
        options->operand_count <= index)
        return NULL;
    return options->operands[index];
}

int call_failed(const struct call *call, hf_status status, const hf_error *err)
{
    const char *missing = status == HF_NOT_FOUND ? missing_of(call, err) : NULL;

    if (missing == NULL)
        return complain_status(call->command->grammar.name, status, err);
    complain_of(status);
    complain_about(missing);
    complain(call->command->grammar.name, "%s \"%s\"", err->message, missing);
    return exit_code_of(status);
}

int call_end_json(const struct call *call, struct json *json, hf_status status,
                  const hf_error *err)
{
    int code = status == HF_OK ? EXIT_YES : call_failed(call, status, err);

    if (!call->json)
        return code;
    if (code != EXIT_YES)
        complain_json(json, code);
    json_end(json);
    return code;
}

int64_t call_ttl_ms(const struct call *call)
{
    const int64_t *number = call->options->number;

    return number[OPT_TTL] + number[OPT_EX] + number[OPT_PX];
}

int call_fenced(const struct call *call, hf_status status, uint64_t highest,
                const char *member, const hf_error *err)
{
    struct json json;

    if (call->json && (status == HF_OK || status == HF_CONFLICT)) {
        json_begin(&json, stdout);
        json_bytes(&json, "key", call_operand(call, 0));
        json_bool(&json, member, status == HF_OK);
        if (status != HF_OK)
            json_integer(&json, "highest_token", (int64_t)highest);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, err);
}

hf_add_options call_add_options(const struct call *call, int64_t *delta)
{
    const struct options *given = call->options;
    hf_add_options options = HF_ADD_OPTIONS_INIT;

    options.flags |= given->given[OPT_MIN] ? (uint32_t)HF_ADD_MIN : 0;
    options.flags |= given->given[OPT_MAX] ? (uint32_t)HF_ADD_MAX : 0;
    options.min = given->number[OPT_MIN];
    options.max = given->number[OPT_MAX];
    options.ttl_ms = call_ttl_ms(call);
    *delta = given->given[OPT_BY] ? given->number[OPT_BY] : 1;
    return options;
}

/* The request needs its ordinary time in addition, or its deadline would stop
 * the script before the budget is used up. 0: the defaults. */
static void set_budget(int64_t budget_ms, hf_client_options *options)
{
    int64_t longest_ms = budget_ms > 0 ? budget_ms : BUDGET_DEFAULT_MS;

    options->script_budget_ms = budget_ms;
    options->request_ms = longest_ms + REQUEST_DEFAULT_MS;
    if (options->request_ms > HF_SCRIPT_BUDGET_MAX_MS)
        options->request_ms = HF_SCRIPT_BUDGET_MAX_MS;
}

/* On the client's thread, which renews leases: a pipe that no one reads is not
 * waited for. A line is shorter than what a pipe with room takes. */
static void print_log(void *user, hf_log_level level, const char *message)
{
    struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};

    (void)user;
    (void)level;
    if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) != 0)
        notice(NULL, "%s", message);
}

/* An outage is the same one while a warning comes at least so often: a text
 * that recurs does once a minute. */
#define OUTAGE_QUIET_MS INT64_C(120000)

/* The first line of each outage, and that it works again. Counts of what was
 * left out may come after that. */
static void print_outage(void *user, hf_log_level level, const char *message)
{
    static int64_t until_ms; /* the outage; 0: there is none */
    bool away = now_ms() < until_ms;

    if (level == HF_LOG_WARNING && strstr(message, " more time") == NULL) {
        until_ms = now_ms() + OUTAGE_QUIET_MS;
        if (!away)
            print_log(user, level, message);
    } else if (level == HF_LOG_INFO && away) {
        until_ms = 0;
        print_log(user, level, message);
    }
}

/* What the client's background work meets: if HOLDFAST_LOG says how much, and
 * with --verbose. */
static hf_status set_log(const struct call *call, hf_client_options *options,
                         hf_error *err)
{
    static const char *const levels[] = {"none", "error", "warning", "info",
                                         "debug"};
    const char *wanted = getenv("HOLDFAST_LOG");
    bool says = wanted != NULL && wanted[0] != '\0';
    bool verbose = call->options->given[OPT_VERBOSE];
    int level = 0;

    if (!says)
        wanted = verbose || call->says_outages ? "info" : "none";
    while (level <= HF_LOG_DEBUG && strcmp(levels[level], wanted) != 0)
        level++;
    if (level > HF_LOG_DEBUG) {
        err->status = HF_INVALID;
        (void)snprintf(err->message, sizeof(err->message),
                       "HOLDFAST_LOG is \"%.40s\"; it may be none, error, "
                       "warning, info or debug",
                       wanted);
        return HF_INVALID;
    }
    options->on_log = level == 0 ? NULL : print_log;
    if (!says && !verbose && call->says_outages)
        options->on_log = print_outage;
    options->log_level = level;
    return HF_OK;
}

hf_status call_open(const struct call *call, hf_client **client, hf_error *err)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    const int64_t *number = call->options->number;

    options.prefix = call->options->text[OPT_PREFIX];
    options.replicas = (int32_t)number[OPT_REPLICAS];
    if (call->options->given[OPT_REPLICAS] && options.replicas == 0)
        options.replicas = HF_REPLICAS_NONE;
    options.replicas_ms = number[OPT_REPLICAS_MS];
    options.description = call->description;
    if ((call->command->grammar.accepts & OPTION(BUDGET)) != 0)
        set_budget(number[OPT_BUDGET], &options);
    if (set_log(call, &options, err) != HF_OK)
        return HF_INVALID;
    return hf_client_open(call->options->text[OPT_STORE], &options, client,
                          err);
}

bool call_says_waits(const struct call *call)
{
    const bool *given = call->options->given;

    return !given[OPT_QUIET] &&
           (given[OPT_VERBOSE] || isatty(STDERR_FILENO) == 1);
}

int call_end_signals(const struct call *call)
{
    sigset_t ends;
    int fd;

    sigemptyset(&ends);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        complain(call->command->grammar.name, "signalfd: %s", strerror(errno));
    return fd;
}

void call_print_reply(const struct call *call, const hf_reply *reply)
{
    struct json json;

    if (call->json) {
        json_begin(&json, stdout);
        out_reply_json(&json, "reply", reply);
        json_end(&json);
    } else if (call->options->given[OPT_RAW] ||
               (!call->options->given[OPT_NO_RAW] &&
                isatty(STDOUT_FILENO) != 1)) {
        out_reply_raw(reply);
    } else {
        out_reply(reply);
    }
}

/* Make room for one more read; false if out of memory. */
static bool grow_buffer(hf_buffer *buffer, size_t *room)
{
    size_t wanted = *room == 0 ? STDIN_ROOM : *room * 2;
    void *data;

    if (buffer->size < *room)
        return true;
    data = realloc(buffer->data, wanted);
    if (data == NULL)
        return false;
    buffer->data = data;
    *room = wanted;
    return true;
}

int call_read_stdin(const struct call *call, size_t limit, hf_buffer *buffer)
{
    const char *what = call->command->grammar.name;
    size_t room = 0;

    while (grow_buffer(buffer, &room)) {
        ssize_t got = read(STDIN_FILENO, (char *)buffer->data + buffer->size,
                           room - buffer->size);

        if (got == 0)
            return EXIT_YES;
        if (got < 0 && errno != EINTR) {
            complain(what, "standard input: %s", strerror(errno));
            return EXIT_SYSTEM;
        }
        buffer->size += got > 0 ? (size_t)got : 0;
        if (buffer->size > limit) {
            complain(what, "standard input is longer than %zu bytes", limit);
            return EXIT_USAGE;
        }
    }
    complain(what, "out of memory");
    return EXIT_SYSTEM;
}

int call_read_file(const struct call *call, const char *path, size_t limit,
                   hf_buffer *buffer)
{
    int fd;

    if (strcmp(path, "-") == 0)
        return call_read_stdin(call, limit, buffer);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0) {
        complain(call->command->grammar.name, "%s: %s", path, strerror(errno));
        return EXIT_NO_INPUT;
    }
    close(fd);
    return call_read_stdin(call, limit, buffer);
}
