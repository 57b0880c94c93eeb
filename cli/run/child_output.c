/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_output.c - what a command writes that is run once.
 *
 * Its standard output is a pipe, which the loop empties: a file would be
 * truncated by a command that opens /dev/stdout. All of it is kept, as all of
 * it is printed.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"

#define READ_SIZE ((size_t)65536)

/* At a time; then the loop looks at the lease. At least what a pipe holds, so
 * that after the command has ended its last bytes are in one time. */
#define READS_MAX 16

int output_open(struct child_output *output)
{
    int ends[2];

    *output = (struct child_output){.from_fd = -1, .to_fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0 ||
        fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        complain(run_verb, "pipe2: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    output->from_fd = ends[0];
    output->to_fd = ends[1];
    return EXIT_YES;
}

void output_given(struct child_output *output)
{
    if (output->to_fd >= 0)
        close(output->to_fd);
    output->to_fd = -1;
}

static bool make_room(struct child_output *output)
{
    size_t room = output->room == 0 ? READ_SIZE : 2 * output->room;
    char *bytes;

    if (output->room - output->size >= READ_SIZE)
        return true;
    bytes = realloc(output->bytes, room + READ_SIZE);
    if (bytes == NULL) {
        output->failed = errno;
        return false;
    }
    output->bytes = bytes;
    output->room = room + READ_SIZE;
    return true;
}

/* False: nothing more is there. What cannot be kept is read all the same, so
 * that the command ends. */
static bool read_some(struct child_output *output)
{
    char lost[READ_SIZE];
    bool keeps = output->failed == 0 && make_room(output);
    ssize_t got = read(output->from_fd,
                       keeps ? output->bytes + output->size : lost, READ_SIZE);

    if (got > 0 && keeps)
        output->size += (size_t)got;
    if (got > 0 || (got < 0 && errno == EINTR))
        return true;
    if (got < 0 && errno == EAGAIN)
        return false;
    if (got < 0)
        output->failed = errno;
    close(output->from_fd);
    output->from_fd = -1;
    return false;
}

void output_take(struct child_output *output)
{
    for (int i = 0; i < READS_MAX && output->from_fd >= 0; i++) {
        if (!read_some(output))
            return;
    }
}
