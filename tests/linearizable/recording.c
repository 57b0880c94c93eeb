/* SPDX-License-Identifier: Apache-2.0 */
/* recording.c - see history.h: one call, as it is made and as it is printed. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "history.h"

int64_t history_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t unique(session *self)
{
    return (int64_t)self->number * 100000 + ++self->written;
}

void call_begin(session *self, const char *call, uint32_t in_count,
                const int64_t *in)
{
    record *r = self->now;

    r->model = self->model;
    r->client = self->number;
    r->key = self->key;
    r->resends = self->resends;
    r->call = call;
    r->in_count = in_count;
    for (uint32_t i = 0; i < in_count; i++)
        r->in[i] = in[i];
    r->began_ns = history_now_ns();
    __atomic_store_n(&r->begun, 1, __ATOMIC_RELEASE);
}

void call_out(session *self, int64_t number)
{
    record *r = self->now;

    r->out[r->out_count++] = number;
}

void call_end(session *self, hf_status status)
{
    record *r = self->now;

    r->status = status;
    r->ended_ns = history_now_ns();
    __atomic_store_n(&r->ended, 1, __ATOMIC_RELEASE);
}

static void print_numbers(FILE *to, const char *name, const int64_t *numbers,
                          uint32_t count)
{
    fprintf(to, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        fprintf(to, "%s%lld", i == 0 ? "" : ",", (long long)numbers[i]);
    fprintf(to, "]");
}

static bool was_not_applied(const record *r)
{
    return r->ended != 0 && hf_status_kind(r->status) == HF_KIND_RETRY;
}

/* Was it applied for sure, or refused by what it found? */
static bool is_known(const record *r)
{
    return r->ended != 0 && r->status != HF_INDETERMINATE;
}

static void print_what(const record *r, const char *call, FILE *to)
{
    fprintf(to, "{\"model\":\"%s\",\"key\":%u,\"client\":%u,\"call\":\"%s\"",
            r->model, (unsigned)r->key, (unsigned)r->client, call);
}

static void print_as(const record *r, const char *call, FILE *to)
{
    print_what(r, call, to);
    print_numbers(to, "in", r->in, r->in_count);
    if (is_known(r)) {
        fprintf(to, ",\"status\":\"%s\",\"returned\":%lld",
                hf_status_name(r->status), (long long)r->ended_ns);
        print_numbers(to, "out", r->out, r->out_count);
    }
    fprintf(to, ",\"began\":%lld}\n", (long long)r->began_ns);
}

/* From just before a call on it may arrive, at any time and again: the checker
 * has no other call for one without a reply. */
static void print_sent(const record *r, FILE *to)
{
    char call[24];

    (void)snprintf(call, sizeof(call), "%s_sent", r->call);
    print_what(r, call, to);
    print_numbers(to, "in", r->in, r->in_count);
    fprintf(to, ",\"status\":\"OK\",\"began\":%lld,\"returned\":%lld}\n",
            (long long)r->began_ns - 2, (long long)r->began_ns - 1);
}

/* A claim that is sent again may have been granted and lapsed in between; so
 * may what gives it back. */
static bool may_arrive_twice(const record *r)
{
    return strcmp(r->call, "claim") == 0 || strcmp(r->call, "fail") == 0;
}

/* Of jobs, perhaps after the end of one. */
static bool takes_job(const record *r)
{
    const char *last = strrchr(r->call, ',');

    return strcmp(last == NULL ? r->call : last + 1, "take") == 0;
}

/* A take without a reply is undone by its client, sooner or later, unless that
 * was killed. */
void record_print(const record *r, FILE *to)
{
    if (r->begun == 0 || was_not_applied(r))
        return;
    if (may_arrive_twice(r) && (r->resends || !is_known(r)))
        print_sent(r, to);
    if (may_arrive_twice(r) && !is_known(r))
        return;
    print_as(r, r->call, to);
    if (takes_job(r) && r->ended != 0 && !is_known(r))
        print_as(r, "undo", to);
}
