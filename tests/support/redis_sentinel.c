/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel.c - starts the servers as redis_server.c does, and sentinels,
 * each from a configuration file that it then owns.
 */
#include "support/redis_sentinel.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE 128
#define READY_MS 20000
#define ANSWER_MS 10000

typedef struct sentinel {
    pid_t pid; /* 0: not running */
    int port;
    bool stopped;
    char id[48];
    char config[PATH_SIZE];
} sentinel;

struct redis_sentinel {
    redis_sentinel_options options;
    redis_server *servers[REDIS_SENTINEL_SERVERS];
    sentinel sentinels[REDIS_SENTINEL_COUNT];
    char port_text[16];      /* of the first master */
    const char *more[2][16]; /* arguments: the master's, the replicas' */
    char dir[PATH_SIZE - 32];
    char url[512];
};

static void pause_ms(long ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000};

    nanosleep(&span, NULL);
}

static int server_port(const redis_sentinel *all, int number)
{
    return all->options.tls != NULL
               ? redis_server_tls_port(all->servers[number])
               : redis_server_port(all->servers[number]);
}

/* ----------------------------------------------------------------- servers */

/* What the servers' command lines have in common; a replica's begins with its
 * master. */
static void fill_arguments(redis_sentinel *all, bool is_replica)
{
    const char **next = all->more[is_replica];

    if (is_replica) {
        *next++ = "--replicaof";
        *next++ = "127.0.0.1";
        *next++ = all->port_text;
    }
    if (all->options.password != NULL) {
        *next++ = "--masterauth";
        *next++ = all->options.password;
    }
    if (all->options.tls != NULL) {
        *next++ = "--tls-replication";
        *next++ = "yes";
    }
    *next++ = "--repl-diskless-sync-delay";
    *next = "0";
}

static bool start_servers(redis_sentinel *all)
{
    fill_arguments(all, false);
    fill_arguments(all, true);
    for (int i = 0; i < REDIS_SENTINEL_SERVERS; i++) {
        all->servers[i] = redis_server_start_with(
            all->options.password, all->options.tls, all->more[i > 0]);
        if (all->servers[i] == NULL)
            return false;
        if (i == 0)
            snprintf(all->port_text, sizeof(all->port_text), "%d",
                     server_port(all, 0));
    }
    return true;
}

/* --------------------------------------------------------------- sentinels */

static void write_config(const redis_sentinel *all, const sentinel *self,
                         FILE *file)
{
    const redis_sentinel_options *options = &all->options;

    fprintf(file,
            "bind 127.0.0.1\ndir %s\nprotected-mode no\n"
            "sentinel myid %s\n"
            "sentinel monitor " REDIS_SENTINEL_NAME " 127.0.0.1 %d 2\n"
            "sentinel down-after-milliseconds " REDIS_SENTINEL_NAME " %d\n"
            "sentinel failover-timeout " REDIS_SENTINEL_NAME " 4000\n",
            all->dir, self->id, server_port(all, 0), options->down_after_ms);
    if (options->password != NULL)
        fprintf(file, "sentinel auth-pass " REDIS_SENTINEL_NAME " %s\n",
                options->password);
    if (options->sentinel_password != NULL)
        fprintf(file, "requirepass %s\nsentinel sentinel-pass %s\n",
                options->sentinel_password, options->sentinel_password);
    if (options->tls != NULL)
        fprintf(file,
                "port 0\ntls-port %d\ntls-replication yes\n"
                "tls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s\n"
                "tls-auth-clients no\n",
                self->port, options->tls->certificate, options->tls->key,
                options->tls->ca);
    else
        fprintf(file, "port %d\n", self->port);
    for (int i = 1; i < REDIS_SENTINEL_SERVERS; i++)
        fprintf(file,
                "sentinel known-replica " REDIS_SENTINEL_NAME " 127.0.0.1 %d\n",
                server_port(all, i));
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        if (&all->sentinels[i] != self)
            fprintf(file,
                    "sentinel known-sentinel " REDIS_SENTINEL_NAME
                    " 127.0.0.1 %d %s\n",
                    all->sentinels[i].port, all->sentinels[i].id);
    }
}

