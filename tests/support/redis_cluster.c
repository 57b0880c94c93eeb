/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cluster.c - see redis_cluster.h. Owns the servers. Every server is
 * introduced to every other, as waiting for gossip takes seconds.
 */
#include "support/redis_cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_MS 30000
#define ID_SIZE 41
#define ANSWER_SIZE 65536
#define KEY_SIZE 512
#define MIGRATE_MS 5000

typedef struct member {
    redis_server *server;
    char id[ID_SIZE];
    char bus_port[16];
    const char *arguments[16];
} member;

struct redis_cluster {
    int masters;
    int size;
    char node_timeout[16];
    char url[256];
    member members[REDIS_CLUSTER_MAX];
};

static void pause_ms(long ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000};

    nanosleep(&span, NULL);
}

/* Run a command on one server; false: it failed, or did not reply. */
__attribute__((format(printf, 5, 6))) static bool
ask_member(const redis_cluster *cluster, int at, char *answer, size_t size,
           const char *format, ...)
{
    char command[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    if (!redis_server_command(cluster->members[at].server, command, answer,
                              size) ||
        answer[0] == '-') {
        return false;
    }
    return true;
}

/* -------------------------------------------------------------------- start */

static bool start_member(const redis_cluster *cluster, member *self)
{
    const char *arguments[] = {"--cluster-enabled",
                               "yes",
                               "--cluster-port",
                               self->bus_port,
                               "--cluster-node-timeout",
                               cluster->node_timeout,
                               "--cluster-replica-validity-factor",
                               "0",
                               "--repl-diskless-sync-delay",
                               "0",
                               NULL};

    memcpy(self->arguments, arguments, sizeof(arguments));
    /* The bus port may have been taken since it was free. */
    for (int tries = 0; tries < 3 && self->server == NULL; tries++) {
        (void)snprintf(self->bus_port, sizeof(self->bus_port), "%d",
                       redis_server_free_port());
        self->server = redis_server_start_with(NULL, NULL, self->arguments);
    }
    return self->server != NULL;
}

static bool learn_id(redis_cluster *cluster, int at)
{
    char answer[128];
    char *line;

    if (!ask_member(cluster, at, answer, sizeof(answer), "CLUSTER MYID")) {
        return false;
    }
    line = strchr(answer, '\n');
    if (line == NULL || strlen(line) < ID_SIZE) {
        return false;
    }
    (void)snprintf(cluster->members[at].id, ID_SIZE, "%.40s", line + 1);
    return true;
}

static bool introduce_member(redis_cluster *cluster, int at)
{
    char answer[256];

    for (int other = 0; other < at; other++) {
        if (!ask_member(cluster, at, answer, sizeof(answer),
                        "CLUSTER MEET 127.0.0.1 %d %s",
                        redis_server_port(cluster->members[other].server),
                        cluster->members[other].bus_port)) {
            return false;
        }
    }
    return true;
}

static bool give_slots(redis_cluster *cluster, int at)
{
    char answer[256];
    int first = REDIS_CLUSTER_SLOTS * at / cluster->masters;
    int last = REDIS_CLUSTER_SLOTS * (at + 1) / cluster->masters - 1;

    return ask_member(cluster, at, answer, sizeof(answer),
                      "CLUSTER SET-CONFIG-EPOCH %d", at + 1) &&
           ask_member(cluster, at, answer, sizeof(answer),
                      "CLUSTER ADDSLOTSRANGE %d %d", first, last);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    for (; (text = strstr(text, part)) != NULL; text++) {
        count++;
    }
    return count;
}

/* Until every server's reply to `command` contains `text` as many times, or
 * another text. */
static bool wait_until(const redis_cluster *cluster, const char *command,
                       const char *text, int count, const char * or)
{
    char answer[8192];

    for (int at = 0; at < cluster->size; at++) {
        int waited_ms = 0;

        while (
            !ask_member(cluster, at, answer, sizeof(answer), "%s", command) ||
            (count_of(answer, text) != count &&
             (or == NULL || strstr(answer, or) == NULL))) {
            if (waited_ms >= WAIT_MS) {
                fprintf(stderr,
                        "cluster: server %d: not %d times \"%s\" in %s:\n%s\n",
                        at, count, text, command, answer);
                return false;
            }
            pause_ms(20);
            waited_ms += 20;
        }
    }
    return true;
}

/* Masters have no link, and must have as many replicas as at first. That a
 * server is a replica, its peers learn from its next message. */
bool redis_cluster_await_whole(const redis_cluster *cluster)
{
    int replicas = cluster->size / cluster->masters - 1;
    char slaves[64];

    (void)snprintf(slaves, sizeof(slaves), "connected_slaves:%d", replicas);
    return wait_until(cluster, "CLUSTER INFO", "cluster_state:ok", 1, NULL) &&
           wait_until(cluster, "INFO replication", "master_link_status:up", 1,
                      slaves) &&
           wait_until(cluster, "CLUSTER NODES", "slave ",
                      cluster->masters * replicas, NULL) &&
           wait_until(cluster, "CLUSTER NODES", " connected", cluster->size,
                      NULL);
}

/* A server replicates only servers that it knows already. */
static bool replicate_master(redis_cluster *cluster, int at)
{
    char answer[256];
    int master = (at - cluster->masters) % cluster->masters;

    return ask_member(cluster, at, answer, sizeof(answer),
                      "CLUSTER REPLICATE %s", cluster->members[master].id);
}

static bool form_cluster(redis_cluster *cluster)
{
    char known[64];

    for (int at = 0; at < cluster->size; at++) {
        if (!learn_id(cluster, at) ||
            (at < cluster->masters && !give_slots(cluster, at)) ||
            !introduce_member(cluster, at)) {
            return false;
        }
    }
    (void)snprintf(known, sizeof(known), "cluster_known_nodes:%d",
                   cluster->size);
    if (!wait_until(cluster, "CLUSTER INFO", known, 1, NULL)) {
        return false;
    }
    for (int at = cluster->masters; at < cluster->size; at++) {
        if (!replicate_master(cluster, at)) {
            return false;
        }
    }
    return redis_cluster_await_whole(cluster);
}

static void make_url(redis_cluster *cluster)
{
    int used = snprintf(cluster->url, sizeof(cluster->url), "%s+cluster://",
                        redis_server_scheme());

    for (int at = 0; at < cluster->masters; at++) {
        used +=
            snprintf(cluster->url + used, sizeof(cluster->url) - (size_t)used,
                     "%s127.0.0.1:%d", at > 0 ? "," : "",
                     redis_server_port(cluster->members[at].server));
    }
}

redis_cluster *redis_cluster_start(int masters, int replicas,
                                   int node_timeout_ms)
{
    redis_cluster *cluster = calloc(1, sizeof(*cluster));
    bool started = cluster != NULL;

    if (!started) {
        return NULL;
    }
    cluster->masters = masters;
    (void)snprintf(cluster->node_timeout, sizeof(cluster->node_timeout), "%d",
                   node_timeout_ms);
    for (int at = 0; started && at < masters * (1 + replicas); at++) {
        started = start_member(cluster, &cluster->members[at]);
        cluster->size += started;
    }
    if (started && form_cluster(cluster)) {
        make_url(cluster);
        return cluster;
    }
    fprintf(stderr, "cannot start a cluster for the test\n");
    redis_cluster_stop(cluster);
    return NULL;
}

void redis_cluster_stop(redis_cluster *cluster)
{
    if (cluster == NULL) {
        return;
    }
    for (int at = 0; at < cluster->size; at++) {
        redis_server_stop(cluster->members[at].server);
    }
    free(cluster);
}

/* ------------------------------------------------------------------ queries */

const char *redis_cluster_url(const redis_cluster *cluster)
{
    return cluster->url;
}

int redis_cluster_size(const redis_cluster *cluster)
{
    return cluster->size;
}

redis_server *redis_cluster_server(const redis_cluster *cluster, int at)
{
    return cluster->members[at].server;
}

bool redis_cluster_command(const redis_cluster *cluster, const char *command)
{
    char answer[256];
    bool done = true;

    for (int at = 0; at < cluster->size; at++) {
        done = ask_member(cluster, at, answer, sizeof(answer), "%s", command) &&
               done;
    }
    return done;
}

/* Does a line of CLUSTER NODES say that this node has the slot? */
static bool has_slot(char *line, int slot)
{
    char *rest = line;
    char *word;
    int field = 0;

    while ((word = strsep(&rest, " ")) != NULL) {
        char *end;
        long first;
        long last;

        if (field++ < 8 || word[0] == '[') {
            continue;
        }
        first = strtol(word, &end, 10);
        last = *end == '-' ? strtol(end + 1, NULL, 10) : first;
        if (slot >= first && slot <= last) {
            return true;
        }
    }
    return false;
}

int redis_cluster_owner(const redis_cluster *cluster, int asked, int slot)
{
    char *answer = malloc(ANSWER_SIZE);
    char *rest = answer;
    char *line;
    int owner = -1;

    if (answer == NULL ||
        !ask_member(cluster, asked, answer, ANSWER_SIZE, "CLUSTER NODES")) {
        free(answer);
        return -1;
    }
    while (owner < 0 && (line = strsep(&rest, "\n")) != NULL) {
        for (int at = 0; at < cluster->size; at++) {
            if (strncmp(line, cluster->members[at].id, ID_SIZE - 1) == 0 &&
                has_slot(line, slot)) {
                owner = at;
                break;
            }
        }
    }
    free(answer);
    return owner;
}

/* ------------------------------------------------------------------- moving */

bool redis_cluster_open_slot(redis_cluster *cluster, int slot, int from, int to)
{
    char answer[256];

    return ask_member(cluster, to, answer, sizeof(answer),
                      "CLUSTER SETSLOT %d IMPORTING %s", slot,
                      cluster->members[from].id) &&
           ask_member(cluster, from, answer, sizeof(answer),
                      "CLUSTER SETSLOT %d MIGRATING %s", slot,
                      cluster->members[to].id);
}

/* The next key of "*2\r\n$3\r\nabc\r\n..." at *at; names without spaces. */
static bool next_key(char **at, char key[KEY_SIZE])
{
    char *text = strchr(*at, '$');
    char *end;
    size_t size;

    if (text == NULL) {
        return false;
    }
    size = strtoul(text + 1, &end, 10);
    if (size >= KEY_SIZE || strlen(end) < size + 4) {
        return false;
    }
    memcpy(key, end + 2, size);
    key[size] = '\0';
    *at = end + 2 + size;
    return true;
}

int redis_cluster_move_keys(redis_cluster *cluster, int slot, int from, int to,
                            int count)
{
    char *answer = malloc(ANSWER_SIZE);
    char *at = answer;
    char said[256];
    char key[KEY_SIZE];
    int moved = 0;

    if (answer == NULL ||
        !ask_member(cluster, from, answer, ANSWER_SIZE,
                    "CLUSTER GETKEYSINSLOT %d %d", slot, count)) {
        free(answer);
        return -1;
    }
    while (next_key(&at, key)) {
        if (!ask_member(cluster, from, said, sizeof(said),
                        "MIGRATE 127.0.0.1 %d %s 0 %d",
                        redis_server_port(cluster->members[to].server), key,
                        MIGRATE_MS)) {
            fprintf(stderr, "cluster: MIGRATE %s: %s\n", key, said);
            moved = -1;
            break;
        }
        moved++;
    }
    free(answer);
    return moved;
}

/* The new owner first: it must know before the others learn of it. */
bool redis_cluster_close_slot(redis_cluster *cluster, int slot, int to)
{
    char answer[256];
    bool done =
        ask_member(cluster, to, answer, sizeof(answer),
                   "CLUSTER SETSLOT %d NODE %s", slot, cluster->members[to].id);

    for (int at = 0; done && at < cluster->masters; at++) {
        done = at == to || ask_member(cluster, at, answer, sizeof(answer),
                                      "CLUSTER SETSLOT %d NODE %s", slot,
                                      cluster->members[to].id);
    }
    return done;
}
