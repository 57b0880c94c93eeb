/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.c - integers that are added to: a value, a field of a hash.
 *
 * The bounds are those of the result. The script compares the current number,
 * so it gets the bounds less what is added, computed here: Lua's numbers are
 * exact only below 2^53. An overflow is refused by the same comparison.
 */
#include <stdlib.h>

#include "core/form.h"
#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "util/error.h"

#define ADD_FLAGS (HF_ADD_MIN | HF_ADD_MAX)

static hf_status check_add(const hf_add_options *o, hf_error *err)
{
    if ((o->flags & ADD_FLAGS) == ADD_FLAGS && o->min > o->max)
        return hf__fail(err, HF_INVALID, "min %lld is greater than max %lld",
                        (long long)o->min, (long long)o->max);
    return o->ttl_ms == 0 ? HF_OK : hf__check_ttl(o->ttl_ms, "ttl_ms", err);
}

/* a - b, or the end of the range that it passes. */
static int64_t bounded_difference(int64_t a, int64_t b)
{
    if (b < 0)
        return a > INT64_MAX + b ? INT64_MAX : a - b;
    return a < INT64_MIN + b ? INT64_MIN : a - b;
}

/* Three words: delta, and between what the current number must be; if no
 * number will do, 1 and 0. */
static void add_range(hf_call *call, int64_t delta, const hf_add_options *o)
{
    int64_t low = (o->flags & HF_ADD_MIN) != 0 ? o->min : INT64_MIN;
    int64_t high = (o->flags & HF_ADD_MAX) != 0 ? o->max : INT64_MAX;
    bool none = delta < 0 ? low > INT64_MAX + delta : high < INT64_MIN + delta;

    call->note = delta;
    hf__add_number(call, delta);
    hf__add_number(call, none ? 1 : bounded_difference(low, delta));
    hf__add_number(call, none ? 0 : bounded_difference(high, delta));
}

/* As INCRBY reads a number: in its one canonical form. */
static bool read_number(hf_bytes text, int64_t *number)
{
    char digits[HF__NUMBER_SIZE] = "";
    char canonical[HF__NUMBER_SIZE];

    if (text.size >= sizeof(digits))
        return false;
    memcpy(digits, text.data, text.size);
    *number = strtoll(digits, NULL, 10);
    return hf__number(canonical, *number).size == text.size &&
           memcmp(canonical, text.data, text.size) == 0;
}

static bool sum_fits(int64_t number, int64_t delta)
{
    return delta < 0 ? number >= INT64_MIN - delta
                     : number <= INT64_MAX - delta;
}

static bool wrote_sum(const hf__request *request)
{
    return hf_reply_integer(hf_reply_at(&request->reply, 0)) == 1;
}

static hf_status finish_add(hf_call *call, hf_error *err)
{
    hf_bytes text = hf_reply_bytes(hf_reply_at(&call->request.reply, 1));
    bool done = wrote_sum(&call->request);
    int64_t delta = call->note;
    int64_t number;

    if (!read_number(text, &number) || (done && !sum_fits(number, delta)))
        return hf__bad_reply("the script", err);
    if (call->out != NULL)
        *(int64_t *)call->out = done ? number + delta : number;
    if (done)
        return HF_OK;
    return hf__fail(err, HF_CONFLICT, "adding %lld to %lld is out of bounds",
                    (long long)delta, (long long)number);
}

static hf_status run_add(hf__form form, const hf__operation *operation,
                         hf_client *client, hf_bytes key, const hf_bytes *field,
                         int64_t delta, const hf_add_options *opts,
                         int64_t *value)
{
    hf_call here, *call = hf__begin(&here, form, operation, client);
    hf_add_options options;

    hf__add_key(call, key);
    if (field != NULL)
        hf__add_field(call, *field);
    hf__set_out(call, value, NULL);
    if (HF__LOAD(call, &options, opts, hf_add_options, ADD_FLAGS) &&
        HF__TRY(call, check_add(&options, call->form.err))) {
        add_range(call, delta, &options);
        hf__add_number(call, options.ttl_ms);
    }
    return hf__end(call);
}

/* ------------------------------------------------------------------- value */

static const hf__operation value_add = {
    .script = HF__SCRIPT(VALUE_ADD),
    .wrote = wrote_sum,
    .finish = finish_add,
};

HF__FORMS(hf_value_add,
          run_add(form, &value_add, client, key, NULL, delta, opts, value),
          hf_client *client, hf_bytes key, int64_t delta,
          const hf_add_options *opts, int64_t *value);

HF__MANY(hf_value_add_many, items,
         run_add(form, &value_add, client, items[i].key, NULL, items[i].delta,
                 opts, items[i].value),
         hf_client *client, const hf_value_add_item *items, size_t count,
         const hf_add_options *opts);

/* ------------------------------------------------------------------- field */

static const hf__operation hash_add = {
    .script = HF__SCRIPT(HASH_ADD),
    .wrote = wrote_sum,
    .finish = finish_add,
};

HF__FORMS(hf_hash_add,
          run_add(form, &hash_add, client, key, &field, delta, opts, value),
          hf_client *client, hf_bytes key, hf_bytes field, int64_t delta,
          const hf_add_options *opts, int64_t *value);
