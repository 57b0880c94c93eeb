/* SPDX-License-Identifier: Apache-2.0 */
/* query_reply.c - see query_reply.h. */
#include "http/query_reply.h"

#include <string.h>

/* From so many bytes on an answer gets no further replies; those have at most
 * this depth. */
#define ANSWER_SIZE_MAX (1024 * 1024)
#define DEPTH_MAX 4

hf_status fail_query(struct http_call *call, hf_status status, const char *why)
{
    (void)snprintf(call->err.message, sizeof(call->err.message), "%s", why);
    return status;
}

bool copy_text(hf_bytes word, char *text, size_t size)
{
    if (word.size >= size ||
        (word.size > 0 && memchr(word.data, 0, word.size) != NULL))
        return false;
    if (word.size > 0)
        memcpy(text, word.data, word.size);
    text[word.size] = '\0';
    return true;
}

size_t whole_characters(hf_bytes text, size_t most)
{
    const unsigned char *bytes = text.data;
    size_t size = most;

    while (size > 0 && most - size < 4 && (bytes[size] & 0xc0) == 0x80)
        size--;
    return (bytes[size] & 0xc0) == 0x80 ? most : size;
}

static void put_cut(struct json *json, const char *name, hf_bytes part,
                    int64_t size)
{
    json_open(json, name, '{');
    json_bytes(json, "cut", part);
    json_integer(json, "size", size);
    json_close(json, '}');
}

void put_string(struct json *json, const char *name, hf_bytes bytes,
                size_t most)
{
    if (bytes.size <= most)
        json_bytes(json, name, bytes);
    else
        put_cut(json, name, hf_view(bytes.data, whole_characters(bytes, most)),
                (int64_t)bytes.size);
}

static void put_nested(struct http_call *call, const char *name,
                       const hf_reply *reply, size_t most, int depth);

/* What the script of a value has cut: nil, its beginning, its size. */
static bool was_cut(const hf_reply *reply)
{
    return hf_reply_count(reply) == 3 &&
           hf_reply_type(hf_reply_at(reply, 0)) == HF_REPLY_NIL;
}

static void put_array(struct http_call *call, const char *name,
                      const hf_reply *reply, size_t most, int depth)
{
    struct json *json = call->json;

    if (was_cut(reply)) {
        put_cut(json, name, hf_reply_bytes(hf_reply_at(reply, 1)),
                hf_reply_integer(hf_reply_at(reply, 2)));
        return;
    }
    json_open(json, name, '[');
    for (size_t i = 0; i < hf_reply_count(reply); i++) {
        if (depth >= DEPTH_MAX || ftell(json->file) >= ANSWER_SIZE_MAX) {
            call->cut = true;
            break;
        }
        put_nested(call, NULL, hf_reply_at(reply, i), most, depth + 1);
    }
    json_close(json, ']');
}

static void put_nested(struct http_call *call, const char *name,
                       const hf_reply *reply, size_t most, int depth)
{
    switch (hf_reply_type(reply)) {
    case HF_REPLY_INTEGER:
        json_integer(call->json, name, hf_reply_integer(reply));
        break;
    case HF_REPLY_ARRAY:
        put_array(call, name, reply, most, depth);
        break;
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        json_null(call->json, name);
        break;
    default:
        put_string(call->json, name, hf_reply_bytes(reply), most);
        break;
    }
}

void put_reply(struct http_call *call, const char *name, const hf_reply *reply,
               size_t most)
{
    put_nested(call, name, reply, most, 0);
}

hf_status put_command(struct http_call *call, size_t count,
                      const hf_bytes *words, size_t most)
{
    hf_reply *reply = NULL;
    hf_status status =
        hf_command(call->client, count, words, &reply, &call->err);

    if (status == HF_OK)
        put_reply(call, "reply", reply, most);
    hf_reply_free(reply);
    return status;
}

hf_status ask_integer(struct http_call *call, size_t count,
                      const hf_bytes *words, int64_t *number)
{
    hf_reply *reply = NULL;
    hf_status status =
        hf_command(call->client, count, words, &reply, &call->err);

    *number = hf_reply_integer(reply);
    hf_reply_free(reply);
    return status;
}
