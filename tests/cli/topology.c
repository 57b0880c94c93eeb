/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - real servers for a shell test: starts them, prints what there
 * is as lines "name=value" and "ready", then does what lines on standard input
 * say, each answered by one line, and ends with all of them when that ends.
 *
 *     topology tls|tls-clients|replica|sentinel|cluster|quorum
 *         [PASSWORD [PASSWORD-OF-SENTINELS]]
 *
 *     all|rest COMMAND           on every server; on all but the first
 *     on N COMMAND               on server N
 *     sentinels COMMAND          on every sentinel
 *     kill|pause|resume|restart N
 *     kill-sentinel N
 *     show FILE                  restart the server of `tls` with <FILE>.pem
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/certificates.h"
#include "support/redis_cluster.h"
#include "support/redis_sentinel.h"
#include "support/redis_server.h"

#define SERVERS_MAX 8
#define QUORUM_SIZE 5
#define MASTERS 3

typedef struct topology {
    redis_server *servers[SERVERS_MAX];
    int count;
    redis_sentinel *sentinel;
    redis_cluster *cluster;
    certificates *issued;
    redis_server_tls tls;
    char paths[3][CERTIFICATES_PATH_SIZE];
    const char *replica_of[8]; /* arguments */
    char port[16];
} topology;

static topology the;

/* -------------------------------------------------------------------- start */

static bool add(redis_server *server)
{
    if (server == NULL)
        return false;
    the.servers[the.count++] = server;
    return true;
}

static bool issue(void)
{
    static const certificate_spec specs[] = {
        {"server", "a server", "DNS:localhost,IP:127.0.0.1", -1, 60, false},
        {"soon", "a server", "DNS:localhost,IP:127.0.0.1", -1, 7, false},
        {"expired", "a server", "DNS:localhost,IP:127.0.0.1", -9, -1, false},
        {"other", "a server", "DNS:elsewhere.example", -1, 60, false},
        {"alone", "a server", "DNS:localhost,IP:127.0.0.1", -1, 60, true},
        {"client", "a client", NULL, -1, 60, false},
    };

    the.issued = certificates_new();
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        if (the.issued == NULL || !certificates_issue(the.issued, &specs[i]))
            return false;
    }
    the.tls.ca = certificates_path(the.issued, "ca.pem", the.paths[0]);
    return true;
}

static void show(const char *name)
{
    char file[40];

    snprintf(file, sizeof(file), "%.24s.pem", name);
    the.tls.certificate = certificates_path(the.issued, file, the.paths[1]);
    snprintf(file, sizeof(file), "%.24s.key", name);
    the.tls.key = certificates_path(the.issued, file, the.paths[2]);
}

static bool start_tls(const char *password, bool asks_clients)
{
    char dir[CERTIFICATES_PATH_SIZE];

    if (!issue())
        return false;
    show("server");
    the.tls.asks_clients = asks_clients;
    if (!add(redis_server_start_tls(password, &the.tls)))
        return false;
    certificates_path(the.issued, "", dir);
    dir[strlen(dir) - 1] = '\0';
    printf("url=%s\ntls_port=%d\nfiles=%s\n",
           redis_server_tls_url(the.servers[0]),
           redis_server_tls_port(the.servers[0]), dir);
    return true;
}

static bool start_replica(const char *password)
{
    if (!add(redis_server_start(password)))
        return false;
    snprintf(the.port, sizeof(the.port), "%d",
             redis_server_port(the.servers[0]));
    the.replica_of[0] = "--replicaof";
    the.replica_of[1] = "127.0.0.1";
    the.replica_of[2] = the.port;
    the.replica_of[3] = "--repl-diskless-sync-delay";
    the.replica_of[4] = "0";
    printf("url=%s\n", redis_server_tcp_url(the.servers[0]));
    return add(redis_server_start_with(password, NULL, the.replica_of));
}

static bool start_sentinel(const char *password, const char *sentinel_password)
{
    redis_sentinel_options options = {.password = password,
                                      .sentinel_password = sentinel_password,
                                      .down_after_ms = 60000};

    the.sentinel = redis_sentinel_start(&options);
    if (the.sentinel == NULL)
        return false;
    the.count = REDIS_SENTINEL_SERVERS;
    for (int i = 0; i < the.count; i++)
        the.servers[i] = redis_sentinel_server(the.sentinel, i);
    printf("url=%s\n", redis_sentinel_url(the.sentinel));
    return true;
}

