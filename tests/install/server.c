/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - another project's server of the store that it is given, on a
 * socket next to it. Exit 0: it was open, and ran a command.
 */
#include <holdfast.h>
#include <holdfast/serve.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Is the reply to PING what it should be? */
static int ping(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    char reply[7];
    int good;

    if (fd < 0)
        return 0;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    good = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           write(fd, "PING\r\n", 6) == 6 &&
           recv(fd, reply, sizeof(reply), MSG_WAITALL) == 7 &&
           memcmp(reply, "+PONG\r\n", 7) == 0;
    (void)close(fd);
    return good;
}

int main(int argc, char **argv)
{
    hf_server_options options = HF_SERVER_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_server *server = NULL;
    int good;

    if (argc != 3)
        return 2;
    options.listen = (const char *const *)&argv[2];
    options.listen_count = 1;
    if (hf_server_open(argv[1], &options, &server, &err) != HF_OK) {
        fprintf(stderr, "%s: %s\n", hf_status_name(err.status), err.message);
        return 1;
    }
    good = ping(argv[2] + strlen("unix:")) &&
           hf_server_stop(server, 1000, &err) == HF_OK;
    hf_server_close(server);
    return good ? 0 : 1;
}
