/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_cluster.c - a node's view of its cluster, and its replicas.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/info.h"
#include "store/redis/diagnose/diagnose_server.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of a line of CLUSTER NODES: id, address, flags, master, ping, pong, epoch,
 * conn. */
#define FIELDS 8
enum { ID, ADDRESS, FLAGS, MASTER, LINK = 7 };

typedef struct node_line {
    char fields[FIELDS][96];
} node_line;

/* Take the next line; false: none. */
static bool next_line(hf_bytes *text, node_line *line)
{
    const char *data = text->data;
    const char *stop = memchr(data, '\n', text->size);
    size_t at = 0;
    size_t size;

    if (stop == NULL)
        return false;
    memset(line, 0, sizeof(*line));
    while (data < stop && at < FIELDS) {
        size = strcspn(data, " \n");
        snprintf(line->fields[at], sizeof(line->fields[at]), "%.*s", (int)size,
                 data);
        data += size + 1;
        at++;
    }
    stop++;
    *text = hf_view(stop, text->size - (size_t)(stop - (char *)text->data));
    return true;
}

/* "fail?" is only this node's suspicion. */
static bool has_flag(const node_line *line, const char *flag)
{
    const char *at = line->fields[FLAGS];
    size_t size = strlen(flag);

    for (; *at != '\0';
         at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        if (strcspn(at, ",") == size && memcmp(at, flag, size) == 0)
            return true;
    }
    return false;
}

typedef struct replica_count {
    unsigned good;
    unsigned bad;
    char first_bad[96]; /* its address */
} replica_count;

static void count_replicas(hf_bytes text, replica_count *count)
{
    hf_bytes rest = text;
    node_line line;
    char self[96] = "";

    memset(count, 0, sizeof(*count));
    while (self[0] == '\0' && next_line(&rest, &line)) {
        if (has_flag(&line, "myself"))
            memcpy(self, line.fields[ID], sizeof(self));
    }
    while (self[0] != '\0' && next_line(&text, &line)) {
        if (strcmp(line.fields[MASTER], self) != 0)
            continue;
        if (!has_flag(&line, "fail") && !has_flag(&line, "fail?") &&
            strcmp(line.fields[LINK], "connected") == 0) {
            count->good++;
            continue;
        }
        if (count->bad++ == 0)
            snprintf(count->first_bad, sizeof(count->first_bad), "%.*s",
                     (int)strcspn(line.fields[ADDRESS], "@"),
                     line.fields[ADDRESS]);
    }
}

static void tell_replicas(hf__target *target)
{
    static const char *const words[] = {"CLUSTER", "NODES"};
    const hf__diagnosis *to = &target->diagnosis;
    hf__request request;
    replica_count count;

    if (!hf__target_ask(target, words, COUNT(words), &request) ||
        request.reply.kind != HF_REPLY_STRING) {
        hf__report(to, HF_LEVEL_NOTE, "cluster replicas",
                   "allow +cluster|nodes to diagnose them", "unknown: %s",
                   request.error.message);
        hf__request_done(&request);
        return;
    }
    count_replicas(hf_view(request.reply.bytes.data, request.reply.bytes.size),
                   &count);
    hf__request_done(&request);
    if (count.bad > 0)
        hf__report(to, HF_LEVEL_WARNING, "cluster replicas",
                   "restore them: only they can take over",
                   "%u of %u do not answer this master, such as %s", count.bad,
                   count.good + count.bad, count.first_bad);
    else if (count.good == 0)
        hf__report(to, HF_LEVEL_NOTE, "cluster replicas",
                   "add one, if its slots must survive its failure",
                   "none: no replica can take over from this master");
    else
        hf__report(to, HF_LEVEL_OK, "cluster replicas", "", "%u, all connected",
                   count.good);
}

static void tell_state(hf__target *target)
{
    static const char *const words[] = {"CLUSTER", "INFO"};
    const hf__diagnosis *to = &target->diagnosis;
    hf__request request;
    hf_bytes info;
    char state[24];
    int64_t failing;

    if (!hf__target_ask(target, words, COUNT(words), &request) ||
        request.reply.kind != HF_REPLY_STRING) {
        hf__report(to, HF_LEVEL_NOTE, "cluster state",
                   "allow +cluster|info to diagnose it", "unknown: %s",
                   request.error.message);
        hf__request_done(&request);
        return;
    }
    info = hf_view(request.reply.bytes.data, request.reply.bytes.size);
    hf__info_find(info, "cluster_state", state, sizeof(state));
    failing = hf__info_number(info, "cluster_slots_pfail", 0) +
              hf__info_number(info, "cluster_slots_fail", 0);
    if (strcmp(state, "ok") != 0)
        hf__report_error(to, HF_UNAVAILABLE, "cluster state",
                         "see its log and CLUSTER NODES",
                         "%s, as this node sees it", state);
    else if (failing > 0)
        hf__report(to, HF_LEVEL_WARNING, "cluster state",
                   "see CLUSTER NODES for the masters that fail",
                   "ok, but %" PRId64
                   " slots are on masters that do not answer",
                   failing);
    else
        hf__report(to, HF_LEVEL_OK, "cluster state", "", "ok");
    hf__request_done(&request);
}

void hf__diagnose_cluster(hf__target *target)
{
    if (hf__redis_node_traits(&target->server->node).mode != HF__REDIS_CLUSTER)
        return;
    tell_state(target);
    tell_replicas(target);
}
