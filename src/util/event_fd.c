/* SPDX-License-Identifier: Apache-2.0 */
/* event_fd.c - see event_fd.h; an eventfd whose count does not matter. */
#include "util/event_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

int hf__event_fd_new(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void hf__event_fd_raise(int fd)
{
    /* Fails only if the count is full: then it is raised already. */
    (void)eventfd_write(fd, 1);
}

void hf__event_fd_lower(int fd)
{
    eventfd_t count;

    (void)eventfd_read(fd, &count);
}

void hf__event_fd_free(int fd)
{
    if (fd >= 0)
        close(fd);
}
