/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - comparing replies by the rules of commands.h. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "exceptions.h"
#include "newer.h"

static bool is_text(const hf_reply *reply)
{
    return reply->kind == HF_REPLY_STRING || reply->kind == HF_REPLY_STATUS ||
           reply->kind == HF_REPLY_ERROR;
}

static int compare_texts(const hf_reply *a, const hf_reply *b)
{
    size_t size = a->bytes.size < b->bytes.size ? a->bytes.size : b->bytes.size;
    int order = size == 0 ? 0 : memcmp(a->bytes.data, b->bytes.data, size);

    if (order != 0)
        return order;
    return a->bytes.size < b->bytes.size ? -1 : a->bytes.size > b->bytes.size;
}

/* `a` is the tested side's. `scores`: some texts may be scores. */
static bool same(const hf_reply *a, const hf_reply *b, bool scores)
{
    if (a->kind != b->kind)
        return false;
    if (is_text(a))
        return compare_texts(a, b) == 0 || exception_cut_error(a, b) ||
               (scores && exception_same_text(a, b)) ||
               newer_same_text(hf_view(a->bytes.data, a->bytes.size),
                               hf_view(b->bytes.data, b->bytes.size));
    /* Of nil it tells whether it stands for an array. */
    if (a->kind == HF_REPLY_INTEGER || a->kind == HF_REPLY_NIL)
        return a->integer == b->integer;
    if (a->kind != HF_REPLY_ARRAY)
        return true;
    if (a->array.count != b->array.count)
        return false;
    for (size_t i = 0; i < a->array.count; i++) {
        if (!same(&a->array.items[i], &b->array.items[i], scores))
            return false;
    }
    return true;
}

/* Order by kind, then text: enough for arrays of texts. */
static int order_items(const void *left, const void *right)
{
    const hf_reply *a = left;
    const hf_reply *b = right;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return is_text(a) ? compare_texts(a, b) : 0;
}

static void sort_items(hf_reply *reply, size_t each)
{
    if (reply->kind == HF_REPLY_ARRAY && reply->array.count % each == 0 &&
        reply->array.count > 0)
        qsort(reply->array.items, reply->array.count / each,
              each * sizeof(hf_reply), order_items);
}

/* Numbers, or arrays of them. */
static bool near(const hf_reply *a, const hf_reply *b, int64_t apart)
{
    bool all = a->kind == HF_REPLY_ARRAY && b->kind == HF_REPLY_ARRAY &&
               a->array.count == b->array.count;

    for (size_t i = 0; all && i < a->array.count; i++) {
        if (!near(&a->array.items[i], &b->array.items[i], apart))
            return false;
    }
    if (all)
        return true;
    if (a->kind != HF_REPLY_INTEGER || b->kind != HF_REPLY_INTEGER ||
        a->integer < 0 || b->integer < 0)
        return same(a, b, false);
    return a->integer - b->integer <= apart && b->integer - a->integer <= apart;
}

static bool same_shape(const hf_reply *a, const hf_reply *b)
{
    if (a->kind == HF_REPLY_ERROR || b->kind == HF_REPLY_ERROR)
        return same(a, b, false);
    return a->kind == b->kind &&
           (a->kind != HF_REPLY_ARRAY || a->array.count == b->array.count);
}

static bool by_rule(rule how, hf_reply *a, hf_reply *b, int64_t apart_ms)
{
    switch (how) {
    case RULE_UNORDERED:
    case RULE_PAIRS:
        sort_items(a, how == RULE_PAIRS ? 2 : 1);
        sort_items(b, how == RULE_PAIRS ? 2 : 1);
        return same(a, b, false);
    case RULE_SECONDS:
        return near(a, b, apart_ms / 1000 + 1);
    case RULE_MS:
        return near(a, b, apart_ms);
    case RULE_SHAPE:
        return same_shape(a, b);
    case RULE_SCORES:
        return same(a, b, true);
    default:
        return same(a, b, false);
    }
}

/* Is a reply an error that only one of the versions returns? */
static bool is_otherwise(const op *command, const hf_reply *answer)
{
    return answer->kind == HF_REPLY_ERROR &&
           newer_reads_otherwise(command, answer->bytes.data);
}

static bool same_command(const op *command, hf_reply *tested, hf_reply *server,
                         int64_t apart_ms)
{
    rule how =
        command->word_count > 0 ? command_rule(command->words[0]) : RULE_EXACT;

    if (by_rule(how, tested, server, apart_ms))
        return true;
    if (is_otherwise(command, tested) || is_otherwise(command, server))
        return true;
    switch (exception_sorted(command, tested, server)) {
    case ORDER_SAME:
        return true;
    case ORDER_CHANCE:
        return by_rule(RULE_UNORDERED, tested, server, apart_ms);
    default:
        return false;
    }
}

static size_t compare_batch(const op *ops, size_t count, hf_reply *tested,
                            hf_reply *server, int64_t apart_ms)
{
    if (tested->kind != HF_REPLY_ARRAY || server->kind != HF_REPLY_ARRAY ||
        tested->array.count != count || server->array.count != count)
        return count - 1;
    for (size_t i = 0; i < count; i++) {
        if (!same_command(&ops[i], &tested->array.items[i],
                          &server->array.items[i], apart_ms))
            return i;
    }
    return COMPARE_SAME;
}

/* Some reply was not HF_OK. The driver's translation of an error must be the
 * same too, including the message. */
static bool same_failure(const op *ops, const hf__request *tested,
                         const hf__request *server)
{
    if (exception_unreadable(server))
        return true;
    if (tested->status == server->status &&
        tested->error.status == server->error.status &&
        (strcmp(tested->error.message, server->error.message) == 0 ||
         newer_same_text(hf_str(tested->error.message),
                         hf_str(server->error.message))))
        return true;
    return newer_reads_otherwise(&ops[0], tested->error.message) ||
           newer_reads_otherwise(&ops[0], server->error.message);
}

size_t compare_answers(const op *ops, size_t count, hf__request *tested,
                       hf__request *server, int64_t apart_ms)
{
    bool alike;

    if (tested->status != HF_OK || server->status != HF_OK)
        return same_failure(ops, tested, server) ? COMPARE_SAME : count - 1;
    if (ops[0].kind == OP_BATCH)
        return compare_batch(ops, count, &tested->reply, &server->reply,
                             apart_ms);
    if (ops[0].kind == OP_SCRIPT)
        alike = same(&tested->reply, &server->reply, true);
    else
        alike = same_command(&ops[0], &tested->reply, &server->reply, apart_ms);
    if (tested->reply.kind == HF_REPLY_ERROR &&
        server->reply.kind == HF_REPLY_ERROR)
        alike = alike && same_failure(ops, tested, server);
    return alike ? COMPARE_SAME : 0;
}
