/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_verbs.c - holdfast hash put|get|get-fields|get-all|cas|incr|
 * expire-fields|ttl|delete|delete-fields.
 */
#include "cmd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/hash.h"
#include "output.h"

/* Begin the object about the key. */
static void begin_answer(const struct call *call, struct json *json)
{
    json_begin(json, stdout);
    json_bytes(json, "key", call_operand(call, 0));
}

static uint32_t put_flags(const bool *given)
{
    uint32_t flags = 0;

    flags |= given[OPT_NX] ? (uint32_t)HF_HASH_NX : 0;
    flags |= given[OPT_XX] ? (uint32_t)HF_HASH_XX : 0;
    flags |= given[OPT_REPLACE] ? (uint32_t)HF_HASH_REPLACE : 0;
    flags |= given[OPT_PERSIST] ? (uint32_t)HF_HASH_PERSIST : 0;
    return flags;
}

static int put_fenced(const struct call *call, const hf_field *fields,
                      size_t count, const hf_hash_put_options *options)
{
    uint64_t token = (uint64_t)call->options->number[OPT_TOKEN];
    hf_error err = HF_ERROR_INIT;
    uint64_t highest = 0;
    hf_status status;

    if ((options->flags & (HF_HASH_NX | HF_HASH_XX)) != 0)
        return call_usage(call, "--token excludes --nx and --xx");
    status = hf_hash_put_fenced(call->client, call_operand(call, 0), fields,
                                count, token, options, &highest, &err);
    return call_fenced(call, status, highest, "put", &err);
}

