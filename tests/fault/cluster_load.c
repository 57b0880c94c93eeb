/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_load.c - see cluster_load.h. A counter belongs to its thread; others
 * only read `back_us`, by atomics, and the rest once the threads have ended.
 */
#include "cluster_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "support/test_clock.h"

#define NAP_US 5000
#define RESTS 10

static const char count_up[] =
    "for i = 1, #KEYS do redis.call('hincrby', KEYS[i], ARGV[i], 1) end";

int64_t load_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Only a call that began after the fault shows that it is over. */
static void note(load_thread *self, load_counter *counter, int64_t began_us,
                 int64_t now_us)
{
    int64_t broken_us = atomic_load(&self->load->broken_us);

    if (broken_us != 0 && began_us > broken_us &&
        __atomic_load_n(&counter->back_us, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&counter->back_us, now_us, __ATOMIC_RELEASE);
    }
}

static load_kind kind_of(hf_status status)
{
    switch (hf_status_kind(status)) {
    case HF_KIND_OK:
        return LOAD_ACKNOWLEDGED;
    case HF_KIND_RETRY:
        return LOAD_NOT_APPLIED;
    case HF_KIND_UNKNOWN:
        return LOAD_UNKNOWN;
    default:
        return LOAD_OTHER;
    }
}

/* A call has returned. */
static load_kind take(load_thread *self, int64_t began_us, hf_status status,
                      const hf_error *err)
{
    int64_t took_us = load_now_us() - began_us;
    load_kind kind = kind_of(status);

    self->calls[kind]++;
    if (took_us > self->longest_us) {
        self->longest_us = took_us;
    }
    if (kind != LOAD_ACKNOWLEDGED) {
        self->errors[kind] = *err;
    }
    return kind;
}

static void remember(load_counter *counter, load_kind kind)
{
    if (counter->count == counter->room) {
        counter->room = counter->room * 2 + 1024;
        counter->told = realloc(counter->told, counter->room);
        if (counter->told == NULL) {
            abort();
        }
    }
    counter->told[counter->count++] = (unsigned char)kind;
}

/* One call, on one counter or on two. */
static void call(load_thread *self, load_counter *counter, size_t count)
{
    hf_bytes keys[2], arguments[2];
    char fields[2][24];
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    int64_t began_us = load_now_us();
    hf_status status;
    load_kind kind;

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(fields[i], sizeof(fields[i]), "%zu", counter[i].count);
        keys[i] = hf_str(counter[i].name);
        arguments[i] = hf_str(fields[i]);
    }
    status = hf_script_run(self->load->script, keys, count, arguments, count,
                           &reply, &err);
    kind = take(self, began_us, status, &err);
    for (size_t i = 0; i < count; i++) {
        remember(&counter[i], kind);
    }
    if (kind == LOAD_ACKNOWLEDGED) {
        note(self, &counter[count - 1], began_us, load_now_us());
    }
    hf_reply_free(reply);
}

/* No other thread writes this value, so only the outcome of earlier calls can
 * change it. */
static void step(load_thread *self)
{
    hf_error err = HF_ERROR_INIT;
    char key[LOAD_NAME_SIZE + 8], old[24], text[24];
    int64_t began_us = load_now_us();
    hf_bytes expected;
    load_kind kind;

    (void)snprintf(key, sizeof(key), "%s.v", self->counters[0].name);
    (void)snprintf(old, sizeof(old), "%lld", (long long)self->step);
    (void)snprintf(text, sizeof(text), "%lld", (long long)self->step + 1);
    expected = hf_str(old);
    kind = take(self, began_us,
                hf_value_cas(self->load->client, hf_str(key),
                             self->step == 0 ? NULL : &expected, hf_str(text),
                             NULL, NULL, &err),
                &err);
    self->step += kind == LOAD_ACKNOWLEDGED;
}

/* Of two counters with one tag, the second is also counted alone. */
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
        if (load->steps) {
            step(self);
        }
        for (int i = 0; load->rests && i < RESTS; i++) {
            test_rest();
        }
    }
    return NULL;
}

/* How late the machine wakes a thread that only sleeps. */
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

