/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_resp_peer.c - the same bytes into our parser and into hiredis's reader,
 * reply by reply.
 *
 * What both accept is equal and ends at the same byte. Where only one accepts,
 * the bytes are not what a server writes: written out again, the reply differs
 * from what was read. Such are
 *
 *   only we      "+7" or "007" as a number; more than 7 nested arrays;
 *                RESP3 types unknown to an old hiredis, and those that we
 *                check less (a double is its text)
 *   only hiredis a line feed inside a line; anything for the line end after a
 *                string; more than our bounds (resp.h) of items or of a line;
 *                streamed RESP3
 *
 * What hiredis keeps as a type of RESP3, we turn into one of RESP2: of those
 * only the end is compared. The bytes also become words of a request, which
 * both write alike.
 */
#include <string.h>

#include <hiredis/hiredis.h>

#include "fuzz.h"
#include "store/redis/wire/resp.h"
#include "util/mem.h"

#define WORDS_MAX 16
#define DEPTH_MAX 7 /* of hiredis before 1.0 */

/* ----------------------------------------------------------------- replies */

static bool same_bytes(const hf_reply *ours, const redisReply *theirs)
{
    return ours->bytes.size == (size_t)theirs->len &&
           memcmp(ours->bytes.data, theirs->str, ours->bytes.size) == 0;
}

static bool same(const hf_reply *ours, const redisReply *theirs)
{
    switch (theirs->type) {
    case REDIS_REPLY_NIL:
        return ours->kind == HF_REPLY_NIL;
    case REDIS_REPLY_INTEGER:
        return ours->kind == HF_REPLY_INTEGER &&
               ours->integer == theirs->integer;
    case REDIS_REPLY_STRING:
        return ours->kind == HF_REPLY_STRING && same_bytes(ours, theirs);
    case REDIS_REPLY_STATUS:
        return ours->kind == HF_REPLY_STATUS && same_bytes(ours, theirs);
    case REDIS_REPLY_ERROR:
        return ours->kind == HF_REPLY_ERROR && same_bytes(ours, theirs);
    case REDIS_REPLY_ARRAY:
        if (ours->kind != HF_REPLY_ARRAY ||
            ours->array.count != theirs->elements)
            return false;
        for (size_t i = 0; i < theirs->elements; i++) {
            if (!same(&ours->array.items[i], theirs->element[i]))
                return false;
        }
        return true;
    default:
        return true; /* RESP3 */
    }
}

/* Write a reply, nested `depth` deep, as a server does; false: no server does.
 */
static bool put(hf__buf *out, const redisReply *reply, unsigned depth)
{
    static const char marks[] = {[REDIS_REPLY_STRING] = '$',
                                 [REDIS_REPLY_ARRAY] = '*',
                                 [REDIS_REPLY_INTEGER] = ':',
                                 [REDIS_REPLY_STATUS] = '+',
                                 [REDIS_REPLY_ERROR] = '-'};
    char line[32];
    long long number = reply->integer;
    bool line_only =
        reply->type == REDIS_REPLY_STATUS || reply->type == REDIS_REPLY_ERROR;

    if (depth > HF__RESP_DEPTH_MAX)
        return false;
    if (reply->type == REDIS_REPLY_NIL)
        return hf__buf_append(out, "$-1\r\n", 5);
    if (reply->type < 0 || (size_t)reply->type >= sizeof(marks) ||
        marks[reply->type] == 0)
        return false;
    if (reply->type == REDIS_REPLY_STRING)
        number = (long long)reply->len;
    else if (reply->type == REDIS_REPLY_ARRAY)
        number = (long long)reply->elements;
    snprintf(line, sizeof(line), "%c%lld\r\n", marks[reply->type], number);
    if (!hf__buf_append(out, line, line_only ? 1 : strlen(line)))
        return false;
    if (reply->type == REDIS_REPLY_ARRAY) {
        for (size_t i = 0; i < reply->elements; i++) {
            if (!put(out, reply->element[i], depth + 1))
                return false;
        }
        return true;
    }
    if (reply->type == REDIS_REPLY_INTEGER)
        return true;
    if (line_only && memchr(reply->str, '\n', (size_t)reply->len) != NULL)
        return false;
    return hf__buf_append(out, reply->str, (size_t)reply->len) &&
           hf__buf_append(out, "\r\n", 2);
}

