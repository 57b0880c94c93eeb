/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - one body for all forms of an operation: blocking, started, one of
 * many.
 *
 * A static descriptor says what the operation is, a static function, its body,
 * which words it sends, and HF__FORMS defines the public functions:
 *
 *     static const hf__operation get = {
 *         .command = "GET",
 *         .repeatable = true,
 *         .answer = HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),
 *         .finish = hf__finish_value,
 *     };
 *
 *     static hf_status run_get(hf__form form, hf_client *client, hf_bytes key,
 *                              hf_buffer *value)
 *     {
 *         hf_call here, *call = hf__begin(&here, form, &get, client);
 *
 *         hf__add_key(call, key);
 *         hf__set_out(call, value, "value");
 *         return hf__end(call);
 *     }
 *
 *     HF__FORMS(hf_value_get, run_get(form, client, key, value),
 *               hf_client *client, hf_bytes key, hf_buffer *value);
 *
 * These are hf_value_get() and hf_value_get_start(). The header declares the
 * first, with its comment, and the second by HF_START() of holdfast/async.h.
 * HF__MANY defines hf_value_set_many() and hf_value_set_many_start().
 *
 * The first failure between begin and end is kept: what follows does nothing,
 * and hf__end() returns it. Nothing was sent then.
 */
#ifndef HF__CORE_FORM_H
#define HF__CORE_FORM_H

#include "core/call.h"
#include "core/cas.h"
#include "core/many.h"
#include "core/replicas.h"

static inline hf__form hf__blocking(hf_error *err)
{
    return (hf__form){.kind = HF__FORM_BLOCKING, .err = err};
}

static inline hf__form hf__started(const hf_async *async, hf_error *err)
{
    return (hf__form){.kind = HF__FORM_STARTED, .async = async, .err = err};
}

/*
 * Define NAME(parameters, err), which runs the body on the caller's thread, and
 * NAME_start(parameters, async, err), which starts it. `run` is the call of the
 * body, with the form that each passes as `form`; the parameters are last.
 *
 * A function that does more than run the body is written out. A check that
 * comes before hf__begin() belongs in the body: it has form.err.
 */
#define HF__FORMS(name, run, ...)                                              \
    hf_status name(__VA_ARGS__, hf_error *err)                                 \
    {                                                                          \
        hf__form form = hf__blocking(err);                                     \
                                                                               \
        return run;                                                            \
    }                                                                          \
    hf_status name##_start(__VA_ARGS__, const hf_async *async, hf_error *err)  \
    {                                                                          \
        hf__form form = hf__started(async, err);                               \
                                                                               \
        return run;                                                            \
    }                                                                          \
    /* again, for the semicolon that follows */                                \
    hf_status name##_start(__VA_ARGS__, const hf_async *async, hf_error *err)

/*
 * Define NAME(parameters, statuses, err), which runs the body for each of
 * `count` elements of an array, and NAME_start(parameters, statuses, async,
 * err), which starts it for each. `input` is the array's name, which a message
 * of HF_INVALID has, `run` the call of the body with `form` for element `i`.
 * The parameters include `client` and `count`.
 */
#define HF__MANY(name, input, run, ...)                                        \
    HF__MANY_OF(name, client, HF__NEEDS(input), run, __VA_ARGS__)

/* The same: `owner` is an expression for the client, `needs` one or more of
 * HF__NEEDS, in parentheses. */
#define HF__MANY_OF(name, owner, needs, run, ...)                              \
    hf_status name(__VA_ARGS__, hf_status *statuses, hf_error *err)            \
    {                                                                          \
        hf__many many;                                                         \
                                                                               \
        hf__many_begin(&many, owner, count, statuses, err);                    \
        HF__EACH(needs, run)                                                   \
    }                                                                          \
    HF__MANY_START(name, owner, needs, run, __VA_ARGS__)

/* Only NAME_start(). */
#define HF__MANY_START(name, owner, needs, run, ...)                           \
    hf_status name##_start(__VA_ARGS__, hf_status *statuses,                   \
                           const hf_async *async, hf_error *err)               \
    {                                                                          \
        hf__gathering started;                                                 \
        hf__many many;                                                         \
                                                                               \
        hf__many_start(&many, &started, owner, false, count, statuses, async,  \
                       err);                                                   \
        HF__EACH(needs, run)                                                   \
    }                                                                          \
    /* again, for the semicolon that follows */                                \
    hf_status name##_start(__VA_ARGS__, hf_status *statuses,                   \
                           const hf_async *async, hf_error *err)

#define HF__NEEDS(input) hf__many_needs(&many, input, #input)

#define HF__EACH(needs, run)                                                   \
    needs;                                                                     \
    for (size_t i = 0; hf__many_next(&many, &i);) {                            \
        hf__form form = hf__one_of(&many);                                     \
                                                                               \
        hf__many_ran(&many, run);                                              \
    }                                                                          \
    return hf__many_end(&many);

/* Begin a call, in `here` where nothing outlives the function. */
hf_call *hf__begin(hf_call *here, hf__form form, const hf__operation *operation,
                   hf_client *client);

/* Run it, start it, or leave it to hf__many. Before that fill() fills the
 * request, for who wants to change it. */
void hf__fill(hf_call *call);
hf_status hf__end(hf_call *call);

/* The body of operations on a key that need nothing else. */
hf_status hf__run_on_key(hf__form form, const hf__operation *operation,
                         hf_client *client, hf_bytes key);

#endif