static int put_fields(struct call *call, const hf_field *fields, size_t count)
{
    hf_hash_put_options options = HF_HASH_PUT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    options.flags = put_flags(call->options->given);
    options.ttl_ms = call_ttl_ms(call);
    options.field_ttl_ms = call->options->number[OPT_FIELD_TTL];
    if (call->options->given[OPT_TOKEN])
        return put_fenced(call, fields, count, &options);
    status = hf_hash_put(call->client, call_operand(call, 0), fields, count,
                         &options, &err);
    if (call->json &&
        (status == HF_OK || status == HF_CONFLICT || status == HF_NOT_FOUND)) {
        begin_answer(call, &json);
        json_bool(&json, "put", status == HF_OK);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int hash_put(struct call *call)
{
    size_t count = (size_t)(call->options->operand_count - 1) / 2;
    hf_field *fields;
    size_t i;
    int code;

    if (call->options->operand_count % 2 == 0)
        return call_usage(call, "the last FIELD has no VALUE");
    fields = calloc(count, sizeof(*fields));
    if (fields == NULL)
        return call_failed(call, HF_NO_MEMORY, NULL);
    for (i = 0; i < count; i++) {
        fields[i].name = call_operand(call, (int)(2 * i + 1));
        fields[i].value = call_operand(call, (int)(2 * i + 2));
    }
    code = put_fields(call, fields, count);
    free(fields);
    return code;
}

static int hash_get(struct call *call)
{
    hf_bytes field = call_operand(call, 1);
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status =
        hf_hash_get(call->client, call_operand(call, 0), field, &value, &err);
    int code = EXIT_YES;

    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (!call->json) {
        out_value(&value, call->options->given[OPT_RAW]);
    } else if (status == HF_OK || status == HF_NOT_FOUND) {
        begin_answer(call, &json);
        json_bytes(&json, "name", field);
        json_buffer(&json, "value", &value);
        json_end(&json);
    }
    hf_buffer_free(&value);
    return code;
}

/* Those that exist, as get-all prints them. */
static void print_some(const struct call *call, hf_field *items, size_t count)
{
    hf_fields fields = {items, count};
    struct json json;

    if (!call->json) {
        out_fields(&fields);
        return;
    }
    begin_answer(call, &json);
    out_fields_json(&json, "fields", &fields);
    json_end(&json);
}

static int get_some(struct call *call, hf_bytes *names, hf_buffer *values,
                    hf_field *items, size_t count)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    size_t found = 0;
    size_t i;

    for (i = 0; i < count; i++)
        names[i] = call_operand(call, (int)i + 1);
    status = hf_hash_get_fields(call->client, call_operand(call, 0), names,
                                count, values, &err);
    for (i = 0; i < count; i++)
        if (values[i].data != NULL)
            items[found++] =
                (hf_field){names[i], hf_view(values[i].data, values[i].size)};
    if (status == HF_OK || status == HF_NOT_FOUND)
        print_some(call, items, found);
    for (i = 0; i < count; i++)
        hf_buffer_free(&values[i]);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int hash_get_fields(struct call *call)
{
    size_t count = (size_t)call->options->operand_count - 1;
    hf_bytes *names = calloc(count, sizeof(*names));
    hf_buffer *values = calloc(count, sizeof(*values));
    hf_field *items = calloc(count, sizeof(*items));
    int code;

    if (names == NULL || values == NULL || items == NULL)
        code = call_failed(call, HF_NO_MEMORY, NULL);
    else
        code = get_some(call, names, values, items, count);
    free(names);
    free(values);
    free(items);
    return code;
}

static int hash_get_all(struct call *call)
{
    hf_fields fields = HF_FIELDS_INIT;
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status =
        hf_hash_get_all(call->client, call_operand(call, 0), &fields, &err);
    int code = EXIT_YES;

    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (!call->json) {
        out_fields(&fields);
    } else if (status == HF_OK || status == HF_NOT_FOUND) {
        begin_answer(call, &json);
        out_fields_json(&json, "fields", &fields);
        json_end(&json);
    }
    hf_fields_free(&fields);
    return code;
}

static void print_cas(const struct call *call, hf_status status,
                      const hf_buffer *current)
{
    struct json json;

    if (!call->json) {
        out_value(current, call->options->given[OPT_RAW]);
        return;
    }
    begin_answer(call, &json);
    json_bytes(&json, "name", call_operand(call, 1));
    json_bool(&json, "set", status == HF_OK);
    if (status != HF_OK)
        json_buffer(&json, "current", current);
    json_end(&json);
}

static int hash_cas(struct call *call)
{
    bool absent = call->options->given[OPT_ABSENT];
    hf_cas_options options = HF_CAS_OPTIONS_INIT;
    hf_buffer current = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_bytes expected;
    hf_status status;
    int code = EXIT_YES;

    if (call->options->operand_count != (absent ? 3 : 4)) {
        return call_usage(
            call, "specify KEY FIELD EXPECTED NEW, or --absent KEY FIELD NEW");
    }
    expected = call_operand(call, 2);
    options.ttl_ms = call_ttl_ms(call);
    status = hf_hash_cas(call->client, call_operand(call, 0),
                         call_operand(call, 1), absent ? NULL : &expected,
                         call_operand(call, absent ? 2 : 3), &options, &current,
                         &err);
    if (status != HF_OK)
        code = call_failed(call, status, &err);
    if (status == HF_OK || status == HF_CONFLICT || status == HF_NOT_FOUND)
        print_cas(call, status, &current);
    hf_buffer_free(&current);
    return code;
}

static int hash_incr(struct call *call)
{
    int64_t delta;
    hf_add_options options = call_add_options(call, &delta);
    hf_bytes field = call_operand(call, 1);
    hf_error err = HF_ERROR_INIT;
    struct json json;
    int64_t number = 0;
    hf_status status = hf_hash_add(call->client, call_operand(call, 0), field,
                                   delta, &options, &number, &err);

    if (status != HF_OK && status != HF_CONFLICT)
        return call_failed(call, status, &err);
    if (!call->json) {
        printf("%" PRId64 "\n", number);
    } else {
        begin_answer(call, &json);
        json_bytes(&json, "name", field);
        json_bool(&json, "added", status == HF_OK);
        json_integer(&json, "value", number);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int hash_delete(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status =
        hf_hash_delete(call->client, call_operand(call, 0), &err);

    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        begin_answer(call, &json);
        json_bool(&json, "deleted", status == HF_OK);
        json_end(&json);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static void print_deleted(const struct call *call, size_t deleted)
{
    struct json json;

    if (!call->json) {
        printf("%zu\n", deleted);
        return;
    }
    begin_answer(call, &json);
    json_integer(&json, "fields_deleted", (int64_t)deleted);
    json_end(&json);
}

static int hash_expire_fields(struct call *call)
{
    bool never = call->options->given[OPT_PERSIST];
    int64_t ttl_ms = never ? -1 : call_ttl_ms(call);
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_bytes *names;
    hf_status status;
    size_t count;
    size_t found = 0;

    if (!never && ttl_ms == 0)
        return call_usage(call, "--ttl or --persist is missing");
    names = call_operands(call, 1, &count);
    if (names == NULL)
        return call_failed(call, HF_NO_MEMORY, NULL);
    status = hf_hash_expire_fields(call->client, call_operand(call, 0), ttl_ms,
                                   names, count, &found, &err);
    free(names);
    if (call->json && (status == HF_OK || status == HF_NOT_FOUND)) {
        begin_answer(call, &json);
        json_integer(&json, "fields_found", (int64_t)found);
        json_end(&json);
    } else if (status == HF_OK) {
        printf("%zu\n", found);
    }
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static void print_ttl(hf_bytes name, int64_t ttl_ms)
{
    char text[32] = "never";

    if (ttl_ms == -2)
        return;
    if (ttl_ms >= 0)
        (void)snprintf(text, sizeof(text), "%" PRId64 ".%03d", ttl_ms / 1000,
                       (int)(ttl_ms % 1000));
    out_pair(name, hf_str(text));
}

static void print_ttls(const struct call *call, const hf_bytes *names,
                       const int64_t *ttls_ms, size_t count)
{
    struct json json;
    size_t i;

    for (i = 0; !call->json && i < count; i++)
        print_ttl(names[i], ttls_ms[i]);
    if (!call->json)
        return;
    begin_answer(call, &json);
    json_open(&json, "fields", '[');
    for (i = 0; i < count; i++) {
        json_open(&json, NULL, '{');
        json_bytes(&json, "name", names[i]);
        json_integer(&json, "ttl_ms", ttls_ms[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

static int hash_ttl(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_NO_MEMORY;
    size_t count;
    hf_bytes *names = call_operands(call, 1, &count);
    int64_t *ttls_ms = calloc(count, sizeof(*ttls_ms));

    if (names != NULL && ttls_ms != NULL)
        status = hf_hash_ttl_fields(call->client, call_operand(call, 0), names,
                                    count, ttls_ms, &err);
    if (status == HF_OK)
        print_ttls(call, names, ttls_ms, count);
    free(names);
    free(ttls_ms);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int hash_delete_fields(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    size_t deleted = 0;
    hf_status status;
    size_t count;
    hf_bytes *names = call_operands(call, 1, &count);

    if (names == NULL)
        return call_failed(call, HF_NO_MEMORY, NULL);
    status = hf_hash_delete_fields(call->client, call_operand(call, 0), names,
                                   count, &deleted, &err);
    free(names);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    print_deleted(call, deleted);
    return deleted > 0 ? EXIT_YES : EXIT_NO;
}

const struct command hash_commands[] = {
    {.grammar = {.name = "hash put",
                 .accepts = OPTIONS_WRITE | OPTION(TTL) | OPTION(REPLACE) |
                            OPTION(NX) | OPTION(XX) | OPTION(PERSIST) |
                            OPTION(TOKEN) | OPTION(FIELD_TTL),
                 .operands_min = 3,
                 .operands_max = -1,
                 .operands = "KEY FIELD VALUE [FIELD VALUE...]"},
     .run = hash_put},
    {.grammar = {.name = "hash get",
                 .accepts = OPTIONS_COMMON | OPTION(RAW),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "KEY FIELD"},
     .run = hash_get},
    {.grammar = {.name = "hash get-fields",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 2,
                 .operands_max = -1,
                 .operands = "KEY FIELD..."},
     .run = hash_get_fields},
    {.grammar = {.name = "hash get-all",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = hash_get_all},
    {.grammar = {.name = "hash cas",
                 .accepts =
                     OPTIONS_WRITE | OPTION(TTL) | OPTION(ABSENT) | OPTION(RAW),
                 .operands_min = 2,
                 .operands_max = 4,
                 .operands = "KEY FIELD [EXPECTED] NEW"},
     .run = hash_cas},
    {.grammar = {.name = "hash incr",
                 .accepts = OPTIONS_WRITE | OPTION(TTL) | OPTIONS_ADD,
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "KEY FIELD"},
     .run = hash_incr},
    {.grammar = {.name = "hash expire-fields",
                 .accepts = OPTIONS_WRITE | OPTION(TTL) | OPTION(PERSIST),
                 .operands_min = 2,
                 .operands_max = -1,
                 .operands = "KEY FIELD..."},
     .run = hash_expire_fields},
    {.grammar = {.name = "hash ttl",
                 .accepts = OPTIONS_COMMON,
                 .operands_min = 2,
                 .operands_max = -1,
                 .operands = "KEY FIELD..."},
     .run = hash_ttl},
    {.grammar = {.name = "hash delete",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = hash_delete},
    {.grammar = {.name = "hash delete-fields",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 2,
                 .operands_max = -1,
                 .operands = "KEY FIELD..."},
     .run = hash_delete_fields},
    COMMAND_END,
};
