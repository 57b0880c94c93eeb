/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_server.c - see postgres_server.h. Owns a process and a temporary
 * directory with its data, its socket and its log.
 */
#include "support/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/await_child.h"
#include "support/redis_server.h"
#include "support/remove_tree.h"

#define PATH_SIZE 256
#define ARGUMENTS_MAX 24
#define READY_TRIES 600
#define START_TRIES 40
#define PAUSE_NS 50000000
#define NO_INPUT "/dev/null"

struct postgres_server {
    pid_t starter; /* with which it ends */
    pid_t pid;     /* 0: not running */
    bool fsync;
    char dir[64];
    char port[12];
    char url[96];
};

/* Become the user that may run the server, and the program: one of
 * PostgreSQL's, or that of a path. The user may not be allowed to read what is
 * in the checkout: the input is opened before. */
static void exec_program(const postgres_server *server, const char *input,
                         const char *const *arguments)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
    const char *folder = getenv("HF_TEST_POSTGRES");
    char path[PATH_SIZE];
    const char *words[32] = {path};
    int log_fd;
    int input_fd;

    (void)snprintf(path, sizeof(path), "%s/log", server->dir);
    log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    input_fd = open(input, O_RDONLY);
    if (user != NULL && (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 ||
                         setuid(user->pw_uid) != 0))
        _exit(126);
    /* Another user is not killed for what was asked for before. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server->starter || chdir("/") != 0)
        _exit(126);
    dup2(input_fd, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, arguments[0]);
    if (arguments[0][0] == '/')
        (void)snprintf(path, sizeof(path), "%s", arguments[0]);
    /* By its first argument each finds the others, else by PATH, in which
     * Debian does not have them. */
    for (size_t i = 1;
         i + 1 < sizeof(words) / sizeof(words[0]) && arguments[i] != NULL; i++)
        words[i] = arguments[i];
    execv(path, (char *const *)(void *)words);
    _exit(127);
}

static bool run_program(const postgres_server *server, const char *input,
                        const char *const *arguments)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        exec_program(server, input, arguments);
    return pid > 0 && await_child(pid, &status) == pid && status == 0;
}

/* sql NULL: what is in the input. Its output goes to a file, NULL: into the
 * log. */
static bool run_psql(const postgres_server *server, const char *sql,
                     const char *input, const char *output)
{
    const char *arguments[] = {"psql",
                               "-qXtA",
                               "-v",
                               "ON_ERROR_STOP=1",
                               "-U",
                               "postgres",
                               "-h",
                               server->dir,
                               "-p",
                               server->port,
                               "-d",
                               "postgres",
                               sql != NULL ? "-c" : "-f",
                               sql != NULL ? sql : "-",
                               output != NULL ? "-o" : NULL,
                               output,
                               NULL};

    return run_program(server, input, arguments);
}

bool postgres_server_run(const postgres_server *server, const char *sql)
{
    return run_psql(server, sql, NO_INPUT, NULL);
}

void postgres_server_ask(const postgres_server *server, const char *sql,
                         char answer[POSTGRES_ANSWER_SIZE])
{
    char path[PATH_SIZE];
    FILE *file;

    answer[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/answer", server->dir);
    if (!run_psql(server, sql, NO_INPUT, path))
        return;
    file = fopen(path, "r");
    if (file == NULL)
        return;
    if (fgets(answer, POSTGRES_ANSWER_SIZE, file) == NULL)
        answer[0] = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    (void)fclose(file);
}

static void pause_short(void)
{
    struct timespec span = {0, PAUSE_NS};

    nanosleep(&span, NULL);
}

/* false: it has ended. */
static bool wait_ready(postgres_server *server)
{
    int status;

    for (int i = 0; i < READY_TRIES; i++) {
        if (postgres_server_run(server, "SELECT 1"))
            return true;
        if (waitpid(server->pid, &status, WNOHANG) == server->pid) {
            server->pid = 0;
            return false;
        }
        pause_short();
    }
    return false;
}

pid_t postgres_server_spawn(const postgres_server *server,
                            const char *const *argv)
{
    pid_t pid = fork();

    if (pid == 0)
        exec_program(server, NO_INPUT, argv);
    return pid;
}

static bool start_once(postgres_server *server)
{
    char data[PATH_SIZE];
    const char *arguments[] = {"postgres",
                               "-D",
                               data,
                               "-k",
                               server->dir,
                               "-p",
                               server->port,
                               "-h",
                               "127.0.0.1",
                               "-c",
                               server->fsync ? "fsync=on" : "fsync=off",
                               "-c",
                               "max_connections=300",
                               "-c",
                               "shared_buffers=32MB",
                               NULL};

    (void)snprintf(data, sizeof(data), "%s/data", server->dir);
    server->pid = postgres_server_spawn(server, arguments);
    return server->pid > 0 && wait_ready(server);
}

/* It refuses to start while a process of the one before it has not noticed
 * that that was killed. */
bool postgres_server_restart(postgres_server *server)
{
    postgres_server_kill(server);
    for (int i = 0; i < START_TRIES; i++) {
        if (start_once(server))
            return true;
        pause_short();
    }
    return false;
}

static bool make_folder(postgres_server *server)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;

    (void)snprintf(server->dir, sizeof(server->dir), "/tmp/hf-pg-XXXXXX");
    if (mkdtemp(server->dir) == NULL || chmod(server->dir, 0755) != 0)
        return false;
    return user == NULL || chown(server->dir, user->pw_uid, user->pw_gid) == 0;
}