static bool spawn_sentinel(redis_sentinel *all, sentinel *self)
{
    const char *arguments[] = {redis_server_program(), self->config,
                               "--sentinel", NULL};
    FILE *file = fopen(self->config, "w");
    char log_path[PATH_SIZE];
    pid_t parent = getpid();
    int log_fd;

    if (file == NULL)
        return false;
    write_config(all, self, file);
    fclose(file);
    snprintf(log_path, sizeof(log_path), "%s/log", all->dir);
    log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0)
        return false;
    self->pid = fork();
    if (self->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(126);
        dup2(log_fd, 1);
        dup2(log_fd, 2);
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    close(log_fd);
    if (self->pid < 0)
        self->pid = 0;
    return self->pid != 0;
}

/* The ports are chosen before any file is written, as each names the others. */
static bool start_sentinels(redis_sentinel *all)
{
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        sentinel *self = &all->sentinels[i];

        self->port = redis_server_free_port();
        snprintf(self->id, sizeof(self->id), "%039d%d", self->port, i);
        self->id[0] = 'a';
        snprintf(self->config, sizeof(self->config), "%s/%d.conf", all->dir, i);
    }
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        if (!spawn_sentinel(all, &all->sentinels[i]))
            return false;
    }
    return true;
}

static void kill_sentinel(sentinel *self)
{
    if (self->pid == 0)
        return;
    kill(self->pid, SIGKILL);
    while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    self->pid = 0;
}

void redis_sentinel_kill(redis_sentinel *all, int number)
{
    kill_sentinel(&all->sentinels[number]);
}

void redis_sentinel_pause(redis_sentinel *all, int number)
{
    int status;

    kill(all->sentinels[number].pid, SIGSTOP);
    while (waitpid(all->sentinels[number].pid, &status, WUNTRACED) < 0 &&
           errno == EINTR)
        continue;
    all->sentinels[number].stopped = true;
}

void redis_sentinel_resume(redis_sentinel *all, int number)
{
    kill(all->sentinels[number].pid, SIGCONT);
    all->sentinels[number].stopped = false;
}

/* ------------------------------------------------------------------ queries */

static int connect_port(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    if (fd >= 0 &&
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool send_line(int fd, const char *text)
{
    size_t size = strlen(text);

    return send(fd, text, size, MSG_NOSIGNAL) == (ssize_t)size &&
           send(fd, "\r\n", 2, MSG_NOSIGNAL) == 2;
}

/* The reply up to the first pause in it. */
static bool read_reply(int fd, char *answer, size_t size)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    size_t used = 0;
    ssize_t got;

    while (used + 1 < size &&
           poll(&waiting, 1, used == 0 ? ANSWER_MS : 20) == 1) {
        got = read(fd, answer + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    answer[used] = '\0';
    return used > 0;
}

bool redis_sentinel_command(const redis_sentinel *all, int number,
                            const char *command, char *answer, size_t size)
{
    const sentinel *self = &all->sentinels[number];
    char text[200];
    bool good = true;
    int fd;

    if (self->pid == 0 || self->stopped)
        return false;
    fd = connect_port(self->port);
    if (fd < 0)
        return false;
    if (all->options.sentinel_password != NULL) {
        snprintf(text, sizeof(text), "AUTH %s", all->options.sentinel_password);
        good = send_line(fd, text) && read_reply(fd, text, sizeof(text));
    }
    good = good && send_line(fd, command) && read_reply(fd, answer, size);
    close(fd);
    return good;
}

/* The server that one sentinel names, or -1. */
static int named_by(const redis_sentinel *all, int number)
{
    char answer[200];
    const char *port;

    if (!redis_sentinel_command(
            all, number,
            "SENTINEL get-master-addr-by-name " REDIS_SENTINEL_NAME, answer,
            sizeof(answer)))
        return -1;
    /* *2 $9 127.0.0.1 $5 30001 */
    port = strrchr(answer, '$');
    port = port != NULL ? strchr(port, '\n') : NULL;
    for (int i = 0; port != NULL && i < REDIS_SENTINEL_SERVERS; i++) {
        if (strtol(port + 1, NULL, 10) == server_port(all, i))
            return i;
    }
    return -1;
}

int redis_sentinel_master(const redis_sentinel *all)
{
    int votes[REDIS_SENTINEL_SERVERS] = {0};
    int running = 0;
    int named;

    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        running += all->sentinels[i].pid != 0 && !all->sentinels[i].stopped;
        named = named_by(all, i);
        if (named >= 0)
            votes[named]++;
    }
    for (int i = 0; i < REDIS_SENTINEL_SERVERS; i++) {
        if (2 * votes[i] > running)
            return i;
    }
    return -1;
}

static bool has_replicas(const redis_sentinel *all, int master, int count)
{
    char answer[4096];
    int online = 0;
    const char *at = answer;

    if (!redis_server_command(all->servers[master], "INFO replication", answer,
                              sizeof(answer)) ||
        strstr(answer, "role:master") == NULL)
        return false;
    while ((at = strstr(at, "state=online")) != NULL) {
        online++;
        at++;
    }
    return online >= count;
}

int redis_sentinel_await(const redis_sentinel *all, int before, int replicas,
                         int limit_ms)
{
    struct timespec began;
    struct timespec now;
    int master;

    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        master = redis_sentinel_master(all);
        if (master >= 0 && master != before &&
            has_replicas(all, master, replicas))
            return master;
        pause_ms(20);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - began.tv_sec) * 1000 +
                 (now.tv_nsec - began.tv_nsec) / 1000000 <
             limit_ms);
    return -1;
}

