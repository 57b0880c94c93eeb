/* SPDX-License-Identifier: Apache-2.0 */
/* systemd.c - see systemd.h. */
#include "serve/systemd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "holdfast/serve.h"

#define FIRST_FD 3
#define ADDRESS_SIZE 24

/* A number of the environment that is meant for this process; 0: none. */
static long read_number(const char *name, const char *pid_name)
{
    const char *number = getenv(name);
    const char *pid = getenv(pid_name);

    if (number == NULL || (pid != NULL && strtol(pid, NULL, 10) != getpid()))
        return 0;
    return strtol(number, NULL, 10);
}

void systemd_notify(const char *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t size = path != NULL ? strlen(path) : 0;
    int fd;

    if (size < 2 || size >= sizeof(address.sun_path) ||
        (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                 (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    close(fd);
}

int systemd_watchdog_ms(void)
{
    long us = read_number("WATCHDOG_USEC", "WATCHDOG_PID");

    return us > 0 && us / 2000 < 3600000 ? (int)(us / 2000) : -1;
}

/* Is the name of socket `at` in a list that colons separate "tls..."? */
static int is_tls(const char *names, long at)
{
    for (; names != NULL && at > 0; at--) {
        names = strchr(names, ':');
        if (names != NULL)
            names++;
    }
    return names != NULL && strncmp(names, "tls", 3) == 0;
}

size_t systemd_sockets(const char **addresses, size_t max)
{
    static char texts[HF_SERVER_LISTEN_MAX][ADDRESS_SIZE];
    const char *names = getenv("LISTEN_FDNAMES");
    long count = read_number("LISTEN_FDS", "LISTEN_PID");
    size_t used = 0;

    for (; used < max && used < HF_SERVER_LISTEN_MAX && (long)used < count;
         used++) {
        (void)snprintf(texts[used], ADDRESS_SIZE, "%sfd:%zu",
                       is_tls(names, (long)used) ? "tls:" : "",
                       FIRST_FD + used);
        addresses[used] = texts[used];
    }
    /* They are not for processes that we start. */
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    return used;
}
