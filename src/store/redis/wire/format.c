/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - requests as RESP2 arrays of strings, written directly into the
 * output buffer: the maximal size is reserved once, then bytes are copied,
 * without an allocation or printf per word.
 */
#include "store/redis/wire/resp.h"

#include <assert.h>
#include <string.h>

/* "$" or "*", up to 20 digits, CRLF; and CRLF after a word. */
#define HEADER_MAX 23
#define WORD_EXTRA (HEADER_MAX + 2)

/* "EVALSHA", its digest, and the number of keys. */
#define SCRIPT_EXTRA (HEADER_MAX + 16 + 64 + 2 * WORD_EXTRA)

static char *put_header(char *to, char type, size_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    *to++ = type;
    for (; number > 9; number /= 10)
        digits[--at] = (char)('0' + number % 10);
    *to++ = (char)('0' + number);
    while (at < sizeof(digits))
        *to++ = digits[at++];
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

static char *put_word(char *to, const void *data, size_t size)
{
    to = put_header(to, '$', size);
    if (size > 0)
        memcpy(to, data, size);
    to += size;
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

static char *put_literal(char *to, const char *text)
{
    size_t size = strlen(text);

    memcpy(to, text, size);
    return to + size;
}

static char *put_script(char *to, const hf__request *request, bool whole)
{
    const hf__script *script = request->script;
    char digits[HEADER_MAX];
    char *end;

    to = put_header(to, '*', request->word_count + 3);
    if (whole) {
        to = put_literal(to, "$4\r\nEVAL\r\n");
        to = put_word(to, script->source, script->source_size);
    } else {
        to = put_literal(to, "$7\r\nEVALSHA\r\n$40\r\n");
        memcpy(to, script->sha1, 40);
        to = put_literal(to + 40, "\r\n");
    }
    end = put_header(digits, '$', request->key_count);
    return put_word(to, digits + 1, (size_t)(end - digits) - 3);
}

size_t hf__resp_request_bound(const hf__request *request)
{
    size_t bound = HEADER_MAX;
    size_t at;

    if (request->script != NULL)
        bound = SCRIPT_EXTRA + request->script->source_size;
    for (at = 0; at < request->word_count; at++) {
        if (request->words[at].size > HF__RESP_REQUEST_MAX - bound)
            return SIZE_MAX;
        bound += request->words[at].size + WORD_EXTRA;
        if (bound > HF__RESP_REQUEST_MAX)
            return SIZE_MAX;
    }
    return bound;
}

/* What comes before the words. */
static char *put_name(char *to, const hf__request *request, bool whole)
{
    if (request->script != NULL)
        return put_script(to, request, whole);
    return put_header(to, '*', request->word_count);
}

static size_t bound_of(const hf__request *request, bool whole)
{
    size_t bound = hf__resp_request_bound(request);

    if (bound != SIZE_MAX && request->script != NULL && !whole)
        bound -= request->script->source_size;
    return bound;
}

bool hf__resp_put_request(hf__buf *out, const hf__request *request, bool whole)
{
    size_t bound = bound_of(request, whole);
    char *begin;
    char *to;
    size_t at;

    if (bound == SIZE_MAX)
        return false;
    begin = (char *)hf__buf_reserve(out, bound);
    if (begin == NULL)
        return false;
    to = put_name(begin, request, whole);
    for (at = 0; at < request->word_count; at++)
        to = put_word(to, request->words[at].data, request->words[at].size);
    assert((size_t)(to - begin) <= bound);
    hf__buf_added(out, (size_t)(to - begin));
    return true;
}

bool hf__resp_lend_request(hf__outgoing *out, const hf__request *request,
                           bool whole)
{
    size_t bound = bound_of(request, whole);
    size_t before = hf__buf_size(&out->text);
    size_t count = 0;
    char *begin;
    char *to;

    if (bound == SIZE_MAX)
        return false;
    for (size_t at = 0; at < request->word_count; at++) {
        if (request->words[at].size < HF__OUTGOING_LOAN_MIN)
            continue;
        count++;
        bound -= request->words[at].size;
    }
    if (count == 0)
        return hf__resp_put_request(&out->text, request, whole);
    begin = (char *)hf__buf_reserve(&out->text, bound);
    if (begin == NULL || !hf__outgoing_reserve(out, count))
        return false;
    to = put_name(begin, request, whole);
    for (size_t at = 0; at < request->word_count; at++) {
        const hf_bytes *word = &request->words[at];

        if (word->size < HF__OUTGOING_LOAN_MIN) {
            to = put_word(to, word->data, word->size);
            continue;
        }
        to = put_header(to, '$', word->size);
        hf__outgoing_lend(out, before + (size_t)(to - begin), word->data,
                          word->size, request);
        to = put_literal(to, "\r\n");
    }
    assert((size_t)(to - begin) <= bound);
    hf__buf_added(&out->text, (size_t)(to - begin));
    return true;
}

bool hf__resp_put_words(hf__buf *out, const char *const *words, size_t count)
{
    size_t bound = HEADER_MAX;
    char *begin;
    char *to;
    size_t at;

    for (at = 0; at < count; at++)
        bound += strlen(words[at]) + WORD_EXTRA;
    begin = (char *)hf__buf_reserve(out, bound);
    if (begin == NULL)
        return false;
    to = put_header(begin, '*', count);
    for (at = 0; at < count; at++)
        to = put_word(to, words[at], strlen(words[at]));
    hf__buf_added(out, (size_t)(to - begin));
    return true;
}
