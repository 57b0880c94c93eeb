/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_server.c - start, stop, kill and pause a real server for a test.
 *
 * Owns a process and a temporary directory with its socket and its log. The
 * port is one that was free a moment before; should another program take it in
 * between, the start is tried again with a new one.
 */
#include "support/redis_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/await_child.h"
#include "support/remove_tree.h"

#define PATH_SIZE 100 /* what fits sockaddr_un, with some room */
#define START_TRIES 5
#define READY_MS 10000
#define ANSWER_MS 2000
#define ARGUMENTS_MAX 64

struct redis_server {
    pid_t pid; /* 0: not running */
    int port;
    char *password;              /* NULL: none */
    const redis_server_tls *tls; /* NULL: none */
    const char *const *more;     /* arguments; NULL: none */
    int tls_port;
    char tls_url[2 * PATH_SIZE];
    char dir[PATH_SIZE - 16];
    char socket_path[PATH_SIZE];
    char log_path[PATH_SIZE];
    char unix_url[PATH_SIZE + 16];
    char tcp_url[64];
};

/* The program of the servers; NULL: what the environment says. */
static const char *chosen_program;

void redis_server_use(const char *program)
{
    chosen_program = program;
}

const char *redis_server_program(void)
{
    const char *named = getenv("HF_TEST_SERVER");

    if (chosen_program != NULL)
        return chosen_program;
    return named != NULL ? named : "redis-server";
}

const char *redis_server_scheme(void)
{
    return chosen_program != NULL && strncmp(chosen_program, "valkey", 6) == 0
               ? "valkey"
               : "redis";
}

static void pause_ms(long ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000};

    nanosleep(&span, NULL);
}

/* Below the ephemeral ports of clients. */
#define PORT_FIRST 12000
#define PORT_COUNT 20000

/* Keep other test programs from the port until this one ends: an abstract name
 * can be bound once. The descriptor stays open for that. */
static bool claim_port(int port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int size = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
                        "holdfast-test-port-%d", port);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&name,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                    (size_t)size)) == 0)
        return true;
    if (fd >= 0)
        close(fd);
    return false;
}

static bool is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool free;

    if (fd < 0)
        return false;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    free = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return free;
}

int redis_server_free_port(void)
{
    static int next;

    if (next == 0)
        next = (int)getpid() * 37;
    for (int tries = 0; tries < PORT_COUNT; tries++) {
        int port = PORT_FIRST + next++ % PORT_COUNT;

        if (is_free(port) && claim_port(port))
            return port;
    }
    return -1;
}

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Read one reply, or what arrives of it until `size` or a pause. */
static bool read_answer(int fd, char *answer, size_t size)
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

static bool ask_server(int fd, const char *command, char *answer, size_t size)
{
    size_t length = strlen(command);

    return send(fd, command, length, MSG_NOSIGNAL) == (ssize_t)length &&
           send(fd, "\r\n", 2, MSG_NOSIGNAL) == 2 &&
           read_answer(fd, answer, size);
}

static bool log_in(const redis_server *server, int fd)
{
    char command[300];
    char answer[200];

    if (server->password == NULL)
        return true;
    snprintf(command, sizeof(command), "AUTH %s", server->password);
    return ask_server(fd, command, answer, sizeof(answer)) &&
           strcmp(answer, "+OK\r\n") == 0;
}

bool redis_server_command(const redis_server *server, const char *command,
                          char *answer, size_t size)
{
    int fd = connect_unix(server->socket_path);
    bool answered;

    if (fd < 0)
        return false;
    answered = log_in(server, fd) && ask_server(fd, command, answer, size);
    close(fd);
    return answered;
}

/* In the child: become the server. Only async-signal-safe calls, as the test
 * may have threads. */