/* Would a server write the reply as these bytes? */
static bool is_usual(const redisReply *reply, const uint8_t *data, size_t size)
{
    bool usual;
    hf__buf out;

    hf__buf_init(&out, 1u << 24);
    usual = put(&out, reply, 0) && hf__buf_size(&out) == size &&
            memcmp(hf__buf_front(&out), data, size) == 0;
    hf__buf_done(&out);
    return usual;
}

/* ------------------------------------------------------------------ reader */

/* hiredis refused what we accepted: for one of these reasons. */
static bool is_known_refusal(const char *text)
{
    static const char *const known[] = {
        "Bad integer value", "Bad bulk string length", "Bad multi-bulk length",
        "Bulk string length out of range", "Multi-bulk length out of range",
        "No support for nested", "Protocol error, got ",
        /* RESP3, hiredis 1.x */
        "Bad double value", "Double value is too large", "Bad bool value",
        "Bad nil value", "Bad big number value", "Verbatim string",
        "Bad simple string value"}; /* a line feed in it */

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strncmp(text, known[i], strlen(known[i])) == 0)
            return true;
    }
    return false;
}

/* One reply from both. true: both accepted it, and there may be more. */
static bool compare_one(hf__buf *in, redisReader *reader)
{
    const uint8_t *begin = hf__buf_front(in);
    size_t size = hf__buf_size(in);
    void *got = NULL;
    int rc = redisReaderGetReply(reader, &got);
    redisReply *theirs = got;
    hf__resp_result result = HF__RESP_MORE;
    bool both;
    hf__arena arena;
    hf_reply ours;
    hf__resp resp;

    hf__arena_init(&arena);
    hf__resp_begin(&resp, &arena, &ours);
    if (size > 0)
        result = hf__resp_feed(&resp, in);
    both = result == HF__RESP_DONE && theirs != NULL;
    if (both) {
        PROMISE(hf__buf_size(in) == reader->len - reader->pos);
        PROMISE(same(&ours, theirs));
    } else if (theirs != NULL) {
        PROMISE(!is_usual(theirs, begin, size - (reader->len - reader->pos)));
    } else if (result == HF__RESP_DONE) {
        PROMISE(rc != REDIS_OK && is_known_refusal(reader->errstr));
    }
    hf__arena_free(&arena);
    if (theirs != NULL)
        freeReplyObject(theirs);
    return both;
}

static void compare_replies(const uint8_t *data, size_t size)
{
    redisReader *reader = redisReaderCreate();
    hf__buf in;

    PROMISE(reader != NULL);
    hf__buf_init(&in, 1u << 24);
    PROMISE(redisReaderFeed(reader, (const char *)data, size) == REDIS_OK);
    PROMISE(hf__buf_append(&in, data, size));
    while (compare_one(&in, reader))
        continue;
    hf__buf_done(&in);
    redisReaderFree(reader);
}

/* ---------------------------------------------------------------- requests */

/* Words end at 0xff. */
static void compare_requests(const uint8_t *data, size_t size)
{
    const char *argv[WORDS_MAX];
    size_t argvlen[WORDS_MAX];
    hf_bytes words[WORDS_MAX];
    hf__request request;
    size_t count = 0;
    char *theirs;
    long long length;
    hf__buf out;

    for (size_t from = 0, at = 0; at <= size && count < WORDS_MAX; at++) {
        if (at < size && data[at] != 0xff)
            continue;
        argv[count] = (const char *)data + from;
        argvlen[count] = at - from;
        words[count] = hf_view(data + from, at - from);
        count++;
        from = at + 1;
    }
    hf__request_init(&request);
    hf__request_command(&request, words, count, false);
    hf__buf_init(&out, 1u << 24);
    PROMISE(hf__resp_put_request(&out, &request, false));
    length = redisFormatCommandArgv(&theirs, (int)count, argv, argvlen);
    PROMISE((size_t)length == hf__buf_size(&out));
    PROMISE(memcmp(theirs, hf__buf_front(&out), (size_t)length) == 0);
    PROMISE(hf__resp_request_bound(&request) >= (size_t)length);
    redisFreeCommand(theirs);
    hf__buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* hiredis would allocate gigabytes. */
    if (size == 0 || size > 65536 || fuzz_has_long_number(data, size))
        return 0;
    compare_replies(data, size);
    compare_requests(data, size);
    return 0;
}
