/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - one call for walk.py: STORE WHAT SOCKET. Everything is run before,
 * so that what is counted is a call in the middle of a program.
 */
#include <holdfast.h>
#include <holdfast/serve.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#define TURNS 3
#define REQUEST "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"

static hf_error error = HF_ERROR_INIT;

static void must(hf_status status)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "walk: %s\n", error.message);
    exit(1);
}

/* The last turn is counted, if it is of the wanted call. */
static void count(const char *what, const char *name, int turn)
{
    if (turn == TURNS - 1 && strcmp(what, name) == 0)
        CALLGRIND_START_INSTRUMENTATION;
}

static void call_library(hf_client *client, const char *what)
{
    hf_lock *lock;

    must(hf_lock_new(client, hf_str("lock"), NULL, &lock, &error));
    for (int i = 0; i < TURNS; i++) {
        hf_async queue = HF_ASYNC_INIT;

        must(hf_txn_new(client, NULL, &queue.txn, &error));
        must(hf_value_set_start(client, hf_str("k"), hf_str("v"), NULL, NULL,
                                &queue, &error));
        count(what, "hf_lock_acquire", i);
        must(hf_lock_acquire(lock, 1000, &error));
        CALLGRIND_STOP_INSTRUMENTATION;
        count(what, "hf_lock_release", i);
        must(hf_lock_release(lock, &error));
        CALLGRIND_STOP_INSTRUMENTATION;
        count(what, "hf_txn_exec", i);
        must(hf_txn_exec(queue.txn, &error));
        CALLGRIND_STOP_INSTRUMENTATION;
        hf_txn_free(queue.txn);
    }
    hf_lock_free(lock);
}

static void serve(const char *url, const char *what, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    hf_server_options options = HF_SERVER_OPTIONS_INIT;
    char listen[sizeof(address.sun_path) + 8], reply[64];
    const char *listens[] = {listen};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    hf_server *server;

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    (void)snprintf(listen, sizeof(listen), "unix:%s", path);
    options.listen = listens;
    options.listen_count = 1;
    must(hf_server_open(url, &options, &server, &error));
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        exit(1);
    for (int i = 0; i < TURNS; i++) {
        count(what, "run_words", i);
        if (write(fd, REQUEST, sizeof(REQUEST) - 1) < 0 ||
            read(fd, reply, sizeof(reply)) <= 0)
            exit(1);
        CALLGRIND_STOP_INSTRUMENTATION;
    }
    close(fd);
    hf_server_close(server);
}

int main(int argc, char **argv)
{
    hf_client *client;

    if (argc != 4)
        return 2;
    must(hf_client_open(argv[1], NULL, &client, &error));
    call_library(client, argv[2]);
    if (strcmp(argv[2], "run_words") == 0)
        serve(argv[1], argv[2], argv[3]);
    hf_client_close(client);
    return 0;
}