/* Not queried with TLS: the port is open, and the client will find out. */
static bool wait_ready(const redis_sentinel *all)
{
    int fd = -1;

    if (all->options.tls == NULL)
        return redis_sentinel_await(all, -1, REDIS_SENTINEL_SERVERS - 1,
                                    READY_MS) == 0;
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        for (int tries = 0; fd < 0 && tries < READY_MS / 10; tries++) {
            fd = connect_port(all->sentinels[i].port);
            if (fd < 0)
                pause_ms(10);
        }
        if (fd < 0)
            return false;
        close(fd);
        fd = -1;
    }
    return true;
}

/* -------------------------------------------------------------------- life */

static bool make_dir(redis_sentinel *all)
{
    const char *base = getenv("TMPDIR");

    if (base == NULL || strlen(base) > 40)
        base = "/tmp";
    snprintf(all->dir, sizeof(all->dir), "%s/hf-sentinel-XXXXXX", base);
    if (mkdtemp(all->dir) != NULL)
        return true;
    all->dir[0] = '\0';
    return false;
}

static void make_url(redis_sentinel *all)
{
    const redis_server_tls *tls = all->options.tls;

    snprintf(all->url, sizeof(all->url),
             "%s%s+sentinel://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d"
             "/" REDIS_SENTINEL_NAME "%s%s",
             redis_server_scheme(), tls != NULL ? "s" : "",
             all->sentinels[0].port, all->sentinels[1].port,
             all->sentinels[2].port, tls != NULL ? "?tls_ca=" : "",
             tls != NULL ? tls->ca : "");
}

redis_sentinel *redis_sentinel_start(const redis_sentinel_options *options)
{
    redis_sentinel *all = calloc(1, sizeof(*all));

    if (all == NULL)
        return NULL;
    if (options != NULL)
        all->options = *options;
    if (all->options.down_after_ms == 0)
        all->options.down_after_ms = 1500;
    if (make_dir(all) && start_servers(all) && start_sentinels(all) &&
        wait_ready(all)) {
        make_url(all);
        return all;
    }
    fprintf(stderr, "cannot start sentinels for the test\n");
    redis_sentinel_stop(all);
    return NULL;
}

static void remove_file(const redis_sentinel *all, const char *name)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/%s", all->dir, name);
    unlink(path);
}

void redis_sentinel_stop(redis_sentinel *all)
{
    if (all == NULL)
        return;
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        kill_sentinel(&all->sentinels[i]);
        unlink(all->sentinels[i].config);
    }
    for (int i = 0; i < REDIS_SENTINEL_SERVERS; i++)
        redis_server_stop(all->servers[i]);
    if (all->dir[0] != '\0') {
        remove_file(all, "log");
        rmdir(all->dir);
    }
    free(all);
}

const char *redis_sentinel_url(const redis_sentinel *all)
{
    return all->url;
}

int redis_sentinel_port(const redis_sentinel *all, int number)
{
    return all->sentinels[number].port;
}

redis_server *redis_sentinel_server(const redis_sentinel *all, int number)
{
    return all->servers[number];
}
