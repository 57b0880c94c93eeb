/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.c - random bytes, fetched from the kernel in bulk.
 *
 * Each thread has a small pool, so that the 16 bytes of an owner id do not cost
 * a system call each. Bytes are wiped as they are handed out, and the pool of a
 * forked child is discarded: parent and child must never draw the same bytes.
 */
#include "util/rand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "util/fork.h"

/* 64 owner ids, to amortize the system call. */
#define POOL_SIZE 1024

typedef struct pool {
    unsigned char bytes[POOL_SIZE];
    size_t left; /* unused ones, at the front */
    uint32_t fork_generation;
} pool;

static _Thread_local pool thread_pool;

static void fetch_random(unsigned char *to, size_t size)
{
    while (size > 0) {
        ssize_t got = getrandom(to, size, 0);

        if (got < 0 && errno == EINTR)
            continue;
        /* All supported kernels have it, and there is no safe substitute. */
        if (got <= 0)
            abort();
        to += got;
        size -= (size_t)got;
    }
}

void hf__rand_bytes(void *data, size_t size)
{
    pool *own = &thread_pool;
    uint32_t generation = hf__fork_generation();

    if (size > POOL_SIZE / 4) {
        fetch_random(data, size);
        return;
    }
    if (own->left < size || own->fork_generation != generation) {
        fetch_random(own->bytes, POOL_SIZE);
        own->left = POOL_SIZE;
        own->fork_generation = generation;
    }
    own->left -= size;
    memcpy(data, own->bytes + own->left, size);
    explicit_bzero(own->bytes + own->left, size);
}

void hf__rand_hex(char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[32];

    while (size > 0) {
        size_t part = size < sizeof(bytes) ? size : sizeof(bytes);

        hf__rand_bytes(bytes, part);
        for (size_t i = 0; i < part; i++) {
            *text++ = digits[bytes[i] >> 4];
            *text++ = digits[bytes[i] & 15];
        }
        size -= part;
    }
    *text = '\0';
}

/* SplitMix64 (Steele, Lea, Flood 2014): jitter need not be unpredictable. */
static uint64_t next_jitter(void)
{
    static _Thread_local uint64_t state;
    uint64_t z;

    if (state == 0)
        hf__rand_bytes(&state, sizeof(state));
    z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t hf__rand_between(int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t number = next_jitter();

    /* The modulo's bias is below 2^-32 for any span of jitter; a span of 0 is
     * all of int64_t. */
    if (span != 0)
        number %= span;
    return (int64_t)((uint64_t)low + number);
}
