/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_process.c - see child_process.h. Descriptors of one child are not
 * inherited by the next (O_CLOEXEC), so closing an input always ends it.
 */
#include "support/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test_clock.h"

static void run_child(const char *const argv[], const int in[2],
                      const int out[2])
{
    /* It must not outlive a test that is killed. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0) {
        _exit(126);
    }
    /* execv() takes pointers to non-const for historical reasons. */
    (void)execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static void close_pair(const int pair[2])
{
    (void)close(pair[0]);
    (void)close(pair[1]);
}

bool child_start(child_process *child, const char *const argv[])
{
    int in[2];
    int out[2];

    memset(child, 0, sizeof(*child));
    if (pipe2(in, O_CLOEXEC) != 0) {
        return false;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        close_pair(in);
        return false;
    }
    child->pid = fork();
    if (child->pid == 0) {
        run_child(argv, in, out);
    }
    if (child->pid < 0) {
        close_pair(in);
        close_pair(out);
        child->pid = 0;
        return false;
    }
    (void)close(in[0]);
    (void)close(out[1]);
    child->in = in[1];
    child->out = out[0];
    return true;
}

/* Move the first line of the output to `line`; false: no whole line yet. */
static bool take_line(child_process *child, char line[CHILD_LINE_SIZE])
{
    char *end = memchr(child->said, '\n', child->said_size);
    size_t size;

    if (end == NULL) {
        return false;
    }
    size = (size_t)(end - child->said);
    memcpy(line, child->said, size);
    line[size] = '\0';
    child->said_size -= size + 1;
    memmove(child->said, end + 1, child->said_size);
    return true;
}

bool child_line(child_process *child, char line[CHILD_LINE_SIZE],
                int64_t limit_ms)
{
    int64_t until_ms = test_now_ms() + limit_ms;

    line[0] = '\0';
    while (!take_line(child, line)) {
        struct pollfd fd = {child->out, POLLIN, 0};
        int64_t left_ms = until_ms - test_now_ms();
        size_t room = sizeof(child->said) - child->said_size;
        ssize_t size;

        if (left_ms < 0 || room == 0 || poll(&fd, 1, (int)left_ms) <= 0) {
            return false;
        }
        size = read(child->out, child->said + child->said_size, room);
        if (size <= 0) {
            return false;
        }
        child->said_size += (size_t)size;
    }
    return true;
}

bool child_tell(child_process *child, const char *line)
{
    size_t size = strlen(line);

    return write(child->in, line, size) == (ssize_t)size &&
           write(child->in, "\n", 1) == 1;
}

static void clear_child(child_process *child)
{
    (void)close(child->out);
    child->pid = 0;
}

int child_end(child_process *child, int64_t limit_ms)
{
    int64_t until_ms = test_now_ms() + limit_ms;
    int how = 0;

    if (child->pid == 0) {
        return -1;
    }
    (void)close(child->in);
    while (waitpid(child->pid, &how, WNOHANG) == 0) {
        if (test_now_ms() > until_ms) {
            (void)kill(child->pid, SIGKILL);
            (void)waitpid(child->pid, &how, 0);
            clear_child(child);
            return -1;
        }
        test_rest();
    }
    clear_child(child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

void child_kill(child_process *child)
{
    if (child->pid == 0) {
        return;
    }
    (void)kill(child->pid, SIGKILL);
    (void)waitpid(child->pid, NULL, 0);
    (void)close(child->in);
    clear_child(child);
}