static void run_server(const char **arguments, int log_fd, pid_t parent)
{
    int null_fd = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    dup2(null_fd, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    execvp(arguments[0], (char *const *)arguments);
    _exit(127);
}

/* Append to a list of arguments whose unused part is NULL. */
static void append_argument(const char **arguments, const char *name,
                            const char *value)
{
    while (*arguments != NULL)
        arguments++;
    *arguments++ = name;
    *arguments = value;
}

/* The same with a list that ends with NULL. */
static void append_all(const char **arguments, const char *const *more)
{
    const char **end = arguments + ARGUMENTS_MAX - 1;

    while (*arguments != NULL)
        arguments++;
    while (more != NULL && *more != NULL && arguments < end)
        *arguments++ = *more++;
}

/* `holdfast serve`; `listen` is filled in. */
static void add_served(const char **arguments, const redis_server *server,
                       char listen[PATH_SIZE + 16], char tcp[32])
{
    snprintf(listen, PATH_SIZE + 16, "unix:%s", server->socket_path);
    snprintf(tcp, 32, "127.0.0.1:%d", server->port);
    append_argument(arguments, "serve", "--listen");
    append_argument(arguments, listen, "--listen");
    append_argument(arguments, tcp, NULL);
}

static void add_redis(const char **arguments, const redis_server *server,
                      char port[16], char tls_port[16])
{
    const redis_server_tls *tls = server->tls;

    snprintf(port, 16, "%d", server->port);
    append_argument(arguments, "--port", port);
    append_argument(arguments, "--bind", "127.0.0.1");
    append_argument(arguments, "--unixsocket", server->socket_path);
    append_argument(arguments, "--dir", server->dir);
    append_argument(arguments, "--save", "");
    append_argument(arguments, "--appendonly", "no");
    append_argument(arguments, "--enable-debug-command", "yes");
    /* It spins for seconds at a time, on processors that the tests need. */
    append_argument(arguments, "--jemalloc-bg-thread", "no");
    if (server->password != NULL)
        append_argument(arguments, "--requirepass", server->password);
    if (tls == NULL)
        return;
    snprintf(tls_port, 16, "%d", server->tls_port);
    append_argument(arguments, "--tls-port", tls_port);
    append_argument(arguments, "--tls-cert-file", tls->certificate);
    append_argument(arguments, "--tls-key-file", tls->key);
    append_argument(arguments, "--tls-ca-cert-file", tls->ca);
    append_argument(arguments, "--tls-auth-clients",
                    tls->asks_clients ? "yes" : "no");
}

static bool is_holdfast(const char *program)
{
    const char *slash = strrchr(program, '/');

    return strcmp(slash != NULL ? slash + 1 : program, "holdfast") == 0;
}

static bool spawn_server(redis_server *server)
{
    char first[PATH_SIZE + 16];
    char second[32];
    const char *arguments[ARGUMENTS_MAX] = {redis_server_program()};
    pid_t parent = getpid();
    int log_fd;

    if (is_holdfast(arguments[0]))
        add_served(arguments, server, first, second);
    else
        add_redis(arguments, server, first, second);
    append_all(arguments, server->more);
    log_fd =
        open(server->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0)
        return false;
    server->pid = fork();
    if (server->pid == 0)
        run_server(arguments, log_fd, parent);
    close(log_fd);
    if (server->pid < 0)
        server->pid = 0;
    return server->pid != 0;
}

static void kill_server(redis_server *server, int signal_number)
{
    if (server->pid == 0)
        return;
    kill(server->pid, signal_number);
    (void)await_child(server->pid, &(int){0});
    server->pid = 0;
}

/* Wait until the server replies; false: it died or does not. */
static bool wait_ready(redis_server *server)
{
    char answer[64];
    int waited_ms;

    for (waited_ms = 0; waited_ms < READY_MS; waited_ms += 5) {
        if (redis_server_command(server, "PING", answer, sizeof(answer)) &&
            strncmp(answer, "-LOADING", 8) != 0)
            return strcmp(answer, "+PONG\r\n") == 0;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
            return false;
        }
        pause_ms(5);
    }
    kill_server(server, SIGKILL);
    return false;
}

