/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_sample.c - choosing at random.
 *
 * All elements are collected first, as no form of a hash or sorted set can find
 * its n-th element. The choice need not be unpredictable.
 */
#include "engine/keys/random_sample.h"

#include "engine/keys/argument.h"
#include "util/rand.h"

/* Limit of a reply with repetitions, which is unbounded otherwise. */
#define REPEAT_MAX (1u << 24)

bool hf__random_sample_read(hf__random_sample *sample, hf__tx *tx,
                            const hf_bytes *args, size_t count,
                            const char *option)
{
    *sample = (hf__random_sample){count > 0, 1, count > 1};
    if (count == 0)
        return true;
    if (!hf__arg_integer(tx, args[0], &sample->count))
        return false;
    if (sample->count == INT64_MIN)
        return hf__reply_error(tx,
                               "ERR value is out of range, value must between "
                               "-9223372036854775807 and 9223372036854775807");
    if (count > 2 || (count == 2 && !hf__arg_is(args[1], option)))
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (sample->details &&
        (sample->count < -INT64_MAX / 2 || sample->count > INT64_MAX / 2))
        return hf__reply_error(tx, "ERR value is out of range");
    return true;
}

typedef struct choice {
    hf__members *list;
    bool details;
    size_t each; /* items of the list */
    size_t count;
} choice;

static void reply_one(const choice *from, size_t at)
{
    const hf__member *item = &from->list->items[at * from->each];
    hf__tx *tx = from->list->tx;

    if (from->details)
        hf__reply_pair(tx);
    hf__reply_bytes(tx, item[0].name.data, item[0].name.size);
    if (!from->details)
        return;
    if (from->each == 2)
        hf__reply_bytes(tx, item[1].name.data, item[1].name.size);
    else
        hf__reply_double(tx, item[0].score);
}

static void reply_count(const choice *from, uint64_t count)
{
    if (from->details)
        hf__reply_pairs(from->list->tx, (size_t)count);
    else
        hf__reply_array(from->list->tx, (size_t)count);
}

static size_t any_index(size_t low, size_t count)
{
    return (size_t)hf__rand_between((int64_t)low, (int64_t)count - 1);
}

static void exchange_members(const choice *from, size_t a, size_t b)
{
    for (size_t i = 0; i < from->each; i++) {
        hf__member *left = &from->list->items[a * from->each + i];
        hf__member *right = &from->list->items[b * from->each + i];
        hf__member kept = *left;

        *left = *right;
        *right = kept;
    }
}

/* `count` distinct ones, or all of them in order. */
static void reply_distinct(const choice *from, uint64_t count)
{
    if (count > from->count)
        count = from->count;
    reply_count(from, count);
    for (size_t i = 0; i < count; i++) {
        if (count < from->count)
            exchange_members(from, i, any_index(i, from->count));
        reply_one(from, i);
    }
}

static void reply_repeated(const choice *from, uint64_t count)
{
    if (from->count == 0)
        count = 0;
    if (count > REPEAT_MAX) {
        hf__reply_error(from->list->tx, "ERR value is out of range");
        return;
    }
    reply_count(from, count);
    for (size_t i = 0; i < count; i++)
        reply_one(from, any_index(0, from->count));
}

void hf__random_sample_reply(const hf__random_sample *sample, hf__members *list,
                             bool values)
{
    size_t each = values ? 2 : 1;
    choice from = {list, sample->details, each, list->count / each};

    if (sample->counted && sample->count < 0)
        reply_repeated(&from, (uint64_t)-sample->count);
    else if (sample->counted)
        reply_distinct(&from, (uint64_t)sample->count);
    else if (from.count > 0)
        reply_one(&from, any_index(0, from.count));
    else
        hf__reply_nil(list->tx);
}
