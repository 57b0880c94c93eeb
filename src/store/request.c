/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - preparing, checking and failing requests.
 */
#include "store/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/error.h"

/* Of the script, or of the command. */
static hf_bytes name_of(const hf__request *request)
{
    if (request->script != NULL)
        return hf_str(request->script->name);
    return request->word_count > 0 ? request->words[0] : hf_view(NULL, 0);
}

void hf__request_init(hf__request *request)
{
    /* The arena's inline bytes, the larger part, are not written. */
    memset(request, 0, offsetof(hf__request, arena));
    request->error = (hf_error)HF_ERROR_INIT;
    hf__arena_init(&request->arena);
    request->driver = NULL;
}

void hf__request_set_script(hf__request *request, const hf__script *script,
                            const hf_bytes *words, size_t count,
                            size_t key_count)
{
    request->script = script;
    request->words = words;
    request->word_count = count;
    request->key_count = key_count;
    request->repeatable = script->repeatable;
    request->lane = script->lane;
}

void hf__request_set_command(hf__request *request, const hf_bytes *words,
                             size_t count, bool repeatable)
{
    request->words = words;
    request->word_count = count;
    request->repeatable = repeatable;
}

void hf__request_script(hf__request *request, const hf__script *script,
                        const hf_bytes *words, size_t count, size_t key_count)
{
    hf__request_init(request);
    hf__request_set_script(request, script, words, count, key_count);
}

void hf__request_command(hf__request *request, const hf_bytes *words,
                         size_t count, bool repeatable)
{
    hf__request_init(request);
    hf__request_set_command(request, words, count, repeatable);
}

void hf__request_narrow(hf__request *request)
{
    request->script = request->narrow->script;
    request->repeatable = request->script->repeatable;
    request->words++;
    request->word_count -= request->narrow->fewer;
    request->key_count--;
    request->narrow = NULL;
}

void hf__request_done(hf__request *request)
{
    hf__arena_free(&request->arena);
    hf__reply_set_nil(&request->reply);
}

bool hf__request_fits(const hf__request *request)
{
    const hf__script *script = request->script;
    const hf__shape *shape = script != NULL ? script->shape : request->answer;

    return shape == NULL ||
           hf__reply_fits(&request->reply, shape, request->key_count);
}

bool hf__request_accepts(hf__request *request)
{
    char text[HF__REPLY_TEXT_SIZE];
    hf_bytes name;

    if (hf__request_fits(request))
        return true;
    name = name_of(request);
    hf__request_fail(request, HF_CORRUPT, "malformed reply to %.*s: %s",
                     (int)name.size, (const char *)name.data,
                     hf__reply_text(text, &request->reply));
    hf__request_done(request);
    return false;
}

void hf__request_error(hf__request *request, hf_bytes line)
{
    request->status = request->error.status;
    if (!request->keeps_error)
        return;
    if (hf__reply_set_bytes(&request->reply, HF_REPLY_ERROR, line.data,
                            line.size, &request->arena))
        request->status = HF_OK;
    else
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
}

void hf__request_fail(hf__request *request, hf_status status,
                      const char *format, ...)
{
    char message[HF_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    if (vsnprintf(message, sizeof(message), format, args) < 0)
        message[0] = '\0';
    va_end(args);
    request->status = hf__fail(&request->error, status, "%s", message);
}

int64_t hf__request_probe_sent(const hf__request *request)
{
    hf_bytes name = name_of(request);

    HF__PROBE(3, request__begin, request, name.data, name.size);
    return hf__clock_boot_us();
}

void hf__request_probe_answered(const hf__request *request, int64_t sent_us)
{
    hf_bytes name = name_of(request);
    int64_t took_us = sent_us == 0 ? -1 : hf__clock_boot_us() - sent_us;

    HF__PROBE(5, request__end, request, name.data, name.size,
              (int)request->status, took_us);
}
