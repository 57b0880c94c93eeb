/* SPDX-License-Identifier: Apache-2.0 */
/* query_value.c - a page of a value, by its type. */
#include <inttypes.h>
#include <string.h>

#include "http/about.h"
#include "http/page.h"
#include "http/query_reply.h"
#include "http/query_run.h"
#include "read_number.h"

/* Bytes of a string in an answer, if it is the value of a key. */
#define PAGE_BYTES 4096

static hf_status fail_at(struct http_call *call)
{
    return fail_query(call, HF_INVALID,
                      "at is not an index, a cursor or an ID of a stream");
}

/* The types whose elements can be read, and what tells their number, or that
 * of a string's bytes. */
static const struct shape {
    const char *type;
    const char *count;
    const char *first; /* where the first page begins: */
    bool by_index;     /* else by a cursor, or the ID of an entry */
} shapes[] = {
    {"string", "strlen", "0", true}, {"list", "llen", "0", true},
    {"zset", "zcard", "0", true},    {"hash", "hlen", "0", false},
    {"set", "scard", "0", false},    {"stream", "xlen", "-", false},
};

static const struct shape *find_shape(const char *type)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (strcmp(shapes[i].type, type) == 0)
            return &shapes[i];
    }
    return NULL;
}

static hf_status put_elements(struct http_call *call, const char *type,
                              const char *at)
{
    const hf_bytes words[] = {WORD("eval_ro"), WORD(page_read), WORD("1"),
                              call->words[0],  WORD(type),      WORD(at)};
    hf_reply *reply = NULL;
    hf_status status = hf_command(call->client, 6, words, &reply, &call->err);

    if (status == HF_OK) {
        put_reply(call, "next", hf_reply_at(reply, 0), STRING_MAX);
        put_reply(call, "reply", hf_reply_at(reply, 1), STRING_MAX);
        call->cut |= hf_reply_integer(hf_reply_at(reply, 2)) != 0;
    } else if (status == HF_SCRIPT &&
               strstr(call->err.message, "memory") != NULL) {
        json_bool(call->json, "too_large", true);
        status = HF_OK;
    }
    hf_reply_free(reply);
    return status;
}

/* One byte more than is shown says whether there is more, and which character
 * the last one is. */
static hf_status put_part(struct http_call *call, int64_t first)
{
    char from[32], last[32], next[32];
    hf_bytes words[] = {WORD("getrange"), call->words[0], {from, 0}, {last, 0}};
    hf_bytes part;
    hf_reply *reply = NULL;
    hf_status status;

    (void)snprintf(from, sizeof(from), "%" PRId64, first);
    (void)snprintf(last, sizeof(last), "%" PRId64, first + PAGE_BYTES);
    words[2].size = strlen(from);
    words[3].size = strlen(last);
    status = hf_command(call->client, 4, words, &reply, &call->err);
    part = hf_reply_bytes(reply);
    if (status == HF_OK && part.size > PAGE_BYTES) {
        part.size = whole_characters(part, PAGE_BYTES);
        (void)snprintf(next, sizeof(next), "%" PRId64,
                       first + (int64_t)part.size);
        json_text(call->json, "next", next);
    } else if (status == HF_OK) {
        json_null(call->json, "next");
    }
    if (status == HF_OK)
        json_bytes(call->json, "reply", part);
    hf_reply_free(reply);
    return status;
}

/* How many digits `text` begins with; 0: none, or more than a number of 64 bits
 * may have. */
static size_t count_digits(const char *text)
{
    size_t count = strspn(text, "0123456789");

    return count > 20 ? 0 : count;
}

/* A cursor is a number; the ID of an entry, of which the ones behind are asked
 * for, "(" and two. */
static bool is_place(const struct shape *shape, const char *at)
{
    size_t first, last;

    if (strcmp(at, shape->first) == 0)
        return true;
    if (shape->first[0] != '-')
        return (first = count_digits(at)) > 0 && at[first] == '\0';
    first = at[0] == '(' ? count_digits(at + 1) : 0;
    if (first == 0 || at[first + 1] != '-')
        return false;
    last = count_digits(at + first + 2);
    return last > 0 && at[first + 2 + last] == '\0';
}

/* From `at` on: an index, a cursor, or an ID. */
static hf_status put_page(struct http_call *call, const struct shape *shape,
                          const char *at)
{
    int64_t first = 0;

    if (shape->by_index) {
        if (!number_integer(at, &first) || first < 0 || first > INT32_MAX)
            return fail_at(call);
        json_integer(call->json, "from", first);
    } else if (!is_place(shape, at)) {
        return fail_at(call);
    }
    return strcmp(shape->type, "string") == 0
               ? put_part(call, first)
               : put_elements(call, shape->type, at);
}

static hf_status put_value(struct http_call *call, const struct shape *shape)
{
    const hf_bytes words[] = {WORD(shape->count), call->words[0]};
    hf_bytes from = call->words[1];
    char at[64];
    int64_t length;
    hf_status status = ask_integer(call, 2, words, &length);

    if (status != HF_OK)
        return status;
    json_integer(call->json, "length", length);
    if (!copy_text(from.size == 0 ? WORD(shape->first) : from, at, sizeof(at)))
        return fail_at(call);
    return put_page(call, shape, at);
}

static hf_status read_key(struct http_call *call, struct about *about)
{
    hf_bytes words[ABOUT_WORDS];
    hf_command_item items[ABOUT_COMMANDS];
    hf_reply *replies[ABOUT_COMMANDS] = {NULL};
    hf_status statuses[ABOUT_COMMANDS];
    hf_status status;

    about_commands(call->words[0], words, items);
    status = hf_command_many(call->client, items, ABOUT_COMMANDS, replies,
                             statuses, &call->err);
    about_read(replies, about);
    return status == HF_DENIED ? statuses[0] : status; /* of the others */
}

hf_status query_value(struct http_call *call)
{
    const struct shape *shape;
    struct about about;
    hf_status status = read_key(call, &about);

    if (status != HF_OK)
        return status;
    if (strcmp(about.type, "none") == 0)
        return HF_NOT_FOUND;
    about_json(call->json, &about);
    shape = find_shape(about.type);
    return shape == NULL ? HF_OK : put_value(call, shape);
}