static bool make_data(const postgres_server *server)
{
    char data[PATH_SIZE];
    const char *arguments[] = {
        "initdb", "-D", data, "-U",   "postgres",   "-A",
        "trust",  "-N", "-E", "UTF8", "--locale=C", "--no-instructions",
        NULL};

    (void)snprintf(data, sizeof(data), "%s/data", server->dir);
    return run_program(server, NO_INPUT, arguments);
}

static bool copy_data(const postgres_server *server,
                      const postgres_server *primary, const char *name)
{
    char data[PATH_SIZE];
    char from[PATH_SIZE];
    const char *arguments[] = {
        "pg_basebackup", "-R", "-c", "fast", "-D", data, "-d", from, NULL};

    (void)snprintf(data, sizeof(data), "%s/data", server->dir);
    (void)snprintf(from, sizeof(from),
                   "host=127.0.0.1 port=%s user=postgres application_name=%s",
                   primary->port, name);
    return run_program(server, NO_INPUT, arguments);
}

/* Without data. */
static postgres_server *new_server(bool fsync)
{
    postgres_server *server = calloc(1, sizeof(*server));
    int port = redis_server_free_port();

    if (server == NULL || getenv("HF_TEST_POSTGRES") == NULL ||
        !make_folder(server)) {
        free(server);
        return NULL;
    }
    server->starter = getpid();
    server->fsync = fsync;
    (void)snprintf(server->port, sizeof(server->port), "%d", port);
    (void)snprintf(server->url, sizeof(server->url),
                   "postgres://postgres@127.0.0.1:%d/postgres", port);
    return server;
}

static void print_log(const postgres_server *server)
{
    char path[PATH_SIZE];
    char line[PATH_SIZE];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/log", server->dir);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        (void)fputs(line, stderr);
    if (file != NULL)
        (void)fclose(file);
}

static postgres_server *give_up(postgres_server *server)
{
    fprintf(stderr, "cannot start PostgreSQL for the test; %s/log:\n",
            server->dir);
    print_log(server);
    postgres_server_kill(server);
    free(server);
    return NULL;
}

postgres_server *postgres_server_start(bool fsync)
{
    postgres_server *server = new_server(fsync);

    if (server == NULL ||
        (make_data(server) && postgres_server_restart(server) &&
         run_psql(server, NULL, HF_POSTGRES_SETUP, NULL)))
        return server;
    return give_up(server);
}

postgres_server *postgres_server_follow(const postgres_server *primary,
                                        const char *name)
{
    postgres_server *server = new_server(primary->fsync);

    if (server == NULL ||
        (copy_data(server, primary, name) && postgres_server_restart(server)))
        return server;
    return give_up(server);
}

void postgres_server_kill(postgres_server *server)
{
    int status;

    if (server->pid <= 0)
        return;
    (void)kill(server->pid, SIGKILL);
    (void)await_child(server->pid, &status);
    server->pid = 0;
}

void postgres_server_stop(postgres_server *server)
{
    if (server == NULL)
        return;
    postgres_server_kill(server);
    (void)remove_tree(server->dir);
    free(server);
}

const char *postgres_server_url(const postgres_server *server)
{
    return server->url;
}

int postgres_server_port(const postgres_server *server)
{
    return (int)strtol(server->port, NULL, 10);
}

const char *postgres_server_folder(const postgres_server *server)
{
    return server->dir;
}