static bool start_at(redis_server *server, int port, int tls_port)
{
    server->port = port;
    server->tls_port = tls_port;
    if (server->tls != NULL)
        snprintf(server->tls_url, sizeof(server->tls_url),
                 "%ss://127.0.0.1:%d?tls_ca=%s", redis_server_scheme(),
                 tls_port, server->tls->ca);
    snprintf(server->tcp_url, sizeof(server->tcp_url), "%s://127.0.0.1:%d",
             redis_server_scheme(), port);
    unlink(server->socket_path);
    return port > 0 && spawn_server(server) && wait_ready(server);
}

static bool make_dir(redis_server *server)
{
    const char *base = getenv("TMPDIR");
    int length;

    if (base == NULL || strlen(base) > 40)
        base = "/tmp";
    length =
        snprintf(server->dir, sizeof(server->dir), "%s/hf-server-XXXXXX", base);
    if (length < 0 || (size_t)length >= sizeof(server->dir) ||
        mkdtemp(server->dir) == NULL)
        return false;
    snprintf(server->socket_path, PATH_SIZE, "%s/socket", server->dir);
    snprintf(server->log_path, PATH_SIZE, "%s/log", server->dir);
    snprintf(server->unix_url, sizeof(server->unix_url), "%s+unix://%s",
             redis_server_scheme(), server->socket_path);
    return true;
}

redis_server *redis_server_start(const char *password)
{
    return redis_server_start_tls(password, NULL);
}

redis_server *redis_server_start_tls(const char *password,
                                     const redis_server_tls *tls)
{
    return redis_server_start_with(password, tls, NULL);
}

redis_server *redis_server_start_with(const char *password,
                                      const redis_server_tls *tls,
                                      const char *const *more)
{
    redis_server *server = calloc(1, sizeof(*server));
    int tries;

    if (server == NULL)
        return NULL;
    if (password != NULL)
        server->password = strdup(password);
    server->tls = tls;
    server->more = more;
    if (make_dir(server)) {
        for (tries = 0; tries < START_TRIES; tries++) {
            if (start_at(server, redis_server_free_port(),
                         tls != NULL ? redis_server_free_port() : 0))
                return server;
        }
    }
    fprintf(stderr, "cannot start a server for the test, see %s\n",
            server->log_path);
    free(server->password);
    free(server);
    return NULL;
}

void redis_server_stop(redis_server *server)
{
    if (server == NULL)
        return;
    kill_server(server, SIGKILL);
    (void)remove_tree(server->dir);
    free(server->password);
    free(server);
}

void redis_server_kill(redis_server *server)
{
    kill_server(server, SIGKILL);
}

/* A stopped process is stopped once waitpid() says so. */
void redis_server_pause(redis_server *server)
{
    int status;

    if (server->pid <= 0) /* killed: 0 is this program's own group */
        return;
    kill(server->pid, SIGSTOP);
    while (waitpid(server->pid, &status, WUNTRACED) < 0 && errno == EINTR)
        continue;
}

void redis_server_resume(redis_server *server)
{
    if (server->pid > 0)
        kill(server->pid, SIGCONT);
}

bool redis_server_restart(redis_server *server)
{
    kill_server(server, SIGKILL);
    return start_at(server, server->port, server->tls_port);
}

const char *redis_server_unix_url(const redis_server *server)
{
    return server->unix_url;
}

const char *redis_server_tcp_url(const redis_server *server)
{
    return server->tcp_url;
}

const char *redis_server_socket_path(const redis_server *server)
{
    return server->socket_path;
}

int redis_server_port(const redis_server *server)
{
    return server->port;
}

int redis_server_tls_port(const redis_server *server)
{
    return server->tls_port;
}

const char *redis_server_tls_url(const redis_server *server)
{
    return server->tls_url;
}
