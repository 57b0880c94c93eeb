/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_verbs.c - holdfast value set|get|delete|cas|expire|incr.
 *
 * If a condition is not met, the exit code is EXIT_NO and stderr has one line;
 * cas, delete --if and expire also print the current value on stdout, or its
 * revision, for the next try of a loop.
 */
#include "cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes_verb.h"
#include "exit.h"
#include "holdfast/value.h"
#include "output.h"
#include "read_number.h"

#define EXPIRY_OPTIONS (OPTION(EX) | OPTION(PX) | OPTION(TTL))
#define INSTANT_OPTIONS (OPTION(EXAT) | OPTION(PXAT))

static uint32_t set_flags(const bool *given)
{
    uint32_t flags = 0;

    flags |= given[OPT_NX] ? (uint32_t)HF_SET_NX : 0;
    flags |= given[OPT_XX] ? (uint32_t)HF_SET_XX : 0;
    flags |= given[OPT_KEEPTTL] ? (uint32_t)HF_SET_KEEPTTL : 0;
    flags |= given[OPT_GET] ? (uint32_t)HF_SET_GET : 0;
    return flags;
}

static int64_t instant_ms(const struct call *call)
{
    const int64_t *number = call->options->number;

    return number[OPT_PXAT] + number[OPT_EXAT] * 1000;
}

/* The new expiry; false: none is given. */
static bool expire_options(const struct call *call,
                           hf_value_expire_options *options)
{
    *options = (hf_value_expire_options)HF_VALUE_EXPIRE_OPTIONS_INIT;
    options->ttl_ms = call_ttl_ms(call);
    options->expires_unix_ms = instant_ms(call);
    if (call->options->given[OPT_PERSIST])
        options->flags = HF_EXPIRE_PERSIST;
    return options->ttl_ms != 0 || options->expires_unix_ms != 0 ||
           options->flags != 0;
}

/* Print the outcome and a value; `changed` is the name of `ok` in JSON. */
static void print_outcome(const struct call *call, const char *changed, bool ok,
                          const char *member, const hf_buffer *value)
{
    struct json json;

    if (!call->json) {
        out_value(value, call->options->given[OPT_RAW]);
        return;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "key", call_operand(call, 0));
    json_bool(&json, changed, ok);
    if (member != NULL)
        json_buffer(&json, member, value);
    json_end(&json);
}

static bool is_refusal(hf_status status)
{
    return status == HF_CONFLICT || status == HF_NOT_FOUND;
}

static int set_fenced(const struct call *call, hf_bytes value,
                      const hf_value_set_options *options)
{
    uint64_t token = (uint64_t)call->options->number[OPT_TOKEN];
    hf_error err = HF_ERROR_INIT;
    uint64_t highest = 0;
    hf_status status;

    if ((options->flags & ~(uint32_t)HF_SET_KEEPTTL) != 0)
        return call_usage(call, "--token excludes --nx, --xx and --get");
    status = hf_value_put_fenced(call->client, call_operand(call, 0), value,
                                 token, options, &highest, &err);
    return call_fenced(call, status, highest, "set", &err);
}

/* ------------------------------------------------------------ by revision */

/* One that is expected. */
static bool read_revision(const char *text, uint64_t *revision)
{
    int64_t number = 0;

    if (!number_integer(text, &number) || number < 1)
        return false;
    *revision = (uint64_t)number;
    return true;
}

static int fail_revision(const struct call *call)
{
    return call_usage(call, "a revision is a number of at least 1");
}

static void json_revision(struct json *json, uint64_t revision)
{
    if (revision == 0)
        json_null(json, "revision");
    else
        json_integer(json, "revision", (int64_t)revision);
}

/* The revision after the call is printed, also if it is not the expected. */
static int end_revised(const struct call *call, hf_status status,
                       uint64_t revision, const char *changed,
                       const hf_error *err)
{
    struct json json;

    if (call->json && (status == HF_OK || is_refusal(status))) {
        json_begin(&json, stdout);
        json_bytes(&json, "key", call_operand(call, 0));
        json_bool(&json, changed, status == HF_OK);
        json_revision(&json, revision);
        json_end(&json);
    } else if (!call->json && revision != 0) {
        printf("%" PRIu64 "\n", revision);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, err);
}

