/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tty.c - make the command's group the foreground group, and ours again.
 *
 * Only the foreground group may do that, so a job in the background cannot
 * steal the terminal. It is done at the start if the command has the terminal
 * as input and output; otherwise (`run ... | less`) when the command first
 * stops because it needs the terminal (child_loop.c).
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void tty_open(struct tty *tty)
{
    tty->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    tty->to = 0;
    tty->was_given = false;
}

bool tty_is_ours(const struct tty *tty)
{
    return tty->fd >= 0 && tcgetpgrp(tty->fd) == getpgrp();
}

void tty_was_taken(struct tty *tty, pid_t pgid)
{
    tty->to = pgid;
    tty->was_given = true;
}

bool tty_give(struct tty *tty, pid_t pgid)
{
    if (!tty_is_ours(tty) || tcsetpgrp(tty->fd, pgid) != 0)
        return false;
    tty_was_taken(tty, pgid);
    return true;
}

void tty_take(struct tty *tty)
{
    pid_t foreground;

    if (tty->to == 0)
        return;
    /* The command may have given it to a group that has ended. */
    foreground = tcgetpgrp(tty->fd);
    if (foreground == tty->to ||
        (foreground > 0 && kill(-foreground, 0) != 0 && errno == ESRCH))
        tcsetpgrp(tty->fd, getpgrp());
    tty->to = 0;
}

bool tty_is_interactive(void)
{
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

void tty_close(struct tty *tty)
{
    if (tty->fd >= 0)
        close(tty->fd);
}
