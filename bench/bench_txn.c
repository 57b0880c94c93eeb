/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_txn.c - a transaction of one condition and two writes, against a
 * script written for it, and against WATCH, GET, MULTI, SET, SET, EXEC on a raw
 * socket, which takes two round trips.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench.h"
#include "holdfast/command.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/redis_server.h"

static const char by_hand[] =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end\n"
    "redis.call('set', KEYS[1], ARGV[1])\n"
    "redis.call('set', KEYS[2], ARGV[2])\n"
    "return 1\n";

typedef struct side {
    hf_client *client;
    hf_script *script;
    hf_txn_options options;
    bool counters; /* two of which each can fail, so one is copied */
    int fd;
} side;

static bool is_ok(hf_status status, const hf_error *err)
{
    return status == HF_OK || bench_fail("%s", err->message);
}

/* ---------------------------------------------------------------- subjects */

static hf_status queue_writes(side *self, hf_async *q, hf_error *err)
{
    static const hf_bytes words[2][2] = {{{"INCR", 4}, {"{t}m", 4}},
                                         {{"INCR", 4}, {"{t}n", 4}}};
    hf_status status;

    if (self->counters) {
        status = hf_command_start(self->client, 2, words[0], NULL, q, err);
        return status != HF_OK
                   ? status
                   : hf_command_start(self->client, 2, words[1], NULL, q, err);
    }
    status = hf_value_set_start(self->client, hf_str("{t}a"), hf_str("v"), NULL,
                                NULL, q, err);
    return status != HF_OK
               ? status
               : hf_value_set_start(self->client, hf_str("{t}b"), hf_str("w"),
                                    NULL, NULL, q, err);
}

static bool run_txn(void *user, int64_t count)
{
    side *self = user;
    hf_error err = HF_ERROR_INIT;

    for (int64_t i = 0; i < count; i++) {
        hf_async q = HF_ASYNC_INIT;
        hf_status status =
            hf_txn_new(self->client, &self->options, &q.txn, &err);

        if (status == HF_OK)
            status = hf_txn_if_value(q.txn, hf_str("{t}a"), hf_str("v"), &err);
        if (status == HF_OK)
            status = queue_writes(self, &q, &err);
        if (status == HF_OK)
            status = hf_txn_exec(q.txn, &err);
        hf_txn_free(q.txn);
        if (!is_ok(status, &err))
            return false;
    }
    return true;
}

static bool run_script(void *user, int64_t count)
{
    const hf_bytes keys[] = {hf_str("{t}a"), hf_str("{t}b")};
    const hf_bytes args[] = {hf_str("v"), hf_str("w")};
    side *self = user;
    hf_error err = HF_ERROR_INIT;

    for (int64_t i = 0; i < count; i++) {
        hf_reply *reply = NULL;

        if (!is_ok(hf_script_run(self->script, keys, 2, args, 2, &reply, &err),
                   &err))
            return false;
        hf_reply_free(reply);
    }
    return true;
}

/* Send, and read until so many bytes have come: the replies are known. */
static bool send_and_read(int fd, const char *request, size_t reply_size)
{
    char reply[256];
    size_t size = strlen(request);
    ssize_t got;

    if (write(fd, request, size) != (ssize_t)size)
        return bench_fail("write");
    for (size_t at = 0; at < reply_size; at += (size_t)got) {
        got = read(fd, reply, sizeof(reply));
        if (got <= 0)
            return bench_fail("read");
    }
    return true;
}

#define A "$4\r\n{t}a\r\n"
#define B "$4\r\n{t}b\r\n"

static bool run_raw(void *user, int64_t count)
{
    static const char look[] =
        "*2\r\n$5\r\nWATCH\r\n" A "*2\r\n$3\r\nGET\r\n" A;
    static const char act[] = "*1\r\n$5\r\nMULTI\r\n"
                              "*3\r\n$3\r\nSET\r\n" A "$1\r\nv\r\n"
                              "*3\r\n$3\r\nSET\r\n" B "$1\r\nw\r\n"
                              "*1\r\n$4\r\nEXEC\r\n";
    static const char looked[] = "+OK\r\n$1\r\nv\r\n";
    static const char acted[] =
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n+OK\r\n";
    side *self = user;

    for (int64_t i = 0; i < count; i++) {
        if (!send_and_read(self->fd, look, sizeof(looked) - 1) ||
            !send_and_read(self->fd, act, sizeof(acted) - 1))
            return false;
    }
    return true;
}

/* ----------------------------------------------------------------- figures */

static bool compare_ways(const bench_run *run, const char *name,
                         const char *store, const char *ceiling, side *self,
                         bool (*other)(void *user, int64_t count))
{
    bench_figure figure = {
        .name = name, .store = store, .ceiling = ceiling, .threads = 1};
    bench_subject subject = {.run = run_txn, .user = self};
    bench_subject against = {.run = other, .user = self};
    bench_result result;

    if (!bench_compare(run, &subject, &against, &result))
        return false;
    bench_print(run, &figure, &result);
    return true;
}

static bool open_side(side *self, const char *url)
{
    hf_error err = HF_ERROR_INIT;

    self->options = (hf_txn_options)HF_TXN_OPTIONS_INIT;
    return is_ok(hf_client_open(url, NULL, &self->client, &err), &err) &&
           is_ok(hf_script_load(self->client, hf_str(by_hand), &self->script,
                                &err),
                 &err) &&
           is_ok(hf_value_set(self->client, hf_str("{t}a"), hf_str("v"), NULL,
                              NULL, &err),
                 &err);
}

static void close_side(side *self)
{
    hf_script_free(self->script);
    hf_client_close(self->client);
}

static bool on_embedded(const bench_run *run, const char *url)
{
    side self = {.fd = -1};
    bool ok = open_side(&self, url) &&
              compare_ways(run, "txn", "embedded", "script", &self, run_script);

    self.counters = true;
    ok = ok && compare_ways(run, "txn_of_counters", "embedded", "script", &self,
                            run_script);
    close_side(&self);
    return ok;
}

static int connect_to(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool on_server(const bench_run *run, redis_server *server)
{
    side self = {.fd = connect_to(redis_server_socket_path(server))};
    bool ok =
        self.fd >= 0 && open_side(&self, redis_server_unix_url(server)) &&
        compare_ways(run, "txn", "redis", "watch_multi", &self, run_raw) &&
        compare_ways(run, "txn", "redis", "script", &self, run_script);

    self.options.flags = HF_TXN_ONCE;
    ok =
        ok &&
        compare_ways(run, "txn_once", "redis", "watch_multi", &self, run_raw) &&
        compare_ways(run, "txn_once", "redis", "script", &self, run_script);
    self.counters = true;
    ok = ok && compare_ways(run, "txn_of_counters_once", "redis", "script",
                            &self, run_script);
    close_side(&self);
    close(self.fd);
    return ok;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    char *directory = bench_make_directory("/dev/shm");
    redis_server *server = redis_server_start(NULL);
    char url[BENCH_PATH_SIZE + 16];
    bool ok = false;

    run.json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc > 1 && !run.json) {
        fprintf(stderr, "usage: bench_txn [--json]\n");
        return 64;
    }
    if (directory != NULL && server != NULL) {
        (void)snprintf(url, sizeof(url), "volatile:%s/store", directory);
        ok = on_embedded(&run, url) && on_server(&run, server);
    }
    redis_server_stop(server);
    bench_remove_directory(directory);
    return ok ? 0 : 1;
}
