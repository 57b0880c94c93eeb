/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_kill_cache.c - cache entries: one that is put again and again, and many,
 * each filled once. What a filler that dies leaves must not stay: data_kill.c
 * checks that every key has a time to live.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_kill.h"
#include "holdfast/cache.h"

#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})

static hf_bytes number_bytes(char text[16], uint32_t n)
{
    snprintf(text, 16, "%u", (unsigned)n);
    return hf_str(text);
}

/* The number in an entry; 0: there is none. */
static hf_status read_entry(worker *self, hf_bytes key, uint32_t *n)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status =
        hf_cache_get(self->client, key, NULL, &value, &self->err);

    *n = 0;
    if (status == HF_OK)
        *n = (uint32_t)strtoul(value.data, NULL, 10);
    hf_buffer_free(&value);
    return status == HF_NOT_FOUND ? HF_OK : status;
}

hf_status act_cache(worker *self, uint32_t n)
{
    char text[16];

    return hf_cache_put(
        self->client, self->key, number_bytes(text, n),
        WITH(hf_cache_options, .ttl_ms = TTL_MS, .stale_ms = TTL_MS),
        &self->err);
}

uint32_t read_cache(worker *self, char say[TEXT_SIZE])
{
    uint32_t n;

    if (read_entry(self, self->key, &n) != HF_OK)
        return broken(say, "%s: %s", self->name, self->err.message);
    return n;
}

/* -------------------------------------------------------------------- fills */

static hf_bytes entry_key(const worker *self, char name[96], uint32_t n)
{
    snprintf(name, 96, "%s:%u", self->name, (unsigned)n);
    return hf_str(name);
}

static void fill(void *user, hf_cache_fill *filled)
{
    const uint32_t *n = user;
    char text[16];

    (void)!hf_cache_fill_done(filled, HF_OK, number_bytes(text, *n), NULL);
}

hf_status act_fill(worker *self, uint32_t n)
{
    char name[96];
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_cache_get_or_fill(
        self->client, entry_key(self, name, n), fill, &n,
        WITH(hf_cache_options, .ttl_ms = TTL_MS, .early_percent = -1), &value,
        NULL, &self->err);

    hf_buffer_free(&value);
    return status;
}

/* Entry n is there: 1, or not: 0. */
static uint32_t is_filled(worker *self, uint32_t n, char say[TEXT_SIZE])
{
    char name[96];
    uint32_t found;

    if (read_entry(self, entry_key(self, name, n), &found) != HF_OK)
        return broken(say, "%s: %s", name, self->err.message);
    if (found != 0 && found != n)
        return broken(say, "%s holds %u", name, (unsigned)found);
    return found == 0 ? 0 : 1;
}

/* Those from 1 to the last one are there: twice as far, then by halves. */
uint32_t read_fill(worker *self, char say[TEXT_SIZE])
{
    uint32_t low = 0, high = 1, there;

    while ((there = is_filled(self, high, say)) == 1) {
        low = high;
        high *= 2;
    }
    while (there != STATE_BROKEN && high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        there = is_filled(self, middle, say);
        low = there == 1 ? middle : low;
        high = there == 0 ? middle : high;
    }
    return there == STATE_BROKEN ? there : low;
}
