/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.c - diagnostics, round-trip times, fencing tokens.
 */
#include "store/diagnosis.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* Slow replies ... */
#define SLOW_US 20000
/* ... and replies so slow that leases of a few seconds are in danger. */
#define TOO_SLOW_US 200000

static void report_diagnostic(const hf__diagnosis *diagnosis, hf_status status,
                              hf_level level, const char *name,
                              const char *remedy, const char *format,
                              va_list args)
{
    hf_store_diagnostic remark = {.level = level,
                                  .status = status,
                                  .node = diagnosis->node,
                                  .name = name,
                                  .remedy = remedy};
    char value[HF__DIAGNOSTIC_SIZE];

    /* Past the deadline the result may be incomplete. */
    if (hf__diagnosis_is_over(diagnosis))
        return;
    vsnprintf(value, sizeof(value), format, args);
    remark.value = value;
    diagnosis->remark(diagnosis->user, &remark);
}

void hf__report(const hf__diagnosis *diagnosis, hf_level level,
                const char *name, const char *remedy, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_diagnostic(diagnosis, HF_OK, level, name, remedy, format, args);
    va_end(args);
}

void hf__report_error(const hf__diagnosis *diagnosis, hf_status status,
                      const char *name, const char *remedy, const char *format,
                      ...)
{
    va_list args;

    va_start(args, format);
    report_diagnostic(diagnosis, status, HF_LEVEL_ERROR, name, remedy, format,
                      args);
    va_end(args);
}

bool hf__diagnosis_is_over(const hf__diagnosis *diagnosis)
{
    return hf__clock_boot_ms() >= diagnosis->deadline_ms;
}

int64_t hf__diagnosis_until(const hf__diagnosis *diagnosis, int64_t now_ms)
{
    int64_t until_ms = hf__clock_after(now_ms, diagnosis->request_ms);

    return until_ms < diagnosis->deadline_ms ? until_ms
                                             : diagnosis->deadline_ms;
}

void hf__diagnose_secret_file(const hf__diagnosis *diagnosis, const char *name,
                              const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        hf__report(diagnosis, HF_LEVEL_WARNING, name,
                   "chmod 600, and change the secret if others have access to "
                   "this machine",
                   "mode %03o: readable or writable by others",
                   (unsigned)info.st_mode & 0777);
    else if (info.st_uid != geteuid() && info.st_uid != 0)
        hf__report(diagnosis, HF_LEVEL_WARNING, name,
                   "make this user its owner", "owned by user %u",
                   (unsigned)info.st_uid);
    else
        hf__report(diagnosis, HF_LEVEL_OK, name, "",
                   "readable only by its owner");
}

/* ------------------------------------------------------------- round trips */

/* "seconds", "microseconds"; false: not a reply to TIME. */
static bool read_time(const hf_reply *reply, int64_t *us)
{
    int64_t part[2];

    if (reply->kind != HF_REPLY_ARRAY || reply->array.count != 2)
        return false;
    for (size_t i = 0; i < 2; i++) {
        const hf_reply *item = &reply->array.items[i];

        if (item->kind != HF_REPLY_STRING || item->bytes.size > 16)
            return false;
        part[i] = strtoll(item->bytes.data, NULL, 10);
    }
    *us = part[0] * 1000000 + part[1];
    return true;
}

/* One TIME: its duration, and how far the store's clock is ahead. */
static hf_status ask_time(const hf__diagnosis *diagnosis,
                          hf__diagnose_run_fn run, void *target, int64_t *took,
                          int64_t *ahead, hf_error *err)
{
    hf_bytes word = hf_str("TIME");
    hf__request request;
    int64_t began_us, unix_us, stores_us = 0;
    hf_status status;

    hf__request_command(&request, &word, 1, true);
    request.began_ms = hf__clock_boot_ms();
    request.deadline_ms = hf__diagnosis_until(diagnosis, request.began_ms);
    unix_us = hf__clock_unix_us();
    began_us = hf__clock_boot_us();
    run(target, &request);
    *took = hf__clock_boot_us() - began_us;
    status = request.status;
    if (status != HF_OK)
        hf__fail_copy(err, &request.error);
    else if (!read_time(&request.reply, &stores_us))
        status = hf__fail(err, HF_CORRUPT, "malformed reply to TIME");
    *ahead = stores_us - unix_us - *took / 2;
    hf__request_done(&request);
    return status;
}

