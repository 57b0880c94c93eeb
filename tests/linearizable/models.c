/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - the calls whose histories are recorded. 0 is an absent value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define IN(...)                                                                \
    COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[])                             \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})

typedef struct digits {
    char text[24];
} digits;

static hf_bytes bytes_of(digits *at, int64_t number)
{
    snprintf(at->text, sizeof(at->text), "%lld", (long long)number);
    return hf_str(at->text);
}

static bool cheats(const session *self, const char *how)
{
    return strcmp(self->cheat, how) == 0;
}

static hf_bytes key_of(session *self)
{
    return hf_str(self->name[0]);
}

/* The number in a buffer, which is freed; 0 if there is none. */
static int64_t number_in(hf_buffer *value)
{
    int64_t number = value->data == NULL ? 0 : strtoll(value->data, NULL, 10);

    hf_buffer_free(value);
    return number;
}

/* ------------------------------------------------------------------- values */

static void get(session *self)
{
    hf_buffer value = HF_BUFFER_INIT;
    int64_t before = self->seen;
    hf_status status;

    call_begin(self, "get", 0, NULL);
    status = hf_value_get(self->client, key_of(self), &value, NULL);
    if (status == HF_OK || status == HF_NOT_FOUND)
        self->seen = number_in(&value);
    call_out(self, cheats(self, "stale") ? before : self->seen);
    call_end(self, status);
}

static void set(session *self)
{
    int64_t number = unique(self);
    digits room;

    call_begin(self, "set", IN(number));
    call_end(self, hf_value_set(self->client, key_of(self),
                                bytes_of(&room, number), NULL, NULL, NULL));
}

/* From what was last seen to a new number. */
static void cas(session *self)
{
    int64_t number = unique(self);
    digits old, new;
    hf_bytes expected = bytes_of(&old, self->seen);
    hf_buffer current = HF_BUFFER_INIT;
    uint32_t flags = prng_chance(&self->random, 50) ? HF_CAS_ONCE : 0;
    hf_status status = HF_OK;

    call_begin(self, "cas", IN(self->seen, number));
    if (!cheats(self, "lost"))
        status = hf_value_cas(
            self->client, key_of(self), self->seen == 0 ? NULL : &expected,
            bytes_of(&new, number), WITH(hf_cas_options, .flags = flags),
            &current, NULL);
    if (status == HF_OK)
        self->seen = number;
    if (status == HF_CONFLICT)
        self->seen = number_in(&current);
    call_out(self, self->seen);
    call_end(self, status);
}

static void delete_if(session *self)
{
    digits old;
    hf_buffer current = HF_BUFFER_INIT;
    hf_status status;

    call_begin(self, "delete_if", IN(self->seen));
    status = hf_value_delete_if(self->client, key_of(self),
                                bytes_of(&old, self->seen), &current, NULL);
    self->seen = number_in(&current);
    call_out(self, self->seen);
    call_end(self, status);
}

static void act_value(session *self)
{
    static void (*const acts[])(session *) = {get, get, cas,      cas,
                                              cas, set, delete_if};

    acts[prng_below(&self->random, COUNT(acts))](self);
}

/* ----------------------------------------------------------------- counters */

/* With a lower bound, so that some are refused; the current number is given
 * then too. Cheat "twice": what a resent request would do. */
static void add(session *self)
{
    int64_t delta = (int64_t)prng_below(&self->random, 2000) - 900;
    int64_t number = 0;
    const hf_add_options *opts =
        WITH(hf_add_options, .flags = HF_ADD_MIN, .min = 0);
    hf_status status;

    call_begin(self, "add", IN(delta));
    if (cheats(self, "twice"))
        (void)!hf_value_add(self->client, key_of(self), delta, opts, NULL,
                            NULL);
    status =
        hf_value_add(self->client, key_of(self), delta, opts, &number, NULL);
    call_out(self, number);
    call_end(self, status);
}

static void act_counter(session *self)
{
    if (prng_chance(&self->random, 30))
        get(self);
    else
        add(self);
}

const model models[] = {
    {"value", act_value},
    {"counter", act_counter},
};
const size_t model_count = COUNT(models);