static int put_revised(const struct call *call, hf_bytes value,
                       uint64_t expected, const hf_value_set_options *options)
{
    uint64_t revision = 0;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_value_put_revised(call->client, call_operand(call, 0), value,
                             expected, options, &revision, &err);

    return end_revised(call, status, revision, "set", &err);
}

static int set_revised(const struct call *call, hf_bytes value,
                       hf_value_set_options *options)
{
    bool absent = (options->flags & HF_SET_NX) != 0;

    options->flags &= ~(uint32_t)HF_SET_NX;
    if ((options->flags & ~(uint32_t)HF_SET_KEEPTTL) != 0 ||
        call->options->given[OPT_TOKEN])
        return call_usage(call, "--revision excludes --xx, --get and --token");
    return put_revised(call, value, absent ? HF_REVISION_NONE : HF_REVISION_ANY,
                       options);
}

/* As of every cas, the key keeps its time to live. */
static int cas_revised(const struct call *call, bool absent)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;
    uint64_t expected = HF_REVISION_NONE;

    if (!absent && !read_revision(call->options->operands[1], &expected))
        return fail_revision(call);
    options.ttl_ms = call_ttl_ms(call);
    options.flags = options.ttl_ms == 0 ? (uint32_t)HF_SET_KEEPTTL : 0;
    return put_revised(call, call_operand(call, absent ? 1 : 2), expected,
                       &options);
}

static int delete_revised(const struct call *call)
{
    const char *text = call->options->text[OPT_IF];
    uint64_t expected = HF_REVISION_ANY, revision = 0;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    if (text != NULL && !read_revision(text, &expected))
        return fail_revision(call);
    status = hf_value_delete_revised(call->client, call_operand(call, 0),
                                     expected, &revision, &err);
    return end_revised(call, status, revision, "deleted", &err);
}

/* The revision is the first line. */
static int get_revised(const struct call *call)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes key = call_operand(call, 0);
    struct json json;
    uint64_t revision = 0;
    hf_status status =
        hf_value_get_revised(call->client, key, &value, &revision, &err);
    int code = status == HF_OK ? EXIT_YES : call_failed(call, status, &err);

    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        json_begin(&json, stdout);
        json_bytes(&json, "key", key);
        json_revision(&json, revision);
        json_buffer(&json, "value", &value);
        json_end(&json);
    } else if (!call->json && status == HF_OK) {
        printf("%" PRIu64 "\n", revision);
        out_value(&value, call->options->given[OPT_RAW]);
    }
    hf_buffer_free(&value);
    return code;
}

/* --------------------------------------------------------------------- set */

static int set_bytes(struct call *call, hf_bytes value)
{
    const struct options *given = call->options;
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;
    hf_buffer previous = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int code = EXIT_YES;

    options.flags = set_flags(given->given);
    options.ttl_ms = call_ttl_ms(call);
    options.expires_unix_ms = instant_ms(call);
    if (given->given[OPT_REVISION])
        return set_revised(call, value, &options);
    if (given->given[OPT_TOKEN])
        return set_fenced(call, value, &options);
    status = hf_value_set(call->client, call_operand(call, 0), value, &options,
                          &previous, &err);
    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (status == HF_OK || is_refusal(status)) {
        print_outcome(call, "set", status == HF_OK,
                      given->given[OPT_GET] ? "previous" : NULL, &previous);
    }
    hf_buffer_free(&previous);
    return code;
}

/* Do it with VALUE, or standard input. */
static int with_value(struct call *call,
                      int (*act)(struct call *call, hf_bytes value))
{
    bool from_stdin = call->options->given[OPT_STDIN];
    hf_buffer input = HF_BUFFER_INIT;
    int code;

    if (from_stdin != (call->options->operand_count == 1))
        return call_usage(call, "specify either VALUE or --stdin");
    if (!from_stdin)
        return act(call, call_operand(call, 1));
    code = call_read_stdin(call, HF_VALUE_MAX, &input);
    if (code == EXIT_YES)
        code = act(call, hf_view(input.data, input.size));
    free(input.data);
    return code;
}

