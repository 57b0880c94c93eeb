/* SPDX-License-Identifier: Apache-2.0 */
/* pooler.c - see pooler.h. Its files are in the folder of the server. */
#include "support/pooler.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/await_child.h"
#include "support/redis_server.h"

#define PATH_SIZE 256
#define READY_TRIES 400
#define PAUSE_NS 50000000

struct pooler {
    pid_t pid;
    int port;
};

static bool write_config(const postgres_server *server, const char *path,
                         int port, int sessions)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        return false;
    fprintf(file,
            "[databases]\n"
            "postgres = host=127.0.0.1 port=%d dbname=postgres user=postgres\n"
            "[pgbouncer]\n"
            "listen_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"
            "auth_type = any\npool_mode = transaction\n"
            "default_pool_size = %d\nmax_client_conn = 200\n",
            postgres_server_port(server), port, sessions);
    return fclose(file) == 0;
}

static bool accepts(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool done = connect(fd, (const struct sockaddr *)(const void *)&address,
                        sizeof(address)) == 0;

    close(fd);
    return done;
}

pooler *pooler_start(const postgres_server *server, int sessions)
{
    static const struct timespec pause = {0, PAUSE_NS};
    char path[PATH_SIZE];
    const char *argv[] = {getenv("HF_TEST_PGBOUNCER"), "-q", path, NULL};
    pooler *self = calloc(1, sizeof(*self));

    if (self == NULL || argv[0] == NULL)
        return NULL;
    self->port = redis_server_free_port();
    (void)snprintf(path, sizeof(path), "%s/pooler-%d.ini",
                   postgres_server_folder(server), self->port);
    if (write_config(server, path, self->port, sessions))
        self->pid = postgres_server_spawn(server, argv);
    for (int i = 0; self->pid > 0 && i < READY_TRIES; i++) {
        if (accepts(self->port))
            return self;
        nanosleep(&pause, NULL);
    }
    fprintf(stderr, "cannot start PgBouncer for the test\n");
    pooler_stop(self);
    return NULL;
}

void pooler_stop(pooler *self)
{
    int status;

    if (self == NULL)
        return;
    if (self->pid > 0 && kill(self->pid, SIGKILL) == 0)
        (void)await_child(self->pid, &status);
    free(self);
}

int pooler_port(const pooler *self)
{
    return self->port;
}
