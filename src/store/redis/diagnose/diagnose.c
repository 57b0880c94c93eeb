/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - one server: is it there, how fast, which version, what can it
 * do. What its own figures say is in diagnose_state.c, what we may do there in
 * diagnose_rights.c.
 */
#include "store/redis/diagnose/diagnose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/info.h"
#include "util/clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Clocks that differ by more make an instant of expiry another one. */
#define CLOCK_NOTE_US 1000000
#define CLOCK_WARNING_US 60000000

#define FRESH_S 60

/* ----------------------------------------------------------------- version */

static void tell_version(const hf__patient *patient)
{
    const hf__redis_traits traits =
        hf__redis_node_traits(&patient->server->node);
    const hf__examination *to = &patient->examination;
    int64_t uptime_s = hf__info_number(patient->info, "uptime_in_seconds", -1);
    char build[64] = "";

    if (traits.major == 0)
        hf__remark(to, HF_LEVEL_NOTE, "version", "allow +hello",
                   "not known: HELLO is not allowed or does not tell");
    else
        hf__remark(to, HF_LEVEL_OK, "version", "", "%s %u.%u.%u%s%s",
                   traits.is_valkey ? "valkey" : "redis", traits.major,
                   traits.minor, traits.patch,
                   hf__info_find(patient->info, "os", build, sizeof(build))
                       ? " on "
                       : "",
                   build);
    if (uptime_s >= 0 && uptime_s < FRESH_S)
        hf__remark(to, HF_LEVEL_NOTE, "uptime",
                   "if nobody meant it to be started, find out why; without "
                   "persistence every lock of before is forgotten",
                   "it was started %" PRId64 " s ago", uptime_s);
    else if (uptime_s >= 0)
        hf__remark(to, HF_LEVEL_OK, "uptime", "", "%" PRId64 " s", uptime_s);
}

static void tell_clock(const hf__patient *patient,
                       const hf__examine_clock *clock)
{
    int64_t off_us = clock->ahead_us < 0 ? -clock->ahead_us : clock->ahead_us;
    hf_level level = HF_LEVEL_OK;
    const char *remedy = "";

    if (off_us - clock->error_us > CLOCK_WARNING_US) {
        level = HF_LEVEL_WARNING;
        remedy = "set both by NTP: keys that get an instant of expiry (EXAT, "
                 "PXAT) end at another one than you mean";
    } else if (off_us - clock->error_us > CLOCK_NOTE_US) {
        level = HF_LEVEL_NOTE;
        remedy = "set both by NTP; leases do not depend on it";
    }
    hf__remark(&patient->examination, level, "clock", remedy,
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

/* What COMMAND INFO knows of each name; no answer: nothing is known. */
static void tell_commands(hf__patient *patient)
{
    static const char *const words[] = {"COMMAND", "INFO",    "waitaof",
                                        "delex",   "delifeq", "hpexpire",
                                        "spublish"};
    static const char *const names[] = {
        "can wait for disks", "can delete if equal (delex)",
        "can delete if equal (delifeq)", "can expire hash fields",
        "can publish in shards"};
    hf__request request;
    bool ok = hf__patient_ask(patient, words, COUNT(words), &request) &&
              request.reply.kind == HF_REPLY_ARRAY &&
              request.reply.array.count == COUNT(names);

    for (size_t i = 0; i < COUNT(names); i++)
        hf__remark(
            &patient->examination, HF_LEVEL_OK, names[i], "", "%s",
            !ok ? "unknown"
                : yes_no(request.reply.array.items[i].kind != HF_REPLY_NIL));
    hf__request_done(&request);
}

static void tell_ability(hf__patient *patient, const char *name,
                         const char *const *words, size_t count, bool needed)
{
    const hf__examination *to = &patient->examination;
    hf__request request;

    if (hf__patient_ask(patient, words, count, &request))
        hf__remark(to, HF_LEVEL_OK, name, "", "yes");
    else if (needed)
        hf__remark_error(to, request.status, name,
                         "nothing works without it: allow it, or use a server "
                         "that has it",
                         "no: %s", request.error.message);
    else
        hf__remark(to, HF_LEVEL_OK, name, "", "no: %s", request.error.message);
    hf__request_done(&request);
}

static void tell_abilities(hf__patient *patient)
{
    static const char *const script[] = {"EVAL", "return 1", "0"};
    static const char *const hello[] = {"HELLO"};
    static const char *const wait[] = {"WAIT", "0", "1"};
    char mode[24];

    tell_ability(patient, "can run scripts", script, COUNT(script), true);
    tell_ability(patient, "can speak resp3", hello, COUNT(hello), false);
    tell_ability(patient, "can wait for replicas", wait, COUNT(wait), false);
    if (hf__info_find(patient->info, "redis_mode", mode, sizeof(mode)))
        hf__remark(&patient->examination, HF_LEVEL_OK, "mode", "", "%s", mode);
    tell_commands(patient);
}

/* ------------------------------------------------------------------- whole */

static bool reach(hf__patient *patient)
{
    hf__examine_clock clock;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf__examine_pace(&patient->examination, hf__patient_run,
                                        patient->server, &clock, &err);

    if (status == HF_OK) {
        tell_clock(patient, &clock);
        return true;
    }
    if (status == HF_DENIED &&
        hf__redis_node_traits(&patient->server->node).major != 0) {
        hf__remark_error(&patient->examination, status, "reachable",
                         "allow +time", "yes, but: %s", err.message);
        return true;
    }
    hf__remark_error(&patient->examination, status, "reachable",
                     status == HF_DENIED
                         ? "check user, password and certificates"
                         : "check that it runs, the address, firewalls",
                     "no: %s", err.message);
    return false;
}

static void take_info(hf__patient *patient)
{
    static const char *const words[] = {"INFO"};

    if (hf__patient_ask(patient, words, COUNT(words), &patient->request) &&
        patient->request.reply.kind == HF_REPLY_STRING)
        patient->info = hf_view(patient->request.reply.bytes.data,
                                patient->request.reply.bytes.size);
    else
        hf__remark(&patient->examination, HF_LEVEL_NOTE, "info",
                   "allow +info to let the doctor see eviction, persistence "
                   "and replicas",
                   "not known: %s", patient->request.error.message);
}

static void examine_state(hf__patient *patient)
{
    if (patient->info.size > 0)
        hf__examine_state(patient);
}

bool hf__server_examine(hf__server *server, const char *name,
                        const hf__examination *examination)
{
    static void (*const parts[])(hf__patient * patient) = {
        examine_state,       hf__examine_cluster, hf__examine_security,
        hf__examine_rights,  tell_abilities,      hf__examine_wakeups,
        hf__examine_replicas};
    hf__patient patient = {.server = server, .examination = *examination};

    patient.examination.node = name;
    if (!reach(&patient))
        return false;
    take_info(&patient);
    tell_version(&patient);
    for (size_t i = 0;
         i < COUNT(parts) && !hf__examination_is_over(examination); i++)
        parts[i](&patient);
    hf__request_done(&patient.request);
    return true;
}