static int value_set(struct call *call)
{
    return with_value(call, set_bytes);
}

/* The version is the first line. */
static int get_versioned(struct call *call)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_buffer version = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes key = call_operand(call, 0);
    struct json json;
    hf_status status =
        hf_value_get_versioned(call->client, key, &value, &version, &err);
    int code = status == HF_OK ? EXIT_YES : call_failed(call, status, &err);

    if (!call->json) {
        out_value(&version, false);
        out_value(&value, call->options->given[OPT_RAW]);
    } else if (status == HF_OK || status == HF_NOT_FOUND) {
        json_begin(&json, stdout);
        json_bytes(&json, "key", key);
        json_buffer(&json, "version", &version);
        json_buffer(&json, "value", &value);
        json_end(&json);
    }
    hf_buffer_free(&value);
    hf_buffer_free(&version);
    return code;
}

static int value_get(struct call *call)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_value_expire_options options;
    hf_bytes key = call_operand(call, 0);
    struct json json;
    hf_status status;
    int code = EXIT_YES;

    if (call->options->given[OPT_REVISION])
        return expire_options(call, &options)
                   ? call_usage(call, "--revision sets no expiry")
                   : get_revised(call);
    if (call->options->given[OPT_VERSIONED])
        return expire_options(call, &options)
                   ? call_usage(call, "--versioned sets no expiry")
                   : get_versioned(call);
    status =
        expire_options(call, &options)
            ? hf_value_get_expire(call->client, key, &options, &value, &err)
            : hf_value_get(call->client, key, &value, &err);
    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (!call->json) {
        out_value(&value, call->options->given[OPT_RAW]);
    } else if (status == HF_OK || status == HF_NOT_FOUND) {
        json_begin(&json, stdout);
        json_bytes(&json, "key", call_operand(call, 0));
        json_buffer(&json, "value", &value);
        json_end(&json);
    }
    hf_buffer_free(&value);
    return code;
}

static int append_bytes(struct call *call, hf_bytes value)
{
    hf_error err = HF_ERROR_INIT;
    struct json json;
    size_t size = 0;
    hf_status status = hf_value_append(call->client, call_operand(call, 0),
                                       value, &size, &err);

    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (!call->json) {
        printf("%zu\n", size);
        return EXIT_YES;
    }
    json_begin(&json, stdout);
    json_bytes(&json, "key", call_operand(call, 0));
    json_integer(&json, "size", (int64_t)size);
    json_end(&json);
    return EXIT_YES;
}

static int value_append(struct call *call)
{
    return with_value(call, append_bytes);
}

static int value_delete(struct call *call)
{
    const char *expected = call->options->text[OPT_IF];
    hf_buffer current = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes key = call_operand(call, 0);
    hf_status status;
    int code = EXIT_YES;

    if (call->options->given[OPT_REVISION])
        return delete_revised(call);
    if (expected == NULL) {
        status = hf_value_delete(call->client, key, &err);
    } else if (call->options->given[OPT_VERSIONED]) {
        status = hf_value_delete_versioned(call->client, key, hf_str(expected),
                                           &current, &err);
    } else {
        status = hf_value_delete_if(call->client, key, hf_str(expected),
                                    &current, &err);
    }
    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (status == HF_OK || is_refusal(status)) {
        print_outcome(call, "deleted", status == HF_OK,
                      status == HF_CONFLICT ? "current" : NULL, &current);
    }
    hf_buffer_free(&current);
    return code;
}

static int value_cas(struct call *call)
{
    bool absent = call->options->given[OPT_ABSENT];
    bool versioned = call->options->given[OPT_VERSIONED];
    hf_cas_options options = HF_CAS_OPTIONS_INIT;
    hf_buffer current = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes expected;
    hf_status status;
    int code = EXIT_YES;

    if (call->options->operand_count != (absent ? 2 : 3))
        return call_usage(call,
                          "specify KEY EXPECTED NEW, or --absent KEY NEW");
    if (call->options->given[OPT_REVISION])
        return cas_revised(call, absent);
    expected = call_operand(call, 1);
    options.ttl_ms = call_ttl_ms(call);
    status = (versioned ? hf_value_cas_versioned : hf_value_cas)(
        call->client, call_operand(call, 0), absent ? NULL : &expected,
        call_operand(call, absent ? 1 : 2), &options, &current, &err);
    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (status == HF_OK || is_refusal(status)) {
        print_outcome(call, "set", status == HF_OK,
                      status != HF_OK ? "current"
                      : versioned     ? "version"
                                      : NULL,
                      &current);
    }
    hf_buffer_free(&current);
    return code;
}