hf_status hf__diagnose_clock_of(const hf__diagnosis *diagnosis,
                                hf__diagnose_run_fn run, void *target,
                                hf__diagnose_clock *clock, hf_error *err)
{
    int64_t took_us;
    hf_status status =
        ask_time(diagnosis, run, target, &took_us, &clock->ahead_us, err);

    clock->error_us = took_us / 2;
    return status;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void tell_pace(const hf__diagnosis *diagnosis, int64_t *took,
                      size_t count)
{
    hf_level level = HF_LEVEL_OK;
    const char *remedy = "";
    int64_t p50, p99;

    qsort(took, count, sizeof(took[0]), by_size);
    p50 = took[count / 2];
    p99 = took[count * 99 / 100];
    if (p50 >= TOO_SLOW_US) {
        level = HF_LEVEL_WARNING;
        remedy = "find out what is slow, the way there or the server (SLOWLOG "
                 "GET, LATENCY DOCTOR); leases must be many times longer";
    } else if (p99 >= SLOW_US) {
        level = HF_LEVEL_NOTE;
        remedy = "keep leases many times longer than that";
    }
    hf__report(diagnosis, level, "round trip", remedy,
               "p50 %" PRId64 " us, p99 %" PRId64 " us, longest %" PRId64
               " us, of %zu",
               p50, p99, took[count - 1], count);
}

hf_status hf__diagnose_latency(const hf__diagnosis *diagnosis,
                               hf__diagnose_run_fn run, void *target,
                               hf__diagnose_clock *clock, hf_error *err)
{
    int64_t *took;
    int64_t ahead, fastest = INT64_MAX;
    size_t count = 0;
    hf_status status = ask_time(diagnosis, run, target, &ahead, &ahead, err);

    if (status != HF_OK)
        return status;
    hf__report(diagnosis, HF_LEVEL_OK, "reachable", "", "yes");
    took = hf__calloc(diagnosis->requests, sizeof(*took));
    if (took == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    while (count < diagnosis->requests && !hf__diagnosis_is_over(diagnosis)) {
        status = ask_time(diagnosis, run, target, &took[count], &ahead, err);
        if (status != HF_OK)
            break;
        if (took[count] < fastest) {
            fastest = took[count];
            clock->ahead_us = ahead;
            clock->error_us = fastest / 2;
        }
        count++;
    }
    if (status == HF_OK && count == 0)
        status = hf__fail(err, HF_TIMEOUT, "no time left to measure");
    if (status == HF_OK)
        tell_pace(diagnosis, took, count);
    hf__free(took);
    return status;
}

/* ------------------------------------------------------------------- tokens */

#define TOKEN_MAX ((INT64_C(1) << 53) - 1)

/* The reply to GET of the counter: the last token; -1: not one. */
static int64_t read_token(const hf_reply *reply)
{
    int64_t token;
    char *end;

    if (reply->kind != HF_REPLY_STRING || reply->bytes.size == 0 ||
        reply->bytes.size > 16)
        return -1;
    token = strtoll(reply->bytes.data, &end, 10);
    return *end == '\0' && token >= 1 && token <= TOKEN_MAX ? token : -1;
}

static void tell_distance(const hf__diagnosis *to, int64_t token,
                          int64_t ahead_us)
{
    static const char remedy[] =
        "do not lose the counter, by a restart or a failover, before the clock "
        "has passed it; step clocks forward only";

    if (token == TOKEN_MAX)
        hf__report_error(to, HF_CORRUPT, "fencing tokens",
                         "delete hf:token once no lock is held",
                         "%" PRId64 " is the largest: no lock can be acquired",
                         token);
    else if (ahead_us < HF__CLOCK_NOTE_US)
        hf__report(to, HF_LEVEL_OK, "fencing tokens", "",
                   "the last one is not ahead of the clock: they grow even if "
                   "their counter is lost");
    else
        hf__report(
            to,
            ahead_us < HF__CLOCK_WARNING_US ? HF_LEVEL_NOTE : HF_LEVEL_WARNING,
            "fencing tokens", remedy,
            "the last one is %" PRId64 " s ahead of the clock, which was "
            "set back: THEY REPEAT IF THEIR COUNTER IS LOST",
            ahead_us / 1000000);
}

static void tell_token(const hf__diagnosis *to, const hf__request *request,
                       const hf__diagnose_clock *clock)
{
    int64_t now_us = hf__clock_unix_us() + clock->ahead_us;
    int64_t token = read_token(&request->reply);

    if (request->status != HF_OK && request->status != HF_WRONG_TYPE)
        hf__report(to, HF_LEVEL_NOTE, "fencing tokens",
                   "allow +get of hf:token", "unknown: %s",
                   request->error.message);
    else if (request->status == HF_OK && request->reply.kind == HF_REPLY_NIL)
        hf__report(to, HF_LEVEL_OK, "fencing tokens", "",
                   "no counter: the next one is the clock's");
    else if (token < 0)
        hf__report(to, HF_LEVEL_WARNING, "fencing tokens",
                   "delete it; no other program may write keys whose names "
                   "begin with hf:",
                   "hf:token is not a token, and counts as lost");
    else
        tell_distance(to, token, token - now_us);
}

void hf__diagnose_tokens(const hf__diagnosis *diagnosis,
                         hf__diagnose_run_fn run, void *target,
                         const hf__diagnose_clock *clock)
{
    char key[HF__PREFIX_MAX + sizeof("hf:token")];
    hf_bytes words[2] = {hf_str("GET"), hf_view(key, 0)};
    hf__request request;

    words[1].size = (size_t)snprintf(key, sizeof(key), "%.*shf:token",
                                     (int)diagnosis->prefix.size,
                                     (const char *)diagnosis->prefix.data);
    hf__request_command(&request, words, 2, true);
    request.began_ms = hf__clock_boot_ms();
    request.deadline_ms = hf__diagnosis_until(diagnosis, request.began_ms);
    run(target, &request);
    tell_token(diagnosis, &request, clock);
    hf__request_done(&request);
}
