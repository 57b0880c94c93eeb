/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.c - LATENCY. No events are monitored; histograms are those of
 * usage.h, of the runs that were timed.
 */
#include <string.h>

#include "engine/engine.h"
#include "serve/parts.h"
#include "serve/state.h"

/* The command, or one with this subcommand. */
static bool is_named(hf_bytes word, const char *name)
{
    return hf__arg_is(word, name) ||
           (strchr(name, '|') != NULL && word.size == strcspn(name, "|") &&
            hf__arg_same(word, name));
}

static bool is_asked(const hf_server_command *command, const hf_bytes *words,
                     size_t count)
{
    bool asked = count == 2;

    for (size_t i = 2; i < count && !asked; i++)
        asked = is_named(words[i], command->name);
    return asked && command->timed > 0;
}

/* How many took less than 2^i us, where that is more than before. */
static void put_histogram(hf__answer *answer, const hf_server_command *command)
{
    uint64_t total = 0;
    size_t steps = 0;

    for (size_t i = 0; i < HF_SERVER_TIMES; i++)
        steps += command->times[i] > 0;
    hf__answer_text(answer, command->name);
    hf__answer_map(answer, 2);
    hf__answer_text(answer, "calls");
    hf__answer_integer(answer, (int64_t)command->timed);
    hf__answer_text(answer, "histogram_usec");
    hf__answer_map(answer, steps);
    for (size_t i = 0; i < HF_SERVER_TIMES; i++) {
        if (command->times[i] == 0)
            continue;
        total += command->times[i];
        hf__answer_integer(answer, INT64_C(1) << i);
        hf__answer_integer(answer, (int64_t)total);
    }
}

static void latency_histogram(hf__conn *conn, const hf_bytes *words,
                              size_t count)
{
    hf_server_command *const *slots = conn->server->usage.slots;
    size_t found = 0;

    for (size_t i = 0; i < HF__USAGE_SLOTS; i++)
        found += slots[i] != NULL && is_asked(slots[i], words, count);
    hf__answer_map(&conn->answer, found);
    for (size_t i = 0; i < HF__USAGE_SLOTS; i++) {
        if (slots[i] != NULL && is_asked(slots[i], words, count))
            put_histogram(&conn->answer, slots[i]);
    }
}

static void latency_none(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_array(&conn->answer, 0);
}

static void latency_reset(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer, 0);
}

static void latency_graph(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)count;
    hf__answer_error(&conn->answer, "ERR No samples available for event '%.*s'",
                     words[2].size > 128 ? 128 : (int)words[2].size,
                     (const char *)words[2].data);
}

static void latency_doctor(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char text[] = "No events are monitored. SLOWLOG has the last "
                               "slow commands.\n";

    (void)words;
    (void)count;
    hf__answer_verbatim(&conn->answer, text, sizeof(text) - 1);
}

static void latency_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "DOCTOR",
        "    Return a human readable latency analysis report.",
        "GRAPH <event>",
        "    Return an ASCII latency graph for the <event> class.",
        "HISTORY <event>",
        "    Return time-latency samples for the <event> class.",
        "LATEST",
        "    Return the latest latency samples for all events.",
        "RESET [<event> ...]",
        "    Reset latency data of one or more <event> classes.",
        "    (default: reset all data for all event classes)",
        "HISTOGRAM [COMMAND ...]",
        "    Return a cumulative distribution of latencies in the format of a "
        "histogram for the specified command names.",
        "    If no commands are specified then all histograms are replied.",
        NULL};

    (void)words;
    (void)count;
    hf__served_help(conn, "latency", lines);
}

const hf__served_entry hf__served_latency[] = {
    {"latency", HF__SERVED_IN_EXEC, hf__served_subcommand},
    {"latency|doctor", 0, latency_doctor},
    {"latency|graph", 0, latency_graph},
    {"latency|help", 0, latency_help},
    {"latency|histogram", 0, latency_histogram},
    {"latency|history", 0, latency_none},
    {"latency|latest", 0, latency_none},
    {"latency|reset", 0, latency_reset},
    {NULL, 0, NULL}};
