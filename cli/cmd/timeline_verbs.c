/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_verbs.c - holdfast timeline add|get|remove|count|page|range|
 * update|trim|delete.
 *
 * An attribute is typed NAME=TEXT or NAME:=NUMBER.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/timeline.h"
#include "output.h"
#include "read_number.h"

/* Begin the object about the key. */
static void begin_answer(const struct call *call, struct json *json)
{
    json_begin(json, stdout);
    json_bytes(json, "key", call_operand(call, 0));
}

/* -------------------------------------------------------------- attributes */

static bool read_number(const char *text, double *number)
{
    char *end;

    *number = strtod(text, &end);
    return end != text && *end == '\0';
}

static bool read_attribute(const char *text, hf_attribute *attribute)
{
    const char *equals = strchr(text, '=');
    double number;

    if (equals == NULL || equals == text)
        return false;
    if (equals[-1] != ':') {
        *attribute = hf_attribute_text(hf_view(text, (size_t)(equals - text)),
                                       hf_str(equals + 1));
        return true;
    }
    if (!read_number(equals + 1, &number))
        return false;
    *attribute =
        hf_attribute_number(hf_view(text, (size_t)(equals - text) - 1), number);
    return true;
}

static int bad_attribute(const struct call *call, const char *text)
{
    complain(call->command->grammar.name,
             "\"%s\" is neither NAME=TEXT nor NAME:=NUMBER", text);
    return EXIT_USAGE;
}

/* The operands from `first` on. */
static int read_attributes(const struct call *call, int first,
                           hf_attribute attributes[HF_ATTRIBUTE_COUNT_MAX],
                           size_t *count)
{
    const struct options *given = call->options;

    *count = 0;
    if (given->operand_count - first > HF_ATTRIBUTE_COUNT_MAX)
        return call_usage(call, "an item may have 16 attributes");
    for (int i = first; i < given->operand_count; i++) {
        if (!read_attribute(given->operands[i], &attributes[(*count)++]))
            return bad_attribute(call, given->operands[i]);
    }
    return EXIT_YES;
}

/* --------------------------------------------------------------------- add */

static void print_done(const struct call *call, const char *what, bool done)
{
    struct json json;

    if (!call->json)
        return;
    begin_answer(call, &json);
    if (call->options->operand_count > 1)
        json_bytes(&json, "id", call_operand(call, 1));
    json_bool(&json, what, done);
    json_end(&json);
}

