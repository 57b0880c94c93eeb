/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - the command as a child in its own process group.
 *
 * 1. vfork(): we wait until the child executes the command. Before that it
 * leads its group, has told the guard, and has the terminal if it should. If we
 * die meanwhile, the guard reads end of file, and kills it, once the child has
 *    closed its copy of our end of the socket by exec.
 * 2. If exec fails, its errno comes back over a pipe; a successful exec closes
 *    it.
 * 3. The child is reaped (child_reap) only after the last signal to its group,
 *    so that the id of the group cannot have been reused.
 *
 * fork() would copy the page tables of a process with an open store, and then
 * each page that either writes: 1 ms, as much as a small command takes.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "run/child_store.h"

enum {
    VAR_NAME,
    VAR_TOKEN,
    VAR_OWNER,
    VAR_STORE,
    VAR_PASSWORD,
    VAR_JOB,
    VAR_ATTEMPT,
    VAR_COUNT
};

static const char *const var_names[VAR_COUNT] = {
    "HOLDFAST_NAME=",    "HOLDFAST_TOKEN=",         "HOLDFAST_OWNER=",
    "HOLDFAST_STORE=",   "HOLDFAST_PASSWORD_FILE=", "HOLDFAST_JOB=",
    "HOLDFAST_ATTEMPT=",
};

/* Not inherited. */
static const char password_var[] = "HOLDFAST_PASSWORD=";

/* The command's environment. */
struct environment {
    char **all;            /* pointers into environ, then ours, then NULL */
    char *ours[VAR_COUNT]; /* owned; NULL: keep what exists */
};

static void environment_free(struct environment *environment)
{
    int i;

    for (i = 0; i < VAR_COUNT; i++)
        free(environment->ours[i]);
    free(environment->all);
}

static bool is_replaced(const struct environment *environment,
                        const char *variable)
{
    int i;

    for (i = 0; i < VAR_COUNT; i++)
        if (environment->ours[i] != NULL &&
            strncmp(variable, var_names[i], strlen(var_names[i])) == 0)
            return true;
    return strncmp(variable, password_var, sizeof(password_var) - 1) == 0;
}

static char *join_assignment(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 1;
    char *joined = malloc(size);

    if (joined != NULL)
        (void)snprintf(joined, size, "%s%s", name, value);
    return joined;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0';
}

/* Takes `value`, which is freed. */
static bool make_one(struct environment *environment, int which, char *value)
{
    if (value != NULL)
        environment->ours[which] = join_assignment(var_names[which], value);
    free(value);
    return environment->ours[which] != NULL;
}

/* A file that is already named has precedence. */
static bool make_password(struct environment *environment)
{
    if (!is_set("HOLDFAST_PASSWORD") || is_set("HOLDFAST_PASSWORD_FILE"))
        return true;
    return make_one(environment, VAR_PASSWORD,
                    child_secret(getenv("HOLDFAST_PASSWORD")));
}

/* Of the job that is worked on. */
static bool make_job(struct environment *environment, const struct lease *lease)
{
    hf_job job = HF_JOB_INIT;
    char attempt[24];

    if (!lease->plan->takes_jobs)
        return true;
    if (hf_queue_job(lease->locks[0], &job, NULL) != HF_OK)
        return false;
    (void)snprintf(attempt, sizeof(attempt), "%" PRId64, job.attempt);
    return make_one(environment, VAR_JOB, strdup(job.id.data)) &&
           make_one(environment, VAR_ATTEMPT, strdup(attempt));
}

static bool make_ours(struct environment *environment,
                      const struct lease *lease)
{
    environment->ours[VAR_NAME] =
        join_assignment(var_names[VAR_NAME], lease->plan->name);
    return environment->ours[VAR_NAME] != NULL &&
           make_one(environment, VAR_TOKEN, lease_tokens(lease)) &&
           make_one(environment, VAR_OWNER, lease_owners(lease)) &&
           make_one(environment, VAR_STORE, child_store(lease->plan->store)) &&
           make_job(environment, lease) && make_password(environment);
}

/* Ours replace those of an outer `run`: with two entries of one name, the
 * reader would decide which token counts. */