void load_stop(load_run *load)
{
    atomic_store(&load->stop, true);
    pthread_join(load->napper, NULL);
    for (int t = 0; t < load->thread_count; t++) {
        pthread_join(load->threads[t].thread, NULL);
    }
    hf_script_free(load->script);
}

void load_free(load_run *load)
{
    for (int t = 0; load != NULL && t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            free(load->threads[t].counters[i].told);
        }
    }
    free(load);
}

/* -------------------------------------------------------------------- audit */

/* How often each call of a counter was applied; NULL: it cannot be read. */
static unsigned *read_counter(hf_client *client, const load_counter *counter)
{
    unsigned *there = calloc(counter->count + 1, sizeof(*there));
    hf_fields fields = HF_FIELDS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_hash_get_all(client, hf_str(counter->name), &fields, &err);

    if (there == NULL || (status != HF_OK && status != HF_NOT_FOUND)) {
        fprintf(stderr, "%s: %s\n", counter->name, err.message);
        free(there);
        return NULL;
    }
    for (size_t i = 0; i < fields.count; i++) {
        size_t at = strtoul(fields.items[i].name.data, NULL, 10);

        if (at < counter->count) {
            there[at] +=
                (unsigned)strtoul(fields.items[i].value.data, NULL, 10);
        }
    }
    hf_fields_free(&fields);
    return there;
}

static void audit_call(load_kind told, unsigned there, unsigned then,
                       load_verdict *verdict)
{
    unsigned most = there > then ? there : then;

    verdict->doubled += most > 1;
    verdict->missing += told == LOAD_ACKNOWLEDGED && most == 0;
    verdict->false_no += told == LOAD_NOT_APPLIED && most > 0;
    verdict->applied += told == LOAD_UNKNOWN && most > 0;
}

static void audit_counter(const load_counter *counter, hf_client *reader,
                          hf_client *witness, load_verdict *verdict)
{
    unsigned *there = read_counter(reader, counter);
    unsigned *then = witness == NULL ? NULL : read_counter(witness, counter);

    if (there == NULL || (witness != NULL && then == NULL)) {
        verdict->unread++;
    } else {
        for (size_t i = 0; i < counter->count; i++) {
            audit_call((load_kind)counter->told[i], there[i],
                       then == NULL ? 0 : then[i], verdict);
        }
    }
    free(there);
    free(then);
}

load_verdict load_audit(load_run *load, int server, hf_client *reader,
                        hf_client *witness)
{
    load_verdict verdict = {0};

    for (int t = 0; t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            const load_counter *counter = &load->threads[t].counters[i];

            if (server < 0 || counter->server == server) {
                audit_counter(counter, reader, witness, &verdict);
            }
        }
    }
    return verdict;
}

/* --------------------------------------------------------------------- sums */

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

int64_t load_calls(const load_run *load, load_kind kind)
{
    int64_t sum = 0;

    for (int t = 0; t < load->thread_count; t++) {
        sum += load->threads[t].calls[kind];
    }
    return sum;
}

/* What one call of a kind returned. */
static void print_told(const load_run *load, load_kind kind, const char *what)
{
    for (int t = 0; t < load->thread_count; t++) {
        const hf_error *err = &load->threads[t].errors[kind];

        if (load->threads[t].calls[kind] > 0) {
            printf("  %s: HF_%s: %s\n", what, hf_status_name(err->status),
                   err->message);
            return;
        }
    }
}

void load_print(const load_run *load, int64_t request_ms)
{
    printf("  calls: %lld acknowledged, %lld not applied, %lld unknown; the "
           "worst ended %+.1f ms from its deadline (%lld ms), the machine was "
           "late by %.1f ms\n",
           (long long)load_calls(load, LOAD_ACKNOWLEDGED),
           (long long)load_calls(load, LOAD_NOT_APPLIED),
           (long long)load_calls(load, LOAD_UNKNOWN),
           (double)load_longest_us(load) / 1000 - (double)request_ms,
           (long long)request_ms, (double)load->oversleep_us / 1000);
    print_told(load, LOAD_NOT_APPLIED, "not applied");
    print_told(load, LOAD_UNKNOWN, "unknown");
    print_told(load, LOAD_OTHER, "odd");
}
