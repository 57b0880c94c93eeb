/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - util/clock.h and util/rand.h of a virtual world. */
#include "util/clock.h"

#include <string.h>

#include "sim.h"
#include "support/prng.h"
#include "util/rand.h"

/* The day on which the store's clock begins. */
#define UNIX_US INT64_C(1700000000000000)

/* Many of src/lease/release.c's periods. */
#define PERIOD_US INT64_C(100000000)

uint64_t sim_seed = 1;
int64_t sim_now_us = INT64_C(1000000000);
int64_t sim_drift_ppm;
bool sim_at_store;
int64_t sim_began_us;
static prng random_numbers;
static prng store_numbers = {2};

/* Runs share one embedded store, whose clock must not go back. All begin at the
 * same second of the periods in which a release probes, so that a plan is the
 * same run, whichever came before; another seed has another. */
void sim_clock_begin(void)
{
    int64_t period = sim_now_us / PERIOD_US + 2;

    sim_now_us = period * PERIOD_US + (int64_t)(sim_seed % 10) * 1000000 + 137;
    sim_began_us = sim_now_us;
    random_numbers = prng_of(1, 0, 0);
}

static int64_t store_us(void)
{
    int64_t passed_us = sim_now_us - sim_began_us;

    return sim_began_us + passed_us + passed_us * sim_drift_ppm / 1000000;
}

int64_t sim_from_store(int64_t store_ms)
{
    int64_t passed_us = store_ms * 1000 - sim_began_us;

    return (sim_began_us + passed_us * 1000000 / (1000000 + sim_drift_ppm) +
            999) /
           1000;
}

int64_t sim_now_ms(void)
{
    return sim_now_us / 1000;
}

int64_t hf__clock_boot_us(void)
{
    if (sim_at_store)
        return store_us();
    return sim_client == NULL ? sim_now_us : sim_now_us - sim_client->slept_us;
}

int64_t hf__clock_boot_ms(void)
{
    return hf__clock_boot_us() / 1000;
}

int64_t hf__clock_monotonic_us(void)
{
    return sim_now_us;
}

int64_t hf__clock_thread_us(void)
{
    return 0;
}

int64_t hf__clock_unix_us(void)
{
    return UNIX_US + hf__clock_boot_us();
}

int64_t hf__clock_unix_ahead_ms(void)
{
    return UNIX_US / 1000;
}

int64_t hf__clock_namespace_ms(void)
{
    return 0;
}

int64_t hf__clock_after(int64_t now_ms, int64_t delta_ms)
{
    int64_t at_ms;

    if (delta_ms == INT64_MAX)
        return INT64_MAX;
    if (__builtin_add_overflow(now_ms, delta_ms, &at_ms))
        return delta_ms > 0 ? INT64_MAX : INT64_MIN;
    return at_ms;
}

void hf__clock_sleep_until(int64_t deadline_ms)
{
    while (sim_actor != NULL && hf__clock_boot_ms() < deadline_ms)
        sim_wait(deadline_ms);
}

void hf__clock_nap_us(int64_t us)
{
    (void)us;
}

/* The store draws some only in the first run. */
static prng *numbers(void)
{
    return sim_at_store ? &store_numbers : &random_numbers;
}

void hf__rand_bytes(void *data, size_t size)
{
    unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)prng_next(numbers());
}

void hf__rand_hex(char *text, size_t size)
{
    for (size_t i = 0; i < 2 * size; i++)
        text[i] = "0123456789abcdef"[prng_below(numbers(), 16)];
    text[2 * size] = '\0';
}

int64_t hf__rand_between(int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t number = prng_next(numbers());

    return (int64_t)((uint64_t)low + (span == 0 ? number : number % span));
}
