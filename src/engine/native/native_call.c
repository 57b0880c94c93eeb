/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_call.c - the commands that scripts run, and their replies as values,
 * converted as by Redis: nil is false.
 */
#include <assert.h>
#include <pthread.h>

#include "engine/keys/number_text.h"
#include "engine/lua/noscript.h"
#include "engine/native/native_code.h"

/* ------------------------------------------------------------------ replies */

/* A reply; with a NULL `to` it is not wanted. */
typedef struct value_out {
    hf__out out;
    hf__native *run;
    hf__nv *to;
    size_t depth;
    struct {
        hf__native_table *table;
        size_t left;
    } open[HF__OUT_DEPTH];
} value_out;

static value_out *out_of(hf__out *base)
{
    return (value_out *)(void *)base;
}

/* The place of the next value; more values follow if it is an array. */
static void place_value(value_out *out, hf__nv value)
{
    hf__native_table *table;

    if (out->depth == 0) {
        *out->to = value;
        return;
    }
    table = out->open[out->depth - 1].table;
    table->items[table->count++] = value;
}

/* It is complete, and perhaps the last of its array. */
static void put_value(value_out *out, hf__nv value)
{
    if (out->to == NULL)
        return;
    place_value(out, value);
    while (out->depth > 0 && --out->open[out->depth - 1].left == 0)
        out->depth--;
}

static void reply_nil(hf__out *base)
{
    put_value(out_of(base), hf__nv_bool(false));
}

static void reply_integer(hf__out *base, int64_t number)
{
    put_value(out_of(base), hf__nv_number((double)number));
}

static void reply_bytes(hf__out *base, const void *data, size_t size)
{
    value_out *out = out_of(base);

    if (out->to != NULL)
        put_value(out, hf__native_copy(out->run, data, size));
}

/* Numbers, with which scripts calculate, and the instant as text (use/clock).
 */
static void reply_instant(hf__out *base, int64_t unix_us)
{
    value_out *out = out_of(base);
    char text[HF__NUMBER_TEXT_SIZE];
    hf__nv parts[3];

    parts[0] = hf__nv_number((double)(unix_us / 1000000));
    parts[1] = hf__nv_number((double)(unix_us % 1000000));
    parts[2] =
        hf__native_copy(out->run, text, hf__number_put_integer(text, unix_us));
    put_value(out, hf__native_table_of(out->run, parts, 3));
}

/* Scripts calculate with most of them, and with few as texts. */
static void reply_score(hf__out *base, double value)
{
    put_value(out_of(base), (hf__nv){.tag = HF__NV_SCORE, .number = value});
}

static void reply_line(hf__out *base, const char *text)
{
    value_out *out = out_of(base);
    hf__nv status;

    if (out->to == NULL)
        return;
    status = hf__native_copy(out->run, text, strlen(text));
    status.tag = HF__NV_STATUS;
    put_value(out, status);
}

static void reply_array(hf__out *base, size_t count)
{
    value_out *out = out_of(base);
    hf__nv array = {.tag = HF__NV_TABLE};

    if (out->to == NULL)
        return;
    array.table = hf__native_table_new(out->run, count);
    if (count == 0) {
        put_value(out, array);
        return;
    }
    place_value(out, array);
    assert(out->depth < HF__OUT_DEPTH);
    out->open[out->depth].table = array.table;
    out->open[out->depth].left = count;
    out->depth++;
}

static const hf__out_ops value_ops = {reply_nil,   reply_nil,     reply_integer,
                                      reply_bytes, reply_instant, reply_line,
                                      reply_array, NULL,          NULL,
                                      NULL,        NULL,          reply_score};

/* ----------------------------------------------------------------- commands */

static const hf__command *commands[HF__NATIVE_COMMANDS];
static pthread_mutex_t commands_mutex = PTHREAD_MUTEX_INITIALIZER;

