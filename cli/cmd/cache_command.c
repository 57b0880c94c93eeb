/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_command.c - see cache_command.h.
 *
 * The command's stdout is a pipe. It has ended when the pipe is closed and its
 * process has exited; until then signals come by a descriptor and are passed
 * on to it. If we die, its next write to the pipe ends it.
 */
#include "cmd/cache_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "run/run.h"

extern char **environ;

#define READ_SIZE 65536

struct child_run {
    struct cache_command *command;
    struct signals signals;
    pid_t pid;
    int fd; /* its stdout; -1: closed */
    bool has_exited;
};

static int spawn_child(struct child_run *run, int out)
{
    char **argv = run->command->argv;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int failed;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawnattr_setsigmask(&attributes, &run->signals.original);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed =
        posix_spawnp(&run->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == 0)
        return EXIT_YES;
    complain("cache fill", "cannot run \"%s\": %s", argv[0], strerror(failed));
    return failed == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int start_child(struct child_run *run)
{
    int ends[2];
    int code;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        complain("cache fill", "pipe: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    code = spawn_child(run, ends[1]);
    close(ends[1]);
    run->fd = ends[0];
    if (code != EXIT_YES)
        close(ends[0]);
    return code;
}

/* false: the output cannot be kept. */
static bool make_room(struct cache_command *command)
{
    size_t room = command->room == 0 ? READ_SIZE : 2 * command->room;
    char *data;

    if (command->room - command->output.size >= READ_SIZE)
        return true;
    if (command->output.size > HF_VALUE_MAX) {
        complain("cache fill", "the output of the command is longer than a "
                               "value can be");
        return false;
    }
    data = realloc(command->output.data, room + READ_SIZE);
    if (data == NULL) {
        complain("cache fill", "out of memory");
        return false;
    }
    command->output.data = data;
    command->room = room + READ_SIZE;
    return true;
}

static void stop_reading(struct child_run *run)
{
    close(run->fd);
    run->fd = -1;
}

static void read_some(struct child_run *run)
{
    struct cache_command *command = run->command;
    ssize_t got;

    if (!make_room(command)) {
        command->code = EXIT_SYSTEM;
        kill(run->pid, SIGTERM);
        stop_reading(run);
        return;
    }
    got = read(run->fd, (char *)command->output.data + command->output.size,
               READ_SIZE);
    if (got > 0)
        command->output.size += (size_t)got;
    else if (got == 0 || errno != EINTR)
        stop_reading(run);
}

static void look_at_child(struct child_run *run)
{
    struct cache_command *command = run->command;
    int status;

    if (run->has_exited || waitpid(run->pid, &status, WNOHANG) != run->pid)
        return;
    run->has_exited = true;
    if (command->code != EXIT_YES)
        return;
    command->code = WIFEXITED(status) ? WEXITSTATUS(status)
                                      : EXIT_SIGNAL + WTERMSIG(status);
}

static void pass_signals_on(struct child_run *run)
{
    int number;

    while ((number = signals_next(&run->signals)) != 0) {
        if (number != SIGCHLD && !run->has_exited)
            kill(run->pid, number);
    }
}

static void await_child(struct child_run *run)
{
    while (!run->has_exited || run->fd >= 0) {
        struct pollfd files[] = {{.fd = run->signals.fd, .events = POLLIN},
                                 {.fd = run->fd, .events = POLLIN}};

        (void)poll(files, 2, -1);
        if (files[1].revents != 0)
            read_some(run);
        pass_signals_on(run);
        look_at_child(run);
    }
}

void cache_command_run(void *user, hf_cache_fill *fill)
{
    struct cache_command *command = user;
    struct child_run run = {.command = command, .fd = -1};
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    command->code = signals_open(&run.signals);
    if (command->code == EXIT_YES)
        command->code = start_child(&run);
    if (command->code == EXIT_YES)
        await_child(&run);
    status = hf_cache_fill_done(
        fill, command->code == EXIT_YES ? HF_OK : HF_CANCELLED,
        hf_view(command->output.data, command->output.size), &err);
    if (status != HF_OK)
        complain("cache fill", "%s", err.message);
    if (run.signals.fd >= 0)
        close(run.signals.fd);
}

void cache_command_end(struct cache_command *command)
{
    free(command->output.data);
}