static int value_expire(struct call *call)
{
    const char *expected = call->options->text[OPT_IF];
    hf_value_expire_options options;
    hf_buffer current = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int code = EXIT_YES;

    if (!expire_options(call, &options) || expected == NULL)
        return call_usage(call, "specify --if and a new expiry");
    status = hf_value_expire_if(call->client, call_operand(call, 0),
                                hf_str(expected), &options, &current, &err);
    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (status == HF_OK || is_refusal(status)) {
        print_outcome(call, "expiry_set", status == HF_OK,
                      status == HF_CONFLICT ? "current" : NULL, &current);
    }
    hf_buffer_free(&current);
    return code;
}

static int value_incr(struct call *call)
{
    int64_t delta;
    hf_add_options options = call_add_options(call, &delta);
    hf_bytes key = call_operand(call, 0);
    hf_error err = HF_ERROR_INIT;
    struct json json;
    int64_t number = 0;
    hf_status status =
        hf_value_add(call->client, key, delta, &options, &number, &err);

    if (status != HF_OK && status != HF_CONFLICT)
        return call_failed(call, status, &err);
    if (!call->json) {
        printf("%" PRId64 "\n", number);
    } else {
        json_begin(&json, stdout);
        json_bytes(&json, "key", key);
        json_bool(&json, "added", status == HF_OK);
        json_integer(&json, "value", number);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command value_commands[] = {
    {.grammar = {.name = "value set",
                 .accepts = OPTIONS_WRITE | EXPIRY_OPTIONS | INSTANT_OPTIONS |
                            OPTION(KEEPTTL) | OPTION(NX) | OPTION(XX) |
                            OPTION(GET) | OPTION(STDIN) | OPTION(RAW) |
                            OPTION(TOKEN) | OPTION(REVISION),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "KEY [VALUE]"},
     .run = value_set},
    {.grammar = {.name = "value get",
                 .accepts = OPTIONS_WRITE | EXPIRY_OPTIONS | INSTANT_OPTIONS |
                            OPTION(PERSIST) | OPTION(RAW) | OPTION(VERSIONED) |
                            OPTION(REVISION),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = value_get},
    {.grammar = {.name = "value changes",
                 .accepts = OPTIONS_COMMON | OPTION(WAIT),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "PATTERN [AFTER]"},
     .run = value_changes},
    {.grammar = {.name = "value append",
                 .accepts = OPTIONS_WRITE | OPTION(STDIN),
                 .operands_min = 1,
                 .operands_max = 2,
                 .operands = "KEY [VALUE]"},
     .run = value_append},
    {.grammar = {.name = "value delete",
                 .accepts = OPTIONS_WRITE | OPTION(IF) | OPTION(RAW) |
                            OPTION(VERSIONED) | OPTION(REVISION),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = value_delete},
    {.grammar = {.name = "value cas",
                 .accepts = OPTIONS_WRITE | EXPIRY_OPTIONS | OPTION(ABSENT) |
                            OPTION(RAW) | OPTION(VERSIONED) | OPTION(REVISION),
                 .operands_min = 1,
                 .operands_max = 3,
                 .operands = "KEY [EXPECTED] NEW"},
     .run = value_cas},
    {.grammar = {.name = "value expire",
                 .accepts = OPTIONS_WRITE | EXPIRY_OPTIONS | INSTANT_OPTIONS |
                            OPTION(PERSIST) | OPTION(IF) | OPTION(RAW),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = value_expire},
    {.grammar = {.name = "value incr",
                 .accepts = OPTIONS_WRITE | EXPIRY_OPTIONS | OPTIONS_ADD,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = value_incr},
    COMMAND_END,
};