void hf__native_find_commands(hf__command_finder *find,
                              const char *const *names)
{
    (void)pthread_mutex_lock(&commands_mutex);
    for (size_t i = 0; i < HF__NATIVE_COMMANDS && commands[i] == NULL; i++)
        commands[i] = find(hf_str(names[i]));
    (void)pthread_mutex_unlock(&commands_mutex);
}

/* Is one of them no word? */
static bool lacks_word(const hf_bytes *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i].size == SIZE_MAX)
            return true;
    }
    return false;
}

/* Returns why it failed, in `out` or a constant; NULL: `*to` is the reply. */
static const char *run_command(value_out *out, hf__native *run, int id,
                               const hf_bytes *words, size_t count, hf__nv *to)
{
    const hf__command *command =
        id == HF__NATIVE_ANY ? run->find(words[0]) : commands[id];
    const char *error;

    if (lacks_word(words, count))
        return HF__ERROR_SCRIPT_WORDS;
    error = hf__script_refusal(run->request, run->reads, command, words, count);
    if (error != NULL)
        return error;
    out->out.ops = &value_ops;
    out->out.failed = false;
    out->out.resp3 = false;
    out->run = run;
    out->to = to;
    out->depth = 0;
    run->tx->out = &out->out;
    hf__command_run(run->tx, command, words, count);
    if (run->tx->fatal != HF_OK)
        hf__native_stop(run, false);
    return out->out.failed ? out->out.error : NULL;
}

hf__nv hf__native_call(hf__native *run, int id, const hf_bytes *words,
                       size_t count)
{
    value_out out;
    hf__nv value = hf__nv_nil();
    const char *error = run_command(&out, run, id, words, count, &value);

    if (error != NULL)
        hf__native_raise_reply(run, error);
    return value;
}

void hf__native_do(hf__native *run, int id, const hf_bytes *words, size_t count)
{
    value_out out;
    const char *error = run_command(&out, run, id, words, count, NULL);

    if (error != NULL)
        hf__native_raise_reply(run, error);
}

hf__nv hf__native_pcall(hf__native *run, int id, const hf_bytes *words,
                        size_t count)
{
    value_out out;
    hf__nv value = hf__nv_nil();
    const char *error = run_command(&out, run, id, words, count, &value);

    if (error == NULL)
        return value;
    return hf__native_failure(run, hf__native_copy(run, error, strlen(error)));
}

bool hf__native_may(hf__native *run, const hf_bytes *words, size_t count)
{
    if (count == 0 || run->find(words[0]) == NULL)
        hf__native_raise_reply(
            run, "ERR Invalid command passed to redis.acl_check_cmd()");
    return true;
}

/* -------------------------------------------------------------------- words */

hf_bytes hf__native_number_word(hf__native *run, double number)
{
    char *text = hf__native_alloc(run, HF__NUMBER_TEXT_SIZE);

    return (hf_bytes){text, hf__number_put_double(text, number)};
}

hf_bytes hf__native_word(hf__native *run, hf__nv value)
{
    if (value.tag == HF__NV_TEXT)
        return hf__nv_word(value);
    if (value.tag != HF__NV_NUMBER && value.tag != HF__NV_SCORE)
        return HF__NATIVE_NO_WORD;
    return hf__native_number_word(run, value.number);
}

hf__native_words hf__native_spread(hf__native *run, const hf_bytes *words,
                                   size_t count, hf__nv table, double from,
                                   double to)
{
    const hf__native_table *from_table = hf__native_unpacked(run, table);
    size_t begin = from < 1 ? 1 : (size_t)from, more;
    size_t end = to < 0 ? from_table->count : (size_t)to;
    hf_bytes *all;

    more = end >= begin ? end - begin + 1 : 0;
    all = hf__native_alloc(run, (count + more) * sizeof(*all));
    if (count > 0)
        memcpy(all, words, count * sizeof(*all));
    for (size_t i = 0; i < more; i++)
        all[count + i] =
            hf__native_word(run, hf__native_item(from_table, begin + i));
    return (hf__native_words){all, count + more};
}
