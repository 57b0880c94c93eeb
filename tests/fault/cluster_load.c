/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_load.c - see cluster_load.h. A counter is its thread's; others only
 * look at `back_us`, by atomics, and at the rest once the threads are gone.
 */
#include "cluster_load.h"

#include <stdio.h>
#include <time.h>

#define NAP_US 5000

static const char count_up[] =
    "local value for i = 1, #KEYS do value = redis.call('incr', KEYS[i]) end "
    "return value";

int64_t load_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The counter is at `value`, by an acknowledged call that added `added`. */
static void audit(load_counter *counter, int64_t value, int64_t added)
{
    int64_t least = counter->value + added;

    if (value < least) {
        counter->lost += least - value;
    } else if (value > least + counter->unknown) {
        counter->doubled += value - least - counter->unknown;
    }
    counter->value = value;
    counter->unknown = 0;
}

/* Only a call that began after the fault shows that it is over. */
static void note(load_thread *self, load_counter *counter, int64_t began_us,
                 int64_t now_us)
{
    int64_t broken_us = atomic_load(&self->load->broken_us);

    counter->good_us = now_us;
    if (broken_us != 0 && began_us > broken_us &&
        __atomic_load_n(&counter->back_us, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&counter->back_us, now_us, __ATOMIC_RELEASE);
    }
}

static int kind_of(hf_status status)
{
    switch (hf_status_kind(status)) {
    case HF_KIND_OK:
        return 0;
    case HF_KIND_RETRY:
        return 1;
    case HF_KIND_UNKNOWN:
        return 2;
    default:
        return 3;
    }
}

/* One call, on one counter or on two. */
static void call(load_thread *self, load_counter *counter, size_t count)
{
    hf_bytes keys[2] = {hf_str(counter[0].name), hf_str(counter[1].name)};
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    int64_t began_us = load_now_us();
    hf_status status =
        hf_script_run(self->load->script, keys, count, NULL, 0, &reply, &err);
    int64_t now_us = load_now_us();
    int kind = kind_of(status);

    self->calls[kind]++;
    if (now_us - began_us > self->longest_us) {
        self->longest_us = now_us - began_us;
    }
    if (kind == 0) {
        /* With two, the first is one that only pairs count on. */
        audit(&counter[count - 1], hf_reply_integer(reply), 1);
        note(self, &counter[count - 1], began_us, now_us);
    } else if (kind == 2) {
        counter[count - 1].unknown++;
    } else if (kind == 3) {
        self->other = err;
    }
    if (kind == 0 && count == 2) {
        counter[0].value++;
    } else if (kind == 2 && count == 2) {
        counter[0].unknown++;
    }
    hf_reply_free(reply);
}

/* Of two counters with one tag, the second is counted on alone too. */
static void *count(void *user)
{
    load_thread *self = user;
    const load_run *load = self->load;

    while (!atomic_load(&self->load->stop)) {
        for (int i = 0; i < load->counter_count; i++) {
            if (!load->pairs) {
                call(self, &self->counters[i], 1);
            } else if (i % 2 == 0) {
                call(self, &self->counters[i], 2);
            } else {
                call(self, &self->counters[i], 1);
            }
        }
    }
    return NULL;
}

/* How late the machine lets a thread be that only wants to sleep. */
static void *nap(void *user)
{
    load_run *load = user;

    while (!atomic_load(&load->stop)) {
        struct timespec span = {0, NAP_US * 1000L};
        int64_t began_us = load_now_us();
        int64_t late_us;

        nanosleep(&span, NULL);
        late_us = load_now_us() - began_us - NAP_US;
        if (late_us > load->oversleep_us) {
            load->oversleep_us = late_us;
        }
    }
    return NULL;
}