static bool environment_make(struct environment *environment,
                             const struct lease *lease)
{
    size_t count = 0;
    size_t used = 0;
    size_t i;

    while (environ[count] != NULL)
        count++;
    environment->all = calloc(count + VAR_COUNT + 1, sizeof(*environment->all));
    if (environment->all == NULL || !make_ours(environment, lease))
        return false;
    for (i = 0; i < count; i++)
        if (!is_replaced(environment, environ[i]))
            environment->all[used++] = environ[i];
    for (i = 0; i < VAR_COUNT; i++)
        if (environment->ours[i] != NULL)
            environment->all[used++] = environment->ours[i];
    return true;
}

/* What the child needs. */
struct start {
    const struct child_plan *plan;
    char **environment;
    int failed_fd; /* for the errno of exec */
};

/* In the child, in our memory and on our stack: only async-signal-safe calls,
 * and nothing is changed that we use. The signals are blocked. */
static _Noreturn void become_command(const struct start *start)
{
    const struct child_plan *plan = start->plan;
    char **argv = plan->lease->plan->argv;
    pid_t pid = getpid();
    int failed;

    setpgid(0, 0);
    guard_update(plan->guard, pid, plan->deadline_ms);
    if (plan->tty_fd >= 0)
        tcsetpgrp(plan->tty_fd, pid);
    sigaction(SIGCHLD, &plan->signals->child_action, NULL);
    sigprocmask(SIG_SETMASK, &plan->signals->original, NULL);
    if (plan->input_fd >= 0)
        dup2(plan->input_fd, STDIN_FILENO);
    if (plan->output_fd >= 0)
        dup2(plan->output_fd, STDOUT_FILENO);
    execvpe(argv[0], argv, start->environment);
    failed = errno;
    (void)!write(start->failed_fd, &failed, sizeof(failed));
    _exit(failed == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* As fork(), but returns in the parent only. */
static pid_t start_process(const struct start *start)
{
    pid_t pid = vfork();

    if (pid == 0)
        become_command(start);
    return pid;
}

int child_start(struct child *child, const struct child_plan *plan)
{
    struct environment environment = {0};
    struct start start = {plan, NULL, -1};
    int pair[2] = {-1, -1};

    child->pid = -1;
    if (!environment_make(&environment, plan->lease)) {
        complain(run_verb, "cannot make the environment: %s", strerror(errno));
    } else if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0) {
        complain(run_verb, "pipe2: %s", strerror(errno));
    } else {
        start.environment = environment.all;
        start.failed_fd = pair[1];
        child->pid = start_process(&start);
        if (child->pid < 0)
            complain(run_verb, "vfork: %s", strerror(errno));
    }
    environment_free(&environment);
    if (pair[1] >= 0)
        close(pair[1]);
    child->fd = pair[0];
    if (child->pid < 0) {
        if (child->fd >= 0)
            close(child->fd);
        return EXIT_SYSTEM;
    }
    setpgid(child->pid, child->pid); /* a sanitizer's vfork() is fork() */
    return EXIT_YES;
}

void child_signal(const struct child *child, int signal)
{
    kill(-child->pid, signal);
}

bool child_has_ended(const struct child *child)
{
    siginfo_t info;

    info.si_pid = 0;
    return waitid(P_PID, (id_t)child->pid, &info,
                  WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

enum child_state child_look(const struct child *child, int *stop_signal)
{
    siginfo_t info;

    if (child_has_ended(child))
        return CHILD_ENDED;
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WNOHANG) == 0 &&
        info.si_pid != 0) {
        *stop_signal = info.si_status;
        return CHILD_STOPPED;
    }
    return CHILD_RUNS;
}

/* Report why the command was not executed, if it was not. */
static void report_exec_failure(const struct child *child, const char *command)
{
    int failed = 0;

    if (read(child->fd, &failed, sizeof(failed)) != (ssize_t)sizeof(failed))
        return;
    if (failed == ENOENT)
        complain(run_verb, "%s: command not found", command);
    else
        complain(run_verb, "%s: %s", command, strerror(failed));
}

int child_reap(struct child *child, const char *command, int *signal)
{
    int status = 0;

    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    report_exec_failure(child, command);
    close(child->fd);
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return *signal == 0 ? WEXITSTATUS(status) : EXIT_SIGNAL + *signal;
}