static bool start_cluster(void)
{
    the.cluster = redis_cluster_start(MASTERS, 1, 2000);
    if (the.cluster == NULL)
        return false;
    the.count = redis_cluster_size(the.cluster);
    for (int i = 0; i < the.count; i++)
        the.servers[i] = redis_cluster_server(the.cluster, i);
    printf("url=%s\n", redis_cluster_url(the.cluster));
    return true;
}

static bool start_quorum(const char *password)
{
    for (int i = 0; i < QUORUM_SIZE; i++) {
        if (!add(redis_server_start(password)))
            return false;
    }
    printf("url=redlock:");
    for (int i = 0; i < QUORUM_SIZE; i++)
        printf("%s%s", i > 0 ? "," : "", redis_server_tcp_url(the.servers[i]));
    printf("\n");
    return true;
}

static bool start(const char *kind, const char *password,
                  const char *sentinel_password)
{
    if (strcmp(kind, "tls") == 0)
        return start_tls(password, false);
    if (strcmp(kind, "tls-clients") == 0)
        return start_tls(password, true);
    if (strcmp(kind, "replica") == 0)
        return start_replica(password);
    if (strcmp(kind, "sentinel") == 0)
        return start_sentinel(password, sentinel_password);
    if (strcmp(kind, "cluster") == 0)
        return start_cluster();
    if (strcmp(kind, "quorum") == 0)
        return start_quorum(password);
    fprintf(stderr, "topology: unknown kind %s\n", kind);
    return false;
}

static void stop(void)
{
    if (the.cluster != NULL || the.sentinel != NULL)
        the.count = 0; /* they are theirs */
    redis_cluster_stop(the.cluster);
    redis_sentinel_stop(the.sentinel);
    while (the.count > 0)
        redis_server_stop(the.servers[--the.count]);
    certificates_free(the.issued);
}

/* -------------------------------------------------------------------- lines */

static bool ask(int number, const char *command, char *answer, size_t size)
{
    return number >= 0 && number < the.count &&
           redis_server_command(the.servers[number], command, answer, size) &&
           answer[0] != '-';
}

static bool ask_from(int first, const char *command, char *answer, size_t size)
{
    bool done = true;

    for (int i = first; i < the.count; i++)
        done = ask(i, command, answer, size) && done;
    return done;
}

static bool ask_sentinels(const char *command, char *answer, size_t size)
{
    bool done = the.sentinel != NULL;

    for (int i = 0; done && i < REDIS_SENTINEL_COUNT; i++)
        done = redis_sentinel_command(the.sentinel, i, command, answer, size) &&
               answer[0] != '-';
    return done;
}

static bool act(const char *verb, int number)
{
    if (strcmp(verb, "kill-sentinel") == 0 && the.sentinel != NULL) {
        redis_sentinel_kill(the.sentinel, number);
        return true;
    }
    if (number < 0 || number >= the.count)
        return false;
    if (strcmp(verb, "kill") == 0)
        redis_server_kill(the.servers[number]);
    else if (strcmp(verb, "pause") == 0)
        redis_server_pause(the.servers[number]);
    else if (strcmp(verb, "resume") == 0)
        redis_server_resume(the.servers[number]);
    else if (strcmp(verb, "restart") == 0)
        return redis_server_restart(the.servers[number]);
    else
        return false;
    return true;
}

/* `answer` keeps its first line. */
static bool obey(char *line, char *answer, size_t size)
{
    char *rest = line;
    char *verb = strsep(&rest, " ");

    if (rest == NULL)
        return false;
    if (strcmp(verb, "all") == 0)
        return ask_from(0, rest, answer, size);
    if (strcmp(verb, "rest") == 0)
        return ask_from(1, rest, answer, size);
    if (strcmp(verb, "sentinels") == 0)
        return ask_sentinels(rest, answer, size);
    if (strcmp(verb, "show") == 0 && the.issued != NULL) {
        show(rest);
        return redis_server_restart(the.servers[0]);
    }
    if (strcmp(verb, "on") == 0) {
        int number = (int)strtol(rest, &rest, 10);

        return *rest == ' ' && ask(number, rest + 1, answer, size);
    }
    return act(verb, (int)strtol(rest, NULL, 10));
}

int main(int argc, char **argv)
{
    char line[1024], answer[1024];

    if (argc < 2 ||
        !start(argv[1], argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL)) {
        stop();
        return 1;
    }
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        bool done;

        line[strcspn(line, "\n")] = '\0';
        answer[0] = '\0';
        done = obey(line, answer, sizeof(answer));
        answer[strcspn(answer, "\r\n")] = '\0';
        printf("%s %s\n", done ? "done" : "failed", answer);
        fflush(stdout);
    }
    stop();
    return 0;
}
