/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_server.c - one server: reachability, latency, version, capabilities.
 * Its own figures are judged in diagnose_state.c, our permissions in
 * diagnose_rights.c.
 */
#include "store/redis/diagnose/diagnose_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/info.h"
#include "util/clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FRESH_S 60

/* ----------------------------------------------------------------- version */

static void tell_version(const hf__target *target)
{
    const hf__redis_traits traits =
        hf__redis_node_traits(&target->server->node);
    const hf__diagnosis *to = &target->diagnosis;
    int64_t uptime_s = hf__info_number(target->info, "uptime_in_seconds", -1);
    char build[64] = "";

    if (traits.major == 0)
        hf__report(to, HF_LEVEL_NOTE, "version", "allow +hello",
                   "unknown: HELLO is not allowed or has no version");
    else
        hf__report(to, HF_LEVEL_OK, "version", "", "%s %u.%u.%u%s%s",
                   traits.is_valkey ? "valkey" : "redis", traits.major,
                   traits.minor, traits.patch,
                   hf__info_find(target->info, "os", build, sizeof(build))
                       ? " on "
                       : "",
                   build);
    if (uptime_s >= 0 && uptime_s < FRESH_S)
        hf__report(to, HF_LEVEL_NOTE, "uptime",
                   "if the restart was not intended, find the cause; without "
                   "persistence all previous locks are lost",
                   "started %" PRId64 " s ago", uptime_s);
    else if (uptime_s >= 0)
        hf__report(to, HF_LEVEL_OK, "uptime", "", "%" PRId64 " s", uptime_s);
}

static void tell_clock(const hf__target *target)
{
    const hf__diagnose_clock *clock = &target->clock;
    int64_t off_us = clock->ahead_us < 0 ? -clock->ahead_us : clock->ahead_us;
    hf_level level = HF_LEVEL_OK;
    const char *remedy = "";

    if (off_us - clock->error_us > HF__CLOCK_WARNING_US) {
        level = HF_LEVEL_WARNING;
        remedy = "synchronise both by NTP: keys with an expiry instant (EXAT, "
                 "PXAT) expire at a wrong time";
    } else if (off_us - clock->error_us > HF__CLOCK_NOTE_US) {
        level = HF_LEVEL_NOTE;
        remedy = "synchronise both by NTP; leases do not depend on it";
    }
    hf__report(&target->diagnosis, level, "clock", remedy,
               "%" PRId64 ".%03d ms %s of ours, give or take %" PRId64
               ".%03d ms",
               off_us / 1000, (int)(off_us % 1000),
               clock->ahead_us < 0 ? "behind" : "ahead", clock->error_us / 1000,
               (int)(clock->error_us % 1000));
}

/* ------------------------------------------------------------ capabilities */

static const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

/* Which of the names COMMAND INFO knows; without a reply: unknown. */
static void tell_commands(hf__target *target)
{
    static const char *const words[] = {"COMMAND", "INFO",    "waitaof",
                                        "delex",   "delifeq", "hpexpire",
                                        "spublish"};
    static const char *const names[] = {
        "can wait for disks", "can delete if equal (delex)",
        "can delete if equal (delifeq)", "can expire hash fields",
        "can publish in shards"};
    hf__request request;
    bool ok = hf__target_ask(target, words, COUNT(words), &request) &&
              request.reply.kind == HF_REPLY_ARRAY &&
              request.reply.array.count == COUNT(names);

    for (size_t i = 0; i < COUNT(names); i++)
        hf__report(
            &target->diagnosis, HF_LEVEL_OK, names[i], "", "%s",
            !ok ? "unknown"
                : yes_no(request.reply.array.items[i].kind != HF_REPLY_NIL));
    hf__request_done(&request);
}

static void tell_ability(hf__target *target, const char *name,
                         const char *const *words, size_t count, bool needed)
{
    const hf__diagnosis *to = &target->diagnosis;
    hf__request request;

    if (hf__target_ask(target, words, count, &request))
        hf__report(to, HF_LEVEL_OK, name, "", "yes");
    else if (needed)
        hf__report_error(to, request.status, name,
                         "required: allow it, or use a server that has it",
                         "no: %s", request.error.message);
    else
        hf__report(to, HF_LEVEL_OK, name, "", "no: %s", request.error.message);
    hf__request_done(&request);
}

static void tell_abilities(hf__target *target)
{
    static const char *const script[] = {"EVAL", "return 1", "0"};
    static const char *const hello[] = {"HELLO"};
    static const char *const wait[] = {"WAIT", "0", "1"};
    char mode[24];

    tell_ability(target, "can run scripts", script, COUNT(script), true);
    tell_ability(target, "can speak resp3", hello, COUNT(hello), false);
    tell_ability(target, "can wait for replicas", wait, COUNT(wait), false);
    if (hf__info_find(target->info, "redis_mode", mode, sizeof(mode)))
        hf__report(&target->diagnosis, HF_LEVEL_OK, "mode", "", "%s", mode);
    tell_commands(target);
}

/* ------------------------------------------------------------------- whole */

static bool reach_server(hf__target *target)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf__diagnose_latency(&target->diagnosis, hf__target_run, target->server,
                             &target->clock, &err);

    if (status == HF_OK) {
        tell_clock(target);
        return true;
    }
    if (status == HF_DENIED &&
        hf__redis_node_traits(&target->server->node).major != 0) {
        hf__report_error(&target->diagnosis, status, "reachable", "allow +time",
                         "yes, but: %s", err.message);
        return true;
    }
    hf__report_error(&target->diagnosis, status, "reachable",
                     status == HF_DENIED
                         ? "check user, password and certificates"
                         : "check that it runs, the address, firewalls",
                     "no: %s", err.message);
    return false;
}

static void take_info(hf__target *target)
{
    static const char *const words[] = {"INFO"};

    if (hf__target_ask(target, words, COUNT(words), &target->request) &&
        target->request.reply.kind == HF_REPLY_STRING)
        target->info = hf_view(target->request.reply.bytes.data,
                               target->request.reply.bytes.size);
    else
        hf__report(&target->diagnosis, HF_LEVEL_NOTE, "info",
                   "allow +info to diagnose eviction, persistence and replicas",
                   "unknown: %s", target->request.error.message);
}

static void examine_state(hf__target *target)
{
    if (target->info.size > 0)
        hf__diagnose_state(target);
}

static void examine_tokens(hf__target *target)
{
    char mode[24] = "";

    if (!hf__info_find(target->info, "redis_mode", mode, sizeof(mode)) ||
        strcmp(mode, "cluster") != 0)
        hf__diagnose_tokens(&target->diagnosis, hf__target_run, target->server,
                            &target->clock);
}

bool hf__server_diagnose(hf__server *server, const char *name,
                         const hf__diagnosis *diagnosis)
{
    static void (*const parts[])(hf__target * target) = {
        examine_state,         examine_tokens,       hf__diagnose_cluster,
        hf__diagnose_security, hf__diagnose_rights,  tell_abilities,
        hf__diagnose_wakeups,  hf__diagnose_replicas};
    hf__target target = {.server = server, .diagnosis = *diagnosis};

    target.diagnosis.node = name;
    if (!reach_server(&target))
        return false;
    take_info(&target);
    tell_version(&target);
    for (size_t i = 0; i < COUNT(parts) && !hf__diagnosis_is_over(diagnosis);
         i++)
        parts[i](&target);
    hf__request_done(&target.request);
    return true;
}
