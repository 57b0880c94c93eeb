/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - operations and replies as text. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

/* Longer words are truncated: they look like ABC..., see words.c. */
#define WORD_SHOWN 160u

static void print_bytes(FILE *to, const char *data, size_t size)
{
    size_t shown = size > WORD_SHOWN ? WORD_SHOWN : size;

    fputc('"', to);
    for (size_t i = 0; i < shown; i++) {
        unsigned char byte = (unsigned char)data[i];

        if (byte == '"' || byte == '\\')
            fprintf(to, "\\%c", byte);
        else if (byte >= 0x20 && byte < 0x7f)
            fputc(byte, to);
        else
            fprintf(to, "\\x%02x", byte);
    }
    fputc('"', to);
    if (shown < size)
        fprintf(to, "...(%zu bytes, the last is %02x)", size,
                (unsigned char)data[size - 1]);
}

/* ----------------------------------------------------------------- replies */

static void print_reply(FILE *to, const hf_reply *reply)
{
    switch (reply->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        fputs(hf_reply_type(reply) == HF_REPLY_NIL ? "(nil)" : "(nil array)",
              to);
        break;
    case HF_REPLY_INTEGER:
        fprintf(to, "(integer) %" PRId64, reply->integer);
        break;
    case HF_REPLY_STATUS:
        fputs("(status) ", to);
        print_bytes(to, reply->bytes.data, reply->bytes.size);
        break;
    case HF_REPLY_ERROR:
        fputs("(error) ", to);
        print_bytes(to, reply->bytes.data, reply->bytes.size);
        break;
    case HF_REPLY_STRING:
        print_bytes(to, reply->bytes.data, reply->bytes.size);
        break;
    default:
        fputc('[', to);
        for (size_t i = 0; i < reply->array.count; i++) {
            if (i > 0)
                fputs(", ", to);
            print_reply(to, &reply->array.items[i]);
        }
        fputc(']', to);
        break;
    }
}

void report_answer(char *text, size_t size, const hf__request *request,
                   size_t item, bool batch)
{
    const hf_reply *reply = &request->reply;
    FILE *to = fmemopen(text, size, "w");

    text[0] = '\0';
    if (to == NULL)
        return;
    if (request->status != HF_OK) {
        fprintf(to, "HF_%s: ", hf_status_name(request->status));
        print_bytes(to, request->error.message, strlen(request->error.message));
    } else {
        if (batch && reply->kind == HF_REPLY_ARRAY && item < reply->array.count)
            reply = &reply->array.items[item];
        print_reply(to, reply);
    }
    fclose(to);
    text[size - 1] = '\0';
}

/* -------------------------------------------------------------- operations */

static void print_script(FILE *to, const op *script)
{
    const char *at = script->source;

    fprintf(to, "script with %zu keys", script->key_count);
    for (size_t i = 0; i < script->word_count; i++) {
        fputs(i == script->key_count ? " and arguments " : " ", to);
        print_bytes(to, script->words[i].data, script->words[i].size);
    }
    while (*at != '\0') {
        size_t size = strcspn(at, "\n");

        fprintf(to, "\n           | %.*s", (int)size, at);
        at += size;
        at += *at == '\n' ? 1 : 0;
    }
}

static void print_op(FILE *to, const op *shown)
{
    static const char *const kinds[] = {[OP_PLAIN] = "plain",
                                        [OP_CALL] = "call",
                                        [OP_BATCH] = "batch",
                                        [OP_EXCHANGE] = "exchange"};

    if (shown->kind == OP_SCRIPT) {
        print_script(to, shown);
    } else if (shown->kind == OP_WAIT) {
        fputs("wait", to);
    } else {
        fputs(kinds[shown->kind], to);
        if (shown->kind == OP_BATCH)
            fprintf(to, " %u", shown->batch);
        for (size_t i = 0; i < shown->word_count; i++) {
            fputc(' ', to);
            print_bytes(to, shown->words[i].data, shown->words[i].size);
        }
    }
    fputc('\n', to);
}

void report_difference(FILE *to, const pair *both, const op_list *list,
                       const difference *found)
{
    for (size_t i = 0; i <= found->index; i++) {
        fprintf(to, "  %4zu  ", i + 1);
        print_op(to, &list->ops[i]);
    }
    fprintf(to, "  %zu is answered by\n", found->index + 1);
    fprintf(to, "    %-9s %s\n", both->tested.name, found->tested);
    fprintf(to, "    %-9s %s\n", both->server.name, found->server);
}