static int add_payload(struct call *call, hf_bytes payload, int attributes_at)
{
    const struct options *given = call->options;
    hf_attribute attributes[HF_ATTRIBUTE_COUNT_MAX];
    hf_timeline_add_options options = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int code = read_attributes(call, attributes_at, attributes,
                               &options.attribute_count);

    if (code != EXIT_YES)
        return code;
    options.attributes = attributes;
    options.flags = given->given[OPT_NX] ? (uint32_t)HF_TIMELINE_NX : 0;
    options.at_ms = given->number[OPT_AT];
    status = hf_timeline_add(call->client, call_operand(call, 0),
                             call_operand(call, 1), payload, call_ttl_ms(call),
                             &options, &err);
    if (status == HF_OK || status == HF_CONFLICT)
        print_done(call, "added", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int timeline_add(struct call *call)
{
    bool from_stdin = call->options->given[OPT_STDIN];
    hf_buffer input = HF_BUFFER_INIT;
    int code;

    if (!call->options->given[OPT_TTL])
        return call_usage(call, "missing --ttl SEC");
    if (!from_stdin && call->options->operand_count < 3)
        return call_usage(call, "missing argument PAYLOAD");
    if (!from_stdin)
        return add_payload(call, call_operand(call, 2), 3);
    code = call_read_stdin(call, HF_VALUE_MAX, &input);
    if (code == EXIT_YES)
        code = add_payload(call, hf_view(input.data, input.size), 2);
    free(input.data);
    return code;
}

/* --------------------------------------------------------------------- get */

static void put_attributes(struct json *json, const hf_timeline_item *item)
{
    json_open(json, "attributes", '[');
    for (size_t i = 0; i < item->attribute_count; i++) {
        const hf_attribute *attribute = &item->attributes[i];

        json_open(json, NULL, '{');
        json_bytes(json, "name", attribute->name);
        if (attribute->kind == HF_ATTRIBUTE_NUMBER)
            json_number(json, "number", attribute->number);
        else
            json_bytes(json, "text", attribute->text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Members of the object of an item. */
static void put_item(struct json *json, const hf_timeline_item *item)
{
    json_bytes(json, "id", item->id);
    json_bytes(json, "payload", item->payload);
    json_integer(json, "at_ms", item->at_ms);
    json_integer(json, "ttl_ms", item->ttl_ms);
    put_attributes(json, item);
}

static void print_item(const struct call *call, const hf_timeline_item *item)
{
    hf_buffer payload;
    struct json json;

    if (call->json) {
        begin_answer(call, &json);
        put_item(&json, item);
        json_end(&json);
        return;
    }
    payload =
        (hf_buffer){(void *)(uintptr_t)item->payload.data, item->payload.size};
    out_value(&payload, call->options->given[OPT_RAW]);
}

static int timeline_get(struct call *call)
{
    hf_timeline_items found = HF_TIMELINE_ITEMS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_timeline_get(call->client, call_operand(call, 0),
                                       call_operand(call, 1), &found, &err);
    struct json json;

    if (status == HF_OK) {
        print_item(call, &found.items[0]);
    } else if (call->json && status == HF_NOT_FOUND) {
        begin_answer(call, &json);
        json_bytes(&json, "id", call_operand(call, 1));
        json_null(&json, "payload");
        json_end(&json);
    }
    hf_timeline_items_free(&found);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* ----------------------------------------------------------- remove, count */

static int timeline_remove(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_timeline_remove(call->client, call_operand(call, 0),
                                          call_operand(call, 1), &err);

    if (status == HF_OK || status == HF_NOT_FOUND)
        print_done(call, "removed", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int print_count(const struct call *call, const char *name, size_t count)
{
    struct json json;

    if (!call->json) {
        printf("%zu\n", count);
        return EXIT_YES;
    }
    begin_answer(call, &json);
    json_integer(&json, name, (int64_t)count);
    json_end(&json);
    return EXIT_YES;
}

/* -------------------------------------------------------------------- page */

static void print_page(const struct call *call, const hf_timeline_items *page)
{
    struct json json;

    for (size_t i = 0; i < page->count && !call->json; i++)
        out_pair(page->items[i].id, page->items[i].payload);
    if (!call->json)
        return;
    begin_answer(call, &json);
    json_open(&json, "items", '[');
    for (size_t i = 0; i < page->count; i++) {
        json_open(&json, NULL, '{');
        put_item(&json, &page->items[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    if (page->next.size > 0)
        json_bytes(&json, "next", page->next);
    else
        json_null(&json, "next");
    json_end(&json);
}

static int bad_bound(const struct call *call, const char *option,
                     const char *unit, const char *text)
{
    complain(call->command->grammar.name, "--%s takes %s, not \"%s\"", option,
             unit, text);
    return EXIT_USAGE;
}

/* One end of the range, of times or of an attribute's numbers. */
static int read_bound(const struct call *call, enum option_id id,
                      const char *option, int64_t *at_ms, double *number,
                      const double **given_number)
{
    const char *text = call->options->text[id];

    if (!call->options->given[id])
        return EXIT_YES;
    if (call->options->given[OPT_ORDER_BY]) {
        *given_number = number;
        return read_number(text, number)
                   ? EXIT_YES
                   : bad_bound(call, option, "a number", text);
    }
    if (number_seconds(text, at_ms) && *at_ms >= 1 &&
        *at_ms <= HF_TIMELINE_AT_MAX_MS)
        return EXIT_YES;
    return bad_bound(call, option, "seconds of Unix time", text);
}

static int run_page(const struct call *call,
                    const hf_timeline_page_options *options)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_timeline_page(call->client, call_operand(call, 0),
                                        options, &page, &err);

    if (status == HF_OK)
        print_page(call, &page);
    hf_timeline_items_free(&page);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

/* Which items, in which order; and what the options point at. */
struct selection {
    hf_timeline_page_options options;
    hf_attribute wanted;
    double min;
    double max;
};

static int read_selection(const struct call *call, struct selection *self)
{
    const struct options *given = call->options;
    hf_timeline_page_options *options = &self->options;
    int code;

    *options = (hf_timeline_page_options)HF_TIMELINE_PAGE_OPTIONS_INIT;
    if (given->given[OPT_ORDER_BY])
        options->order_by = hf_str(given->text[OPT_ORDER_BY]);
    if (given->given[OPT_WHERE]) {
        options->equals = &self->wanted;
        if (!read_attribute(given->text[OPT_WHERE], &self->wanted))
            return bad_attribute(call, given->text[OPT_WHERE]);
    }
    code = read_bound(call, OPT_FROM, "from", &options->from_ms, &self->min,
                      &options->min);
    if (code != EXIT_YES)
        return code;
    return read_bound(call, OPT_TO, "to", &options->to_ms, &self->max,
                      &options->max);
}

static int read_page(const struct call *call, uint32_t flags)
{
    const struct options *given = call->options;
    struct selection self;
    int code = read_selection(call, &self);

    if (code != EXIT_YES)
        return code;
    self.options.flags = flags;
    self.options.limit = (size_t)given->number[OPT_LIMIT];
    self.options.offset = (size_t)given->number[OPT_OFFSET];
    if (given->given[OPT_CURSOR])
        self.options.cursor = hf_str(given->text[OPT_CURSOR]);
    return run_page(call, &self.options);
}

static int timeline_page(struct call *call)
{
    return read_page(call, call->options->given[OPT_OLDEST]
                               ? (uint32_t)HF_TIMELINE_ASCENDING
                               : 0);
}

static int timeline_range(struct call *call)
{
    return read_page(call, HF_TIMELINE_ASCENDING);
}

/* ------------------------------------------------------------------- count */

/* By as many calls as it takes. */
static hf_status count_matching(const struct call *call, size_t *count,
                                hf_timeline_page_options *options,
                                hf_error *err)
{
    hf_buffer next = HF_BUFFER_INIT, last = HF_BUFFER_INIT;
    size_t some = 0;
    hf_status status;

    do {
        hf_buffer_free(&last);
        last = next;
        options->cursor = hf_view(last.data, last.size);
        next = (hf_buffer)HF_BUFFER_INIT;
        status = hf_timeline_count_matching(call->client, call_operand(call, 0),
                                            options, &some, &next, err);
        *count += status == HF_OK ? some : 0;
    } while (status == HF_OK && next.size > 0);
    hf_buffer_free(&last);
    hf_buffer_free(&next);
    return status;
}

static int timeline_count(struct call *call)
{
    const bool *given = call->options->given;
    hf_error err = HF_ERROR_INIT;
    size_t count = 0;
    struct selection self;
    hf_status status;
    int code = read_selection(call, &self);

    if (code != EXIT_YES)
        return code;
    if (given[OPT_WHERE] || given[OPT_ORDER_BY] || given[OPT_FROM] ||
        given[OPT_TO])
        status = count_matching(call, &count, &self.options, &err);
    else
        status = hf_timeline_count(call->client, call_operand(call, 0), &count,
                                   &err);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    return print_count(call, "count", count);
}

/* ------------------------------------------------------------ update, trim */

static int timeline_update(struct call *call)
{
    const struct options *given = call->options;
    hf_timeline_update_options options = HF_TIMELINE_UPDATE_OPTIONS_INIT;
    hf_attribute attributes[HF_ATTRIBUTE_COUNT_MAX];
    hf_bytes payload = hf_str("");
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int code = read_attributes(call, 2, attributes, &options.attribute_count);

    if (code != EXIT_YES)
        return code;
    if (given->given[OPT_PAYLOAD]) {
        payload = hf_str(given->text[OPT_PAYLOAD]);
        options.payload = &payload;
    }
    options.flags =
        given->given[OPT_REPLACE] ? (uint32_t)HF_TIMELINE_REPLACE : 0;
    options.at_ms = given->number[OPT_AT];
    options.ttl_ms = call_ttl_ms(call);
    options.attributes = attributes;
    status = hf_timeline_update(call->client, call_operand(call, 0),
                                call_operand(call, 1), &options, &err);
    if (status == HF_OK || status == HF_NOT_FOUND)
        print_done(call, "updated", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

static int timeline_trim(struct call *call)
{
    int64_t keep =
        call->options->given[OPT_KEEP] ? call->options->number[OPT_KEEP] : -1;
    hf_timeline_trimmed trimmed = {0, 1};
    hf_error err = HF_ERROR_INIT;
    int64_t to_ms = 0;
    size_t removed = 0;
    double unused;
    const double *none;
    int code = read_bound(call, OPT_TO, "to", &to_ms, &unused, &none);

    if (code != EXIT_YES)
        return code;
    if (to_ms == 0 && keep < 0)
        return call_usage(call, "specify --to UNIXSEC or --keep COUNT");
    while (trimmed.more) {
        hf_status status = hf_timeline_trim(call->client, call_operand(call, 0),
                                            to_ms, keep, &trimmed, &err);

        if (status != HF_OK)
            return call_failed(call, status, &err);
        removed += trimmed.removed;
    }
    return print_count(call, "removed", removed);
}

static int timeline_delete(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_timeline_delete(call->client, call_operand(call, 0), &err);

    if (status == HF_OK || status == HF_NOT_FOUND)
        print_done(call, "deleted", status == HF_OK);
    return status == HF_OK ? EXIT_YES : call_failed(call, status, &err);
}

const struct command timeline_commands[] = {
    {.grammar = {.name = "timeline add",
                 .accepts = OPTIONS_WRITE | OPTION(TTL) | OPTION(AT) |
                            OPTION(NX) | OPTION(STDIN),
                 .operands_min = 2,
                 .operands_max = -1,
                 .operands = "KEY ID PAYLOAD [NAME=TEXT...] [NAME:=NUMBER...]"},
     .run = timeline_add},
    {.grammar = {.name = "timeline get",
                 .accepts = OPTIONS_COMMON | OPTION(RAW),
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "KEY ID"},
     .run = timeline_get},
    {.grammar = {.name = "timeline remove",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 2,
                 .operands_max = 2,
                 .operands = "KEY ID"},
     .run = timeline_remove},
    {.grammar = {.name = "timeline count",
                 .accepts = OPTIONS_COMMON | OPTION(ORDER_BY) | OPTION(WHERE) |
                            OPTION(FROM) | OPTION(TO),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = timeline_count},
    {.grammar = {.name = "timeline page",
                 .accepts = OPTIONS_COMMON | OPTION(ORDER_BY) | OPTION(WHERE) |
                            OPTION(FROM) | OPTION(TO) | OPTION(OFFSET) |
                            OPTION(LIMIT) | OPTION(CURSOR) | OPTION(OLDEST),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = timeline_page},
    {.grammar = {.name = "timeline range",
                 .accepts =
                     OPTIONS_COMMON | OPTION(FROM) | OPTION(TO) | OPTION(LIMIT),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = timeline_range},
    {.grammar = {.name = "timeline update",
                 .accepts = OPTIONS_WRITE | OPTION(TTL) | OPTION(AT) |
                            OPTION(PAYLOAD) | OPTION(REPLACE),
                 .operands_min = 2,
                 .operands_max = -1,
                 .operands = "KEY ID [NAME=TEXT...] [NAME:=NUMBER...]"},
     .run = timeline_update},
    {.grammar = {.name = "timeline trim",
                 .accepts = OPTIONS_WRITE | OPTION(TO) | OPTION(KEEP),
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = timeline_trim},
    {.grammar = {.name = "timeline delete",
                 .accepts = OPTIONS_WRITE,
                 .operands_min = 1,
                 .operands_max = 1,
                 .operands = "KEY"},
     .run = timeline_delete},
    COMMAND_END,
};