bool load_start(load_run *load)
{
    hf_error err = HF_ERROR_INIT;

    if (hf_script_load(load->client, hf_str(count_up), &load->script, &err) !=
        HF_OK) {
        fprintf(stderr, "no script: %s\n", err.message);
        return false;
    }
    for (int t = 0; t < load->thread_count; t++) {
        load->threads[t].load = load;
        if (pthread_create(&load->threads[t].thread, NULL, count,
                           &load->threads[t]) != 0) {
            load->thread_count = t;
            return false;
        }
    }
    return pthread_create(&load->napper, NULL, nap, load) == 0;
}

/* What the store has at last, with no call under way. */
static void read_last(load_run *load, load_counter *counter)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_value_get(load->client, hf_str(counter->name), &value, &err);
    int64_t number = 0;

    if (status != HF_OK && status != HF_NOT_FOUND) {
        fprintf(stderr, "%s: %s\n", counter->name, err.message);
        counter->doubled++; /* nobody knows */
        return;
    }
    for (size_t i = 0; i < value.size; i++) {
        number = number * 10 + (((const char *)value.data)[i] - '0');
    }
    audit(counter, number, 0);
    hf_buffer_free(&value);
}

void load_stop(load_run *load)
{
    atomic_store(&load->stop, true);
    pthread_join(load->napper, NULL);
    for (int t = 0; t < load->thread_count; t++) {
        pthread_join(load->threads[t].thread, NULL);
    }
    for (int t = 0; t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            read_last(load, &load->threads[t].counters[i]);
        }
    }
    hf_script_free(load->script);
}

/* --------------------------------------------------------------------- sums */

int64_t load_lost(const load_run *load, int server)
{
    int64_t lost = 0;

    for (int t = 0; t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            const load_counter *counter = &load->threads[t].counters[i];

            if (server < 0 || counter->server == server) {
                lost += counter->lost;
            }
        }
    }
    return lost;
}

int64_t load_doubled(const load_run *load)
{
    int64_t doubled = 0;

    for (int t = 0; t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            doubled += load->threads[t].counters[i].doubled;
        }
    }
    return doubled;
}

int64_t load_recovery_us(const load_run *load, int server)
{
    int64_t broken_us = atomic_load(&load->broken_us);
    int64_t last_us = broken_us;

    for (int t = 0; t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            const load_counter *counter = &load->threads[t].counters[i];
            int64_t back_us =
                __atomic_load_n(&counter->back_us, __ATOMIC_ACQUIRE);

            if (counter->server != server) {
                continue;
            }
            if (back_us == 0) {
                return -1;
            }
            if (back_us > last_us) {
                last_us = back_us;
            }
        }
    }
    return last_us - broken_us;
}

int64_t load_longest_us(const load_run *load)
{
    int64_t longest_us = 0;

    for (int t = 0; t < load->thread_count; t++) {
        if (load->threads[t].longest_us > longest_us) {
            longest_us = load->threads[t].longest_us;
        }
    }
    return longest_us;
}

void load_print(const load_run *load, int64_t request_ms)
{
    static const char *const names[] = {"acknowledged", "not applied",
                                        "unknown", "other"};
    const hf_error *other = NULL;

    for (int kind = 0; kind < 4; kind++) {
        int64_t sum = 0;

        for (int t = 0; t < load->thread_count; t++) {
            sum += load->threads[t].calls[kind];
            if (load->threads[t].calls[3] > 0) {
                other = &load->threads[t].other;
            }
        }
        printf("  %-13s %lld\n", names[kind], (long long)sum);
    }
    if (other != NULL) {
        printf("  other         HF_%s: %s\n", hf_status_name(other->status),
               other->message);
    }
    printf("  longest call  %.1f ms of %lld; the machine was late by %.1f ms\n",
           (double)load_longest_us(load) / 1000, (long long)request_ms,
           (double)load->oversleep_us / 1000);
    printf("  lost          %lld\n", (long long)load_lost(load, -1));
    printf("  doubled       %lld\n", (long long)load_doubled(load));
}
