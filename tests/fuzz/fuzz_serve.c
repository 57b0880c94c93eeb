/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_serve.c - any bytes from a client: the server replies with whole RESP
 * values, closes the connection at its end, and keeps serving others.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz.h"
#include "holdfast/serve.h"
#include "place.h"
#include "store/redis/wire/resp.h"

/* A script may use so much processor time, ms. */
#define BUDGET "20"

static hf_server *server;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int other = -1; /* a client that does nothing wrong */

static void clean_up(void)
{
    close(other);
    hf_server_close(server);
}

static int connect_client(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    PROMISE(fd >= 0);
    PROMISE(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

static void open_server(void)
{
    const char *place = place_make();
    char url[128], listen[128];
    const char *const listens[] = {listen};
    hf_server_options options = HF_SERVER_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket",
                   place);
    (void)snprintf(url, sizeof(url),
                   "volatile:%s/store?max_size=64M&script_budget_ms=" BUDGET,
                   place);
    (void)snprintf(listen, sizeof(listen), "unix:%s", address.sun_path);
    options.listen = listens;
    options.listen_count = 1;
    if (hf_server_open(url, &options, &server, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    other = connect_client();
    atexit(clean_up);
}

/* false: the server has closed the connection. */
static bool send_all(int fd, const void *data, size_t size)
{
    const char *from = data;

    while (size > 0) {
        ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        from += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Read replies until the server closes the connection, or `limit` of them.
 * Returns how many there were. */
static size_t read_replies(int fd, size_t limit)
{
    hf__arena arena;
    hf__buf in;
    hf__resp resp;
    size_t count = 0;
    ssize_t got = 1;

    hf__arena_init(&arena);
    hf__buf_init(&in, SIZE_MAX / 2);
    hf__resp_begin(&resp, &arena, NULL);
    while (count < limit && got > 0) {
        unsigned char *room = hf__buf_reserve(&in, 65536);
        hf__resp_result result = HF__RESP_MORE;

        PROMISE(room != NULL);
        got = recv(fd, room, 65536, 0);
        if (got > 0)
            hf__buf_added(&in, (size_t)got);
        while (hf__buf_size(&in) > 0 &&
               (result = hf__resp_feed(&resp, &in)) == HF__RESP_DONE) {
            count++;
            hf__resp_begin(&resp, &arena, NULL);
        }
        PROMISE(result != HF__RESP_BROKEN);
    }
    PROMISE(hf__buf_size(&in) == 0 && resp.depth == 0 && resp.bulk == NULL);
    hf__buf_done(&in);
    hf__arena_free(&arena);
    return count;
}

/* The other client is served, and leaves nothing for the next input. */
static void check_other(void)
{
    static const char reset[] =
        "CLIENT UNPAUSE\r\nCONFIG SET maxclients 1000\r\nFLUSHALL\r\n"
        "SCRIPT FLUSH\r\nPING\r\n";

    if (!send_all(other, reset, sizeof(reset) - 1) ||
        read_replies(other, 5) < 5) {
        close(other); /* killed by CLIENT KILL */
        other = connect_client();
        PROMISE(send_all(other, reset, sizeof(reset) - 1));
        PROMISE(read_replies(other, 5) == 5);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd;

    if (server == NULL)
        open_server();
    if (fuzz_has_long_number(data, size))
        return 0;
    fd = connect_client();
    (void)send_all(fd, data, size);
    PROMISE(shutdown(fd, SHUT_WR) == 0);
    (void)read_replies(fd, SIZE_MAX);
    close(fd);
    check_other();
    return 0;
}
